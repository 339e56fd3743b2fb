"""Small tables to learn on, with hierarchies and meanings; three are built in, `lesson_files` makes others of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies import Hierarchy
from keepsense.methods.aggregate.items import ItemSets, from_delimited
from keepsense.semantics import Distance, distance
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.taxonomy import Taxonomy, from_edges

if TYPE_CHECKING:
    pass


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


def _number(value: Value) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise BadInput("the target holds a value that is no number; choose another column") from None
