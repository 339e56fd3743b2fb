"""Information-loss measures against their definitions, record by record."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadHierarchy, BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import by_name, figures
from keepsense.recoding import SUPPRESSED, Cells, Cut, Cuts
from keepsense.utility.class_size_metrics import average_class_size, class_size_of, discernibility, released_classes
from keepsense.utility.entropy_losses import kl_divergence, non_uniform_entropy
from keepsense.utility.generalization_losses import (
    column_losses,
    gen_iloss,
    height,
    level_losses,
    loss,
    mean_of,
    ncp,
    precision,
)
from keepsense.utility.recoded_table import Recoded, column_pairs, pairs

JOBS = Hierarchy.of_rows(
    [("nurse", "medic", "health", "*"), ("surgeon", "medic", "health", "*"), ("vet", "vet", "health", "*"),
     ("clerk", "office", "desk", "*"), ("judge", "law", "desk", "*")], name="job",
)  # fmt: skip
AGES = Hierarchy.of_rows(
    [(20, "20-29", "*"), (25, "20-29", "*"), (30, "30-39", "*"), (70, "70-79", "*")], name="age", kind="numeric"
)
BOTH = {"job": JOBS, "age": AGES}
rows = st.lists(st.tuples(st.sampled_from(JOBS.leaves), st.sampled_from(AGES.leaves)), min_size=1, max_size=25)
levels = st.tuples(st.integers(0, 3), st.integers(0, 2))


def counted(data) -> Counts:
    return Counts.of({"job": [r[0] for r in data], "age": [r[1] for r in data]})


def label(hierarchy, value, level):
    return hierarchy.labels[level][hierarchy.codes[hierarchy.leaves.index(value), level]]


def below(hierarchy, value, level):
    """Leaves that share the value's ancestor at a level."""
    column = hierarchy.codes[:, level]
    mine = column[hierarchy.leaves.index(value)]
    return [leaf for leaf, code in zip(hierarchy.leaves, column, strict=True) if code == mine]


@st.composite
def releases(draw):
    """A table, and for each row its level in either column or None where the row is suppressed.

    Rows of equal tuples may differ, as with local recoding.
    """
    data = draw(rows)
    local = draw(st.booleans())
    at = draw(st.lists(st.one_of(st.none(), levels), min_size=len(data), max_size=len(data)))
    if not local:
        common = draw(levels)
        hide = set(draw(st.lists(st.sampled_from(data), max_size=2)))
        classes = {tuple(label(h, r[j], common[j]) for j, h in enumerate(BOTH.values())) for r in hide}
        at = [
            None if tuple(label(h, r[j], common[j]) for j, h in enumerate(BOTH.values())) in classes else common
            for r in data
        ]
        rule = Cuts((JOBS.cut(common[0]), AGES.cut(common[1])), frozenset(classes))
        return data, at, rule
    counts = counted(data)
    keys = [tuple(v[c] for v, c in zip(counts.values, code, strict=True)) for code in counts.codes]
    outputs = Counter()
    for r, level in zip(data, at, strict=True):
        out = (SUPPRESSED, SUPPRESSED) if level is None else (label(JOBS, r[0], level[0]), label(AGES, r[1], level[1]))
        outputs[keys.index(r), out, level is None] += 1
    values = tuple(tuple(dict.fromkeys(out[j] for _, out, _ in outputs)) for j in range(2))
    cells = Cells(
        ("job", "age"),
        values,
        np.array([source for source, _, _ in outputs]),
        np.array([[values[j].index(out[j]) for j in range(2)] for _, out, _ in outputs]),
        np.array(list(outputs.values())),
        np.array([hidden for _, _, hidden in outputs]),
    )
    cells.check(counts)
    return data, at, cells


def mean_over(data, at, lost, hidden=1.0):
    """Mean of a loss(hierarchy, value, level) over records, by column."""
    found = {}
    for j, (name, hierarchy) in enumerate(BOTH.items()):
        found[name] = np.mean(
            [
                (hidden(hierarchy, r[j]) if callable(hidden) else hidden)
                if level is None
                else lost(hierarchy, r[j], level[j])
                for r, level in zip(data, at, strict=True)
            ]
        )
    return found


