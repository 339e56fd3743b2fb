"""Where a column tells whose rows they are, every figure of risk counts people, wherever the table comes from."""

from __future__ import annotations

import csv
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.postgresql import Server, server

from keepsense.engines.protocol import Reading
from keepsense.project.project_file import Project
from keepsense.release.figures.assess import assess
from keepsense.release.figures.measure import linkage
from keepsense.release.run import run

__all__ = ["server"]
NAMES = ("who", "town", "age", "illness")
VISITS = [
    (f"{town}{person}", town, 30 + visit % 7, ("flu", "cold")[(person + visit) % 2])
    for town in ("ayr", "bonn", "cork")
    for person in range(2)
    for visit in range(10)
]
"""Three towns with two patients of ten visits each: a visitor is one of two, not one of twenty."""
COLUMNS: dict[str, Any] = {
    "who": {"role": "person"},
    "town": {"role": "quasi-identifier"},
    "age": {"role": "insensitive"},
    "illness": {"role": "sensitive"},
}


def plan(source: dict[str, Any], **changes: Any) -> Project:
    promise = {"model": "(X,Y)-anonymity", "k": 2, "person": "who"}
    keys = {"source": source, "columns": COLUMNS, "privacy": [promise], "method": {"name": "optimal"}}
    return Project.model_validate({**keys, **changes})


def written(folder: Path, form: str) -> dict[str, Any]:
    if form == "csv":
        with (folder / "visits.csv").open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([NAMES, *VISITS])
        return {"path": "visits.csv"}
    connection = sqlite3.connect(folder / "visits.sqlite")
    connection.execute("CREATE TABLE visits (who text, town text, age integer, illness text)")
    connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?)", VISITS)
    connection.commit()
    connection.close()
    return {"path": "visits.sqlite", "table": "visits"}


def judged(project: Project, folder: Path) -> None:
    done = run(project, folder=folder, rng=1)
    for when in ("before", "after"):
        risk = done.description["risk"][when]
        assert (risk["prosecutor, highest"], risk["prosecutor, average"], risk["marketer"]) == (0.5, 0.5, 0.5)
    attack = linkage(done.job, done.recodings)
    assert attack is not None
    assert attack.risk == pytest.approx(0.5)
    assert attack.records == 6


@pytest.mark.parametrize("form", ["csv", "sqlite"])
def test_risk_and_linkage_count_people(tmp_path: Path, form: str) -> None:
    judged(plan(written(tmp_path, form)), tmp_path)


@pytest.mark.parametrize("form", ["csv", "sqlite"])
def test_an_assessment_counts_people(tmp_path: Path, form: str) -> None:
    source = written(tmp_path, form)
    file, reading = tmp_path / source["path"], Reading(table=source.get("table"))
    readings = {"original_reading": reading, "released_reading": reading}
    found = assess(file, file, ["town"], sensitive=["illness"], person="who", **readings)  # type: ignore[arg-type]
    assert found.k == 2
    assert assess(file, file, ["town"], sensitive=["illness"], **readings).k == 20  # type: ignore[arg-type]


def test_people_of_a_database_server_are_counted(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = ", ".join(f"('{who}', '{town}', {age}, '{illness}')" for who, town, age, illness in VISITS)
    server.execute(
        "DROP TABLE IF EXISTS visits, hidden_visits",
        "CREATE TABLE visits (who text, town text, age int, illness text)",
        f"INSERT INTO visits VALUES {rows}",
    )
    monkeypatch.setenv("PGPASSWORD", server.password)
    address = server.without_password()
    release = {"database": address, "table": "hidden_visits"}
    judged(plan({"path": address, "table": "visits"}, release=release), tmp_path)
