"""What a how-to page tells a reader to type works, one command after the other, in the folder that it speaks of."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.pages import PAGES, ROOT, commands, preparations

TYPED = [
    page
    for page in PAGES
    if "how-to" in page.parts
    and any(c.startswith("keepsense") for c, _ in commands(page))
    and "<!-- not run: " not in page.read_text(encoding="utf-8")
]


def ours(command: str) -> bool:
    return command.startswith(("keepsense ", "cp ", "sed "))


@pytest.mark.parametrize("page", TYPED, ids=lambda page: page.stem)
def test_commands_of_a_page_do_what_they_say(page: Path, tmp_path: Path) -> None:
    """`<!-- before: ... -->` in a page makes what it takes for granted; questions are answered with Enter."""
    program = tmp_path / "bin" / "keepsense"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m keepsense "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "KEEPSENSE_HOME": str(tmp_path / "home"), "NO_COLOR": "1"}
    folder = tmp_path / "work"
    folder.mkdir()
    ran = 0
    for command in [*preparations(page), *(command for command, _ in commands(page))]:
        if not ours(command):
            continue
        done = subprocess.run(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            input="\n" * 40,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{page.name}: {command}\n{done.stderr[-1500:]}"
        assert "Traceback" not in done.stderr
        ran += 1
    assert ran


def test_every_page_with_commands_is_run() -> None:
    assert len(TYPED) >= 9
    assert all(page.is_relative_to(ROOT / "docs" / "how-to") for page in TYPED)
