from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.errors import BadInput, BadTaxonomy, UnknownConcept
from keepsense.taxonomy import taxonomy
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_arrays, from_edges
from keepsense.taxonomy.taxonomy_kernels import sum_below

settings.register_profile("keepsense", deadline=None, max_examples=50)
settings.load_profile("keepsense")

MEDICAL = [
    ("disorder of nervous system", "disease"),
    ("coma", "disorder of nervous system"),
    ("neuropathy", "disorder of nervous system"),
    ("hepatic coma", "coma"),
    ("hepatic coma", "liver disease"),
    ("liver disease", "disease"),
    ("hypoglycemic coma", "coma"),
]


@pytest.fixture
def medical() -> Taxonomy:
    return from_edges(MEDICAL, name="medical")


def parents_of(t: Taxonomy) -> dict[int, set[int]]:
    return {c: set(t.parents[c].tolist()) for c in t}


def ancestors(t: Taxonomy, c: int) -> set[int]:
    """The obvious way: the concept and the ancestors of its parents."""
    return {c}.union(*(ancestors(t, p) for p in parents_of(t)[c]))


def longest(t: Taxonomy, c: int) -> int:
    return 1 + max((longest(t, p) for p in t.parents[c].tolist()), default=0)


def shortest(t: Taxonomy, c: int) -> int:
    return 1 + min((shortest(t, p) for p in t.parents[c].tolist()), default=0)


def test_names_ids_and_codes(medical: Taxonomy) -> None:
    assert len(medical) == 7
    assert medical.label(medical.root) == "disease"
    assert medical.code("coma") == medical.code(medical.code("coma"))
    assert medical.id("coma") == "coma"
    assert medical.get("nothing of the kind") is None


def test_several_parents(medical: Taxonomy) -> None:
    assert set(medical.labels(medical.subsumers("hepatic coma"))) == {
        "hepatic coma",
        "coma",
        "liver disease",
        "disorder of nervous system",
        "disease",
    }
    assert medical.depth[medical.code("hepatic coma")] == 4
    assert medical.min_depth[medical.code("hepatic coma")] == 3
    assert medical.hyponym_counts[medical.root] == 6
    assert medical.leaf_counts[medical.root] == 3
    assert medical.leaf_counts[medical.code("coma")] == 2
    assert medical.leaf_counts[medical.code("neuropathy")] == 0


def test_least_common_subsumer_and_path(medical: Taxonomy) -> None:
    assert medical.label(medical.lcs("hepatic coma", "hypoglycemic coma")) == "coma"
    assert medical.label(medical.lcs("hepatic coma", "hypoglycemic coma", "neuropathy")) == "disorder of nervous system"
    assert medical.lcs("coma") == medical.code("coma")
    assert medical.path_links("hepatic coma", "neuropathy") == 3
    assert medical.labels(medical.path("hepatic coma", "neuropathy")) == [
        "hepatic coma",
        "coma",
        "disorder of nervous system",
        "neuropathy",
    ]
    assert medical.path("coma", "coma") == [medical.code("coma")]


def test_ties_of_the_least_common_subsumer() -> None:
    # p and q are minimal common subsumers of x and y at one depth; q has fewer descendants.
    t = from_edges(
        [("p", "r"), ("q", "r"), ("x", "p"), ("x", "q"), ("y", "p"), ("y", "q"), ("z", "p")],
        concepts=["r", "p", "q", "x", "y", "z"],
    )
    assert t.label(t.lcs("x", "y")) == "q"
    equal = from_edges([("p", "r"), ("q", "r"), ("x", "p"), ("x", "q"), ("y", "p"), ("y", "q")], concepts="rqpxy")
    assert equal.label(equal.lcs("x", "y")) == "q", "with everything equal the lowest code is taken"


def test_taxonomy_of_an_attribute_and_of_a_domain(medical: Taxonomy) -> None:
    part = medical.taxonomy_of(["hepatic coma", "hypoglycemic coma"])
    assert part.label(part.root) == "coma"
    assert sorted(part.ids) == ["coma", "hepatic coma", "hypoglycemic coma"]
    assert part.depth[part.code("hepatic coma")] == 2
    domain = medical.below("disorder of nervous system")
    assert len(domain) == 5
    assert domain.max_depth == 3


