"""Whether a model can tell released records from original ones: the propensity score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.metrics import SEED, metric
from keepsense.recoding import suppressed_tuples
from keepsense.utility.alignment import some_tuples
from keepsense.utility.designs import MOST_TERMS, Terms, products, recoded_terms, spread_hidden
from keepsense.utility.recoded import MOST_DISTANCES, Recoded

SCORED = 5_000
"""Most distinct combinations that scores of a report are worked out for."""
RECORDS_A_TERM = 10
"""Fewest records of either table for each term; with fewer a model learns records by heart (Peduzzi et al. 1996)."""
_ROUNDS = 60


@dataclass(frozen=True)
class Propensity:
    """How well released and original records are told apart: the mean squared error of propensity scores (pMSE).

    0 where no model can tell them apart, `worst` where it always can. `expected` and `deviation` are its mean and
    standard deviation for a table drawn at random, with replacement, from the original; `ratio` is how many times as
    large it is, `standardized` how many deviations above.

    >>> apart = Propensity(pmse=0.015625, parameters=2, before=40, after=40)
    >>> apart.expected, apart.ratio, apart.worst
    (0.0015625, 10.0, 0.25)
    """

    pmse: float
    parameters: int
    before: int
    after: int

    @property
    def _unit(self) -> float:
        share = self.after / (self.before + self.after)
        return (1 - share) ** 2 * share / (self.before + self.after)

    @property
    def expected(self) -> float:
        """(k - 1)(1 - c)²c / N for k parameters, N records and a share c of released ones (Snoke et al. 2018)."""
        return (self.parameters - 1) * self._unit

    @property
    def deviation(self) -> float:
        """√(2(k - 1)) (1 - c)²c / N."""
        return float((2 * (self.parameters - 1)) ** 0.5 * self._unit)

    @property
    def ratio(self) -> float:
        """How many times the expected error it is; 0 where no term tells anything."""
        return self.pmse / self.expected if self.expected else 0.0

    @property
    def standardized(self) -> float:
        """How many standard deviations it lies above the expected error."""
        return (self.pmse - self.expected) / self.deviation if self.deviation else 0.0

    @property
    def worst(self) -> float:
        """c(1 - c): every record is told apart."""
        return self.before * self.after / (self.before + self.after) ** 2


def propensity_score(before: Counts, after: Counts, terms: Mapping[str, Terms]) -> Propensity:
    """Mean squared error of propensity scores of the released among all records.

    Both tables are put together, and a logistic regression predicts for each record how likely it is a released one;
    pMSE is the mean of (score - share of released records)² (Woo, Reiter, Oganian and Karr 2009; Snoke, Raab, Nowok,
    Dibben and Slavkovic 2018, "General and specific utility measures for synthetic data"). Terms are those of
    `keepsense.utility.designs`; squares of numbers and products of two columns' terms are added while they are few
    beside the records, so that lost variance and columns that were swapped are seen. Cost grows with distinct tuples.

    >>> from keepsense.utility.designs import word_terms
    >>> old, new = Counts.of({"job": ["a"] * 10 + ["b"] * 30}), Counts.of({"job": ["a"] * 20 + ["b"] * 20})
    >>> scores = propensity_score(old, new, {"job": word_terms("job", ("a", "b"), np.array([10, 30]), ("a", "b"))})
    >>> round(scores.pmse, 6), round(scores.ratio, 3)  # (30 (2/3 - 1/2)² + 50 (2/5 - 1/2)²) / 80
    (0.016667, 10.667)
    """
    if not before.total or not after.total:
        raise BadInput("propensity scores compare two tables; one of them has no records")
    hidden = suppressed_tuples(after)
    parts = [
        np.concatenate([own.before[before.column(name)], spread_hidden(own.after[after.column(name)], hidden, own)])
        for name, own in terms.items()
    ]
    most = min(MOST_TERMS, min(before.total, after.total) // RECORDS_A_TERM)
    more = products(parts, [own.number for own in terms.values()], most)
    rows = np.concatenate([*parts, *([] if more is None else [more])], axis=1)
    released = np.concatenate([np.zeros(len(before)), np.ones(len(after))])
    weights = np.concatenate([before.weights, after.weights]).astype(np.float64)
    rows = _independent(rows, weights)
    share = after.total / (before.total + after.total)
    scores = logistic_scores(rows, released, weights)
    error = float(weights @ (scores - share) ** 2) / float(weights.sum())
    return Propensity(error, rows.shape[1], before.total, after.total)


def _independent(rows: Floats, weights: Floats) -> Floats:
    """The same space of terms, an intercept added, by as many directions as it has, all of them of one length."""
    whole = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
    scale = np.sqrt(np.maximum(weights @ whole**2 / weights.sum(), 1e-300))
    whole = whole / scale
    values, vectors = np.linalg.eigh((whole * weights[:, None]).T @ whole / weights.sum())
    used = values > 1e-9 * values.max(initial=0.0)
    return np.asarray(whole @ (vectors[:, used] / np.sqrt(values[used])), dtype=np.float64)


def logistic_scores(rows: Floats, label: Floats, weights: Floats) -> NDArray[np.float64]:
    """Fitted probabilities of a logistic regression by Newton's method, for independent columns without a penalty.

    Where labels can be told apart by the columns alone the scores go to 0 and 1, and the fit ends near there.

    >>> logistic_scores(np.ones((2, 1)), np.array([0.0, 1.0]), np.array([3.0, 1.0])).round(6).tolist()
    [0.25, 0.25]
    """
    beta = np.zeros(rows.shape[1])
    scores, loss = _scored(rows, beta, label, weights)
    for _ in range(_ROUNDS):
        slope = rows.T @ (weights * (label - scores))
        curve = (rows * (weights * scores * (1 - scores))[:, None]).T @ rows
        curve[np.diag_indices_from(curve)] += 1e-10 * max(1.0, float(weights.sum()))
        step, size = np.linalg.solve(curve, slope), 1.0
        trial, trial_loss = _scored(rows, beta + step, label, weights)
        while trial_loss > loss and size > 1e-4:
            size /= 2
            trial, trial_loss = _scored(rows, beta + size * step, label, weights)
        if trial_loss > loss - 1e-10 * float(weights.sum()):
            break
        beta, scores, loss = beta + size * step, trial, trial_loss
    return scores


def _scored(rows: Floats, beta: Floats, label: Floats, weights: Floats) -> tuple[Floats, float]:
    """Probabilities, and the negative log-likelihood of the labels."""
    odds = np.clip(rows @ beta, -30.0, 30.0)
    return 1 / (1 + np.exp(-odds)), float(weights @ (np.logaddexp(0.0, odds) - label * odds))


# ---- for reports -----------------------------------------------------------------------------------------------------


def _propensity(recoded: Recoded) -> Propensity | None:
    """Propensity scores of a release, by some combinations where there are many."""
    counts, cells = recoded.cells
    if any(len(values) * len(counts.values_of(name)) > MOST_DISTANCES for name, values in zip(
        cells.names, cells.values, strict=True
    )):  # fmt: skip
        recoded.note("utility", "Propensity scores were not measured: a column has very many released values.")
        return None
    if len(counts) > SCORED:
        text = f"Propensity scores are those of {SCORED:,} of {len(counts):,} combinations, drawn at random."
        recoded.note("utility", text)
        counts, cells = some_tuples(counts, cells, SCORED, np.random.default_rng(SEED))
    terms = recoded_terms(counts, cells, recoded.hierarchies, recoded.numbers)
    return propensity_score(counts, cells.apply(counts), terms)


@metric("propensity", "released records told from original ones", span=(0.0, 0.25), unit="squares", rank=33)
def _pmse(recoded: Recoded) -> float | None:
    """How well a model tells released records from original ones: not at all, or always.

    Computed: mean of (score - share of released records)², scores by logistic regression (pMSE, Woo et al. 2009).
    """
    scores = recoded.once(_propensity)
    return None if scores is None else scores.pmse


@metric("propensity, ratio", "told apart, beside a table drawn anew", span=(0.0, None), unit="times", rank=34)
def _pmse_ratio(recoded: Recoded) -> float | None:
    """How many times better records are told apart than those of a table drawn at random from the original.

    Computed: pMSE / its expected value (k - 1)(1 - c)²c / N for k parameters, N records, a share c released (Snoke et
    al. 2018).
    """
    scores = recoded.once(_propensity)
    return None if scores is None else scores.ratio