def span(data, value, level):
    """Width of what is released, as far as the column reaches."""
    low, high = min(r[1] for r in data), max(r[1] for r in data)
    if level == 2:
        return 1.0
    ends = [value, value] if level == 0 else [float(end) for end in label(AGES, value, level).split("-")]
    return max(0.0, min(ends[1], high) - max(ends[0], low)) / (high - low) if low < high else 0.0


def share(hierarchy, value, level):
    return (len(below(hierarchy, value, level)) - 1) / (len(hierarchy.leaves) - 1)


def penalty(hierarchy, value, level):
    n = len(below(hierarchy, value, level))
    return n / len(hierarchy.leaves) if n > 1 else 0.0


def measured_by(data, words):
    """Numbers by their widths, words by a rule of their own."""
    return lambda h, value, level: span(data, value, level) if h is AGES else words(h, value, level)


@given(releases())
@settings(max_examples=60, deadline=None)
def test_numbers_lose_the_same_with_a_hierarchy_and_without(release):
    data, _, rule = release
    counts = counted(data)
    as_words = Hierarchy.of_rows(AGES.rows(), name="age")
    for metric in ("ncp", "geniloss"):
        lost = [column_losses(counts, rule, {"job": JOBS, **own}, metric)["age"]
                for own in ({}, {"age": AGES}, {"age": as_words})]  # fmt: skip
        assert lost[0] == lost[1] == lost[2]


@given(releases())
@settings(max_examples=60, deadline=None)
def test_measures_by_level(release):
    data, at, rule = release
    counts = counted(data)
    by_column = mean_over(data, at, share)
    assert column_losses(counts, rule, BOTH) == pytest.approx(by_column)
    assert loss(counts, rule, BOTH) == pytest.approx(np.mean(list(by_column.values())))
    geometric = math.sqrt((1 + by_column["job"]) * (1 + by_column["age"])) - 1
    assert loss(counts, rule, BOTH, mean="geometric") == pytest.approx(geometric)
    assert loss(counts, rule, BOTH, weights={"job": 1.0}) == pytest.approx(by_column["job"])
    assert ncp(counts, rule, BOTH) == pytest.approx(
        np.mean(list(mean_over(data, at, measured_by(data, penalty)).values()))
    )
    general = mean_over(data, at, measured_by(data, share))
    assert gen_iloss(counts, rule, BOTH) == pytest.approx(np.mean(list(general.values())))
    if isinstance(rule, Cuts):
        steps = mean_over(data, at, lambda h, v, l: l / h.height)  # noqa: E741
        assert precision(counts, rule, BOTH) == pytest.approx(1 - np.mean(list(steps.values())))


@given(releases())
@settings(max_examples=60, deadline=None)
def test_entropy_and_classes(release):
    data, at, rule = release
    counts = counted(data)
    n = len(data)
    seen = [Counter(r[j] for r in data) for j in range(2)]

    def bits(hierarchy, value, level):
        mine = seen[0 if hierarchy is JOBS else 1]
        return math.log2(sum(mine[leaf] for leaf in below(hierarchy, value, level)) / mine[value])

    def hidden(hierarchy, value):
        return math.log2(n / seen[0 if hierarchy is JOBS else 1][value])

    expected = np.mean(list(mean_over(data, at, bits, hidden).values()))
    worst = np.mean(list(mean_over(data, [None] * n, bits, hidden).values()))
    assert non_uniform_entropy(counts, rule, BOTH) == pytest.approx(expected, abs=1e-12)
    assert non_uniform_entropy(counts, rule, BOTH, normalised=True) == pytest.approx(
        expected / worst if worst else 0.0, abs=1e-12
    )
    classes = Counter(
        (label(JOBS, r[0], level[0]), label(AGES, r[1], level[1]))
        for r, level in zip(data, at, strict=True)
        if level is not None
    )
    gone = sum(level is None for level in at)
    assert sorted(released_classes(counts, rule).sizes.tolist()) == sorted(classes.values())
    assert discernibility(counts, rule) == sum(v * v for v in classes.values()) + gone * n
    assert average_class_size(counts, rule) == pytest.approx(n / (len(classes) + (gone > 0)))
    assert average_class_size(counts, rule, k=2) == pytest.approx(average_class_size(counts, rule) / 2)


