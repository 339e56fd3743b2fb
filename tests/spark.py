"""Spark for tests: every engine as a parameter, a session on this machine, and a real cluster on loopback."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.request import ProxyHandler, build_opener

import pytest

from keepsense.engines.protocol import ENGINES, engine

ROOT = Path(__file__).resolve().parents[1]
SMALL = {
    "spark.ui.enabled": "false",
    "spark.log.level": "OFF",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "1g",
    "spark.sql.shuffle.partitions": "2",
    "spark.default.parallelism": "2",
    "spark.ui.showConsoleProgress": "false",
}
QUICK = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""For tables of some hundred rows: compiling a query takes longer than its rows. Clusters compile."""

NEEDS_JAVA = pytest.mark.skipif(shutil.which("java") is None, reason="needs Java 17 for Spark, and there is no java")

EVERY_ENGINE = [
    pytest.param(name, marks=[pytest.mark.long, NEEDS_JAVA]) if name == "spark" else name for name in ENGINES
]
"""Names of all engines, as parameters of a test; Spark takes its time, and Java."""


def started(name: str, **options: Any) -> Any:
    """An engine that runs; Spark in the one small session that all tests of a process share."""
    if name == "spark":
        options = {**options, "session": session()}
    return engine(name, **options)


def session() -> Any:
    """The session of this process, on two cores."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for key, value in {**SMALL, **QUICK}.items():
        builder = builder.config(key, value)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    # its workers import this package and the tests, from whatever folder the first test starts it
    with mock.patch.dict(os.environ, PYTHONPATH=os.pathsep.join([str(ROOT / "src"), str(ROOT)])):
        return builder.getOrCreate()


# ---- a cluster -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Cluster:
    """A standalone cluster on loopback: a master and workers, each a process of its own."""

    master: str
    status: str
    workers: tuple[subprocess.Popen[bytes], ...]

    def state(self) -> dict[str, Any]:
        """What the master says of itself."""
        with build_opener(ProxyHandler({})).open(self.status, timeout=10) as answer:
            state: dict[str, Any] = json.load(answer)
        return state

    def wait(self, key: str, number: int, seconds: float = 120.0) -> None:
        """Wait until the master counts so many workers that are alive, or applications that are active."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            try:
                counted = self.state()[key]
            except OSError:
                counted = None
            if (counted if isinstance(counted, int) else len(counted or [])) == number and counted is not None:
                return
            time.sleep(0.2)
        raise AssertionError(f"the cluster did not get {number} of {key} in {seconds} s")


@contextmanager
def cluster(folder: Path, workers: int = 2) -> Iterator[Cluster]:
    """A master and its workers; every process that was started is stopped at the end, with what it started."""
    processes: list[subprocess.Popen[bytes]] = []
    port, page = _free_port(), _free_port()
    master = f"spark://127.0.0.1:{port}"
    try:
        here = ("--host", "127.0.0.1")
        processes.append(_program(folder, "master.Master", *here, "--port", str(port), "--webui-port", str(page)))
        started = Cluster(master, f"http://127.0.0.1:{page}/json/", ())
        started.wait("aliveworkers", 0)
        for number in range(workers):
            room = folder / f"worker-{number}"
            size = ("--cores", "1", "--memory", "1g", "--port", "0", "--webui-port", "0", "--work-dir", str(room))
            processes.append(_program(folder, "worker.Worker", *here, *size, master))
        started.wait("aliveworkers", workers)
        yield Cluster(master, started.status, tuple(processes[1:]))
    finally:
        for process in reversed(processes):
            _stop(process)


def _program(folder: Path, name: str, *arguments: str) -> subprocess.Popen[bytes]:
    import pyspark

    home = Path(pyspark.__file__).parent
    command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
    with (folder / f"{name}-{secrets.token_hex(3)}.log").open("wb") as log:
        return subprocess.Popen(
            command, stdout=log, stderr=log, env=environment(folder), cwd=folder, start_new_session=True
        )


def environment(folder: Path) -> dict[str, str]:
    """What processes of Spark are started with: temporary files and local data in a folder of the test."""
    import pyspark

    spill = folder / "local"
    spill.mkdir(exist_ok=True)
    return {
        **{key: value for key, value in os.environ.items() if not key.startswith("SPARK_")},
        "SPARK_HOME": str(Path(pyspark.__file__).parent),
        "SPARK_LOCAL_DIRS": str(spill),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_CONF_DIR": str(_configuration(folder)),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)]),
    }


def _configuration(folder: Path) -> Path:
    place = folder / "conf"
    place.mkdir(exist_ok=True)
    settings = {
        **SMALL,
        "spark.log.level": "WARN",
        "spark.sql.shuffle.partitions": "4",
        "spark.executor.memory": "700m",
        "spark.executor.cores": "1",
    }
    lines = "".join(f"{key} {value}\n" for key, value in settings.items())
    if not (place / "spark-defaults.conf").exists():
        (place / "spark-defaults.conf").write_text(lines, encoding="utf-8")
    return place


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process that was started here, and what it started: they are a session of their own."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
