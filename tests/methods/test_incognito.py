"""Incognito finds every node that holds, the minimal ones, and the best by any metric, meaning included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice_reference import judge, nodes_of, tables, value

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.incognito import incognito
from keepsense.methods.generalize.objective import semantic_tables
from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.risk_thresholds import AverageRisk
from keepsense.privacy.t_closeness import TCloseness
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import semantic_loss, semantic_sse
from keepsense.utility.value_distances import value_concepts, value_distances

MONOTONE: list[tuple[list[Model], tuple[float, ...]]] = [
    ([KAnonymity(2)], (0.0, 0.1, 0.3)),
    ([KAnonymity(3)], (0.0, 0.2, 1.0)),
    ([KAnonymity(2), DistinctDiversity(2, "s")], (0.0, 0.1, 0.3)),
    ([XYAnonymity(3, "s")], (0.0, 0.3)),
    ([KAnonymity(2), EntropyDiversity(1.5, "s")], (0.0,)),
    ([TCloseness(0.4, "s")], (0.0,)),
    ([AverageRisk(0.4)], (0.0,)),
]


@pytest.mark.parametrize(
    ("models", "shares"), MONOTONE, ids=lambda x: "+".join(m.name for m in x) if isinstance(x, list) else ""
)
@settings(max_examples=25, deadline=None)
@given(table=tables(rooted=False), data=st.data(), metric=st.sampled_from(["loss", "height", "average class size"]))
def test_all_nodes_that_hold(
    models: list[Model], shares: tuple[float, ...], table: Any, data: Any, metric: str
) -> None:
    columns, sensitive, chosen = table
    share = data.draw(st.sampled_from(shares))
    counts = Counts.of(columns, histograms=sensitive)
    judged = {n: judge(columns, sensitive, chosen, models, share, n) for n in nodes_of(chosen)}
    holding = {node for node, found in judged.items() if found.holds}
    if not holding:
        with pytest.raises(Infeasible):
            incognito(counts, chosen, models, suppression=share)
        return
    found = incognito(counts, chosen, models, suppression=share, metric=metric)
    assert set(found.info["anonymous"]) == holding
    lower = {n: [m for m in holding if m != n and all(a <= b for a, b in zip(m, n, strict=True))] for n in holding}
    assert set(found.info["minimal"]) == {node for node in holding if not lower[node]}
    values = {node: value(metric, columns, chosen, judged[node]) for node in holding}
    assert values[found.info["node"]] == pytest.approx(min(values.values()), abs=1e-9)
    assert found.info["loss"] == pytest.approx(min(values.values()), abs=1e-9)


def test_models_that_suppression_spoils_are_refused() -> None:
    counts = Counts.of({"sex": ["f", "m"] * 3}, histograms={"s": ["a", "b", "a", "b", "c", "c"]})
    sex = {"sex": Hierarchy.of_rows([("f", "*"), ("m", "*")])}
    with pytest.raises(BadInput, match="t-closeness"):
        incognito(counts, sex, [TCloseness(0.2, "s")], suppression=0.5)


def test_events_show_subsets_first() -> None:
    seen: list[Any] = []
    chosen = {name: Hierarchy.of_rows([("a", "*"), ("b", "*")]) for name in ("x", "y")}
    counts = Counts.of({"x": ["a", "a", "b", "b"], "y": ["a", "b", "a", "b"]})
    incognito(counts, chosen, k=2, listener=seen.append)
    sizes = [len(event.details["node"]) for event in seen if event.name == "node"]
    assert sizes == sorted(sizes)
    assert seen[-1].name == "chosen"


@pytest.mark.parametrize("squared", [False, True])
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_semantic_incognito_agrees_with_the_measure(squared: bool, share: float) -> None:
    """Chosen by meaning: the loss told is the one the utility metric finds in the release, and no node does better."""
    animals = from_edges([
        ("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("cow", "cattle"), ("ox", "cattle"), ("cattle", "animal"),
        ("oak", "tree"), ("elm", "tree"), ("tree", "plant"), ("fern", "plant"), ("animal", "being"), ("plant", "being"),
    ])  # fmt: skip
    rows = [("cat", "pet", "animal", "*"), ("dog", "pet", "animal", "*"), ("cow", "cattle", "animal", "*"),
            ("ox", "cattle", "animal", "*"), ("oak", "tree", "plant", "*"), ("elm", "tree", "plant", "*"),
            ("fern", "fern", "plant", "*")]  # fmt: skip
    chosen = {"likes": Hierarchy.of_rows(rows, name="likes"), "fears": Hierarchy.of_rows(rows, name="fears")}
    rng = np.random.default_rng(7)
    leaves = chosen["likes"].leaves
    columns = {name: [leaves[i] for i in rng.integers(0, 7, 60)] for name in chosen}
    far = distance("wu-palmer", animals)
    counts = Counts.of(columns)
    metric = semantic_tables(chosen, dict.fromkeys(chosen, far), squared=squared)
    found = incognito(counts, chosen, k=3, suppression=share, metric=metric)
    rule = semantic_sse if squared else semantic_loss

    def told(cuts: Any) -> float:
        cells = cuts.cells(counts)
        matrices = {
            name: value_distances(far, cells.values[j], counts.values_of(name), value_concepts(chosen[name], animals))
            for j, name in enumerate(cells.names)
        }
        return rule(counts, cuts, matrices)

    assert told(found) == pytest.approx(found.info["loss"])
    losses = {n: value("own", columns, chosen, judge(columns, {}, chosen, [KAnonymity(3)], share, n), metric)
              for n in found.info["anonymous"]}  # fmt: skip
    assert found.info["loss"] == pytest.approx(min(losses.values()))
