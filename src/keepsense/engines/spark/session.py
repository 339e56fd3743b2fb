"""The Spark session that an engine works in: one that is given or runs already, or one that is started."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from os import cpu_count, environ
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput, MissingExtra

_OURS = {
    "spark.app.name": "keepsense",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
}
"""What a session is started with where nobody else started one, unless Spark's own configuration says otherwise."""

_HERE = {
    "spark.driver.host": "127.0.0.1",  # nothing is offered to a network
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": str(4 * (cpu_count() or 1)),
}
"""The same for Spark on this machine alone."""

_INSIDE = {
    "spark.sql.caseSensitive": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "true",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.legacy.setopsPrecedence.enabled": "false",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
}
"""Settings of the sessions that engines and connections have for themselves; those of the user's session stay."""


def spark_session(master: str | None = None, session: Any = None, threads: int | None = None) -> Any:
    """A session that is given, else the one that runs in this program, else a new one on a master.

    A session that is started here stays for later engines of the program, and ends with it.

    >>> spark_session(session="spark://127.0.0.1:7077")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: `session` must be a SparkSession, not a str; a master URL goes into `master`
    """
    if session is not None:
        if not hasattr(session, "newSession"):
            raise BadInput(
                f"`session` must be a SparkSession, not a {type(session).__name__}; a master URL goes into `master`"
            )
        return _classic(session)
    try:
        from pyspark import SparkContext
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra(
            "the engine 'spark' needs PySpark, and Java 17 or newer; run: pip install 'keepsense[spark]'"
        ) from None
    context: Any = SparkContext._active_spark_context
    if context is None or context._jsc is None:
        return _started(SparkSession.builder, master, threads)
    if master is not None and context.master != master:
        raise BadInput(
            f"a Spark session runs in this program already, on {context.master}; stop it first, or leave out `master` "
            "to use it"
        )
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def own_session(session: Any) -> Any:
    """A session beside another one, on the same cluster: views and settings of its own."""
    own = session.newSession()
    for key, value in _INSIDE.items():
        own.conf.set(key, value)
    return own


def _classic(session: Any) -> Any:
    if type(session).__module__.startswith("pyspark.sql.connect"):
        raise BadInput(
            "this session is one of Spark Connect, which knows no sessions of its own; give a session of the cluster "
            "itself, or its master URL"
        )
    return session


def _started(builder: Any, master: str | None, threads: int | None) -> Any:
    if not java():
        raise MissingExtra("Spark runs in Java, and there is none; install Java 17 or newer, or set JAVA_HOME")
    set_already = _configured()
    if master is not None:
        builder = builder.master(master)
    elif "spark.master" not in set_already:
        builder = builder.master(f"local[{threads or '*'}]")
    for key, value in _OURS.items():
        if key not in set_already:
            builder = builder.config(key, value)
    if master is None or f"{master}[".startswith("local["):
        for key, value in _HERE.items():
            if key not in set_already:
                builder = builder.config(key, value)
    try:
        with quiet():
            started = builder.getOrCreate()
    except Exception as error:
        raise BadInput(
            f"no Spark session can be started on {master or 'this machine'} ({type(error).__name__}); check that the "
            "master answers there, and that Java is 17 or newer"
        ) from None
    if "PYSPARK_PYTHON" not in environ:  # else it would be whatever is called python3
        started.sparkContext.pythonExec = sys.executable
    return started


def _configured() -> set[str]:
    """Keys that Spark's own configuration file sets."""
    folder = environ.get("SPARK_CONF_DIR") or (f"{environ['SPARK_HOME']}/conf" if "SPARK_HOME" in environ else None)
    file = None if folder is None else Path(folder) / "spark-defaults.conf"
    if file is None or not file.is_file():
        return set()
    return {line.split()[0] for line in file.read_text(encoding="utf-8").splitlines() if line.strip()}


def java() -> str | None:
    """Where Java is, if it is there.

    >>> java() is None or Path(java()).name.startswith("java")
    True
    """
    home = environ.get("JAVA_HOME")
    return shutil.which("java", path=f"{home}/bin" if home else None)


@contextmanager
def quiet() -> Iterator[None]:
    """Without what PySpark has to say about versions of pandas and about its own sockets."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        warnings.simplefilter("ignore", UserWarning)
        yield
