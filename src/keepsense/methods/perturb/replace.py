"""How semantic noise is applied: an error becomes a concept that far away, towards or away from a reference (6.2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.errors import BadInput
from keepsense.progress import Listener, emit
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.base import Distance

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
    from keepsense.methods.perturb.kernels.values import replace_beside

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
