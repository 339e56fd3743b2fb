"""Semantic noise on words: every value is replaced by a concept at the distance of a random error."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.records import cells_of, records_of
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Nominal, Ordered, check_same_rows
from keepsense.semantics.distance import Distance
from keepsense.semantics.distance_correlation import covariance_matrix
from keepsense.semantics.semantic_operators import Mean, semantic_mean, semantic_variance

ALONE = Filling("variance", "how much each column varies, for words in meaning")


REFERENCE = Filling("mean", "the column's mean (or its partner's value, or the root: your choice)")


NOISE_INPUTS = ("the columns to protect", "a taxonomy for columns of words", "alpha, usually 0.1 to 0.5")


NO_PROMISE = "None beforehand: the noise is masking, not differential privacy. Risk is measured afterwards."


# An error becomes a concept at that distance, towards or away from a reference (Sec. 6.2)

Ties = Literal["random", "first"]
"""Which of several concepts equally far from a value is taken: any, or the first of the taxonomy."""
Among = Literal["all", "leaves"]
"""What a value may become: any concept of the domain, or only those with nothing below them."""

_SAME = 1e-12
_PARTNER_BYTES = 1 << 28


@dataclass(frozen=True, slots=True)
class Replaced:
    """Concept each record got, and how often the rule gave way.

    `short`: no concept was far enough, so the farthest on the right side was taken. `unsided`: no concept lies on the
    side the sign asks for, so the sign was dropped.

    >>> import numpy as np
    >>> Replaced(np.array([3]), 0, 1).unsided
    1
    """

    concepts: Ints
    short: int
    unsided: int


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """Concepts by how far they are: those at distance `steps[i]` stand from `starts[i]` on in `order`.

    >>> line = Line.of(np.array([5, 7, 2], dtype=np.int32), np.array([0.0, 0.5, 0.5]))
    >>> line.steps.tolist(), line.starts.tolist()
    ([0.0, 0.5], [0, 1, 3])
    """

    order: Ints
    steps: Floats
    starts: Ints

    @classmethod
    def of(cls, order: Ints, far: Floats) -> Line:
        """Of concepts that are sorted already, and how far each is."""
        first = np.flatnonzero(np.append(True, far[1:] != far[:-1])) if len(far) else np.empty(0, np.int64)
        return cls(order, far[first], np.append(first, len(far)).astype(np.int32))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Replacements of one value, sorted by distance from it: all, those farther from the reference, those nearer."""

    everything: Line
    farther: Line
    nearer: Line

    @classmethod
    def of(
        cls, row: Floats, concept: int, reference: int | None, away: Floats, open_to: NDArray[np.bool_] | None = None
    ) -> Candidates:
        """Sort the concepts once; a value that is the reference itself may move to any side (SNA-Algorithm 1, line 5).

        `row` holds the distances of all concepts to the value, `away` those to the reference; `open_to` says which
        concepts may be taken, all without it.
        """
        order = np.argsort(row, kind="stable").astype(np.int32)
        if open_to is not None:
            order = order[open_to[order]]
        far = row[order]
        everything = Line.of(order, far)
        if concept == reference:
            return cls(everything, everything, everything)
        side = away[order] - away[concept]
        outward, inward = side > _SAME, side < -_SAME
        return cls(everything, Line.of(order[outward], far[outward]), Line.of(order[inward], far[inward]))

    def draw(self, errors: Floats, concept: int, rng: np.random.Generator, ties: Ties = "random") -> Replaced:
        """Nearest concept at least as far as each error on its side, of equally near ones as `ties` says (Eq. 6.2)."""
        out = np.full(len(errors), concept, dtype=np.int32)
        short = unsided = 0
        for wanted, side in ((errors > 0, self.farther), (errors < 0, self.nearer)):
            at = np.flatnonzero(wanted)
            if not len(at):
                continue
            if not len(side.order):
                unsided += len(at)
                side = self.everything
            order, steps = side.order, side.steps
            first = np.searchsorted(steps, np.abs(errors[at]) - _SAME)
            beyond = first == len(steps)
            short += int(beyond.sum())
            level = steps[np.minimum(first, len(steps) - 1)]
            low = side.starts[np.searchsorted(steps, level - _SAME)]
            high = side.starts[np.searchsorted(steps, level + _SAME, side="right")]
            if ties == "first":
                out[at] = _first(order, low, high)
            else:
                out[at] = order[low + (rng.random(len(at)) * (high - low)).astype(np.int64)]
        return Replaced(out, short, unsided)


