"""Regressions before and after: coefficients, explained variance, and the propensity score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, MissingExtra
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import SEED, metric
from keepsense.recoding import SUPPRESSED, Cells, suppressed_tuples
from keepsense.utility.classifiers import FOLDS, Cases, Seed, learned_cases, learned_from
from keepsense.utility.recoded_table import (
    MOST_DISTANCES,
    Generalized,
    Hierarchies,
    Recoded,
    column_pairs,
    leaf_sets,
    some_tuples,
)

# Columns as terms of a model, the same for the original and for the release
#
# A number is one term; a range counts as its middle, a suppressed value as the mean. Each of the most frequent values
# of other columns is a term, with the share of the values that the released label covers.

MOST_VALUES = 12
"""Most values of a column that are terms of their own; the others are told apart from them only."""
MOST_TERMS = 150
"""Most terms of a model, products of two included."""


@dataclass(frozen=True, eq=False)
class Terms:
    """What each value of a column before, and each value after, adds to the terms of the column.

    >>> jobs = word_terms("job", ("clerk", "nurse"), np.array([3, 1]), ("nurse", "*"))
    >>> jobs.names, jobs.before.tolist(), jobs.after.tolist()
    (('job = nurse',), [[0.0], [1.0]], [[1.0], [0.5]])
    """

    names: tuple[str, ...]
    before: Floats
    after: Floats
    number: bool = False


def number_terms(name: str, before: Sequence[Value], weights: NDArray[np.int64], after: Sequence[Value]) -> Terms:
    """A column of numbers, in standard deviations from its mean.

    >>> number_terms("age", (20, 40), np.array([1, 1]), ("20 to 40", 40, "*")).after.ravel().tolist()
    [0.0, 1.0, 0.0]
    """
    places = np.array([_middle(value, -np.inf, np.inf) for value in before])
    known = np.isfinite(places)
    if not known.any():
        return Terms((name,), np.zeros((len(before), 1)), np.zeros((len(after), 1)), number=True)
    low, high = float(places[known].min()), float(places[known].max())
    mean = float(np.average(places[known], weights=weights[known]))
    spread = float(np.average((places[known] - mean) ** 2, weights=weights[known])) ** 0.5 or 1.0
    columns = (places, np.array([_middle(value, low, high) for value in after]))
    first, second = ((np.where(np.isfinite(column), column, mean) - mean)[:, None] / spread for column in columns)
    return Terms((name,), first, second, number=True)


def _middle(value: Value, low: float, high: float) -> float:
    ends = None if value == SUPPRESSED else parse_interval(value)
    if ends is None:
        return np.nan
    return (ends[0] if np.isfinite(ends[0]) else min(low, ends[1])) / 2 + (
        ends[1] if np.isfinite(ends[1]) else max(high, ends[0])
    ) / 2


def word_terms(
    name: str,
    before: Sequence[Value],
    weights: NDArray[np.int64],
    after: Sequence[Value],
    shares: Floats | None = None,
) -> Terms:
    """The commonest values of a column but the first; `shares` says what each value after (a row) may be of before.

    Without shares a value after stands for the same one before, a suppressed one for all of them alike, and a label
    that was not there before for itself.

    >>> halves = np.array([[0.5, 0.5]])
    >>> word_terms("job", ("clerk", "nurse"), np.array([3, 1]), ("worker",), halves).after.tolist()
    [[0.5]]
    """
    values = [*before]
    if shares is None:
        texts = [_text(value) for value in values]
        new = [value for value in after if value != SUPPRESSED and _text(value) not in texts]
        values += new
        place = {_text(value): at for at, value in enumerate(values)}
        shares = np.zeros((len(after), len(values)))
        for at, value in enumerate(after):
            if value == SUPPRESSED and SUPPRESSED not in before:
                shares[at, : len(before)] = 1 / max(1, len(before))
            else:
                shares[at, place[_text(value)]] = 1.0
    common = np.argsort(-np.concatenate([weights, np.zeros(len(values) - len(before))]), kind="stable")
    chosen = common[1:MOST_VALUES]
    own = np.eye(len(values))[: len(before), chosen]
    return Terms(tuple(f"{name} = {values[at]}" for at in chosen.tolist()), own, shares[:, chosen])


def _text(value: Value) -> str | None:
    return None if value is None else str(value)


def recoded_terms(counts: Counts, cells: Cells, hierarchies: Hierarchies, numbers: frozenset[str]) -> dict[str, Terms]:
    """Terms of every column of a recoding: numbers by their middles, other values by what they may stand for.

    >>> ages = Counts.of({"age": [20, 40]})
    >>> same = Cells(("age",), ages.values, np.arange(2), ages.codes, ages.weights)
    >>> recoded_terms(ages, same, {}, frozenset({"age"}))["age"].before.ravel().tolist()
    [-1.0, 1.0]
    """
    terms = {}
    pairs = column_pairs(counts, cells)
    for name, after in zip(cells.names, cells.values, strict=True):
        before, weights = counts.values_of(name), counts.marginal(name)
        if name in numbers:
            terms[name] = number_terms(name, before, weights, after)
            continue
        shares = None
        if name in hierarchies:
            tree = hierarchies[name]
            sets = leaf_sets(pairs[name], tree)
            shares = (sets / np.maximum(1, sets.sum(axis=1))[:, None])[:, tree.lookup(before)]
        terms[name] = word_terms(name, before, weights, after, shares)
    return terms


def spread_hidden(rows: Floats, hidden: NDArray[np.bool_] | None, terms: Terms) -> Floats:
    """Terms of released rows where those that are suppressed as a whole stand for the mean of all values.

    >>> jobs = Terms(("job = nurse",), np.array([[0.0], [1.0]]), np.array([[1.0]]))
    >>> spread_hidden(np.array([[1.0], [1.0]]), np.array([False, True]), jobs).ravel().tolist()
    [1.0, 0.5]
    """
    if hidden is None or not hidden.any():
        return rows
    return np.where(hidden[:, None], 0.0 if terms.number else terms.before.mean(axis=0), rows)


def products(parts: Sequence[Floats], numbers: Sequence[bool], most: int = MOST_TERMS) -> Floats | None:
    """Squares of numbers and products of the terms of any two columns; None where there are more than so many terms.

    >>> products([np.array([[2.0]]), np.array([[3.0, 4.0]])], [True, False]).tolist()
    [[4.0, 6.0, 8.0]]
    """
    widths = [part.shape[1] for part in parts]
    pairs = list(combinations(range(len(parts)), 2))
    if sum(widths) + sum(numbers) + sum(widths[i] * widths[j] for i, j in pairs) > most:
        return None
    squares = [part**2 for part, number in zip(parts, numbers, strict=True) if number]
    rows = len(parts[0])
    crossed = [(parts[i][:, :, None] * parts[j][:, None, :]).reshape(rows, -1) for i, j in pairs]
    return np.concatenate([*squares, *crossed, np.zeros((rows, 0))], axis=1)


# Coefficients and explained variance


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

    `target` names a histogram of the counts whose values are numbers. Terms are those of
    `keepsense.utility.regressions`:
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


# The propensity score: whether a model can separate released records from original ones

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
    `keepsense.utility.regressions`; squares of numbers and products of two columns' terms are added while they are few
    beside the records, so that lost variance and columns that were swapped are seen. Cost grows with distinct tuples.

    >>> from keepsense.utility.regressions import word_terms
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
