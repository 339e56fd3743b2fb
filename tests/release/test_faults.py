"""Whatever fails while a release is made, and wherever: there is a whole release afterwards, or none; never a part."""

from __future__ import annotations

import builtins
import errno
import hashlib
import io
import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.release.tables import project, write_jobs, write_people

from keepsense.errors import KeepsenseError
from keepsense.release.folder.ledger import read_ledger
from keepsense.release.run import run

FILES = ("people.csv", "release.json", "private/recoding.json")


def released(folder: Path) -> dict[str, str]:
    """Digests of what a release consists of, without its record in the ledger."""
    place = folder / "release"
    return {name: hashlib.sha256((place / name).read_bytes()).hexdigest() for name in FILES if (place / name).exists()}


class Faults:
    """Counts the steps that write, and lets one of them fail."""

    def __init__(self, at: int | None = None, error: Callable[[], BaseException] | None = None) -> None:
        self.at, self.error, self.steps = at, error, 0

    def step(self) -> None:
        self.steps += 1
        if self.steps - 1 == self.at and self.error is not None:
            raise self.error()

    @contextmanager
    def injected(self, folder: Path) -> Iterator[None]:
        """Watch the system calls that write below a folder."""

        def watched(call: Callable[..., Any], place: int = 0) -> Callable[..., Any]:
            def wrapped(*arguments: Any, **options: Any) -> Any:
                path = arguments[place] if len(arguments) > place else None
                writes = call is not io_open or any(letter in _mode(arguments, options) for letter in "wax+")
                if writes and isinstance(path, str | os.PathLike) and folder in Path(path).absolute().parents:
                    self.step()
                return call(*arguments, **options)

            return wrapped

        io_open = io.open
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(io, "open", watched(io_open))
            patched.setattr(builtins, "open", watched(io_open))
            patched.setattr(os, "replace", watched(os.replace, 1))
            for name in ("mkdir", "chmod", "open"):
                patched.setattr(os, name, watched(getattr(os, name)))
            yield


def _mode(arguments: tuple[Any, ...], options: dict[str, Any]) -> str:
    return str(options.get("mode", arguments[1] if len(arguments) > 1 else "r"))


def release(folder: Path, k: int, faults: Faults) -> None:
    with faults.injected(folder):
        run(project(privacy=[{"model": "k-anonymity", "k": k}]), folder=folder, rng=1)


@pytest.mark.long
@pytest.mark.parametrize("before", [False, True], ids=["the first release", "another release"])
@pytest.mark.parametrize(
    "error",
    [lambda: OSError(errno.ENOSPC, "no space left on device"), KeyboardInterrupt],
    ids=["a full disk", "an interrupt"],
)
def test_a_fault_at_any_step_leaves_a_whole_release_or_the_one_before(
    tmp_path: Path, error: Callable[[], BaseException], before: bool
) -> None:
    def fresh(name: str) -> Path:
        folder = tmp_path / name
        folder.mkdir()
        write_people(folder)
        write_jobs(folder)
        if before:
            release(folder, 3, Faults())
        return folder

    count = Faults()
    release(fresh("without a fault"), 4, count)
    assert count.steps > 5, "the steps that write are seen"
    whole = released(tmp_path / "without a fault")
    assert set(whole) == set(FILES)
    for step in range(count.steps):
        folder = fresh(f"step {step}")
        earlier, entries = released(folder), len(read_ledger(folder))
        try:
            release(folder, 4, Faults(step, error))
            failed = False
        except (OSError, KeepsenseError, KeyboardInterrupt):
            failed = True
        left = released(folder)
        assert left in (earlier, whole), f"step {step} left a part of a release: {sorted(left)}"
        assert failed or left == whole
        assert len(read_ledger(folder)) == entries + (left == whole), f"step {step}: the ledger does not agree"
        if left:
            about = json.loads((folder / "release" / "release.json").read_text(encoding="utf-8"))
            assert about["sha256"] == left["people.csv"]
        release(folder, 4, Faults())
        assert released(folder) == whole, f"after step {step} failed, nothing can be released any more"
        assert {p.name for p in (folder / "release").iterdir()} == {"people.csv", "release.json", "private"}
