"""The lattice template: class tables by roll-up, what pairs rule out, and what it refuses."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice_reference import judge, nodes_of, released, tables, value

from keepsense.arrays import Rows
from keepsense.counts import Counts, Histogram
from keepsense.errors import BadHierarchy, BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.lattice_template import LatticeSearch, limits
from keepsense.methods.generalize.objective import LossTables
from keepsense.methods.generalize.optimal import optimal
from keepsense.methods.generalize.samarati import samarati
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity
from keepsense.privacy.risk_thresholds import AverageRisk

SEX = Hierarchy.of_rows([("f", "*"), ("m", "*")], name="sex")
JOBS = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")], name="job")


# ---- class tables -------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(table=tables(rooted=False), order=st.randoms(use_true_random=False))
def test_roll_up_equals_recoding_the_rows(table: Any, order: Any) -> None:
    """In whatever order nodes are asked for, their class sizes are those of the recoded rows; so for projections."""
    columns, sensitive, chosen = table
    search = LatticeSearch(Counts.of(columns, histograms=sensitive), chosen, [KAnonymity(2)], suppression=1.0)
    nodes = list(itertools.product(*(range(h.height + 2) for h in chosen.values())))
    order.shuffle(nodes)
    for node in nodes[:40]:
        search.check(node)
        begin, m = search.store.first[search.place], search.store.length[search.place]
        kept = {name: h for (name, h), level in zip(chosen.items(), node, strict=True) if level <= h.height}
        levels = [level for (_, h), level in zip(chosen.items(), node, strict=True) if level <= h.height]
        rows = released(columns, kept, levels) if kept else [()] * len(columns["q0"])
        assert sorted(search.store.weights[begin : begin + m].tolist()) == sorted(Counter(rows).values())


@settings(max_examples=30, deadline=None)
@given(table=tables(), share=st.sampled_from([0.0, 0.2]))
def test_a_full_store_is_emptied_and_goes_on(table: Any, share: float) -> None:
    columns, sensitive, chosen = table
    models = [KAnonymity(2), DistinctDiversity(2, "s")]
    search = LatticeSearch(Counts.of(columns, histograms=sensitive), chosen, models, suppression=share, memory=0)
    for node in nodes_of(chosen):
        judged = judge(columns, sensitive, chosen, models, share, node)
        verdict = search.check(node)
        assert verdict.holds == judged.holds
        assert verdict.suppressed == judged.suppressed
        if judged.holds:
            assert verdict.value == pytest.approx(value("loss", columns, chosen, judged))


@settings(max_examples=40, deadline=None)
@given(table=tables(rooted=False), share=st.sampled_from([0.0, 0.1, 0.3]), k=st.integers(2, 5))
def test_pairs_rule_out_what_they_must(table: Any, share: float, k: int) -> None:
    """A pair is ruled out exactly where its own classes need too many records suppressed (small pairs are skipped)."""
    columns, _, chosen = table
    search = LatticeSearch(Counts.of(columns), chosen, [KAnonymity(k)], suppression=share)
    lowest, fine = limits(search)
    names = list(chosen)

    def few(part: dict[str, int]) -> int:
        rows = released(columns, {n: chosen[n] for n in part}, list(part.values()))
        return sum(1 for row in rows if Counter(rows)[row] < k)

    for name, level in zip(names, lowest.tolist(), strict=True):
        wrong = [step for step in range(level) if few({name: step}) <= search.goal.limit]
        assert not wrong
        assert level == chosen[name].height or few({name: level}) <= search.goal.limit
    for a, b in itertools.combinations(range(len(names)), 2):
        for x, y in itertools.product(range(chosen[names[a]].height + 1), range(chosen[names[b]].height + 1)):
            assert fine[a, b, x, y] == fine[b, a, y, x]
            if not fine[a, b, x, y]:
                assert few({names[a]: max(x, lowest[a]), names[b]: max(y, lowest[b])}) > search.goal.limit


def test_large_tables_are_merged_part_by_part() -> None:
    """Tables beyond the processor's cache take another way; classes, sets of values and losses are the same."""
    rng = np.random.default_rng(11)
    n, sizes = 90_000, (60, 40, 30, 9)
    codes = np.unique(np.stack([rng.integers(0, size, n) for size in sizes], axis=1), axis=0).astype(np.int32)
    weights = rng.integers(1, 4, len(codes))
    assert len(codes) > 1 << 16
    chosen, values = {}, []
    for j, size in enumerate(sizes):
        chosen[f"c{j}"] = Hierarchy.of_rows([(i, f"a{i // 3}", f"b{i // 9}", "*") for i in range(size)], name=f"c{j}")
        values.append(tuple(range(size)))
    sensitive = rng.integers(0, 5, len(codes))
    rows = Rows.from_pairs(np.arange(len(codes)), sensitive, len(codes))
    counts = Counts(tuple(chosen), tuple(values), codes, weights, {"s": Histogram(tuple("vwxyz"), rows, weights)})
    models = [KAnonymity(4), DistinctDiversity(3, "s")]
    for metric in ("loss", "non-uniform entropy"):
        search = LatticeSearch(counts, chosen, models, suppression=1.0, metric=metric)
        for node in [(0, 1, 0, 0), (1, 1, 1, 1), (2, 1, 1, 3), (2, 2, 1, 1)]:
            lifted = np.stack([h.codes[codes[:, j], node[j]] for j, h in enumerate(chosen.values())], axis=1)
            _, group = np.unique(lifted, axis=0, return_inverse=True)
            group = group.ravel()
            size = np.bincount(group, weights)
            different = np.bincount(np.unique(group * 5 + sensitive) // 5)
            bad = (size < 4) | (different < 3)
            verdict = search.check(node)
            assert verdict.suppressed == size[bad].sum()
            assert verdict.classes == (~bad).sum()
            lost = 0.0
            for j, h in enumerate(chosen.values()):
                marginal = np.bincount(codes[:, j], weights, sizes[j])
                under = np.bincount(h.codes[:, node[j]], marginal)[h.codes[codes[:, j], node[j]]]
                leaves = h.leaf_counts[node[j]][lifted[:, j]]
                entropy = np.log2(np.where(bad[group], weights.sum(), under) / marginal[codes[:, j]])
                share = np.where(bad[group], 1.0, (leaves - 1) / (sizes[j] - 1))
                lost += float(weights @ (share if metric == "loss" else entropy))
            assert verdict.value == pytest.approx(lost / (4 * weights.sum()))


def test_pairs_with_many_cells_are_counted_higher_up() -> None:
    rng = np.random.default_rng(3)
    rows = [(f"v{i}", f"g{i // 10}", f"h{i // 50}", "*") for i in range(400)]
    chosen = {name: Hierarchy.of_rows(rows, name=name) for name in ("a", "b", "c")}
    columns = {name: [f"v{i}" for i in rng.integers(0, 400, 3000)] for name in chosen}
    counts = Counts.of(columns)
    found = optimal(counts, chosen, k=3)
    values = {}
    for node in nodes_of(chosen):
        judged = (
            judge(columns, {}, chosen, [KAnonymity(3)], 0.0, node) if sum(node) >= sum(found.info["node"]) - 2 else None
        )
        if judged is not None and judged.holds:
            values[node] = value("height", columns, chosen, judged)
    assert found.info["node"] in values
    assert samarati(counts, chosen, k=3).info["height"] == min(values.values())


def test_records_without_weight_are_no_class() -> None:
    """Tuples of a population that hold no record of the table neither count nor break a promise."""
    counts = Counts.of({"sex": ["f", "m"]}, weights=[3, 0])
    assert LatticeSearch(counts, {"sex": SEX}, [KAnonymity(2)]).check((0,)).classes == 1


# ---- what is refused ----------------------------------------------------------------------------------------------


def test_no_quasi_identifier() -> None:
    with pytest.raises(BadInput, match="no quasi-identifier"):
        optimal(Counts.of({}), {}, k=2)


def test_an_empty_table() -> None:
    with pytest.raises(BadInput, match="no rows"):
        optimal(Counts.of({"sex": []}), {"sex": SEX}, k=2)


def test_no_model() -> None:
    with pytest.raises(BadInput, match="no privacy model"):
        optimal(Counts.of({"sex": ["f", "m"]}), {"sex": SEX})


def test_a_column_without_hierarchy_is_named() -> None:
    with pytest.raises(BadInput, match="'job' has no hierarchy"):
        optimal(Counts.of({"sex": ["f"], "job": ["nurse"]}), {"sex": SEX}, k=1)


def test_missing_values_are_counted_not_shown() -> None:
    with pytest.raises(BadHierarchy, match="column 'work' misses 2 of its 3 values") as error:
        optimal(Counts.of({"work": ["nurse", "secret agent", "spy"]}), {"work": JOBS}, k=1)
    assert "spy" not in str(error.value)


def test_a_sensitive_quasi_identifier() -> None:
    counts = Counts.of({"sex": ["f", "m"]}, histograms={"sex": ["f", "m"]})
    with pytest.raises(BadInput, match="choose one role"):
        optimal(counts, {"sex": SEX}, [DistinctDiversity(2, "sex")])


def test_a_sensitive_column_that_was_not_counted() -> None:
    with pytest.raises(BadInput, match="'disease'"):
        optimal(Counts.of({"sex": ["f", "m"]}), {"sex": SEX}, [EntropyDiversity(2, "disease")])


@pytest.mark.parametrize("share", [-0.1, 1.5])
def test_a_share_outside_0_and_1(share: float) -> None:
    with pytest.raises(BadInput, match="from 0 to 1"):
        optimal(Counts.of({"sex": ["f", "m"]}), {"sex": SEX}, k=2, suppression=share)


def test_an_unknown_measure_gets_a_hint() -> None:
    with pytest.raises(BadInput, match="Did you mean discernibility"):
        optimal(Counts.of({"sex": ["f", "m"]}), {"sex": SEX}, k=2, metric="discernability")


@pytest.mark.parametrize(
    ("tables_", "worst", "message"),
    [
        ({}, {}, "no table for column 'sex'"),
        ({"sex": [[0, 0]]}, {"sex": 1}, "has 2 levels, its table 1"),
        ({"sex": [[0, 0], [1, 1, 1]]}, {"sex": 1}, "one number for each of 2 leaves"),
        ({"sex": [[0, 0], [1, np.nan]]}, {"sex": 1}, "not finite"),
    ],
)
def test_tables_that_do_not_fit(tables_: Any, worst: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        optimal(Counts.of({"sex": ["f", "m"]}), {"sex": SEX}, k=1, metric=LossTables("mine", tables_, worst))


def test_an_unknown_way_to_combine() -> None:
    with pytest.raises(BadInput, match="combine"):
        LossTables("mine", {}, {}, combine="median")  # type: ignore[arg-type]


# ---- what cannot be reached ---------------------------------------------------------------------------------------


def test_k_larger_than_the_table() -> None:
    with pytest.raises(Infeasible, match="2 of 2 records") as error:
        optimal(Counts.of({"sex": ["f", "m"]}), {"sex": SEX}, k=3)
    assert error.value.relax == ("k of at most 2",)


def test_suppressing_everything_is_no_answer() -> None:
    counts = Counts.of({"job": ["nurse", "clerk"]})
    flat = Hierarchy.of_rows([("nurse", "medic"), ("clerk", "office")])
    with pytest.raises(Infeasible) as error:
        optimal(counts, {"job": flat}, k=2, suppression=1.0)
    best: Any = error.value.best
    assert best.levels == (1,)
    assert not best.suppress
    assert best.info["holds"] is False
    assert any("one top value for the hierarchy of 'job'" in hint for hint in error.value.relax)


def test_a_promise_about_the_whole_table_is_named() -> None:
    counts = Counts.of({"sex": ["f", "m"]})
    with pytest.raises(Infeasible, match="the most general one breaks average risk") as error:
        optimal(counts, {"sex": SEX}, [KAnonymity(2), AverageRisk(0.1)])
    assert error.value.relax == ("a weaker average risk",)


def test_the_best_attempt_comes_along() -> None:
    counts = Counts.of({"job": ["nurse", "surgeon", "clerk"]})
    flat = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic"), ("clerk", "office")])
    for algorithm in (optimal, samarati):
        with pytest.raises(Infeasible, match="1 of 3 records") as error:
            algorithm(counts, {"job": flat}, k=2)
        best: Any = error.value.best
        assert best.levels == (1,)
        assert best.suppress == {("office",)}
        assert best.info["holds"] is False
        assert error.value.relax[:2] == ("allow 33.4% of the records to be suppressed", "k of at most 1")


# ---- events and time ----------------------------------------------------------------------------------------------


def random_table(rows: int = 400) -> tuple[Counts, dict[str, Hierarchy]]:
    rng = np.random.default_rng(1)
    leaves = [(f"v{i}", f"g{i // 4}", f"h{i // 8}", "*") for i in range(16)]
    chosen = {f"c{j}": Hierarchy.of_rows(leaves, name=f"c{j}") for j in range(5)}
    return Counts.of({name: [f"v{i}" for i in rng.integers(0, 16, rows)] for name in chosen}), chosen


@pytest.mark.parametrize("models", [[KAnonymity(5)], [KAnonymity(5), EntropyDiversity(1.0, "s")]])
def test_every_check_is_told(models: Any) -> None:
    counts, chosen = random_table()
    counts = Counts(counts.names, counts.values, counts.codes, counts.weights,
                    Counts.of({"x": range(len(counts))}, histograms={"s": ["a"] * len(counts)}).histograms)  # fmt: skip
    seen: list[Any] = []
    heard = optimal(counts, chosen, models, suppression=0.1, listener=seen.append)
    silent = optimal(counts, chosen, models, suppression=0.1)
    assert heard.info["loss"] == silent.info["loss"]
    checks = [event for event in seen if event.name == "node"]
    assert 0 < len(checks) <= heard.info["lattice"]["checked"]
    best = min(event.details["loss"] for event in checks if event.details["holds"])
    assert best == pytest.approx(heard.info["loss"])
    assert all(0 <= event.fraction <= 1 for event in checks)


def test_a_time_limit_gives_the_best_so_far_and_a_bound() -> None:
    counts, chosen = random_table()
    exact = optimal(counts, chosen, k=5, suppression=0.3)
    early = optimal(counts, chosen, k=5, suppression=0.3, time_limit=0.0)
    assert early.info["bound"] <= exact.info["loss"] <= early.info["loss"]
    assert early.info["optimal"] == (early.info["bound"] == early.info["loss"])


def test_the_order_of_rows_does_not_matter() -> None:
    counts, chosen = random_table()
    flipped = Counts(counts.names, counts.values, counts.codes[::-1].copy(), counts.weights[::-1].copy())
    first, second = (optimal(x, chosen, k=4, suppression=0.2) for x in (counts, flipped))
    assert first.info["node"] == second.info["node"]
    assert first.suppress == second.suppress
