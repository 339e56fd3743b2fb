"""Whether regressions say the same: coefficients before and after, and how much of a number's variance is explained."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput, MissingExtra
from keepsense.hierarchies.kinds import KINDS
from keepsense.hierarchies.ranges.intervals import parse_interval
from keepsense.metrics import SEED, metric
from keepsense.utility.designs import Terms, recoded_terms, spread_hidden
from keepsense.utility.learning import FOLDS, Cases, Seed, learned_cases, learned_from
from keepsense.utility.pairs import Generalized
from keepsense.utility.recoded import Recoded


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a linear regression, before and after, each with its confidence interval.

    `after` and its interval are None where the release cannot tell the coefficient from others.

    >>> Coefficient("age", 1.0, (0.0, 2.0), 2.0, (1.0, 3.0)).overlap
    0.5
    """

    term: str
    before: float
    before_interval: tuple[float, float]
    after: float | None
    after_interval: tuple[float, float] | None

    @property
    def overlap(self) -> float:
        """Mean share of both intervals that is common to them, 1 where they are the same (Karr et al. 2006)."""
        if self.after_interval is None:
            return 0.0
        (low, high), (start, end) = self.before_interval, self.after_interval
        common = min(high, end) - max(low, start)
        if common < 0:
            return 0.0
        shares = [common / width if width else 1.0 for width in (high - low, end - start)]
        return sum(shares) / 2


def compare_coefficients(
    counts: Counts, recoding: Generalized, target: str, terms: Mapping[str, Terms], *, confidence: float = 0.95
) -> tuple[Coefficient, ...]:
    """Linear regression of a number on the recoded columns, from the original and from the release.

    `target` names a histogram of the counts whose values are numbers. Terms are those of `keepsense.utility.designs`:
    numbers by standard deviations, words by their commonest values, what is generalized by what it may stand for. The
    overlap of confidence intervals is that of Karr, Kohnen, Oganian, Reiter and Sanil (2006), "A framework for
    evaluating the utility of data altered to protect confidentiality". The intercept is left out.

    >>> from keepsense.recoding import Cut, Cuts
    >>> ages = Counts.of({"age": [20, 30, 40, 50]}, histograms={"pay": [1, 2, 4, 5]})
    >>> rule = Cuts((Cut("age", (20, 30, 40, 50), ("20 to 30", "20 to 30", "40 to 50", "40 to 50")),))
    >>> terms = recoded_terms(ages, rule.cells(ages), {}, frozenset({"age"}))
    >>> age = compare_coefficients(ages, rule, "pay", terms)[0]
    >>> round(age.before, 4), round(age.after, 4), round(age.overlap, 2)
    (1.5652, 1.6771, 0.7)
    """
    cases = learned_cases(counts, recoding, target, 2, SEED)
    numbers = _numbers(counts, target)[cases.label]
    cells = recoding.cells(counts)
    rows = []
    for name, own in terms.items():
        old = own.before[counts.column(name)[cases.source]]
        new = own.after[cells.codes[cases.row, cells.names.index(name)]]
        hidden = None if cells.suppressed is None else cells.suppressed[cases.row]
        rows.append((old, spread_hidden(new, hidden, own)))
    names = [name for own in terms.values() for name in own.names]
    before, after = (
        _fitted(np.concatenate([pair[when] for pair in rows], axis=1), numbers, cases.records, confidence)
        for when in (0, 1)
    )
    return tuple(
        Coefficient(name, was[0], was[1], now and now[0], now and now[1])
        for name, was, now in zip(names, before, after, strict=True)
        if was is not None
    )


def _fitted(
    rows: Floats, numbers: Floats, records: NDArray[np.int64], confidence: float
) -> list[tuple[float, tuple[float, float]] | None]:
    """Each term's coefficient and interval by least squares; None where the other terms tell the same."""
    from scipy.special import stdtrit

    whole = np.concatenate([np.ones((len(rows), 1)), rows], axis=1)
    squares = (whole * records[:, None]).T @ whole
    inverse = np.linalg.pinv(squares, rcond=1e-10, hermitian=True)
    beta = inverse @ (whole.T @ (records * numbers))
    projection = inverse @ squares
    alone = np.abs(projection - np.eye(len(squares))).max(axis=1) < 1e-6
    freedom = int(records.sum()) - round(float(np.trace(projection)))
    if freedom < 1:
        raise BadInput("a regression needs more records than it has terms")
    left = max(0.0, float(records @ (numbers - whole @ beta) ** 2)) / freedom
    around = float(stdtrit(freedom, 0.5 + confidence / 2)) * np.sqrt(np.maximum(0.0, left * np.diag(inverse)))
    return [
        (float(at), (float(at - reach), float(at + reach))) if known else None
        for at, reach, known in zip(beta[1:], around[1:], alone[1:], strict=True)
    ]


def _numbers(counts: Counts, target: str) -> Floats:
    """The values of a target as numbers."""
    spans = [parse_interval(value) for value in counts.histograms[target].values]
    if any(span is None or span[0] != span[1] for span in spans):
        raise BadInput(f"the target column {target!r} holds values that are no numbers; compare classifiers")
    return np.array([span[0] for span in spans if span is not None])


