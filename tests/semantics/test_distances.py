from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.errors import BadInput, UnknownConcept
from keepsense.semantics.distance import DISTANCES, Distance, distance
from keepsense.semantics.edge_distances import LeacockChodorow, Path, WuPalmer
from keepsense.semantics.feature_distances import RodriguezEgenhofer, Tversky
from keepsense.semantics.information_content import (
    JiangConrath,
    Lin,
    Resnik,
    corpus,
    information_content,
    sanchez,
    seco,
    zhou,
)
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

settings.register_profile("distances", deadline=None, max_examples=30)
settings.load_profile("distances")

CASES: list[tuple[str, dict[str, Any]]] = [
    ("path", {}),
    ("leacock-chodorow", {}),
    ("wu-palmer", {}),
    ("wu-palmer", {"virtual_root": True}),
    ("wu-palmer", {"convention": "depth"}),
    ("wu-palmer", {"convention": "depth", "virtual_root": False}),
    ("feature", {}),
    ("feature", {"root": False}),
    ("log-feature", {}),
    ("tversky", {}),
    ("tversky", {"gamma": 0.3}),
    ("rodriguez-egenhofer", {}),
    ("rodriguez-egenhofer", {"weights": (1, 2, 3), "radius": 2}),
    ("rodriguez-egenhofer", {"weights": (0, 1, 0)}),
    *((name, {"ic": ic}) for name in ("resnik", "lin", "jiang-conrath") for ic in ("seco", "zhou", "sanchez")),
]


def test_every_measure_is_tried_here() -> None:
    assert {name for name, _ in CASES} == set(DISTANCES)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda x: str(x))
@given(t=taxonomies(), seed=st.integers(0, 2**32 - 1))
def test_fast_equals_definition(name: str, options: dict[str, Any], t: Taxonomy, seed: int) -> None:
    d = distance(name, t, **options)
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, len(t), size=int(rng.integers(1, 40)))
    columns = rng.integers(0, len(t), size=int(rng.integers(1, 9)))
    expected = np.array([[d.pair(int(a), int(b)) for b in columns] for a in rows])
    np.testing.assert_allclose(d.matrix(rows, columns), expected, atol=1e-12)
    everything = np.array([[d.pair(int(a), b) for b in t] for a in rows[:3]])
    np.testing.assert_allclose(d.against_all(rows[:3]), everything, atol=1e-12)


@pytest.mark.parametrize(("name", "options"), CASES, ids=lambda x: str(x))
@given(t=taxonomies())
def test_symmetry_identity_and_range(name: str, options: dict[str, Any], t: Taxonomy) -> None:
    d = distance(name, t, **options)
    m = d.matrix(range(len(t)))
    np.testing.assert_allclose(m, m.T, atol=1e-12)
    np.testing.assert_allclose(np.diag(m), 0.0, atol=1e-12)
    assert m.min() >= -1e-12
    assert m.max() <= d.maximum + 1e-12
    scaled = d.normalised().matrix(range(len(t)))
    assert scaled.max() <= 1 + 1e-12
    if name in ("path", "leacock-chodorow", "wu-palmer", "feature", "log-feature"):
        assert (m[~np.eye(len(t), dtype=bool)] > 0).all(), "different concepts lie apart"


@given(taxonomies())
def test_kernels_carry_the_least_common_subsumer(t: Taxonomy) -> None:
    from keepsense.semantics.distance import Part

    every = np.arange(len(t), dtype=np.int32)
    found, links = Part(t, every).lcs(every)
    for a, b in itertools.product(t, t):
        subsumer = t.lcs(a, b)
        assert found[a, b] == subsumer
        climbed = [dict(zip(*map(np.ndarray.tolist, t.up_distances(c)), strict=True)) for c in (a, b)]
        assert links[a, b] == climbed[0][subsumer] + climbed[1][subsumer], "straight up, never over a higher detour"


