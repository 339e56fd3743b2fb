"""From a path to a project: the existing one if it is about this table, else a draft."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from keepsense.draft.inspection import Inspection, inspect
from keepsense.draft.project_draft import prepared
from keepsense.draft.project_text import FILE
from keepsense.engines.protocol import Reading
from keepsense.errors import BadInput, KeepsenseError
from keepsense.project.project_file import read_project


class Opened(NamedTuple):
    """A project file, its text, what was found out about its table, and whether the text stands in the file already."""

    file: Path
    text: str
    inspection: Inspection
    saved: bool


def opened(
    path: str | Path,
    folder: str | Path | None = None,
    reading: Reading | None = None,
    language: str | None = None,
) -> Opened:
    """Open a table, a project file (`.toml`) or a project of ARX; the project of a table is in `folder`, or beside it.

    >>> opened("/nowhere/people.csv")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: people.csv: there is no such file; check the path
    """
    file = Path(path)
    if file.suffix.lower() == ".toml":
        return _of_project(file)
    if "://" not in str(path) and not file.is_file():
        raise BadInput(f"{file.name}: there is no such file; check the path")
    home = Path(folder) if folder is not None else file.absolute().parent
    place, there = _place(file, home)
    if there:
        return _of_project(place)
    draft = prepared(str(path), place, reading, language=language)
    return Opened(place, draft.text, draft.inspection, saved=False)


def _of_project(file: Path) -> Opened:
    project = read_project(file)
    if project.source is None:
        raise BadInput(f"{file.name}: the project names no table; add a [source] section with its path")
    place = project.source.path
    table = place if "://" in place else str(file.parent / place)
    if "://" not in table and not Path(table).is_file():
        raise BadInput(f"{file.name}: its table {Path(place).name} is not there; mend `path` in [source]")
    seen = inspect(table, replace(project.reading(project.source), cells={}))
    return Opened(file, file.read_text(encoding="utf-8"), seen, saved=True)


def _place(table: Path, home: Path) -> tuple[Path, bool]:
    """The project file of a table, and whether it is there; one that is about another table is left alone."""
    for name in (FILE, f"keepsense-{table.stem}.toml"):
        file = home / name
        if not file.exists():
            return file, False
        try:
            source = read_project(file).source
        except KeepsenseError:
            continue
        if source is not None and (home / source.path).resolve() == table.resolve():
            return file, True
    raise BadInput(f"{file.name}: it is about another table; move it away, or open it by its own name")
