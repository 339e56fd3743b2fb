from __future__ import annotations

import importlib
from collections import defaultdict
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.hierarchies.round_bands import round_bands
from keepsense.methods.generalize.dimension import Cutting, dimensions, nominal, numeric, semantic
from keepsense.methods.generalize.infogain_mondrian import infogain_mondrian
from keepsense.methods.generalize.lsd_mondrian import lsd_mondrian
from keepsense.methods.generalize.mondrian import mondrian
from keepsense.methods.generalize.multidimensional_template import divide, groups
from keepsense.methods.generalize.semantic_mondrian import exchanged, semantic_mondrian, together
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.recoding import Cells
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.generalization_losses import importance_of

INFOGAIN: Any = importlib.import_module(infogain_mondrian.__module__)
JOBS = Hierarchy.of_rows(
    [
        ("nurse", "medic", "health", "*"),
        ("surgeon", "medic", "health", "*"),
        ("optician", "shop", "health", "*"),
        ("clerk", "office", "desk", "*"),
        ("typist", "office", "desk", "*"),
    ],
    name="job",
)


@st.composite
def tables(draw: st.DrawFn) -> Counts:
    n = draw(st.integers(6, 80))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    age = rng.integers(20, 60, n)
    return Counts.of(
        {"job": rng.choice(JOBS.leaves, n).tolist(), "age": age.tolist()},
        histograms={"illness": rng.choice(["flu", "cold", "gout"], n).tolist()},
        sums={"salary": (age * 100.0 + rng.normal(size=n)).tolist()},
    )


def released(cells: Cells) -> list[tuple[Any, ...]]:
    return [tuple(cells.values[j][c] for j, c in enumerate(row)) for row in cells.codes.tolist()]


def truthful(counts: Counts, cells: Cells) -> None:
    for source, out in zip(cells.source.tolist(), released(cells), strict=True):
        job, age = (counts.values[j][counts.codes[source, j]] for j in range(2))
        leaf = JOBS.leaves.index(job)
        assert out[0] in {JOBS.labels[level][JOBS.codes[leaf, level]] for level in range(4)}
        low, high = (-np.inf, np.inf) if out[1] == "*" else parse_interval(out[1], inside=True)
        assert low <= age <= high


RULES = [
    lambda c, k: mondrian(c, {"job": JOBS}, k=k),
    lambda c, k: mondrian(c, {"job": JOBS}, k=k, order="given"),
    lambda c, k: mondrian(c, {"job": JOBS}, k=k, relaxed=True),
    lambda c, k: infogain_mondrian(c, {"job": JOBS}, k=k, target="illness"),
    lambda c, k: lsd_mondrian(c, {"job": JOBS}, k=k, target="salary"),
    lambda c, k: semantic_mondrian(c, {"job": JOBS}, k=k),
]


@pytest.mark.parametrize("rule", RULES, ids=["median", "given order", "relaxed", "infogain", "lsd", "semantic"])
@settings(deadline=None, max_examples=40)
@given(counts=tables(), k=st.integers(2, 4))
def test_the_promise_holds_and_values_are_true(rule: Any, counts: Counts, k: int) -> None:
    cells = rule(counts, k)
    cells.check(counts)
    assert cells.apply(counts).weights.min() >= k
    truthful(counts, cells)


@settings(deadline=None, max_examples=30)
@given(tables())
def test_further_models_hold_too(counts: Counts) -> None:
    if len(set(counts.histograms["illness"].rows.indices.tolist())) < 2:
        return
    cells = mondrian(counts, {"job": JOBS}, k=2, models=[DistinctDiversity(2, "illness")])
    seen: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for source, out in zip(cells.source.tolist(), released(cells), strict=True):
        seen[out] |= set(counts.histograms["illness"].rows[source].tolist())
    assert all(len(values) >= 2 for values in seen.values())


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(0, 40), min_size=4, max_size=40), st.integers(1, 4))
def test_strict_median_equals_the_recursive_algorithm(ages: list[int], k: int) -> None:
    """One numeric column, the recursion over its bands written out: cut closest to the middle where k are left."""

    def recurse(group: list[int]) -> list[list[int]]:
        group = sorted(group)
        cuts = (
            [i for i in range(k, len(group) - k + 1) if group[i - 1] != group[i : i + 1][0]] if len(group) > k else []
        )
        cuts = [i for i in cuts if i < len(group)]
        if not cuts:
            return [group]
        at = min(cuts, key=lambda i: (abs(2 * i - len(group)), i))
        return recurse(group[:at]) + recurse(group[at:])

    if len(ages) < k:
        return
    counts = Counts.of({"age": ages})
    cells = mondrian(counts, k=k)
    bands = next(iter(round_bands(counts.values[0], counts.marginal("age"))), None)
    if bands is None:
        assert set(released(cells)) == {(str(ages[0]),)}
        return
    spans = sorted((bands.label(min(g), max(g)), len(g)) for g in recurse(bands.place(ages).tolist()))
    found: dict[str, int] = defaultdict(int)
    for (out,), m in zip(released(cells), cells.multiplicity.tolist(), strict=True):
        found[out] += m
    assert sorted(found.items()) == spans


