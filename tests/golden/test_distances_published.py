"""Distances that papers print, and agreement with NLTK on WordNet."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from benchmarks._nltk import reader

from keepsense.semantics.distance import DISTANCES, distance
from keepsense.semantics.edge_distances import LeacockChodorow, WuPalmer
from keepsense.semantics.edge_distances import Path as PathDistance
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.set_distance import set_distance
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

pytestmark = pytest.mark.golden

# Ayala-Rivera et al. 2017, Table 3: each leaf and its ancestors at levels 1, 2 and 3 with the printed losses.
TABLE_3 = {
    "math teacher": [("teacher", 0.0400), ("education#4", 0.8261), ("occupation", 0.8095)],
    "music teacher": [("teacher", 0.0400), ("education#4", 0.8261), ("occupation", 0.8095)],
    "surgeon": [("medical practitioner", 0.0769), ("doctor", 0.0370), ("occupation", 0.8182)],
    "ophthalmologist": [("medical practitioner", 0.1111), ("doctor", 0.0714), ("occupation", 0.8261)],
    "optician": [("medical practitioner", 0.3043), ("doctor", 0.3333), ("occupation", 0.7895)],
    "optometrist": [("medical practitioner", 0.3043), ("doctor", 0.3333), ("occupation", 0.7895)],
    "tamer": [("animal trainer", 0.0435), ("trainer", 0.0909), ("occupation", 0.8000)],
    "baseball coach": [("coach", 0.0435), ("trainer", 0.0909), ("occupation", 0.8000)],
}


def test_the_24_scores_of_table_3() -> None:
    d = WuPalmer(wordnet(), convention="depth")
    levels = np.empty((8, 3))
    for i, (leaf, ancestors) in enumerate(TABLE_3.items()):
        for j, (ancestor, printed) in enumerate(ancestors):
            levels[i, j] = d.pair(leaf, ancestor)
            assert round(levels[i, j], 4) == printed, (leaf, ancestor)
            assert d.matrix([leaf], [ancestor])[0, 0] == pytest.approx(levels[i, j])
    assert levels.mean(axis=0).round(4).tolist() == [0.1205, 0.3261, 0.8053]
    assert round(float(levels.mean(axis=0).mean()), 4) == 0.4173


def test_printed_equation_9_does_not_give_the_table() -> None:
    """Links instead of nodes, and the fewest links in the denominator, miss the printed numbers."""
    t = wordnet()
    math_teacher, occupation = t.code("math teacher"), t.code("occupation")
    subsumer = t.lcs(math_teacher, occupation)
    links = t.path_links(math_teacher, subsumer) + t.path_links(occupation, subsumer)
    depth = int(t.depth[subsumer]) - 1
    by_links = 1 - 2 * depth / (2 * depth + links)
    assert round(by_links, 4) != 0.8095
    with_virtual_root = WuPalmer(t, convention="path", virtual_root=True).pair(math_teacher, occupation)
    assert round(with_virtual_root, 4) == 0.7778


def test_gingivitis_and_gastritis() -> None:
    """Rodríguez-García 2017, Sec. 6.2: the subsumer lies at depth 6 of the domain, each concept one link below it."""
    chain = ["disease", *(f"step {i}" for i in range(2, 6)), "inflammation"]
    edges = [(b, a) for a, b in itertools.pairwise(chain)]
    t = from_edges([*edges, ("gingivitis", "inflammation"), ("gastritis", "inflammation"), ("disease", "finding")])
    domain = t.below("disease")
    assert domain.depth[domain.code("inflammation")] == 6
    for d in (WuPalmer(domain), WuPalmer(domain, convention="depth", virtual_root=False)):
        assert d.pair("gingivitis", "gastritis") == pytest.approx(1 - 12 / 14)
        assert round(d.pair("gingivitis", "gastritis"), 2) == 0.14
        assert d.pair("gastritis", "gastritis") == 0
    assert round(WuPalmer(t).pair("gingivitis", "gastritis"), 2) != 0.14, "the domain's root matters"


@pytest.fixture(scope="module")
def sports() -> Taxonomy:
    """The branch of Batet et al. 2014, Sec. 3.1.1, that its two activities lie in."""
    return from_edges([("Swimming", "Water Sports"), ("Windsurfing", "Water Sports"), ("Water Sports", "Sports")])


def test_swimming_and_windsurfing(sports: Taxonomy) -> None:
    assert distance("feature", sports).pair("Swimming", "Windsurfing") == 0.5
    assert distance("feature", sports).matrix(["Swimming"], ["Windsurfing"]).tolist() == [[0.5]]
    assert distance("log-feature", sports).pair("Swimming", "Windsurfing") == pytest.approx(math.log2(1.5))


def test_the_set_example_of_a_quarter(sports: Taxonomy) -> None:
    """Normalised sum of minimum distances of {Swimming, Mediterranean} and {Windsurfing, Mediterranean} (Eq. 5)."""
    # Mediterranean lies in a branch with no generalization in common: 1 away from all but itself, as opaque items are.
    items = ItemDistances(distance("feature", sports), sports.codes(["Swimming", "Windsurfing"]), opaque=1)
    assert set_distance("minimum-sum", items, [0, 2], [1, 2]) == 0.25


def test_the_order_by_closeness_to_coma() -> None:
    """Rodríguez-García 2017, Figures 4-1 and 4-2: hepatic and hypoglycemic coma are tied, nearer than neuropathy."""
    t = from_edges(
        [
            ("coma", "disorder of nervous system"),
            ("neuropathy", "disorder of nervous system"),
            ("hepatic coma", "coma"),
            ("hypoglycemic coma", "coma"),
        ]
    )
    d = WuPalmer(t)
    near = d.pair("coma", "hepatic coma")
    assert near == d.pair("coma", "hypoglycemic coma")
    assert 0 < near < d.pair("coma", "disorder of nervous system") < d.pair("coma", "neuropathy")


@pytest.fixture(scope="module")
def nltk_wordnet(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """NLTK's own reader over WordNet's database files, where both are installed."""
    found = reader(tmp_path_factory.mktemp("nltk"))
    if found is None:
        pytest.skip("needs NLTK and WordNet's database files (Debian's wordnet-base)")
    return found


def test_agreement_with_nltk_on_random_pairs(nltk_wordnet: Any) -> None:
    """Path exactly; Leacock-Chodorow up to its depth constant (NLTK counts 19 links, the papers 20 nodes)."""
    t = wordnet()
    rng = np.random.default_rng(7)
    first, second = rng.integers(0, len(t), size=(2, 300))
    theirs = [
        [nltk_wordnet.synset_from_pos_and_offset("n", int(t.ids[c][:8])) for c in side] for side in (first, second)
    ]
    path, lch = PathDistance(t), LeacockChodorow(t)
    links = np.array([path.matrix([int(a)], [int(b)])[0, 0] for a, b in zip(first, second, strict=True)])
    for i, (a, b) in enumerate(zip(*theirs, strict=True)):
        assert a.shortest_path_distance(b) == links[i]
        assert a.path_similarity(b) == pytest.approx(path.similarity(int(first[i]), int(second[i])))
        shift = math.log(20 / 19)
        assert lch.similarity(int(first[i]), int(second[i])) == pytest.approx(a.lch_similarity(b) + shift)


def test_wordnet_is_twenty_nodes_deep() -> None:
    assert wordnet().max_depth == 20


def test_every_measure_runs_on_wordnet() -> None:
    t = wordnet()
    words = ["dog", "cat", "car", "idea", "Paris"]
    for name in DISTANCES:
        m = distance(name, t).normalised().matrix(words)
        assert m.shape == (5, 5)
        assert np.allclose(np.diag(m), 0)
        assert (m <= 1 + 1e-12).all()
        assert (m >= -1e-12).all()
