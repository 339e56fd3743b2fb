from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.table_reference import AGES, HIERARCHIES, JOBS, SEXES, counted, kept, rows_of_tables

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.formats.arx_csv import read_arx
from keepsense.hierarchies.hierarchy import Hierarchy, MissingValues
from keepsense.methods.generalize.datafly import datafly
from keepsense.methods.generalize.grouping_kernels import alone, group
from keepsense.methods.generalize.objective import semantic_tables
from keepsense.methods.generalize.semantic_datafly import semantic_datafly
from keepsense.methods.generalize.table_template import distinct_values, least_loss, recode
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.privacy.t_closeness import TCloseness
from keepsense.progress import Event
from keepsense.recoding import Cuts
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges

WORK = from_edges(
    [("nurse", "medic"), ("surgeon", "medic"), ("medic", "worker"), ("optician", "worker"), ("clerk", "office worker"),
     ("typist", "office worker"), ("office worker", "worker")]
)  # fmt: skip


def reference(rows: list[tuple[Any, ...]], k: int, most: int) -> tuple[tuple[int, ...], set[tuple[Any, ...]]]:
    """Datafly as one would explain it: rows of labels, counted again after every step."""
    hierarchies = (JOBS, AGES, SEXES)
    above = [dict(zip(h.leaves, h.rows(), strict=True)) for h in hierarchies]
    levels = [0, 0, 0]
    while True:
        released = [tuple(above[j][v][levels[j]] for j, v in enumerate(row)) for row in rows]
        sizes = Counter(released)
        alone = {label: n for label, n in sizes.items() if n < k}
        if sum(alone.values()) <= most and len(alone) < len(sizes):
            return tuple(levels), set(alone)
        spread = [len({row[j] for row in released}) if levels[j] < h.height else -1 for j, h in enumerate(hierarchies)]
        if max(spread) < 0:
            raise Infeasible("nothing can be raised")
        levels[spread.index(max(spread))] += 1


@settings(deadline=None, max_examples=60)
@given(rows_of_tables(), st.integers(1, 6))
def test_it_equals_datafly_told_in_plain_python(rows: list[tuple[Any, ...]], k: int) -> None:
    counts = counted(rows)
    try:
        levels, alone = reference(rows, k, k)
    except Infeasible:
        with pytest.raises(Infeasible):
            datafly(counts, HIERARCHIES, k=k)
        return
    found = datafly(counts, HIERARCHIES, k=k)
    assert found.levels == levels
    assert found.suppress == alone
    assert min(kept(found, counts)) >= k
    assert found.info["suppressed"] == counts.total - sum(kept(found, counts)) <= k


@settings(deadline=None, max_examples=30)
@given(rows_of_tables(), st.integers(2, 4), st.floats(0, 0.5))
def test_a_share_replaces_the_rule_of_k_records(rows: list[tuple[Any, ...]], k: int, share: float) -> None:
    counts = counted(rows)
    levels, alone = reference(rows, k, int(share * len(rows)))
    found = datafly(counts, HIERARCHIES, k=k, suppression=share)
    assert found.levels == levels
    assert found.suppress == alone


