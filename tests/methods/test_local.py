from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.grouping_kernels import group_at, lowest_levels
from keepsense.methods.generalize.local_recoding import local_recoding
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.recoding import SUPPRESSED, Cells, Cuts

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
AGES = Hierarchy.of_rows([(a, f"{a // 10}0s", "*") for a in range(20, 60)], name="age")
HIERARCHIES = {"job": JOBS, "age": AGES}


@st.composite
def tables(draw: st.DrawFn) -> Counts:
    n = draw(st.integers(4, 60))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return Counts.of(
        {"job": rng.choice(JOBS.leaves, n).tolist(), "age": rng.choice(np.arange(20, 60), n).tolist()},
        histograms={"illness": rng.choice(["flu", "cold", "gout"], n).tolist()},
    )


def released(cells: Cells) -> list[tuple[Any, ...]]:
    return [tuple(cells.values[j][c] for j, c in enumerate(row)) for row in cells.codes.tolist()]


@settings(deadline=None, max_examples=60)
@given(tables(), st.integers(2, 4))
def test_the_promise_holds_and_values_are_true(counts: Counts, k: int) -> None:
    cells = local_recoding(counts, HIERARCHIES, [KAnonymity(k)])
    cells.check(counts)
    assert cells.apply(counts).weights.min() >= k
    for row, out in zip(counts.codes.tolist(), released(cells), strict=True):
        for j, hierarchy in enumerate((JOBS, AGES)):
            leaf = hierarchy.leaves.index(counts.values[j][row[j]])
            above = {hierarchy.labels[lv][hierarchy.codes[leaf, lv]] for lv in range(hierarchy.height + 1)}
            assert out[j] in above, "a released value is the original or an ancestor of it"


@settings(deadline=None, max_examples=40)
@given(tables())
def test_further_models_hold_too(counts: Counts) -> None:
    if len(set(counts.histograms["illness"].rows.indices.tolist())) < 2:
        return
    cells = local_recoding(counts, HIERARCHIES, [KAnonymity(2), DistinctDiversity(2, "illness")])
    seen: dict[tuple[Any, ...], set[int]] = defaultdict(set)
    for t, out in enumerate(released(cells)):
        seen[out] |= set(counts.histograms["illness"].rows[t].tolist())
    assert all(len(illnesses) >= 2 for illnesses in seen.values())
    assert cells.apply(counts).weights.min() >= 2


@settings(deadline=None, max_examples=40)
@given(tables(), st.integers(2, 3))
def test_a_full_domain_solution_is_kept_where_it_holds(counts: Counts, k: int) -> None:
    cuts = Cuts((JOBS.cut(1), AGES.cut(1)))
    sizes = defaultdict(int)
    rows = released(cuts.cells(counts))
    for out, w in zip(rows, counts.weights.tolist(), strict=True):
        sizes[out] += w
    start = Cuts(cuts.cuts, frozenset(out for out, w in sizes.items() if w < k))
    cells = local_recoding(counts, HIERARCHIES, [KAnonymity(k)], start=start)
    assert cells.apply(counts).weights.min() >= k
    if cells.info["classes"] and not any(w < k for w in sizes.values()):
        assert released(cells) == rows


@settings(deadline=None, max_examples=40)
@given(tables(), st.floats(0, 0.5))
def test_suppression_stays_within_its_limit(counts: Counts, share: float) -> None:
    cells = local_recoding(counts, HIERARCHIES, [KAnonymity(3)], suppression=share)
    hidden = [out == (SUPPRESSED, SUPPRESSED) for out in released(cells)]
    assert cells.suppressed is not None
    assert int(counts.weights[cells.suppressed].sum()) <= int(share * counts.total)
    assert all(h for h, s in zip(hidden, cells.suppressed, strict=True) if s)


def test_it_is_deterministic_and_finer_than_one_node() -> None:
    counts = Counts.of({"job": ["nurse"] * 3 + ["surgeon", "optician", "clerk", "typist"], "age": [30] * 7})
    cells = local_recoding(counts, HIERARCHIES, [KAnonymity(2)])
    assert released(cells) == [("nurse", 30), ("health", 30), ("health", 30), ("office", 30), ("office", 30)]
    again = local_recoding(counts, HIERARCHIES, [KAnonymity(2)])
    assert released(again) == released(cells)


