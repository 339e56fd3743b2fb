"""Small tables and projects for the tests of publishing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from keepsense.project.project_file import Project

JOBS = ("nurse", "surgeon", "dentist", "clerk", "baker", "farmer")


def write_people(folder: Path, rows: int = 120, name: str = "people.csv") -> Path:
    """People with an id, a name, a sex, an age, a job, a place and an illness; one job occurs once."""
    lines = ["id,name,sex,age,job,illness"]
    for i in range(rows):
        job = "falconer" if i == 7 else JOBS[i % 6]
        lines.append(f"{i},Name{i},{'fm'[i % 2]},{20 + i % 40},{job},{('flu', 'cold', 'asthma')[i % 3]}")
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def write_jobs(folder: Path) -> Path:
    """A hierarchy of the jobs."""
    medic = {"nurse", "surgeon", "dentist"}
    rows = [f"{job};{'medic' if job in medic else 'worker'};*" for job in (*JOBS, "falconer")]
    path = folder / "jobs.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def project(**changes: Any) -> Project:
    """A project for the people; sections given replace those here."""
    data: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "columns": {
            "id": {"role": "identifier"},
            "name": {"role": "identifier"},
            "sex": {"role": "quasi-identifier"},
            "age": {"role": "quasi-identifier", "kind": "numeric"},
            "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "release": {"suppression": 0.05},
    }
    return Project.model_validate({**data, **changes})
