"""Special uniques, separation and interval disclosure: against plain comparisons of every two records."""

from __future__ import annotations

from itertools import combinations
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import by_name, figures
from keepsense.recoding import Cells
from keepsense.risk import suda as module
from keepsense.risk.attribute_disclosure import interval_disclosure, number_pairs
from keepsense.risk.risk_metrics import Exposed, separations
from keepsense.risk.suda import special_uniques, special_uniques_by_meaning

GUIDE = [
    ("urban", "female", "secondary incomplete", "employed"),
    ("urban", "female", "secondary incomplete", "employed"),
    ("urban", "female", "primary incomplete", "non-LF"),
    ("urban", "male", "secondary complete", "employed"),
    ("rural", "female", "secondary complete", "unemployed"),
    ("urban", "male", "secondary complete", "employed"),
    ("urban", "female", "primary complete", "non-LF"),
    ("urban", "male", "post-secondary", "unemployed"),
    ("urban", "female", "secondary incomplete", "non-LF"),
    ("urban", "female", "secondary incomplete", "non-LF"),
]
"""Ten people like those by which the World Bank's guide to disclosure control explains SUDA."""


def minimal_uniques(rows, most):
    """For each record the sets of columns that set it apart from all others, no part of which does."""
    found = []
    for row in rows:
        unique = []
        for size in range(1, most + 1):
            for chosen in combinations(range(len(row)), size):
                cells = [row[j] for j in chosen]
                told = all(cell not in (None, "*") for cell in cells)
                alone = sum([other[j] for j in chosen] == cells for other in rows) == 1
                if told and alone and not any(set(part) < set(chosen) for part in unique):
                    unique.append(chosen)
        found.append(unique)
    return found


def table(rows):
    return Counts.of({f"c{j}": [row[j] for row in rows] for j in range(len(rows[0]))})


def by_record(counts, rows, figures):
    """A figure of distinct tuples for every record."""
    place = {
        tuple(counts.values[j][c] for j, c in enumerate(codes)): i for i, codes in enumerate(counts.codes.tolist())
    }
    return [figures[place[tuple(row)]] for row in rows]


cell = st.sampled_from(["a", "b", "c", None, "*"])


@given(rows=st.lists(st.tuples(cell, cell, cell, cell), min_size=1, max_size=14), most=st.integers(1, 4))
@settings(max_examples=60, deadline=None)
def test_minimal_uniques_follow_the_definition(rows, most):
    counts = table(rows)
    found = special_uniques(counts, most=most)
    expected = minimal_uniques(rows, most)
    score = [[prod(4 - j for j in range(len(s), min(most, 3) + 1)) for s in unique] for unique in expected]
    assert by_record(counts, rows, found.sets.tolist()) == [len(unique) for unique in expected]
    assert by_record(counts, rows, found.scores.tolist()) == [sum(scores) for scores in score]
    assert by_record(counts, rows, found.smallest.tolist()) == [min(map(len, u), default=0) for u in expected]
    total = sum(map(sum, score))
    for j in range(4):
        part = sum(
            s for u, scores in zip(expected, score, strict=True) for c, s in zip(u, scores, strict=True) if j in c
        )
        assert found.contributions[f"c{j}"] == pytest.approx(part / total if total else 0)


def test_scores_of_the_guide():
    """A minimal unique of one of four columns scores 3 x 2 x 1, one of two columns 2 x 1."""
    counts = table(GUIDE)
    scores = by_record(counts, GUIDE, special_uniques(counts, most=3).scores.tolist())
    assert scores[:2] == [0, 0], "two records are alike"
    assert scores[2] == scores[6] == 6, "the only one who did not complete, or completed, primary school"
    assert scores[4] == 6 + 2 + 2 + 2, "the only rural one; two each of female, secondary complete, unemployed"
    assert scores[7] == 6 + 2 + 2, "the only one beyond secondary school; male and unemployed; urban and unemployed"


