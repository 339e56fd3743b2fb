"""Whether a classifier still learns: accuracy with the original and with the released columns."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput, MissingExtra
from keepsense.metrics import SEED, metric
from keepsense.utility.alignment import some_tuples
from keepsense.utility.pairs import Generalized
from keepsense.utility.recoded import Recoded

LEARNED = 4_000
"""Most distinct combinations a classifier learns from for a report."""


@dataclass(frozen=True)
class Accuracy:
    """Share of records classified rightly: before, after, and by always naming the commonest class.

    `kept` is how much of the gain over the commonest class survives: 1 all of it, 0 none.

    >>> Accuracy(before=0.85, after=0.80, commonest=0.75).kept
    0.5
    """

    before: float
    after: float
    commonest: float

    @property
    def kept(self) -> float:
        """Share of the gain over the commonest class that survives (1 where there was none to lose)."""
        gain = self.before - self.commonest
        return round((self.after - self.commonest) / gain, 12) if gain > 0 else 1.0


def classification_accuracy(
    counts: Counts,
    recoding: Generalized,
    target: str,
    *,
    model: object = None,
    folds: int = 5,
    rng: np.random.Generator | int | None = None,
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
    try:
        from sklearn.base import clone
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtra("classification accuracy needs scikit-learn; install keepsense[learn]") from None
    if target not in counts.histograms:
        raise BadInput(f"the counts hold no histogram of the target column {target!r}; count it along")
    if folds < 2:
        raise BadInput(f"cross-validation needs at least 2 folds, not {folds}")
    classes = counts.histograms[target]
    cells = recoding.cells(counts)
    old_columns = [counts.index(name) for name in cells.names]
    # One item for each output row and class; its records are the class's share of the tuple that takes this output.
    entry = classes.rows.row_of()
    by_tuple = np.argsort(cells.source, kind="stable")
    start = np.searchsorted(cells.source[by_tuple], np.arange(len(counts) + 1))
    outputs = np.diff(start)[entry]
    item = np.repeat(np.arange(len(entry)), outputs)
    offset = np.arange(len(item)) - np.repeat(np.cumsum(outputs) - outputs, outputs)
    row = by_tuple[start[entry[item]] + offset]
    label = classes.rows.indices[item]
    expected = classes.counts[item] * cells.multiplicity[row] / counts.weights[entry[item]]
    draw = np.random.default_rng(rng)
    records = np.floor(expected + draw.random(len(expected))).astype(np.int64)
    total = int(records.sum())
    if len(np.unique(label[records > 0])) < 2 or total < folds:
        raise BadInput(f"the target column {target!r} needs at least two classes and {folds} records")
    dealt = draw.multinomial(records, np.full(folds, 1 / folds))
    fresh = model if model is not None else LogisticRegression(max_iter=1000)
    before = _features(counts.codes[cells.source[row]][:, old_columns])
    after = _features(cells.codes[row])
    right = [_right(clone, fresh, features, label, dealt) for features in (before, after)]
    commonest = float(np.bincount(label, records).max()) / total
    return Accuracy(right[0] / total, right[1] / total, commonest)


def _features(codes: NDArray[np.int32]) -> Any:
    """One column for each value of each column, sparse."""
    from scipy.sparse import coo_array

    n, width = codes.shape
    spans = codes.max(axis=0, initial=0).astype(np.int64) + 1
    first = np.concatenate(([0], np.cumsum(spans)[:-1]))
    columns = (codes + first).ravel().astype(np.int32)  # scikit-learn's trees take 32-bit indices only
    rows = np.repeat(np.arange(n, dtype=np.int32), width)
    return coo_array((np.ones(n * width), (rows, columns)), shape=(n, int(spans.sum()))).tocsr()


def _right(clone: Any, model: Any, features: Any, label: NDArray[Any], dealt: NDArray[np.int64]) -> float:
    """Records classified rightly when each fold is predicted from the others."""
    right = 0.0
    for fold in range(dealt.shape[1]):
        test = dealt[:, fold]
        train = dealt.sum(axis=1) - test
        learned, predicted = np.flatnonzero(train), np.flatnonzero(test)
        if not len(predicted):
            continue
        if len(np.unique(label[learned])) < 2:
            guess = np.full(len(predicted), label[learned][0] if len(learned) else -1)
        else:
            fitted = clone(model).fit(features[learned], label[learned], sample_weight=train[learned])
            guess = fitted.predict(features[predicted])
        right += float(test[predicted] @ (guess == label[predicted]))
    return right


# ---- for reports -----------------------------------------------------------------------------------------------------


def _accuracy(recoded: Recoded) -> Accuracy | None:
    """Accuracy of predicting the target, where there is one and scikit-learn is installed."""
    counts, cells = recoded.cells
    if recoded.target not in counts.histograms:
        return None
    if find_spec("sklearn") is None:
        recoded.note("utility", "How well the target can be predicted was not measured: scikit-learn is not installed.")
        return None
    if len(counts) > LEARNED:
        text = f"The classifier learned from {LEARNED:,} of {len(counts):,} combinations, drawn at random."
        recoded.note("utility", text)
        counts, cells = some_tuples(counts, cells, LEARNED, np.random.default_rng(SEED))
    return classification_accuracy(counts, cells, str(recoded.target), folds=3, rng=SEED)


@metric("accuracy, before", "accuracy for {}, before", span=(1.0, 0.0), rank=50)
def _accuracy_before(recoded: Recoded) -> dict[str, float]:
    """Share of records whose target a classifier predicts rightly from the original.

    Computed: records classified rightly / records, cross-validated with logistic regression.
    """
    accuracy = recoded.once(_accuracy)
    return {} if accuracy is None else {str(recoded.target): accuracy.before}


@metric("accuracy, after", "accuracy for {}, after", span=(1.0, 0.0), rank=51)
def _accuracy_after(recoded: Recoded) -> dict[str, float]:
    """Share of records whose target a classifier predicts rightly from the release.

    Computed: records classified rightly / records, cross-validated with logistic regression.
    """
    accuracy = recoded.once(_accuracy)
    return {} if accuracy is None else {str(recoded.target): accuracy.after}


@metric("accuracy, always the commonest", "accuracy for {}, always the commonest", span=(1.0, 0.0), rank=52)
def _commonest(recoded: Recoded) -> dict[str, float]:
    """Share of records that are right by naming the commonest target.

    Computed: records of the commonest target / records.
    """
    accuracy = recoded.once(_accuracy)
    return {} if accuracy is None else {str(recoded.target): accuracy.commonest}