@settings(deadline=None, max_examples=25)
@given(rows_of_tables(), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_the_order_of_rows_does_not_matter(rows: list[tuple[Any, ...]], k: int, seed: int) -> None:
    again = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    first, second = datafly(counted(rows), HIERARCHIES, k=k), datafly(counted(again), HIERARCHIES, k=k)
    assert (first.levels, first.suppress) == (second.levels, second.suppress)


def test_a_table_worked_by_hand() -> None:
    rows = [
        ("nurse", 31, "f"), ("surgeon", 35, "f"), ("nurse", 35, "f"), ("surgeon", 31, "f"),
        ("clerk", 31, "m"), ("clerk", 42, "m"), ("typist", 42, "m"), ("typist", 42, "f"),
    ]  # fmt: skip
    seen: list[Event] = []
    # Everybody stands alone. Of 4 jobs, 3 ages and 2 sexes, job is raised: (medic 31 f), (medic 35 f) and (office 42 m)
    # hold two records each, and two records are left, as many as may be suppressed.
    found = datafly(counted(rows), HIERARCHIES, k=2, listener=seen.append)
    steps = [event.details for event in seen if event.name == "step"]
    assert [(step["column"], step["score"], step["at_risk"]) for step in steps] == [("job", 4, 2)]
    assert found.levels == (1, 0, 0)
    assert found.suppress == {("office", 31, "m"), ("office", 42, "f")}
    # If none may be suppressed, age (3 values) follows, then job, which comes first of columns with 2 values, up to its
    # top, then age: only the sexes are left, five and three records.
    seen.clear()
    found = datafly(counted(rows), HIERARCHIES, k=2, suppression=0, listener=seen.append)
    steps = [event.details for event in seen if event.name == "step"]
    assert [step["column"] for step in steps] == ["job", "age", "job", "job", "age"]
    assert [step["score"] for step in steps] == [4, 3, 2, 2, 2]
    assert [step["at_risk"] for step in steps] == [2, 2, 2, 2, 0]
    assert found.levels == (3, 2, 0)
    assert sorted(kept(found, counted(rows))) == [3, 5]
    assert [event.name for event in seen if event.name != "step"] == ["start", "done"]


@settings(deadline=None, max_examples=30)
@given(rows_of_tables(), st.integers(0, 2**32 - 1))
def test_further_models_hold_in_every_class_that_is_released(rows: list[tuple[Any, ...]], seed: int) -> None:
    ill = [str(v) for v in np.random.default_rng(seed).choice(["flu", "cold", "gout"], len(rows))]
    counts = counted(rows, ill)
    for model in (DistinctDiversity(2, "illness"), TCloseness(0.5, "illness")):
        try:
            found = datafly(counts, HIERARCHIES, k=2, models=[model], suppression=0.2)
        except Infeasible:
            continue
        cells = found.cells(counts)
        _, owner = np.unique(cells.codes, axis=0, return_inverse=True)
        table = counts.histograms["illness"].table()
        whole = table.sum(axis=0) / table.sum()
        for c in range(owner.max() + 1):
            mine = owner == c
            if cells.suppressed is not None and cells.suppressed[mine].all():
                continue
            here = table[mine].sum(axis=0)
            assert here.sum() >= 2
            if isinstance(model, DistinctDiversity):
                assert (here > 0).sum() >= 2
            else:
                assert np.abs(here / here.sum() - whole).sum() / 2 <= 0.5 + 1e-9


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_compiled_grouping_equals_a_dictionary(seed: int, change: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 40)), int(rng.integers(1, 4))
    rows = rng.integers(0, 3, (n, d)).astype(np.int32)
    fresh = rng.integers(0, 2, n)
    changed = int(rng.integers(0, d)) if change else -1
    owner, first = np.empty(n, np.int64), np.empty(n, np.int64)
    size = group(rows, changed, fresh, np.empty(128, np.int64), owner, first)
    expected: dict[tuple[int, ...], int] = {}
    for i, row in enumerate(rows.tolist()):
        if changed >= 0:
            row[changed] = int(fresh[i])
        assert owner[i] == expected.setdefault(tuple(row), len(expected))
        assert first[owner[i]] <= i
    assert size == len(expected)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_the_compiled_search_for_an_equal_equals_comparing_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(1, 12)), int(rng.integers(1, 4))
    rows = rng.integers(0, 3, (n, d)).astype(np.int32)
    changed, moved = int(rng.integers(0, d)), rng.integers(3, 5, 3)
    after = rows.copy()
    after[:, changed] = moved[rows[:, changed]]
    for row in range(n):
        assert alone(rows, row, changed, moved) == (after.tolist().count(after[row].tolist()) == 1)


def test_semantic_datafly_raises_what_loses_least_meaning() -> None:
    counts = counted([("nurse", 30, "f"), ("surgeon", 30, "f"), ("nurse", 31, "f"), ("surgeon", 31, "f")])
    far = {"job": distance("wu-palmer", WORK)}
    seen: list[Event] = []
    found = semantic_datafly(counts, HIERARCHIES, k=2, distances=far, suppression=0, listener=seen.append)
    tables = semantic_tables(HIERARCHIES, far)
    cost = {name: float(np.mean(np.asarray(tables.tables[name][1])[:2])) for name in ("job", "age", "sex")}
    assert next(e.details["column"] for e in seen if e.name == "step") == min(cost, key=lambda name: cost[name])
    assert found.info["algorithm"] == "semantic Datafly"
    assert min(kept(found, counts)) >= 2
    plain = datafly(counts, HIERARCHIES, k=2, suppression=0)
    assert plain.levels != found.levels or plain.levels == (1, 0, 0)


