"""Columns whose cells are sets of words (diagnosis lists, baskets, tags), for swapping and for noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.aggregate.item_distances import ItemDistances
from keepsense.methods.aggregate.items import from_delimited, spelled
from keepsense.methods.aggregate.set_distance import SetSpace, check_kind
from keepsense.methods.fit import Fit, always
from keepsense.methods.perturb.noise_words import NOISE, Distribution, check_noise, unit_errors
from keepsense.methods.perturb.replace import replace_by_reference
from keepsense.methods.perturb.words import ALONE, NO_PROMISE, NOISE_INPUTS, REFERENCE
from keepsense.methods.records import cells_of, join, records_of
from keepsense.methods.registry import Method, Shown, registered
from keepsense.privacy import Model
from keepsense.progress import Listener
from keepsense.random import Random, generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.base import Distance
from keepsense.semantics.mean import semantic_mean
from keepsense.semantics.variance import semantic_variance


@dataclass(frozen=True, eq=False)
class Sets:
    """A column of sets: each cell a tuple or frozenset of words, or with `delimiter` one text that lists them.

    Distances between sets are those of Batet et al. 2014 (Eq. 2-6); the normalised sum of minimum distances, Eq. 5, is
    0 for equal sets only and the default.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog")])
    >>> counts = Counts.of({"pets": ["cat;dog", "cat", "pug"]})
    >>> Sets.of(counts, "pets", distance("feature", pets), delimiter=";").row(1).round(3).tolist()
    [0.222, 0.0, 0.75]
    """

    name: str
    values: tuple[Value, ...]
    weights: NDArray[np.int64]
    items: Nominal
    rows: Rows
    kind: str
    delimiter: str | None

    @classmethod
    def of(
        cls, counts: Counts, name: str, distance: Distance, *, kind: str = "minimum-sum", delimiter: str | None = None
    ) -> Sets:
        """A column of counts; every word of every set must be a concept of the distance's taxonomy."""
        check_kind(kind)
        values, weights = counts.values_of(name), counts.marginal(name)
        place: dict[str, int] = {}
        owner: list[int] = []
        item: list[int] = []
        for i, value in enumerate(values):
            words = _words(name, value, delimiter)
            owner += [i] * len(words)
            item += [place.setdefault(word, len(place)) for word in words]
        if not place:
            raise BadInput(f"column {name!r} holds empty sets only")
        times = np.bincount(item, weights[owner], len(place)).astype(np.int64)
        codes = np.arange(len(place), dtype=np.int32)[:, None]
        words_alone = Counts((name,), (tuple(place),), codes, times)
        nominal = Nominal.of(words_alone, name, distance)
        return cls(name, values, weights, nominal, Rows.from_pairs(owner, item, len(values)), kind, delimiter)

    @cached_property
    def _space(self) -> SetSpace:
        distance, concepts = self.items.bound()
        # One opaque item stands for nothing, so that an empty set is far from all others.
        empty = np.flatnonzero(self.rows.sizes == 0).astype(np.int32)
        nothing = np.full(len(empty), len(concepts), dtype=np.int32)
        owner = np.concatenate([self.rows.row_of(), empty]).astype(np.int32)
        item = np.concatenate([self.rows.indices, nothing]).astype(np.int32)
        rows = Rows.from_pairs(owner, item, len(self.rows))
        return SetSpace(self.kind, ItemDistances(distance, concepts, opaque=1), rows)

    @cached_property
    def matrix(self) -> Floats:
        """Distances of all pairs of sets."""
        return np.stack([self.row(i) for i in range(len(self.values))])

    def row(self, value: int) -> Floats:
        """Distances of one set to all; a set is at 0 from itself, whatever the kind of distance says."""
        found = np.array(self._space.from_record(value), dtype=np.float64)
        found[value] = 0.0
        return found

    def order(self, value: int) -> Ints:
        """Positions of all sets, the nearest to one first."""
        return np.argsort(self.row(value), kind="stable").astype(np.int32)

    def totals(self) -> Floats:
        """Sum of each set's distances to all rows."""
        return np.array([float(self.row(i) @ self.weights) for i in range(len(self.values))])

    def write(self, words: Sequence[Value]) -> Value:
        """A set as this column writes them."""
        if self.delimiter is not None:
            return spelled(words, self.delimiter)
        kinds = {type(v) for v in self.values}
        return frozenset(words) if kinds == {frozenset} else tuple(words)


