"""Which columns tell people apart: distinction and separation (Motwani and Xu 2007)."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from keepsense.counts import Counts


@dataclass(frozen=True)
class Separation:
    """How far some columns tell records apart.

    `distinction` is the share of records that would be left if of those alike one was kept: different combinations
    over records. `separation` is the share of pairs of records that differ in some of the columns (Motwani and Xu 2007,
    Definitions 1 and 2). An alpha-quasi-identifier of the paper is a set of columns where these are at least alpha.

    >>> separations(Counts.of({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "c", "c"]}))[0]
    Separation(columns=('job',), distinction=0.75, separation=0.8333333333333334)
    """

    columns: tuple[str, ...]
    distinction: float
    separation: float


def separations(counts: Counts, most: int = 1) -> list[Separation]:
    """Every set of up to `most` columns, those that tell most pairs of records apart first.

    >>> table = Counts.of({"sex": ["f", "f", "m", "m"], "job": ["a", "b", "c", "c"]})
    >>> [(found.columns, round(found.separation, 2)) for found in separations(table, 2)]
    [(('job',), 0.83), (('sex', 'job'), 0.83), (('sex',), 0.67)]
    """
    chosen = [names for size in range(1, most + 1) for names in combinations(counts.names, size)]
    measured = [_separation(counts, names) for names in chosen]
    return sorted(measured, key=lambda found: (-found.separation, len(found.columns), found.columns))


def _separation(counts: Counts, names: tuple[str, ...]) -> Separation:
    sizes = counts.project(names).weights
    sizes = sizes[sizes > 0].astype(object)  # pairs of billions of records do not fit into 64 bits
    records = int(sizes.sum())
    pairs, alike = records * (records - 1), int((sizes * (sizes - 1)).sum())
    return Separation(names, len(sizes) / max(1, records), 1 - alike / pairs if pairs else 0.0)
