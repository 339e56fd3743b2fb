"""The anytime search: bounds that never lie, optima where it proves them, progress that is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.clocks import tick
from tests.methods.lattice_reference import judge, nodes_of, tables, value

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.anytime import anytime, block_bound, blocks
from keepsense.methods.generalize.lattice_template import LatticeSearch
from keepsense.methods.generalize.optimal import optimal
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.t_closeness import TCloseness

MODELS: list[list[Model]] = [[KAnonymity(2)], [KAnonymity(3)], [KAnonymity(2), DistinctDiversity(2, "s")]]


@settings(max_examples=50, deadline=None)
@given(
    table=tables(),
    share=st.sampled_from([0.0, 0.1, 0.3, 1.0]),
    models=st.sampled_from(MODELS),
    metric=st.sampled_from(["loss", "geometric loss", "non-uniform entropy", "height", "discernibility"]),
)
def test_small_tables_equal_brute_force(table: Any, share: float, models: list[Model], metric: str) -> None:
    columns, sensitive, chosen = table
    counts = Counts.of(columns, histograms=sensitive)
    holding = {}
    for node in nodes_of(chosen):
        judged = judge(columns, sensitive, chosen, models, share, node)
        if judged.holds:
            holding[node] = value(metric, columns, chosen, judged)
    if not holding:
        with pytest.raises(Infeasible):
            anytime(counts, chosen, models, suppression=share, metric=metric)
        return
    found = anytime(counts, chosen, models, suppression=share, metric=metric, rng=1)
    least = min(holding.values())
    assert found.info["loss"] == pytest.approx(holding[found.info["node"]], abs=1e-9)
    assert found.info["bound"] <= least + 1e-9
    assert 0 <= found.info["gap"] <= 1
    if metric != "discernibility":
        assert found.info["optimal"]
    if found.info["optimal"]:
        assert found.info["loss"] == pytest.approx(least, abs=1e-9)


def many_columns(d: int, rows: int = 500, seed: int = 2) -> tuple[Counts, dict[str, Hierarchy]]:
    rng = np.random.default_rng(seed)
    leaves = [(f"v{i}", f"g{i // 2}", f"h{i // 4}", "*") for i in range(8)]
    chosen = {f"c{j}": Hierarchy.of_rows(leaves, name=f"c{j}") for j in range(d)}
    common = rng.normal(size=rows)
    columns = {}
    for name in chosen:
        x = common * rng.random() + rng.normal(size=rows)
        columns[name] = [f"v{i}" for i in np.clip((x * 1.5 + 4).astype(int), 0, 7)]
    return Counts.of(columns), chosen


@pytest.mark.parametrize("share", [0.0, 0.05, 0.3])
@pytest.mark.parametrize("metric", ["loss", "geometric loss"])
def test_groups_of_columns_bound_the_optimum(share: float, metric: str) -> None:
    counts, chosen = many_columns(6)
    exact = optimal(counts, chosen, k=4, suppression=share, metric=metric).info["loss"]
    search = LatticeSearch(counts, chosen, [KAnonymity(4)], suppression=share, metric=metric)
    later = np.inf
    small, large, whole = (block_bound(search, most, later) for most in (16, 256, 5_000))
    assert 0 < small <= large <= whole * (1 + 1e-12)
    assert whole == pytest.approx(exact)
    assert sorted(j for block in blocks(search.space, 256) for j in block) == list(range(6))


def test_a_lattice_of_a_million_billion_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, chosen = many_columns(25)
    search = LatticeSearch(counts, chosen, [KAnonymity(3)], suppression=0.05)
    search.check(search.space.heights)  # loads compiled loops, which looks at the clock thousands of times
    tick(monkeypatch, 0.001)
    seen: list[Any] = []
    found = anytime(counts, chosen, k=3, suppression=0.05, time_limit=2.0, rng=3, listener=seen.append)
    assert found.info["lattice"]["nodes"] == 4**25
    assert search.check(found.info["node"]).holds
    assert 0 < found.info["bound"] < found.info["loss"] < 1
    assert found.info["gap"] == pytest.approx(1 - found.info["bound"] / found.info["loss"])
    losses = [event.details["loss"] for event in seen if event.name == "better"]
    bounds = [event.details["bound"] for event in seen if event.name == "bound"]
    assert losses == sorted(losses, reverse=True)
    assert bounds == sorted(bounds)
    assert losses[-1] == found.info["loss"]
    assert bounds[-1] == found.info["bound"]
    assert all(0 <= event.fraction <= 1 for event in seen)


def test_too_many_nodes_for_the_exact_search() -> None:
    counts, chosen = many_columns(25, rows=50)
    with pytest.raises(BadInput, match="use the method anytime"):
        optimal(counts, chosen, k=2)


def test_models_that_suppression_spoils_are_refused() -> None:
    counts = Counts.of({"sex": ["f", "m"] * 3}, histograms={"s": ["a", "b", "a", "b", "c", "c"]})
    sex = {"sex": Hierarchy.of_rows([("f", "*"), ("m", "*")])}
    for model in (TCloseness(0.2, "s"), EntropyDiversity(1.5, "s")):
        with pytest.raises(BadInput, match="never hurts"):
            anytime(counts, sex, [model], suppression=0.5)
