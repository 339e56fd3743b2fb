"""t-closeness by the hierarchy of the sensitive column, as a project file asks for it."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from keepsense.errors import BadInput
from keepsense.project.project_file import check_project
from keepsense.release.run import run
from keepsense.release.verify import verify_file

ILLNESSES = {"a": "flu", "b": "cold", "c": "ulcer", "d": "colic"}
KINDS = {"flu": "lung", "cold": "lung", "ulcer": "gut", "colic": "gut"}


@pytest.fixture
def room(tmp_path: Path) -> Path:
    lines = [f"{job},{ill}" for job, ill in ILLNESSES.items() for _ in range(5)]
    (tmp_path / "people.csv").write_text("\n".join(["job,illness", *lines, ""]), encoding="utf-8")
    (tmp_path / "jobs.csv").write_text("a;ab;*\nb;ab;*\nc;cd;*\nd;cd;*\n", encoding="utf-8")
    (tmp_path / "ill.csv").write_text("".join(f"{ill};{kind};*\n" for ill, kind in KINDS.items()), encoding="utf-8")
    return tmp_path


def project(ground: str, t: float = 0.7, **illness: Any) -> Any:
    closeness = {"model": "t-closeness", "t": t, "column": "illness", "ground": ground}
    return check_project(
        {
            "source": {"path": "people.csv"},
            "columns": {
                "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
                "illness": {"role": "sensitive", "hierarchy": "ill.csv", **illness},
            },
            "privacy": [{"model": "k-anonymity", "k": 3}, closeness],
            "method": {"name": "optimal"},
        }
    )


def jobs(file: Path) -> set[str]:
    with file.open(encoding="utf-8", newline="") as lines:
        return {row["job"] for row in csv.DictReader(lines)}


def test_values_of_one_kind_are_nearer(room: Path) -> None:
    """From flu alone to all four illnesses: a quarter moves by 1/2 and a half by 1, so 0.625; by equal values 0.75."""
    done = run(project("hierarchical"), folder=room, rng=1)
    assert jobs(done.file) == set("abcd")
    assert done.verification.ok
    told = json.loads((done.file.parent / "release.json").read_text(encoding="utf-8"))
    assert told["promises"][1]["ground"] == "hierarchical"
    assert verify_file(project("hierarchical"), done.file, folder=room)[0].ok
    assert not verify_file(project("hierarchical", 0.62), done.file, folder=room)[0].ok
    assert not verify_file(project("equal"), done.file, folder=room)[0].ok


def test_a_column_without_a_hierarchy_is_refused(room: Path) -> None:
    with pytest.raises(BadInput, match="names none; add one"):
        run(project("hierarchical", hierarchy=None), folder=room, rng=1)