def test_relations() -> None:
    t = from_edges([("car", "thing"), ("wheel", "thing")], relations={"part": [("car", "wheel")]})
    assert t.labels(t.related("car", "part")) == ["wheel"]
    with pytest.raises(BadTaxonomy, match="no relation 'colour'; it has part"):
        t.related("car", "colour")


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b"), ("b", "c"), ("c", "a"), ("a", "r")], "cycle: 'a' -> 'b' -> 'c' -> 'a'"),
        ([], "empty"),
        ([("a", "a")], "'a' is its own parent"),
        ([("a", "b"), ("c", "d")], "2 roots"),
        ([("a", "")], "empty id"),
    ],
)
def test_refusals_name_the_culprit(edges: list[tuple[str, str]], message: str) -> None:
    with pytest.raises(BadTaxonomy, match=message):
        from_edges(edges)


def test_a_closed_list_of_concepts() -> None:
    with pytest.raises(BadTaxonomy, match="'cat' -> 'animal' names the unknown concept 'animal'"):
        from_edges([("cat", "animal")], concepts=["cat"])
    with pytest.raises(BadTaxonomy, match="'cat' occurs more than once"):
        from_edges([], concepts=["cat", "dog", "cat"])


def test_roots_are_joined_only_if_asked() -> None:
    t = from_edges([("a", "b"), ("c", "d")], join_roots=True)
    assert t.label(t.root) == "(everything)"
    assert t.path_links("a", "c") == 4
    with pytest.raises(BadTaxonomy, match="is taken"):
        from_edges([("a", "(everything)"), ("c", "d")], join_roots=True)
    one = from_edges([("a", "b")], join_roots=True)
    assert one.label(one.root) == "b", "a single root needs no virtual one"


def test_unknown_concepts_get_a_hint(medical: Taxonomy) -> None:
    with pytest.raises(UnknownConcept, match="Did you mean neuropathy"):
        medical.code("neuropaty")
    with pytest.raises(UnknownConcept, match="codes run from 0 to 6"):
        medical.code(7)
    with pytest.raises(UnknownConcept):
        medical.code(-1)
    with pytest.raises(UnknownConcept):
        medical.lcs()


def test_senses_and_numbers() -> None:
    t = from_edges(
        [("bank1", "thing"), ("bank2", "thing")], names={"bank1": ["shore", "bank"], "bank2": ["bank", "lender"]}
    )
    assert t.id("bank") == "bank2", "a preferred name comes before a synonym"
    assert t.id("bank#1") == "bank2"
    assert t.id("bank#2") == "bank1"
    assert t.get("bank#3") is None
    assert t.get("bank#0") is None
    assert t.get("bank#" + "9" * 500) is None


def test_it_cannot_be_changed(medical: Taxonomy) -> None:
    with pytest.raises(ValueError, match="read-only"):
        medical.depth[0] = 7
    with pytest.raises(AttributeError):
        medical.name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        medical.info["x"] = "y"  # type: ignore[index]


def test_duplicate_links_count_once() -> None:
    t = from_edges([("cat", "animal"), ("cat", "animal")])
    assert len(t.parents.indices) == 1


def test_from_arrays_takes_codes() -> None:
    t = from_arrays(["a", "b", "c"], [["top"], ["mid"], ["low"]], np.array([2, 1]), np.array([1, 0]))
    assert t.labels(t.path("c", "a")) == ["low", "mid", "top"]


def test_a_long_chain_needs_no_recursion() -> None:
    n = 5000
    t = from_arrays([str(i) for i in range(n)], [[str(i)] for i in range(n)], np.arange(1, n), np.arange(n - 1))
    assert t.max_depth == n
    assert t.path_links("0", str(n - 1)) == n - 1


def braid(levels: int) -> Taxonomy:
    """Two concepts a level, each below both of the level above, so that very many ways lead up."""
    pairs = [
        (below, above) for i in range(1, levels) for below in (2 * i, 2 * i + 1) for above in (2 * i - 2, 2 * i - 1)
    ]
    child, parent = np.array([*pairs, (0, 2 * levels), (1, 2 * levels)]).T
    ids = [str(i) for i in range(2 * levels + 1)]
    return from_arrays(ids, [[i] for i in ids], child, parent)


