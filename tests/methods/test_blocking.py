"""Blocks of similar records: nobody is lost, promises hold, and one seed gives one result wherever they are changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import groupby, permutations
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
from keepsense.methods.blocking import blocks_of, merged, part_of, recoded, size_of_blocks
from keepsense.methods.method import METHODS
from keepsense.methods.perturb.strict_rank_swapping import METHOD, check_groups, strict_rank_swapping
from keepsense.methods.sets.set_microaggregation import line_of_sets, microaggregate_sets
from keepsense.recoding import Cells
from keepsense.release.job.job import Job
from keepsense.release.run import run
from keepsense.secure_random import generator
from keepsense.semantics.attribute import Nominal, Ordered
from keepsense.semantics.distance import distance
from keepsense.sets.concept_sets import map_sets
from keepsense.sets.item_sets import from_lists
from keepsense.taxonomy.taxonomy_builder import from_edges

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
STRICT = METHOD.name
IN_BLOCKS = sorted(
    {m.name for m in METHODS.values() if m.cut([], {"together": True}) in ("every column", "varying columns")}
)
BY_COLUMN = sorted({m.name for m in METHODS.values() if m.cut([], {"together": False}) == "single columns"})


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


def decided(
    engine: str, method: str, folder: Path, block: int | None, seed: int = 1, **settings: Any
) -> tuple[Any, Counts, Cells]:
    """What a method decides with blocks of so many records: who becomes what, how often."""
    parameters = {"k": 3, **settings} | ({} if block is None else {"block": block})
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
    settings = {"together": True} if method == STRICT else {}
    became, counts, cells = decided(engine, method, tmp_path, 20, **settings)
    assert int(str(cells.info["blocks"])) > 2
    after = cells.apply(counts)
    if "rank swapping" in method:
        same_values(counts, cells)
    else:
        assert after.weights.min() >= 3, "k-anonymous"
    if method == STRICT:
        assert check_groups(counts, cells, 3) <= 1 / 3
        groups = np.asarray(cells.info["groups"])
        assert (groups == groups[:, :1]).all(), "the same people in every column"
    assert decided(engine, method, tmp_path, 20, **settings)[0] == became, "one seed, one result"
    if engine != "duckdb":
        assert decided("duckdb", method, tmp_path, 20, **settings)[0] == became, "wherever the blocks were changed"


def same_values(counts: Counts, cells: Cells) -> None:
    after = cells.apply(counts)
    for name in counts.names:
        assert {v: n for v, n in after.rows_of(name).items() if n} == counts.rows_of(name), "every value stays"


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("method", BY_COLUMN)
def test_a_method_of_single_columns_is_cut_in_each(tmp_path: Path, method: str, engine: str) -> None:
    write_table(tmp_path)
    settings = {"together": False} if method == STRICT else {}
    became, counts, cells = decided(engine, method, tmp_path, 3, **settings)
    assert int(str(cells.info["blocks"])) > len(counts.names), "some column was cut"
    same_values(counts, cells)
    stayed = sum(
        rows
        for (source, values), rows in became.items()
        if values == tuple(v[c] for v, c in zip(counts.values, counts.codes[source].tolist(), strict=True))
    )
    assert cells.info["unchanged_rows"] == stayed
    if method == STRICT:
        assert check_groups(counts, cells, 3) <= 1 / 3
    assert decided(engine, method, tmp_path, 3, **settings)[0] == became, "one seed, one result"
    if engine != "duckdb":
        assert decided("duckdb", method, tmp_path, 3, **settings)[0] == became, "wherever the blocks were changed"


@pytest.mark.parametrize("method", [*IN_BLOCKS, *BY_COLUMN])
def test_one_block_is_the_whole_table(tmp_path: Path, method: str) -> None:
    write_table(tmp_path)
    for asked in ({"together": True}, {"together": False}) if method == STRICT else ({},):
        whole = decided("duckdb", method, tmp_path, None, **asked)
        one = decided("duckdb", method, tmp_path, len(whole[1]), **asked)
        assert one[0] == whole[0]
        assert "blocks" not in one[2].info


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["pug", "lab", "tabby", "lion", "ox"])), min_size=12),
    st.integers(2, 4),
    st.integers(2, 12),
)
def test_swapping_in_groups_keeps_its_promise_in_blocks(rows: list[tuple[int, str]], k: int, most: int) -> None:
    """Groups of all blocks are a partition of the table into groups of k, each of which keeps its values."""
    counts = Counts.of({"age": [age for age, _ in rows], "pet": [pet for _, pet in rows]})
    columns = [Ordered.of(counts, "age"), Nominal.of(counts, "pet", distance("wu-palmer", LIFE))]
    blocks = blocks_of(counts, columns, most, least=2 * k, rng=1)

    def kernel(part: Counts, own: Any, rng: Any) -> Cells:
        return strict_rank_swapping(part, own, k=k, together=True, rng=rng)

    cells = merged(counts, ["age", "pet"], [(block, recoded(kernel, columns, True, block)) for block in blocks])
    if len(blocks) > 1 or recoded(kernel, columns, True, blocks[0]) is not None:
        assert check_groups(counts, cells, k) <= 1 / k
        groups = np.asarray(cells.info["groups"])
        assert (groups == groups[:, :1]).all()
        assert np.bincount(groups[:, 0], cells.multiplicity).sum() == counts.total


def test_a_release_that_was_swapped_in_blocks_is_verified_to_hide_people(tmp_path: Path) -> None:
    write_table(tmp_path)
    plan = project(
        columns={**COLUMNS, "likes": {"role": "identifier"}},
        privacy=[{"model": "probabilistic k-anonymity", "k": 3}],
        method={"name": STRICT, "parameters": {"block": 20}},
    )
    done = run(plan, folder=tmp_path, rng=1)
    assert done.verification.ok
    assert int(str(done.recodings[0].info["blocks"])) > 2


def test_groups_that_lose_a_value_are_found_whatever_the_dictionary() -> None:
    counts = Counts.of({"age": [20, 21, 60, 61]})
    cells = strict_rank_swapping(counts, [Ordered.of(counts, "age")], k=2, rng=1)
    turned = replace(cells, values=(cells.values[0][::-1],), codes=(3 - cells.codes).astype(np.int32))
    assert check_groups(counts, turned, 2) == 0.5
    wrong = replace(cells, values=((20, 21, 60, 99),))
    with pytest.raises(BadInput, match="does not release the values it holds"):
        check_groups(counts, wrong, 2)


# ---- sets ------------------------------------------------------------------------------------------------------------

SETS = [["pug"], ["lab", "pug"], ["tabby"], ["lion", "tabby"], ["pug", "lab", "ox"], ["ox"], ["tabby", "zzz"], ["lab"]]


def of_sets(rows: list[list[str]], **settings: Any) -> Any:
    sets = map_sets(from_lists(rows), LIFE)
    return microaggregate_sets(sets, distance("feature", LIFE), k=2, rng=3, **settings)


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(SETS), min_size=8, max_size=40), st.integers(2, 6), st.booleans())
def test_sets_are_shared_by_k_records_in_blocks(rows: list[list[str]], block: int, classes: bool) -> None:
    within = np.arange(len(rows)) % 2 if classes else None
    release = of_sets(rows, block=block, within=within)
    assert release.partition.sizes.min() >= 2
    assert release.partition.copies.sum() == len(rows)
    shared = Counter((0 if within is None else int(within[i]), tuple(r)) for i, r in enumerate(release.records()))
    assert min(shared.values()) >= 2


def test_sets_in_one_block_are_grouped_as_without_blocks() -> None:
    rows = SETS * 3
    whole, one, cut = of_sets(rows), of_sets(rows, block=len(SETS)), of_sets(rows, block=4)
    assert (whole.blocks, one.blocks) == (0, 0)
    assert cut.blocks > 1
    assert whole.records() == one.records()
    assert whole.group.tolist() == one.group.tolist()


def test_sets_about_the_same_stand_side_by_side() -> None:
    sets = map_sets(from_lists(SETS), LIFE)
    rows = sets.distinct[0]
    place = line_of_sets(sets.distances(distance("feature", LIFE)), rows).place
    about = [sorted(sets.labels(rows[i])) for i in np.argsort(place).tolist()]
    first = [
        "dogs" if {"pug", "lab"} & set(labels) else "cats" if {"tabby", "lion"} & set(labels) else "other"
        for labels in about
    ]
    assert [kind for kind, _ in groupby(first)] in (
        [list(order) for order in permutations(["dogs", "cats", "other"])]
    ), "each kind in one stretch"


@pytest.mark.parametrize("engine", EVERY_ENGINE)
def test_sets_of_a_project_are_grouped_in_blocks_wherever_they_are(tmp_path: Path, engine: str) -> None:
    write_table(tmp_path)

    def made(name: str, **parameters: Any) -> Counter[Any]:
        plan = project(
            columns={name: {"role": "identifier"} for name in COLUMNS} | {"likes": COLUMNS["likes"]},
            privacy=[{"model": "k-anonymity", "k": 3}],
            method={"name": "set microaggregation", "parameters": parameters},
        )
        with started(name) as running:
            job = Job(plan, tmp_path, running, generator(1))
            counts = job.count(["likes"])
            cells = job.method.set_runner(job.method, job, "likes", counts, parameters, None)
            assert int(str(cells.info["blocks"])) > 1
            cells.check(counts)
            assert cells.apply(counts).weights[cells.apply(counts).weights > 0].min() >= 3
            return Counter(
                {
                    (int(s), cells.values[0][c]): int(m)
                    for s, c, m in zip(cells.source, cells.codes[:, 0].tolist(), cells.multiplicity, strict=True)
                }
            )

    cut = made(engine, block=4)
    if engine != "duckdb":
        assert made("duckdb", block=4) == cut


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