@settings(deadline=None, max_examples=50)
@given(tables(), st.integers(1, 5), st.sampled_from(["widest", "given"]))
def test_the_compiled_loop_finds_the_same_groups(counts: Counts, k: int, order: Any) -> None:
    """Asking for a model that always agrees takes the general way, round by round."""
    plain = mondrian(counts, {"job": JOBS}, k=k, order=order)
    agreeing = mondrian(counts, {"job": JOBS}, k=k, order=order, models=[DistinctDiversity(1, "illness")])
    assert released(plain) == released(agreeing)
    assert plain.info["classes"] == agreeing.info["classes"]


def crowd(seed: int, rows: int) -> tuple[Counts, dict[str, Hierarchy]]:
    """Many people with words of two trees and two columns of numbers; illnesses are uneven."""
    rng = np.random.default_rng(seed)
    trees = {}
    for name, size in (("job", 30), ("hobby", 300)):  # what spans lose is looked up for one, worked out for the other
        middle = rng.integers(0, 8, size)
        trees[name] = Hierarchy.of_rows([(f"{i}", f"m{m}", f"t{m // 3}", "*") for i, m in enumerate(middle)], name=name)
    columns: dict[str, Any] = {name: rng.integers(0, len(tree.leaves), rows) for name, tree in trees.items()}
    columns = {name: [str(code) for code in codes] for name, codes in columns.items()}
    columns |= {"age": rng.integers(20, 60, rows).tolist(), "size": rng.integers(0, 4, rows).tolist()}
    return Counts.of(columns, histograms={"illness": np.minimum(rng.geometric(0.5, rows), 5).tolist()}), trees


@pytest.mark.parametrize("seed", range(12))
def test_the_compiled_loop_wins_back_the_same(seed: int) -> None:
    """A score that is not known to be compiled takes the general way: the same groups, numbers and rounds."""
    counts, trees = crowd(seed, (40, 400, 3000)[seed % 3])
    space = dimensions(counts, trees, importance={"age": 2.0} if seed % 2 else None)
    score = together(space, [1.0, 2.0, 1.0, 0.5])
    models = [KAnonymity(seed % 4 + 1), *([DistinctDiversity(seed % 3 + 1, "illness")] if seed % 4 else [])]
    plain, compiled = (
        divide(counts, space, models, score=each, order="best") for each in (lambda cutting: score(cutting), score)
    )
    assert released(plain) == released(compiled)
    assert dict(plain.info) == dict(compiled.info)
    numbered = [groups(counts, space, models, score=each).tolist() for each in (lambda cutting: score(cutting), score)]
    assert numbered[0] == numbered[1]


def test_large_weights_and_two_promises_take_the_compiled_loop_too() -> None:
    counts, trees = crowd(3, 500)
    counts = Counts(counts.names, counts.values, counts.codes, counts.weights * 100_000, counts.histograms)
    further = crowd(4, 500)[0].histograms["illness"]
    counts = replace(counts, histograms={**counts.histograms, "other": replace(further, rows=further.rows)})
    space = dimensions(counts, trees)
    models = [KAnonymity(400_000), DistinctDiversity(2, "illness"), DistinctDiversity(2, "other")]
    score = together(space, [1.0] * 4)
    plain, compiled = (
        divide(counts, space, models, score=each, order="best") for each in (lambda cutting: score(cutting), score)
    )
    assert released(plain) == released(compiled)
    assert dict(plain.info) == dict(compiled.info)


