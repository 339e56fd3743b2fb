"""Linking released records to original ones by what their values mean: the promise that this mostly fails, and how it
fares in a report, where a sample will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import KeepsenseError
from keepsense.privacy.linkage import record_linkage
from keepsense.publish.became import table_cells
from keepsense.publish.distances import released_gaps
from keepsense.publish.figures import SEED, Note
from keepsense.publish.mechanisms import LINKAGE_RISK, LinkageRisk
from keepsense.publish.plan import Plan
from keepsense.recoding import Cells, Recoding

MOST_COMPARED = 20_000_000_000
"""Pairs of distinct released and original records up to which a promise is checked on all of them."""
MOST_PAIRS = 150_000_000
"""Most pairs of a released and an original combination that a report compares; beyond, it takes a sample."""
MOST_VALUES = 100_000
"""Most different values of a column that a report still compares."""
MOST_DISTANCES = 1 << 24
"""Most distances between values of one column that are written down."""
FEWEST_TRIED = 200


# ---- the promise -----------------------------------------------------------------------------------------------------


def promises_linkage(plan: Plan) -> bool:
    """Whether a project promises that linking mostly fails.

    >>> from keepsense.publish.example import example_plan
    >>> promises_linkage(example_plan())
    False
    """
    return any(isinstance(model, LinkageRisk) for model in plan.models)


def linkage_kept(plan: Plan, rules: list[Recoding], measured: Any = None) -> tuple[str, ...]:
    """The name of the promise where it is made and holds; nothing where it does not, or cannot be measured.

    `measured` is what `linkage` found, where that is at hand.

    >>> from keepsense.publish.example import example_plan
    >>> from keepsense.publish.techniques import technique
    >>> plan = example_plan(privacy=[{"model": "linkage risk", "threshold": 0.5}])
    >>> linkage_kept(plan, technique("rank swapping").run(plan, {"k": 8}, None))
    ('linkage risk',)
    """
    limits = [model.threshold for model in plan.models if isinstance(model, LinkageRisk)]
    if not limits:
        return ()
    found = linkage(plan, rules) if measured is None else measured
    return (LINKAGE_RISK,) if found is not None and found.risk <= min(limits) + 1e-12 else ()


def linkage(plan: Plan, rules: Sequence[Recoding], *, most: int = MOST_COMPARED) -> Any:
    """How a linkage attack on all quasi-identifiers fares, or None where it is too large to measure or not covered.

    What is drawn by a published matrix is measured on a draw of its own.

    >>> from keepsense.publish.example import example_release
    >>> done = example_release()
    >>> plan, rules = done.plan, done.recodings
    >>> round(linkage(plan, rules).risk, 4)
    0.2
    """
    found = table_cells(plan, rules, rng=SEED)
    if found is None or set(found[1].names) != set(plan.every_quasi_identifier):
        return None
    counts, cells = found
    widest = max(
        len(values) * len(counts.values_of(name)) for name, values in zip(cells.names, cells.values, strict=True)
    )
    if len(counts) * len(cells.codes) > most or widest > 4 * MOST_DISTANCES:
        return None
    return record_linkage(counts, cells, released_gaps(plan, counts, cells))


# ---- for reports -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Linked:
    """How linking each record to the nearest original one fares, over the records `tried` of all `records`.

    >>> Linked(0.25, 1.0, 4.0, 100, 100).risk
    0.25
    """

    risk: float
    linked: float
    group: float
    tried: int
    records: int


def sampled_linkage(plan: Plan, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, Linked]:
    """Chance to link a record rightly by the distances of its values, in the original and in the release.

    Before, every original record is looked up among the originals; after, every released one.

    >>> from keepsense.publish.example import example_release
    >>> done = example_release()
    >>> plan, rules = done.plan, done.recodings
    >>> counts = plan.own_counts
    >>> found = sampled_linkage(plan, counts, rules[0].cells(counts), [])
    >>> [round(found[when].risk, 4) for when in ("before", "after")]
    [0.4, 0.2]
    """
    widest = max((len(values) for values in counts.values), default=0)
    if widest > MOST_VALUES:
        notes.append(
            Note("risk", f"Linkage was not measured: a column has more than {MOST_VALUES:,} different values.")
        )
        return {}
    same = Cells(counts.names, counts.values, np.arange(len(counts)), counts.codes, counts.weights)
    found = {}
    for when, one in (("before", same), ("after", cells)):
        some = _sampled(counts, one, max(FEWEST_TRIED, MOST_PAIRS // max(1, len(counts))), widest)
        try:
            linked = record_linkage(counts, some, released_gaps(plan, counts, some))
        except KeepsenseError:
            continue
        tried = int(some.multiplicity.sum())
        found[when] = Linked(linked.risk, linked.linked, linked.group, tried, counts.total)
    if any(one.tried < one.records for one in found.values()):
        least = min(one.tried for one in found.values())
        notes.append(
            Note("risk", f"Linkage was tried for {least:,} records drawn at random, because there are so many.")
        )
    return found


def _sampled(counts: Counts, cells: Cells, most: int, widest: int) -> Cells:
    """The recoding of at most so many records, with only the released values these have."""
    distinct = len(distinct_rows(cells.codes)[0])
    room = max(1, MOST_DISTANCES // max(1, widest))
    if distinct <= most and max(map(len, cells.values)) <= room:
        return cells
    draw = np.random.default_rng(SEED)
    total = int(cells.multiplicity.sum())
    chosen = np.sort(draw.choice(total, min(most, room, total), replace=False))
    row, times = np.unique(np.searchsorted(np.cumsum(cells.multiplicity), chosen, side="right"), return_counts=True)
    codes, values = cells.codes[row].copy(), []
    for j in range(codes.shape[1]):
        used, codes[:, j] = np.unique(codes[:, j], return_inverse=True)
        values.append(tuple(cells.values[j][code] for code in used.tolist()))
    return Cells(cells.names, tuple(values), cells.source[row], codes, times)
