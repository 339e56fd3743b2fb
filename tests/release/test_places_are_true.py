"""Places, races and weapons of real tables: every released label is true of the people it stands for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.truth import false_labels, is_true

from keepsense.draft.project_draft import Wishes, draft_from_arguments
from keepsense.project.project_file import Project
from keepsense.release.run import Outcome, run


def test_labels_that_are_false_are_found() -> None:
    towns = {"Seattle": "WA", "Miami": "FL", "Shelton": "WA"}
    for label, true in {
        "*": {*towns},
        "Florida or Shelton": {"Miami", "Shelton"},
        "Shelton (any part)": set(),
        "Washington": {"Seattle", "Shelton"},
        "Washington (state)": {"Seattle", "Shelton"},
        "Washington (city)": set(),
        "seattle (any spelling)": {"Seattle"},
        "Florida or Washington (state)": {*towns},
        "United States": {*towns},
    }.items():
        assert {town for town, state in towns.items() if is_true(label, town, state)} == true, label
    assert [is_true("B or W", value) for value in ("B", "W", "B;W", None)] == [True, True, False, False]


def _released(table: Path, into: Path, columns: dict[str, dict[str, object]]) -> Iterator[Outcome]:
    """The table's draft, with each method, of some columns, of which more may be said."""
    keys = draft_from_arguments(table, Wishes())[0].model_dump(exclude_unset=True) | {"unlisted": "drop"}
    keys["columns"] = {name: {**keys["columns"][name], **said} for name, said in columns.items()}
    keys.pop("set_method", None)
    for method in ("optimal", "semantic mondrian", "local recoding"):
        project = Project.model_validate(keys | {"method": {"name": method}})
        done = run(project, folder=table.parent, into=into / method, rng=1)
        assert not [finding for finding in done.findings if finding.code == "W315"]
        yield done


@pytest.mark.data
def test_no_town_of_another_state_is_released(shared_data: Path, tmp_path: Path) -> None:
    table = shared_data / "people_tables" / "false_label.csv"
    for done in _released(table, tmp_path, {"sex": {}, "city": {}, "state": {}}):
        assert not false_labels(done, "city", "state")
        assert done.description["columns"]["city"]["lost"] < 0.44
        assert any("Washington (state)" in str(label) for label in done.after.values_of("city"))


@pytest.mark.data
def test_no_false_place_race_or_weapon_is_released(shared_data: Path, tmp_path: Path) -> None:
    """Several items in one cell are one word here, so that every released value is one that somebody has."""
    table, words = shared_data / "people_tables" / "shootings.csv", {"kind": "nominal"}
    for done in _released(table, tmp_path, {"city": {}, "state": {}, "race": words, "armed_with": words}):
        for name, state in (("city", "state"), ("state", "state"), ("race", None), ("armed_with", None)):
            assert not false_labels(done, name, state)