@pytest.mark.parametrize(("bits", "size"), [(14, 400), (14, 6000), (63, 6000)])
def test_ranks_in_several_words_and_groups_of_many_tuples_are_divided_alike(
    monkeypatch: pytest.MonkeyPatch, bits: int, size: int
) -> None:
    monkeypatch.setattr("keepsense.methods.generalize.joint_loss_gain._BITS", bits)
    counts, trees = crowd(5, size)
    space = dimensions(counts, trees)
    score = together(space, [1.0] * 4)
    models = [KAnonymity(3), DistinctDiversity(2, "illness")]
    numbered = [groups(counts, space, models, score=each).tolist() for each in (lambda cutting: score(cutting), score)]
    assert numbered[0] == numbered[1]


@settings(deadline=None, max_examples=30)
@given(st.lists(st.integers(0, 5), min_size=4, max_size=40), st.integers(1, 4))
def test_relaxed_groups_hold_k_to_less_than_2k(ages: list[int], k: int) -> None:
    if len(ages) < 2 * k or len(set(ages)) < 2:
        return
    cells = mondrian(Counts.of({"age": ages}), k=k, relaxed=True)
    assert cells.multiplicity.sum() == len(ages)
    assert cells.apply(Counts.of({"age": ages})).weights.min() >= k


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 4), st.integers(0, 3)), min_size=4, max_size=80),
    st.integers(1, 4),
)
def test_information_is_carried_on_from_cut_to_cut(rows: list[tuple[int, int, int]], k: int) -> None:
    ages, sizes, told = zip(*rows, strict=True)
    counts = Counts.of({"age": ages, "size": sizes}, histograms={"buys": told})
    if counts.total < k:
        return
    table = counts.histograms["buys"]
    numbers, rounds = table.table().astype(np.float64), 0

    def score(cutting: Any) -> Any:
        nonlocal rounds
        rounds += 1
        left, whole = cutting.sums(numbers)
        gained = INFOGAIN._bits(whole) - INFOGAIN._bits(left) - INFOGAIN._bits(whole - left)
        np.testing.assert_allclose(INFOGAIN._gained(cutting, table), gained, atol=1e-9)
        return gained / cutting.total

    divide(counts, dimensions(counts, {}, ["age", "size"]), [KAnonymity(k)], score=score, order="best")
    assert rounds


def test_information_gain_finds_the_class() -> None:
    ages = list(range(20, 40))
    counts = Counts.of(
        {"age": ages, "noise": [i % 4 for i in range(20)]}, histograms={"buys": ["no"] * 5 + ["yes"] * 15}
    )
    cells = infogain_mondrian(counts, k=5, target="buys")
    first = {out[0] for source, out in zip(cells.source.tolist(), released(cells), strict=True) if source < 5}
    assert all(parse_interval(span, inside=True)[1] < 25 for span in first), "no group mixes the two classes"


@settings(deadline=None, max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(0, 20)), min_size=4, max_size=60),
    st.sampled_from([1e-6, 0.5, 1e6]),
    st.sampled_from([0.0, -1e3, 1e4]),
)
def test_least_squared_deviance_depends_on_no_unit_and_no_zero(
    rows: list[tuple[int, int, int]], unit: float, zero: float
) -> None:
    columns = {"age": [row[0] for row in rows], "size": [row[1] for row in rows]}
    days = np.array([row[2] for row in rows], dtype=np.float64)
    plain, scaled = (
        lsd_mondrian(Counts.of(columns, sums={"days": target.tolist()}), k=2, target="days")
        for target in (days, days * unit + zero)
    )
    assert plain.values == scaled.values
    assert plain.codes.tolist() == scaled.codes.tolist()


def test_of_equally_good_cuts_the_most_even_one_is_made() -> None:
    counts = Counts.of({"age": list(range(8))}, sums={"days": [7] * 8})
    assert sorted(set(lsd_mondrian(counts, k=4, target="days").values[0])) == ["4 or more", "under 4"]


def test_given_order_exhausts_one_column_first() -> None:
    counts = Counts.of({"a": [1, 2, 3, 4], "b": [1, 100, 1, 100]})
    assert {out[1] for out in released(mondrian(counts, k=2, order="given"))} == {"*"}
    wide = mondrian(Counts.of({"a": [1, 1, 2, 2], "b": [1, 100, 1, 100]}), k=2, order="widest")
    assert wide.info["classes"] == 2


