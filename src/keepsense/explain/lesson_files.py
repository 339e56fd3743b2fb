"""Small tables of one's own to learn on: a file, or the table of a project file, with hierarchies for its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from keepsense.counts import Counts
from keepsense.engines import Engine, Table, started
from keepsense.errors import BadInput, did_you_mean
from keepsense.explain.lesson import Lesson
from keepsense.hierarchies.kinds import KINDS
from keepsense.project.file import Column, read_project
from keepsense.project.inspection.inspect import inspect
from keepsense.project.inspection.inspected import Inspected
from keepsense.project.meaning import Meaning
from keepsense.release.job.source import Source

MOST_ROWS = 200
"""Rows up to which a table is shown step by step."""


def from_file(
    path: str | Path,
    columns: Sequence[str] = (),
    target: str | None = None,
    most: int = MOST_ROWS,
    *,
    sets: bool = False,
    engine: str | None = None,
) -> Lesson:
    """A lesson on a file; `columns` are those to protect, by default all that seem to tell who somebody is.

    With `sets` it is about the one column of sets, else about the columns of one value a cell.

    >>> from_file("/nowhere/small.csv")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: small.csv: there is no such file
    """
    file = Path(path)
    if not file.is_file():
        raise BadInput(f"{file.name}: there is no such file")
    seen = inspect(str(file), engine=engine).columns
    about = {column.name: _guessed(column) for column in seen}
    for name in (*columns, *([target] if target else [])):
        if name not in about:
            raise BadInput(f"{file.name}: there is no column {name!r}.{did_you_mean(name, list(about))}")
    for name, column in about.items():
        if columns:
            role = "quasi-identifier" if name in columns else "insensitive"
            # whoever names a column for a method of sets says that it holds sets
            kind = "set" if sets and name in columns and column.kind == "nominal" else column.kind
            about[name] = column.model_copy(update={"role": role, "kind": kind})
        if name == target:
            about[name] = about[name].model_copy(update={"role": "target"})
    with started(engine) as running:
        rows = _rows(running, running.read(str(file)), file.name, most)
    lesson = _lesson(file.name, about, rows, file.parent, sets=sets)
    guesses = {column.name: _guess(column) for column in seen}
    return replace(lesson, notes=tuple(guesses[name] for name in lesson.quasi_identifiers))


def _guess(column: Inspected) -> str:
    """How the hierarchy of a column was guessed: nobody has looked at it."""
    if column.meaning is not None:
        why = f"{column.meaning.taxonomy} {column.meaning.reason}"
    elif column.order is not None or not KINDS[column.kind].words:
        why = "; ".join([f"its values are {KINDS[column.kind].about}", *column.notes])
    else:
        why = next((note for note in column.notes if note.startswith("no taxonomy")), "no taxonomy knows its values")
        why += ", so that its values are kept or hidden, nothing between"
    return f"the hierarchy of {column.name} was guessed: {why}; a hierarchy of your own goes into a project file"


def _guessed(column: Inspected) -> Column:
    """What a project file would say about a column that was inspected."""
    meaning = column.meaning
    domain = None if meaning is None else meaning.domain or list(meaning.domains) or None
    words = {} if meaning is None else {"taxonomy": meaning.taxonomy, "domain": domain, "within": list(meaning.within)}
    order = {} if column.order is None else {"order": list(column.order)}
    delimiter = {} if column.delimiter is None else {"delimiter": column.delimiter}
    return Column.model_validate({"role": column.role, "kind": column.kind, **words, **order, **delimiter})


def from_project_file(
    path: str | Path, most: int = MOST_ROWS, *, sets: bool = False, engine: str | None = None
) -> Lesson:
    """A lesson on the table of a project file, with its columns and hierarchies.

    >>> from_project_file("/nowhere/keepsense.toml")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: keepsense.toml: there is no such project file; write one with `keepsense init`
    """
    project = read_project(path)
    title = Path(path).name if project.source is None else Path(project.source.path).name
    folder = Path(path).parent
    with started(engine or project.engine.name) as running:
        rows = _rows(running, Source(project, folder, running).table, title, most)
    return _lesson(title, project.columns, rows, folder, sets=sets)


def _rows(running: Engine, table: Table, title: str, most: int) -> Any:
    """A table as it is, if it is small enough."""
    if table.rows > most:
        raise BadInput(
            f"{title} has {table.rows:,} rows; steps are shown for up to {most}. Take a part of it, for instance "
            "its first 20 lines"
        )
    return running.frame(table)


def _lesson(title: str, about: Mapping[str, Column], rows: Any, folder: Path, *, sets: bool) -> Lesson:
    def having(role: str) -> tuple[str, ...]:
        return tuple(name for name, column in about.items() if column.role == role)

    names = _protected(about, having("quasi-identifier"), sets=sets)
    targets, sensitive = having("target"), having("sensitive")

    def together(some: Sequence[str]) -> Counts:
        return Counts.of({name: rows.column(name).to_pylist() for name in some})

    meaning = Meaning(about, folder, count=together)
    shown = dict.fromkeys((*names, *targets, *sensitive))
    columns = {name: rows.column(name).to_pylist() for name in shown}
    bare = Lesson(title, columns, names, {}, meaning, targets, next(iter(sensitive), None))
    hierarchies = {}
    for name in names:
        counted = bare.count((name,)).rows_of(name)
        hierarchies[name] = meaning.hierarchy(name, meaning.item_rows(name, counted) if sets else counted)
    return Lesson(title, columns, names, hierarchies, meaning, targets, bare.sensitive)


def _protected(about: Mapping[str, Column], names: tuple[str, ...], *, sets: bool) -> tuple[str, ...]:
    """The one quasi-identifier that holds sets, or the others."""
    holding = tuple(name for name in names if KINDS[about[name].kind].sets)
    if sets and len(holding) != 1:
        named = f"; there are {', '.join(holding)}, name one with --column" if holding else ""
        raise BadInput(f"the method is for one column of sets{named or ', and no quasi-identifier is of kind = set'}")
    single = tuple(name for name in names if name not in holding)
    if not sets and holding and not single:
        raise BadInput(
            f"column {holding[0]!r} holds sets; the steps of this method are shown for columns of one value a cell, "
            "those of methods for sets for sets"
        )
    if not sets and not single:
        raise BadInput('no column has the role "quasi-identifier"; name those to protect with --column')
    return holding if sets else single
