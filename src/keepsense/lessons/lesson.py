"""Small tables to learn on, with hierarchies and meanings: two are built in, others are made from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from keepsense.counts import Counts, Value
from keepsense.draft.inspected_column import Inspected
from keepsense.draft.inspection import inspect
from keepsense.engines.protocol import Engine, Table, started
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column, read_project
from keepsense.release.job.source import Source
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

_PLAIN, _NUMBERS = Column.model_validate({}), Column.model_validate({"kind": "numeric"})


@dataclass(frozen=True, eq=False)
class Lesson:
    """A small table, the columns to protect, a hierarchy for each, and what the release may be for.

    `meaning` says of columns what a project file would: their kind, order, distance and taxonomy. `targets` are to be
    predicted, `sensitive` is what nobody is to learn of anybody, and `notes` tell what was guessed.

    >>> example().counts.total
    10
    """

    title: str
    columns: Mapping[str, Sequence[Value]]
    quasi_identifiers: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy]
    meaning: Meaning = field(default_factory=lambda: Meaning({}))
    targets: tuple[str, ...] = ()
    sensitive: str | None = None
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> Column:
        """What is known of a column."""
        return self.meaning.columns.get(name, _PLAIN)

    @property
    def sets(self) -> bool:
        """Whether the lesson is about a column of sets."""
        return any(KINDS[self.column(name).kind].sets for name in self.quasi_identifiers)

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values())))

    @cached_property
    def counts(self) -> Counts:
        """Distinct tuples of the columns to protect, with the targets counted along."""
        return self.count(self.quasi_identifiers)

    def count(self, names: Sequence[str]) -> Counts:
        """Distinct tuples of some columns, with the targets counted along."""
        numbers = [name for name in self.targets if KINDS[self.column(name).kind].numbers]
        further = [name for name in (*self.targets, self.sensitive) if name and name not in numbers]
        return Counts.of(
            {name: self.columns[name] for name in names},
            histograms={name: self.columns[name] for name in further if name not in names},
            sums={name: [_number(value) for value in self.columns[name]] for name in numbers},
        )

    def tuple_of(self, names: Sequence[str]) -> list[int]:
        """Distinct tuple of each row, as they are counted."""
        number: dict[tuple[Value, ...], int] = {}
        rows = zip(*(self.columns[name] for name in names), strict=True)
        return [number.setdefault(row, len(number)) for row in rows]


_AGES = {
    23: ("20 to 29", "under 40"),
    27: ("20 to 29", "under 40"),
    31: ("30 to 39", "under 40"),
    34: ("30 to 39", "under 40"),
    38: ("30 to 39", "under 40"),
    45: ("40 to 49", "40 or more"),
    47: ("40 to 49", "40 or more"),
    52: ("50 to 59", "40 or more"),
    58: ("50 to 59", "40 or more"),
}
_SCHOOLS = {
    "primary school": "school",
    "secondary school": "school",
    "apprenticeship": "training",
    "college": "training",
    "bachelor": "university",
    "master": "university",
}
_JOBS = {
    "nurse": "medic",
    "surgeon": "medic",
    "carpenter": "craftsman",
    "plumber": "craftsman",
    "clerk": "office worker",
    "accountant": "office worker",
}
_FOOD = {
    "milk": "drink",
    "tea": "drink",
    "coffee": "drink",
    "ham": "meat",
    "beef": "meat",
    "bread": "bakery",
    "roll": "bakery",
}


def example() -> Lesson:
    """Ten made-up people: age and education could tell who they are; illness and days in hospital are what matters.

    >>> example().quasi_identifiers
    ('age', 'education')
    """
    people = [
        (23, "apprenticeship", "carpenter", "no", 1),
        (27, "bachelor", "nurse", "no", 2),
        (31, "apprenticeship", "plumber", "no", 2),
        (34, "bachelor", "accountant", "no", 3),
        (38, "master", "surgeon", "yes", 3),
        (45, "college", "clerk", "yes", 6),
        (47, "primary school", "plumber", "yes", 8),
        (47, "apprenticeship", "carpenter", "no", 7),
        (52, "secondary school", "clerk", "yes", 9),
        (58, "master", "surgeon", "yes", 9),
    ]
    names = ("age", "education", "job", "ill", "days")
    words = {"education": _words("education", _SCHOOLS, "*"), "job": _words("job", _JOBS, "*")}
    ages = Hierarchy.of_rows([(leaf, *above, "*") for leaf, above in _AGES.items()], name="age", kind="numeric")
    return Lesson(
        "ten made-up people",
        dict(zip(names, zip(*people, strict=True), strict=True)),
        ("age", "education"),
        {"age": ages, **{name: tree for name, (tree, _) in words.items()}},
        Meaning(
            {"age": _NUMBERS, "days": _NUMBERS, **{name: Column.model_validate({"taxonomy": name}) for name in words}},
            taxonomies={name: taxonomy for name, (_, taxonomy) in words.items()},
        ),
        targets=("ill", "days"),
        sensitive="ill",
    )


def example_words() -> Lesson:
    """The same people, whom education and job could tell apart: two columns of words that depend on each other.

    >>> example_words().quasi_identifiers
    ('education', 'job')
    """
    return replace(example(), quasi_identifiers=("education", "job"))


def example_sets() -> Lesson:
    """What eight made-up people bought.

    >>> example_sets().rows
    8
    """
    bought = ["milk;tea", "tea;coffee", "ham;bread", "beef;roll", "milk;bread", "ham;beef;bread", "coffee", "roll;tea"]
    tree, taxonomy = _words("bought", _FOOD, "food")
    return Lesson(
        "eight made-up people and what they bought",
        {"bought": bought},
        ("bought",),
        {"bought": tree},
        Meaning({"bought": Column.model_validate({"kind": "set", "taxonomy": "food"})}, taxonomies={"food": taxonomy}),
    )


def _words(name: str, above: Mapping[str, str], top: str) -> tuple[Hierarchy, Taxonomy]:
    """A hierarchy of words, and the taxonomy it is taken from."""
    taxonomy = from_edges([*above.items(), *((kind, top) for kind in dict.fromkeys(above.values()))])
    tree = Hierarchy.of_rows([(word, kind, top) for word, kind in above.items()], name=name)
    concepts = tuple(taxonomy.codes(list(map(str, labels))) for labels in tree.labels)
    return replace(tree, concepts=concepts), taxonomy


def _number(value: Value) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise BadInput("the target holds a value that is no number; choose another column") from None


# Lessons from files: a table, or a project file, with hierarchies for its columns

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
