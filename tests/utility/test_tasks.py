"""Tasks done with the released table: counting queries and classification."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from keepsense.counts import Counts
from keepsense.errors import BadInput, MissingExtra
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.utility.classifiers import Accuracy, classification_accuracy
from keepsense.utility.query_error import Query, query_error, random_queries

JOBS = Hierarchy.of_rows(
    [("nurse", "medic", "*"), ("clerk", "office", "*"), ("surgeon", "medic", "*"), ("judge", "office", "*")], name="job"
)
AGES = Hierarchy.of_rows([(9, "low", "*"), (70, "high", "*"), (10, "low", "*")], name="age", kind="numeric")
BOTH = {"job": JOBS, "age": AGES}
rows = st.lists(st.tuples(st.sampled_from(JOBS.leaves), st.sampled_from(AGES.leaves)), min_size=1, max_size=20)


@given(rows, st.integers(0, 2), st.integers(0, 2), st.booleans(), st.integers(0, 1000))
@settings(max_examples=40, deadline=None)
def test_query_answers_record_by_record(data, job, age, hide, seed):
    counts = Counts.of({"job": [r[0] for r in data], "age": [r[1] for r in data]})
    suppress = frozenset({(JOBS.labels[job][0], AGES.labels[age][0])}) if hide else frozenset()
    rule = Cuts((JOBS.cut(job), AGES.cut(age)), suppress)
    queries = random_queries(BOTH, number=4, columns=2, selectivity=0.3, rng=seed)
    found = query_error(counts, rule, BOTH, queries, sanity=0.01)

    def share(hierarchy, value, level, wanted, gone):
        column = hierarchy.codes[:, level]
        mine = [
            leaf
            for leaf, code in zip(hierarchy.leaves, column, strict=True)
            if gone or code == column[hierarchy.leaves.index(value)]
        ]
        return sum(leaf in wanted for leaf in mine) / len(mine)

    for query, error in zip(queries, found.errors, strict=True):
        true = sum(r[0] in query.conditions["job"] and r[1] in query.conditions["age"] for r in data)
        answer = 0.0
        for r in data:
            out = (
                JOBS.labels[job][JOBS.codes[JOBS.leaves.index(r[0]), job]],
                AGES.labels[age][AGES.codes[AGES.leaves.index(r[1]), age]],
            )
            gone = out in suppress
            answer += share(JOBS, r[0], job, query.conditions["job"], gone) * share(
                AGES, r[1], age, query.conditions["age"], gone
            )
        assert error == pytest.approx(abs(answer - true) / max(true, 0.01 * len(data)), abs=1e-9)
    assert found.mean == pytest.approx(np.mean(found.errors))
    assert found.median == pytest.approx(np.median(found.errors))


def test_ranges_keep_neighbours_together():
    for query in random_queries(BOTH, number=30, columns=1, selectivity=0.5, rng=4):
        for name, values in query.conditions.items():
            if name == "age":
                assert values in ({9, 10}, {10, 70})
            else:
                assert values in ({"nurse", "surgeon"}, {"surgeon", "clerk"}, {"clerk", "judge"})


def test_an_unchanged_table_answers_exactly():
    counts = Counts.of({"job": ["nurse", "clerk", "judge"], "age": [9, 70, 70]})
    rule = Cuts((JOBS.cut(0), AGES.cut(0)))
    assert query_error(counts, rule, BOTH, random_queries(BOTH, number=20, rng=1)).mean == 0


def test_bad_queries():
    counts = Counts.of({"job": ["nurse"]})
    rule = Cuts((JOBS.cut(0),))
    with pytest.raises(BadInput, match="at least one query"):
        query_error(counts, rule, BOTH, [])
    with pytest.raises(BadInput, match="column 'age'"):
        query_error(counts, rule, BOTH, [Query({"age": frozenset({9})})])
    with pytest.raises(BadInput, match="there are 2"):
        random_queries(BOTH, columns=3)
    with pytest.raises(BadInput, match="selectivity"):
        random_queries(BOTH, selectivity=0)


def learnable(n=400, noise=0.1, seed=2):
    rng = np.random.default_rng(seed)
    job = rng.choice(JOBS.leaves, n)
    ill = np.isin(job, ["nurse", "surgeon"]) ^ (rng.random(n) < noise)
    return Counts.of(
        {"job": job.tolist(), "age": rng.choice([9, 10, 70], n).tolist()},
        histograms={"ill": np.where(ill, "yes", "no").tolist()},
    )


def test_accuracy_survives_what_does_not_matter_and_not_what_does():
    counts = learnable()
    medics = Cuts((JOBS.cut(1), AGES.cut(2)))
    fine = classification_accuracy(counts, medics, "ill", rng=1)
    assert fine.before == pytest.approx(0.9, abs=0.04)
    assert fine.after == pytest.approx(fine.before, abs=0.01)
    assert fine.kept == pytest.approx(1.0, abs=0.05)
    nothing = classification_accuracy(counts, Cuts((JOBS.cut(2), AGES.cut(0))), "ill", rng=1)
    assert nothing.after < 0.6
    assert nothing.kept < 0.2
    again = classification_accuracy(counts, medics, "ill", rng=1)
    assert again == fine
    tree = classification_accuracy(counts, medics, "ill", model=DecisionTreeClassifier(random_state=0), rng=1)
    assert tree.after == pytest.approx(0.9, abs=0.04)


def test_folds_of_counts_are_folds_of_rows():
    """Weighted training on distinct items equals training on spelled-out rows."""
    counts = learnable(120)
    rule = Cuts((JOBS.cut(0), AGES.cut(0)))
    found = classification_accuracy(counts, rule, "ill", folds=3, rng=9, model=LogisticRegression(C=1.0, max_iter=1000))
    h = counts.histograms["ill"]
    rng = np.random.default_rng(9)
    rng.random(len(h.counts))  # the draw that settles fractions, of which there are none here
    dealt = rng.multinomial(h.counts, np.full(3, 1 / 3))
    item = np.repeat(np.arange(len(h.counts)), h.counts)
    fold = np.concatenate([np.repeat(np.arange(3), row) for row in dealt])
    spread = [np.eye(len(v))[counts.codes[h.rows.row_of(), j]] for j, v in enumerate(counts.values)]
    features = np.concatenate(spread, axis=1)[item]
    label = h.rows.indices[item]
    right = 0
    for f in range(3):
        fitted = LogisticRegression(C=1.0, max_iter=1000).fit(features[fold != f], label[fold != f])
        right += (fitted.predict(features[fold == f]) == label[fold == f]).sum()
    assert found.before == pytest.approx(right / len(label), abs=0.02)
    assert found.before == pytest.approx(found.after)


def test_classes_are_shared_among_several_outputs():
    counts = Counts.of({"x": ["a"] * 10 + ["b"] * 10}, histograms={"ill": ["yes"] * 10 + ["no"] * 10})
    cells = Cells(("x",), (("a", "b"),), np.array([0, 0, 1, 1]), np.array([[0], [1], [0], [1]]), np.array([5, 5, 5, 5]))
    found = classification_accuracy(counts, cells, "ill", rng=3)
    assert found.before == 1.0
    assert found.after < 0.7


def test_bad_learning(monkeypatch):
    counts = learnable(20)
    rule = Cuts((JOBS.cut(0),))
    with pytest.raises(BadInput, match="no histogram of the target column 'wage'"):
        classification_accuracy(counts, rule, "wage")
    with pytest.raises(BadInput, match="at least 2 folds"):
        classification_accuracy(counts, rule, "ill", folds=1)
    one = Counts.of({"job": ["nurse"] * 9}, histograms={"ill": ["yes"] * 9})
    with pytest.raises(BadInput, match="two classes"):
        classification_accuracy(one, Cuts((Cut("job", ("nurse",), ("*",)),)), "ill")
    assert Accuracy(0.5, 0.4, 0.5).kept == 1.0
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtra, match=r"keepsense\[learn\]"):
        classification_accuracy(counts, rule, "ill")