@settings(deadline=None, max_examples=25)
@given(rows_of_tables(), st.integers(2, 4))
def test_semantic_datafly_keeps_the_promise(rows: list[tuple[Any, ...]], k: int) -> None:
    counts = counted(rows)
    far = {"job": distance("wu-palmer", WORK)}
    for anonymity in (None, "at risk", "smallest class"):
        found = semantic_datafly(counts, HIERARCHIES, k=k, distances=far, anonymity=anonymity, suppression=0)
        assert min(kept(found, counts)) >= k


def test_the_template_takes_a_stop_rule_and_a_direction() -> None:
    counts = counted([("nurse", 30, "f"), ("clerk", 31, "m"), ("nurse", 45, "f"), ("typist", 48, "m")])
    found = recode(counts, HIERARCHIES, [KAnonymity(1)], metric=distinct_values)
    assert found.levels == (0, 0, 0), "nothing to do"
    stopped = recode(
        counts, HIERARCHIES, [KAnonymity(1)], metric=least_loss(), direction="down",
        stop=lambda state: len(state.classes.weights) >= 2,
    )  # fmt: skip
    assert stopped.info["classes"] == 2
    down = recode(counts, HIERARCHIES, [KAnonymity(2)], metric=least_loss(), direction="down")
    assert min(kept(down, counts)) >= 2
    assert down.levels == (1, 2, 0)


def test_refusals_name_what_is_wrong() -> None:
    counts = counted([("nurse", 30, "f"), ("clerk", 31, "m")], ["flu", "cold"])
    with pytest.raises(Infeasible, match="k of at most 2") as error:
        datafly(counts, HIERARCHIES, k=3, suppression=0)
    assert isinstance(error.value.best, Cuts)
    assert not error.value.best.info["holds"]
    assert error.value.relax
    with pytest.raises(Infeasible):
        datafly(counts, HIERARCHIES, k=3)  # suppressing all of the two records would leave an empty table
    with pytest.raises(BadInput, match="no privacy model"):
        datafly(counts, HIERARCHIES)
    with pytest.raises(BadInput, match="'sex' has no hierarchy"):
        datafly(counts, {"job": JOBS, "age": AGES}, k=2)
    with pytest.raises(BadInput, match="no quasi-identifier"):
        datafly(Counts.of({}), {}, k=1)
    with pytest.raises(MissingValues, match="column 'job' misses 1"):
        datafly(counted([("pilot", 30, "f")]), HIERARCHIES, k=1)
    with pytest.raises(BadInput, match="sensitive"):
        datafly(counts, HIERARCHIES, k=1, models=[DistinctDiversity(2, "job")])
    with pytest.raises(BadInput, match="count it along"):
        datafly(counts, HIERARCHIES, k=1, models=[DistinctDiversity(2, "wealth")])
    with pytest.raises(BadInput, match="share of the records"):
        datafly(counts, HIERARCHIES, k=1, suppression=2.0)
    with pytest.raises(BadInput, match="whole number"):
        datafly(counts, HIERARCHIES, k=0)
    with pytest.raises(BadInput, match="no quasi-identifier"):
        semantic_datafly(counts, HIERARCHIES, k=2, distances={"jobs": distance("path", WORK)})
    forest = Hierarchy.of_rows([("nurse", "medic"), ("clerk", "office")], name="job")
    with pytest.raises(Infeasible, match="one top value"):
        datafly(counts, {**HIERARCHIES, "job": forest}, k=2, suppression=0)


@pytest.mark.golden
def test_adult_ends_at_the_optimal_node(shared_data: Any) -> None:
    folder = shared_data / "adult"
    lines = [line.split(";") for line in (folder / "adult.csv").read_text().splitlines()]
    columns = {name: [row[j] for row in lines[1:]] for j, name in enumerate(lines[0])}
    hierarchies = {name: read_arx(folder / f"adult_hierarchy_{name}.csv").named(name) for name in columns}
    found = datafly(Counts.of(columns), hierarchies, k=5)
    assert found.levels == (0, 4, 1, 1, 3, 2, 2, 1, 0)
    assert found.info["classes"] == 24
    assert found.info["suppressed"] == 0


def test_hierarchies_may_bear_other_names() -> None:
    counts = counted([("nurse", 30, "f"), ("surgeon", 30, "f")])
    found = datafly(counts, {**HIERARCHIES, "job": replace(JOBS, name="occupation")}, k=2, suppression=0)
    assert found.names == ("job", "age", "sex")
    assert found.apply(counts).weights.tolist() == [2]
