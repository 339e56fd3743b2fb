"""What a how-to page tells a reader to type works, one command after the other, in the folder that it speaks of."""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.pages import PAGES, ROOT, commands, preparations
from tests.pins.terminal import keepsense

TYPED = [
    page
    for page in PAGES
    if "how-to" in page.parts
    and any(c.startswith("keepsense") for c, _ in commands(page))
    and "<!-- not run: " not in page.read_text(encoding="utf-8")
]


ENTER = "\n" * 40
FOR_A_SHELL = re.compile(r"[|&;<>$`]")


def ours(command: str) -> bool:
    return command.startswith(("keepsense ", "cp ", "sed "))


def type_into_a_shell(command: str, folder: Path) -> tuple[int, str]:
    program = folder.parent / "bin" / "keepsense"
    program.parent.mkdir(exist_ok=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m keepsense "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "KEEPSENSE_HOME": str(folder / ".home"), "NO_COLOR": "1"}
    done = subprocess.run(
        command, shell=True, cwd=folder, env=environment, input=ENTER, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.stem)
def test_commands_of_a_page_do_what_they_say(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`<!-- before: ... -->` in a page makes what it takes for granted; questions are answered with Enter."""
    folder = tmp_path / "work"
    folder.mkdir()
    ran = 0
    for command in [*preparations(page), *(command for command, _ in commands(page))]:
        if not ours(command):
            continue
        program, *words = shlex.split(command.replace("\\\n", " "), comments=True)
        if program == "keepsense" and not FOR_A_SHELL.search(command):
            monkeypatch.setattr(sys, "stdin", io.StringIO(ENTER))
            done = keepsense(*words, folder=folder)
            code, err = done.code, done.err
        else:
            code, err = type_into_a_shell(command, folder)
        assert code == 0, f"{page.name}: {command}\n{err[-1500:]}"
        assert "Traceback" not in err
        ran += 1
    assert ran


def test_every_page_with_commands_is_run() -> None:
    assert len(TYPED) >= 9
    assert all(page.is_relative_to(ROOT / "docs" / "how-to") for page in TYPED)
