"""Small tables to learn on: a built-in one, or a file of one's own with hierarchies built for its columns."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies import Hierarchy
from keepsense.methods.aggregate.items import ItemSets, from_delimited
from keepsense.publish.project import Column, Project, check_project, read_project
from keepsense.semantics import Distance, distance
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.taxonomy import Taxonomy, from_edges

if TYPE_CHECKING:
    from keepsense.publish.plan import Plan

MOST_ROWS = 200
"""Rows up to which a table is shown step by step."""


@dataclass(frozen=True, eq=False)
class Baskets:
    """A column of sets: its items, a hierarchy of them, and the meaning they have in a taxonomy, where there is one.

    >>> example_sets().baskets.sets.sets()[0]
    ['milk', 'tea']
    """

    sets: ItemSets
    hierarchy: Hierarchy
    taxonomy: Taxonomy | None = None
    measure: Distance | None = None


@dataclass(frozen=True, eq=False)
class Lesson:
    """A small table, the columns to protect, a hierarchy for each, and what the release may be for.

    `distances` gives columns of words their semantic distances, `meaning` makes attributes of whatever the columns
    hold; `baskets` is the column of sets of a lesson about sets.

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
    distances: Mapping[str, Distance] = field(default_factory=dict)
    meaning: Callable[[Counts, Sequence[str], bool], list[Attribute]] | None = None
    baskets: Baskets | None = None
    sensitive: str | None = None
    ordered: tuple[str, ...] = ()

    @cached_property
    def counts(self) -> Counts:
        """Distinct tuples of the columns to generalize, with the targets counted along, and who is in each tuple."""
        own = {name: self.columns[name] for name in self.quasi_identifiers}
        told = {name: self.columns[name] for name in (self.category,) if name is not None}
        sums = {name: [_number(v) for v in self.columns[name]] for name in (self.amount,) if name is not None}
        return Counts.of(own, histograms=told, sums=sums)

    @property
    def along(self) -> tuple[str, ...]:
        """Columns of numbers, or with an order of their own."""
        return self.ordered or self.numbers

    def meant(self, counts: Counts, names: Sequence[str], *, concepts: bool = False) -> list[Attribute]:
        """What columns mean: an order for numbers, distances for words; with `concepts` every word must be one."""
        if self.meaning is not None:
            return self.meaning(counts, names, concepts)
        found: list[Attribute] = []
        for name in names:
            if name in self.numbers:
                found.append(Ordered.of(counts, name))
            elif name in self.distances:
                found.append(Nominal.of(counts, name, self.distances[name]))
            else:
                raise BadInput(
                    f"column {name!r}: nothing tells which of its values are near each other; the method needs "
                    "numbers, or words that a taxonomy knows"
                )
        return found

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
    schools, nearness = _words("education", _SCHOOLS)
    return Lesson(
        "ten made-up people",
        {"age": age, "education": education, "ill": ill, "days": days},
        ("age", "education"),
        {"age": ages, "education": schools},
        numbers=("age",),
        category="ill",
        amount="days",
        distances={"education": nearness},
    )


_JOBS = {
    "nurse": "medic",
    "surgeon": "medic",
    "carpenter": "craftsman",
    "plumber": "craftsman",
    "clerk": "office worker",
    "accountant": "office worker",
}


def example_words() -> Lesson:
    """Ten made-up people whom education and job could tell apart: two columns of words that depend on each other.

    >>> example_words().quasi_identifiers
    ('education', 'job')
    """
    people = [
        ("apprenticeship", "carpenter"),
        ("bachelor", "nurse"),
        ("apprenticeship", "plumber"),
        ("bachelor", "accountant"),
        ("master", "surgeon"),
        ("college", "clerk"),
        ("primary school", "plumber"),
        ("apprenticeship", "carpenter"),
        ("secondary school", "clerk"),
        ("master", "surgeon"),
    ]
    education, job = (list(column) for column in zip(*people, strict=True))
    schools, by_school = _words("education", _SCHOOLS)
    jobs, by_job = _words("job", _JOBS)
    return Lesson(
        "ten made-up people and their jobs",
        {"education": education, "job": job},
        ("education", "job"),
        {"education": schools, "job": jobs},
        distances={"education": by_school, "job": by_job},
    )