def test_branches_part_below_the_common_ancestor() -> None:
    by_branch = nominal("job", JOBS.leaves, JOBS)
    low, high = np.array([0, 0, 3, 2]), np.array([0, 2, 4, 3])
    ordered = [JOBS.leaves[i] for i in np.argsort(by_branch.rank)]
    for a, b, label in zip(low.tolist(), high.tolist(), by_branch.name_of(low, high), strict=True):
        rows = [JOBS.rows()[JOBS.leaves.index(job)] for job in ordered[a : b + 1]]
        expected = next(r for level in range(4) if len({row[level] for row in rows}) == 1 for r in [rows[0][level]])
        assert label == expected


def test_a_taxonomy_can_stand_in_for_a_hierarchy() -> None:
    t = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("wolf", "animal"), ("lynx", "animal")])
    kinds = ("wolf", "cat", "lynx", "dog")
    dimension = semantic("kind", kinds, t, kinds)
    counts = Counts.of({"kind": ["cat", "dog", "wolf", "lynx"]})
    cells = mondrian(counts, k=2, taxonomies={"kind": (t, counts.values[0])})
    assert cells.apply(counts).weights.min() >= 2
    assert set(cells.values[0]) <= {"pet", "animal"}
    assert dimension.height_of(np.array([0]), np.array([0])).tolist() == [0]


def test_refusals() -> None:
    counts = Counts.of({"age": [30, 31], "word": ["a", "b"]})
    with pytest.raises(BadInput, match="'word' has no hierarchy"):
        mondrian(counts, k=2)
    with pytest.raises(BadInput, match="no privacy model"):
        mondrian(Counts.of({"age": [30, 31]}))
    with pytest.raises(Infeasible, match="whole table"):
        mondrian(Counts.of({"age": [30, 31]}), k=3)
    with pytest.raises(BadInput, match="not numbers"):
        numeric("age", ("x",))
    with pytest.raises(BadInput, match="not counted"):
        infogain_mondrian(Counts.of({"age": [30]}), k=1, target="buys")
    with pytest.raises(BadInput, match="not summed"):
        lsd_mondrian(Counts.of({"age": [30]}), k=1, target="salary")
    with pytest.raises(BadInput, match="promises about k alone"):
        mondrian(
            Counts.of({"age": [30, 31]}, histograms={"x": [1, 2]}),
            k=1,
            models=[DistinctDiversity(1, "x")],
            relaxed=True,
        )
    with pytest.raises(BadInput, match="choose one role"):
        mondrian(Counts.of({"age": [30, 31]}, histograms={"age": [1, 2]}), models=[DistinctDiversity(1, "age")])
    with pytest.raises(BadInput, match="no quasi-identifier"):
        mondrian(Counts.of({}), k=2)


def test_events_tell_each_round() -> None:
    seen: list[Any] = []
    mondrian(Counts.of({"age": list(range(40))}), models=[KAnonymity(5)], listener=seen.append)
    assert [e.name for e in seen] == ["round"] * len(seen)
    assert seen[-1].done == 40


@pytest.mark.parametrize("rule", RULES, ids=["median", "given order", "relaxed", "infogain", "lsd", "semantic"])
@settings(max_examples=25, deadline=None)
@given(counts=tables(), k=st.integers(2, 4))
def test_orders_kept_from_round_to_round_give_the_same_groups(rule: Any, counts: Counts, k: int) -> None:
    """Large tables are not sorted again in every round; small ones are, and are the reference."""
    from keepsense.methods.generalize import dimension, multidimensional_template

    plain = rule(counts, k)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(multidimensional_template, "_MANY", 0)
        patch.setattr(dimension, "_FEW", 0)
        kept = rule(counts, k)
    assert released(plain) == released(kept)
    assert plain.info["classes"] == kept.info["classes"]


