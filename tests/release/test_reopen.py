"""A release opened again: verified afresh, and refused where it is not what it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from keepsense.cli import app
from keepsense.errors import BadInput, Infeasible
from keepsense.project.project_file import Project
from keepsense.release.folder.place import digest_of
from keepsense.release.reopen import reopen
from keepsense.release.run import Outcome, run

JOBS = ("nurse", "surgeon", "dentist", "clerk", "baker", "farmer")


def _project(**changes: Any) -> Project:
    data: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "columns": {
            "name": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "kind": "numeric"},
            "job": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "release": {"suppression": 0.1},
        **changes,
    }
    return Project.model_validate(data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    lines = ["name,age,job,illness"]
    lines += [f"n{i},{20 + i % 11},{JOBS[i % 6]},{('flu', 'cold')[i % 2]}" for i in range(60)]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def _made(folder: Path, **changes: Any) -> tuple[Project, Outcome]:
    project = _project(**changes)
    return project, run(project, folder=folder, rng=3)


@pytest.mark.parametrize("file", ["people.csv", "people.parquet", "people.duckdb", "people.jsonl", "people.xlsx"])
def test_it_is_what_the_run_was(folder: Path, file: str) -> None:
    project, made = _made(folder, release={"suppression": 0.1, "file": file})
    again = reopen(project, folder=folder)
    assert again.verification.ok
    assert again.verification.classes == made.verification.classes
    assert again.description == json.loads(json.dumps(made.description, default=str))
    assert again.released_values == made.released_values
    assert [rule.names for rule in again.recodings] == [rule.names for rule in made.recodings]
    assert again.job.own_counts.total == 60


@pytest.mark.parametrize("method", ["semantic mondrian", "local recoding", "rank swapping", "post-randomization"])
def test_other_recodings_are_read_back(folder: Path, method: str) -> None:
    promise: dict[str, Any] = {"model": "k-anonymity", "k": 4}
    if method in ("rank swapping", "post-randomization"):
        promise = {"model": "average risk", "threshold": 1.0}
    parameters = {"k": 3} if method == "rank swapping" else {}
    project, made = _made(folder, privacy=[promise], method={"name": method, "parameters": parameters})
    again = reopen(project, folder=folder)
    assert again.verification.ok
    assert len(again.recodings) == len(made.recodings)


def test_a_promise_about_the_mechanism_is_not_seen_again(folder: Path) -> None:
    project, _ = _made(
        folder,
        privacy=[{"model": "probabilistic k-anonymity", "k": 4}],
        method={"name": "strict rank swapping"},
    )
    again = reopen(project, folder=folder)
    assert again.verification.ok


def test_a_changed_release_is_refused(folder: Path) -> None:
    project, made = _made(folder)
    text = made.file.read_text(encoding="utf-8").splitlines()
    made.file.write_text("\n".join(text[:-3]) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="changed since"):
        reopen(project, folder=folder)
    made.file.write_text("\n".join([text[0], "99,nurse,flu", *text[2:]]) + "\n", encoding="utf-8")
    with pytest.raises(BadInput, match="changed since"):
        reopen(project, folder=folder, recoding=False)
    # whoever changes the description with the file still cannot report a promise that is broken
    about = folder / "release" / "release.json"
    told = json.loads(about.read_text(encoding="utf-8"))
    about.write_text(json.dumps({**told, "sha256": digest_of(made.file)}), encoding="utf-8")
    with pytest.raises(Infeasible, match="does not keep its promise"):
        reopen(project, folder=folder, recoding=False)
    promised = [{"model": "k-anonymity", "k": 5000}]
    about.write_text(json.dumps({**told, "promises": promised}), encoding="utf-8")
    with pytest.raises(BadInput, match="does not describe what the project file promises"):
        reopen(project, folder=folder)


def test_a_changed_source_is_refused(folder: Path) -> None:
    project, _ = _made(folder)
    with (folder / "people.csv").open("a", encoding="utf-8") as file:
        file.write("late,99,nurse,flu\n")
    with pytest.raises(BadInput, match=r"not the table that this release was made from|changed since"):
        reopen(project, folder=folder)


def test_what_is_missing_is_named(folder: Path) -> None:
    project = _project()
    with pytest.raises(BadInput, match="no such release"):
        reopen(project, folder=folder)
    run(project, folder=folder, rng=3)
    shutil.rmtree(folder / "release" / "private")
    with pytest.raises(BadInput, match="only the public report"):
        reopen(project, folder=folder)
    assert reopen(project, folder=folder, recoding=False).recodings == []
    (folder / "release" / "release.json").write_text("[]", encoding="utf-8")
    with pytest.raises(BadInput, match="not the description"):
        reopen(project, folder=folder, recoding=False)
    (folder / "release" / "release.json").unlink()
    with pytest.raises(BadInput, match="description of the release cannot be read"):
        reopen(project, folder=folder, recoding=False)


def test_promises_about_people_need_the_people(folder: Path) -> None:
    columns: dict[str, Any] = {
        "name": {"role": "person"},
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "job": {"role": "quasi-identifier"},
        "illness": {"role": "sensitive"},
    }
    project = _project(columns=columns, privacy=[{"model": "(X,Y)-anonymity", "k": 2, "person": "name"}])
    run(project, folder=folder, rng=3)
    with pytest.raises(BadInput, match="only while the release is made"):
        reopen(project, folder=folder)


def test_the_command_tells_by_its_code(folder: Path) -> None:
    (folder / "keepsense.toml").write_text(
        'source.path = "people.csv"\nunlisted = "drop"\n[columns.age]\nrole = "quasi-identifier"\nkind = "numeric"\n'
        '[[privacy]]\nmodel = "k-anonymity"\nk = 4\n',
        encoding="utf-8",
    )
    file = str(folder / "keepsense.toml")
    assert isinstance(CliRunner().invoke(app, ["report", file]).exception, BadInput)
    assert CliRunner().invoke(app, ["run", file, "--quiet"]).exit_code == 0
    done = CliRunner().invoke(app, ["report", file, "-o", str(folder / "out"), "--json"])
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["verified"] is True
    assert sorted(told["reports"]) == ["internal", "public"]
    assert sorted(p.name for p in (folder / "out").iterdir()) == ["internal-report.html", "report.html"]
    shutil.rmtree(folder / "release" / "private")
    assert isinstance(CliRunner().invoke(app, ["report", file, "--internal"]).exception, BadInput)
    assert CliRunner().invoke(app, ["report", file, "--public", "--quiet"]).output == ""