def _first(order: Ints, low: NDArray[Any], high: NDArray[Any]) -> Ints:
    """The first concept, in the order of the taxonomy, of each run from `low` to `high`."""
    out = np.empty(len(low), dtype=np.int32)
    for start in np.unique(low):
        here = low == start
        out[here] = order[start : high[here][0]].min()
    return out


def replace_by_reference(  # noqa: PLR0913
    column: Nominal,
    codes: Ints,
    errors: Floats,
    reference: int,
    *,
    free_at_reference: bool,
    rng: np.random.Generator,
    ties: Ties = "random",
    among: Among = "all",
    listener: Listener | None = None,
) -> Replaced:
    """Replace each record's value with one fixed reference for the signs: the mean (SNA-1) or the root (SNA-3).

    `codes` and `errors` belong to the records. A positive error moves away from the reference, a negative one towards
    it; `free_at_reference` lets records that are the reference move anywhere. `ties` chooses among concepts equally far
    from the value, `among` says what a value may become. Candidates are sorted once per distinct
    value, value by value, then a record costs a binary search.
    """
    distance, concepts = column.bound()
    away = distance.against_all(np.array([reference]))[0]
    open_to = None
    if among == "leaves":
        open_to = np.zeros(len(away), dtype=np.bool_)
        open_to[distance.taxonomy.leaves()] = True
    grouped = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[grouped], np.arange(len(column.values) + 1))
    out = np.empty(len(codes), dtype=np.int32)
    short = unsided = 0
    values = np.flatnonzero(np.diff(starts))
    for done, (value, row) in enumerate(_rows(distance, concepts, values)):
        mine = grouped[starts[value] : starts[value + 1]]
        concept = int(concepts[value])
        found = Candidates.of(row, concept, reference if free_at_reference else None, away, open_to)
        drawn = found.draw(errors[mine], concept, rng, ties)
        out[mine] = drawn.concepts
        short, unsided = short + drawn.short, unsided + drawn.unsided
        if done % 50 == 49:
            emit(listener, "value", done + 1, len(values), column=column.name)
    return Replaced(out, short, unsided)


