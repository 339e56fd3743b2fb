"""Options of an assessment: promises in both readings of hidden cells, and the population behind a release.

A release of another tool comes with labels of that tool. A label is matched with the values of a population by what it
says: it is the value, a band or a span that holds it, its beginning, or a label on the value's way up in a hierarchy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram, Value
from keepsense.engines.protocol import Reading
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.k_map import POPULATION
from keepsense.privacy.privacy_model import Model, judge
from keepsense.recoding import SUPPRESSED


@dataclass(frozen=True, eq=False)
class Asked:
    """Promises to look at, hierarchies by column, and the table of everybody, a file or a frame.

    >>> Asked().population is None
    True
    """

    models: tuple[Model, ...] = ()
    hierarchies: Mapping[str, Hierarchy] = field(default_factory=dict)
    population: object = None
    reading: Reading | None = None


@dataclass(frozen=True)
class Kept:
    """A promise in words, and whether it holds: as the cells stand, and where hidden ones fit any value.

    `records` are those of classes that break it as the cells stand. None means that a reading is not defined.

    >>> Kept("k-anonymity (k = 2)", True, True, 0).strict
    True
    """

    promise: str
    strict: bool
    fitting: bool | None
    records: int


@dataclass(frozen=True)
class Populated:
    """How a release lies in a population: fewest people that fit a class (k-map), least and greatest share released.

    >>> Populated(20, 0.1, 0.5).k_map
    20
    """

    k_map: int
    presence_least: float
    presence_greatest: float


def kept_promises(models: Sequence[Model], strict: Counts, fitting: Counts | None) -> tuple[Kept, ...]:
    """Whether promises hold in both readings; `fitting` has hidden cells empty, None where no cell is hidden.

    >>> from keepsense.privacy.k_anonymity import KAnonymity
    >>> table = Counts.of({"sex": ["f", None]})
    >>> kept_promises([KAnonymity(2)], table, table)
    (Kept(promise='k-anonymity (k = 2)', strict=False, fitting=True, records=2),)
    """
    kept = []
    for model in models:
        decision = judge([model], strict)
        loose: bool | None = decision.holds
        if fitting is not None:
            loose = judge([model], fitting, missing="wildcard").holds if model.per_class else None
        kept.append(Kept(_spelled(model), decision.holds, loose, int(strict.weights[~decision.kept].sum())))
    return tuple(kept)


def _spelled(model: Model) -> str:
    promise = model.promise()
    rest = ", ".join(f"{k} = {v}" for k, v in promise.items() if k != "model" and not isinstance(v, list | dict))
    return f"{promise['model']} ({rest})" if rest else str(promise["model"])


def fitting_people(released: Counts, population: Counts, hierarchies: Mapping[str, Hierarchy]) -> NDArray[np.int64]:
    """People of a population whom each class of a release may be, by what its labels say; suppressed cells fit any.

    >>> released = Counts.of({"age": ["20 to 29", "*"]})
    >>> fitting_people(released, Counts.of({"age": [21, 24, 35]}), {}).tolist()
    [2, 3]
    """
    tables = []
    for name in released.names:
        labels, values = released.values_of(name), population.values_of(name)
        table = covered(labels, values, hierarchies.get(name))
        blind = sum(1 for row, label in zip(table, labels, strict=True) if label is not None and not row.any())
        if blind:
            raise BadInput(
                f"column {name!r}: {blind:,} of {len(labels):,} labels of the release fit nobody of the population; "
                f"say what they stand for with a hierarchy (--hierarchy {name}=FILE)"
            )
        tables.append(table)
    people = np.empty(len(released), dtype=np.int64)
    for at, codes in enumerate(released.codes):
        fits = np.ones(len(population), dtype=np.bool_)
        for j, code in enumerate(codes.tolist()):
            fits &= tables[j][code][population.codes[:, j]]
        people[at] = population.weights[fits].sum()
    return people


def covered(labels: Sequence[Value], values: Sequence[Value], hierarchy: Hierarchy | None) -> NDArray[np.bool_]:
    """Which labels of any tool are true of which values.

    >>> tree = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")])
    >>> covered(["medic", "clerk", "*"], ["nurse", "clerk"], tree).tolist()
    [[True, False], [False, True], [True, True]]
    """
    table = np.zeros((len(labels), len(values)), dtype=np.bool_)
    for kind in KINDS.values():
        if kind.covers is not None:
            table |= kind.covers(labels, values)
    paths = {} if hierarchy is None else {str(row[0]): set(map(str, row)) for row in hierarchy.rows()}
    for row, label in zip(table, labels, strict=True):
        if label in (SUPPRESSED, (SUPPRESSED,)):
            row[:] = True
        elif label is None:
            row[:] = [value is None for value in values]
        else:
            text = str(label)
            row |= np.array([text == str(v) or text in paths.get(str(v), ()) for v in values], dtype=np.bool_)
    return table


def with_people(counts: Counts, people: NDArray[np.int64]) -> Counts:
    """The counts with the people of a population who fit each tuple, for promises that compare with it.

    >>> with_people(Counts.of({"sex": ["f", "m"]}), np.array([5, 7])).histograms["population"].counts.tolist()
    [5, 7]
    """
    one_each = Rows(np.arange(len(counts) + 1, dtype=np.int32), np.zeros(len(counts), dtype=np.int32))
    return replace(counts, histograms={**counts.histograms, POPULATION: Histogram((POPULATION,), one_each, people)})


def populated(counts: Counts, people: NDArray[np.int64], shown: NDArray[np.bool_]) -> Populated | None:
    """How the classes that show something lie in a population; None where none does.

    >>> populated(Counts.of({"sex": ["f", "f", "m"]}), np.array([4, 2]), np.ones(2, np.bool_))
    Populated(k_map=2, presence_least=0.5, presence_greatest=0.5)
    """
    if not shown.any():
        return None
    share = np.minimum(1.0, counts.weights / np.maximum(people, 1))[shown]
    return Populated(int(people[shown].min()), float(share.min()), float(share.max()))
