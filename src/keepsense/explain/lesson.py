"""Small tables to learn on, with hierarchies and meanings; two are built in, `lesson_files` makes others of files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies import Hierarchy
from keepsense.hierarchies.kinds import KINDS
from keepsense.project.file import Column
from keepsense.project.meaning import Meaning
from keepsense.taxonomy import Taxonomy, from_edges

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