def climbed(t: Taxonomy) -> int:
    return int(sum_below(t.parents.starts, t.parents.indices, t.order, np.ones((len(t), 1), np.int64), 10**15)[1])


def test_a_tree_is_counted_without_climbing_and_ways_without_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 2_000
    chain = from_arrays([str(i) for i in range(n)], [[str(i)] for i in range(n)], np.arange(1, n), np.arange(n - 1))
    assert climbed(chain) == 0, "what has one parent climbs with it"
    assert chain.sums_below(np.ones((n, 1)))[:, 0].tolist() == [*range(n - 1, -1, -1)]
    small, large = climbed(braid(50)), climbed(braid(100))
    assert large > 3 * small, "here the work grows with the square"
    assert braid(50).hyponym_counts[100] == 100
    monkeypatch.setattr(taxonomy, "MOST_CLIMBED", large // 2)
    assert braid(50).hyponym_counts[100] == 100
    with pytest.raises(BadTaxonomy, match="too many ways lead up"):
        _ = braid(100).hyponym_counts
    deep = braid(100)
    stopped = sum_below(deep.parents.starts, deep.parents.indices, deep.order, np.ones((201, 1), np.int64), small)[1]
    assert stopped < small + 1_000, "it stops soon"


@given(taxonomies())
def test_arrays_agree_with_the_obvious_definitions(t: Taxonomy) -> None:
    for c in t:
        assert set(t.subsumers(c).tolist()) == ancestors(t, c)
        assert t.depth[c] == longest(t, c)
        assert t.min_depth[c] == shortest(t, c)
        below = {x for x in t if c in ancestors(t, x)}
        assert set(t.descendants(c).tolist()) == below
        assert t.hyponym_counts[c] == len(below) - 1
        leaves = {x for x in below if not len(t.children[x])}
        assert set(t.leaves(c).tolist()) == leaves
        assert t.leaf_counts[c] == len(leaves - {c})


@given(taxonomies(max_size=14))
def test_least_common_subsumer_is_the_deepest_minimal_one(t: Taxonomy) -> None:
    for a, b in itertools.combinations_with_replacement(t, 2):
        common = ancestors(t, a) & ancestors(t, b)
        minimal = [c for c in common if not any(c in ancestors(t, o) for o in common - {c})]
        best = max(minimal, key=lambda c: (t.depth[c], -t.hyponym_counts[c], -c))
        assert t.lcs(a, b) == t.lcs(b, a) == best


@given(taxonomies(max_size=14), st.randoms(use_true_random=False))
def test_paths_are_shortest_and_walk_along_links(t: Taxonomy, random: object) -> None:
    for a, b in itertools.combinations(t, 2):
        path = t.path(a, b)
        assert path[0] == a
        assert path[-1] == b
        assert len(path) == t.path_links(a, b) + 1
        for x, y in itertools.pairwise(path):
            assert y in t.parents[x] or x in t.parents[y]


@given(taxonomies())
def test_the_part_below_a_concept_keeps_its_links(t: Taxonomy) -> None:
    c = len(t) // 2
    part = t.below(c)
    kept = set(t.descendants(c).tolist())
    assert {t.code(i) for i in part.ids} == kept
    for x in part:
        above = {part.ids[p] for p in part.parents[x]}
        assert above == {t.ids[p] for p in t.parents[t.code(part.ids[x])] if int(p) in kept}
    assert set(part.relations) == {"part"}


def test_a_part_keeps_senses_glosses_and_tables() -> None:
    from keepsense.taxonomy.embedded_taxonomies import exceptions, wordnet
    from keepsense.taxonomy.glosses import gloss_words

    nouns = wordnet()
    people = nouns.below("person")
    assert people.id("coach#1") == nouns.id("coach#1")
    assert np.array_equal(gloss_words(people, "surgeon"), gloss_words(nouns, "surgeon"))
    assert exceptions(people)["mice"] == ("mouse",)
    inside = [nouns.ids[c] for c in nouns.senses_of("doctor") if nouns.ids[c] in set(people.ids)]
    assert [people.ids[c] for c in people.senses_of("doctor")] == inside
    assert people.sense_counts is not None
    assert len(people.sense_counts) == len(people._senses.indices)


def test_it_travels_to_a_worker(medical: Taxonomy) -> None:
    import copy
    import pickle

    medical.label("coma")
    again = pickle.loads(pickle.dumps(medical))
    assert again.labels(again.subsumers("hepatic coma")) == medical.labels(medical.subsumers("hepatic coma"))
    with pytest.raises(ValueError, match="read-only"):
        again.parents.indices[0] = 7
    with pytest.raises(TypeError):
        again.info["x"] = "y"
    assert copy.deepcopy(medical) is medical


@pytest.mark.parametrize("concept", [None, 1.5, True, b"coma", ["coma"], np.float64(1)])
def test_what_is_no_name_is_no_concept(medical: Taxonomy, concept: object) -> None:
    with pytest.raises(UnknownConcept, match="given by its code, id or name"):
        medical.code(concept)  # type: ignore[arg-type]


def test_concepts_as_numpy_gives_them(medical: Taxonomy) -> None:
    assert medical.code(np.str_("coma")) == medical.code(np.int64(medical.code("coma")))
    assert medical.codes(np.array(["coma", "neuropathy"])).tolist() == medical.codes(["coma", "neuropathy"]).tolist()
    assert medical.codes(np.array([1, 2], dtype=np.uint64)).tolist() == [1, 2]
    with pytest.raises(UnknownConcept, match=f"no concept has code {2**32 + 1}"):
        medical.codes(np.array([2**32 + 1]))
    for bad in ("coma", 3, np.array([[1, 2]])):
        with pytest.raises(BadInput):
            medical.codes(bad)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "b", "c")], "link number 0 is not a pair"),
        ([("a", "b"), "ab"], "link number 1 is not a pair"),
        ([(1, 2)], r"not a pair of texts.*\(int, int\)"),
        ([("a", None)], r"\(str, NoneType\)"),
    ],
)
def test_links_that_are_no_links(edges: list[Any], message: str) -> None:
    with pytest.raises(BadTaxonomy, match=message):
        from_edges(edges)


