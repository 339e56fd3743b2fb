from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from keepsense.methods.generalize.cell_greedy import cell_greedy
from keepsense.methods.generalize.kernels.greedy import cheapest, dissolve, grow, joining_costs, relocate
from tests.methods.table_reference import HIERARCHIES, assert_true_ancestors, counted, kept, released, rows_of_tables

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.local_recoding import local_recoding
from keepsense.methods.generalize.optimal import optimal
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.privacy.t_closeness import TCloseness
from keepsense.recoding import Cells
from keepsense.utility.generalization_losses import loss


@settings(deadline=None, max_examples=50)
@given(rows_of_tables(), st.integers(2, 6), st.sampled_from([2, 7, 1000]))
def test_the_promise_holds_and_values_are_least_common_ancestors(
    rows: list[tuple[Any, ...]], k: int, block: int
) -> None:
    k = min(k, len(rows))
    counts = counted(rows)
    cells = cell_greedy(counts, HIERARCHIES, k=k, block=block)
    cells.check(counts)
    assert min(kept(cells, counts)) >= k
    assert_true_ancestors(cells, counts)
    assert cells.info["loss"] == pytest.approx(loss(counts, cells, HIERARCHIES))
    again = [rows[i] for i in np.random.default_rng(k).permutation(len(rows))]
    other = cell_greedy(counted(again), HIERARCHIES, k=k, block=block)
    rule = dict(zip(original(counts), released(cells, counts), strict=True))
    assert rule == dict(zip(original(counted(again)), released(other, counted(again)), strict=True))


def original(counts: Counts) -> list[tuple[Any, ...]]:
    return [tuple(counts.values[j][c] for j, c in enumerate(row)) for row in counts.codes.tolist()]


@settings(deadline=None, max_examples=25)
@given(rows_of_tables(), st.integers(0, 2**32 - 1))
def test_further_models_hold(rows: list[tuple[Any, ...]], seed: int) -> None:
    ill = [str(v) for v in np.random.default_rng(seed).choice(["flu", "cold", "gout"], len(rows))]
    counts = counted(rows, ill)
    if len(set(ill)) < 2:
        with pytest.raises(Infeasible, match="weaker l-diversity"):
            cell_greedy(counts, HIERARCHIES, k=2, models=[DistinctDiversity(2, "illness")])
        return
    cells = cell_greedy(counts, HIERARCHIES, k=2, models=[DistinctDiversity(2, "illness"), TCloseness(0.4, "illness")])
    seen: dict[tuple[Any, ...], Any] = {}
    table = counts.histograms["illness"].table()
    for t, out in enumerate(released(cells, counts)):
        seen[out] = seen.get(out, 0) + table[t]
    whole = table.sum(axis=0) / table.sum()
    for here in seen.values():
        assert here.sum() >= 2
        assert (here > 0).sum() >= 2
        assert np.abs(here / here.sum() - whole).sum() / 2 <= 0.4 + 1e-9


def reference(
    columns: Any, weights: Any, k: int, paths: list[Any], losses: list[Any]
) -> tuple[list[set[int]], set[int]]:
    """Classes grown as the definition says, with sets of tuples and ancestors looked up anew each time."""
    d = columns.shape[1]

    def cost(members: set[int]) -> float:
        total = 0.0
        for j in range(d):
            values = {int(columns[t, j]) for t in members}
            level = next((lv for lv in range(paths[j].shape[1]) if len({paths[j][v, lv] for v in values}) == 1), None)
            if level is None:
                return np.inf
            total += losses[j][next(iter(values)), level]
        return total

    waiting, last = list(range(len(columns))), set[int]()
    classes: list[set[int]] = []
    while sum(weights[t] for t in waiting) >= k:
        far = [cost(last | {t}) for t in waiting] if last else [0.0] * len(waiting)
        mine = {waiting[int(np.argmin(far))]}
        while sum(weights[t] for t in mine) < k:
            held = sum(weights[t] for t in mine)
            rest = [t for t in waiting if t not in mine]
            added = [(held + weights[t]) * cost(mine | {t}) - held * cost(mine) for t in rest]
            if not rest or min(added) == np.inf:
                return classes, set(waiting)
            mine.add(rest[int(np.argmin(added))])
        classes.append(mine)
        waiting = [t for t in waiting if t not in mine]
        last = mine
    return classes, set(waiting)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.booleans())