def test_few_uniques_of_many_are_at_risk():
    """One unique, one pair, half of the population drawn: a unique match is right in one of three cases."""
    counts = Counts.of({"x": ["a", "b", "b", "c", "c", "c"]})
    found = special_uniques(counts, sampling_fraction=0.5)
    assert found.disclosure.tolist() == pytest.approx([1 / 3, 0, 0])
    with pytest.raises(BadInput, match="above 0"):
        special_uniques(counts, sampling_fraction=0)


def test_sets_of_many_columns_are_bounded(monkeypatch):
    monkeypatch.setattr(module, "MOST_SETS", 20)
    rows = [tuple(str(i == j) for j in range(6)) for i in range(6)]
    found = special_uniques(table(rows))
    assert found.most == 1, "6 sets of one column, 15 of two"
    assert special_uniques(table(rows), most=2).most == 2
    assert special_uniques(Counts.of({"x": []})).records == 0


JOBS = Hierarchy.of_rows(
    [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*"), ("baker", "trade", "*")]
)


def test_alone_within_a_concept():
    """The baker is the only one in trade; nurse and surgeon are each other's medic; two clerks are alike."""
    counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk", "baker"], "sex": ["f", "f", "m", "m", "f"]})
    scores, steps = special_uniques_by_meaning(counts, {"job": JOBS})
    plain = special_uniques(counts).scores
    assert steps.tolist() == [0, 0, -1, 1]
    assert plain.tolist() == [1.0, 1.0, 0.0, 1.0]
    assert scores.tolist() == [0.5, 0.5, 0.0, 1.0]
    assert special_uniques_by_meaning(counts, {})[0].tolist() == plain.tolist()


@given(rows=st.lists(st.tuples(st.sampled_from(["nurse", "surgeon", "clerk", "baker"]), cell), min_size=1, max_size=12))
@settings(max_examples=30, deadline=None)
def test_meaning_is_the_mean_over_levels(rows):
    counts = table(rows)
    above = {"nurse": "medic", "surgeon": "medic", "clerk": "office", "baker": "trade"}
    levels = [rows, [(above[job], other) for job, other in rows]]
    sums = [0.0] * len(rows)
    for level in levels:
        scores = [len(unique) for unique in minimal_uniques(level, 2)]
        sums = [s + score for s, score in zip(sums, scores, strict=True)]
    found = by_record(counts, rows, special_uniques_by_meaning(counts, {"c0": JOBS})[0].tolist())
    assert found == pytest.approx([s / 2 for s in sums])


@given(rows=st.lists(st.tuples(cell, cell, cell), min_size=2, max_size=15))
@settings(max_examples=30, deadline=None)
def test_separation_compares_every_two_records(rows):
    for found in separations(table(rows), 2):
        at = [int(name[1:]) for name in found.columns]
        shown = [tuple(row[j] for j in at) for row in rows]
        pairs = list(combinations(shown, 2))
        assert found.separation == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))
        assert found.distinction == len(set(shown)) / len(rows)


numbers = st.integers(0, 12).map(float)


@given(
    pairs=st.lists(st.tuples(numbers, numbers, st.integers(0, 3)), min_size=1, max_size=12),
    width=st.sampled_from([0.01, 0.05, 0.1, 0.3, 1.0]),
)
@settings(max_examples=80, deadline=None)
def test_intervals_by_rank_and_by_deviation(pairs, width):
    before = sorted(x for x, _, times in pairs for _ in range(times))
    each = [(x, y) for x, y, times in pairs for _ in range(times)]
    arrays = [np.array(column) for column in zip(*pairs, strict=True)]
    if not each:
        assert interval_disclosure(*arrays, width=width) == 0
        return
    step = int(width * len(before) + 1e-9)
    inside = 0
    for x, y in each:
        below, up_to = sum(b < y for b in before), sum(b <= y for b in before)
        near = before[max(0, below - step) : up_to + step]
        inside += bool(near) and near[0] <= x <= near[-1]
    assert interval_disclosure(*arrays, width=width) == pytest.approx(inside / len(each))
    reach = width * float(np.std(before))
    near = sum(y - reach <= x <= y + reach for x, y in each)
    assert interval_disclosure(*arrays, width=width, by="deviation") == pytest.approx(near / len(each))


