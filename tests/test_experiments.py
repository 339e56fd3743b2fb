"""The experiments count for all k at once and write their own pages: short cuts agree with what they stand for."""

import doctest
import importlib
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from experiments.aika import mixes
from experiments.gsl.columns import Column
from experiments.gsl.correlate import SUPPRESSION, anonymized, rank_correlations, structure
from experiments.gsl.losses import Losses
from experiments.gsl.one_column import OneColumn, Tables
from experiments.peers import run as peers
from experiments.peers.measure import Domain, apart_in_tree
from experiments.sets import run as sets
from experiments.sets.data import Data
from scipy.stats import spearmanr

from keepsense.counts import Counts
from keepsense.hierarchies.aika_adjustments import reduce_abstractness
from keepsense.hierarchies.degraded_hierarchies import make_test_bed
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_scores import evaluate, weight_sets
from keepsense.hierarchies.word_concepts import base_hierarchy, senses_of
from keepsense.methods.generalize.objective import semantic_tables
from keepsense.methods.sets.set_microaggregation import microaggregate_sets
from keepsense.risk.record_linkage import record_linkage
from keepsense.semantics.distance import Distance, distance
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.class_size_metrics import average_class_size
from keepsense.utility.generalization_losses import gen_iloss

ROOT = Path(__file__).resolve().parents[1]
ROWS = {"nurse": 80, "surgeon": 12, "pilot": 3, "clerk": 9, "poet": 1, "painter": 2, "baker": 7, "farmer": 21}


@pytest.fixture(scope="module")
def wup() -> Distance:
    return distance("wu-palmer", wordnet(), convention="depth")


@pytest.fixture(scope="module")
def column() -> Column:
    return Column("Tiny", "job", "T1", ROWS, senses_of(list(ROWS), wordnet(), name="job"))


@pytest.fixture(scope="module")
def bed(column: Column, wup: Distance) -> list[Hierarchy]:
    return make_test_bed(column.ideal(), wup, wanted=6, rng=3)


@pytest.mark.parametrize(
    "module",
    ["aika.mixes", "gsl.correlate", "gsl.one_column", "peers.measure", "sets.data", "sets.run", "tables"],
)
def test_examples_in_the_experiments_hold(module: str) -> None:
    assert doctest.testmod(importlib.import_module(f"experiments.{module}")).failed == 0


@pytest.mark.parametrize(("algorithm", "suppress"), list(product(("Datafly", "Incognito"), (True, False))))
def test_one_column_for_all_k_is_what_the_algorithms_and_metrics_say(
    algorithm: str, suppress: bool, column: Column, bed: list[Hierarchy], wup: Distance
) -> None:
    counts = Counts.of({"job": list(ROWS)}, weights=list(ROWS.values()))
    ks = (2, 3, 8, 20, 50)
    for tree in bed:
        one, tables = OneColumn(column, tree, ks), Tables.of(tree, wup)
        levels = one.datafly(suppress=suppress) if algorithm == "Datafly" else one.incognito(tables, suppress=suppress)
        measured = np.stack(
            [
                one.lost(tables, levels, 2),
                one.lost(tables, levels) / one.total,
                one.lost(one.linked(wup), levels) / one.total,
                one.lost(one.shares, levels) / one.total,
                one.class_sizes(levels),
            ]
        )
        losses = Losses(counts, {"job": tree}, wup)
        costs = semantic_tables({"job": tree}, {"job": wup})
        for i, k in enumerate(ks):
            released = anonymized(algorithm, counts, {"job": tree}, k, costs, suppress=suppress)
            assert released.levels == (levels[i],)
            wanted = (
                *losses(released),
                record_linkage(counts, released, losses.matrices(released)).risk,
                gen_iloss(counts, released, {"job": tree}),
                average_class_size(counts, released, k=k),
            )
            assert measured[:, i] == pytest.approx(wanted)


def test_rank_correlations_are_spearmans() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.integers(5, size=(4, 12)).astype(float), rng.random((4, 12))
    wanted = [spearmanr(a, b)[0] for a, b in zip(first, second, strict=True)]
    assert rank_correlations(first, second) == pytest.approx(wanted)


def test_hierarchies_linked_alike_are_duplicates_by_the_papers_rule() -> None:
    first = Hierarchy.of_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "c", "*")])
    padded = Hierarchy.of_rows([("c", "*", "*"), ("a", "x", "*"), ("b", "x", "*")])
    other = Hierarchy.of_rows([("a", "x", "*"), ("b", "b", "*"), ("c", "x", "*")])
    assert structure(first) == structure(padded) != structure(other)