@given(taxonomies())
def test_information_content_from_definitions(t: Taxonomy) -> None:
    n = len(t)
    leaves = {c for c in t if not len(t.children[c])}
    for c in t:
        below = set(t.descendants(c).tolist()) - {c}
        own = len(below & leaves)
        expected = 1 - math.log(len(below) + 1) / math.log(n) if n > 1 else 0.0
        assert seco(t)[c] == pytest.approx(expected)
        if t.max_depth > 1:
            depth = math.log(t.depth[c]) / math.log(t.max_depth)
            assert zhou(t, 0.25)[c] == pytest.approx(0.25 * expected + 0.75 * depth)
        top = len(leaves - {t.root}) + 1
        assert sanchez(t)[c] == pytest.approx(-math.log((own / len(t.subsumers(c)) + 1) / top))
    for ic in (seco(t), zhou(t), sanchez(t)):
        assert ic[t.root] == pytest.approx(0)
        information_content(t, ic)


@given(taxonomies(), st.integers(0, 99))
def test_corpus_content_counts_each_occurrence_once(t: Taxonomy, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 9, len(t)).astype(float)
    ic = corpus(t, counts)
    for c in t:
        p = (counts[t.descendants(c)] + 1).sum() / (counts + 1).sum()
        assert ic[c] == pytest.approx(-math.log(p))
    assert Lin(t, ic=ic).matrix([0]).shape == (1, 1)


def test_a_single_concept() -> None:
    t = from_edges([], concepts=["only"])
    for name, options in CASES:
        assert distance(name, t, **options).matrix([0]).tolist() == [[0.0]]
        assert distance(name, t, **options).pair(0, 0) == 0.0


def test_similarities_as_printed() -> None:
    t = from_edges([("cat", "animal"), ("dog", "animal"), ("tom", "cat")])
    assert Path(t).similarity("cat", "dog") == pytest.approx(1 / 3)
    assert LeacockChodorow(t).similarity("cat", "dog") == pytest.approx(-math.log(3 / 6))
    assert WuPalmer(t).similarity("cat", "dog") == pytest.approx(0.5)
    assert Resnik(t).similarity("tom", "cat") == pytest.approx(seco(t)[t.code("cat")])
    assert JiangConrath(t).pair("tom", "cat") == pytest.approx(1 - seco(t)[t.code("cat")])


def test_tversky_sums_where_the_printed_equation_multiplies() -> None:
    t = from_edges(
        [("a", "r"), ("b", "r"), ("c", "b")], names={"r": ["r"], "a": ["x", "y"], "b": ["b"], "c": ["x", "z", "w"]}
    )
    gamma = 2 / 5  # depths 2 and 3
    assert Tversky(t, symmetric=False).pair("a", "c") == pytest.approx(1 - 1 / (1 + gamma * 1 + (1 - gamma) * 2))
    one, other = (Tversky(t, symmetric=False).pair(*p) for p in (("a", "c"), ("c", "a")))
    assert one != pytest.approx(other), "the ratio itself is not symmetric"