def replace_by_partner(
    column: Nominal,
    partner: Nominal,
    codes: Ints,
    partner_codes: Ints,
    errors: Floats,
    *,
    rng: np.random.Generator,
    listener: Listener | None = None,
) -> Replaced:
    """Replace each record's value with the partner attribute's value as reference for the sign (SNA-2).

    Distances to the partner's values are held a block of partner values at a time, and for each distinct value all
    concepts are sorted once per block; records then walk outwards from their error until a concept is on their side.
    """
    from keepsense.methods.perturb.rank_swapping_kernels import replace_beside

    distance, concepts = column.bound()
    check_same_domain(column, partner)
    theirs = partner.bound()[1]
    size = len(distance.taxonomy)
    block = max(1, _PARTNER_BYTES // (4 * size))
    used = np.flatnonzero(np.bincount(partner_codes, minlength=len(theirs)))
    out = np.empty(len(codes), dtype=np.int32)
    hits = np.empty(size, dtype=np.int32)
    short = unsided = 0
    total = (len(used) + block - 1) // block * len(column.values)
    done = 0
    for begin in range(0, len(used), block):
        chosen = used[begin : begin + block]
        rows = distance.against_all(theirs[chosen], dtype=np.float32)
        top = rows.max(axis=1)
        place = np.full(len(theirs), -1, dtype=np.int32)
        place[chosen] = np.arange(len(chosen), dtype=np.int32)
        inside = np.flatnonzero(place[partner_codes] >= 0)
        # Records of one value together, in it those of one partner and sign.
        inside = inside[np.lexsort((errors[inside] > 0, partner_codes[inside], codes[inside]))]
        starts = np.searchsorted(codes[inside], np.arange(len(column.values) + 1))
        for value, row in _rows(distance, concepts, np.flatnonzero(np.diff(starts))):
            mine = inside[starts[value] : starts[value + 1]]
            order = np.argsort(row, kind="stable").astype(np.int32)
            far = row[order]
            ends = np.append(np.flatnonzero(np.diff(far) > _SAME) + 1, size)
            level = np.repeat(ends, np.diff(ends, prepend=0))
            drawn = np.empty(len(mine), dtype=np.int32)
            few = replace_beside(
                rng,
                order,
                far,
                level,
                rows,
                top,
                int(concepts[value]),
                place[partner_codes[mine]],
                errors[mine],
                drawn,
                hits,
            )
            out[mine] = drawn
            short, unsided = short + few[0], unsided + few[1]
            done += 1
            if done % 50 == 0:
                emit(listener, "value", done, total, column=column.name)
    return Replaced(out, short, unsided)


def check_same_domain(first: Nominal, second: Nominal) -> None:
    """Refuse two columns whose concepts do not come from one taxonomy: SNA-2 compares their values with each other."""
    one, other = first.bound()[0], second.bound()[0]
    a, b = one.taxonomy, other.taxonomy
    if one.name != other.name or (a is not b and (len(a) != len(b) or list(a.ids) != list(b.ids))):
        raise BadInput(
            f"columns {first.name!r} and {second.name!r} are of different domains ({a.name!r}, {b.name!r}); a partner "
            "as reference needs one taxonomy and one distance for both: use the reference 'root' or 'mean' instead"
        )


def _rows(distance: Distance, concepts: Ints, values: NDArray[np.int64]) -> Iterator[tuple[int, Floats]]:
    """Distances of each value to all concepts, one value at a time, computed in blocks."""
    for where, block in distance.blocks(concepts[values]):
        for i, value in enumerate(values[where].tolist()):
            yield value, block[i]


# Errors and methods

Reference = Literal["mean", "partner", "root"]
Shape = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
"""Draws an array of errors of mean 0 and variance 1."""
Distribution = Literal["normal", "laplace"] | Shape
NOISE = 0.2
"""Share of a column's variance that noise has unless another is given."""


def noise_on_words(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[Nominal],
    alpha: float,
    *,
    correlated: bool = False,
    reference: Reference = "mean",
    pairs: Sequence[tuple[str, str]] | None = None,
    distribution: Distribution = "normal",
    ties: Ties = "random",
    among: Among = "all",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Semantic noise on columns of words: what `noise` and `correlated_noise` do to them.

    A covariance matrix of more than two columns that is not positive semidefinite is replaced by the nearest that is,
    and `info["covariance_mended"]` says so.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = distance("wu-palmer", from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")]))
    >>> counts = Counts.of({"first": ["pug", "lab", "cat"] * 5, "second": ["lab", "lab", "cat"] * 5})
    >>> columns = [Nominal.of(counts, name, pets) for name in ("first", "second")]
    >>> noise_on_words(counts, columns, 0.3, correlated=True, reference="partner", rng=1).info["covariance_mended"]
    False
    """
    check_noise(counts, columns, alpha)
    rng = generator(rng)
    means = [semantic_mean(column, over="domain") for column in columns]
    info: dict[str, Any] = {"method": "semantic noise, uncorrelated", "alpha": float(alpha)}
    if correlated:
        if len(columns) < 2:
            raise BadInput("correlated noise needs at least two columns; use plain noise for one")
        covariance, mended = covariance_matrix(counts, columns)
        errors = correlated_errors(distribution, rng, counts.total, alpha * covariance)
        together = {"covariance": covariance.tolist(), "covariance_mended": mended}
        info |= {"method": "semantic noise, correlated", **together}
    else:
        variances = [semantic_variance(column, mean) for column, mean in zip(columns, means, strict=True)]
        errors = unit_errors(distribution, rng, counts.total, len(columns))
        errors *= np.sqrt(alpha * np.array(variances))
    chosen = Chosen(reference, pairs, ties, among)
    source = records_of(counts)
    concepts, facts = moved_words(counts, columns, errors, means, chosen, rng=rng, listener=listener)
    facts |= moments(counts, columns, concepts, means, alpha)
    return concept_cells(counts, columns, source, concepts, {**facts, **info})


def check_noise(counts: Counts, attributes: Sequence[Nominal] | Sequence[Ordered], alpha: float) -> None:
    """Refuse an alpha that is no positive number, a column given twice, of one value, or known only by a matrix."""
    if not attributes:
        raise BadInput("no column was given to add noise to; name at least one")
    if len({a.name for a in attributes}) != len(attributes):
        raise BadInput("a column is given twice")
    if not isinstance(alpha, int | float | np.number) or not np.isfinite(alpha) or alpha <= 0:
        raise BadInput(f"alpha = {alpha!r}: the amount of noise must be a number above 0, usually 0.1 to 0.5")
    check_same_rows(counts, attributes)
    for attribute in attributes:
        if isinstance(attribute, Nominal):
            attribute.bound()
            if attribute.own_taxonomy:
                raise BadInput(
                    f"column {attribute.name!r}: its taxonomy was cut down to what the column holds, and noise would "
                    'stay within it; make the column with over="domain", from the whole taxonomy'
                )
        if int((attribute.weights > 0).sum()) < 2:
            raise BadInput(
                f"column {attribute.name!r} holds one value only: its variance is 0, so no noise can be made"
            )


def unit_errors(distribution: Distribution, rng: np.random.Generator, rows: int, columns: int) -> Floats:
    """Independent errors of mean 0 and variance 1.

    >>> import numpy as np
    >>> unit_errors("laplace", np.random.default_rng(1), 3, 2).shape
    (3, 2)
    """
    if distribution == "normal":
        return rng.standard_normal((rows, columns))
    if distribution == "laplace":
        return rng.laplace(0.0, np.sqrt(0.5), (rows, columns))
    if not callable(distribution):
        raise BadInput(
            f"distribution = {distribution!r}: it must be 'normal', 'laplace' or a function (rng, shape) that draws "
            "errors of mean 0 and variance 1"
        )
    drawn = np.array(distribution(rng, (rows, columns)), dtype=np.float64)
    if drawn.shape != (rows, columns) or not np.isfinite(drawn).all():
        raise BadInput(f"the noise distribution must return {rows} x {columns} finite numbers")
    return drawn


def correlated_errors(distribution: Distribution, rng: np.random.Generator, rows: int, covariance: Floats) -> Floats:
    """Errors of mean 0 with the given covariance matrix, one row per record.

    Laplace errors are those of the symmetric multivariate Laplace distribution: a normal vector times the root of one
    exponential number, so that each column is Laplace distributed and the covariance is as asked. A function draws
    independent columns, which are then mixed.

    >>> import numpy as np
    >>> drawn = correlated_errors("normal", np.random.default_rng(1), 4000, np.array([[1.0, 0.8], [0.8, 1.0]]))
    >>> bool(abs(np.corrcoef(drawn.T)[0, 1] - 0.8) < 0.05)
    True
    """
    values, vectors = np.linalg.eigh(covariance)
    mix: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    plain = "normal" if distribution == "laplace" else distribution
    drawn: Floats = unit_errors(plain, rng, rows, len(covariance)) @ mix.T
    if distribution == "laplace":
        drawn *= np.sqrt(rng.exponential(1.0, (rows, 1)))
    return drawn


@dataclass(frozen=True)
class Chosen:
    """Which side of what an error points to, and what is taken among concepts equally far.

    >>> Chosen("root").ties
    'random'
    """

    reference: Reference = "mean"
    pairs: Sequence[tuple[str, str]] | None = None
    ties: Ties = "random"
    among: Among = "all"

    def __post_init__(self) -> None:
        for name, choices in (("reference", Reference), ("ties", Ties), ("among", Among)):
            if getattr(self, name) not in get_args(choices):
                *others, last = map(repr, get_args(choices))
                raise BadInput(f"{name} = {getattr(self, name)!r}: it must be {', '.join(others)} or {last}")
        if self.reference == "partner" and (self.ties, self.among) != ("random", "all"):
            raise BadInput(
                "with a partner as reference, ties are drawn at random among all concepts; leave out ties and among, "
                "or choose the reference mean or root"
            )


def moved_words(
    counts: Counts,
    attributes: Sequence[Nominal],
    errors: Floats,
    means: Sequence[Mean],
    chosen: Chosen,
    *,
    rng: np.random.Generator,
    listener: Listener | None,
) -> tuple[list[Ints], dict[str, Any]]:
    """The concept each record gets in each column for its errors (a row a record), and what there is to tell."""
    source, reference = records_of(counts), chosen.reference
    codes = [counts.column(a.name)[source] for a in attributes]
    beside = _partners(attributes, chosen.pairs) if reference == "partner" else {}
    columns: list[Replaced] = []
    for j, attribute in enumerate(attributes):
        if reference == "partner":
            other = beside[j]
            replaced = replace_by_partner(
                attribute, attributes[other], codes[j], codes[other], errors[:, j], rng=rng, listener=listener
            )
        else:
            at_mean = reference == "mean"
            concept = means[j].concept if at_mean else attribute.bound()[0].taxonomy.root
            replaced = replace_by_reference(
                attribute, codes[j], errors[:, j], concept, free_at_reference=at_mean, rng=rng, ties=chosen.ties,
                among=chosen.among, listener=listener,
            )  # fmt: skip
        columns.append(replaced)
        if wants_steps(listener):
            values, codes_now = np.unique(replaced.concepts, return_inverse=True)
            emit(listener, "moved", j + 1, len(attributes), column=attribute.name, source=source, errors=errors[:, j],
                 values=attribute.spell(values), codes=codes_now, reference=reference, mean=means[j].label,
                 **_moves(attribute, codes[j], replaced.concepts, reference, means[j]))  # fmt: skip
    names = [a.name for a in attributes]
    info = {
        "reference": reference,
        "means": {name: mean.label for name, mean in zip(names, means, strict=True)},
        "target_rmse": {name: float(np.sqrt(np.mean(errors[:, j] ** 2))) for j, name in enumerate(names)},
        "not_far_enough": {name: replaced.short for name, replaced in zip(names, columns, strict=True)},
        "sign_dropped": {name: replaced.unsided for name, replaced in zip(names, columns, strict=True)},
    }
    return [replaced.concepts for replaced in columns], info


def moments(
    counts: Counts, attributes: Sequence[Nominal], concepts: Sequence[Ints], means: Sequence[Mean], alpha: float
) -> dict[str, dict[str, Any]]:
    """What noise did to each column's variance and mean: before, expected as for numbers (Eq. 2.3), reached.

    Words have no place beyond the last one, and concepts above others are nearer to all, so that the variance expected
    is mostly not reached.
    """
    variance, moved = {}, {}
    for attribute, now, mean in zip(attributes, concepts, means, strict=True):
        distance = attribute.bound()[0]
        held, rows = np.unique(now, return_counts=True)
        after = Nominal(attribute.name, attribute.spell(held), rows, distance, held.astype(np.int32))
        centre = semantic_mean(after, over="domain")
        before = semantic_variance(attribute, mean)
        variance[attribute.name] = {
            "before": before,
            "expected": (1 + alpha) * before,
            "reached": semantic_variance(after, centre),
        }
        moved[attribute.name] = float(distance.pair(mean.concept, centre.concept))
    return {"variance": variance, "mean_moved": moved}


def _moves(
    attribute: Nominal, codes: Ints, concepts: Ints, reference: Reference, mean: Mean
) -> dict[str, list[float] | None]:
    """How far each record moved, and by how much farther from the reference; for partners that is not told."""
    distance, own = attribute.bound()
    pairs = list(zip(own[codes].tolist(), concepts.tolist(), strict=True))
    distances = [float(distance.pair(before, after)) for before, after in pairs]
    if reference == "partner":
        return {"distances": distances, "farther": None}
    fixed = int(mean.concept if reference == "mean" else distance.taxonomy.root)
    farther = [float(distance.pair(after, fixed)) - float(distance.pair(before, fixed)) for before, after in pairs]
    return {"distances": distances, "farther": farther}


def concept_cells(
    counts: Counts, attributes: Sequence[Nominal], source: Ints, concepts: Sequence[Ints], info: dict[str, Any]
) -> Cells:
    """Cells from the concept each record gets in each column, spelled as the column spells its own."""
    values, codes, same = [], [], []
    for attribute, moved in zip(attributes, concepts, strict=True):
        distinct, code = np.unique(moved, return_inverse=True)
        values.append(attribute.spell(distinct))
        codes.append(code.astype(np.int32))
        same.append(attribute.bound()[1][counts.column(attribute.name)[source]] == moved)
    names = tuple(a.name for a in attributes)
    facts = {
        "unchanged": {name: int(equal.sum()) for name, equal in zip(names, same, strict=True)},
        "unchanged_rows": int(np.logical_and.reduce(same).sum()),
        **info,
    }
    return cells_of(names, values, source, codes, facts)


def _partners(attributes: Sequence[Nominal], pairs: Sequence[tuple[str, str]] | None) -> dict[int, int]:
    """Which column is measured against which; every column in exactly one pair of one domain."""
    names = [a.name for a in attributes]
    if pairs is None:
        pairs = list(zip(names[::2], names[1::2], strict=False))
    flat = [name for pair in pairs for name in pair]
    if sorted(flat) != sorted(names):
        raise BadInput(
            f"a partner as reference needs disjoint pairs that hold every column once; the columns are "
            f"{', '.join(names)}, the pairs {', '.join(f'{a}-{b}' for a, b in pairs) or 'none'}"
        )
    beside = {}
    for first, second in pairs:
        i, j = names.index(first), names.index(second)
        check_same_domain(attributes[i], attributes[j])
        beside[i], beside[j] = j, i
    return beside
