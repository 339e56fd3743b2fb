"""Linking released records to original ones by what their values mean: the promise that this mostly fails, and how it
fares in a report, where a sample will do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import KeepsenseError
from keepsense.privacy import LinkageRisk
from keepsense.privacy.linkage import record_linkage
from keepsense.recoding import Cells, Recoding
from keepsense.release.became import table_cells
from keepsense.release.distances import released_gaps
from keepsense.release.figures import SEED, Note
from keepsense.release.job import Job

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


def promises_linkage(job: Job) -> bool:
    """Whether a project promises that linking mostly fails.

    >>> from keepsense.release.example import example_job
    >>> promises_linkage(example_job())
    False
    """
    return any(isinstance(model, LinkageRisk) for model in job.models)


def linkage_kept(job: Job, rules: list[Recoding], measured: Any = None) -> tuple[str, ...]:
    """The name of the promise where it is made and holds; nothing where it does not, or cannot be measured.

    `measured` is what `linkage` found, where that is at hand.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.release.techniques import technique
    >>> job = example_job(privacy=[{"model": "linkage risk", "threshold": 0.5}])
    >>> linkage_kept(job, technique("rank swapping").run(job, {"k": 8}, None))
    ('linkage risk',)
    """
    limits = [model.threshold for model in job.models if isinstance(model, LinkageRisk)]
    if not limits:
        return ()
    found = linkage(job, rules) if measured is None else measured
    return (LinkageRisk.name,) if found is not None and found.risk <= min(limits) + 1e-12 else ()


def linkage(job: Job, rules: Sequence[Recoding], *, most: int = MOST_COMPARED) -> Any:
    """How a linkage attack on all quasi-identifiers fares, or None where it is too large to measure or not covered.

    What is drawn by a published matrix is measured on a draw of its own.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> round(linkage(job, rules).risk, 4)
    0.2
    """
    found = table_cells(job, rules, rng=SEED)
    if found is None or set(found[1].names) != set(job.every_quasi_identifier):
        return None
    counts, cells = found
    widest = max(
        len(values) * len(counts.values_of(name)) for name, values in zip(cells.names, cells.values, strict=True)
    )
    if len(counts) * len(cells.codes) > most or widest > 4 * MOST_DISTANCES:
        return None
    return record_linkage(counts, cells, released_gaps(job, counts, cells))


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


def sampled_linkage(job: Job, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, Linked]:
    """Chance to link a record rightly by the distances of its values, in the original and in the release.

    Before, every original record is looked up among the originals; after, every released one.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> counts = job.own_counts
    >>> found = sampled_linkage(job, counts, rules[0].cells(counts), [])
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
            linked = record_linkage(counts, some, released_gaps(job, counts, some))
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
