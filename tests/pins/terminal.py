"""The command line as people type it, in this process: many commands share what one start costs."""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

WIDTH = 100


@dataclass(frozen=True)
class Answer:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


def keepsense(*arguments: str, folder: Path) -> Answer:
    """Run a command in a folder, without colours, at a fixed width and with a data folder of its own."""
    from keepsense.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with _settled(folder), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
    return Answer(code, _plain(out.getvalue()), _plain(err.getvalue()))


@contextlib.contextmanager
def _settled(folder: Path) -> Iterator[None]:
    variables = {"COLUMNS": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb", "KEEPSENSE_HOME": str(folder / ".home")}
    loud = ("FORCE_COLOR", "PY_COLORS", "CLICOLOR_FORCE", "TTY_COMPATIBLE")
    with mock.patch.dict(os.environ, variables), warnings.catch_warnings(), contextlib.chdir(folder):
        for name in loud:
            os.environ.pop(name, None)
        warnings.simplefilter("ignore")  # as outside of tests; the command line shows its own
        yield


def _plain(text: str) -> str:
    """Text without colours and without blanks at the ends of lines."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return "\n".join(line.rstrip() for line in text.splitlines()).strip("\n") + "\n"