def test_leftovers_join_the_nearest_class() -> None:
    counts = Counts.of({"job": ["nurse"] * 5 + ["clerk"] * 5 + ["surgeon"], "age": [30] * 11})
    cells = local_recoding(counts, HIERARCHIES, [KAnonymity(5)])
    assert released(cells) == [("medic", 30), ("clerk", 30), ("medic", 30)]


@settings(deadline=None, max_examples=40)
@given(tables(), st.integers(2, 4), st.integers(0, 4))
def test_a_search_that_ends_early_keeps_the_promise(counts: Counts, k: int, most: int) -> None:
    cells = local_recoding(counts, HIERARCHIES, [KAnonymity(k)], most_nodes=most)
    cells.check(counts)
    assert cells.apply(counts).weights.min() >= k
    diverse = [KAnonymity(2), DistinctDiversity(2, "illness")]
    if len(set(counts.histograms["illness"].rows.indices.tolist())) > 1:
        assert local_recoding(counts, HIERARCHIES, diverse, most_nodes=most).apply(counts).weights.min() >= 2


def test_refusals() -> None:
    counts = Counts.of({"job": ["nurse", "clerk"], "age": [30, 31]})
    with pytest.raises(Infeasible) as error:
        local_recoding(counts, HIERARCHIES, [KAnonymity(3)])
    assert error.value.relax
    with pytest.raises(BadInput, match="does not add up over cells"):
        local_recoding(counts, HIERARCHIES, [KAnonymity(2)], metric="lost")
    with pytest.raises(BadInput, match="has no hierarchy"):
        local_recoding(counts, {"job": JOBS}, [KAnonymity(2)])


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.floats(0, 3))
def test_the_compiled_grouping_equals_a_dictionary(seed: int, k: int, limit: float) -> None:
    rng = np.random.default_rng(seed)
    n, d, levels = int(rng.integers(1, 30)), int(rng.integers(1, 4)), 2
    columns = rng.integers(0, 4, size=(n, d)).astype(np.int32)
    codes = rng.integers(0, 3, size=(d, levels, 4)).astype(np.int32)
    losses = codes / 4.0  # equal codes lose the same
    at = np.arange(d)[:, None] * levels * 4 + np.arange(levels)[None, :] * 4
    node, weights = rng.integers(0, levels, d), rng.integers(1, 4, n)
    room = 64
    owner, waiting = np.full(n, -1), np.arange(n)
    scratch = (np.empty(room, np.int64), np.empty(room, np.int64), np.empty(room), np.empty(room, np.int64))
    tabled = (codes.ravel(), losses.ravel(), at, weights)
    kept, classes, later = group_at(
        waiting, n, columns, node, *tabled, k, limit, owner, 0, *scratch, np.empty(n, np.int64)
    )  # fmt: skip
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for t in range(n):
        groups[tuple(int(codes[j, node[j], columns[t, j]]) for j in range(d))].append(t)
    large = {key: g for key, g in groups.items() if weights[g].sum() >= k}
    lost = {key: sum(c / 4.0 for c in key) for key in groups}
    settled = [g for key, g in large.items() if lost[key] <= limit]
    assert classes == len(settled)
    assert {frozenset(np.flatnonzero(owner == c).tolist()) for c in range(classes)} == {frozenset(g) for g in settled}
    assert sorted(waiting[:kept].tolist()) == sorted(set(range(n)) - {t for g in settled for t in g})
    assert later == min((lost[key] for key in large if lost[key] > limit), default=np.inf)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_lowest_levels_equal_their_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 20))
    raw = [h.codes for h in (JOBS, AGES)]
    columns = np.stack([rng.integers(0, len(r), n) for r in raw], axis=1).astype(np.int32)
    heights = np.array([r.shape[1] - 1 for r in raw])
    at, flat, begin = np.zeros((2, 4), np.int64), [], 0
    for j, r in enumerate(raw):
        for level in range(r.shape[1]):
            at[j, level] = begin
            flat.append(r[:, level])
            begin += len(r)
    owner = rng.integers(0, 4, n)
    _, owner = np.unique(owner, return_inverse=True)
    out = np.zeros((owner.max() + 1, 2), np.int64)
    lowest_levels(owner, columns, np.concatenate(flat), at, heights, out)
    for c in range(len(out)):
        for j, r in enumerate(raw):
            mine = r[columns[owner == c, j]]
            assert out[c, j] == next(lv for lv in range(r.shape[1]) if len(set(mine[:, lv].tolist())) == 1)
