"""Break the code on purpose, one patch of `tests/mutants` at a time, and see whether the tests notice.

    python scripts/mutants.py              # all of them
    python scripts/mutants.py 3 17         # some
    python scripts/mutants.py --all-tests  # where the listed tests pass, run all that `make test` runs

The first line of a patch says what it breaks, and the line that begins with `Tests:` what is passed on to pytest: the
files that are most likely to stop it. Only tests that `make test` runs count. Patches are applied to a copy of the tree
among the temporary files. The copy stays there, so that loops are compiled once and not for every mutant. Exits with 1
where a mutant survives or cannot be tried.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PATCHES = ROOT / "tests" / "mutants"


@dataclass(frozen=True)
class Mutant:
    """A patch: its number and name, what it breaks, the arguments of pytest, and the files that it changes."""

    patch: Path
    breaks: str
    tests: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def number(self) -> int:
        """The number its file begins with."""
        return int(self.patch.name.split("-")[0])

    @property
    def missing_tests(self) -> list[str]:
        """Listed files that are not in the tree."""
        paths = [word.split("::")[0] for word in self.tests]
        return [path for path in paths if path.endswith(".py") and not (ROOT / path).is_file()]

    def apply(self, folder: Path, *, check: bool = False) -> str:
        """Apply the patch to a copy of the tree, or only try to; return what speaks against it."""
        command = ["git", "apply", *(["--check"] if check else []), str(self.patch)]
        # a folder in a repository of others is no part of it
        environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
        return done.stderr.strip()


def mutants() -> list[Mutant]:
    """All mutants in the order of their numbers."""
    return [_read(patch) for patch in sorted(PATCHES.glob("*.patch"))]


def _read(patch: Path) -> Mutant:
    text = patch.read_text(encoding="utf-8")
    tests = re.search(r"^Tests: (.+)$", text, re.MULTILINE)
    files = re.findall(r"^\+\+\+ b/(.+)$", text, re.MULTILINE)
    return Mutant(patch, text.splitlines()[0], tuple(shlex.split(tests[1])) if tests else (), tuple(files))


@dataclass(frozen=True)
class Outcome:
    """How a run of tests ended: pytest's exit code, the tests that failed, its output, and CPU seconds."""

    code: int
    failed: tuple[str, ...]
    output: str
    seconds: float