@dataclass(frozen=True)
class Explained:
    """Share of a number's variance that a regression explains (R²), from the original and from the release.

    Below 0 a model predicts worse than the mean does.

    >>> Explained(before=0.8, after=0.6).after
    0.6
    """

    before: float
    after: float


def regressors() -> dict[str, Any]:
    """The regressions that reports compare, by name: ridge regression, a decision tree, a random forest.

    >>> list(regressors())
    ['ridge regression', 'decision tree', 'random forest']
    """
    try:
        from sklearn.ensemble import RandomForestRegressor
        from sklearn.linear_model import Ridge
        from sklearn.tree import DecisionTreeRegressor
    except ImportError:
        raise MissingExtra("regressions of several models need scikit-learn; install keepsense[learn]") from None
    return {
        "ridge regression": Ridge(),
        "decision tree": DecisionTreeRegressor(random_state=0),
        "random forest": RandomForestRegressor(n_estimators=30, random_state=0, n_jobs=1),
    }


def compare_regressions(
    counts: Counts,
    recoding: Generalized,
    target: str,
    *,
    models: Mapping[str, object] | None = None,
    folds: int = 5,
    rng: Seed = None,
) -> dict[str, Explained]:
    """Cross-validated R² of predicting a number from the recoded columns by several regressions, before and after.

    `target` names a histogram of the counts whose values are numbers. `models` are scikit-learn regressors by name that
    take sample weights; those of `regressors` unless given. R² is 1 - squared error of the predictions / squared error
    of the mean, every record being predicted from the folds it is not in, which are the same for both tables.

    >>> from keepsense.recoding import Cut, Cuts
    >>> counts = Counts.of({"job": ["nurse"] * 30 + ["clerk"] * 30}, histograms={"pay": [10] * 30 + [20] * 30})
    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("worker", "worker")),))
    >>> explained = compare_regressions(counts, rule, "pay", rng=1)["decision tree"]
    >>> explained.before, explained.after < 0.01
    (1.0, True)
    """
    chosen = regressors() if models is None else models
    cases = learned_cases(counts, recoding, target, folds, rng)
    numbers, records = _numbers(counts, target)[cases.label], cases.records
    around = float(records @ (numbers - np.average(numbers, weights=records)) ** 2)
    results = {}
    for name, model in chosen.items():
        before, after = (1 - _squares(model, each, numbers, cases) / around for each in (cases.before, cases.after))
        results[name] = Explained(before, after)
    return results


def _squares(model: Any, features: Any, numbers: Floats, cases: Cases) -> float:
    """Squared error when each fold is predicted from the others."""
    from sklearn.base import clone

    wrong = 0.0
    for learned, weights, predicted, records in cases.folds():
        if not len(learned):
            raise BadInput("cross-validation needs records in more than one fold")
        fitted = clone(model).fit(features[learned], numbers[learned], sample_weight=weights)
        wrong += float(records @ (fitted.predict(features[predicted]) - numbers[predicted]) ** 2)
    return wrong


# ---- for reports -----------------------------------------------------------------------------------------------------


def _of_numbers(recoded: Recoded) -> bool:
    return recoded.target is not None and KINDS[recoded.scale_of(recoded.target).kind].numbers


def _explained(recoded: Recoded) -> dict[str, Explained]:
    """R² by each model, where the target is a number and scikit-learn is installed."""
    table = recoded.once(learned_from) if _of_numbers(recoded) else None
    return {} if table is None else compare_regressions(*table, str(recoded.target), folds=FOLDS, rng=SEED)


@metric("explained variance, before", "variance explained by {}, before", span=(1.0, 0.0), rank=55)
def _explained_before(recoded: Recoded) -> dict[str, float]:
    """Share of the target's variance that each of several regressions explains from the original.

    Computed: 1 - squared error / that of the mean, at least 0, cross-validated with ridge regression, a decision tree
    and a random forest.
    """
    return {name: max(0.0, each.before) for name, each in recoded.once(_explained).items()}


@metric("explained variance, after", "variance explained by {}, after", span=(1.0, 0.0), rank=56)
def _explained_after(recoded: Recoded) -> dict[str, float]:
    """Share of the target's variance that each of several regressions explains from the release.

    Computed: 1 - squared error / that of the mean, at least 0, cross-validated with ridge regression, a decision tree
    and a random forest.
    """
    return {name: max(0.0, each.after) for name, each in recoded.once(_explained).items()}


@metric("regression overlap", "confidence intervals in common, regression of {}", span=(1.0, 0.0), rank=57)
def _overlap(recoded: Recoded) -> dict[str, float]:
    """How much of the confidence intervals of a regression's coefficients is common to original and release.

    Computed: mean over coefficients of the mean share of both 95% intervals that they have in common, least squares
    (Karr et al. 2006).
    """
    if not _of_numbers(recoded) or recoded.target not in recoded.counts.histograms:
        return {}
    counts, cells = recoded.cells
    terms = recoded_terms(counts, cells, recoded.hierarchies, recoded.numbers)
    compared = compare_coefficients(counts, cells, str(recoded.target), terms)
    return {str(recoded.target): float(np.mean([each.overlap for each in compared]))} if compared else {}
