"""The engine is a parameter from the command line down to the verifier: nothing quietly uses the usual one."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.spark import EVERY_ENGINE, session

import keepsense as ks
from keepsense.cli import main
from keepsense.engines import protocol

PROJECT = """
[source]
path = "people.csv"
[columns.age]
role = "quasi-identifier"
kind = "numeric"
[columns.illness]
role = "sensitive"
[[privacy]]
model = "k-anonymity"
k = 2
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    rows = "".join(f"{20 + i % 4},{'flu' if i % 2 else 'cold'}\n" for i in range(12))
    (tmp_path / "people.csv").write_text(f"age,illness\n{rows}", encoding="utf-8")
    (tmp_path / "keepsense.toml").write_text(PROJECT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(protocol, "USUAL", "an engine that nobody asked for")
    return tmp_path


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_every_command_about_rows_uses_the_engine_it_is_given(folder: Path, name: str) -> None:
    if name == "spark":
        session()
    done = ["release/people.csv", "--engine", name]
    commands = (
        ["inspect", "people.csv", "--engine", name],
        ["init", "people.csv", "--output", "other.toml", "--engine", name],
        ["run", "--engine", name, "--report", "--seed", "1"],
        ["verify", *done],
        ["report", "--engine", name],
        ["assess", "people.csv", *done, "--quasi", "age"],
        ["compare", "keepsense.toml", "--engine", name],
        ["hierarchy", "build", "people.csv", "age", "--output", "age.csv", "--engine", name],
        ["map", "people.csv", "illness", "--engine", name],
        ["guide", "--try", "people.csv", "--limit", "1", "--engine", name],
        ["explain", "datafly", "--on", "people.csv", "--engine", name],
    )
    for command in commands[:6] if name == "spark" else commands:  # the others ask an engine for the same things
        with pytest.raises(SystemExit) as end:
            main([*command, "--quiet"])
        assert end.value.code == 0, command


@pytest.mark.parametrize("name", EVERY_ENGINE)
def test_the_front_door_uses_the_engine_it_is_given(folder: Path, name: str) -> None:
    if name == "spark":
        session()
    release = ks.anonymize("people.csv", k=2, quasi_identifiers=["age"], engine=name)
    assert release.frame.num_rows == release.apply("people.csv").frame.num_rows == 12
    assert release.report("report.html").exists()
    assert ks.inspect("people.csv", engine=name).rows == 12
    assert ks.verify("people.csv", k=2, quasi_identifiers=["age"], engine=name).ok
    assert ks.assess("people.csv", "people.csv", ["age"], engine=name).k == 3
    assert ks.compare("people.csv", ["optimal"], k=2, quasi_identifiers=["age"], engine=name)[0].ok
    assert ks.guide("people.csv", engine=name).advice


def test_an_unknown_engine_is_refused_with_those_there_are(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["run", "--engine", "duckbd"])
    assert end.value.code == 2
    assert "no engine is called 'duckbd'" in capsys.readouterr().err
