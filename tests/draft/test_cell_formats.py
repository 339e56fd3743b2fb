"""Missing marks, dates and numbers as people write them: recognized, drafted, read and released."""

from __future__ import annotations

import csv
import datetime
from pathlib import Path

import pytest

from keepsense.draft.cell_formats import date_format, missing_marks, number_format
from keepsense.draft.inspection import inspect
from keepsense.draft.project_text import draft, write_draft
from keepsense.engines.protocol import Cells, Reading, engine
from keepsense.errors import BadInput
from keepsense.project.project_file import check_project
from keepsense.release.run import run


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["09/22/2008 11:24:00 PM", "10/01/2009 01:00:00 AM"], "%m/%d/%Y %I:%M:%S %p"),
        (["22.9.2008", "1.10.2009"], "%d.%m.%Y"),
        (["22/09/2008", "01/10/2009"], "%d/%m/%Y"),
        (["09/22/2008", "10/01/2009"], "%m/%d/%Y"),
        (["22-Sep-2008"], "%d-%b-%Y"),
        (["20080922", "20081001"], "%Y%m%d"),
        (["2008/09/22 10:15"], "%Y/%m/%d %H:%M"),
        (["99.99.2008"], None),
        (["10-14", "15-19"], None),
        (["1.5", "2.5"], None),
    ],
)
def test_forms_of_dates(texts: list[str], form: str | None) -> None:
    written = date_format(texts)
    assert (None if written is None else written[0]) == form


def test_the_order_of_day_and_month_is_told_where_it_is_a_guess() -> None:
    assert date_format(["01/02/2008"]) == ("%m/%d/%Y", True)
    assert date_format(["01/02/2008", "31/02/2008"]) is None


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["-5,3", "-1.234,50"], "1.234,56"),
        (["1 234,50", "7"], "1 234,56"),
        (["1'234.50", "7"], "1'234.56"),
        (["1,234.50", "7"], "1,234.56"),
        (["1,234", "12,500"], "1,234.56"),
        (["-12%", "7%"], "1,234.56"),
        (["-€5", "€7.50"], "1,234.56"),
        (["+41 79 555", "+41 79 556"], None),
        (["1.5", "2"], None),
        (["1,2,3"], None),
    ],
)
def test_forms_of_numbers(texts: list[str], form: str | None) -> None:
    assert number_format(texts) == form


def test_marks_of_missing_values() -> None:
    assert missing_marks({"?": 2, "nurse": 5, "Unknown": 1, "none": 3}) == ("?", "Unknown")
    assert missing_marks({"01/02/2003": 2, "99/99/9999": 1}) == ("99/99/9999",)
    assert missing_marks({31: 2, 40: 1, 9999: 3}) == ("9999",)
    assert missing_marks({"97": 2, "98": 1, "99": 3}) == ()
    assert missing_marks({"?": 2}) == (), "a column of nothing else has a value of its own"


def test_cells_that_are_not_written_as_was_said_are_refused() -> None:
    with engine() as running:
        reading = Reading(cells={"born": Cells(format="%d.%m.%Y")})
        with pytest.raises(BadInput, match=r"'born': 1 cells are not written as format = '%d\.%m\.%Y'"):
            running.read({"born": ["31.12.1999", "31.31.1999"]}, reading)


def test_a_draft_reads_them_and_the_release_keeps_its_promise(tmp_path: Path) -> None:
    lines = ["born;town;pay"]
    lines += [
        f"{1 + i % 28}.{1 + i % 12}.19{50 + i % 40};{'?' if i % 9 == 0 else 'Bonn'};{i % 50},5" for i in range(400)
    ]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    project = tmp_path / "keepsense.toml"
    project.write_text(
        draft(inspect(str(tmp_path / "people.csv")), source={"path": "people.csv"}, k=3), encoding="utf-8"
    )
    text = project.read_text(encoding="utf-8")
    assert 'format = "%d.%m.%Y"' in text
    assert 'empty = ["?"]' in text
    released = run(project)
    assert released.verification.ok
    with (tmp_path / "release" / "people.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    assert {row["town"] for row in rows} <= {"Bonn", "", "*"}
    assert not any("." in row["born"] for row in rows)


def test_marks_of_the_whole_table() -> None:
    project = check_project(
        {"source": {"path": "x.csv", "empty": ["NA"]}, "privacy": [{"model": "k-anonymity", "k": 2}]}
    )
    with engine() as running:
        table = running.read({"job": ["NA", "nurse"], "age": [1, 2]}, project.reading(project.source))
        assert running.frame(table).to_pydict() == {"job": [None, "nurse"], "age": [1, 2]}


@pytest.mark.parametrize("form", [None, "%m/%Y", "%b %Y"])
def test_months_are_dates_and_no_day_is_made_up(tmp_path: Path, form: str | None) -> None:
    months = [datetime.date(2010 + i % 3, 1 + i % 12, 1) for i in range(240)]
    cells = [month.strftime(form or "%Y-%m") for month in months]
    (tmp_path / "people.csv").write_text("\n".join(["sex,seen", *(f"{'fm'[i % 2]},{c}" for i, c in enumerate(cells))]))
    inspection = inspect(str(tmp_path / "people.csv"))
    assert (inspection.columns[1].kind, inspection.columns[1].format) == ("date", form)
    outcome = run(write_draft(draft(inspection, source={"path": "people.csv"}, k=4), tmp_path / "keepsense.toml"))
    released = {line.split(",")[1] for line in outcome.file.read_text().splitlines()[1:]}
    assert released == {month.strftime("%Y-%m") for month in months}


def test_cells_parted_by_blanks_are_released_with_tabs_because_labels_hold_blanks(tmp_path: Path) -> None:
    rows = [f"{'fm'[i % 2]} {20 + i % 40} {['A11', 'A12', 'A13'][i % 3]}" for i in range(240)]
    (tmp_path / "people.data").write_text("\n".join(["sex age code", *rows, ""]))
    text = draft(inspect(str(tmp_path / "people.data")), source={"path": "people.data"}, k=4)
    released = run(write_draft(text, tmp_path / "keepsense.toml")).file.read_text()
    assert released.startswith("sex\tage\tcode\n")
    assert " to " in released
    assert '"' not in released
