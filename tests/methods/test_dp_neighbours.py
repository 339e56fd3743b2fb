"""Neighbouring tables under the functions that release counts and means: by known noise exactly, and by drawing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.neighbours import bound_by_score

from keepsense.counts import Counts
from keepsense.methods.perturb import dp_numbers
from keepsense.methods.perturb.dp_numbers import noisy_count, noisy_histogram, noisy_means
from keepsense.methods.perturb.privacy_budget import Budget

pytest.importorskip("opendp")

EPSILON, TIMES = 1.0, 1_200
DOMAIN = ["f", "m", "other"]
Draw = Callable[[], float]


def _of(sexes: str) -> Counts:
    return Counts.of({"sex": [{"f": "f", "m": "m", "o": "other"}[letter] for letter in sexes]})


def _difference(sexes: str, neighbours: Any, at: tuple[int, int] = (9, 9)) -> Draw:
    """Whether many f and few m are released: likelier of one table than of its neighbour, by all that noise allows."""
    counts = _of(sexes)

    def draw() -> float:
        options: Mapping[str, Any] = {"domains": {"sex": DOMAIN}, "epsilon": EPSILON, "budget": Budget(EPSILON)}
        made = noisy_histogram(counts, ["sex"], **options, neighbours=neighbours).rows_of("sex")
        return float(made.get("f", 0) >= at[0]) - float(made.get("m", 0) >= at[1])

    return draw


def _means(values: list[float], k: int, score: Callable[[Any], float]) -> Draw:
    counts = Counts.of({"x": values})

    def draw() -> float:
        made = noisy_means(counts, "x", (0.0, 100.0), k, EPSILON, Budget(EPSILON))
        return score(np.sort(np.repeat(np.array(made.values[0], dtype=np.float64), made.weights)))

    return draw


def _count(rows: int) -> Draw:
    return lambda: float(noisy_count(rows, EPSILON, Budget(EPSILON)))


STEPS = [float(x) for x in range(0, 100, 10)]
PAIRS: dict[str, tuple[Draw, Draw]] = {
    "a count": (_count(20), _count(21)),
    "one replaced": (_difference("f" * 9 + "m" * 8, "replace"), _difference("f" * 8 + "m" * 9, "replace")),
    "one more": (_difference("f" * 9 + "m" * 8, "add"), _difference("f" * 8 + "m" * 8, "add")),
    "the only m": (_difference("f" * 9 + "m", "replace", (10, 1)), _difference("f" * 10, "replace", (10, 1))),
    "the only one": (_difference("f", "replace", (1, 1)), _difference("m", "replace", (1, 1))),
    "all in one group": (
        _means([50.0] * 9 + [0.0], 10, lambda x: float(x.sum())),
        _means([50.0] * 9 + [100.0], 10, lambda x: float(x.sum())),
    ),
    "the richest": (
        _means([10.0] * 10, 5, lambda x: float(x[-1])),
        _means([10.0] * 9 + [1e9], 5, lambda x: float(x[-1])),
    ),
    "all ranks move": (
        _means([0.0, *STEPS], 3, lambda x: float(x.sum())),
        _means([*STEPS, 100.0], 3, lambda x: float(x.sum())),
    ),
}
TIGHT = {"a count", "one replaced", "one more", "all in one group"}
"""Pairs that use up what is promised, so that twice as much is seen."""


def bound(name: str, times: int = TIMES) -> float:
    return bound_by_score([[draw() for _ in range(2 * times)] for draw in PAIRS[name]])


@pytest.mark.parametrize("times", [TIMES, pytest.param(20_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", PAIRS)
def test_neighbours_are_told_apart_by_no_more_than_promised(name: str, times: int) -> None:
    assert bound(name, times) <= EPSILON


def _scaled(patch: pytest.MonkeyPatch, name: str, factor: float) -> None:
    right = getattr(dp_numbers, name)

    def wrong(numbers: Any, sensitivity: float, epsilon: float, budget: Budget, what: str) -> Any:
        return right(numbers, sensitivity, epsilon * factor, Budget(epsilon * factor), what)

    patch.setattr(dp_numbers, name, wrong)


@pytest.mark.parametrize("name", sorted(TIGHT))
def test_a_doubled_epsilon_is_seen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for drawn in ("_noisy_integers", "_noisy_floats"):
        _scaled(monkeypatch, drawn, 2.0)
    assert bound(name) > EPSILON


def test_a_count_that_moves_twice_is_seen() -> None:
    """Under `add` one count moves: a replaced record moves two, and is told apart by twice as much."""
    pair = _difference("f" * 9 + "m" * 8, "add"), _difference("f" * 8 + "m" * 9, "add")
    assert bound_by_score([[draw() for _ in range(2 * TIMES)] for draw in pair]) > EPSILON


def test_a_domain_from_the_table_is_seen() -> None:
    """Where nobody is m, no m is ever released."""
    counts = [_of("f" * 9 + "m"), _of("f" * 10)]

    def some_m(table: Counts) -> float:
        own = list(table.values_of("sex"))
        made = noisy_histogram(table, ["sex"], domains={"sex": own}, epsilon=EPSILON, budget=Budget(EPSILON))
        return float(made.rows_of("sex").get("m", 0) > 0)

    assert bound_by_score([[some_m(table) for _ in range(2 * TIMES)] for table in counts]) > EPSILON


def test_bounds_from_the_table_are_seen() -> None:
    """Cut at its own extremes and scaled by them, the noise tells by its size that somebody is rich."""

    def own(values: list[float]) -> Draw:
        counts = Counts.of({"x": values})
        ends = (min(values), max(values) + 1e-6)
        return lambda: float(max(noisy_means(counts, "x", ends, 5, EPSILON, Budget(EPSILON)).values[0]))  # type: ignore[type-var]

    pair = own([10.0] * 9 + [11.0]), own([10.0] * 9 + [100.0])
    assert bound_by_score([[draw() for _ in range(2 * TIMES)] for draw in pair]) > EPSILON


# ---- exactly: the noise is known, so what differs before it says all -------------------------------------------------


def before_noise(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, float, float]]:
    """What the noise is added to, its sensitivity and epsilon; nothing is added."""
    seen: list[tuple[Any, float, float]] = []

    def exact(numbers: Any, sensitivity: float, epsilon: float, budget: Budget, what: str) -> Any:
        seen.append((np.array(numbers, dtype=np.float64), float(sensitivity), epsilon))
        return np.array(numbers)

    for name in ("_noisy_integers", "_noisy_floats"):
        monkeypatch.setattr(dp_numbers, name, exact)
    return seen


def _loss(seen: list[tuple[Any, float, float]]) -> float:
    """The greatest logarithm of the ratio of densities: how far Laplace noise is moved, over its scale."""
    (one, sensitivity, epsilon), (other, *same) = seen[-2:]
    assert same == [sensitivity, epsilon]
    assert one.shape == other.shape
    return float(np.abs(one - other).sum() / (sensitivity / epsilon))


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from("fmo"), min_size=1, max_size=12), st.sampled_from("fmo"), st.data())
def test_histograms_of_neighbours_differ_by_no_more_than_epsilon(sexes: list[str], other: str, data: Any) -> None:
    at = data.draw(st.integers(0, len(sexes) - 1))
    replaced = [*sexes[:at], other, *sexes[at + 1 :]]
    with pytest.MonkeyPatch.context() as patch:
        seen = before_noise(patch)
        for neighbour, kind in ((replaced, "replace"), ([*sexes, other], "add")):
            for table in (sexes, neighbour):
                options: Mapping[str, Any] = {"domains": {"sex": DOMAIN}, "epsilon": EPSILON, "neighbours": kind}
                noisy_histogram(_of("".join(table)), ["sex"], **options, budget=Budget(EPSILON))
            assert _loss(seen) <= EPSILON * (1 + 1e-9)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.floats(-50, 150), min_size=2, max_size=14), st.floats(-1e9, 1e9), st.integers(1, 5), st.data())
def test_means_of_neighbours_differ_by_no_more_than_epsilon(
    values: list[float], other: float, k: int, data: Any
) -> None:
    at = data.draw(st.integers(0, len(values) - 1))
    with pytest.MonkeyPatch.context() as patch:
        seen = before_noise(patch)
        for table in (values, [*values[:at], other, *values[at + 1 :]]):
            noisy_means(Counts.of({"x": table}), "x", (0.0, 100.0), min(k, len(values)), EPSILON, Budget(EPSILON))
        assert _loss(seen) <= EPSILON * (1 + 1e-6)
