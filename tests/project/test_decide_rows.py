"""Numbers of rows are not released, and a table without anything that others may know ends in one question."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from keepsense.draft.inspection import inspect
from keepsense.draft.open_questions import decisions


def _file(folder: Path, name: str, numbers: list[int]) -> str:
    draw = random.Random(1)
    rows = [f"{number},{draw.choice('fm')},{draw.randint(20, 70)}" for number in numbers]
    path = folder / "people.csv"
    path.write_text("\n".join([f"{name},sex,age", *rows, ""]), encoding="utf-8")
    return str(path)


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "v0", "index", "row_number", "rownames", "__index_level_0__"])
@pytest.mark.parametrize("numbers", [range(8), range(1, 61), random.Random(2).sample(range(5000), 60)])
def test_unnamed_numbers_of_rows_are_identifiers(tmp_path: Path, name: str, numbers: list[int]) -> None:
    inspection = inspect(_file(tmp_path, name, list(numbers)))
    assert inspection.columns[0].role == "identifier"


def test_a_name_alone_makes_no_row_number(tmp_path: Path) -> None:
    inspection = inspect(_file(tmp_path, "index", [3, 5, 7] * 20))
    assert inspection.columns[0].role != "identifier"


def test_measurements_alone_end_in_one_question(tmp_path: Path) -> None:
    draw = random.Random(3)
    path = tmp_path / "measured.csv"
    path.write_text("\n".join(["a,b", *(f"{draw.random():.6f},{draw.random():.6f}" for _ in range(60)), ""]))
    first = decisions(inspect(str(path)))[0]
    assert first.columns == ("a", "b")
    assert 'the role "quasi-identifier"' in str(first)
    assert "nothing can be promised" in str(first)
    other = decisions(inspect(_file(tmp_path, "x", [3, 5, 7] * 20)))
    assert not any("nothing can be promised" in str(decision) for decision in other)