def test_rodriguez_egenhofer_leaves_out_what_neither_has() -> None:
    t = from_edges([("a", "r"), ("b", "r"), ("c", "r")], relations={"part": [("a", "c"), ("b", "c")]})
    features_only = RodriguezEgenhofer(t, weights=(0, 1, 0))
    assert features_only.pair("a", "b") == pytest.approx(0.0), "both consist of c"
    assert features_only.pair("a", "r") == pytest.approx(1.0)
    assert features_only.pair("c", "r") == 1.0, "nothing is known of either and they are different"


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("wu-palmre", {}, "Did you mean wu-palmer"),
        ("wu-palmer", {"convention": "links"}, "conventions path and depth"),
        ("lin", {"ic": "secco"}, "Did you mean seco"),
        ("lin", {"ic": np.zeros(2)}, "one finite, non-negative number"),
        ("path", {"ic": "seco"}, "does not take these options"),
        ("tversky", {"gamma": 2}, "between 0 and 1"),
        ("rodriguez-egenhofer", {"weights": (0, 0, 0)}, "not all 0"),
        ("rodriguez-egenhofer", {"radius": -1}, "cannot be negative"),
        ("rodriguez-egenhofer", {"radius": 1.5}, "number of links"),
        ("rodriguez-egenhofer", {"weights": (math.nan, 1, 1)}, "three numbers"),
        ("rodriguez-egenhofer", {"weights": (math.inf, 1, 1)}, "three numbers"),
        ("wu-palmer", {"virtual_root": "no"}, "does not take these options"),
        ("lin", {"ic": ["a", "b", "c"]}, "one finite, non-negative number"),
    ],
)
def test_bad_options_are_refused(name: str, options: dict[str, Any], message: str) -> None:
    t = from_edges([("cat", "animal"), ("dog", "animal")])
    with pytest.raises(BadInput, match=message):
        distance(name, t, **options)


def test_content_that_falls_downwards_is_refused() -> None:
    t = from_edges([("cat", "animal")])
    with pytest.raises(BadInput, match="falls from a parent to 'cat'"):
        Lin(t, ic=np.array([0.0, 1.0]))
    with pytest.raises(BadInput, match="never occur"):
        corpus(t, {"animal": 1}, smoothing=0)
    for bad in (np.array([1.0]), None, {"cat": "often"}, {"cat": math.nan}):
        with pytest.raises(BadInput, match="one non-negative count"):
            corpus(t, bad)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="smoothing"):
        corpus(t, {"cat": 1}, smoothing=math.nan)


def test_a_wide_radius_ends_where_the_taxonomy_ends() -> None:
    t = from_edges([("cat", "animal"), ("dog", "animal"), ("pug", "dog")])
    wide, wider = (RodriguezEgenhofer(t, weights=(0, 0, 1), radius=r) for r in (5, 10**9))
    assert wide.matrix(range(4)).tolist() == wider.matrix(range(4)).tolist() == np.zeros((4, 4)).tolist()
    assert wider.pair("cat", "pug") == 0.0


def test_distances_are_of_something() -> None:
    with pytest.raises(BadInput, match="bound to a taxonomy, not to a str"):
        distance("path", "wordnet")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="no distance is called 5"):
        distance(5, from_edges([("cat", "animal")]))  # type: ignore[arg-type]


def test_unknown_concepts_are_refused() -> None:
    d: Distance = distance("path", from_edges([("cat", "animal")]))
    for bad in (["dgo"], np.array([5]), np.array([-1])):
        with pytest.raises(UnknownConcept):
            d.matrix(bad)
    assert d.matrix([]).shape == (0, 0)
    assert d.matrix(["cat"], []).shape == (1, 0)


def test_a_path_longer_than_any_short_integer() -> None:
    """Depth is no limit: along a chain of 70,000 nodes the links from the top to each are their numbers."""
    from keepsense.semantics.sweep_kernels import sweep_lcs

    n = 70_000
    every = np.arange(n, dtype=np.int32)
    starts = np.maximum(np.arange(n + 1) - 1, 0)  # node 0 is the root, node i hangs below node i - 1
    out = np.empty((2, 1, n), np.int32)
    sweep_lcs(starts, every[:-1], np.array([0, 1]), every[:1], every[:1], every, every, out)
    assert not out[0].any(), "the root is the subsumer of all"
    np.testing.assert_array_equal(out[1, 0], every)


def test_a_distance_travels_to_a_worker() -> None:
    import pickle

    d = distance("lin", from_edges([("cat", "animal"), ("dog", "animal"), ("pug", "dog")]))
    expected = d.matrix(range(4))
    again = pickle.loads(pickle.dumps(d))
    np.testing.assert_array_equal(again.matrix(range(4)), expected)
