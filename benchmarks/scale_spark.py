"""Many rows on Spark: a run against bare Spark that groups by the same columns, joins the same recoding and writes.

`python -m benchmarks run scale-spark --rows 1000000`. Bare Spark and Keepsense each have a process, and a Java machine,
of their own; both try some rows first, so that classes are loaded and loops compiled.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._registry import Figure, benchmark, missing
from benchmarks.scale import PROJECT, QUASI_IDENTIFIERS

FEW = 20_000
"""Rows to try first."""
BAR = "at most 2"
SESSION = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.memory": "3g",
    "spark.sql.shuffle.partitions": "8",
    "spark.ui.showConsoleProgress": "false",
}


@benchmark("scale-spark")
def scale_spark() -> Iterator[Figure]:
    """Optimal search over 7 quasi-identifiers on local[2], k = 5, l = 2, 5% suppressed, against bare Spark."""
    from keepsense.engines.spark.session import java

    rows = int(os.environ.get("KEEPSENSE_ROWS", 1_000_000))
    name = f"scale-spark-{rows}"
    if java() is None:
        yield missing(f"{name}-without-search", "Spark, for want of Java", BAR)
        return
    with tempfile.TemporaryDirectory() as folder:
        from keepsense.sample_people import write_people

        for number in (rows, FEW):
            write_people(Path(folder) / f"people-{number}.parquet", number, 1)
        run, bare = (_part(folder, part, rows) for part in ("run", "bare"))
    stages = {stage: seconds for stage, seconds in run["stages"].items() if stage != "decide"}
    rest, alone = sum(stages.values()), sum(bare["stages"].values())
    told = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in bare["stages"].items())
    yield Figure(f"{name}-without-search", rest, "s", f"bare Spark ({told})", rest / alone, BAR, rest <= 2 * alone)
    processor, against = bare["processor"], f"bare Spark, {bare['processor']:.1f} s"
    without = run["processor"] - run["search"]
    yield Figure(
        f"{name}-processor-without-search", without, "s", against, without / processor, BAR, without <= 2 * processor
    )
    ratio = run["processor"] / processor
    yield Figure(f"{name}-processor-with-search", run["processor"], "s", against, ratio, "reported", None)
    for stage, seconds in run["stages"].items():
        against = f"bare Spark ({alone:.1f} s)"
        yield Figure(f"{name}-{stage.replace(' ', '-')}", seconds, "s", against, seconds / alone, "reported", None)


def _part(folder: str, part: str, rows: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale_spark", folder, part, str(rows)]
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, start_new_session=True).stdout
    return dict(json.loads(told.splitlines()[-1]))


def _run(folder: Path, session: Any, rows: int) -> tuple[dict[str, float], float]:
    """Seconds of each stage, and processor seconds of the search."""
    from keepsense.engines.protocol import engine
    from keepsense.project.project_file import Project
    from keepsense.release.run import run

    project = Project.model_validate(
        {
            **PROJECT,
            "source": {"path": f"people-{rows}.parquet"},
            "release": {"suppression": 0.05, "file": "out.parquet"},
        }
    )
    at: dict[Any, float] = {}

    def listen(event: Any) -> None:
        if event.name == "stage":
            at[event.details["stage"]] = _processor()

    with engine("spark", session=session) as running:
        done = run(project, folder=folder, into=folder / f"run-{rows}", rng=1, engine=running, listener=listen)
    _keep(folder, done.recodings[0])
    return done.seconds, at["recode"] - at["decide"]


def _keep(folder: Path, rule: Any) -> None:
    """What was decided, for bare Spark to join."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    for cut in rule.cuts:
        outputs = ["" if value is None else str(value) for value in cut.outputs]
        pq.write_table(pa.table({"i": cut.inputs, "o": outputs}), folder / f"cut-{cut.name}.parquet")
    hidden = {f"h{j}": [str(c[j]) for c in rule.suppress] for j in range(len(rule.cuts))}
    pq.write_table(pa.table(hidden or {"h0": []}), folder / "hidden.parquet")


def _bare(folder: Path, session: Any, rows: int) -> tuple[dict[str, float], float]:
    from pyspark.sql import functions as F

    people = session.read.parquet(f"{folder}/people-{rows}.parquet")
    start = time.perf_counter()
    people.groupBy(*QUASI_IDENTIFIERS, "diagnosis").count().toArrow()
    grouped = time.perf_counter()
    joined = people.select(*QUASI_IDENTIFIERS, "diagnosis")
    for j, name in enumerate(QUASI_IDENTIFIERS):
        cut = session.read.parquet(f"{folder}/cut-{name}.parquet").toDF(f"i{j}", f"o{j}")
        joined = joined.join(F.broadcast(cut), F.col(name) == F.col(f"i{j}"), "left").drop(name, f"i{j}")
    hidden = session.read.parquet(f"{folder}/hidden.parquet").withColumn("gone", F.lit(True))
    same = [F.col(f"o{j}") == F.col(f"h{j}") for j in range(len(QUASI_IDENTIFIERS))]
    joined = joined.join(hidden, same, "left")
    cells = (
        F.when(F.col("gone"), F.lit("*")).otherwise(F.col(f"o{j}")).alias(name)
        for j, name in enumerate(QUASI_IDENTIFIERS)
    )
    released = joined.select(*cells, "diagnosis").withColumn("at", F.rand(1))
    released = released.repartition(2, "at").sortWithinPartitions("at").drop("at")
    released.write.mode("overwrite").parquet(f"{folder}/bare-{rows}")
    return {"group-by": grouped - start, "join and write": time.perf_counter() - grouped}, 0.0


def _processor() -> float:
    """Processor seconds of all processes of this session: Python, Java, and Python where executors run it."""
    ticks, mine = 0, os.getsid(0)
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == mine:
            ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def main(name: str, part: str, rows: int) -> None:
    """Do one part, after a smaller one, and print what it took."""
    import warnings

    from pyspark.sql import SparkSession

    warnings.simplefilter("ignore")
    builder = SparkSession.builder.master("local[2]")
    for key, value in SESSION.items():
        builder = builder.config(key, value)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session, folder = builder.getOrCreate(), Path(name)
    done = _run if part == "run" else _bare
    done(folder, session, FEW)
    before = _processor()
    stages, search = done(folder, session, rows)
    print(json.dumps({"stages": stages, "processor": _processor() - before, "search": search}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
