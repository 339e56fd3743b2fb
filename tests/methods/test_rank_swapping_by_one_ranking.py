"""Rank swapping: compiled steps against plain ones, what a swap keeps, and what it does to meaning."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.perturb import cluster_kernels
from keepsense.methods.perturb import cluster_kernels as nearest_tuples
from keepsense.methods.perturb import rank_swapping_kernels as _kernels
from keepsense.methods.perturb.clusters import ClusterWalk, run_clusters
from keepsense.methods.perturb.rank_swapping import swap_by_clusters
from keepsense.methods.perturb.rank_swapping_by_one_ranking import rank_swapping_by_one_ranking
from keepsense.methods.perturb.rank_swapping_of_numbers import rank_swapping_of_numbers
from keepsense.methods.perturb.rank_swapping_of_tuples import rank_swapping_of_tuples
from keepsense.methods.perturb.strict_rank_swapping import _groups, check_groups, strict_rank_swapping
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Nominal, Ordered, nominal
from keepsense.semantics.distance import distance
from keepsense.semantics.distance_correlation import distance_correlation
from keepsense.semantics.semantic_operators import semantic_mean, semantic_variance
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import rmse

FEW = settings(max_examples=40, deadline=None)
METHODS: dict[str, Callable[..., Cells]] = {
    "ranking": lambda counts, columns, k, **o: rank_swapping_by_one_ranking(counts, columns, k=k, **o),
    "clusters": swap_by_clusters,
    "tuples": lambda counts, columns, k, **o: rank_swapping_of_tuples(counts, columns, k=k, **o),
    "groups": lambda counts, columns, k, **o: strict_rank_swapping(counts, columns, k=k, **o),
    "groups of tuples": lambda counts, columns, k, **o: strict_rank_swapping(counts, columns, k=k, together=True, **o),
}


def _random_matrix(rng: np.random.Generator, size: int, levels: int) -> NDArray[np.float64]:
    """A symmetric matrix with many ties."""
    half = np.triu(rng.integers(1, levels + 1, (size, size)) / levels, 1)
    return half + half.T


@st.composite
def tables(draw: st.DrawFn, columns: int = 2) -> tuple[Counts, list[Attribute]]:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(6, 40))
    names = list("abc"[:columns])
    data = {name: [f"v{x}" for x in rng.integers(0, draw(st.integers(2, 8)), n)] + ["v0", "v1"] for name in names}
    counts = Counts.of(data)
    return counts, [
        Nominal.of(counts, name, _random_matrix(rng, len(counts.values_of(name)), draw(st.integers(1, 6))))
        for name in names
    ]


def _tree(width: int = 4, depth: int = 4) -> Taxonomy:
    edges, level = [], ["r"]
    for _ in range(depth):
        below = [f"{node}.{i}" for node in level for i in range(width)]
        edges += [(child, child.rpartition(".")[0]) for child in below]
        level = below
    return from_edges(edges)


def _correlated(rows: int = 600, profiles: int = 30) -> tuple[Taxonomy, Counts, list[Nominal]]:
    """Two columns that go together: each record is near one of a few pairs of words, far apart in both columns."""
    taxonomy = _tree()
    leaves = [taxonomy.ids[c] for c in taxonomy.leaves()]
    rng = np.random.default_rng(1)
    centres = np.stack([rng.permutation(len(leaves))[:profiles] for _ in range(2)], axis=1)
    chosen = centres[rng.integers(0, profiles, rows)] // 4 * 4 + rng.integers(0, 4, (rows, 2))
    counts = Counts.of({name: [leaves[i] for i in chosen[:, j]] for j, name in enumerate("ab")})
    return taxonomy, counts, [nominal(counts, name, taxonomy) for name in ("a", "b")]


# ---- compiled steps against plain ones ----------------------------------------------------------------------------


def _distances(walk: ClusterWalk, tuple_index: int) -> NDArray[np.float64]:
    codes = walk.state.codes
    total = np.zeros(len(codes))
    for j, attribute in enumerate(walk.attributes):
        total += attribute.matrix[codes[tuple_index, j], codes[:, j]]
    return total


@FEW
@given(tables(), st.integers(2, 8), st.integers(0, 2**32 - 1))
def test_reach_is_the_distance_of_the_kth_nearest_record(case: tuple, k: int, seed: int) -> None:
    counts, attributes = case
    k = min(k, counts.total - 1)
    walk = ClusterWalk(attributes, counts.codes, counts.weights)
    record = int(np.random.default_rng(seed).integers(counts.total))
    owner = int(walk.state.owner[record])
    rows, orders, tol = walk.see(record)
    expected = np.repeat(_distances(walk, owner), walk.weights).tolist()
    expected.remove(0.0)
    found = cluster_kernels.reach(rows, orders, walk.state, walk.state.weights, owner, k, tol)
    assert found == pytest.approx(sorted(expected)[k - 1])
    inner, tied, near, level = cluster_kernels._gather(rows, orders, walk.state, walk.state.weights, owner, found, tol)
    away = _distances(walk, owner)
    members = walk.state.members
    assert set(members[:inner].tolist()) == set(np.flatnonzero(away < found - tol).tolist())
    assert set(members[len(members) - tied :].tolist()) == set(np.flatnonzero(np.abs(away - found) <= tol).tolist())
    assert near < k <= near + level


@FEW
@given(tables(), st.integers(0, 2**32 - 1))
def test_farthest_is_one_of_the_farthest_live_records(case: tuple, seed: int) -> None:
    counts, attributes = case
    rng = np.random.default_rng(seed)
    walk = ClusterWalk(attributes, counts.codes, counts.weights)
    gone = rng.permutation(counts.total)[: int(rng.integers(0, counts.total))]
    for record in gone:
        cluster_kernels._retire(walk.state, int(record))
    live = sorted(set(range(counts.total)) - set(gone.tolist()))
    reference = int(rng.integers(counts.total))
    rows, orders, tol = walk.see(reference)
    found = cluster_kernels.farthest(rng, rows, orders, walk.state, tol)
    away = _distances(walk, int(walk.state.owner[reference]))[walk.state.owner]
    assert found in live
    assert away[found] >= max(away[live]) - tol


class _EveryStep:
    """A listener to which every step is told, so that steps are made one by one."""

    every_step = True

    def __call__(self, event: object) -> None: ...


@FEW
@given(tables(), st.integers(2, 8), st.booleans(), st.integers(0, 2**32 - 1))
def test_many_steps_at_once_are_the_same_steps(case: tuple, k: int, grouped: bool, seed: int) -> None:
    counts, attributes = case
    k, outcomes = min(k, counts.total - 1), []
    for listener in (None, _EveryStep()):
        walk, rng = ClusterWalk(attributes, counts.codes, counts.weights), np.random.default_rng(seed)
        if grouped:
            outcomes.append([_groups(walk, k, rng, listener)[1].tolist(), rng.random()])
        else:
            run_clusters(walk, k, rng, listener)
            outcomes.append([walk.released().tolist(), walk.in_place.tolist(), rng.random()])
    assert outcomes[0] == outcomes[1]


@FEW
@given(tables(), st.integers(2, 8), st.booleans(), st.integers(0, 2**32 - 1))
def test_looking_at_all_tuples_finds_the_same_ones_in_the_same_order(
    case: tuple, k: int, alone: bool, seed: int
) -> None:
    counts, attributes = case
    k = min(k, counts.total - 1)
    walk = ClusterWalk(attributes, counts.codes, counts.weights)
    record = int(np.random.default_rng(seed).integers(counts.total))
    state, own = walk.state, int(walk.state.owner[record]) if alone else -1
    weights = state.weights if alone else np.where(np.arange(len(state.weights)) % 3 == 1, 0, state.weights)
    rows, orders, tol = walk.see(record)
    radius = cluster_kernels.reach(rows, orders, state, weights, own, k, tol)
    plain = cluster_kernels._gather(rows, orders, state, weights, own, radius, tol)
    members = state.members.tolist()
    assert nearest_tuples.reach_of_all(rows, state, weights, own, k, tol) == radius
    for _ in range(2):  # measured on the way to the reach, and again where it is known
        state.members[:] = -1
        few = nearest_tuples.gather_few(rows, orders, state, weights, own, radius, tol)
        if few[0] < 0:
            assert plain[0] + plain[1] > nearest_tuples.FEW
        else:
            last = len(members) - few[1]
            assert few == plain
            assert state.members[: few[0]].tolist() == members[: few[0]]
            assert state.members[last:].tolist() == members[last:]
        nearest_tuples.measure_all(rows, state, weights, radius + tol)


@FEW
@given(tables(columns=1), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_clusters_swap_within_the_k_nearest(case: tuple, k: int, seed: int) -> None:
    counts, (attribute,) = case
    k = min(k, counts.total - 1)
    alone = np.arange(len(attribute.values), dtype=np.int32)[:, None]
    walk = run_clusters(ClusterWalk([attribute], alone, attribute.weights), k, np.random.default_rng(seed), None)
    before, after = walk.source(), walk.released()[:, 0]
    reach = {}
    for value in range(len(attribute.values)):
        away = np.repeat(attribute.matrix[value], attribute.weights).tolist()
        away.remove(0.0)
        reach[value] = sorted(away)[k - 1]
    for old, new in zip(before.tolist(), after.tolist(), strict=True):
        assert attribute.matrix[old, new] <= max(reach[old], reach[new]) + 1e-9
    assert walk.state.tally[0] == 0
    assert not walk.state.pending.any()


def _plain_tuples(
    codes: NDArray[np.int32], matrices: list[NDArray[np.float64]], k: int, rng: np.random.Generator
) -> NDArray[np.int32]:
    """SRS-Algorithm 3 as printed, record by record (SRS-Algorithm 2 where there is one attribute)."""
    n, m = codes.shape
    away = sum(matrices[j][np.ix_(codes[:, j], codes[:, j])] for j in range(m)) / m
    out = codes.copy()
    free = np.ones((n, m), dtype=bool)

    def pick(scores: NDArray[np.float64], among: NDArray[np.int64]) -> int:
        return int(rng.choice(among[scores[among] >= scores[among].max() - 1e-9]))

    ref = pick(away.sum(1), np.arange(n))
    while True:
        others = rng.permutation(np.delete(np.arange(n), ref))
        cluster = others[np.argsort(away[ref, others].round(9), kind="stable")][:k]
        for j in range(m):
            if not free[ref, j]:
                continue
            choices = cluster[free[cluster, j]]
            if len(choices):
                partner = rng.choice(choices)
                out[ref, j], out[partner, j] = codes[partner, j], codes[ref, j]
                free[partner, j] = False
            free[ref, j] = False
        left = np.flatnonzero(free.any(1))
        if not len(left):
            return out
        ref = pick(away[ref], left)


@pytest.mark.parametrize("columns", [1, 2])
def test_clusters_draw_from_the_same_distribution_as_the_plain_algorithm(columns: int) -> None:
    rng = np.random.default_rng(11)
    names = "ab"[:columns]
    counts = Counts.of({name: [f"v{x}" for x in rng.integers(0, 5, 16)] + ["v0", "v1"] for name in names})
    matrices = [_random_matrix(rng, len(counts.values_of(name)), 4) for name in names]
    attributes = [Nominal.of(counts, name, x) for name, x in zip(names, matrices, strict=True)]
    records = np.repeat(counts.codes, counts.weights, axis=0)
    tries = 1500
    plain, fast = np.zeros((2, 8, 8)), np.zeros((2, 8, 8))
    for _ in range(tries):
        out = _plain_tuples(records, matrices, 3, rng)
        for j in range(columns):
            np.add.at(plain[j], (records[:, j], out[:, j]), 1)
        method = METHODS["clusters" if columns == 1 else "tuples"]
        cells = method(counts, attributes, 3, rng=rng)
        for j in range(columns):
            np.add.at(fast[j], (counts.codes[cells.source, j], cells.codes[:, j]), cells.multiplicity)
    # Flows between values agree within five standard errors of a count.
    assert (np.abs(plain - fast) <= 5 * np.sqrt(plain + fast + 1) + 5).all()


def test_window_swaps_have_the_distribution_of_the_plain_algorithm() -> None:
    def plain(rng: np.random.Generator, n: int, k: int) -> tuple[int, ...]:
        out, free = list(range(n)), [True] * n
        for i in range(n):
            if free[i]:
                choices = [j for j in range(i + 1, min(i + k, n - 1) + 1) if free[j]]
                if choices:
                    j = int(rng.choice(choices))
                    out[i], out[j] = j, i
                    free[j] = False
                free[i] = False
        return tuple(out)

    rng = np.random.default_rng(2)
    slow = Counter(plain(rng, 6, 3) for _ in range(6000))
    fast = Counter(tuple(_kernels.swap_window(rng, 6, 3).tolist()) for _ in range(6000))
    assert set(slow) == set(fast)
    for outcome in slow:
        assert abs(slow[outcome] - fast[outcome]) < 5 * np.sqrt(slow[outcome] + fast[outcome])


@FEW
@given(st.integers(3, 200), st.integers(2, 60), st.integers(0, 2**32 - 1))
def test_rank_kernels_exchange_pairs(n: int, k: int, seed: int) -> None:
    k = min(k, n - 1)
    rng = np.random.default_rng(seed)
    window = _kernels.swap_window(rng, n, k)
    assert (window[window] == np.arange(n)).all()
    assert (np.abs(window - np.arange(n)) <= k).all()
    fixed = np.flatnonzero(window == np.arange(n))
    assert all(b - a > k for a, b in pairwise(fixed.tolist()))
    for kernel in (_kernels.swap_shifted, _kernels.swap_buckets):
        out = kernel(rng, n, k)
        assert (out[out] == np.arange(n)).all()
        assert (out == np.arange(n)).sum() <= 1


# ---- what every swap keeps ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
@FEW
@given(case=tables(), k=st.integers(2, 6), seed=st.integers(0, 2**32 - 1))
def test_a_swap_keeps_every_columns_values_and_counts(method: str, case: tuple, k: int, seed: int) -> None:
    counts, attributes = case
    cells = METHODS[method](counts, attributes, k, rng=seed)
    cells.check(counts)
    released = cells.apply(counts)
    for attribute in attributes:
        assert (released.marginal(attribute.name) == counts.marginal(attribute.name)).all()
        kept = cells.codes[:, cells.names.index(attribute.name)] == counts.column(attribute.name)[cells.source]
        assert cells.info["unchanged"][attribute.name] == cells.multiplicity[kept].sum()


@pytest.mark.parametrize("method", METHODS)
def test_a_swap_keeps_mean_and_variance_and_a_seed_repeats_it(method: str) -> None:
    _, counts, attributes = _correlated(200)
    cells = METHODS[method](counts, attributes, 5, rng=3)
    again = METHODS[method](counts, attributes, 5, rng=3)
    assert (cells.codes == again.codes).all()
    released = cells.apply(counts)
    for attribute in attributes:
        assert semantic_mean(attribute.reweighted(released)).label == semantic_mean(attribute).label
        assert semantic_variance(attribute.reweighted(released)) == pytest.approx(semantic_variance(attribute))


def test_equal_tuples_are_left_alone_as_in_table_7_5() -> None:
    taxonomy = _tree()
    leaves = [taxonomy.ids[c] for c in taxonomy.leaves()][::7]
    counts = Counts.of({"a": leaves * 6, "b": leaves[1:] * 6 + leaves[:1] * 6})
    attributes = [nominal(counts, name, taxonomy) for name in ("a", "b")]
    table = Counts.of({"a": leaves * 6, "b": (leaves[1:] + leaves[:1]) * 6})
    both = [nominal(table, name, taxonomy) for name in ("a", "b")]
    for method in (METHODS["clusters"], METHODS["tuples"]):
        cells = method(table, both, 2, rng=1)
        assert [rmse(table, cells, a) for a in both] == [0.0, 0.0]
        assert cells.info["unchanged_rows"] == table.total
    assert rmse(counts, rank_swapping_of_tuples(counts, attributes, k=20, rng=1), attributes[0]) > 0


# ---- what a swap does to meaning ----------------------------------------------------------------------------------


def test_error_grows_with_k_and_clusters_lose_less_than_one_ranking() -> None:
    _, counts, attributes = _correlated()
    errors = {
        name: [
            np.mean([rmse(counts, METHODS[name](counts, attributes, k, rng=s), attributes[0]) for s in range(4)])
            for k in (2, 20, 100)
        ]
        for name in METHODS
    }
    for name, (few, some, many) in errors.items():
        assert few < some < many, name
    for i in range(3):
        assert errors["clusters"][i] < errors["ranking"][i]
        assert errors["clusters"][i] < errors["tuples"][i]


def test_tuples_keep_the_distance_correlation_better_than_single_columns() -> None:
    _, counts, attributes = _correlated()
    original = distance_correlation(counts, *attributes)

    def kept(name: str, k: int) -> float:
        lost = []
        for seed in range(4):
            released = METHODS[name](counts, attributes, k, rng=seed).apply(counts)
            lost.append(abs(distance_correlation(released, *(a.reweighted(released) for a in attributes)) - original))
        return float(np.mean(lost))

    for k in (20, 50, 100):
        assert kept("tuples", k) < kept("clusters", k) < kept("ranking", k)
        assert kept("groups of tuples", k) < kept("groups", k)


# ---- the promise of groups ----------------------------------------------------------------------------------------


@FEW
@given(tables(), st.integers(2, 6), st.booleans(), st.integers(0, 2**32 - 1))
def test_groups_have_k_to_2k_minus_1_records_and_are_verified(case: tuple, k: int, together: bool, seed: int) -> None:
    counts, attributes = case
    cells = strict_rank_swapping(counts, attributes, k=k, together=together, rng=seed)
    assert check_groups(counts, cells, k) <= 1 / k
    for j in range(len(attributes)):
        sizes = np.bincount(cells.info["groups"][:, j], cells.multiplicity)
        assert sizes.min() >= k
        assert sizes.max() <= 2 * k - 1


def test_groups_permute_uniformly() -> None:
    counts = Counts.of({"a": list("wxyz")})
    column = Nominal.of(counts, "a", 1.0 - np.eye(4))
    seen: Counter[tuple[int, ...]] = Counter()
    rng = np.random.default_rng(4)
    for _ in range(4800):
        cells = strict_rank_swapping(counts, [column], k=3, rng=rng)
        order = np.argsort(cells.source)
        seen[tuple(cells.codes[order, 0].tolist())] += 1
    assert len(seen) == 24
    assert max(abs(count - 200) for count in seen.values()) < 5 * np.sqrt(200)


def test_check_groups_refuses_what_is_not_so() -> None:
    counts = Counts.of({"a": list("wxyz")})
    column = Nominal.of(counts, "a", 1.0 - np.eye(4))
    cells = strict_rank_swapping(counts, [column], k=2, rng=1)
    with pytest.raises(BadInput, match="at least 3 were promised"):
        check_groups(counts, cells, 3)
    moved = Cells(
        cells.names, cells.values, cells.source, np.zeros_like(cells.codes), cells.multiplicity, info=cells.info
    )
    with pytest.raises(BadInput, match="does not release the values it holds"):
        check_groups(counts, moved, 2)
    with pytest.raises(BadInput, match="holds no groups"):
        check_groups(counts, swap_by_clusters(counts, [column], 2, rng=1), 2)


# ---- numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["interval", "distribution", "buckets"])
def test_numbers_keep_their_counts_and_move_farther_with_a_wider_interval(rule: str) -> None:
    rng = np.random.default_rng(1)
    counts = Counts.of({"age": rng.integers(18, 90, 400).tolist(), "stay": rng.integers(1, 15, 400).tolist()})
    columns = [Ordered.of(counts, "age"), Ordered.of(counts, "stay")]
    wide = (2, 10, 60) if rule != "buckets" else (100, 20, 4)
    errors = []
    for k in wide:
        cells = rank_swapping_of_numbers(counts, columns, k=k, rule=rule, rng=2)  # type: ignore[arg-type]
        cells.check(counts)
        assert (cells.apply(counts).marginal("age") == counts.marginal("age")).all()
        errors.append(rmse(counts, cells, columns[0]))
    assert errors[0] < errors[1] < errors[2]


def test_interval_bounds_the_rank_and_the_two_others_do_not() -> None:
    counts = Counts.of({"x": list(range(200))})
    column = Ordered.of(counts, "x", span=1.0)
    far = {}
    for rule in ("interval", "distribution", "buckets"):
        cells = rank_swapping_of_numbers(counts, [column], k=10, rule=rule, rng=1)  # type: ignore[arg-type]
        far[rule] = max(abs(int(a) - int(b)) for a, b in zip(cells.source, cells.codes[:, 0], strict=True))
    assert far["interval"] <= 10 < min(far["distribution"], far["buckets"])


def test_ordered_categories_swap_by_their_levels() -> None:
    levels = ["none", "school", "college", "doctorate"]
    counts = Counts.of({"education": [levels[i % 4] for i in range(40)]})
    column = Ordered.of(counts, "education", levels=levels)
    cells = rank_swapping_of_numbers(counts, [column], k=4, rng=1)
    moved = np.abs(column.positions[counts.codes[cells.source, 0]] - column.positions[cells.codes[:, 0]])
    assert moved.max() <= 1


# ---- large and bad input ------------------------------------------------------------------------------------------


def test_rows_are_computed_one_by_one_where_a_matrix_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    for where in ("keepsense.semantics.attribute", "keepsense.methods.perturb.clusters"):
        monkeypatch.setattr(f"{where}.MATRIX_CELLS", 10)
    _, counts, attributes = _correlated(80)
    for method in (METHODS["clusters"], METHODS["tuples"]):
        cells = method(counts, attributes, 4, rng=1)
        assert (cells.apply(counts).marginal("a") == counts.marginal("a")).all()
    assert all("matrix" not in vars(a) for a in attributes)


def test_progress_and_interruption() -> None:
    _, counts, attributes = _correlated(300)
    seen = []
    rank_swapping_of_tuples(counts, attributes, k=5, rng=1, listener=seen.append)
    assert seen[-1].fraction == 1.0

    def stop(event: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        swap_by_clusters(counts, attributes, 5, rng=1, listener=stop)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("k", "message"), [(1, "at least 2"), (0, "at least 2"), (2.5, "whole number"), (4, "smaller"), (9, "smaller")]
)
def test_bad_k_is_refused_by_name(method: str, k: int, message: str) -> None:
    counts = Counts.of({"a": list("wxyz")})
    with pytest.raises(BadInput, match=message):
        METHODS[method](counts, [Nominal.of(counts, "a", 1.0 - np.eye(4))], k)


def test_other_bad_input_is_refused_by_name() -> None:
    counts = Counts.of({"a": ["x"] * 4, "b": [1, 2, 3, 4]})
    one = Nominal.of(counts, "a", np.zeros((1, 1)))
    numbers = Ordered.of(counts, "b")
    with pytest.raises(BadInput, match="'a' holds one value"):
        swap_by_clusters(counts, [one], 2)
    with pytest.raises(BadInput, match="twice"):
        rank_swapping_of_tuples(counts, [numbers, numbers], k=2)
    with pytest.raises(BadInput, match="no column"):
        rank_swapping_of_tuples(counts, [], k=2)
    with pytest.raises(BadInput, match="needs k"):
        rank_swapping_of_numbers(counts, [numbers])
    with pytest.raises(BadInput, match="percent = 120"):
        rank_swapping_of_numbers(counts, [numbers], percent=120)
    with pytest.raises(BadInput, match="rule"):
        rank_swapping_of_numbers(counts, [numbers], k=2, rule="magic")  # type: ignore[arg-type]


def test_one_ranking_keeps_equal_values_together() -> None:
    """Values as far from the reference as others are not mixed: a small window moves most records nowhere."""
    edges = [(f"b{i}.{j}", f"b{i}") for i in range(6) for j in range(5)] + [(f"b{i}", "r") for i in range(6)]
    words = [f"b{i}.{j}" for i in range(6) for j in range(5)] * 20
    counts = Counts.of({"word": words})
    column = Nominal.of(counts, "word", distance("wu-palmer", from_edges(edges)))
    unchanged = []
    for k in (2, 10, 100):
        cells = rank_swapping_by_one_ranking(counts, [column], k=k, rng=1)
        same = sum(
            int(n)
            for source, code, n in zip(cells.source, cells.codes[:, 0], cells.multiplicity, strict=True)
            if counts.values_of("word")[counts.column("word")[source]] == cells.values[0][code]
        )
        unchanged.append(same / len(words))
    assert unchanged[0] > 0.8 > unchanged[1] > unchanged[2]
