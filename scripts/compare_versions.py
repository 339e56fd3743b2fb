"""Compare the CPU time and memory of two versions: `python scripts/compare_versions.py OLD NEW`.

OLD and NEW are folders with a checkout, or revisions of git, which are checked out for the time of the comparison. Both
release the same tables in processes of their own: twelve projects of `tests/pins`, and synthetic people by the project
that the version itself drafts. After one run that is not measured, so that loops are compiled, the versions take turns.
CPU seconds are those of a process and its children in user and system mode; memory is the largest resident set.
A ratio is the median of NEW / OLD over all pairs of runs, with the lowest and the highest.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PROJECTS = (
    "method: optimal",
    "method: incognito",
    "method: datafly",
    "method: local recoding",
    "t-closeness",
    "k-map",
    "persons",
    "hierarchy from a file",
    "empty cells match everything",
    "suppressed records are kept",
    "words of a taxonomy file",
    "steps in a row",
)
"""Pinned projects that are compared, by their names in `tests.pins`."""


@dataclass(frozen=True)
class Version:
    """A tree whose code is measured, and a folder for the bytecode and loops that are compiled from it."""

    name: str
    tree: Path
    compiled: Path

    def run(self, command: Sequence[str], folder: Path) -> Measurement:
        """Run a command of this version in a folder, as a process of its own."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.tree / "src"),
            "PYTHONPYCACHEPREFIX": str(self.compiled / "bytecode"),
            "NUMBA_CACHE_DIR": str(self.compiled / "loops"),
            "KEEPSENSE_HOME": str(folder / ".home"),
            "PYTHONHASHSEED": "0",
        }
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        with tempfile.TemporaryFile() as errors:
            process = subprocess.Popen(
                [sys.executable, "-m", "keepsense", *command],
                cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=errors,
            )  # fmt: skip
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                errors.seek(0)
                reason = errors.read().decode(errors="replace").strip().splitlines()
                raise RuntimeError(f"{self.name}: exit {process.returncode}: {reason[0] if reason else ''}")
        unit = 1024 if sys.platform == "linux" else 1
        return Measurement(used.ru_utime + used.ru_stime, used.ru_maxrss * unit / 1e6)


@dataclass(frozen=True)
class Measurement:
    """CPU seconds and the largest resident set of a process, in megabytes."""

    seconds: float
    megabytes: float


@dataclass(frozen=True)
class Task:
    """A command that is measured in a copy of a folder: its name, its words, and what is run once before."""

    name: str
    command: tuple[str, ...]
    case: str = ""
    people: int = 0
    before: tuple[str, ...] = ()

    def prepare(self, folder: Path, version: Version, people: Path) -> None:
        """Write what the command needs, by the code of this tree but for what the version itself drafts."""
        folder.mkdir(parents=True)
        if self.case:
            inputs = import_module("tests.pins.made_up")
            inputs.write_inputs(folder)
            project = inputs.toml(import_module("tests.pins.releases").CASES[self.case])
            (folder / "keepsense.toml").write_text(project, encoding="utf-8")
        if self.people:
            shutil.copy(people / f"{self.people}.csv", folder / "people.csv")
        if self.before:
            version.run(self.before, folder)


DRAFT = ("init", "people.csv", "--output", "keepsense.toml", "--quiet")
RUN = ("run", "keepsense.toml", "--seed", "1", "--quiet")


def tasks(sizes: Sequence[int]) -> list[Task]:
    """All that is measured; sample people in tables of some sizes.

    >>> [task.name for task in tasks([1000])][-2:]
    ['draft of 1,000 people', 'drafted run of 1,000 people']
    """
    drafts = [Task(f"draft of {size:,} people", DRAFT, people=size) for size in sizes]
    runs = [Task(f"drafted run of {size:,} people", RUN, people=size, before=DRAFT) for size in sizes]
    pairs = zip(drafts, runs, strict=True)
    return [*(Task(name, RUN, case=name) for name in PROJECTS), *(task for pair in pairs for task in pair)]


@dataclass(frozen=True)
class Comparison:
    """Measurements of a task by both versions, pair by pair; `failed` says why there are none."""

    name: str
    old: tuple[Measurement, ...] = ()
    new: tuple[Measurement, ...] = ()
    failed: str = ""

    def figures(self, key: str) -> dict[str, float]:
        """Medians of seconds or megabytes, and the median, lowest and highest ratio of all pairs.

        >>> both = Comparison("", (Measurement(1, 1), Measurement(2, 1)), (Measurement(2, 1), Measurement(3, 1)))
        >>> both.figures("seconds")
        {'old': 1.5, 'new': 2.5, 'ratio': 1.75, 'lowest': 1.5, 'highest': 2.0}
        """
        old, new = ([getattr(measured, key) for measured in side] for side in (self.old, self.new))
        ratios = [b / a for a, b in zip(old, new, strict=True)]
        values = (median(old), median(new), median(ratios), min(ratios), max(ratios))
        return {name: round(value, 4) for name, value in zip(_FIGURES, values, strict=True)}


_FIGURES = ("old", "new", "ratio", "lowest", "highest")


