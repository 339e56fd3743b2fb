from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.table_reference import (
    HIERARCHIES,
    above,
    assert_sub_tree_cut,
    assert_true_ancestors,
    counted,
    kept,
    released,
    rows_of_tables,
)

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.top_down import top_down
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.progress import Event
from keepsense.recoding import Cuts
from keepsense.utility.generalization_losses import loss

NAMES = ("job", "age", "sex")


def entropy(labels: list[str]) -> float:
    shares = np.array(list(Counter(labels).values())) / max(1, len(labels))
    return float(-(shares * np.log2(shares)).sum()) if labels else 0.0


def reference(rows: list[tuple[Any, ...]], target: list[str], k: int) -> list[tuple[str, ...]]:
    """Top-down specialization on rows: at each step the best trade-off, straight from its definition.

    A value stands at a set of leaves of the table; specializing a set replaces it by the sets of its parts one level
    down, levels where it stays whole being passed over.
    """
    paths = [{v: above(HIERARCHIES[name], v) for v in {row[j] for row in rows}} for j, name in enumerate(NAMES)]

    def parts(j: int, members: frozenset[Any]) -> list[frozenset[Any]]:
        for level in range(HIERARCHIES[NAMES[j]].height, -1, -1):
            found: dict[Any, set[Any]] = {}
            for v in members:
                found.setdefault(paths[j][v][level], set()).add(v)
            if len(found) > 1:
                return [frozenset(p) for p in found.values()]
        return []

    at = [dict.fromkeys(p, frozenset(p)) for p in paths]

    def sizes(now: list[dict[Any, frozenset[Any]]]) -> list[int]:
        return list(Counter(tuple(now[j][v] for j, v in enumerate(row)) for row in rows).values())

    while True:
        smallest = min(sizes(at))
        best, score = None, -1.0
        for j in range(3):
            # candidates in the order of the template: by the node's place, that is by level, then by first value
            for members in sorted(set(at[j].values()), key=lambda m: order(j, m, paths)):
                pieces = parts(j, members)
                if not pieces:
                    continue
                after = {**at[j], **{v: piece for piece in pieces for v in piece}}
                new = sizes([*at[:j], after, *at[j + 1 :]])
                if min(new) < k:
                    continue
                here = [t for row, t in zip(rows, target, strict=True) if row[j] in members]
                if len(set(here)) < 2:  # not beneficial
                    continue
                gain = entropy(here) - sum(
                    len(inside) / len(here) * entropy(inside)
                    for piece in pieces
                    for inside in [[t for row, t in zip(rows, target, strict=True) if row[j] in piece]]
                )
                value = gain / (smallest - min(new) + 1)
                if value > score + 1e-9:
                    best, score = (j, after), value
        if best is None:
            return [tuple(sorted(map(str, at[j][v])) for j, v in enumerate(row)) for row in rows]  # type: ignore[misc]
        at[best[0]] = best[1]


def order(j: int, members: frozenset[Any], paths: list[dict[Any, list[Any]]]) -> tuple[int, int]:
    level = next(lv for lv in range(9) if len({paths[j][v][lv] for v in members}) == 1)
    return level, min(HIERARCHIES[NAMES[j]].leaves.index(v) for v in members)


def partition(labels: list[Any]) -> set[frozenset[int]]:
    found: dict[Any, set[int]] = {}
    for i, label in enumerate(labels):
        found.setdefault(str(label), set()).add(i)
    return {frozenset(p) for p in found.values()}


