"""Accuracy of classifiers with the original and with the released columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput, MissingExtra
from keepsense.metrics import SEED, Estimate, metric, sampled_share
from keepsense.utility.recoded_table import Generalized, Recoded, aligned, some_tuples

LEARNED = 4_000
"""Most distinct combinations that models learn from for a report."""
FOLDS = 3
"""Of cross-validation for reports."""
MOST_CLASSES = 50
"""Most classes of a target that reports try several models on."""

Seed = np.random.Generator | int | None


@dataclass(frozen=True)
class Accuracy:
    """Share of records classified rightly: before, after, and by always naming the commonest class.

    `kept` is how much of the gain over the commonest class survives: 1 all of it, 0 none. `records` is how many were
    classified, 0 where that is not known.

    >>> Accuracy(before=0.85, after=0.80, commonest=0.75).kept
    0.5
    >>> [round(end, 3) for end in Accuracy(0.85, 0.80, 0.75, records=400).estimates[1].interval]
    [0.758, 0.836]
    """

    before: float
    after: float
    commonest: float
    records: int = 0

    @property
    def kept(self) -> float:
        """Share of the gain over the commonest class that survives (1 where there was none to lose)."""
        gain = self.before - self.commonest
        return round((self.after - self.commonest) / gain, 12) if gain > 0 else 1.0

    @property
    def estimates(self) -> tuple[Estimate, Estimate]:
        """Accuracy before and after with 95% confidence, the records being a sample of all that may be classified."""
        return sampled_share(self.before, self.records), sampled_share(self.after, self.records)


def classification_accuracy(
    counts: Counts,
    recoding: Generalized,
    target: str,
    *,
    model: object = None,
    folds: int = 5,
    rng: Seed = None,
) -> Accuracy:
    """Cross-validated accuracy of predicting one column from the recoded ones, before and after.

    `target` names a histogram of the counts (the class of each record). `model` is any scikit-learn classifier that
    takes sample weights; logistic regression without one. Values enter as categories, one column each. Records are
    dealt to folds at random as numbers of equal records, so that rows are never spelled out. Where a tuple has several
    outputs its classes are shared among them in proportion. Both tables use the same folds.

    >>> from keepsense.recoding import Cut, Cuts
    >>> counts = Counts.of({"job": ["nurse"] * 30 + ["clerk"] * 10}, histograms={"ill": ["yes"] * 30 + ["no"] * 10})
    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("worker", "worker")),))
    >>> found = classification_accuracy(counts, rule, "ill", rng=1)
    >>> found.before, found.after
    (1.0, 0.75)
    """
    models = classifiers() if model is None else {"logistic regression": model}
    return compare_classifiers(
        counts, recoding, target, models={"it": models["logistic regression"]}, folds=folds, rng=rng
    )["it"]


def classifiers() -> dict[str, Any]:
    """The classifiers that reports compare, by name: logistic regression, a tree, a random forest, naive Bayes.

    >>> list(classifiers())
    ['logistic regression', 'decision tree', 'random forest', 'naive Bayes']
    """
    try:
        from sklearn.ensemble import RandomForestClassifier
        from sklearn.linear_model import LogisticRegression
        from sklearn.naive_bayes import BernoulliNB
        from sklearn.tree import DecisionTreeClassifier
    except ImportError:
        raise MissingExtra("classification accuracy needs scikit-learn; install keepsense[learn]") from None
    return {
        "logistic regression": LogisticRegression(max_iter=1000),
        "decision tree": DecisionTreeClassifier(random_state=0),
        "random forest": RandomForestClassifier(n_estimators=30, random_state=0, n_jobs=1),
        "naive Bayes": BernoulliNB(),
    }


def compare_classifiers(
    counts: Counts,
    recoding: Generalized,
    target: str,
    *,
    models: Mapping[str, object] | None = None,
    folds: int = 5,
    rng: Seed = None,
) -> dict[str, Accuracy]:
    """Cross-validated accuracy by several classifiers, before and after, all with the same folds.

    `models` are scikit-learn classifiers by name that take sample weights; those of `classifiers` unless given. What
    one model cannot use any more another may still learn from, so a release is not worth less than the best says. All
    else is as in `classification_accuracy`.

    >>> from keepsense.recoding import Cut, Cuts
    >>> counts = Counts.of({"job": ["nurse"] * 30 + ["clerk"] * 10}, histograms={"ill": ["yes"] * 30 + ["no"] * 10})
    >>> rule = Cuts((Cut("job", ("nurse", "clerk"), ("worker", "worker")),))
    >>> both = compare_classifiers(counts, rule, "ill", rng=1)
    >>> {name: (accuracy.before, accuracy.after) for name, accuracy in both.items()}["naive Bayes"]
    (1.0, 0.75)
    """
    chosen = classifiers() if models is None else models
    cases = learned_cases(counts, recoding, target, folds, rng)
    records = cases.records
    total = int(records.sum())
    commonest = float(np.bincount(cases.label, records).max()) / total
    results = {}
    for name, model in chosen.items():
        before, after = (_right(model, features, cases) / total for features in (cases.before, cases.after))
        results[name] = Accuracy(before, after, commonest, total)
    return results


@dataclass(frozen=True, eq=False)
class Cases:
    """What models learn from: equal records with one class, by their label, features and records in each fold.

    >>> Cases(np.zeros(1, int), np.array([[2, 1]]), None, None, np.zeros(1, int), np.zeros(1, int)).records.tolist()
    [3]
    """

    label: NDArray[np.int64]
    dealt: NDArray[np.int64]
    before: Any
    after: Any
    source: NDArray[np.int64]
    row: NDArray[np.int64]

    @property
    def records(self) -> NDArray[np.int64]:
        """Records of each case."""
        return np.asarray(self.dealt.sum(axis=1), dtype=np.int64)

    def folds(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """For each fold the cases that are learned and predicted, each with its records."""
        parts = []
        for fold in range(self.dealt.shape[1]):
            test = self.dealt[:, fold]
            train = self.records - test
            learned, predicted = np.flatnonzero(train), np.flatnonzero(test)
            if len(predicted):
                parts.append((learned, train[learned], predicted, test[predicted]))
        return parts


def learned_cases(counts: Counts, recoding: Generalized, target: str, folds: int, rng: Seed) -> Cases:
    """Cases of a table and its recoding, dealt to folds at random as numbers of equal records.

    `source` is the tuple, `row` the row of the recoding's cells of each case.

    >>> from keepsense.recoding import Cut, Cuts
    >>> counts = Counts.of({"job": ["nurse", "clerk"]}, histograms={"ill": ["yes", "no"]})
    >>> learned_cases(counts, Cuts((Cut("job", ("nurse", "clerk"), ("*", "*")),)), "ill", 2, 1).records.tolist()
    [1, 1]
    """
    if target not in counts.histograms:
        raise BadInput(f"the counts hold no histogram of the target column {target!r}; count it along")
    if folds < 2:
        raise BadInput(f"cross-validation needs at least 2 folds, not {folds}")
    classes = counts.histograms[target]
    cells = recoding.cells(counts)
    old_columns = [counts.index(name) for name in cells.names]
    # One case for each output row and class; its records are the class's share of the tuple that takes this output.
    entry = classes.rows.row_of()
    by_tuple = np.argsort(cells.source, kind="stable")
    start = np.searchsorted(cells.source[by_tuple], np.arange(len(counts) + 1))
    outputs = np.diff(start)[entry]
    case = np.repeat(np.arange(len(entry)), outputs)
    offset = np.arange(len(case)) - np.repeat(np.cumsum(outputs) - outputs, outputs)
    row = by_tuple[start[entry[case]] + offset]
    label = classes.rows.indices[case].astype(np.int64)
    expected = classes.counts[case] * cells.multiplicity[row] / counts.weights[entry[case]]
    draw = np.random.default_rng(rng)
    records = np.floor(expected + draw.random(len(expected))).astype(np.int64)
    if len(np.unique(label[records > 0])) < 2 or int(records.sum()) < folds:
        raise BadInput(f"the target column {target!r} needs at least two classes and {folds} records")
    dealt = draw.multinomial(records, np.full(folds, 1 / folds))
    source = cells.source[row]
    before = _features(counts.codes[source][:, old_columns])
    return Cases(label, dealt, before, _features(cells.codes[row]), source, row)


def _features(codes: NDArray[np.int32]) -> Any:
    """One column for each value of each column, sparse."""
    from scipy.sparse import coo_array

    n, width = codes.shape
    spans = codes.max(axis=0, initial=0).astype(np.int64) + 1
    first = np.concatenate(([0], np.cumsum(spans)[:-1]))
    columns = (codes + first).ravel().astype(np.int32)  # scikit-learn's trees take 32-bit indices only
    rows = np.repeat(np.arange(n, dtype=np.int32), width)
    return coo_array((np.ones(n * width), (rows, columns)), shape=(n, int(spans.sum()))).tocsr()


def _right(model: Any, features: Any, cases: Cases) -> float:
    """Records classified rightly when each fold is predicted from the others."""
    from sklearn.base import clone

    right = 0.0
    for learned, weights, predicted, records in cases.folds():
        labels = cases.label[learned]
        if len(np.unique(labels)) < 2:
            guess = np.full(len(predicted), labels[0] if len(labels) else -1)
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of many classes, or that a fit could go on: the figure tells
                fitted = clone(model).fit(features[learned], labels, sample_weight=weights)
            guess = fitted.predict(features[predicted])
        right += float(records @ (guess == cases.label[predicted]))
    return right


# ---- for reports -----------------------------------------------------------------------------------------------------


def learned_from(recoded: Recoded) -> tuple[Counts, Generalized] | None:
    """The table that models of a report learn from: some of its combinations where there are many.

    Nothing where no target is counted, or where scikit-learn is missing, which is told.

    >>> learned_from(Recoded(Counts.of({"job": ["nurse"]}), [])) is None
    True
    """
    if recoded.target not in recoded.counts.histograms:
        return None
    counts, cells = recoded.cells
    if recoded.target not in counts.histograms:  # counts of the recoding's own, without what goes along
        counts, cells = recoded.counts, aligned(recoded.counts, cells)
    if find_spec("sklearn") is None:
        recoded.note("utility", "How well the target can be predicted was not measured: scikit-learn is not installed.")
        return None
    if len(counts) > LEARNED:
        text = f"Models learned from {LEARNED:,} of {len(counts):,} combinations, drawn at random."
        recoded.note("utility", text)
        return some_tuples(counts, cells, LEARNED, np.random.default_rng(SEED))
    return counts, cells


def _accuracies(recoded: Recoded) -> dict[str, Accuracy]:
    """Accuracy of predicting the target by each model, where there is one and scikit-learn is installed."""
    table = recoded.once(learned_from)
    if table is None:
        return {}
    models = classifiers()
    # many classes take long to learn, and several models tell little about them
    if len(table[0].histograms[str(recoded.target)].values) > MOST_CLASSES:
        models = {name: model for name, model in models.items() if name == "logistic regression"}
    return compare_classifiers(*table, str(recoded.target), models=models, folds=FOLDS, rng=SEED)


@metric("accuracy, before", "accuracy for {}, before", span=(1.0, 0.0), rank=50)
def _accuracy_before(recoded: Recoded) -> dict[str, float]:
    """Share of records whose target a classifier predicts rightly from the original.

    Computed: records classified rightly / records, cross-validated with logistic regression.
    """
    results = recoded.once(_accuracies)
    return {str(recoded.target): results["logistic regression"].estimates[0]} if results else {}


@metric("accuracy, after", "accuracy for {}, after", span=(1.0, 0.0), rank=51)
def _accuracy_after(recoded: Recoded) -> dict[str, float]:
    """Share of records whose target a classifier predicts rightly from the release.

    Computed: records classified rightly / records, cross-validated with logistic regression.
    """
    results = recoded.once(_accuracies)
    return {str(recoded.target): results["logistic regression"].estimates[1]} if results else {}


@metric("accuracy, always the commonest", "accuracy for {}, always the commonest", span=(1.0, 0.0), rank=52)
def _commonest(recoded: Recoded) -> dict[str, float]:
    """Share of records that are right by naming the commonest target.

    Computed: records of the commonest target / records.
    """
    results = recoded.once(_accuracies)
    return {str(recoded.target): results["logistic regression"].commonest} if results else {}


@metric("accuracy by model, before", "accuracy by {}, before", span=(1.0, 0.0), rank=53)
def _accuracy_by_model_before(recoded: Recoded) -> dict[str, float]:
    """Share of records whose target each of several other models predicts rightly from the original.

    Computed: records classified rightly / records, cross-validated with a decision tree, a random forest and naive
    Bayes.
    """
    return {name: each.estimates[0] for name, each in _others(recoded).items()}


@metric("accuracy by model, after", "accuracy by {}, after", span=(1.0, 0.0), rank=54)
def _accuracy_by_model_after(recoded: Recoded) -> dict[str, float]:
    """Share of records whose target each of several other models predicts rightly from the release.

    Computed: records classified rightly / records, cross-validated with a decision tree, a random forest and naive
    Bayes.
    """
    return {name: each.estimates[1] for name, each in _others(recoded).items()}


def _others(recoded: Recoded) -> dict[str, Accuracy]:
    return {name: each for name, each in recoded.once(_accuracies).items() if name != "logistic regression"}
