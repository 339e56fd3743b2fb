"""Microaggregation of ordinary records: MDAV, orders, adaptive groups, t-closeness."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible, PrivacyWarning
from keepsense.methods.microaggregate.adaptive_microaggregation import adaptive_microaggregation
from keepsense.methods.microaggregate.individual_ranking import individual_ranking
from keepsense.methods.microaggregate.mdav import Partition, mdav
from keepsense.methods.microaggregate.microaggregation import microaggregation_of_records, own_order
from keepsense.methods.microaggregate.microaggregation_along_a_score import microaggregation_along_a_score, runs, scores
from keepsense.methods.microaggregate.record_space import RecordSpace, centres
from keepsense.methods.microaggregate.t_close_microaggregation import t_close_microaggregation
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.t_closeness import TCloseness
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Nominal, Ordered
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.verification.verifier import verify

JOBS = from_edges(
    [
        ("nurse", "medic"),
        ("surgeon", "medic"),
        ("clerk", "office"),
        ("typist", "office"),
        ("medic", "job"),
        ("office", "job"),
    ]
)
SIZES = ["s", "m", "l", "xl"]


def people(n: int, seed: int) -> Counts:
    rng = np.random.default_rng(seed)
    return Counts.of(
        {
            "age": rng.integers(20, 60, n).tolist(),
            "job": rng.choice(["nurse", "surgeon", "clerk", "typist"], n).tolist(),
            "size": rng.choice(SIZES, n).tolist(),
        }
    )


def columns_of(counts: Counts) -> list[Attribute]:
    return [
        Ordered.of(counts, "age"),
        Nominal.of(counts, "job", distance("wu-palmer", JOBS)),
        Ordered.of(counts, "size", levels=SIZES),
    ]


def rows_after(cells: Cells) -> list[tuple[object, ...]]:
    rows: list[tuple[object, ...]] = []
    for codes, times in zip(cells.codes.tolist(), cells.multiplicity.tolist(), strict=True):
        rows += [tuple(v[c] for v, c in zip(cells.values, codes, strict=True))] * times
    return rows


# ---- MDAV ------------------------------------------------------------------------------------------------------------


def plain_mdav(points: list[list[float]], k: int) -> list[list[int]]:
    """MDAV on numbers, one record at a time, squared Euclidean distance and the average record."""
    left = list(range(len(points)))
    groups = []

    def far(a: list[float], b: list[float]) -> float:
        return sum((x - y) ** 2 for x, y in zip(a, b, strict=True)) / len(a)

    def around(seed: int) -> None:
        left.remove(seed)
        group = [seed]
        for _ in range(k - 1):
            near = min(left, key=lambda i: (round(far(points[seed], points[i]), 10), i))
            group.append(near)
            left.remove(near)
        groups.append(group)

    while len(left) >= 2 * k:
        centre = [sum(points[i][j] for i in left) / len(left) for j in range(len(points[0]))]
        first = max(left, key=lambda i: (round(far(centre, points[i]), 10), -i))
        around(first)
        if len(left) < 2 * k:
            break
        around(max(left, key=lambda i: (round(far(points[first], points[i]), 10), -i)))
    groups.append(left)
    return groups


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(5, 40))
def test_mdav_on_numbers_agrees_with_the_plain_one(seed: int, k: int, n: int) -> None:
    if n < k:
        return
    rng = np.random.default_rng(seed)
    table = {"a": rng.normal(size=n).round(6).tolist(), "b": rng.normal(size=n).round(6).tolist()}
    counts = Counts.of(table)
    attributes = [Ordered.of(counts, name) for name in table]
    points = np.stack([a.positions[counts.column(a.name)] / a.span for a in attributes], axis=1)
    found = mdav(RecordSpace(counts, attributes), counts.weights, k)
    assert [sorted(r.tolist()) for r, _ in found] == [sorted(g) for g in plain_mdav(points.tolist(), k)]


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_every_method_keeps_k(seed: int, k: int) -> None:
    counts = people(40, seed)
    columns = columns_of(counts)
    numbers = [columns[0], columns[2]]
    for cells in (
        microaggregation_of_records(counts, columns, k=k),
        microaggregation_of_records(counts, columns, k=k, candidates="subsumers"),
        adaptive_microaggregation(counts, columns, k=k),
        microaggregation_along_a_score(counts, numbers, k=k),
        microaggregation_along_a_score(counts, numbers, k=k, score="z-scores"),
    ):
        cells.check(counts)
        assert min(Counter(rows_after(cells)).values()) >= k
        released = {name: [r[j] for r in rows_after(cells)] for j, name in enumerate(cells.names)}
        text = {name: [str(v) for v in column] for name, column in released.items()}
        assert verify(text, [KAnonymity(k)], quasi_identifiers=cells.names).ok


def test_mixed_records_are_grouped_by_all_columns() -> None:
    counts = Counts.of({"age": [20, 21, 20, 21], "job": ["nurse", "clerk", "surgeon", "typist"]})
    columns = [Ordered.of(counts, "age", span=100), Nominal.of(counts, "job", distance("wu-palmer", JOBS))]
    cells = microaggregation_of_records(counts, columns, k=2)
    assert Counter(rows_after(cells)) == {(20.0, "nurse"): 2, (21.0, "clerk"): 2}


def test_row_order_does_not_matter() -> None:
    rng = np.random.default_rng(8)
    n = 60
    table = {"age": rng.integers(20, 30, n).tolist(), "job": rng.choice(["nurse", "surgeon", "clerk"], n).tolist()}
    mixed = rng.permutation(n).tolist()
    found = []
    for order in (range(n), mixed):
        counts = Counts.of({name: [column[i] for i in order] for name, column in table.items()})
        columns = [Ordered.of(counts, "age"), Nominal.of(counts, "job", distance("wu-palmer", JOBS))]
        for method in (microaggregation_of_records, adaptive_microaggregation):
            found.append(Counter(rows_after(method(counts, columns, k=3))))
    assert found[0] == found[2]
    assert found[1] == found[3]


def test_weighted_records_are_grouped_like_rows() -> None:
    counts = Counts.of({"age": [20] * 5 + [30] * 5})
    cells = microaggregation_of_records(counts, [Ordered.of(counts, "age")], k=5)
    assert Counter(rows_after(cells)) == {(20.0,): 5, (30.0,): 5}
    assert cells.info["squared error"] == 0
    assert cells.info["groups"] == 2


def test_centre_of_words_may_be_something_more_general() -> None:
    # a distance by links: the parent is 1 from both, each child 2 from the other
    counts = Counts.of({"job": ["nurse", "surgeon", "clerk"]})
    column = Nominal.of(counts, "job", distance("path", JOBS))
    parts = Partition(np.array([0, 0, 0]), np.array([0, 1, 2]), np.array([2, 2, 2]))
    assert centres(column, counts.column("job"), parts).values[0] == "nurse"
    wide = centres(column, counts.column("job"), parts, "subsumers")
    assert wide.values[int(wide.codes[0])] == "medic"
    with pytest.raises(BadInput, match="'values' or 'subsumers'"):
        centres(column, counts.column("job"), parts, "any")  # type: ignore[arg-type]


def test_centre_of_ordered_categories_is_a_median() -> None:
    counts = Counts.of({"size": ["s", "s", "xl", "l"]})
    cells = microaggregation_of_records(counts, [Ordered.of(counts, "size", levels=SIZES)], k=4)
    assert rows_after(cells) == [("s",)] * 4


def test_what_cannot_be_done_is_refused() -> None:
    counts = people(5, 0)
    with pytest.raises(Infeasible, match="5 records cannot form a group of k = 6"):
        microaggregation_of_records(counts, columns_of(counts), k=6)
    with pytest.raises(BadInput, match="at least one column"):
        microaggregation_of_records(counts, [], k=2)
    with pytest.raises(BadInput, match="another table"):
        microaggregation_of_records(counts, columns_of(people(7, 1)), k=2)


# ---- orders ----------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=12), st.integers(2, 5), st.integers(0, 2**32 - 1))
def test_runs_cut_the_line_every_k(weights: list[int], k: int, seed: int) -> None:
    if sum(weights) < k:
        return
    order = np.random.default_rng(seed).permutation(len(weights))
    parts = runs(order, np.array(weights), k)
    assert (parts.sizes[:-1] == k).all()
    assert k <= parts.sizes[-1] < 2 * k
    line = [i for i in order.tolist() for _ in range(weights[i])]
    assert [i for records, copies in parts for i in np.repeat(records, copies).tolist()] == line


def test_individual_ranking_keeps_means_and_warns() -> None:
    counts = people(50, 3)
    columns = [columns_of(counts)[0], columns_of(counts)[1]]
    with pytest.warns(PrivacyWarning, match="single people out"):
        cells = individual_ranking(counts, columns, k=5)
    ages = counts.column("age")
    original = sum(counts.values_of("age")[c] * w for c, w in zip(ages.tolist(), counts.weights.tolist(), strict=True))  # type: ignore[operator]
    assert sum(float(r[0]) for r in rows_after(cells)) == pytest.approx(original)  # type: ignore[arg-type]
    for j in range(2):
        assert min(Counter(r[j] for r in rows_after(cells)).values()) >= 5


def test_individual_ranking_of_one_column_is_quiet_and_exact() -> None:
    counts = Counts.of({"age": [5, 1, 4, 2, 3]})
    cells = individual_ranking(counts, [Ordered.of(counts, "age")], k=2)
    assert sorted(rows_after(cells)) == [(1.5,), (1.5,), (4.0,), (4.0,), (4.0,)]


def test_scores() -> None:
    table = np.array([[1.0, 10.0, 5.0], [2.0, 20.0, 5.0], [3.0, 30.0, 5.0]])
    weights = np.array([1, 1, 1])
    z = scores(table, weights, "z-scores")
    component = scores(table, weights, "principal component")
    assert np.argsort(z).tolist() == np.argsort(component).tolist() == [0, 1, 2]
    np.testing.assert_allclose(z, 2 * (table[:, 0] - 2) / table[:, 0].std())
    np.testing.assert_allclose(component, np.sqrt(2) * (table[:, 0] - 2) / table[:, 0].std())
    doubled = scores(np.repeat(table, [1, 2, 1], axis=0), np.ones(4, int), "principal component")
    np.testing.assert_allclose(doubled[[0, 1, 3]], scores(table, np.array([1, 2, 1]), "principal component"))


def test_orders_are_for_numbers() -> None:
    counts = people(20, 1)
    with pytest.raises(BadInput, match="'job' holds words"):
        microaggregation_along_a_score(counts, columns_of(counts), k=2)
    with pytest.raises(BadInput, match="the score is"):
        microaggregation_along_a_score(counts, [Ordered.of(counts, "age")], k=2, score="sum")  # type: ignore[arg-type]


def test_mdav_loses_less_than_a_single_axis() -> None:
    rng = np.random.default_rng(2)
    counts = Counts.of({"a": rng.normal(size=200).tolist(), "b": rng.normal(size=200).tolist()})
    columns = [Ordered.of(counts, "a"), Ordered.of(counts, "b")]
    lost = microaggregation_of_records(counts, columns, k=4).info["squared error"]
    assert lost < microaggregation_along_a_score(counts, columns, k=4).info["squared error"]


# ---- adaptive --------------------------------------------------------------------------------------------------------


def test_equal_records_are_never_torn_apart() -> None:
    counts = people(400, 5).project(["job", "size"])
    columns = [Nominal.of(counts, "job", distance("wu-palmer", JOBS)), Ordered.of(counts, "size", levels=SIZES)]
    cells = adaptive_microaggregation(counts, columns, k=4)
    assert len(np.unique(cells.source)) == len(cells.source)
    assert cells.info["squared error"] == 0 < microaggregation_of_records(counts, columns, k=4).info["squared error"]


def test_frequent_records_stay_as_they_are() -> None:
    counts = Counts.of({"job": ["nurse"] * 7 + ["clerk"] * 6})
    cells = adaptive_microaggregation(counts, [Nominal.of(counts, "job", distance("wu-palmer", JOBS))], k=3)
    assert Counter(rows_after(cells)) == {("nurse",): 7, ("clerk",): 6}


def test_what_is_left_over_joins_the_nearest_group() -> None:
    counts = Counts.of({"age": [20] * 4 + [60] * 4 + [58]})
    cells = adaptive_microaggregation(counts, [Ordered.of(counts, "age")], k=4)
    assert Counter(rows_after(cells)) == {(20.0,): 4, (59.6,): 5}


# ---- t-closeness -----------------------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1),
    st.integers(2, 4),
    st.sampled_from([0.1, 0.25, 0.5]),
    st.sampled_from(["merge", "swap", "spread"]),
)
def test_groups_are_close_and_large_enough(seed: int, k: int, t: float, how: str) -> None:
    rng = np.random.default_rng(seed)
    n = 36
    counts = Counts.of({"age": rng.integers(20, 60, n).tolist(), "salary": rng.integers(1, 9, n).tolist()})
    cells = t_close_microaggregation(
        counts,
        [Ordered.of(counts, "age")],
        k=k,
        t=t,
        sensitive="salary",
        distance="ordered",
        how=how,  # type: ignore[arg-type]
    )
    rows = [(r[0], s) for r, s in zip(rows_after(cells), _sensitive(counts, cells), strict=True)]
    groups = Counter(age for age, _ in rows)
    assert min(groups.values()) >= k
    found = Counts.of({"age": [a for a, _ in rows]}, histograms={"salary": [s for _, s in rows]})
    assert TCloseness(t, "salary", "ordered").satisfied(found.weights, found.histograms).all()


def _sensitive(counts: Counts, cells: Cells) -> list[object]:
    values, codes = counts.values_of("salary"), counts.column("salary")
    return [
        values[codes[s]]
        for s, m in zip(cells.source.tolist(), cells.multiplicity.tolist(), strict=True)
        for _ in range(m)
    ]


def test_swapping_and_spreading_lose_less_than_merging() -> None:
    rng = np.random.default_rng(0)
    n = 120
    age = rng.integers(20, 60, n)
    counts = Counts.of({"age": age.tolist(), "salary": (age // 4 + rng.integers(0, 2, n)).tolist()})
    column = [Ordered.of(counts, "age")]
    lost = {
        how: t_close_microaggregation(counts, column, k=3, t=0.2, sensitive="salary", distance="ordered", how=how).info[
            "squared error"
        ]  # type: ignore[arg-type]
        for how in ("merge", "swap", "spread")
    }
    assert lost["swap"] < lost["merge"]
    assert lost["spread"] < lost["merge"]


def test_t_of_one_changes_nothing() -> None:
    counts = people(30, 2)
    column = [Ordered.of(counts, "age")]
    plain = microaggregation_of_records(counts, column, k=3)
    for how in ("merge", "swap"):
        close = t_close_microaggregation(counts, column, k=3, t=1.0, sensitive="job", how=how)  # type: ignore[arg-type]
        assert close.info["merged"] == 0
        assert close.info["squared error"] == pytest.approx(plain.info["squared error"])


def test_roles_and_parameters_are_checked() -> None:
    counts = people(30, 2)
    column = [Ordered.of(counts, "age")]
    with pytest.raises(BadInput, match="choose one role"):
        t_close_microaggregation(counts, column, k=3, t=0.2, sensitive="age")
    with pytest.raises(BadInput, match="from 0 to 1"):
        t_close_microaggregation(counts, column, k=3, t=1.5, sensitive="job")
    with pytest.raises(BadInput, match="'merge', 'swap', 'spread'"):
        t_close_microaggregation(counts, column, k=3, t=0.5, sensitive="job", how="first")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="an order"):
        t_close_microaggregation(counts, column, k=3, t=0.5, sensitive="job", how="spread")
    with pytest.raises(BadInput, match="no column 'jobs'"):
        t_close_microaggregation(counts, column, k=3, t=0.5, sensitive="jobs")


def test_own_order_sorts_numbers_as_numbers() -> None:
    assert own_order(Counts.of({"a": [10, 9, 100]}), ["a"]).tolist() == [1, 0, 2]