@settings(deadline=None, max_examples=40)
@given(rows_of_tables(), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_it_equals_its_definition(rows: list[tuple[Any, ...]], k: int, seed: int) -> None:
    k = min(k, len(rows))
    rng = np.random.default_rng(seed)
    target = [f"{'ab'[rng.integers(2)]}{i}" if rng.random() < 0.2 else "ab"[rng.integers(2)] for i in range(len(rows))]
    columns = dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
    counts = Counts.of(columns, histograms={"buys": target})
    found = top_down(counts, HIERARCHIES, k=k, target="buys")
    rule = [dict(zip(cut.inputs, cut.outputs, strict=True)) for cut in found.cuts]
    outputs = [tuple(rule[j][v] for j, v in enumerate(row)) for row in rows]
    assert partition(outputs) == partition(reference(rows, target, k))
    assert min(kept(found, counts)) >= k


@settings(deadline=None, max_examples=40)
@given(rows_of_tables(), st.integers(2, 5), st.sampled_from([None, "smallest class", "at risk"]))
def test_cuts_are_valid_true_and_safe(rows: list[tuple[Any, ...]], k: int, anonymity: Any) -> None:
    counts = counted(rows)
    k = min(k, len(rows))
    found = top_down(counts, HIERARCHIES, k=k, anonymity=anonymity)
    assert min(kept(found, counts)) >= k
    assert_sub_tree_cut(found)
    assert_true_ancestors(found, counts)
    shuffled = counted([rows[i] for i in np.random.default_rng(k).permutation(len(rows))])
    again = top_down(shuffled, HIERARCHIES, k=k, anonymity=anonymity)
    assert [cut.outputs for cut in again.cuts] == [cut.outputs for cut in found.cuts]


@settings(deadline=None, max_examples=25)
@given(rows_of_tables(), st.integers(2, 4))
def test_nothing_more_can_be_specialized(rows: list[tuple[Any, ...]], k: int) -> None:
    counts = counted(rows)
    found = top_down(counts, HIERARCHIES, k=k)
    for j, cut in enumerate(found.cuts):
        hierarchy = HIERARCHIES[cut.name]
        seen = set(counts.values[j])
        for out in {o for v, o in zip(cut.inputs, cut.outputs, strict=True) if v in seen}:
            under = [v for v, o in zip(cut.inputs, cut.outputs, strict=True) if o == out and v in seen]
            if len(under) < 2:
                continue
            rows_under = [above(hierarchy, v) for v in under]
            level = next(lv for lv in range(hierarchy.height, -1, -1) if len({r[lv] for r in rows_under}) > 1)
            finer = {v: row[level] for v, row in zip(under, rows_under, strict=True)}
            outputs = tuple(finer.get(v, o) for v, o in zip(cut.inputs, cut.outputs, strict=True))
            cuts = [*found.cuts[:j], type(cut)(cut.name, cut.inputs, outputs), *found.cuts[j + 1 :]]
            assert min(kept(Cuts(tuple(cuts)), counts)) < k


@settings(deadline=None, max_examples=25)
@given(rows_of_tables(), st.integers(0, 2**32 - 1))
def test_diversity_and_suppression(rows: list[tuple[Any, ...]], seed: int) -> None:
    ill = [str(v) for v in np.random.default_rng(seed).choice(["flu", "cold", "gout"], len(rows))]
    counts = counted(rows, ill)
    if len(set(ill)) < 2:
        with pytest.raises(Infeasible, match="weaker"):
            top_down(counts, HIERARCHIES, k=1, models=[DistinctDiversity(2, "illness")])
        return
    plain = top_down(counts, HIERARCHIES, k=2, models=[DistinctDiversity(2, "illness")])
    spared = top_down(counts, HIERARCHIES, k=2, models=[DistinctDiversity(2, "illness")], suppression=0.2)
    for found in (plain, spared):
        seen: dict[tuple[Any, ...], set[int]] = {}
        for t, out in enumerate(released(found, counts)):
            seen.setdefault(out, set()).update(counts.histograms["illness"].rows[t].tolist())
        assert all(len(values) >= 2 for out, values in seen.items() if set(out) != {"*"})
    assert spared.info["suppressed"] <= 0.2 * len(rows)


def test_the_trace_tells_gain_and_state() -> None:
    jobs = ["nurse", "surgeon", "clerk", "typist"] * 2
    counts = Counts.of(
        {"job": jobs, "age": [30] * 8, "sex": ["f", "m"] * 4}, histograms={"buys": ["y", "y", "n", "n"] * 2}
    )
    seen: list[Event] = []
    found = top_down(counts, HIERARCHIES, k=4, target="buys", listener=seen.append)
    steps = [event.details for event in seen if event.name == "step"]
    assert [(step["column"], step["candidate"]) for step in steps] == [("job", "*")]
    # the gain is one bit and the smallest class shrinks from 8 to 4
    assert steps[0]["score"] == pytest.approx(1 / 5)
    assert steps[0]["smallest"] == 4
    assert found.cuts[0].outputs == ("medic", "medic", "shop", "office", "office")
    assert found.cuts[1].outputs[10] == 30, "a column of one value keeps it"
    further = top_down(counts, HIERARCHIES, k=2, target="buys", beneficial=False)
    assert loss(counts, further, HIERARCHIES) <= loss(counts, found, HIERARCHIES)


def test_a_first_step_that_gains_nothing_may_open_up_what_does() -> None:
    jobs = Hierarchy.of_rows(
        [(job, kind, "*") for kind, jobs in (("medic", "ab"), ("office", "cd")) for job in jobs], name="job"
    )
    counts = Counts.of({"job": list("abcd") * 2}, histograms={"buys": list("ynyn") * 2})
    found = top_down(counts, {"job": jobs}, k=2, target="buys")
    assert found.cuts[0].outputs == ("a", "b", "c", "d")
    pure = Counts.of({"job": list("abcd") * 2}, histograms={"buys": list("yynn") * 2})
    assert top_down(pure, {"job": jobs}, k=2, target="buys").cuts[0].outputs == ("medic", "medic", "office", "office")


def test_refusals() -> None:
    counts = Counts.of({"sex": ["f", "m"]}, histograms={"buys": ["y", "n"]})
    with pytest.raises(BadInput, match=r"'buy' is not counted.*buys"):
        top_down(counts, HIERARCHIES, k=2, target="buy")
    with pytest.raises(BadInput, match="choose one role"):
        top_down(counts, HIERARCHIES, k=2, target="sex")
    with pytest.raises(Infeasible, match="k of at most 2") as error:
        top_down(counts, HIERARCHIES, k=3)
    assert isinstance(error.value.best, Cuts)
    with pytest.raises(BadInput, match="does not add up"):
        top_down(counts, HIERARCHIES, k=2, metric="discernibility")
    top = Hierarchy.of_rows([("f",), ("m",)], name="sex")
    with pytest.raises(Infeasible, match="one top value"):
        top_down(counts, {"sex": top}, k=2)
