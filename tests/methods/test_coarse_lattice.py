"""Searching on coarser codes: node, loss and suppressed classes are those of a search that has all tuples at hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice_reference import tables

from keepsense.counts import Counts
from keepsense.counts_out_of_core import LargeCounts
from keepsense.engines.dictionary_encoding import counted, encoded
from keepsense.engines.partitioned_count import CodedRows
from keepsense.errors import Infeasible, TooLarge
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize import coarse_lattice, lattice_loops
from keepsense.methods.generalize.lattice_template import LatticeSearch
from keepsense.methods.generalize.objective import LossTables
from keepsense.methods.generalize.optimal import optimal
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.t_closeness import TCloseness

MODELS: list[list[Model]] = [
    [KAnonymity(2)],
    [KAnonymity(3), DistinctDiversity(2, "s")],
    [KAnonymity(2), EntropyDiversity(1.7, "s")],
    [KAnonymity(2), TCloseness(0.4, "s")],
]
METRICS = ["loss", "geometric loss", "precision", "ncp", "height", "discernibility", "average class size"]


def both(
    columns: Mapping[str, Sequence[Any]], along: Mapping[str, Sequence[Any]], room: int, most: int = 3, threads: int = 1
) -> tuple[Counts, LargeCounts]:
    """A table counted as a whole, and the same to be counted in parts of few rows, in little room."""
    own, further = ({n: encoded(pa.array(c)) for n, c in given_ones.items()} for given_ones in (columns, along))
    return counted(own, further, {}), LargeCounts(CodedRows(own, further, room, most, threads), further)


def found(counts: Counts, *given_ones: Any, **options: Any) -> Any:
    """All that a search decides, or why it found nothing."""
    try:
        rule = optimal(counts, *given_ones, **options)
    except Infeasible as error:
        return str(error)
    told = {key: rule.info.get(key) for key in ("node", "loss", "classes", "suppressed", "optimal", "bound")}
    return rule.levels, rule.suppress, told


@pytest.mark.parametrize("models", MODELS, ids=["k", "distinct", "entropy", "closeness"])
def test_what_is_found_is_the_same(models: list[Model]) -> None:
    @settings(max_examples=150, deadline=None)
    @given(
        table=tables(),
        share=st.sampled_from([0.0, 0.1, 0.4]),
        metric=st.sampled_from(METRICS),
        room=st.sampled_from([1, 300, 700, 2000, 10**6]),
    )
    def run(table: Any, share: float, metric: str, room: int) -> None:
        columns, sensitive, chosen = table
        counts, large = both(columns, sensitive, room)
        whole = found(counts, chosen, models, suppression=share, metric=metric)
        try:
            assert found(large, chosen, models, suppression=share, metric=metric) == whole
        except TooLarge:  # models that are asked about all classes at once need them all
            assert len(models) > 1
            assert room < 10**6

    run()


def people(rows: int, seed: int = 5) -> tuple[dict[str, list[str]], dict[str, list[str]], dict[str, Hierarchy]]:
    """A table whose columns go together a little, and their trees."""
    rng = np.random.default_rng(seed)
    town = rng.zipf(1.4, rows) % 40
    columns = {
        "town": [f"t{i:02}" for i in town],
        "age": [f"{i:02}" for i in (rng.integers(0, 50, rows) + town) % 60],
        "job": [f"j{i:02}" for i in rng.zipf(1.3, rows) % 30],
        "sex": [f"{i}" for i in rng.integers(0, 2, rows)],
    }
    along = {"ill": [f"i{i}" for i in rng.zipf(1.5, rows) % 7]}

    def tree(name: str, wide: Sequence[int]) -> Hierarchy:
        values = sorted(set(columns[name]))
        lines = [(v, *(f"{name}{width}-{at // width}" for width in wide), "*") for at, v in enumerate(values)]
        return Hierarchy.of_rows(lines, name=name)

    steps = {"town": (2, 8), "age": (2, 6, 18), "job": (3, 12), "sex": ()}
    return columns, along, {name: tree(name, wide) for name, wide in steps.items()}


@pytest.mark.parametrize("room", [20_000, 60_000, 200_000, 10**9])
@pytest.mark.parametrize("compiled", [False, True])
def test_larger_tables_take_the_same_way(room: int, compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lattice_loops, "WORK", 0 if compiled else 10**18)
    columns, along, trees = people(1500)
    counts, large = both(columns, along, room, most=300, threads=2)
    models = [KAnonymity(4), DistinctDiversity(2, "ill")]
    steps: dict[bool, list[Any]] = {False: [], True: []}

    def listener(held: bool) -> Any:
        def listen(event: Any) -> None:
            if event.name == "node":
                steps[held].append((event.details["node"], event.details["holds"], event.details["loss"]))

        return listen

    whole = found(counts, trees, models, suppression=0.05, listener=listener(True))
    assert found(large, trees, models, suppression=0.05, listener=listener(False)) == whole
    assert steps[False] == steps[True]


def test_few_scans_decide_and_the_tuples_are_never_held(monkeypatch: pytest.MonkeyPatch) -> None:
    columns, along, trees = people(3000)
    counts, large = both(columns, along, 100_000, most=500)
    made: list[coarse_lattice.CoarseSearch] = []
    start = coarse_lattice.CoarseSearch.__init__

    def noted(self: Any, *args: Any, **options: Any) -> None:
        start(self, *args, **options)
        made.append(self)

    monkeypatch.setattr(coarse_lattice.CoarseSearch, "__init__", noted)
    rule = optimal(large, trees, [KAnonymity(4)], suppression=0.05)
    search = made[0]
    assert search.most < len(counts) / 2
    assert search.scans < search.checks / 2
    assert rule.info["lattice"]["checked"] == search.checks  # type: ignore[index]
    with pytest.raises(TooLarge, match="more than memory may hold"):
        _ = large.codes


def test_levels_of_ones_own_are_checked_alike() -> None:
    columns, along, trees = people(600)
    counts, large = both(columns, along, 40_000, most=200)
    levels = {"town": 2, "age": 3, "job": 2, "sex": 0}
    chosen = [optimal(c, trees, k=3, suppression=0.3, levels=levels) for c in (counts, large)]
    assert chosen[0].suppress == chosen[1].suppress
    assert chosen[0].info["loss"] == chosen[1].info["loss"]


def test_every_node_is_classified_alike() -> None:
    columns, along, trees = people(500)
    counts, large = both(columns, along, 10_000, most=100)
    status = [optimal(c, trees, k=3, suppression=0.1, classify=True).info["status"] for c in (counts, large)]
    held = [np.isin(each, (1, 2)) for each in status]
    np.testing.assert_array_equal(*held)


def test_metrics_of_what_was_need_all_tuples() -> None:
    columns, along, trees = people(100)
    _, large = both(columns, along, 10_000)
    with pytest.raises(TooLarge, match="depends on the values that were"):
        optimal(large, trees, k=2, metric="non-uniform entropy")
    squares = LossTables(
        "own", {n: [[0.0]] * (t.height + 1) for n, t in trees.items()}, dict.fromkeys(trees, 1.0), "squares"
    )
    with pytest.raises(TooLarge):
        optimal(large, trees, k=2, metric=squares)


def test_other_searches_refuse_what_is_not_held() -> None:
    columns, along, trees = people(100)
    _, large = both(columns, along, 10_000)
    with pytest.raises(TooLarge):
        LatticeSearch(large, trees, [KAnonymity(2)]).check((0, 0, 0, 0))