def test_the_compiled_growing_equals_its_definition(seed: int, k: int, forest: bool) -> None:
    rng = np.random.default_rng(seed)
    tops = 2 if forest else 1
    paths = [np.stack([np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.arange(8) * tops // 8], axis=1)] * 2
    losses = [np.array([[0, 1, 3, 8]] * 8) / 8, np.array([[0, 2, 4, 8]] * 8) / 8]  # halves and quarters: no rounding
    n = int(rng.integers(1, 16))
    columns = rng.integers(0, 8, (n, 2)).astype(np.int32)
    weights = rng.integers(1, 4, n)
    at = np.arange(8).reshape(2, 4) * 8
    codes = np.concatenate([p.T.ravel() for p in paths]).astype(np.int32)
    flat = np.concatenate([x.T.ravel() for x in losses]).astype(np.float64)
    sizes, heights, begin = np.array([8, 8]), np.array([3, 3]), np.array([0, 8, 16])
    owner, waiting = np.full(n, -1), np.arange(n)
    left, made = grow(columns, weights, waiting, k, codes, flat, at, sizes, heights, begin, owner, 0)
    classes, rest = reference(columns, weights, k, paths, losses)
    assert [set(np.flatnonzero(owner == c).tolist()) for c in range(made)] == classes
    assert set(waiting[:left].tolist()) == rest


def a_partition(seed: int, k: int) -> dict[str, Any]:
    """Tuples of two columns in classes of at least k records, described as the compiled loops want it."""
    rng = np.random.default_rng(seed)
    path = np.stack([np.arange(8), np.arange(8) // 2, np.arange(8) // 4, np.zeros(8, int)], axis=1)
    table = np.array([[0, 1, 3, 8]] * 8) / 8
    n = int(rng.integers(4, 20))
    columns, weights = rng.integers(0, 8, (n, 2)).astype(np.int32), rng.integers(1, 4, n)
    owner = rng.integers(0, max(1, int(weights.sum()) // (2 * k)), n)
    while True:  # classes that are too small join the next one
        _, owner = np.unique(owner, return_inverse=True)
        held = np.bincount(owner, weights)
        if held.min() >= k or len(held) == 1:
            break
        small = int(np.argmin(held))
        owner = np.where(owner == small, (small + 1) % len(held), owner)
    members = [np.flatnonzero(owner == c) for c in range(owner.max() + 1)]
    level = np.array([[lowest(path, columns[m, j]) for j in range(2)] for m in members])
    rep = np.array([columns[m[0]] for m in members]).astype(np.int64)
    return {
        "columns": columns, "weights": weights, "owner": owner, "rep": rep, "level": level,
        "size": np.array([weights[m].sum() for m in members]),
        "lost": np.array([sum(table[0, lv] for lv in row) for row in level]),
        "codes": np.concatenate([path.T.ravel()] * 2).astype(np.int32),
        "losses": np.concatenate([table.T.ravel()] * 2), "at": np.arange(8).reshape(2, 4) * 8,
        "heights": np.array([3, 3]), "path": path, "table": table[0],
        "starts": np.concatenate(([0], np.cumsum([len(m) for m in members]))), "members": np.concatenate(members),
    }  # fmt: skip


def lowest(path: Any, values: Any) -> int:
    return next(lv for lv in range(4) if len({path[v, lv] for v in values}) == 1)


def whole_loss(given: dict[str, Any]) -> float:
    total = 0.0
    for c in np.unique(given["owner"]):
        mine = given["owner"] == c
        cost = sum(given["table"][lowest(given["path"], given["columns"][mine, j])] for j in range(2))
        total += float(given["weights"][mine].sum() * cost)
    return total


CLASSES = ("rep", "level", "size", "lost", "codes", "losses", "at", "heights")


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_the_cheapest_class_is_found(seed: int, k: int) -> None:
    given = a_partition(seed, k)
    best, cost = cheapest(0, given["owner"][0], given["columns"], given["weights"], *(given[x] for x in CLASSES))
    added = {}
    for c in set(given["owner"].tolist()) - {int(given["owner"][0])}:
        mine = given["owner"] == c
        joint = mine.copy()
        joint[0] = True
        price = [
            given["weights"][m].sum()
            * sum(given["table"][lowest(given["path"], given["columns"][m, j])] for j in (0, 1))
            for m in (joint, mine)
        ]
        added[c] = price[0] - price[1]
    assert (best, cost) == (min(added, key=lambda c: (added[c], c)), min(added.values())) if added else best == -1


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_dissolving_and_moving_lower_the_loss_and_keep_k(seed: int, k: int) -> None:
    for step in ("dissolve", "relocate"):
        given = a_partition(seed, k)
        before, was = whole_loss(given), given["owner"].copy()
        common = (given["columns"], given["weights"])
        classes = [given[x] for x in CLASSES]
        if step == "dissolve":
            order = np.argsort(-given["lost"], kind="stable")
            changed = dissolve(order, given["starts"], given["members"], *common, given["owner"], *classes)
        else:
            changed = relocate(given["starts"], given["members"], *common, k, given["owner"], *classes)
        after = whole_loss(given)
        assert after < before if changed else (after == before and (given["owner"] == was).all())
        held = np.bincount(given["owner"], given["weights"])
        assert held[held > 0].min() >= min(k, given["weights"].sum())
        for c in np.unique(given["owner"]):
            mine = given["owner"] == c
            assert given["size"][c] == given["weights"][mine].sum()
            for j in range(2):
                assert given["level"][c, j] >= lowest(given["path"], given["columns"][mine, j])


@settings(deadline=None, max_examples=25)
@given(rows_of_tables(), st.integers(2, 4))
def test_it_improves_another_recoding(rows: list[tuple[Any, ...]], k: int) -> None:
    counts = counted(rows)
    start = local_recoding(counts, HIERARCHIES, [KAnonymity(k)])
    better = cell_greedy(counts, HIERARCHIES, k=k, start=start, rounds=3)
    assert min(kept(better, counts)) >= k
    assert better.info["loss"] <= start.info["loss"] + 1e-12
    with pytest.raises(BadInput, match="this very table"):
        cell_greedy(counted([*rows, ("nurse", 20, "f")] * 2), {**HIERARCHIES}, k=k, start=cut_short(start))


def cut_short(cells: Cells) -> Cells:
    return Cells(cells.names, cells.values, cells.source[:1], cells.codes[:1], cells.multiplicity[:1])


def test_joining_costs_are_those_of_the_lowest_common_level() -> None:
    paths = np.array([[0, 0], [1, 0], [2, 1]])
    costs = np.zeros(3)
    flat = np.array([0, 0, 0, 1, 1, 0.5])
    joining_costs(
        np.array([0]), np.array([0]), paths.T.ravel(), flat, np.array([[0, 3]]), np.array([3]), np.array([1]), costs,
        np.array([0, 3]),
    )  # fmt: skip
    assert costs.tolist() == [0.0, 1.0, np.inf]


def test_near_records_come_together() -> None:
    rows = [("nurse", 31, "f"), ("surgeon", 31, "f"), ("clerk", 31, "f"), ("typist", 31, "f")]
    found = cell_greedy(counted(rows), HIERARCHIES, k=2)
    assert released(found, counted(rows)) == [("medic", 31, "f")] * 2 + [("office", 31, "f")] * 2
    heavy = counted([("nurse", 31, "f")] * 5 + [("clerk", 31, "f")])
    assert set(released(cell_greedy(heavy, HIERARCHIES, k=5), heavy)) == {("*", 31, "f")}, "who is left over joins"


@settings(deadline=None, max_examples=20)
@given(rows_of_tables())
def test_it_loses_less_than_one_level_for_all_on_larger_tables(rows: list[tuple[Any, ...]]) -> None:
    many = rows * 3
    counts = counted(many)
    best = optimal(counts, HIERARCHIES, k=3)
    assert cell_greedy(counts, HIERARCHIES, k=3).info["loss"] <= best.info["loss"] + 1e-12


def test_refusals() -> None:
    counts = counted([("nurse", 30, "f"), ("clerk", 31, "m")])
    with pytest.raises(Infeasible, match="k of at most 2"):
        cell_greedy(counts, HIERARCHIES, k=3)
    with pytest.raises(BadInput, match="block"):
        cell_greedy(counts, HIERARCHIES, k=2, block=1)
    with pytest.raises(BadInput, match="does not add up"):
        cell_greedy(counts, HIERARCHIES, k=2, metric="height")
    forest = Hierarchy.of_rows([("nurse", "medic"), ("clerk", "office")], name="job")
    with pytest.raises(Infeasible, match="one top value"):
        cell_greedy(counts, {**HIERARCHIES, "job": forest}, k=2)