def compare(task: Task, versions: tuple[Version, Version], pairs: int, scratch: Path, people: Path) -> Comparison:
    """Measure a task by both versions, which take turns in being the first."""
    measured: dict[str, list[Measurement]] = {version.name: [] for version in versions}
    folders = {version.name: scratch / version.name.replace("/", "-") for version in versions}
    try:
        for version in versions:
            task.prepare(folders[version.name], version, people)
            _measure(task, version, folders[version.name])  # compiles what is not compiled yet
        for pair in range(pairs):
            for version in versions if pair % 2 == 0 else reversed(versions):
                measured[version.name].append(_measure(task, version, folders[version.name]))
    except RuntimeError as error:
        return Comparison(task.name, failed=str(error))
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    old, new = (tuple(measured[version.name]) for version in versions)
    return Comparison(task.name, old, new)


def _measure(task: Task, version: Version, folder: Path) -> Measurement:
    """One run in a copy of its folder, so that none finds what an earlier one left."""
    copy = folder.with_name(f"{folder.name}-run")
    shutil.copytree(folder, copy)
    try:
        return version.run(task.command, copy)
    finally:
        shutil.rmtree(copy, ignore_errors=True)


@contextmanager
def checked_out(name: str, scratch: Path) -> Iterator[Path]:
    """A folder as it is, or a revision in a worktree that is removed afterwards."""
    if Path(name).is_dir():
        yield Path(name).resolve()
        return
    git = ("git", "-C", str(ROOT), "worktree")
    tree = scratch / "tree"
    done = subprocess.run([*git, "add", "--detach", str(tree), name], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{name} is neither a folder nor a revision: {done.stderr.strip()}")
    try:
        yield tree
    finally:
        subprocess.run([*git, "remove", "--force", str(tree)], check=True, capture_output=True)


@contextmanager
def _version(role: str, name: str, scratch: Path) -> Iterator[Version]:
    place = scratch / role
    place.mkdir()
    with checked_out(name, place) as tree:
        if not (tree / "src" / "keepsense").is_dir():
            raise SystemExit(f"{name}: there is no src/keepsense")
        yield Version(role, tree, place)


def _header(wide: int) -> str:
    return f"{'':{wide}}  CPU s old      new  new / old              MB old   new  new / old"


def _row(comparison: Comparison, wide: int) -> str:
    if comparison.failed:
        return f"{comparison.name:{wide}}  {comparison.failed}"
    time, memory = (comparison.figures(key) for key in ("seconds", "megabytes"))
    return (
        f"{comparison.name:{wide}}  {time['old']:9.2f} {time['new']:8.2f}  {_spread(time)}  "
        f"{memory['old']:6.0f} {memory['new']:5.0f}  {_spread(memory)}"
    )


def _spread(figures: dict[str, float]) -> str:
    return f"{figures['ratio']:5.2f} ({figures['lowest']:.2f} to {figures['highest']:.2f})"


def main() -> int:
    """Compare two versions, and print a table; with --json it goes to standard error, before the JSON."""
    parser = argparse.ArgumentParser(description="Compare the CPU time and memory of two versions.")
    parser.add_argument("old", help="folder with a checkout, or a revision of git")
    parser.add_argument("new", help="the same")
    parser.add_argument("--people", type=int, nargs="*", default=[1_000, 100_000], help="sizes of the sample tables")
    parser.add_argument("--pairs", type=int, default=7, help="how often both versions are measured")
    parser.add_argument("--json", action="store_true", help="print one JSON object with all measurements")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # a worktree is removed then, too
    sys.path.insert(0, str(ROOT))  # the pinned projects are those of this tree
    comparisons: list[Comparison] = []
    chosen = tasks(options.people)
    wide, rows = max(len(task.name) for task in chosen), sys.stderr if options.json else sys.stdout
    with tempfile.TemporaryDirectory(prefix="keepsense-compare-") as name:
        scratch = Path(name)
        with _version("old", options.old, scratch) as old, _version("new", options.new, scratch) as new:
            people = scratch / "people"
            people.mkdir()
            for size in options.people:
                new.run(("sample", f"{size}.csv", "--rows", str(size), "--seed", "1", "--quiet"), people)
            print(_header(wide), file=rows)
            for task in chosen:  # a row at a time, so that an interrupted comparison leaves what it measured
                comparisons.append(compare(task, (old, new), options.pairs, scratch / "task", people))
                print(_row(comparisons[-1], wide), file=rows, flush=True)
    print(f"medians of {options.pairs} pairs; lowest and highest ratio in brackets", file=rows)
    if options.json:
        print(_as_json(options, comparisons))
    return int(any(comparison.failed for comparison in comparisons))


def _as_json(options: argparse.Namespace, comparisons: Sequence[Comparison]) -> str:
    figures: list[dict[str, Any]] = [
        asdict(comparison)
        if comparison.failed
        else {**asdict(comparison), **{key: comparison.figures(key) for key in ("seconds", "megabytes")}}
        for comparison in comparisons
    ]
    return json.dumps({"old": options.old, "new": options.new, "pairs": options.pairs, "tasks": figures})


if __name__ == "__main__":
    sys.exit(main())