def test_a_single_name_is_one_name() -> None:
    assert from_edges([("a", "b")], names={"a": "alpha"}).synonyms("a") == ["alpha"]


def test_a_long_cycle_is_shown_with_its_gap() -> None:
    with pytest.raises(BadTaxonomy, match=r"'0' -> '1' .* 20 more \.\.\. -> '26' .* -> '0'"):
        from_edges([(str(i), str((i + 1) % 30)) for i in range(30)])


@pytest.mark.parametrize(
    ("ids", "names", "child", "parent", "message"),
    [
        (["a", "a"], [["x"], ["y"]], [1], [0], "'a' occurs more than once"),
        (["a", ""], [["x"], ["y"]], [1], [0], "number 1 has an empty id"),
        (["a", "b"], [["x"]], [1], [0], "2 ids and 1 rows of names"),
        (["a", "b"], [["x"], ["y"]], [5], [0], "names code 5; codes run from 0 to 1"),
        (["a", "b"], [["x"], ["y"]], [-1], [0], "names code -1"),
        (["a", "b"], [["x"], ["y"]], [1, 1], [0], "first and"),
    ],
)
def test_codes_that_do_not_fit_are_refused(ids: Any, names: Any, child: Any, parent: Any, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=message):
        from_arrays(ids, names, np.array(child), np.array(parent))


def test_a_concept_without_names_goes_by_its_id() -> None:
    assert from_arrays(["a", "b"], [[], ["y"]], np.array([1]), np.array([0])).label("a") == "a"


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdef")), max_size=12), st.booleans())
def test_any_links_make_a_taxonomy_or_are_refused(edges: list[tuple[str, str]], join: bool) -> None:
    try:
        t = from_edges(edges, join_roots=join)
    except BadTaxonomy:
        return
    assert (t.parents.sizes == 0).sum() == 1
    assert {(t.ids[c], t.ids[p]) for c in t for p in t.parents[c] if t.ids[p] != "(everything)"} == set(edges)
