"""Promises about people are verified on a released file that does not say whose rows it holds."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.release.tables import project

from keepsense.project.project_file import Project
from keepsense.release.run import run
from keepsense.release.verify import verify_file


def visits(folder: Path, people: int = 90) -> None:
    draw = random.Random(4)
    lines = ["patient,age,sex,reason"]
    for number in range(people):
        age, sex = draw.randint(20, 79), draw.choice("fm")
        lines += [f"P{number},{age},{sex},{draw.choice(['flu', 'cold'])}" for _ in range(draw.randint(1, 4))]
    (folder / "visits.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def of_people(method: str, *, k: int = 5, **changes: Any) -> Project:
    columns = {
        "patient": {"role": "person"},
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "sex": {"role": "quasi-identifier"},
        "reason": {"role": "insensitive"},
    }
    privacy = [{"model": "(X,Y)-anonymity", "k": k, "person": "patient"}]
    return project(source={"path": "visits.csv"}, columns=columns, method={"name": method}, privacy=privacy, **changes)


@pytest.mark.parametrize("method", ["optimal", "semantic mondrian"])
@pytest.mark.parametrize("file", ["visits.csv", "visits.parquet"])
def test_a_release_is_verified_by_its_file(tmp_path: Path, method: str, file: str) -> None:
    visits(tmp_path)
    job = of_people(method, release={"suppression": 0.05, "file": file})
    done = run(job, folder=tmp_path, rng=1)
    assert done.verification.ok
    found, _ = verify_file(job, done.file, folder=tmp_path)
    assert [str(finding) for finding in found.findings if finding.is_error] == []
    assert found.ok


def test_a_broken_promise_is_seen(tmp_path: Path) -> None:
    visits(tmp_path)
    done = run(of_people("optimal"), folder=tmp_path, rng=1)
    more = of_people("optimal", k=60)
    found, _ = verify_file(more, done.file, folder=tmp_path)
    assert {finding.code for finding in found.findings if finding.is_error} == {"E203"}


def test_what_cannot_be_checked_is_said_with_what_it_takes(tmp_path: Path) -> None:
    visits(tmp_path)
    job = of_people("optimal")
    done = run(job, folder=tmp_path, rng=1)
    lines = done.file.read_text(encoding="utf-8").splitlines()
    done.file.write_text("\n".join([lines[0], lines[1].replace(lines[1].split(",")[0], "*"), *lines[2:]]) + "\n")
    changed = [f.message for f in verify_file(job, done.file, folder=tmp_path)[0].findings if f.code == "E204"]
    assert "one of them was changed" in changed[0]
    visits(tmp_path, people=91)
    other = [f.message for f in verify_file(job, done.file, folder=tmp_path)[0].findings if f.code == "E204"]
    assert "the source is another" in other[0]
    (done.file.parent / "private" / "recoding.json").unlink()
    without = [f.message for f in verify_file(job, done.file, folder=tmp_path)[0].findings if f.code == "E204"]
    assert "private/recoding.json" in without[0]
    assert "--person" in without[0]
