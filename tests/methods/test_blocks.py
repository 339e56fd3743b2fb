"""Blocks of similar records: nobody is lost, promises hold, and one seed gives one result wherever they are changed."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.release.tables import project
from tests.release.test_methods_by_name import COLUMNS, write_table
from tests.spark import EVERY_ENGINE, started

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.blocks import blocks_of, merged, part_of, size_of_blocks
from keepsense.methods.registry import METHODS
from keepsense.random import generator
from keepsense.recoding import Cells
from keepsense.release.job.job import Job
from keepsense.semantics import distance
from keepsense.semantics.attribute import Nominal, Ordered
from keepsense.taxonomy import from_edges

PETS = [
    ("cat", "pet"),
    ("dog", "pet"),
    ("pug", "dog"),
    ("lab", "dog"),
    ("tabby", "cat"),
    ("lion", "cat"),
    ("ox", "beast"),
]
LIFE = from_edges([*PETS, ("pet", "animal"), ("beast", "animal")])
IN_BLOCKS = sorted({method.name for method in METHODS.values() if method.blocks != "none"})


@settings(deadline=None, max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["pug", "lab", "tabby", "lion", "ox"])), min_size=1),
    st.integers(2, 9),
    st.integers(1, 4),
)
def test_blocks_hold_every_record_once_and_enough_of_them(rows: list[tuple[int, str]], most: int, least: int) -> None:
    counts = Counts.of({"age": [age for age, _ in rows], "pet": [pet for _, pet in rows]})
    columns = [Ordered.of(counts, "age"), Nominal.of(counts, "pet", distance("wu-palmer", LIFE))]
    blocks = blocks_of(counts, columns, most, least=least, rng=1)
    assert sorted(np.concatenate([block.at for block in blocks]).tolist()) == list(range(len(counts)))
    if len(blocks) > 1:
        assert min(block.counts.total for block in blocks) >= least
    if least == 1:
        assert max(len(block.counts) for block in blocks) <= most
    for block in blocks:
        for column in columns:
            part = part_of(column, block.counts)
            whole = [column.values.index(value) for value in part.values]
            assert np.allclose(part.matrix, column.matrix[np.ix_(whole, whole)]), "distances stay what they were"
    same = merged(counts, ["age", "pet"], [(block, None) for block in blocks])
    same.check(counts)
    assert same.apply(counts).rows_of("pet") == counts.rows_of("pet")


def test_words_are_cut_between_subtrees() -> None:
    counts = Counts.of({"pet": ["pug", "tabby", "lab", "lion", "pug"]})
    blocks = blocks_of(counts, [Nominal.of(counts, "pet", distance("wu-palmer", LIFE))], 2, rng=1)
    assert {frozenset(block.counts.values_of("pet")) for block in blocks} == {
        frozenset({"pug", "lab"}),
        frozenset({"tabby", "lion"}),
    }


def test_the_size_of_blocks_is_checked() -> None:
    counts = Counts.of({"age": [1, 2, 3]})
    assert [size_of_blocks(counts, asked) for asked in (None, 2, 3)] == [None, 2, None]
    for wrong in (1, True, "many", 2.5):
        with pytest.raises(BadInput, match="'block' must be a whole number"):
            size_of_blocks(counts, wrong)


def decided(engine: str, method: str, folder: Path, block: int | None, seed: int = 1) -> tuple[Any, Counts, Cells]:
    """What a method decides with blocks of so many records: who becomes what, how often."""
    parameters = {"k": 3} | ({} if block is None else {"block": block})
    columns = {**COLUMNS, "likes": {"role": "identifier"}}
    plan = project(
        columns=columns,
        privacy=[{"model": "linkage risk", "threshold": 0.9}],
        method={"name": method, "parameters": parameters},
    )
    with started(engine) as running:
        job = Job(plan, folder, running, generator(seed))
        (cells,) = job.method.run(job, plan.method.parameters)
        assert isinstance(cells, Cells)
        cells.check(job.counts)
        became: Counter[Any] = Counter()
        for source, codes, rows in zip(cells.source, cells.codes.tolist(), cells.multiplicity.tolist(), strict=True):
            became[int(source), tuple(v[c] for v, c in zip(cells.values, codes, strict=True))] += rows
        return became, job.counts, cells


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("method", IN_BLOCKS)
def test_a_method_keeps_in_blocks_what_it_keeps_of_the_whole(tmp_path: Path, method: str, engine: str) -> None:
    write_table(tmp_path)
    became, counts, cells = decided(engine, method, tmp_path, 20)
    assert int(str(cells.info["blocks"])) > 2
    after = cells.apply(counts)
    if method.startswith("rank swapping"):
        for name in counts.names:
            assert {v: n for v, n in after.rows_of(name).items() if n} == counts.rows_of(name), "every value stays"
    else:
        assert after.weights.min() >= 3, "k-anonymous"
    assert decided(engine, method, tmp_path, 20)[0] == became, "one seed, one result"
    if engine != "duckdb":
        assert decided("duckdb", method, tmp_path, 20)[0] == became, "wherever the blocks were changed"


def test_blocks_draw_on_their_own_and_only_where_they_can_be_made(tmp_path: Path) -> None:
    write_table(tmp_path)
    became = decided("duckdb", "rank swapping of tuples", tmp_path, 20)[0]
    assert decided("duckdb", "rank swapping of tuples", tmp_path, 20, seed=2)[0] != became
    assert "blocks" not in decided("duckdb", "rank swapping of tuples", tmp_path, 10_000)[2].info, "one block is none"
    with pytest.raises(BadInput, match="takes no parameter 'block'"):
        decided("duckdb", "individual ranking", tmp_path, 20)


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_what_a_part_is_refused_for_is_said_as_elsewhere(engine: str) -> None:
    with started(engine) as running:
        assert running.each(len, ["ab", "c", ""]) == [2, 1, 0]
        with pytest.raises(BadInput, match="'block' must be a whole number"):
            running.each(refused, [1, 2])


def refused(part: int) -> int:
    return size_of_blocks(Counts.of({"age": [1]}), True) or part
