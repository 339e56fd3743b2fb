"""Many rows on one machine: a run in the embedded engine against bare DuckDB that groups and writes the same columns.

`python -m benchmarks run scale-duckdb --rows 10000000`; without `--rows` a million. Every part runs in a process of its
own, one after the other, so that the ratios are those of one machine at one time and memory is that of one part.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._registry import Figure, benchmark

QUASI_IDENTIFIERS = ("sex", "age", "postcode", "place", "occupation", "workplace", "hobby")
KINDS = {"age": "numeric", "postcode": "code"}
PROJECT: dict[str, Any] = {
    "source": {"path": "people.parquet"},
    "privacy": [{"model": "k-anonymity", "k": 5}, {"model": "l-diversity", "l": 2, "column": "diagnosis"}],
    "method": {"name": "optimal"},
    "release": {"suppression": 0.05},
    "columns": {
        "id": {"role": "identifier"},
        "interests": {"role": "identifier"},
        "diagnosis": {"role": "sensitive"},
        **{name: {"role": "quasi-identifier", "kind": KINDS.get(name, "nominal")} for name in QUASI_IDENTIFIERS},
    },
}
PARTS = ("group", "copy", "run")
MANY = 10_000_000
"""Rows beyond which memory is limited to 6 GB: all different combinations would not fit."""


def asked(rows: int) -> tuple[tuple[str, ...], dict[str, Any], int]:
    """Quasi-identifiers of a table of so many rows, the project about them, and the most memory in MB."""
    if rows <= MANY:
        return QUASI_IDENTIFIERS, PROJECT, 4096
    return QUASI_IDENTIFIERS, {**PROJECT, "engine": {"memory": "6GB"}}, 6144


@benchmark("scale-duckdb")
def scale_duckdb() -> Iterator[Figure]:
    """Optimal search over 7 quasi-identifiers, automatic hierarchies, k = 5, l = 2, 5% suppressed."""
    rows = int(os.environ.get("KEEPSENSE_ROWS", 1_000_000))
    allowed = asked(rows)[2]
    with tempfile.TemporaryDirectory() as folder:
        _part(folder, "people", rows)
        _part(folder, "warm", 1000)  # compiled loops are loaded from their cache
        group, copy, run = (_part(folder, part, rows) for part in PARTS)
    bare = group["seconds"] + copy["seconds"]
    against = f"DuckDB's GROUP BY ({group['seconds']:.2f} s) and shuffled COPY ({copy['seconds']:.2f} s)"
    rest = run["seconds"] - run["stages"]["decide"]
    name = f"scale-duckdb-{rows}"
    yield Figure(f"{name}-without-search", rest, "s", against, rest / bare, "at most 3", rest <= 3 * bare)
    whole = run["seconds"]
    yield Figure(f"{name}-whole", whole, "s", against, whole / bare, "at most 6", whole <= 6 * bare)
    processor = group["processor"] + copy["processor"]
    against = f"DuckDB's, together {processor:.2f} s"
    yield Figure(f"{name}-processor", run["processor"], "s", against, run["processor"] / processor, "reported", None)
    for stage, seconds in run["stages"].items():
        yield Figure(f"{name}-{stage.replace(' ', '-')}", seconds, "s", against, seconds / bare, "reported", None)
    most = max(group["memory"], copy["memory"])
    yield Figure(
        f"{name}-memory",
        run["memory"],
        "MB",
        f"DuckDB's ({most:.0f} MB)",
        run["memory"] / most,
        f"under {allowed:,}",
        run["memory"] < allowed,
    )


def _part(folder: str, part: str, rows: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.scale", folder, part, str(rows)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(json.loads(told.splitlines()[-1]))


def _bare(file: Path, part: str, rows: int) -> None:
    import duckdb

    with duckdb.connect(config={"temp_directory": str(file.parent)}) as connection:
        keys = ", ".join(asked(rows)[0])
        if part == "group":
            grouped = f"SELECT {keys}, count(*) AS n FROM '{file}' GROUP BY {keys}"
            connection.execute(f"SELECT count(*), sum(n) FROM ({grouped})").fetchall()
        else:
            shuffled = f"SELECT {keys}, diagnosis FROM '{file}' ORDER BY random()"
            connection.execute(f"COPY ({shuffled}) TO '{file.with_name('bare.parquet')}' (FORMAT parquet)")


def _run(folder: Path, rows: int, into: str) -> dict[str, float]:
    from keepsense.project.project_file import Project
    from keepsense.release.run import run
    from keepsense.sample_people import people

    project = Project.model_validate(asked(rows)[1])
    if into == "warm":
        run(project, data=people(rows, 1), folder=folder, into=folder / into, rng=1)
        return {}
    return run(project, folder=folder, into=folder / into, rng=1).seconds


def main(name: str, part: str, rows: int) -> None:
    """Do one part and print what it took."""
    folder, stages = Path(name), {}
    if part == "people":
        from keepsense.sample_people import write_people

        write_people(folder / "people.parquet", rows, 1)
    start, before = time.perf_counter(), time.process_time()
    if part in ("group", "copy"):
        _bare(folder / "people.parquet", part, rows)
    elif part in ("run", "warm"):
        stages = _run(folder, rows, part)
    status = Path("/proc/self/status")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if status.exists():  # the kernel's mark is of this process alone
        peak = int(status.read_text().partition("VmHWM:")[2].split()[0]) / 1024
    took = {"seconds": time.perf_counter() - start, "processor": time.process_time() - before, "memory": peak}
    print(json.dumps({**took, "stages": stages}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
