"""Samarati's search returns a node of the least height at which any node holds."""

from __future__ import annotations

import sys
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice_reference import judge, nodes_of, tables, value

from keepsense.counts import Counts
from keepsense.errors import Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.samarati import samarati
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.t_closeness import TCloseness

MODELS: list[list[Model]] = [
    [KAnonymity(2)],
    [KAnonymity(3)],
    [KAnonymity(2), DistinctDiversity(2, "s")],
    [KAnonymity(2), EntropyDiversity(1.5, "s")],
    [TCloseness(0.5, "s")],
]


@pytest.mark.parametrize("models", MODELS, ids=lambda m: "+".join(x.name for x in m))
@settings(max_examples=30, deadline=None)
@given(table=tables(rooted=False), share=st.sampled_from([0.0, 0.1, 0.3]), many=st.sampled_from([0, 256]))
def test_the_height_is_the_least(models: list[Model], table: Any, share: float, many: int) -> None:
    with mock.patch.object(sys.modules[samarati.__module__], "_MANY", many):  # 0: nodes that fail are followed upwards
        _the_height_is_the_least(models, table, share)


def _the_height_is_the_least(models: list[Model], table: Any, share: float) -> None:
    columns, sensitive, chosen = table
    counts = Counts.of(columns, histograms=sensitive)
    judged = {n: judge(columns, sensitive, chosen, models, share, n) for n in nodes_of(chosen)}
    holding = [node for node, found in judged.items() if found.holds]
    if not holding:
        with pytest.raises(Infeasible):
            samarati(counts, chosen, models, suppression=share)
        return
    found = samarati(counts, chosen, models, suppression=share)
    least = min(map(sum, holding))
    assert sum(found.info["node"]) == found.info["height"] == least
    assert set(found.info["minimal"]) == {node for node in holding if sum(node) == least}
    losses = {node: value("loss", columns, chosen, judged[node]) for node in found.info["minimal"]}
    assert losses[found.info["node"]] == pytest.approx(min(losses.values()), abs=1e-9)
    assert found.suppress == judged[found.info["node"]].bad


def test_events_name_the_nodes() -> None:
    rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    seen: list[Any] = []
    counts = Counts.of({"job": ["nurse", "surgeon", "clerk", "clerk"]})
    found = samarati(counts, {"job": Hierarchy.of_rows(rows)}, k=2, listener=seen.append)
    assert [event.name for event in seen] == ["start", *["node"] * (len(seen) - 2), "chosen"]
    assert seen[-1].details["node"] == found.info["node"] == (1,)
    assert {event.details["node"] for event in seen[1:-1]} <= {(0,), (1,), (2,)}