def _words(name: str, above: Mapping[str, str]) -> tuple[Hierarchy, Distance]:
    """A hierarchy of words, the taxonomy it is taken from, and how far apart the words are there."""
    taxonomy = from_edges([*above.items(), *((kind, "*") for kind in dict.fromkeys(above.values()))])
    tree = Hierarchy.of_rows([(word, kind, "*") for word, kind in above.items()], name=name)
    known = replace(tree, concepts=tuple(taxonomy.codes(list(map(str, labels))) for labels in tree.labels))
    return known, distance("wu-palmer", taxonomy)


_FOOD = {
    "milk": "drink",
    "tea": "drink",
    "coffee": "drink",
    "ham": "meat",
    "beef": "meat",
    "bread": "bakery",
    "roll": "bakery",
}


def example_sets() -> Lesson:
    """What eight made-up people bought.

    >>> example_sets().rows
    8
    """
    bought = ["milk;tea", "tea;coffee", "ham;bread", "beef;roll", "milk;bread", "ham;beef;bread", "coffee", "roll;tea"]
    tree = Hierarchy.of_rows([(item, kind, "food") for item, kind in _FOOD.items()], name="bought")
    edges = [*_FOOD.items(), *((kind, "food") for kind in dict.fromkeys(_FOOD.values()))]
    food = from_edges(edges)
    sets = from_delimited(bought, delimiter=";", column="bought")
    return Lesson(
        "eight made-up people and what they bought",
        {"bought": bought},
        ("bought",),
        {},
        baskets=Baskets(sets, tree, food, distance("feature", food)),
    )


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
    return _opened(project, Path(path).parent, Path(project.source.path).name, most, sets=sets)


def project_for(
    file: Path,
    *,
    columns: Sequence[str] = (),
    target: str | None = None,
    sensitive: str | None = None,
    privacy: Sequence[Mapping[str, Any]] | None = ({"model": "k-anonymity", "k": 2},),
) -> Project:
    """A project for a file as `keepsense init` would draft it, with roles, and where given promises, as given here.

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
    if privacy is not None:
        data["privacy"] = [dict(section) for section in privacy]
    return check_project(data, file.name)


def _opened(project: Project, folder: Path, title: str, most: int, *, sets: bool) -> Lesson:
    from keepsense.engines import engine
    from keepsense.publish.attributes import attributes_of
    from keepsense.publish.plan import Plan

    holding = [name for name in project.quasi_identifiers if project.columns[name].kind == "set"]
    project = _only(project, sets=sets, holding=holding)
    with engine() as running:
        plan = Plan(project, folder, running, np.random.default_rng())
        if plan.table.rows > most:
            raise BadInput(
                f"{title} has {plan.table.rows:,} rows; steps are shown for up to {most}. Take a part of it, for "
                "instance its first 20 lines"
            )
        table = plan.table.arrow()
        hierarchies = {} if sets else plan.hierarchies
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    if sets:
        return _about_sets(plan, title, holding[0], columns[holding[0]])
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
        plan.distances,
        lambda counts, some, concepts: attributes_of(plan, counts, some, meaning=concepts),
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


def _about_sets(plan: Plan, title: str, name: str, cells: Sequence[Any]) -> Lesson:
    from keepsense.publish.hierarchies import hierarchy_of

    column, sets = plan.column(name), plan.items(name, cells)
    used = dict(zip(sets.items, sets.users().tolist(), strict=True))
    tree = hierarchy_of(plan, name, used)
    taxonomy = None if column.taxonomy is None else plan.taxonomy(name)
    measure = None if taxonomy is None else distance("feature", taxonomy)
    shown = ["; ".join(str(item) for item in own) for own in sets.sets()]
    return Lesson(title, {name: shown}, (name,), {}, baskets=Baskets(sets, tree, taxonomy, measure))


def _number(value: Value) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise BadInput("the target holds a value that is no number; choose another column") from None
