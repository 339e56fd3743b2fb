"""Does the score of a hierarchy tell what anonymizing with it will lose? One column at a time (Sec. 6.1, Fig. 4, 5).

Two readings of "across all the tested k-values": a coefficient for each k, averaged; or the loss averaged over k first,
and one coefficient. Intervals come from hierarchies drawn again with replacement.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from experiments.gsl.columns import Column
from experiments.gsl.one_column import KS, OneColumn, Tables
from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_scores import scores
from keepsense.methods.generalize.datafly import datafly
from keepsense.methods.generalize.incognito import incognito
from keepsense.recoding import Cuts
from keepsense.semantics.distance import Distance

Floats = NDArray[np.float64]
ALGORITHMS = ("Datafly", "Incognito")
SUPPRESSION = ("at most k records", "none")
READINGS = ("per k", "averaged first")
PAIRS = ("SSE~GSL-WuP", "SemILoss~GSL-LCH")
DRAWS = 200
_LEAST = 1e-9


@dataclass(frozen=True)
class Runs:
    """One column anonymized with every hierarchy of a test bed and every k (rows): scores and losses."""

    column: Column
    bed: str
    algorithm: str
    suppression: str
    judged: dict[str, Floats]
    losses: dict[str, Floats]
    at_root: float
    duplicates: int

    def drawn(self, pair: str, reading: str, rng: np.random.Generator) -> Floats:
        """The coefficient (first), and the same for hierarchies drawn again; empty where all lose alike."""
        judged, losses = self.judged[pair], self.losses[pair]
        rows = losses.mean(axis=0)[None] if reading == READINGS[1] else losses[np.ptp(losses, axis=1) > _LEAST]
        if not len(rows) or np.ptp(rows, axis=1).max() <= _LEAST:
            return np.empty(0)
        again = rng.integers(len(judged), size=(DRAWS, len(judged)))
        chosen = np.concatenate([np.arange(len(judged))[None], again])
        ranks = _ranks(judged[chosen])
        with np.errstate(invalid="ignore"):  # a draw may leave nothing to tell apart
            found: Floats = np.nanmean(np.stack([_agreement(ranks, _ranks(row[chosen])) for row in rows]), axis=0)
        return found

    def row(self, drawn: dict[tuple[str, str], Floats]) -> dict[str, Any]:
        """The run as a line of the results."""
        found: dict[str, Any] = {
            "data": self.column.data,
            "column": self.column.name,
            "label": self.column.label,
            "values": len(self.column.counts),
            "test bed": self.bed,
            "duplicates": self.duplicates,
            "algorithm": self.algorithm,
            "suppression": self.suppression,
            "GSL from": round(float(self.judged[PAIRS[0]].min()), 4),
            "GSL to": round(float(self.judged[PAIRS[0]].max()), 4),
            "runs at the root": round(self.at_root, 4),
        }
        for pair in PAIRS:
            for reading in READINGS:
                figures = drawn[pair, reading]
                low, high = np.nanquantile(figures[1:], (0.025, 0.975)) if len(figures) else (None, None)
                found[f"{pair} {reading}"] = _rounded(figures[0] if len(figures) else None)
                found[f"{pair} {reading} low"] = _rounded(low)
                found[f"{pair} {reading} high"] = _rounded(high)
            judged, losses = self.judged[pair], self.losses[pair]
            found[f"{pair} ks"] = int((np.ptp(losses, axis=1) > _LEAST).sum())
            best, worst = int(np.argmin(judged)), int(np.argmax(judged))
            found[f"{pair} saved by best over worst"] = _saved(losses[:, best], losses[:, worst])
        return found


def rank_correlations(first: Floats, second: Floats) -> Floats:
    """Spearman's coefficient of each row of one table with the same row of the other.

    >>> rank_correlations(np.array([[1.0, 2.0, 3.0]]), np.array([[1.0, 9.0, 4.0]])).tolist()
    [0.5]
    """
    return _agreement(_ranks(first), _ranks(second))


def _ranks(table: Floats) -> Floats:
    """Ranks in each row, around 0."""
    found: Floats = rankdata(table, axis=1) - (table.shape[1] + 1) / 2
    return found


def _agreement(first: Floats, second: Floats) -> Floats:
    found: Floats = (first * second).sum(axis=1) / np.sqrt((first**2).sum(axis=1) * (second**2).sum(axis=1))
    return found


def runs(
    column: Column, bed: str, hierarchies: Sequence[Hierarchy], wup: Distance, lch: Distance, ks: Sequence[int] = KS
) -> Iterator[Runs]:
    """Anonymize a column with each hierarchy and each k, by both algorithms, with and without suppression."""
    judged = {PAIRS[0]: scores(hierarchies, wup), PAIRS[1]: scores(hierarchies, lch)}
    asked = [OneColumn(column, hierarchy, ks) for hierarchy in hierarchies]
    by_wup = [Tables.of(hierarchy, wup) for hierarchy in hierarchies]
    by_lch = [Tables.of(hierarchy, lch) for hierarchy in hierarchies]
    same = len(hierarchies) - len({structure(hierarchy) for hierarchy in hierarchies})
    for algorithm, suppression in product(ALGORITHMS, SUPPRESSION):
        suppress = suppression != "none"
        sse, loss, root = [], [], 0
        for one, tables, others in zip(asked, by_wup, by_lch, strict=True):
            levels = one.datafly(suppress=suppress)
            if algorithm == "Incognito":
                levels = one.incognito(tables, suppress=suppress)
            sse.append(one.lost(tables, levels, 2))
            loss.append(one.lost(others, levels) / one.total)
            root += int((levels == one.hierarchy.height).sum())
        losses = {PAIRS[0]: np.stack(sse, axis=1), PAIRS[1]: np.stack(loss, axis=1)}
        yield Runs(column, bed, algorithm, suppression, judged, losses, root / losses[PAIRS[0]].size, same)


def structure(hierarchy: Hierarchy) -> frozenset[tuple[object, object]]:
    """The same nodes linked alike are one hierarchy, in whatever order branches come (AIKA, Sec. 3.2, step 4).

    >>> first, second = [("a", "x", "*"), ("b", "b", "*")], [("b", "*", "*"), ("a", "x", "*")]
    >>> structure(Hierarchy.of_rows(first)) == structure(Hierarchy.of_rows(second))
    True
    """
    return frozenset(
        (low, high)
        for row in hierarchy.rows()
        for low, high in pairwise(row)
        if low != high  # repeated on the next level only to fill it
    )


def anonymized(
    algorithm: str, counts: Counts, hierarchies: dict[str, Hierarchy], k: int, tables: Any, *, suppress: bool = True
) -> Cuts:
    """One column made k-anonymous; with `suppress` up to k records are, which is Datafly's own rule, by either.

    With one column semantic Datafly has nothing to choose and is Datafly.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # suppressed classes are what is measured here
        if algorithm == "Datafly":
            return datafly(counts, hierarchies, k=k, suppression=None if suppress else 0.0)
        return incognito(counts, hierarchies, k=k, metric=tables, suppression=share_of(k, counts) if suppress else 0.0)


def share_of(k: int, counts: Counts) -> float:
    """At most k records, as a share; half a record more against rounding."""
    return min(1.0, (k + 0.5) / counts.total)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(float(value), 4)


def _saved(best: Floats, worst: Floats) -> float | None:
    """Share of the worst hierarchy's loss that the best one saves, on average over k."""
    lossy = worst > _LEAST
    return round(float(np.mean(1 - best[lossy] / worst[lossy])), 4) if lossy.any() else None
