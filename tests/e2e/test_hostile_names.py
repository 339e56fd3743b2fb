"""Names and values that look like markup or hold control characters are shown, and have no effect."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_cli import Run, run  # noqa: F401  (a fixture)

from keepsense.project.project_file import read_project

NAMES = ["[/]", "[red]job", "[link=file:///etc/passwd]x[/link]", "esc\x1b[2J", "right\u202eleft"]


@pytest.mark.parametrize("name", NAMES)
def test_every_command_ends_well_whatever_columns_are_called(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    folder = tmp_path / "[bold]people[red]"
    folder.mkdir()
    monkeypatch.chdir(folder)
    rows = "\n".join(f"{20 + i % 3},{('nurse', 'clerk')[i % 2]},{name}{i % 2}" for i in range(60))
    (folder / "people.csv").write_text(f"age,job,{name}\n{rows}\n", encoding="utf-8")
    for arguments in (
        ["inspect", "people.csv", "--values", "2"],
        ["init", "people.csv"],
        ["run", "--report"],
        ["verify", "release/people.csv"],
        ["assess", "people.csv", "release/people.csv", "--quasi", "age,job"],
        ["report"],
        ["compare", "keepsense.toml"],
    ):
        done = run(*arguments)
        assert done.code == 0, f"{arguments}: {done.err}"
        assert "\x1b[2J" not in done.out + done.err
        assert "\u202e" not in done.out + done.err


def test_an_error_about_a_hostile_name_shows_it_spelled_out(run: Run, tmp_path: Path) -> None:  # noqa: F811
    (tmp_path / "people.csv").write_text("job,age\nnurse,31\n", encoding="utf-8")
    done = run("map", "people.csv", "jo\x1b[2Jb")
    assert done.code == 2
    assert "\x1b[2J" not in done.err


@pytest.mark.parametrize(
    ("file", "name"),
    [("people\x1b[2J\x7f.csv", "job"), ("people.csv", 'a\n[release]\nfolder = "x"'), ("people.csv", "a\x85\u2028b")],
    ids=["a file", "a column that goes on", "other line ends"],
)
def test_a_draft_holds_names_and_cannot_be_written_by_them(
    run: Run,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    file: str,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    quoted = name.replace('"', '""')
    rows = "\n".join(f"w{i % 3},w{i % 3},{20 + i % 4}" for i in range(60))
    (tmp_path / file).write_text(f'"{quoted}",copy,age\n{rows}\n', encoding="utf-8")
    done = run("init", file)  # the copy says that it says the same as the first
    assert done.code == 0, done.err
    project = read_project(tmp_path / "keepsense.toml")
    assert set(project.columns) == {name, "copy", "age"}
    assert project.release.folder == "release"
    assert run("run").code == 0
