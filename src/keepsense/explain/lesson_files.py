"""Small tables of one's own to learn on: a file, or the table of a project file, with hierarchies for its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from keepsense.engines import started
from keepsense.errors import BadInput, did_you_mean
from keepsense.explain.lesson import Lesson
from keepsense.hierarchies.kinds import KINDS
from keepsense.privacy import KAnonymity
from keepsense.project.file import Column, Project, read_project
from keepsense.project.inspect import Inspected, inspect
from keepsense.project.meaning import Meaning
from keepsense.release.source import Source

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
    about = {column.name: _guessed(column) for column in inspect(str(file), engine=engine).columns}
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
    promise = KAnonymity(2).promise()  # a project has one; the lesson's own comes with its k
    project = Project.model_validate({"source": {"path": file.name}, "columns": about, "privacy": [promise]})
    return _opened(project, file.parent, file.name, most, sets=sets, engine=engine)


def _guessed(column: Inspected) -> Column:
    """What a project file would say about a column that was inspected."""
    meaning = column.meaning
    words = {} if meaning is None else {"taxonomy": meaning.taxonomy, "domain": meaning.domain}
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
    return _opened(project, Path(path).parent, title, most, sets=sets, engine=engine or project.engine.name)


def _opened(project: Project, folder: Path, title: str, most: int, *, sets: bool, engine: str | None) -> Lesson:
    about = project.columns
    names = _protected(about, project.quasi_identifiers, sets=sets)
    with started(engine) as running:
        table = Source(project, folder, running).table
        if table.rows > most:
            raise BadInput(
                f"{title} has {table.rows:,} rows; steps are shown for up to {most}. Take a part of it, for instance "
                "its first 20 lines"
            )
        rows = running.frame(table)
    targets, sensitive = project.having("target"), project.having("sensitive")
    meaning = Meaning(about, folder)
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