@given(releases())
@settings(max_examples=50, deadline=None)
def test_kl_divergence_spreads_each_record_over_its_leaves(release):
    data, at, rule = release
    counts = counted(data)
    n = len(data)
    guess = Counter()
    for r, level in zip(data, at, strict=True):
        jobs, ages = (
            (JOBS.leaves, AGES.leaves) if level is None else (below(JOBS, r[0], level[0]), below(AGES, r[1], level[1]))
        )
        for job in jobs:
            for age in ages:
                guess[job, age] += 1 / n / len(jobs) / len(ages)
    assert sum(guess.values()) == pytest.approx(1)
    expected = sum(m / n * math.log2(m / n / guess[key]) for key, m in Counter(data).items())
    assert kl_divergence(counts, rule, BOTH) == pytest.approx(expected, abs=1e-9)


def test_nothing_is_lost_where_nothing_changes():
    counts = counted([("nurse", 20), ("judge", 70)])
    same = Cuts((JOBS.cut(0), AGES.cut(0)))
    assert loss(counts, same, BOTH) == ncp(counts, same, BOTH) == non_uniform_entropy(counts, same, BOTH) == 0
    assert precision(counts, same, BOTH) == 1
    assert kl_divergence(counts, same, BOTH) == pytest.approx(0)
    assert height(same) == 0
    top = Cuts((JOBS.cut(3), AGES.cut(2)))
    assert loss(counts, top, BOTH) == ncp(counts, top, BOTH) == gen_iloss(counts, top, BOTH) == 1
    assert height(top) == 5


def test_suppressed_cells_lose_everything():
    """A cell suppressed by itself, in a hierarchy whose top has another name."""
    hierarchy = Hierarchy.of_rows([("nurse", "any"), ("clerk", "any")], name="job")
    counts = Counts.of({"job": ["nurse", "clerk"]})
    rule = Cuts((Cut("job", ("nurse", "clerk"), ("nurse", "*")),))
    assert loss(counts, rule, {"job": hierarchy}) == 0.5
    assert average_class_size(counts, rule) == 1


def test_intervals_without_a_hierarchy():
    counts = Counts.of({"age": [20, 30, 60]})
    rule = Cuts((Cut("age", (20, 30, 60), ("[10, 40]", "[10, 40]", "60")),))
    assert gen_iloss(counts, rule, {}) == pytest.approx((0.5 + 0.5 + 0) / 3), "an interval is cut to the column's range"
    with pytest.raises(BadInput, match="needs a hierarchy for column 'age'"):
        loss(counts, rule, {})
    with pytest.raises(BadInput, match="does not hold numbers only"):
        ncp(Counts.of({"job": ["nurse"]}), Cuts((Cut("job", ("nurse",), ("medic",)),)), {})
    with pytest.raises(BadInput, match="no interval"):
        ncp(counts, Cuts((Cut("age", (20, 30, 60), ("young", "young", "old")),)), {})


@pytest.mark.parametrize(
    ("text", "ends"),
    [
        ("[20, 30)", (20, 30)), ("20-30", (20, 30)), ("(1.5;2.5]", (1.5, 2.5)), ("-3--1", (-3, -1)), ("7", (7, 7)),
        ("20 to 30", (20, 30)), ("0..5", (0, 5)), ("30-20", None), ("medic", None), (None, None), (True, None),
    ],
)  # fmt: skip
def test_interval_forms(text, ends):
    assert parse_interval(text) == ends


