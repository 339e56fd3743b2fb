"""Hierarchies of numbers, dates, masked strings and ordered values, and how wide their intervals are."""

from __future__ import annotations

import datetime
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.errors import BadHierarchy, BadInput, InputWarning
from keepsense.hierarchies.column_kinds import KINDS, KindName
from keepsense.hierarchies.group_widths import interval_losses
from keepsense.hierarchies.hierarchy import Hierarchy, signature
from keepsense.hierarchies.hierarchy_checks import check
from keepsense.hierarchies.hierarchy_scores import score
from keepsense.hierarchies.intervals import parse_interval
from keepsense.hierarchies.kinds.code_kind import masked
from keepsense.hierarchies.kinds.date_kind import calendar_rule, dates
from keepsense.hierarchies.kinds.numeric_kind import (
    agglomerative,
    banded,
    equal_frequency,
    equal_width,
    numeric_candidates,
)
from keepsense.hierarchies.kinds.ordinal_kind import ordered

NUMBERS = st.lists(
    st.one_of(st.integers(-1000, 1000), st.floats(-1e6, 1e6, allow_nan=False, width=32)),
    min_size=1,
    max_size=25,
    unique=True,
)


def groups_of(hierarchy: Hierarchy, level: int) -> dict[object, list[float]]:
    found: dict[object, list[float]] = {}
    for leaf, code in zip(hierarchy.leaves, hierarchy.codes[:, level].tolist(), strict=True):
        if leaf is not None:
            found.setdefault(code, []).append(float(leaf))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("build", [equal_width, equal_frequency, agglomerative])
@settings(max_examples=50, deadline=None)
@given(numbers=NUMBERS, groups=st.integers(1, 12), fanout=st.integers(2, 4))
def test_levels_are_nested_intervals_with_one_top(build, numbers: list[float], groups: int, fanout: int) -> None:  # type: ignore[no-untyped-def]
    made = build(numbers, groups=groups, fanout=fanout)
    assert [f for f in check(made, numbers) if f.is_error] == []
    assert made.labels[-1] == ("*",)
    for level in range(1, made.height + 1):
        spans = sorted((min(g), max(g)) for g in groups_of(made, level).values())
        assert all(a[1] < b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize("build", [banded, equal_width, equal_frequency, agglomerative])
@settings(max_examples=40, deadline=None)
@given(numbers=NUMBERS)
def test_labels_hold_their_values_and_no_others(build, numbers: list[float]) -> None:  # type: ignore[no-untyped-def]
    made = build(numbers, groups=6)
    for level in range(1, made.height):
        for leaf, code in zip(made.leaves, made.codes[:, level].tolist(), strict=True):
            for at, label in enumerate(made.labels[level]):
                ends = parse_interval(label, inside=True)
                assert ends is not None
                assert (ends[0] <= float(leaf) <= ends[1]) == (at == code)  # type: ignore[arg-type]


def test_round_bounds() -> None:
    ages = equal_width(range(17, 91), groups=8)
    assert ages.rows()[0] == (17, "under 20", "under 20", "under 40", "under 80", "*")
    tenths = equal_width([0.1, 0.2, 0.3, 0.30000000000000004, 0.7], width=0.1)
    assert [row[1] for row in tenths.rows()] == [
        "under 0.2",
        "0.2 to under 0.3",
        "0.3 to under 0.4",
        "0.3 to under 0.4",
        "0.7 or more",
    ]


def test_equal_frequency_balances_rows() -> None:
    made = equal_frequency([1, 2, 3, 4, 100], [40, 10, 10, 20, 80], groups=2)
    assert made.rows()[0][1] == "under 50"
    assert made.rows()[4][1] == "50 or more"
    counts = np.array([3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8])
    quarters = equal_frequency(range(12), counts.tolist(), groups=4)
    rows = np.bincount(quarters.codes[:, 1], counts)
    assert rows.max() <= counts.sum() / 4 + counts.max()


def test_counts_follow_their_values_wherever_the_missing_one_stands() -> None:
    first = equal_frequency([None, 1, 2, 3], [99, 10, 1, 1], groups=2)
    last = equal_frequency([1, 2, 3, None], [10, 1, 1, 99], groups=2)
    assert signature(first) == signature(last)
    assert first.rows()[-1] == (None, "missing", "*")


def test_agglomeration_follows_the_gaps() -> None:
    made = agglomerative([1, 2, 3, 50, 51, 52, 200], groups=3)
    assert [row[1] for row in made.rows()] == ["under 40"] * 3 + ["40 to 99"] * 3 + ["100 or more"]
    ward = agglomerative([0, 10, 11, 100], [20, 20, 20, 1000], groups=2, linkage="ward")
    assert ward.rows()[2][1] == "under 50"


def naive_centroid_groups(numbers: list[float], wanted: int) -> list[list[float]]:
    """Slow and obvious: join the neighbours with the nearest means until few enough groups are left."""
    groups = [[x] for x in sorted(numbers)]
    while len(groups) > wanted:
        means = [sum(g) / len(g) for g in groups]
        at = min(range(len(groups) - 1), key=lambda i: (means[i + 1] - means[i], i))
        groups[at : at + 2] = [groups[at] + groups[at + 1]]
    return groups


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=3, max_size=20, unique=True), st.integers(2, 5))
def test_agglomeration_agrees_with_the_naive_way(numbers: list[int], wanted: int) -> None:
    made = agglomerative(numbers, [10] * len(numbers), groups=wanted)  # as many as a tail, so that none is left out
    if made.height < 2 or wanted >= len(numbers):
        return
    expected = naive_centroid_groups([float(x) for x in numbers], wanted)
    means = [sum(g) / len(g) for g in expected]
    gaps = np.diff(np.sort(np.concatenate([np.diff(means), [0]])))
    if (gaps < 1e-6).any():
        return  # ties may be broken either way
    assert sorted(map(sorted, groups_of(made, 1).values())) == sorted(map(sorted, expected))


