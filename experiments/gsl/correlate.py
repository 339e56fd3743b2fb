"""Does the score of a hierarchy tell what anonymizing with it will lose? One column at a time (Sec. 6.1, Fig. 4, 5)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr

from experiments.gsl.columns import Column
from experiments.gsl.losses import Losses
from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy, scores
from keepsense.methods.generalize.datafly import datafly
from keepsense.methods.generalize.incognito import incognito
from keepsense.methods.generalize.lattice import semantic_tables
from keepsense.recoding import Cuts
from keepsense.semantics import Distance

KS = (*range(2, 11), 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90, 100)
ALGORITHMS = ("Datafly", "Incognito")
SUPPRESSION = ("at most k records", "none")


@dataclass(frozen=True)
class Runs:
    """One column anonymized with every hierarchy of a test bed and every k: scores and losses."""

    column: Column
    bed: str
    algorithm: str
    suppression: str
    wup: NDArray[np.float64]
    lch: NDArray[np.float64]
    sse: NDArray[np.float64]
    loss: NDArray[np.float64]
    at_root: float

    def correlations(self, losses: NDArray[np.float64], judged: NDArray[np.float64]) -> tuple[list[float], list[float]]:
        """Spearman's and Pearson's coefficient for each k for which the losses differ at all."""
        spearman, pearson = [], []
        for row in losses:
            if np.ptp(row) > 1e-9:
                spearman.append(float(spearmanr(judged, row)[0]))
                pearson.append(float(pearsonr(judged, row)[0]))
        return spearman, pearson

    def row(self) -> dict[str, Any]:
        """The run as a line of the results."""
        found: dict[str, Any] = {
            "data": self.column.data,
            "column": self.column.name,
            "label": self.column.label,
            "values": len(self.column.counts),
            "test bed": self.bed,
            "algorithm": self.algorithm,
            "suppression": self.suppression,
            "GSL from": round(float(self.wup.min()), 4),
            "GSL to": round(float(self.wup.max()), 4),
            "runs at the root": round(self.at_root, 4),
        }
        for title, losses, judged in (
            ("SSE~GSL-WuP", self.sse, self.wup),
            ("SemILoss~GSL-LCH", self.loss, self.lch),
        ):
            spearman, pearson = self.correlations(losses, judged)
            found |= {
                f"{title} Spearman": _mean(spearman),
                f"{title} Spearman least": round(min(spearman), 4) if spearman else None,
                f"{title} Pearson": _mean(pearson),
                f"{title} ks": len(spearman),
            }
        best, worst = int(np.argmin(self.wup)), int(np.argmax(self.wup))
        found["SSE saved by best over worst"] = _saved(self.sse[:, best], self.sse[:, worst])
        best, worst = int(np.argmin(self.lch)), int(np.argmax(self.lch))
        found["SemILoss saved by best over worst"] = _saved(self.loss[:, best], self.loss[:, worst])
        return found


def runs(
    column: Column,
    bed: str,
    hierarchies: Sequence[Hierarchy],
    wup: Distance,
    lch: Distance,
    ks: Sequence[int] = KS,
) -> Iterator[Runs]:
    """Anonymize a column with each hierarchy and each k, by both algorithms, with and without suppression."""
    counts = Counts.of({column.name: list(column.counts)}, weights=list(column.counts.values()))
    judged_wup, judged_lch = scores(hierarchies, wup), scores(hierarchies, lch)
    shape = (len(ks), len(hierarchies))
    for algorithm, suppression in product(ALGORITHMS, SUPPRESSION):
        sse, loss, root = np.zeros(shape), np.zeros(shape), 0
        for j, hierarchy in enumerate(hierarchies):
            used = {column.name: hierarchy}
            by_wup, by_lch = Losses(counts, used, wup), Losses(counts, used, lch)
            tables = semantic_tables(used, {column.name: wup})
            for i, k in enumerate(ks):
                released = anonymized(algorithm, counts, used, k, tables, suppress=suppression != "none")
                sse[i, j] = by_wup(released)[0]
                loss[i, j] = by_lch(released)[1]
                root += released.levels == (hierarchy.height,)
        yield Runs(column, bed, algorithm, suppression, judged_wup, judged_lch, sse, loss, root / sse.size)


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
        share = min(1.0, k / counts.total) if suppress else 0.0
        return incognito(counts, hierarchies, k=k, metric=tables, suppression=share)


def _mean(values: Sequence[float]) -> float | None:
    return round(float(np.mean(values)), 4) if values else None


def _saved(best: NDArray[np.float64], worst: NDArray[np.float64]) -> float | None:
    """Share of the worst hierarchy's loss that the best one saves, on average over k."""
    lossy = worst > 1e-9
    return round(float(np.mean(1 - best[lossy] / worst[lossy])), 4) if lossy.any() else None
