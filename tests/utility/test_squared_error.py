"""Squared errors and ambiguity against what ARX computes, record by record, and against hand-computed values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from tests.utility.test_loss_measures import AGES, BOTH, JOBS, below, counted, releases

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import by_name, figures
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.release.example import example_release
from keepsense.release.figures.measure import measured_for_report
from keepsense.utility.recoded_table import Recoded
from keepsense.utility.squared_error import ambiguity, record_squared_error, squared_errors, sum_of_squares_lost

NUMBERS = frozenset({"age"})
ORDER = [JOBS.leaves[i] for i in np.lexsort(tuple(JOBS.codes[:, level] for level in range(4)))]


def reach(data, column, row, level):
    """Place of a record's value, and the ends of what is released for it, as ARX has them."""
    value = row[column]
    ages = [r[1] for r in data]
    if column == 0:
        leaves = JOBS.leaves if level is None else below(JOBS, value, level[0])
        places = [ORDER.index(leaf) for leaf in leaves]
        return ORDER.index(value), min(places), max(places)
    if level is None or level[1] == 2:
        return value, min(ages), max(ages)
    if level[1] == 0:
        return value, value, value
    low = value // 10 * 10
    return value, low, low + 9


@given(releases())
@settings(max_examples=60, deadline=None)
def test_errors_are_those_of_records_one_by_one(release):
    data, at, rule = release
    counts = counted(data)
    cells = [[reach(data, j, r, level) for j in range(2)] for r, level in zip(data, at, strict=True)]
    for j, name in enumerate(BOTH):
        places = [row[j][0] for row in cells]
        worst = [max((x - min(places)) ** 2, (x - max(places)) ** 2) for x in places]
        errors = [
            min(max((x - low) ** 2, (x - high) ** 2), most)
            for (x, low, high), most in zip([row[j] for row in cells], worst, strict=True)
        ]
        expected = sum(errors) / sum(worst) if sum(worst) else 0.0
        assert squared_errors(counts, rule, BOTH, NUMBERS)[name] == pytest.approx(expected)
    near, far = np.zeros(len(data)), np.zeros(len(data))
    for j in range(2):
        column = np.array([row[j] for row in cells], dtype=float)
        deviation = column[:, 0].std()
        if deviation:
            least, most = column.min(), column.max()
            for i, (x, low, high) in enumerate(column):
                near[i] += (max(abs(x - low), abs(x - high)) / deviation) ** 2
                far[i] += (max(abs(x - least), abs(x - most)) / deviation) ** 2
    expected = np.sqrt(near).sum() / np.sqrt(far).sum() if far.sum() else 0.0
    assert record_squared_error(counts, rule, BOTH, NUMBERS) == pytest.approx(expected)


@given(releases())
@settings(max_examples=60, deadline=None)
def test_ambiguity_multiplies_what_each_cell_may_be(release):
    data, at, rule = release
    may_be = [
        len(JOBS.leaves) * len(AGES.leaves)
        if level is None
        else len(below(JOBS, r[0], level[0])) * len(below(AGES, r[1], level[1]))
        for r, level in zip(data, at, strict=True)
    ]
    counts = counted(data)
    assert ambiguity(counts, rule, BOTH) == pytest.approx(np.mean(may_be))
    assert ambiguity(counts, rule, BOTH, normalised=True) == pytest.approx((np.mean(may_be) - 1) / (5 * 4 - 1))


def test_values_computed_by_hand():
    """Four people of 20, 22, 30 and 40, released as 20-22, 20-22, 30 and hidden."""
    ages = Counts.of({"age": [20, 22, 30, 40]})
    rule = Cuts((Cut("age", (20, 22, 30, 40), ("20-22", "20-22", 30, "*")),))
    worst = [400, 324, 100, 400]
    assert squared_errors(ages, rule, {}, NUMBERS)["age"] == pytest.approx((4 + 4 + 0 + 400) / sum(worst))
    assert record_squared_error(ages, rule, {}, NUMBERS) == pytest.approx((2 + 2 + 0 + 20) / (20 + 18 + 10 + 20))
    assert sum_of_squares_lost(ages, rule, NUMBERS) == pytest.approx((1 + 1 + 0 + 144) / (64 + 36 + 4 + 144))


def test_open_ranges_end_where_the_column_does_and_other_labels_where_their_numbers_do():
    ages = Counts.of({"age": [20, 22, 30, 40]})
    open_ended = Cuts((Cut("age", (20, 22, 30, 40), ("under 25", "under 25", "30 or more", "30 or more")),))
    closed = Cuts((Cut("age", (20, 22, 30, 40), ("20-25", "20-25", "30-40", "30-40")),))
    by_name_of_group = Cuts((Cut("age", (20, 22, 30, 40), ("young", "young", "old", "old")),))
    by_range = Cuts((Cut("age", (20, 22, 30, 40), ("20-22", "20-22", "30-40", "30-40")),))
    for first, second in ((open_ended, closed), (by_name_of_group, by_range)):
        assert squared_errors(ages, first, {}, NUMBERS) == squared_errors(ages, second, {}, NUMBERS)
        assert record_squared_error(ages, first, {}, NUMBERS) == record_squared_error(ages, second, {}, NUMBERS)
        assert sum_of_squares_lost(ages, first, NUMBERS) == sum_of_squares_lost(ages, second, NUMBERS)


def test_missing_cells_and_columns_that_do_not_vary_have_no_error():
    same = Counts.of({"age": [30, 30, None]})
    rule = Cuts((Cut("age", (30, None), ("20-40", None)),))
    assert squared_errors(same, rule, {}, NUMBERS) == {"age": 0.0}
    assert record_squared_error(same, rule, {}, NUMBERS) == 0.0
    with pytest.raises(BadInput, match="numbers that differ"):
        sum_of_squares_lost(same, rule, NUMBERS)
    with pytest.raises(BadInput, match="a column of numbers or one with a hierarchy"):
        record_squared_error(Counts.of({"job": ["nurse"]}), Cuts((Cut("job", ("nurse",), ("*",)),)), {})


def test_dates_and_ranks_stand_where_they_are():
    days = Hierarchy.of_rows(
        [("2020-01-01", "2020", "*"), ("2020-01-11", "2020", "*"), ("2021-01-01", "2021", "*")], name="day", kind="date"
    )
    counts = Counts.of({"day": ["2020-01-01", "2020-01-11", "2021-01-01"]})
    whole = [366**2, 356**2, 366**2]
    found = squared_errors(counts, Cuts((days.cut(1),)), {"day": days})
    assert found["day"] == pytest.approx((100 + 100 + 0) / sum(whole))


def test_changed_numbers_have_errors_too():
    ages = Counts.of({"age": [20, 40]})
    swapped = Cells(("age",), ages.values, np.arange(2), np.array([[1], [0]]), np.ones(2, int))
    shown = by_name(figures("utility", Recoded(ages, [swapped], truthful=False, numbers=NUMBERS)))
    assert shown["squared error, age"] == shown["squared error of records"] == 1.0
    assert shown["sum of squares lost"] == 4.0
    assert "ambiguity" not in shown


def test_reports_have_them():
    done = example_release()
    shown = by_name(measured_for_report(done.job, done.recodings).utility)
    assert 0 < shown["squared error, age"] < 1
    assert shown["squared error, job"] == 0
    assert 0 < shown["squared error of records"] < 1
    assert 0 < shown["sum of squares lost"] < 1
    counts, rule = Recoded(done.job.own_counts, done.recodings, done.job.hierarchies).generalized
    assert shown["ambiguity"] == pytest.approx(math.log2(ambiguity(counts, rule, done.job.hierarchies)))