@pytest.mark.parametrize("name", ["mondrian", "semantic mondrian", "infogain mondrian"])
def test_numbers_with_gaps_are_divided_apart_from_those_without(name: str) -> None:
    """A missing age is released as missing or suppressed, never as a number, and every class keeps the promise."""
    import keepsense as ks

    ages = [None if i % 7 == 0 else 20 + i % 90 for i in range(280)]
    ill = [("flu", "cold")[i % 2] for i in range(280)]
    release = ks.anonymize(
        {"age": ages, "sex": ["f", "m"] * 140, "ill": ill},
        k=5,
        quasi_identifiers=["age", "sex"],
        target="ill" if name.startswith("infogain") else None,
        insensitive=[] if name.startswith("infogain") else ["ill"],
        method=name,
    )
    released = release.frame["age"]
    assert release.verification.ok
    assert released.count(None) == sum(age is None for age in ages)
    assert 0 < next(column.lost for column in release.columns if column.name == "age") < 0.5


def shared_loss_of(counts: Counts, group: Any) -> float:
    """What all records lose in both columns as members of groups, looked up span by span."""
    space = [nominal("job", counts.values[0], JOBS), numeric("age", counts.values[1], counts.marginal("age"))]
    total = 0.0
    for g in set(group.tolist()):
        inside = group == g
        for dimension in space:
            ranks = dimension.rank[counts.column(dimension.name)[inside]]
            lost = float(dimension.cost(np.array([ranks.min()]), np.array([ranks.max()]))[0])
            total += importance_of(len(dimension.width)) * lost**2 * int(counts.weights[inside].sum())
    return total


@settings(deadline=None, max_examples=40)
@given(counts=tables())
def test_cuts_are_judged_by_what_all_columns_lose(counts: Counts) -> None:
    space = [nominal("job", counts.values[0], JOBS), numeric("age", counts.values[1], counts.marginal("age"))]
    score, rounds = together(space, [1.0, 1.0]), []

    def remembered(cutting: Cutting) -> Any:
        rounds.append((cutting, score(cutting)))
        return rounds[-1][1]

    divide(counts, space, [KAnonymity(2)], score=remembered, order="best")
    cutting, scores = rounds[0]
    whole = shared_loss_of(counts, np.zeros(len(counts), np.int64))
    for i in np.flatnonzero(cutting.rank[:-1] != cutting.rank[1:]).tolist():
        side = np.ones(len(counts), np.int64)
        side[cutting.tuples[: i + 1]] = 0
        balance = 1.0 - abs(2.0 * cutting.left[i] / cutting.total[i] - 1.0)
        assert scores[i] == pytest.approx((whole - shared_loss_of(counts, side)) / counts.total + 1e-6 * balance)


@settings(deadline=None, max_examples=40)
@given(counts=tables(), k=st.integers(2, 4))
def test_records_change_groups_only_where_all_lose_less_and_the_promise_holds(counts: Counts, k: int) -> None:
    if len(set(counts.histograms["illness"].rows.indices.tolist())) < 2 or counts.total < k:
        return
    space = [nominal("job", counts.values[0], JOBS), numeric("age", counts.values[1], counts.marginal("age"))]
    models = [KAnonymity(k), DistinctDiversity(2, "illness")]
    score = together(space, [1.0, 1.0])
    before = groups(counts, space, models, score=score)
    after = groups(counts, space, models, score=score, settle=exchanged(space, [1.0, 1.0]))
    assert shared_loss_of(counts, after) <= shared_loss_of(counts, before) + 1e-9
    for g in set(after.tolist()):
        inside = np.flatnonzero(after == g)
        assert counts.weights[inside].sum() >= k
        assert len({i for t in inside.tolist() for i in counts.histograms["illness"].rows[t].tolist()}) >= 2


def test_who_lies_beyond_a_straight_cut_changes_sides() -> None:
    ages = [20, 21, 22, 40, 41, 42, 39, 23]
    jobs = ["nurse", "nurse", "nurse", "clerk", "clerk", "clerk", "nurse", "clerk"]
    counts = Counts.of({"job": jobs, "age": ages})
    space = [nominal("job", counts.values[0], JOBS), numeric("age", counts.values[1], counts.marginal("age"))]
    mixed = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    settled = mixed.copy()
    ranks = np.stack([d.rank[counts.column(d.name)].astype(np.int64) for d in space], axis=1)
    exchanged(space, [9.0, 1.0])(ranks, counts.weights, settled, 2, lambda group: np.ones(2, np.bool_))
    assert shared_loss_of(counts, settled) < shared_loss_of(counts, mixed)
    assert settled.tolist() == [0, 0, 0, 1, 1, 1, 0, 1]
