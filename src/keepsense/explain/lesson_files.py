"""Small tables of one's own to learn on: a file, or the table of a project file, with hierarchies for its columns."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.errors import BadInput, did_you_mean
from keepsense.explain.lesson import Baskets, Lesson
from keepsense.privacy import KAnonymity
from keepsense.project.file import Column, Project, check_project, read_project
from keepsense.semantics import distance

if TYPE_CHECKING:
    from keepsense.release.job import Job

MOST_ROWS = 200
"""Rows up to which a table is shown step by step."""


def from_file(
    path: str | Path,
    columns: Sequence[str] = (),
    target: str | None = None,
    most: int = MOST_ROWS,
    *,
    sets: bool = False,
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
    project = project_for(file, columns=columns, target=target)
    if sets and columns:  # whoever names a column for a method of sets says that it holds sets
        held = {
            n: c.model_copy(update={"kind": "set"}) if n in columns and c.kind == "nominal" else c
            for n, c in project.columns.items()
        }
        project = project.model_copy(update={"columns": held})
    return _opened(project, file.parent, file.name, most, sets=sets)


def from_project_file(path: str | Path, most: int = MOST_ROWS, *, sets: bool = False) -> Lesson:
    """A lesson on the table of a project file, with its columns and hierarchies.

    >>> from_project_file("/nowhere/keepsense.toml")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: keepsense.toml: there is no such project file; write one with `keepsense init`
    """
    project = read_project(path)
    title = Path(path if project.source is None else project.source.path).name
    return _opened(project, Path(path).parent, title, most, sets=sets)


def project_for(
    file: Path,
    *,
    columns: Sequence[str] = (),
    target: str | None = None,
    sensitive: str | None = None,
    privacy: Sequence[Mapping[str, Any]] | None = (KAnonymity(2).promise(),),
) -> Project:
    """A project for a file as `keepsense init` would draft it, with roles, and where given promises, as given here.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> found = project_for(job.folder / "people.csv", columns=["age", "job"], target="illness")
    >>> found.quasi_identifiers, found.having("target")
    (('age', 'job'), ('illness',))
    """
    from keepsense.draft.write import draft
    from keepsense.project.inspect import inspect

    data = tomllib.loads(draft(inspect(str(file)), source={"path": file.name}))
    known: dict[str, dict[str, Any]] = data["columns"]
    for name in (*columns, *(n for n in (target, sensitive) if n)):
        if name not in known:
            raise BadInput(f"{file.name}: there is no column {name!r}.{did_you_mean(name, list(known))}")
    for name, column in known.items():
        if columns:
            column["role"] = "quasi-identifier" if name in columns else "insensitive"
        if name == target:
            column["role"] = "target"
        if name == sensitive:
            column["role"] = "sensitive"
    if privacy is not None:
        data["privacy"] = [dict(section) for section in privacy]
    return check_project(data, file.name)


def _opened(project: Project, folder: Path, title: str, most: int, *, sets: bool) -> Lesson:
    from keepsense.engines import started
    from keepsense.release.attributes import attributes_of
    from keepsense.release.job import Job

    holding = [name for name in project.quasi_identifiers if project.columns[name].kind == "set"]
    project = _only(project, sets=sets, holding=holding)
    with started() as running:
        job = Job(project, folder, running, np.random.default_rng())
        if job.table.rows > most:
            raise BadInput(
                f"{title} has {job.table.rows:,} rows; steps are shown for up to {most}. Take a part of it, for "
                "instance its first 20 lines"
            )
        table = running.frame(job.table)
        hierarchies = {} if sets else job.hierarchies
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    if sets:
        return _about_sets(job, title, holding[0], columns[holding[0]])
    names = project.quasi_identifiers
    kinds: dict[str, Column] = project.columns
    targets = project.having("target")
    category = next((n for n in targets if kinds[n].kind != "numeric"), None)
    amount = next((n for n in targets if kinds[n].kind == "numeric"), None)
    sensitive = next((n for n in project.having("sensitive") if kinds[n].kind != "set"), None)
    shown = {n: columns[n] for n in (*names, *(t for t in (category, amount, sensitive) if t))}
    numbers = tuple(n for n in names if kinds[n].kind == "numeric")
    return Lesson(
        title,
        shown,
        names,
        hierarchies,
        numbers,
        category,
        amount,
        job.distances,
        lambda counts, some, concepts: attributes_of(job, counts, some, meaning=concepts),
        sensitive=sensitive,
        ordered=tuple(n for n in names if kinds[n].kind in ("numeric", "ordinal", "date")),
    )


def _only(project: Project, *, sets: bool, holding: list[str]) -> Project:
    """The project about its one column of sets, or about the others."""
    if sets and len(holding) != 1:
        named = f"; there are {', '.join(holding)}, name one with --column" if holding else ""
        raise BadInput(f"the method is for one column of sets{named or ', and no quasi-identifier is of kind = set'}")
    if not sets and holding and len(holding) == len(project.quasi_identifiers):
        raise BadInput(
            f"column {holding[0]!r} holds sets; the steps of this method are shown for columns of one value a cell, "
            'those of "microaggregation of sets", "apriori sets" and "top-down sets" for sets'
        )
    gone = [n for n in project.quasi_identifiers if (n in holding) != sets]
    changed = {n: c.model_copy(update={"role": "insensitive"}) if n in gone else c for n, c in project.columns.items()}
    method = project.method.model_copy(update={"name": "set microaggregation" if sets else "optimal", "parameters": {}})
    return project.model_copy(update={"columns": changed, "method": method})


def _about_sets(job: Job, title: str, name: str, cells: Sequence[Any]) -> Lesson:
    column, sets = job.column(name), job.items(name, cells)
    used = dict(zip(sets.items, sets.users().tolist(), strict=True))
    tree = job.meaning.hierarchy(name, used)
    taxonomy = None if column.taxonomy is None else job.taxonomy(name)
    measure = None if taxonomy is None else distance("feature", taxonomy)
    shown = ["; ".join(str(item) for item in own) for own in sets.sets()]
    return Lesson(title, {name: shown}, (name,), {}, baskets=Baskets(sets, tree, taxonomy, measure))
