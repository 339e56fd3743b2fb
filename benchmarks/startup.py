"""How long a person waits: for help, for the sample people, for the whole demo."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._registry import Figure, as_toml, benchmark, best_of, children_time, missing


def _seconds(*arguments: str, repeat: int = 5) -> float:
    """What a fresh process takes of one core; nothing here waits for a disk or a network."""
    command = [sys.executable, *arguments]
    return best_of(lambda: subprocess.run(command, check=True, capture_output=True), repeat, children_time)


@benchmark("startup")
def startup() -> Iterator[Figure]:
    """`keepsense --help`, compared with an interpreter that does nothing."""
    bare = _seconds("-c", "pass")
    for name, arguments in (("help", ["-m", "keepsense", "--help"]), ("import", ["-c", "import keepsense"])):
        seconds = _seconds(*arguments)
        bar = "under 0.4 s"
        yield Figure(
            f"{name}-seconds", seconds, "CPU s", f"python -c pass ({bare:.3f} s)", seconds / bare, bar, seconds < 0.4
        )


@benchmark("start")
def start() -> Iterator[Figure]:
    """A whole run on Adult (CSV in and out, optimal search, 5% suppressed), with and without kept compiled loops.

    The unit is a process that imports NumPy, DuckDB and Arrow and copies the file. The bars are 1.3 s, and 10 s where
    nothing is compiled yet, on a machine on which the unit takes 0.26 s.
    """
    from benchmarks.lattice import adult

    table = adult()
    if table is None:
        yield missing("start-warm", "the Adult table", "at most 5")
        return
    columns, hierarchies = table
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        source = write_adult(folder, columns, hierarchies)
        copied = f"read_csv('{source}', delim=';', header=true, all_varchar=true)"
        copy = f"COPY (SELECT * FROM {copied}) TO '{folder / 'copy.csv'}' (HEADER, DELIMITER ';')"
        bare = _seconds("-c", f'import numpy, duckdb, pyarrow\nduckdb.sql("""{copy}""")', repeat=3)
        command = ["-m", "keepsense", "run", str(folder / "keepsense.toml"), "-q"]
        cold = _seconds("-c", _with_cache(folder / "empty", command), repeat=1)
        warm = _seconds(*command, repeat=3)
    against = f"imports and a copy of the file ({bare:.2f} CPU s)"
    yield Figure("start-warm", warm, "CPU s", against, warm / bare, "at most 5", warm <= 5 * bare)
    yield Figure("start-cold", cold, "CPU s", against, cold / bare, "at most 38", cold <= 38 * bare)


def _with_cache(folder: Path, command: list[str]) -> str:
    """Python that runs a command with an empty folder for compiled loops."""
    chosen = f"import os, sys; os.environ['NUMBA_CACHE_DIR'] = {str(folder)!r}; "
    return f"{chosen}os.execv(sys.executable, [sys.executable, *{command!r}])"


def write_adult(folder: Path, columns: dict[str, list[str]], hierarchies: dict[str, Any]) -> Path:
    """The table, its hierarchies and a project for optimal search in a folder; returns the table's file."""
    from keepsense.hierarchies.formats.hierarchy_formats import write_hierarchy

    source = folder / "adult.csv"
    rows = zip(*columns.values(), strict=True)
    source.write_text("\n".join([";".join(columns), *map(";".join, rows), ""]), encoding="utf-8")
    described: dict[str, Any] = {"salary-class": {"role": "insensitive"}}
    for name in columns:
        if name not in described:
            write_hierarchy(hierarchies[name], folder / f"{name}.csv")
            described[name] = {"role": "quasi-identifier", "hierarchy": f"{name}.csv"}
    project = {
        "source": {"path": source.name},
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "method": {"name": "optimal"},
        "release": {"suppression": 0.05},
        "columns": described,
    }
    (folder / "keepsense.toml").write_text(as_toml(project), encoding="utf-8")
    return source


@benchmark("sample")
def sample() -> Iterator[Figure]:
    """Seconds to make and to write the sample people."""
    from keepsense.sample_people import people, write_people

    people(1_000)
    small, large = best_of(lambda: people(10_000)), best_of(lambda: people(1_000_000), 1)
    yield Figure("sample-10000-rows", small, "s", "1 s", small, "about a second", small < 1.5)
    yield Figure(
        "sample-1000000-rows", large, "s", "100 x 10,000 rows", large / (100 * small), "a few seconds", large < 10
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        seconds = best_of(lambda: write_people(path, 1_000_000), 1)
    bar = "at most 3 x making them"
    yield Figure("sample-1000000-rows-csv", seconds, "s", "making them", seconds / large, bar, seconds < 3 * large)


@benchmark("demo")
def demo() -> Iterator[Figure]:
    """The whole demo in a fresh process, compiled kernels in the cache; with its set-up it may take a minute."""
    bare = _seconds("-c", "import keepsense.cli")
    seconds = _seconds("-m", "keepsense", "demo", repeat=3)
    against = f"import keepsense.cli ({bare:.2f} s)"
    yield Figure("demo-seconds", seconds, "CPU s", against, seconds / bare, "under 20 s", seconds < 20)
