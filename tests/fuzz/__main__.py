"""Fuzz readers: `python -m tests.fuzz --seconds 10`, or `--inputs 100000`, for all readers or those named.

Inputs are made from seeds and from one another; one that reaches a line of Keepsense that none before it reached is
kept to make others from. Every reader runs in a process of its own, so that a crash ends nothing else. An input at
which a reader raises anything but a `KeepsenseError`, dies, or takes longer than it may is put into the corpus beside
this file, which the tests replay.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from tests.fuzz.mutation import mutated, tokens
from tests.fuzz.readers import READERS, Reader, attempt, warmed

CORPUS = Path(__file__).parent / "corpus"
SLOW = 10
"""Seconds of the processor that a reader may take for one input."""
DEAD = 60
"""Seconds after which a process that does not even notice that it is slow is ended."""
FAT = 1 << 21
"""Kibibytes that a reader may need."""
TRACED = 10
"""One input in so many is watched line by line, which is slow."""
_PACKAGE = str(Path(__file__).parents[2] / "src" / "keepsense")


class TooSlow(BaseException):
    """Raised in a reader that takes too long."""


@dataclass
class Tally:
    """What became of the inputs of one reader."""

    reader: str
    seeds: int = 0
    inputs: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    kept: int = 0
    lines: dict[str, list[int]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


class Lines:
    """Lines of Keepsense that were reached, and whether the last input reached a new one."""

    def __init__(self) -> None:
        self.reached: set[tuple[str, int]] = set()
        self._left: dict[CodeType, set[int]] = {}  # lines of functions that were not reached yet

    def watched(self, run: Callable[[], Any]) -> tuple[Any, bool]:
        """Run something, and tell whether it reached a new line."""
        before = len(self.reached)
        sys.settrace(self._call)
        try:
            result = run()
        finally:
            sys.settrace(None)
        return result, len(self.reached) > before

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        code = frame.f_code
        left = self._left.get(code)
        if left is None:
            ours = code.co_filename.startswith(_PACKAGE)
            left = self._left[code] = {line for _, _, line in code.co_lines() if line} if ours else set()
            left.discard(code.co_firstlineno)
        return self._line if left else None

    def _line(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.reached.add((frame.f_code.co_filename, frame.f_lineno))
            self._left[frame.f_code].discard(frame.f_lineno)
        return self._line


@cache
def executable(file: str) -> set[int]:
    """Lines of a file that can be reached after it was imported: those inside functions."""
    lines: set[int] = set()
    waiting: list[tuple[CodeType, bool]] = [(compile(Path(file).read_text(encoding="utf-8"), file, "exec"), False)]
    while waiting:
        code, inside = waiting.pop()
        function = inside or bool(code.co_flags & 2)  # CO_NEWLOCALS: not a module, not a class body
        if function:
            lines |= {line for _, _, line in code.co_lines() if line and line != code.co_firstlineno}
        waiting += [(inner, function) for inner in code.co_consts if isinstance(inner, CodeType)]
    return lines


def files_of(reader: Reader) -> list[str]:
    modules = [sys.modules[part] if isinstance(part, str) else part for part in reader.modules]
    return [str(module.__file__) for module in modules]


def fuzz(reader: Reader, room: Path, seed: int, until: Callable[[Tally], bool]) -> Tally:
    """Give inputs to a reader until it is enough; failures are put into the corpus."""
    rng, lines, tally = random.Random(f"{reader.name} {seed}"), Lines(), Tally(reader.name)
    corpus = reader.seeds()
    tally.seeds = len(corpus)
    folder = CORPUS / reader.name
    corpus += [file.read_bytes() for file in sorted(folder.glob("*"))] if folder.is_dir() else []
    words = tokens(corpus) if not reader.binary else []
    outcomes: Counter[str] = Counter()
    place = room / reader.file
    signal.signal(signal.SIGPROF, _too_slow)
    waiting = list(corpus)
    while waiting or not until(tally):
        raw = waiting.pop() if waiting else mutated(rng.choice(corpus), corpus, words, rng, binary=reader.binary)
        place.write_bytes(raw)
        signal.setitimer(signal.ITIMER_PROF, SLOW)
        try:
            if tally.inputs < 200 or tally.inputs % TRACED == 0:
                outcome, new = lines.watched(lambda: attempt(reader, place))
            else:
                outcome, new = attempt(reader, place), False
            if new and len(corpus) < 2000:
                corpus.append(raw)
                tally.kept += 1
            if _memory() > FAT:
                raise MemoryError("the reader needs more memory than it may")
        except (Exception, TooSlow) as error:
            outcome = type(error).__name__
            _keep(reader, raw, "".join(traceback.format_exception(error)[-3:]), tally)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
        outcomes[outcome] += 1
        tally.inputs += 1
        if tally.inputs % 500 == 0:
            _note(room, tally, outcomes, lines, reader)
    _note(room, tally, outcomes, lines, reader)
    return tally


def _note(room: Path, tally: Tally, outcomes: Counter[str], lines: Lines, reader: Reader) -> None:
    """Put down how far it came, so that it is known though the process dies."""
    tally.outcomes = dict(outcomes)
    tally.lines = {}
    for file in files_of(reader):
        there = executable(file)
        reached = {line for name, line in lines.reached if name == file} & there
        tally.lines[Path(file).relative_to(_PACKAGE).as_posix()] = [len(reached), len(there)]
    (room / "tally.json").write_text(json.dumps(asdict(tally)), encoding="utf-8")


def _too_slow(*_: object) -> None:
    raise TooSlow(f"more than {SLOW} seconds for one input")


def _memory() -> int:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _keep(reader: Reader, raw: bytes, why: str, tally: Tally) -> None:
    """Put an input into the corpus, one for each reason."""
    folder = CORPUS / reader.name
    reason = re.sub(r"\d+|'[^']*'", "", why)
    name = hashlib.sha256(raw).hexdigest()[:12]
    if reason not in {re.sub(r"\d+|'[^']*'", "", other.partition(": ")[2]) for other in tally.failures}:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(raw)
        tally.failures.append(f"{name}: {why}")


def in_child(reader: Reader, seed: int, until: Callable[[Tally], bool]) -> Tally:
    """Fuzz a reader in a process of its own; its death is a failure, and what it read goes into the corpus."""
    room = Path(tempfile.mkdtemp(prefix="keepsense-fuzz-"))
    try:
        child = os.fork()
        if child == 0:
            code = 1
            try:
                import warnings

                warnings.simplefilter("ignore")
                fuzz(reader, room, seed, until)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        ended = _ended(child, room / reader.file)
        note = room / "tally.json"
        tally = Tally(**json.loads(note.read_text(encoding="utf-8"))) if note.exists() else Tally(reader.name)
        if ended != 0:
            _keep(reader, (room / reader.file).read_bytes(), f"the process ended with {ended}", tally)
        return tally
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _ended(child: int, place: Path) -> int:
    """How a process ended; one that has read the same input for too long is made to."""
    while True:
        process, status = os.waitpid(child, os.WNOHANG)
        if process:
            return os.waitstatus_to_exitcode(status)
        if place.exists() and time.time() - place.stat().st_mtime > DEAD:
            os.kill(child, signal.SIGKILL)
        time.sleep(0.02)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("readers", nargs="*", help=f"of {', '.join(READERS)}; all by default")
    parser.add_argument("--seconds", type=float, default=10, help="for each reader")
    parser.add_argument("--inputs", type=int, default=0, help="for each reader, instead of seconds")
    parser.add_argument("--binary-inputs", type=int, default=0, help="for each reader of a binary format")
    parser.add_argument("--seed", type=int, default=None, help="another one finds other inputs; a fresh one by default")
    parser.add_argument("--json", type=Path, help="append what was counted to this file, a line a reader")
    arguments = parser.parse_args()
    seed = random.SystemRandom().randrange(1 << 32) if arguments.seed is None else arguments.seed
    failed = False
    warmed()
    for name in arguments.readers or READERS:
        reader = READERS[name]
        wanted = (arguments.binary_inputs or arguments.inputs) if reader.binary else arguments.inputs
        end = time.monotonic() + arguments.seconds
        start = time.monotonic()
        tally = in_child(reader, seed, lambda t: t.inputs >= wanted if wanted else time.monotonic() >= end)  # noqa: B023
        rate = tally.inputs / max(1e-9, time.monotonic() - start)
        covered = ", ".join(f"{file} {a} of {b} lines" for file, (a, b) in tally.lines.items())
        print(f"{name}: {tally.inputs:,} inputs ({rate:,.0f} a second) {tally.outcomes}; {covered}", flush=True)
        for failure in tally.failures:
            failed = True
            print(f"  {CORPUS.name}/{name}/{failure}", flush=True)
        if arguments.json is not None:
            with arguments.json.open("a", encoding="utf-8") as file:
                file.write(json.dumps({**asdict(tally), "seed": seed}) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
