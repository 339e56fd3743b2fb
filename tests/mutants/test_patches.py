"""Patches that break the code on purpose still apply, and name tests that are there: `scripts/mutants.py` runs them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_every_patch_applies_and_names_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    from mutants import mutants

    known = mutants()
    assert [mutant.number for mutant in known] == list(range(1, len(known) + 1))
    for mutant in known:
        assert mutant.breaks.endswith("."), mutant.patch.name
        assert mutant.tests, mutant.patch.name
        assert not mutant.missing_tests, mutant.patch.name
        assert not mutant.apply(ROOT, check=True), f"{mutant.patch.name}: make this patch again"
