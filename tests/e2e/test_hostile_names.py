"""Names and values that look like markup or hold control characters are shown, and have no effect."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.e2e.test_cli import Run, run  # noqa: F401  (a fixture)

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
