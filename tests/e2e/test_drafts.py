"""Untouched drafts of real tables are good: verified, useful and safe, as they are and with gaps, by either door."""

from __future__ import annotations

import pytest
from benchmarks.drafts import DATA, GAPS, TABLES, Draft, complaints, drafted

from keepsense.release.example import example_release

pytestmark = [
    pytest.mark.data,
    pytest.mark.skipif(not DATA.is_dir(), reason="needs the real data folder beside the checkout"),
]
ROWS = 600
"""Rows of each table that are drawn for the quick tests."""


def good(made: Draft) -> None:
    assert not made.ended
    assert made.complaints == ()
    assert bool(made.lost) != (made.table == "groceries")  # sets are measured by other figures


@pytest.mark.parametrize("gaps", [0.0, GAPS], ids=["whole", "gaps"])
@pytest.mark.parametrize("table", TABLES)
def test_the_draft_of_a_sample_is_good(table: str, gaps: float) -> None:
    good(drafted(table, gaps=gaps, most=ROWS))


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("table", TABLES)
def test_the_front_door_is_good_with_a_sample(table: str, library: str) -> None:
    good(drafted(table, gaps=GAPS, most=ROWS, frame=library))


@pytest.mark.long
@pytest.mark.parametrize("ending", ["parquet", "xlsx", "jsonl", "sqlite"])
@pytest.mark.parametrize("table", TABLES)
def test_the_draft_of_a_sample_in_another_format_is_good(table: str, ending: str) -> None:
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    good(drafted(table, gaps=GAPS, most=ROWS, ending=ending))


@pytest.mark.long
@pytest.mark.parametrize("gaps", [0.0, GAPS], ids=["whole", "gaps"])
@pytest.mark.parametrize("table", TABLES)
def test_the_draft_of_a_table_is_good(table: str, gaps: float) -> None:
    good(drafted(table, gaps=gaps))


@pytest.mark.long
@pytest.mark.parametrize(("gaps", "library"), [(0.0, "polars"), (GAPS, "pandas")], ids=["whole", "gaps"])
@pytest.mark.parametrize("table", TABLES)
def test_the_front_door_is_good_with_a_table(table: str, gaps: float, library: str) -> None:
    good(drafted(table, gaps=gaps, frame=library))


def test_costs_of_patients_are_released_in_bands() -> None:
    made = drafted("patients", most=ROWS)
    assert not any("HEALTHCARE" in said for said in made.complaints)
    assert {"HEALTHCARE_EXPENSES", "HEALTHCARE_COVERAGE"} <= set(made.columns)


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        ({"pay": [str(i) for i in range(100)]}, "pay is nearly unique"),
        ({"LAT": ["54.10419"] * 9}, "LAT holds exact coordinates"),
        ({"job": ["entity"] * 9}, "job holds abstract words: entity"),
        ({"job": ["school#1"] * 9}, "job holds numbered labels"),
        ({"place": ["STREET", "street"] * 9}, "place spells one word in two ways"),
        ({"place": ["(missing)"] * 9}, "place marks missing cells in words"),
        ({"ssn": ["1"] * 9}, "ssn is released"),
        ({}, "age, job are missing"),
    ],
)
def test_what_is_wrong_is_seen(cells: dict[str, list[str]], said: str) -> None:
    columns = [] if cells else ["age", "job"]
    assert complaints(example_release(), cells, frozenset({"ssn"}), columns) == [said]


def test_the_front_door_counts_people_where_rows_are_not_people() -> None:
    assert "W403" not in drafted("conditions", most=ROWS, frame="polars").findings
