"""Optimal search equals brute force, for every metric and kind of model, with and without suppression."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice_reference import judge, nodes_of, tables, value

from keepsense.counts import Counts
from keepsense.errors import Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.objective import METRICS, LossTables
from keepsense.methods.generalize.optimal import optimal
from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity, RecursiveDiversity
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.risk_thresholds import AverageRisk, MaximumRisk
from keepsense.privacy.t_closeness import TCloseness

MODELS: list[list[Model]] = [
    [KAnonymity(2)],
    [KAnonymity(3)],
    [MaximumRisk(0.25)],
    [KAnonymity(2), DistinctDiversity(2, "s")],
    [XYAnonymity(2, "s")],
    [KAnonymity(2), EntropyDiversity(1.7, "s")],
    [RecursiveDiversity(2.0, 2, "s")],
    [KAnonymity(2), TCloseness(0.4, "s")],
    [KAnonymity(2), AverageRisk(0.3)],
]
SHARES = (0.0, 0.1, 0.3, 1.0)


def brute(columns: Any, sensitive: Any, chosen: Any, models: Any, share: float, metric: str, own: Any = None) -> Any:
    """Every node judged and measured: the values of those that hold."""
    found = {}
    for node in nodes_of(chosen):
        judged = judge(columns, sensitive, chosen, models, share, node)
        if judged.holds:
            found[node] = value(metric, columns, chosen, judged, own)
    return found


def compare(columns: Any, sensitive: Any, chosen: Any, models: Any, share: float, metric: Any, **more: Any) -> None:
    counts = Counts.of(columns, histograms=sensitive)
    own = metric if isinstance(metric, LossTables) else None
    expected = brute(columns, sensitive, chosen, models, share, "own" if own else metric, own)
    if not expected:
        with pytest.raises(Infeasible) as error:
            optimal(counts, chosen, models, metric=metric, suppression=share, **more)
        assert error.value.relax
        return
    found = optimal(counts, chosen, models, metric=metric, suppression=share, **more)
    assert found.info["loss"] == pytest.approx(min(expected.values()), abs=1e-9, rel=1e-9)
    assert expected[found.info["node"]] == pytest.approx(found.info["loss"], abs=1e-9, rel=1e-9)
    judged = judge(columns, sensitive, chosen, models, share, found.info["node"])
    assert found.suppress == judged.bad
    assert found.info["suppressed"] == judged.suppressed
    assert found.info["classes"] == len(judged.classes) - len(judged.bad)
    assert found.info["optimal"]
    if more.get("classify"):
        status = found.info["status"]
        assert {node for node in nodes_of(chosen) if status[node] <= 2} == set(expected)
        assert not (status == 0).any()


@pytest.mark.parametrize("metric", METRICS)
@settings(max_examples=25, deadline=None)
@given(table=tables(), share=st.sampled_from(SHARES), k=st.integers(1, 4))
def test_every_measure_equals_brute_force(metric: str, table: Any, share: float, k: int) -> None:
    compare(*table, [KAnonymity(k)], share, metric)


@pytest.mark.parametrize("models", MODELS, ids=lambda m: "+".join(x.name for x in m))
@settings(max_examples=25, deadline=None)
@given(table=tables(), share=st.sampled_from(SHARES), metric=st.sampled_from(["loss", "discernibility"]))
def test_every_model_equals_brute_force(models: list[Model], table: Any, share: float, metric: str) -> None:
    compare(*table, models, share, metric, classify=True)


@settings(max_examples=40, deadline=None)
@given(table=tables(rooted=False), share=st.sampled_from(SHARES), k=st.integers(1, 6))
def test_hierarchies_without_a_single_top(table: Any, share: float, k: int) -> None:
    compare(*table, [KAnonymity(k)], share, "loss", classify=True)


@settings(max_examples=60, deadline=None)
@given(
    table=tables(),
    share=st.sampled_from(SHARES),
    combine=st.sampled_from(["mean", "geometric", "sum", "squares"]),
    seed=st.integers(0, 10_000),
    grows=st.booleans(),
)
def test_tables_of_ones_own(table: Any, share: float, combine: Any, seed: int, grows: bool) -> None:
    """Leafwise tables, growing with the level or not, below the suppressed loss or not."""
    columns, sensitive, chosen = table
    rng = np.random.default_rng(seed)
    losses = {name: rng.random((h.height + 1, len(h.leaves))) for name, h in chosen.items()}
    if grows:
        losses = {name: np.sort(x, axis=0) for name, x in losses.items()}
    worst = {name: (x.max(axis=0) if grows else rng.random(x.shape[1])) for name, x in losses.items()}
    own = LossTables("own", {name: list(x) for name, x in losses.items()}, worst, combine)
    compare(columns, sensitive, chosen, [KAnonymity(2)], share, own)


def test_wide_tables_use_several_words() -> None:
    """Twelve columns of many values do not fit into one 64-bit key."""
    rng = np.random.default_rng(5)
    rows = [(f"v{i}", f"g{i % 4}", "*") for i in range(70)]
    chosen = {f"c{j}": Hierarchy.of_rows(rows, name=f"c{j}") for j in range(10)}
    columns = {name: [f"v{i}" for i in rng.integers(0, 70, 300)] for name in chosen}
    columns["c0"] = columns["c1"]
    counts = Counts.of(columns)
    found = optimal(counts, chosen, k=3, suppression=0.05)
    judged = judge(columns, {}, chosen, [KAnonymity(3)], 0.05, found.info["node"])
    assert judged.holds
    assert judged.suppressed == found.info["suppressed"]
    assert value("loss", columns, chosen, judged) == pytest.approx(found.info["loss"])
    cheaper = [n for n in itertools.product(range(3), repeat=10) if sum(n) == sum(found.info["node"]) - 1]
    for node in cheaper[:60]:
        judged = judge(columns, {}, chosen, [KAnonymity(3)], 0.05, node)
        assert not judged.holds or value("loss", columns, chosen, judged) >= found.info["loss"] - 1e-12