def test_a_single_number_and_constant_columns_work() -> None:
    for build in (equal_width, equal_frequency, agglomerative):
        assert build([5]).rows() == [(5, "*")]
        assert build([5, 5, 5]).rows() == [(5, "*")]


@pytest.mark.parametrize("values", [["12"], [float("nan")], [float("inf")], [True], [None], []])
def test_what_is_no_number_is_refused_without_showing_it(values: list) -> None:
    with pytest.raises(BadInput, match="numbers") as caught:
        equal_width(values)
    assert "12" not in str(caught.value)


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(BadInput, match="fanout"):
        equal_width([1, 2], fanout=1)
    with pytest.raises(BadInput, match="width"):
        equal_width([1, 2], width=-1)
    with pytest.raises(BadInput, match="10 million"):
        equal_width([0, 1e9], width=1e-3)
    with pytest.raises(BadInput, match="as many counts"):
        equal_frequency([1, 2], [1])
    with pytest.raises(BadInput, match="linkage"):
        agglomerative([1, 2], linkage="single")  # type: ignore[arg-type]


def test_candidates_differ_in_structure() -> None:
    made = numeric_candidates(range(17, 91), [i % 7 + 1 for i in range(74)], name="age")
    assert len(made) >= 30
    assert len({signature(h) for h in made}) == len(made)
    assert {h.kind for h in made} == {"numeric"}


# ---- dates, masks, orders ----


def test_dates_nest() -> None:
    days = [datetime.date(2019, 12, 31), datetime.datetime(2020, 1, 1, 5), "2020-03-01", None]
    made = dates(days, spans=("day", "month", "quarter", "year", "decade", "century"))
    assert made.rows()[0][1:] == ("2019-12-31", "2019-12", "2019 Q4", "2019", "2010s", "2000s (century)", "*")
    assert made.rows()[3][1] == "missing"
    assert dates(["2021-01-03"], spans=("week",)).rows()[0][1] == "2020-W53"


def test_dates_that_do_not_nest_or_are_none_are_refused() -> None:
    with pytest.raises(BadInput, match="a week does not lie within one month"):
        dates(["2020-01-01"], spans=("week", "month"))
    with pytest.raises(BadInput, match="no calendar span 'moon'"):
        dates(["2020-01-01"], spans=("moon",))
    with pytest.raises(BadInput, match="2 values are no dates"):
        dates(["2020-01-01", "31.12.2020", 7])


def test_masks_from_either_side_and_of_any_length() -> None:
    assert masked(["81667", "81675"]).rows()[0] == ("81667", "8166*", "816**", "81***", "8****", "*")
    assert masked(["81667"], keep="end", steps=[3]).rows()[0] == ("81667", "***67", "*")
    short = masked(["12", "12345", None])
    assert short.rows()[0][1:4] == ("12***", "12***", "12***")
    assert short.rows()[1][3] == "12***"
    assert [f for f in check(short) if f.is_error] == []


@pytest.mark.parametrize("steps", [[0], [5], [2, 1], [2, 2]])
def test_bad_masks_are_refused(steps: list[int]) -> None:
    with pytest.raises(BadInput, match="steps must grow"):
        masked(["81667"], steps=steps)
    with pytest.raises(BadInput, match="one character"):
        masked(["81667"], mask="**")
    with pytest.raises(BadInput, match="no values"):
        masked([])


def test_ordered_values_join_their_neighbours() -> None:
    made = ordered(["a", "b", "c", "d", "e"])
    assert made.rows()[4] == ("e", "e", "e", "*")
    assert made.rows()[0] == ("a", "a to b", "a to d", "*")
    with pytest.raises(BadInput, match="not neighbours"):
        ordered(["a", "b", "c"], groups=[{"x": ["a", "c"], "y": ["b"]}])
    with pytest.raises(BadInput, match="once"):
        ordered(["a", "b"], groups=[{"x": ["a"]}])
    with pytest.raises(BadInput, match="each value once"):
        ordered(["a", "a"])


