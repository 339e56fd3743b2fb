"""Whole runs give the same release, description, output, exit code and findings: pins written by `tests.pins.renew`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.pins import releases, runs
from tests.spark import NEEDS_JAVA

REVIEW = "; if this is meant, run `python -m tests.pins.renew runs` and review the difference"


def _same(name: str, folder: Path, data: Path | None = None) -> None:
    pinned = json.loads(runs.facts_file(name).read_text(encoding="utf-8"))
    changes = runs.changes(pinned, runs.facts(runs.RUNS[name], folder, data))
    assert not changes, f"{name}: {'; '.join(changes)}{REVIEW}"


@pytest.mark.parametrize("name", runs.SYNTHETIC)
def test_a_run_is_the_same(name: str, tmp_path: Path) -> None:
    _same(name, tmp_path)


@pytest.mark.data
@pytest.mark.parametrize("name", runs.TABLES)
def test_the_drafted_run_of_a_real_table_is_the_same(name: str, tmp_path: Path, shared_data: Path) -> None:
    _same(name, tmp_path, shared_data / "people_tables")


@pytest.mark.long
@NEEDS_JAVA
@pytest.mark.parametrize("name", runs.SPARK)
def test_a_run_on_spark_is_the_same(name: str, tmp_path: Path) -> None:
    from tests.spark import session

    session()
    _same(name, tmp_path)


def test_no_pinned_run_is_left_over() -> None:
    assert set(runs.FACTS.iterdir()) == {runs.facts_file(name) for name in runs.RUNS}


def test_versions_are_compared_on_projects_that_are_pinned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(runs.ROOT / "scripts"))
    from compare_versions import PROJECTS

    assert set(PROJECTS) <= set(releases.CASES)