def noise_on_sets(
    counts: Counts,
    columns: Sequence[Sets],
    models: Sequence[Model] = (),
    *,
    alpha: float = NOISE,
    reference: Literal["mean", "root"] = "mean",
    distribution: Distribution = "normal",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Add semantic noise to every word of every set, as `noise` does to single words (SNA-1, SNA-3).

    Mean and variance are those of all words in all sets of a column. Words that become equal fall together, so a set
    may shrink; `info["shrunk"]` counts the rows it happens to. Nothing is promised: `models` are not looked at.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> counts = Counts.of({"pets": [("cat", "dog"), ("pug",), ("lab", "cat")]})
    >>> cells = noise_on_sets(counts, [Sets.of(counts, "pets", distance("wu-palmer", pets))], alpha=0.3, rng=1)
    >>> cells.check(counts)
    """
    rng = generator(rng)
    parts = [_noisy(counts, column, alpha, reference, distribution, rng, listener) for column in columns]
    return parts[0] if len(parts) == 1 else join(counts, parts, rng=rng)


def _noisy(
    counts: Counts,
    column: Sets,
    alpha: float,
    reference: Literal["mean", "root"],
    distribution: Distribution,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    nominal = column.items
    alone = np.arange(len(nominal.values), dtype=np.int32)[:, None]
    own = Counts((column.name,), (nominal.values,), alone, nominal.weights)
    check_noise(own, [nominal], alpha)
    if reference not in ("mean", "root"):
        raise BadInput(f"reference = {reference!r}: sets take 'mean' or 'root'")
    mean = semantic_mean(nominal, over="domain")
    source = records_of(counts)
    sets = counts.column(column.name)[source]
    sizes = column.rows.sizes[sets]
    codes = column.rows.gather(sets)
    scale = np.sqrt(alpha * semantic_variance(nominal, mean))
    errors = unit_errors(distribution, rng, len(codes), 1)[:, 0] * scale
    centre = mean.concept if reference == "mean" else nominal.bound()[0].taxonomy.root
    found = replace_by_reference(
        nominal, codes, errors, centre, free_at_reference=reference == "mean", rng=rng, listener=listener
    )
    owner = np.repeat(np.arange(len(source)), sizes)
    table = np.unique(np.stack([owner, found.concepts], axis=1), axis=0)
    distinct, item = np.unique(table[:, 1], return_inverse=True)
    spelled = nominal.spell(distinct)
    starts = np.searchsorted(table[:, 0], np.arange(len(source) + 1))
    place: dict[Value, int] = {}
    out = np.empty(len(source), dtype=np.int32)
    for i in range(len(source)):
        words = column.write([spelled[c] for c in item[starts[i] : starts[i + 1]].tolist()])
        out[i] = place.setdefault(words, len(place))
    info: dict[str, Any] = {
        "method": "semantic noise on sets",
        "alpha": float(alpha),
        "reference": reference,
        "target_rmse": {column.name: float(np.sqrt(np.mean(errors**2))) if len(errors) else 0.0},
        "not_far_enough": {column.name: found.short},
        "sign_dropped": {column.name: found.unsided},
        "shrunk": {column.name: int((np.diff(starts) < sizes).sum())},
    }
    return cells_of([column.name], [tuple(place)], source, [out], info)


def _words(name: str, value: Value, delimiter: str | None) -> list[str]:
    if isinstance(value, str):
        if delimiter is None:
            raise BadInput(f"column {name!r} holds text; say what separates its words with delimiter=...")
        if '"' in value:
            return sorted(map(str, from_delimited([value], delimiter=delimiter, column=name).sets()[0]))
        parts: Any = (part.strip() for part in value.split(delimiter))  # the same, and quicker
        return sorted({part for part in parts if part})
    if value is None:
        return []
    if not isinstance(value, tuple | frozenset):
        raise BadInput(f"column {name!r} holds a {type(value).__name__}; a set is a tuple, a frozenset or a text")
    return sorted({str(word) for word in value})


METHOD = registered(
    Method(
        name="noise on sets",
        title="Semantic noise on sets",
        function=noise_on_sets,
        family="noise addition",
        place=4,
        short="every word of every set",
        intent="Move every word of every set by a random amount in meaning; words that become equal fall together.",
        use=("a column holds several words a cell, and what the sets are about matters more than single ones",),
        avoid=("a promise is needed", "the number of items in a set matters: sets may shrink"),
        inputs=NOISE_INPUTS,
        guarantee=NO_PROMISE,
        cost="As uncorrelated noise, over the words of all sets.",
        paper="Rodríguez-García 2017, Sec. 6.3, applied to each word of a set.",
        example="{influenza, asthma} becomes {bronchitis, asthma}.",
        truthful=False,
        unweighed="it changes one column of sets",
        sets="only",
        gaps="filled",
        fillings={"variation": ALONE, "reference": REFERENCE},
        fit=Fit(unfit=((always, 'it is part of "noise", which takes sets along'),)),
        shown=Shown(why_not="it moves every item of a set as noise moves single words"),
    )
)
