"""Small tables to learn on: a built-in one, or a file of one's own with hierarchies built for its columns."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies import Hierarchy
from keepsense.publish.project import Column, Project, check_project, read_project

MOST_ROWS = 200
"""Rows up to which a table is shown step by step."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """A small table, the columns to generalize, a hierarchy for each, and what the release may be for.

    >>> example().counts.total
    10
    """

    title: str
    columns: Mapping[str, Sequence[Value]]
    quasi_identifiers: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy]
    numbers: tuple[str, ...] = ()
    category: str | None = None
    amount: str | None = None

    @cached_property
    def counts(self) -> Counts:
        """Distinct tuples of the columns to generalize, with the targets counted along, and who is in each tuple."""
        own = {name: self.columns[name] for name in self.quasi_identifiers}
        told = {name: self.columns[name] for name in (self.category,) if name is not None}
        sums = {name: [_number(v) for v in self.columns[name]] for name in (self.amount,) if name is not None}
        return Counts.of(own, histograms=told, sums=sums)

    @cached_property
    def tuple_of(self) -> list[int]:
        """Distinct tuple of each row."""
        place: dict[tuple[Value, ...], int] = {}
        rows = zip(*(self.columns[name] for name in self.quasi_identifiers), strict=True)
        return [place.setdefault(row, len(place)) for row in rows]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.tuple_of)


_AGES = {
    23: ("20-29", "below 40"),
    27: ("20-29", "below 40"),
    31: ("30-39", "below 40"),
    34: ("30-39", "below 40"),
    38: ("30-39", "below 40"),
    45: ("40-49", "40 and over"),
    47: ("40-49", "40 and over"),
    52: ("50-59", "40 and over"),
    58: ("50-59", "40 and over"),
}
_SCHOOLS = {
    "primary school": "school",
    "secondary school": "school",
    "apprenticeship": "training",
    "college": "training",
    "bachelor": "university",
    "master": "university",
}


def example() -> Lesson:
    """Ten made-up people: age and education could tell who they are; illness and days in hospital are what matters.

    >>> example().quasi_identifiers
    ('age', 'education')
    """
    people = [
        (23, "apprenticeship", "no", 1),
        (27, "bachelor", "no", 2),
        (31, "apprenticeship", "no", 2),
        (34, "bachelor", "no", 3),
        (38, "master", "yes", 3),
        (45, "college", "yes", 6),
        (47, "primary school", "yes", 8),
        (47, "apprenticeship", "no", 7),
        (52, "secondary school", "yes", 9),
        (58, "master", "yes", 9),
    ]
    age, education, ill, days = (list(column) for column in zip(*people, strict=True))
    ages = Hierarchy.of_rows([(leaf, *above, "*") for leaf, above in _AGES.items()], name="age", kind="numeric")
    schools = Hierarchy.of_rows([(leaf, above, "*") for leaf, above in _SCHOOLS.items()], name="education")
    return Lesson(
        "ten made-up people",
        {"age": age, "education": education, "ill": ill, "days": days},
        ("age", "education"),
        {"age": ages, "education": schools},
        numbers=("age",),
        category="ill",
        amount="days",
    )


def from_file(
    path: str | Path, columns: Sequence[str] = (), target: str | None = None, most: int = MOST_ROWS
) -> Lesson:
    """A lesson on a file; `columns` are those to generalize, by default all that seem to tell who somebody is.

    >>> from_file("/nowhere/small.csv")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: small.csv: there is no such file
    """
    file = Path(path)
    if not file.is_file():
        raise BadInput(f"{file.name}: there is no such file")
    project = project_for(file, columns=columns, target=target)
    return _opened(project, file.parent, file.name, most)


def from_project_file(path: str | Path, most: int = MOST_ROWS) -> Lesson:
    """A lesson on the table of a project file, with its columns and hierarchies.

    >>> from_project_file("/nowhere/keepsense.toml")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: keepsense.toml: there is no such project file; write one with `keepsense init`
    """
    project = read_project(path)
    return _opened(project, Path(path).parent, Path(project.source.path).name, most)


def project_for(
    file: Path,
    *,
    columns: Sequence[str] = (),
    target: str | None = None,
    sensitive: str | None = None,
    privacy: Sequence[Mapping[str, Any]] = ({"model": "k-anonymity", "k": 2},),
) -> Project:
    """A project for a file as `keepsense init` would draft it, with roles as given here.

    >>> project_for.__name__
    'project_for'
    """
    from keepsense.publish.draft import draft
    from keepsense.publish.inspect import inspect

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
    data["privacy"] = [dict(section) for section in privacy]
    return check_project(data, file.name)


def _opened(project: Project, folder: Path, title: str, most: int) -> Lesson:
    from keepsense.engines import engine
    from keepsense.publish.plan import Plan

    with engine() as running:
        plan = Plan(project, folder, running, np.random.default_rng(0))
        if plan.table.rows > most:
            raise BadInput(
                f"{title} has {plan.table.rows:,} rows; steps are shown for up to {most}. Take a part of it, for "
                "instance its first 20 lines"
            )
        table = plan.table.arrow()
        names = plan.quasi_identifiers
        for name in names:
            if project.columns[name].kind == "set":
                raise BadInput(f"column {name!r} holds sets; steps are shown for columns of one value a cell")
        hierarchies = plan.hierarchies
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    kinds: dict[str, Column] = project.columns
    targets = project.having("target")
    category = next((n for n in targets if kinds[n].kind != "numeric"), None)
    amount = next((n for n in targets if kinds[n].kind == "numeric"), None)
    shown = {n: columns[n] for n in (*names, *(t for t in (category, amount) if t))}
    numbers = tuple(n for n in names if kinds[n].kind == "numeric")
    return Lesson(title, shown, names, hierarchies, numbers, category, amount)


def _number(value: Value) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise BadInput("the target holds a value that is no number; choose another column") from None