# ---- sizes ----


def test_interval_losses_by_hand() -> None:
    numbers = equal_frequency([0, 10, 20, 100], groups=2)
    assert interval_losses(numbers).tolist() == [[0.15, 1], [0.15, 1], [0.85, 1], [0.85, 1]]
    ranks = ordered(["a", "b", "c", "d", "e"])
    assert interval_losses(ranks)[0].tolist() == [0.25, 0.75, 1.0]
    assert interval_losses(ranks)[4].tolist() == [0.0, 0.0, 1.0]
    days = dates(["2020-01-01", "2020-01-11", "2020-04-10"], spans=("month",))
    assert interval_losses(days)[:, 0].tolist() == [0.1, 0.1, 0.0]
    codes = masked(["11", "12", "21"])
    assert interval_losses(codes)[:, 0].tolist() == [0.5, 0.5, 0.0]


def test_a_missing_value_joined_with_numbers_costs_its_share() -> None:
    losses = interval_losses(equal_width([0, 1, 2, None], groups=3))
    assert losses[3, -1] == 1.0
    assert losses[3, 0] == 0.0


@settings(max_examples=40, deadline=None)
@given(numbers=NUMBERS)
def test_interval_losses_grow_with_the_level_and_fill_the_scale(numbers: list[float]) -> None:
    losses = interval_losses(equal_frequency(numbers, groups=5))
    assert (np.diff(losses, axis=1) >= -1e-12).all()
    assert ((losses >= 0) & (losses <= 1)).all()
    if len(numbers) > 1:
        assert (losses[:, -1] == 1).all()


def test_numeric_hierarchies_are_scored_without_a_distance() -> None:
    assert 0 < score(equal_width(range(100))).total < 1
    text = Hierarchy.of_rows([("young", "*")], kind="numeric", name="age")
    with pytest.raises(BadHierarchy, match="age: a leaf is no number"):
        score(text)


# ---- kinds -----------------------------------------------------------------------------------------------------------


def test_the_names_of_kinds_are_told_before_their_modules_are_loaded() -> None:
    assert tuple(KINDS) == get_args(KindName)
    assert all(name == kind.name for name, kind in KINDS.items())


@pytest.mark.parametrize(("old", "new"), [("masked", "code"), ("ordered", "ordinal")])
def test_outdated_names_of_kinds_are_understood_with_a_warning(old: str, new: str) -> None:
    with pytest.warns(InputWarning, match=f"the kind '{old}' is called '{new}' now"):
        hierarchy = Hierarchy.of_rows([("a", "*"), ("b", "*")], kind=old)
    assert hierarchy.kind == new


def test_a_kind_that_does_not_exist_is_refused_with_a_hint() -> None:
    with pytest.raises(BadInput, match=r"no kind is called 'numric'; there are: nominal, .* Did you mean numeric\?"):
        Hierarchy.of_rows([("a", "*")], kind="numric")


@pytest.mark.parametrize("build", [banded, equal_width, equal_frequency, agglomerative])
@pytest.mark.parametrize("people", [5, 8, 40, 300])
@pytest.mark.parametrize("seed", range(3))
def test_how_extreme_somebody_is_moves_no_end(build: Any, people: int, seed: int) -> None:
    """Ranges are the same whatever the richest earns, if it is far more than all others do."""
    rng = np.random.default_rng(seed)
    usual = sorted(set(rng.integers(200, 600, people - 1).tolist()))
    one, other = (build([*usual, richest]) for richest in (9_412_377, 512_003))
    assert [row[1:] for row in one.rows()] == [row[1:] for row in other.rows()]
    ends = [end for row in one.rows() for label in row[1:] if (pair := parse_interval(label)) for end in pair]
    assert max(end for end in ends if np.isfinite(end)) <= 1_000


def test_no_span_of_dates_reaches_beyond_the_decades_that_are_told() -> None:
    """Births up to 2019 are `2000 or later`, not `2000 to 2039`; one of 2055 is so, too."""
    days = [f"{year}-0{1 + year % 9}-11" for year in range(1931, 2020) for _ in range(3)]
    made = dates([*days, "2031-01-01", "2055-01-01"])
    rows = {row[0]: row for row in made.rows()}
    assert rows["2015-09-11"][3:] == ("2010s", "2000 to 2019", "2000 or later", "*")
    assert rows["1999-02-11"][3:] == ("1990s", "1980 to 1999", "1960 to 1999", "*")
    assert rows["2031-01-01"][4:] == rows["2055-01-01"][4:] == ("2020 or later", "2000 or later", "*")
    told = calendar_rule({row[0]: row[5] for row in rows.values()})
    assert told is not None
    assert told(datetime.date(2041, 1, 1)) == "2000 or later"
