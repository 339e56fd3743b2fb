"""How long a person waits: for help, for the sample people, for the whole demo."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks._registry import Figure, benchmark, best_of, children_time


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


@benchmark("sample")
def sample() -> Iterator[Figure]:
    """Seconds to make and to write the sample people."""
    from keepsense.sample import people, write_people

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