def run_tests(folder: Path, arguments: Sequence[str]) -> Outcome:
    """Run tests of a copy of the tree until one fails."""
    settings = ["-x", "-q", "--tb=line", "-p", "no:cacheprovider", "--hypothesis-seed=0", "-m", normal_suite()]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder / "src"), str(folder)]),
        "KEEPSENSE_DATA": str((ROOT / (os.environ.get("KEEPSENSE_DATA") or "../shared/data")).resolve()),
    }
    before = _cpu_seconds()
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *settings, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    failed = re.findall(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    return Outcome(done.returncode, tuple(failed), done.stdout + done.stderr, _cpu_seconds() - before)


def normal_suite() -> str:
    """The expression of marks by which `make test` chooses its tests.

    >>> normal_suite() != ""
    True
    """
    recipe = re.search(r"^test:.*\n(?:\t.*\n)+", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    marks = re.search(r'-m "([^"]+)"', recipe[0]) if recipe else None
    if marks is None:
        raise SystemExit('Makefile: the target `test` has no -m "...", so the normal tests are not known')
    return marks[1]


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def copy_tree() -> Path:
    """Copy the files that git knows, or would add, to a folder that stays; only those that changed are written."""
    name = f"keepsense-mutants-{hashlib.sha256(str(ROOT).encode()).hexdigest()[:8]}"
    folder = Path(tempfile.gettempdir()) / name
    folder.mkdir(mode=0o700, exist_ok=True)
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split("\0")
    wanted = {file for file in files if file and (ROOT / file).is_file()}
    for file in sorted(wanted):
        _copy(file, folder)
    for path in list(folder.rglob("*.py")):  # a test or module that is gone
        if path.relative_to(folder).as_posix() not in wanted:
            path.unlink()
    return folder


def _copy(file: str, folder: Path) -> None:
    """Copy a file with its time, by which compiled loops are recognized."""
    source, target = ROOT / file, folder / file
    if target.is_file():
        one, other = source.stat(), target.stat()
        if (one.st_size, one.st_mtime_ns) == (other.st_size, other.st_mtime_ns):
            return
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


@contextmanager
def _broken(mutant: Mutant, folder: Path) -> Iterator[str]:
    """The copy with a patch applied; as it was afterwards."""
    try:
        yield mutant.apply(folder)
    finally:
        for file in mutant.files:
            _copy(file, folder)


def judge(mutant: Mutant, folder: Path, *, all_tests: bool, passed: dict[tuple[str, ...], Outcome]) -> tuple[bool, str]:
    """Whether tests stop a mutant, and what to print; `passed` holds runs on the unchanged tree by their arguments."""
    if not mutant.tests:
        return False, "cannot be tried: its patch has no line that begins with `Tests:`"
    if mutant.missing_tests:
        return False, f"cannot be tried: {', '.join(mutant.missing_tests)} is not there; name other tests in its patch"
    if problem := mutant.apply(folder, check=True):
        return False, f"cannot be tried: its patch does not apply any more; make it again ({problem.splitlines()[0]})"
    if mutant.tests not in passed:
        passed[mutant.tests] = run_tests(folder, mutant.tests)
    unchanged = passed[mutant.tests]
    if unchanged.code:
        return False, f"cannot be tried: its tests do not pass on the unchanged tree: {_reason(unchanged)}"
    with _broken(mutant, folder):
        outcome = run_tests(folder, mutant.tests)
    if outcome.code == 0 and all_tests:
        if () not in passed:
            passed[()] = run_tests(folder, ["--maxfail=0", "--continue-on-collection-errors"])
        # what fails on the unchanged tree says nothing, be it a test or a whole file
        failing = [f"--{'deselect' if '::' in test else 'ignore'}={test}" for test in passed[()].failed]
        with _broken(mutant, folder):
            outcome = run_tests(folder, failing)
    spent = f"{outcome.seconds:.1f} CPU s, {unchanged.seconds:.1f} unchanged"
    if outcome.code == 0:
        return False, f"SURVIVED ({spent}): {shlex.join(mutant.tests)} passes"
    if outcome.code != 1:
        return False, f"cannot be tried: pytest did not run ({_reason(outcome)})"
    return True, f"stopped by {outcome.failed[0]} ({spent})"


def _reason(outcome: Outcome) -> str:
    if outcome.failed:
        return outcome.failed[0]
    return "no test is selected" if outcome.code == 5 else outcome.output.strip().splitlines()[-1]


def main() -> int:
    """Try the mutants that were asked for."""
    parser = argparse.ArgumentParser(description="Break the code on purpose and see whether the tests notice.")
    parser.add_argument("numbers", nargs="*", type=int, help="numbers of mutants; all by default")
    parser.add_argument("--all-tests", action="store_true", help="run all normal tests where the listed ones pass")
    options = parser.parse_args()
    known = {mutant.number: mutant for mutant in mutants()}
    if unknown := sorted({*options.numbers} - {*known}):
        parser.error(f"there is no mutant {unknown[0]}; there are {min(known)} to {max(known)}")
    passed: dict[tuple[str, ...], Outcome] = {}
    folder, stopped = copy_tree(), 0
    chosen = sorted({*options.numbers} or {*known})
    for number in chosen:
        good, text = judge(known[number], folder, all_tests=options.all_tests, passed=passed)
        stopped += good
        print(f"{number:2} {known[number].breaks}\n   {text}", flush=True)
    print(f"{stopped} of {len(chosen)} stopped, {_cpu_seconds():.0f} CPU seconds")
    return 0 if stopped == len(chosen) else 1


if __name__ == "__main__":
    sys.exit(main())
