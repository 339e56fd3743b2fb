"""Inputs that once broke a reader are read or refused now; and the fuzzer sees a reader that breaks."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.fuzz import __main__ as fuzzer
from tests.fuzz.readers import READERS, Reader, warmed

CASES = sorted(file for file in fuzzer.CORPUS.glob("*/*"))


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    warmed()


@pytest.mark.parametrize("name", READERS)
def test_a_reader_understands_its_seeds_and_stands_what_once_broke_it(name: str) -> None:
    tally = fuzzer.in_child(READERS[name], 1, lambda t: True)  # the seeds and the corpus only
    assert not tally.failures, tally.failures
    assert tally.outcomes.get("read", 0) >= (tally.seeds if name != "taxonomy-any" else 1)


def test_every_case_of_the_corpus_has_its_reader() -> None:
    assert {case.parent.name for case in CASES} <= set(READERS)


def raising(path: Path) -> None:
    if len(path.read_bytes()) > 3:
        raise KeyError("x")


def dying(path: Path) -> None:
    import ctypes

    ctypes.string_at(0)


def waiting(path: Path) -> None:
    while time.monotonic() >= 0:
        pass


@pytest.mark.parametrize(("broken", "said"), [(raising, "KeyError"), (dying, "ended with -11"), (waiting, "TooSlow")])
def test_a_reader_that_breaks_is_found(
    broken: object, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzzer, "CORPUS", tmp_path)
    monkeypatch.setattr(fuzzer, "SLOW", 1)
    reader = Reader("broken", "x", broken, lambda: [b"abcdef"], ("keepsense.files",))  # type: ignore[arg-type]
    tally = fuzzer.in_child(reader, 1, lambda t: t.inputs >= 1)
    assert len(tally.failures) == 1
    assert said in tally.failures[0]
    assert [file.read_bytes() for file in (tmp_path / "broken").iterdir()] == [b"abcdef"]