def test_measures_refuse_what_they_cannot_measure():
    counts = counted([("nurse", 20)])
    swapped = Cuts((Cut("job", ("nurse",), ("clerk",)), AGES.cut(0)))
    with pytest.raises(BadInput, match="do not stand above their originals"):
        loss(counts, swapped, BOTH)
    with pytest.raises(BadInput, match="arithmetic"):
        mean_of({"a": 1.0}, mean="harmonic")
    with pytest.raises(BadInput, match="not recoded"):
        mean_of({"a": 1.0}, weights={"b": 1.0})
    with pytest.raises(BadInput, match="must not all be 0"):
        mean_of({"a": 1.0}, weights={"a": 0.0})
    with pytest.raises(BadInput, match="changes no column"):
        mean_of({})
    with pytest.raises(BadInput, match="one level a column"):
        height(Cuts((Cut("job", (), ()),)))
    with pytest.raises(BadInput, match="Did you mean"):
        level_losses("precisoin", JOBS)
    with pytest.raises(BadInput, match="number of records"):
        level_losses("non-uniform entropy", JOBS)
    with pytest.raises(BadHierarchy):
        loss(counted([("pilot", 20)]), Cuts((Cut("job", ("pilot",), ("*",)), AGES.cut(0))), BOTH)
    with pytest.raises(BadInput, match="no records"):
        class_size_of(released_classes(Counts.of({"x": []}), Cuts((Cut("x", (), ()),))))
    with pytest.raises(BadInput, match="k must be"):
        average_class_size(counts, Cuts((JOBS.cut(0), AGES.cut(0))), k=0)


@given(releases())
@settings(max_examples=20, deadline=None)
def test_the_registry_computes_each_metric_as_its_function_does(release):
    data, _, rule = release
    counts = counted(data)
    found = by_name(figures("utility", Recoded(counts, [rule], BOTH), every_run=True))
    expected = {
        "certainty penalty": ncp(counts, rule, BOTH),
        "loss": loss(counts, rule, BOTH),
        "precision": precision(counts, rule, BOTH),
        "non-uniform entropy": non_uniform_entropy(counts, rule, BOTH),
        "discernibility": discernibility(counts, rule),
        "average class size": average_class_size(counts, rule),
    }
    assert found == pytest.approx(expected)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(JOBS.leaves), st.sampled_from("fm")), min_size=1, max_size=25),
    st.integers(0, 3),
    st.sets(st.tuples(st.sampled_from(JOBS.leaves), st.sampled_from("fm"))),
)
def test_pairs_of_whole_columns_are_those_counted_tuple_by_tuple(
    rows: list[tuple[str, str]], level: int, some: set[tuple[str, str]]
) -> None:
    counts = Counts.of({"job": [row[0] for row in rows], "sex": [row[1] for row in rows]})
    cut = JOBS.cut(level)
    label = dict(zip(cut.inputs, cut.outputs, strict=True))
    hidden = frozenset((label[job], sex) for job, sex in some)
    rule = Cuts((cut, Cut("sex", ("f", "m"), ("f", "m"))), hidden)
    for name, column in column_pairs(counts, rule).items():
        slow = pairs(counts, rule.cells(counts), name)
        for field in ("original", "released", "hidden", "weights"):
            assert getattr(column, field).tolist() == getattr(slow, field).tolist()
        assert (column.originals, column.values) == (slow.originals, slow.values)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.sampled_from(JOBS.leaves), st.sampled_from("fm")), min_size=1, max_size=25),
    st.integers(0, 3),
    st.sets(st.tuples(st.sampled_from(JOBS.leaves), st.sampled_from("fm"))),
    st.booleans(),
)
def test_classes_of_the_counted_release_are_those_of_the_recoding(
    rows: list[tuple[str, str]], level: int, some: set[tuple[str, str]], dropped: bool
) -> None:
    counts = Counts.of({"job": [row[0] for row in rows], "sex": [row[1] for row in rows]})
    cut = JOBS.cut(level)
    label = dict(zip(cut.inputs, cut.outputs, strict=True))
    rule = Cuts(
        (cut, Cut("sex", ("f", "m"), ("f", "m"))),
        frozenset((label[job], sex) for job, sex in some),
    )
    after = rule.apply(counts)
    if dropped:
        sexes = np.array([sex == SUPPRESSED for sex in after.values_of("sex")])[after.column("sex")]
        after = Counts(after.names, after.values, after.codes[~sexes], after.weights[~sexes])
    by_recoding, by_release = (
        by_name(figures("utility", Recoded(counts, [rule], released=released), every_run=True))
        for released in (None, after)
    )
    for name in ("average class size", "discernibility"):
        assert by_release[name] == by_recoding[name]
