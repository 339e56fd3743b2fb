"""What a method gets from a job: the promises, the counts, the meaning and the importance of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, TypeVar

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import Model

if TYPE_CHECKING:
    from keepsense.semantics.attribute import Attribute
    from keepsense.semantics.distance import Distance
    from keepsense.sets.concept_sets import ConceptSets
    from keepsense.sets.item_sets import ItemSets
    from keepsense.taxonomy.taxonomy import Taxonomy
    from keepsense.taxonomy.value_mapping import Mapping as Mapped


Part = TypeVar("Part")
Result = TypeVar("Result")


class Column(Protocol):
    """What a project says about one column, as far as methods ask about it."""

    @property
    def kind(self) -> str:
        """What it holds: nominal, ordinal, numeric, date, code, set."""

    @property
    def order(self) -> Sequence[Value] | None:
        """Its values, lowest first, where it is ordinal."""

    @property
    def distance(self) -> str:
        """Name of the semantic distance between its words."""

    @property
    def taxonomy(self) -> str | None:
        """Name of the taxonomy that knows its words."""

    @property
    def mapping(self) -> str | None:
        """File that says what its words mean."""

    @property
    def hierarchy(self) -> str | None:
        """File of its hierarchy, or auto, or None, where one is built."""

    @property
    def weight(self) -> float:
        """How much its loss counts."""

    @property
    def delimiter(self) -> str:
        """What stands between the items of a set."""


class Task(Protocol):
    """All that a method may ask of a job."""

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        """The columns that the method decides on."""

    @property
    def every_quasi_identifier(self) -> tuple[str, ...]:
        """All columns by which people could be recognized."""

    @property
    def released(self) -> tuple[str, ...]:
        """All columns of the release."""

    @property
    def models(self) -> Sequence[Model]:
        """What is promised."""

    @property
    def counts(self) -> Counts:
        """Distinct tuples of the quasi-identifiers, with what models and targets need under each."""

    @property
    def hierarchies(self) -> Mapping[str, Hierarchy]:
        """How the values of each quasi-identifier generalize."""

    @property
    def distances(self) -> Mapping[str, Distance]:
        """Semantic distance of every quasi-identifier whose hierarchy knows what values mean."""

    @property
    def suppression(self) -> float:
        """Share of the records that may be suppressed."""

    @property
    def target(self) -> str | None:
        """The column that the release is to predict."""

    @property
    def person(self) -> str | None:
        """The column that tells which rows belong to one person."""

    @property
    def rng(self) -> np.random.Generator:
        """Where all chance comes from."""

    def column(self, name: str) -> Column:
        """What the project says about a column."""

    def count(self, columns: Sequence[str]) -> Counts:
        """Distinct tuples of some columns of the source."""

    def each(self, function: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
        """What a function makes of each of some parts, in their order, wherever the engine runs it."""

    def attributes(
        self,
        counts: Counts,
        names: Sequence[str] | None = None,
        *,
        meaning: bool = False,
        apart: bool = False,
    ) -> list[Attribute]:
        """What each column means (`keepsense.project.column_attributes`).

        With `meaning` every word must be a concept, with `apart` empty cells have no place in an order.
        """

    def taxonomy(self, name: str) -> Taxonomy:
        """Taxonomy of a column's words."""

    def mapping(self, name: str, values: Mapping[Value, int], *, alone: bool = False) -> Mapped:
        """Concepts of a column's words; with `alone` each by itself, whatever the other records hold."""

    def own_senses(self, name: str) -> Mapped | None:
        """What the publisher's mapping file says that a column's words mean."""

    def items(self, name: str, cells: Sequence[Value]) -> ItemSets:
        """Cells of a set-valued column, divided into their items."""

    def concept_sets(self, name: str, items: ItemSets) -> ConceptSets:
        """What the items of a set-valued column mean."""


def least_size(models: Sequence[Model]) -> int | None:
    """Smallest class that some promises allow, or None where none of them says.

    >>> from keepsense.privacy.privacy_model import model
    >>> least_size([KAnonymity(4)]), least_size([model("maximum risk", threshold=0.2)]), least_size([])
    (4, 5, None)
    """
    return max((model.least_size for model in models if model.least_size is not None), default=None)


def promised(models: Sequence[Model], k: int | None) -> list[Model]:
    """The models asked for; `k` is short for k-anonymity.

    >>> promised((), 5)
    [KAnonymity(k=5)]
    """
    return [*([] if k is None else [KAnonymity(k)]), *models]


def group_size(models: Sequence[Model], k: int | None) -> int:
    """The k given, or else the smallest class that the promises allow.

    >>> group_size([KAnonymity(4)], None), group_size([KAnonymity(4)], 9)
    (4, 9)
    """
    size = least_size(models) if k is None else k
    if size is None:
        raise BadInput("this method needs k: promise one, or give it in [method.parameters]")
    return size


# Importance of columns: the `weight` of a project file, with a mean of 1
#
# Searches and greedy methods multiply losses by it, divisions scores or widths, microaggregation and swapping
# distances. A method to which it means nothing says so in its entry (`Method.unweighed`).

Importance = Mapping[str, float]
"""How much each column's loss counts; 1 for columns that are left out."""


def importances(names: Sequence[str], importance: Importance | None) -> Floats:
    """The importance of each column, in their order.

    >>> importances(["age", "job"], {"job": 10.0}).tolist()
    [1.0, 10.0]
    >>> importances(["age", "job"], {"jop": 10.0})
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: no quasi-identifier 'jop' to give importance. Did you mean job?
    """
    for name, weight in (importance or {}).items():
        if name not in names:
            raise BadInput(f"no quasi-identifier {name!r} to give importance.{did_you_mean(name, names)}")
        if not np.isfinite(weight) or weight <= 0:
            raise BadInput(f"the importance of column {name!r} must be a number above 0")
    return np.array([float((importance or {}).get(name, 1.0)) for name in names])


def weights_of(task: Task) -> dict[str, float]:
    """The weights of a task's quasi-identifiers, with a mean of 1: equal ones are all 1, whatever they are.

    >>> from keepsense.release.example import example_job
    >>> weights_of(example_job())
    {'age': 1.0, 'job': 1.0}
    """
    weights = {name: task.column(name).weight for name in task.quasi_identifiers}
    mean = sum(weights.values()) / max(1, len(weights))
    return {name: weight / mean for name, weight in weights.items()}