def test_intervals_are_averaged_and_checked():
    pay = np.arange(1000.0)
    assert interval_disclosure(pay, pay) == 1
    shifted = pay + 50
    assert interval_disclosure(pay, shifted) == pytest.approx(np.mean([w >= 0.05 for w in module_widths()]), abs=0.11)
    with pytest.raises(BadInput, match="by rank or by deviation"):
        interval_disclosure(pay, pay, by="guess")
    with pytest.raises(BadInput, match="as many"):
        interval_disclosure(pay, pay[:5])


def module_widths():
    from keepsense.risk.attribute_disclosure import WIDTHS

    return WIDTHS


# ---- as metrics ------------------------------------------------------------------------------------------------------


ABOVE = {"nurse": "medic", "surgeon": "medic", "clerk": "office", "baker": "trade"}


@given(rows=st.lists(st.tuples(st.sampled_from(list(ABOVE)), cell, cell), min_size=2, max_size=12))
@settings(max_examples=40, deadline=None)
def test_metrics_of_standing_out_follow_the_definitions(rows):
    """Every figure of the registry from minimal uniques and pairs of records, taken one by one."""
    found = by_name(figures("risk", Exposed(table(rows), hierarchies={"c0": JOBS}), every_run=False))
    unique = minimal_uniques(rows, 3)
    worth = {1: 2, 2: 1, 3: 1}  # of three columns: 2 x 1, 1, and all three columns score no less than 1
    scores = [sum(worth[len(chosen)] for chosen in each) for each in unique]
    assert found["special uniques"] == sum(any(len(c) < 3 for c in each) for each in unique) / len(rows)
    assert found["special uniques, highest score"] == pytest.approx(max(scores) / (3 * 2))
    coarser = minimal_uniques([(ABOVE[job], *others) for job, *others in rows], 3)
    assert found["special uniques by meaning"] == sum(bool(each) for each in coarser) / len(rows)
    above = [sum(worth[len(chosen)] for chosen in each) for each in coarser]
    mean = max((low + high) / 2 for low, high in zip(scores, above, strict=True))
    assert found["special uniques by meaning, highest score"] == pytest.approx(mean / 6)
    for j in range(3):
        part = sum(worth[len(chosen)] for each in unique for chosen in each if j in chosen)
        share = part / sum(scores) if sum(scores) else 0
        assert found[f"contribution to special uniques, c{j}"] == pytest.approx(share)
        assert found[f"distinction, c{j}"] == len({row[j] for row in rows}) / len(rows)
        pairs = list(combinations([row[j] for row in rows], 2))
        assert found[f"separation, c{j}"] == pytest.approx(sum(a != b for a, b in pairs) / len(pairs))


def test_no_score_is_above_that_of_one_whom_every_column_sets_apart():
    rows = [("a", "b", "c", "d"), ("e", "f", "g", "h"), ("e", "f", "x", "y")]
    found = special_uniques(table(rows))
    assert by_record(table(rows), rows, found.scores.tolist())[0] == found.largest == 4 * 6


def test_interval_disclosure_as_a_metric():
    """Of four numbers one is released as it was, one near; a range, a word or a hidden cell tells no number."""
    counts = Counts.of({"pay": [10, 20, 30, 1000, None], "age": [1, 2, 3, 4, 5], "job": ["a"] * 5})
    values = ((10, 21, 900, 30, "*"), ("1 to 3", "4 to 5"), ("a",))
    codes = np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0], [3, 1, 0], [4, 1, 0]])
    cells = Cells(counts.names, values, np.arange(5), codes, counts.weights)
    numbers = number_pairs(counts, cells, counts.names)
    assert set(numbers) == {"pay"}
    found = by_name(figures("risk", Exposed(counts, numbers=numbers), every_run=False))
    assert found["interval disclosure, pay"] == interval_disclosure(
        np.array([10.0, 20, 30, 1000]), np.array([10.0, 21, 900, 30])
    )
    assert found["interval disclosure, by deviation, pay"] == 0.5
    assert not any(name.startswith("interval disclosure") for name in by_name(figures("risk", Exposed(counts))))