def test_aspects_foretell_as_the_definition_says(column: Column, bed: list[Hierarchy], wup: Distance) -> None:
    here = mixes.judged(column, bed, wup)
    found = mixes.foretold(here, SUPPRESSION[1], "per k")
    rows = list(ROWS.values())
    for aspect, weight in ((0, 1.0), (2, 0.75), (3, 0.5)):
        plain = []
        for i, k in enumerate(range(2, 101)):
            table = evaluate(bed, wup, rows, k)
            measured = here.outcomes["none"][i][:, aspect]
            if np.ptp(table.scores[:, aspect]) < 1e-9 or np.ptp(measured) < 1e-9:
                continue
            for weights in weight_sets():
                values = np.round(table.rewards @ np.array(weights), 9)
                if weights[aspect] == weight and np.ptp(values) > 0:
                    plain.append(spearmanr(-values, measured)[0])
        assert (aspect, weight) in found
        assert found[aspect, weight] == pytest.approx(np.mean(plain))


def test_mixes_share_the_candidates_among_pools(column: Column, wup: Distance) -> None:
    made = mixes.pools(column, wup, 0.8, 1)
    parts = {name: mixes.judged(column, some[:8], wup) for name, some in made.items()}
    assert set(parts) == set(mixes.POOLS)
    whole, half = mixes.mixed(parts, (1, 0, 0, 0)), mixes.mixed(parts, (0.5, 0.5, 0, 0))
    assert whole is not None
    assert half is not None
    assert len(whole.fixed) == len(parts["levels"].fixed)
    assert len(half.fixed) == len(parts["levels"].fixed) + len(parts["outliers"].fixed)
    base = reduce_abstractness(base_hierarchy(list(ROWS), wordnet(), senses=column.senses))
    assert any(len(tree.labels) < len(base.labels) for tree in made["levels"])
    assert any(label not in set(base.labels[1]) for tree in made["facets"] for label in tree.labels[1])


def test_sets_in_the_order_of_their_content_group_as_the_product_does() -> None:
    rng = np.random.default_rng(2)
    links = [(f"i{i}", f"g{i % 4}") for i in range(16)] + [(f"g{g}", "*") for g in range(4)]
    items = [f"i{i}" for i in range(16)]
    records = [sorted(rng.choice(items, int(rng.integers(1, 6)), replace=False).tolist()) for _ in range(40)]
    data = Data("tiny", records, from_edges(links), {item: item for item in items})
    subject = sets.Subject.of(data)
    measure = distance("feature", data.taxonomy)
    for kind in ("average", "minimum", "maximum-sum"):
        table = sets.all_distances(sets.SetSpace(kind, subject.items, subject.sets.rows))
        found = sets.grouped(subject, table, sets.ordered(subject.sets, "by content"), 3)
        release = microaggregate_sets(subject.sets, measure, k=3, distance=kind, sizes="any", rng=1)
        first = np.unique(subject.sets.distinct[2], return_index=True)[1]
        assert found.loss == pytest.approx(float(subject.lost(first[release.centroids[release.group]]).sum()))
        drawn = sets.grouped(subject, table, sets.ordered(subject.sets, "seed 1"), 3)
        assert drawn.groups == found.groups == 13


def test_released_labels_lose_what_they_cover(tmp_path: Path) -> None:
    rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")]
    jobs = Hierarchy.of_rows(rows, name="job")
    domain = Domain.of("job", ["nurse", "surgeon", "clerk", "clerk"], jobs, tmp_path, [])
    assert domain.lost("nurse")[:3] == (0.0, 0.0, 0.0)
    assert domain.lost("medic")[:3] == pytest.approx((0.5, 1.0, 0.25))
    assert domain.lost("nurse;surgeon")[:3] == domain.lost("medic")[:3]
    assert domain.lost("*")[:3] == pytest.approx((1.0, 1.5, 0.5625))
    assert apart_in_tree(["clerk", "nurse"], jobs)[0, 1] == 1.0


# ---- pages are what the runs say -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["aika.report", "gsl.report", "peers.run", "sets.report", "thesis.report"])
def test_a_page_says_what_the_result_files_say(name: str) -> None:
    results = ROOT / "experiments" / name.partition(".")[0] / "results"
    page = importlib.import_module(f"experiments.{name}").page(results)
    assert (results / "README.md").read_text(encoding="utf-8") == page
    if name == "peers.run":
        assert peers.PAGE.read_text(encoding="utf-8") == page
