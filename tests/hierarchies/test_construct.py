"""From values to candidates: senses, base hierarchy, the four adjustments, facets, perturbations."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.hierarchies.trees import hierarchies
from tests.strategies import taxonomies

from keepsense.errors import BadInput
from keepsense.hierarchies.aika_adjustments import (
    RENAMES,
    Facets,
    diversify,
    inner_concepts,
    keep_levels,
    reduce_abstractness,
    reduce_outliers,
    related,
    remove_levels,
    replace_concepts,
)
from keepsense.hierarchies.degraded_hierarchies import drop_levels, make_test_bed, perturb, regroup
from keepsense.hierarchies.hierarchy import Hierarchy, MissingValues, signature
from keepsense.hierarchies.hierarchy_candidates import candidates
from keepsense.hierarchies.hierarchy_checks import check
from keepsense.hierarchies.hierarchy_scores import minimal_distortion, scores
from keepsense.hierarchies.hierarchy_tree import POLICIES, tree_of
from keepsense.hierarchies.word_concepts import (
    RULES,
    Ancestry,
    Namer,
    base_hierarchy,
    choose_parents,
    senses_of,
    with_concepts,
)
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

JOBS = ["nurse", "surgeon", "pianist", "violinist", "pilot", "math teacher", "veterinarian", "electrician"]


def errors(hierarchy: Hierarchy) -> list[str]:
    return [str(f) for f in check(hierarchy) if f.is_error]


@st.composite
def columns(draw: st.DrawFn) -> tuple[Taxonomy, list[str]]:
    taxonomy = draw(taxonomies())
    values = draw(st.lists(st.sampled_from([taxonomy.id(c) for c in taxonomy]), min_size=1, max_size=8, unique=True))
    return taxonomy, values


# ---- senses ----


def test_values_in_no_taxonomy_are_counted_listed_and_not_shown() -> None:
    pets = from_edges([("cat", "pet"), ("dog", "pet")])
    with pytest.raises(MissingValues, match="animal: 2 of 3 values are in no taxonomy") as caught:
        senses_of(["cat", "xyzzy", "plugh"], pets, name="animal")
    assert caught.value.values == ("xyzzy", "plugh")
    assert "xyzzy" not in str(caught.value)
    assert senses_of(["cat", "xyzzy"], pets, unknown="list").unknown == ("xyzzy",)


def test_unknown_values_go_under_the_root_and_nothing_is_lost() -> None:
    pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "thing")])
    made = base_hierarchy(["cat", "xyzzy", None], pets, unknown="list")
    assert made.rows() == [("cat", "pet", "thing"), ("xyzzy", "xyzzy", "thing"), (None, None, "thing")]
    assert made.info["unknown"] == ("xyzzy",)


def test_given_senses_win_over_look_up() -> None:
    nouns = wordnet()
    found = senses_of(["coach"], nouns, senses={"coach": "coach#5"})
    assert found.concepts.tolist() == [nouns.code("coach#5")]
    mapping = map_values(["coach"], nouns, table={"coach": "coach#5"})
    assert senses_of(["coach"], nouns, senses=mapping).concepts.tolist() == [nouns.code("coach#5")]


def test_a_value_given_twice_is_refused() -> None:
    with pytest.raises(BadInput, match="each value may be given once"):
        senses_of(["nurse", "nurse"], wordnet())


def test_concepts_of_a_file_are_looked_up_and_repeated_leaves_keep_their_sense() -> None:
    rows = [("coach", "coach", "*"), ("bus", "vehicle", "*")]
    made = with_concepts(Hierarchy.of_rows(rows), wordnet(), senses={"coach": "coach#5"})
    nouns = wordnet()
    assert made.concepts is not None
    assert [c.tolist() for c in made.concepts] == [
        [nouns.code("coach#5"), nouns.code("bus#1")],
        [nouns.code("coach#5"), nouns.code("vehicle#1")],
        [-1],
    ]
    by_leaves = with_concepts(Hierarchy.of_rows(rows), wordnet(), inner="subsumers")
    assert by_leaves.concept_codes(1).tolist()[1] == -1


# ---- base hierarchy ----


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40, deadline=None)
@given(column=columns())
def test_the_base_is_the_smallest_tree_of_is_a_links(rule: str, column: tuple[Taxonomy, list[str]]) -> None:
    taxonomy, values = column
    base = base_hierarchy(values, taxonomy, parents=rule)  # type: ignore[arg-type]
    assert errors(base) == []
    assert base.leaves == tuple(values)
    tree = tree_of(base)
    assert tree.concepts is not None
    assert len(tree.roots) == 1
    held = set(tree.concepts.tolist())
    for node, parent in enumerate(tree.parent.tolist()):
        concept = int(tree.concepts[node])
        if parent < 0:
            assert concept == taxonomy.root
        elif concept != tree.concepts[parent]:
            assert int(tree.concepts[parent]) in taxonomy.parents[concept].tolist()
    above = {int(c) for value in values for c in taxonomy.subsumers(value)}
    assert held <= above
    if (taxonomy.parents.sizes <= 1).all():
        assert held == above  # without choice among parents, exactly the subsumers


def test_rules_for_parents_do_what_they_say() -> None:
    links = ["cat pet", "cat feline", "dog pet", "feline beast", "beast thing", "pet thing", "car thing"]
    graph = from_edges([tuple(link.split()) for link in links])
    cat = graph.code("cat")
    leaves = graph.codes(["cat", "dog", "car"]).tolist()
    assert graph.label(choose_parents(leaves, graph, "deepest")[cat]) == "feline"
    assert graph.label(choose_parents(leaves, graph, "shared")[cat]) == "pet"
    assert graph.label(choose_parents(leaves[:2], graph, "deepest")[cat]) == "pet"  # where cats and dogs meet
    with pytest.raises(BadInput, match="no rule 'any'"):
        choose_parents(leaves, graph, "any")  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", RULES)
@settings(max_examples=40, deadline=None)
@given(column=columns())
def test_branches_meet_no_higher_than_at_the_least_common_subsumer(
    rule: str, column: tuple[Taxonomy, list[str]]
) -> None:
    taxonomy, values = column
    base = reduce_abstractness(base_hierarchy(values, taxonomy, parents=rule))  # type: ignore[arg-type]
    top = int(base.concept_codes(base.height)[0])
    if len(values) > 1:
        assert top == taxonomy.lcs(*values)


def test_a_value_above_another_is_a_leaf_below_itself_and_synonyms_meet() -> None:
    pets = from_edges([("beagle", "dog"), ("dog", "pet")], names={"dog": ["dog", "hound"]})
    made = base_hierarchy(["dog", "beagle"], pets)
    assert made.rows() == [("dog", "dog", "pet"), ("beagle", "dog", "pet")]
    both = base_hierarchy(["dog", "hound"], pets)
    assert both.rows() == [("dog", "dog", "pet"), ("hound", "dog", "pet")]


def test_labels_never_stand_for_two_concepts() -> None:
    graph = from_edges(
        [("a", "x1"), ("b", "x2"), ("x1", "top"), ("x2", "top")], names={"x1": ["x"], "x2": ["x"], "top": ["top"]}
    )
    made = base_hierarchy(["a", "b"], graph)
    assert made.labels[1] == ("x", "x#2")
    assert errors(made) == []


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_builds(policy: str) -> None:
    assert errors(base_hierarchy(JOBS, wordnet(), policy=policy)) == []  # type: ignore[arg-type]


@settings(max_examples=30, deadline=None)
@given(columns())
def test_remembered_ancestry_agrees_with_the_taxonomy(column: tuple[Taxonomy, list[str]]) -> None:
    taxonomy, values = column
    ancestry = Ancestry(taxonomy)
    assert ancestry.lcs(taxonomy.codes(values).tolist()) == taxonomy.lcs(*values)
    assert ancestry.above(taxonomy.code(values[0])) == set(taxonomy.subsumers(values[0]).tolist())


# ---- adjustments ----


@settings(max_examples=40, deadline=None)
@given(hierarchies())
def test_reduced_abstractness_stops_where_branches_meet(hierarchy: Hierarchy) -> None:
    low = reduce_abstractness(hierarchy)
    assert len(low.labels[-1]) == 1
    assert low.height == 1 or len(low.labels[-2]) > 1
    assert low.rows() == [row[: low.height + 1] for row in hierarchy.rows()]


@settings(max_examples=40, deadline=None)
@given(hierarchies(max_height=6), st.integers(1, 7))
def test_levels_are_removed_to_the_wanted_height(hierarchy: Hierarchy, height: int) -> None:
    low = remove_levels(hierarchy, height)
    assert low.height == min(height, hierarchy.height)
    assert errors(low) == []
    assert (low.labels[0], low.labels[-1]) == (hierarchy.labels[0], hierarchy.labels[-1])


def test_the_level_least_felt_goes_first() -> None:
    rows = [(f"v{i}", f"a{i}", f"b{i // 2}", f"c{i // 2}", "*") for i in range(8)]
    assert remove_levels(Hierarchy.of_rows(rows), 3).labels[2][0] in ("c0", "b0")
    assert remove_levels(Hierarchy.of_rows(rows), 2).labels[1] == ("c0", "c1", "c2", "c3")


def test_bad_heights_and_levels_are_refused() -> None:
    jobs = Hierarchy.of_rows([("a", "b", "*")])
    with pytest.raises(BadInput, match="at least 1, not 0"):
        remove_levels(jobs, 0)
    with pytest.raises(BadInput, match="ascending"):
        keep_levels(jobs, [2, 1])


@pytest.mark.parametrize("under", RENAMES)
@settings(max_examples=40, deadline=None)
@given(column=columns(), data=st.data())
def test_grouping_outliers_keeps_it_valid_and_reaches_k_no_later(
    under: str, column: tuple[Taxonomy, list[str]], data: st.DataObject
) -> None:
    taxonomy, values = column
    base = base_hierarchy(values, taxonomy)
    if base.height < 1:
        return
    counts = data.draw(st.lists(st.integers(0, 6), min_size=len(values), max_size=len(values)))
    k = data.draw(st.integers(1, 8))
    made = reduce_outliers(base, counts, k, under=under, distance=distance("path", taxonomy))  # type: ignore[arg-type]
    assert errors(made) == []
    assert made.leaves == base.leaves
    assert made.height == base.height
    if sum(counts) >= k:
        assert minimal_distortion(made, counts, k) <= minimal_distortion(base, counts, k)


def two_branches() -> tuple[Taxonomy, Hierarchy]:
    """a1 and a2 under A, b1 and b2 under B, A and B under G, all in chains so that every level is real."""
    links = ["a1 A1", "a2 A2", "b1 B1", "b2 B2", "A1 A", "A2 A", "B1 B", "B2 B", "A G", "B G", "G top"]
    graph = from_edges([tuple(link.split()) for link in links])
    return graph, base_hierarchy(["a1", "a2", "b1", "b2"], graph)


def test_outliers_go_under_their_parent_a_promoted_sister_or_the_root() -> None:
    graph, base = two_branches()
    path = distance("path", graph)
    assert reduce_outliers(base, [2, 1, 9, 9], 3).rows()[0] == ("a1", "A", "A", "G", "top")
    promoted = reduce_outliers(base, [2, 1, 9, 9], 3, under="outlier", distance=path, boundary=3)
    assert promoted is base  # a2 is 3 links from A1, its loss at the next level is 2: not consistent
    assert reduce_outliers(base, [2, 1, 9, 9], 3, under="root").rows()[1] == ("a2", "top", "top", "top", "top")
    assert reduce_outliers(base, [9, 9, 9, 9], 3) is base
    assert reduce_outliers(base, [1, 0, 9, 9], 3) is base  # nothing to group it with


def test_an_outlier_is_promoted_where_that_loses_no_more_than_the_level_above() -> None:
    graph = from_edges([("x", "P"), ("y", "P"), ("P", "Q"), ("Q", "R"), ("z", "R")])
    rows = [("x", "x", "Q", "R"), ("y", "y", "Q", "R"), ("z", "z", "z", "R")]
    jobs = with_concepts(Hierarchy.of_rows(rows), graph)
    path = distance("path", graph)
    made = reduce_outliers(jobs, [1, 2, 9], 3, under="outlier", distance=path)
    assert [row[1] for row in made.rows()] == ["y", "y", "z"]
    assert reduce_outliers(jobs, [1, 2, 9], 3, under="outlier", distance=path, boundary=1) is jobs


def test_outliers_of_different_parents_join_only_with_a_distance() -> None:
    graph, base = two_branches()
    counts = [2, 9, 2, 9]
    assert reduce_outliers(base, counts, 4) is base
    made = reduce_outliers(base, counts, 4, distance=distance("wu-palmer", graph), boundary=None)
    # b1 would lose by A more than by G, two levels up: not consistent, so nothing moves.
    assert made is base


def test_bad_arguments_of_grouping_are_refused() -> None:
    jobs = Hierarchy.of_rows([("a", "x", "*"), ("b", "y", "*")])
    with pytest.raises(BadInput, match="2 leaves need as many counts"):
        reduce_outliers(jobs, [1], 2)
    with pytest.raises(BadInput, match="k must be at least 1"):
        reduce_outliers(jobs, [1, 1], 0)
    with pytest.raises(BadInput, match="needs a distance"):
        reduce_outliers(jobs, [1, 1], 2, under="outlier")
    with pytest.raises(BadInput, match="not 'away'"):
        reduce_outliers(jobs, [1, 1], 2, under="away")  # type: ignore[arg-type]


# ---- facets ----


def test_sisters_and_parts_are_related_and_instances_are_not() -> None:
    nouns = wordnet()
    hospital = nouns.code("hospital")
    labels = nouns.labels(related(hospital, nouns))
    assert "ward" in labels  # a part
    assert "Averroes" not in nouns.labels(related(nouns.code("surgeon"), nouns))
    assert nouns.labels(related(hospital, nouns, ["part"])) == ["burn center", "clinic", "hospital room", "ward"]


def test_facets_lie_within_the_boundary_nearest_first() -> None:
    nouns = wordnet()
    measure = distance("wu-palmer", nouns)
    concept = nouns.code("musician")
    found = Facets(measure, boundary=0.15)(concept)
    apart = measure.matrix([concept], found)[0]
    assert len(found) > 3
    assert (apart <= 0.15).all()
    assert (np.diff(apart) >= 0).all()
    assert Facets(measure, boundary=0)(concept) == []


def test_diversified_hierarchies_keep_their_shape_and_top() -> None:
    nouns = wordnet()
    base = reduce_abstractness(base_hierarchy(JOBS, nouns))
    namer = Namer(nouns, dict(zip(base.leaves, base.concept_codes(0).tolist(), strict=True)))
    made = diversify(base, Facets(distance("wu-palmer", nouns), boundary=0.3), namer, share=1, rng=3)
    assert errors(made) == []
    assert (made.codes == base.codes).all()
    assert made.labels[0] == base.labels[0]
    assert made.labels[-1] == base.labels[-1]
    assert set(inner_concepts(made)).isdisjoint(set(inner_concepts(base)) - set(base.concept_codes(0).tolist()))


def test_a_concept_is_never_put_in_two_places() -> None:
    graph = from_edges([("a", "A"), ("b", "B"), ("A", "top"), ("B", "top"), ("C", "top")])
    base = base_hierarchy(["a", "b"], graph)
    namer = Namer(graph, {"a": graph.code("a"), "b": graph.code("b")})
    code = graph.code
    made = replace_concepts(base, {code("A"): code("C"), code("B"): code("C")}, namer)
    assert made.labels[1] == ("C", "B")
    assert replace_concepts(base, {code("A"): code("B")}, namer).labels[1] == ("A", "B")


# ---- candidates ----


@pytest.mark.data
@pytest.mark.parametrize("name", ["occupation", "placeOfWork", "activity", "placeOfActivity"])
def test_a_hundred_candidates_of_each_insurance_column(shared_data: Path, name: str) -> None:
    file = shared_data / "insurance" / "insurance_act_original_occ_original_10000.csv"
    with file.open(encoding="utf-8", newline="") as rows:
        counts = Counter(row[name] for row in csv.DictReader(rows))
    measure = distance("wu-palmer", wordnet(), convention="depth")
    made = candidates(
        list(counts), wordnet(), list(counts.values()), distance=measure, name=name, rng=1, strategy="lesk"
    )
    assert len(made) == 100
    assert len({signature(h) for h in made}) == 100
    assert all(h.leaves == tuple(counts) for h in made)
    assert [e for h in made for e in errors(h)] == []
    how = " ".join(h.info["made"] for h in made)
    for adjustment in ("abstractness reduced", "outliers below", "levels removed", "facets for"):
        assert adjustment in how
    assert np.ptp(scores(made, measure)) > 0.1


def test_candidates_are_repeatable_with_a_seed_and_bounded() -> None:
    first = candidates(JOBS, wordnet(), [5] * 8, wanted=40, rng=7)
    second = candidates(JOBS, wordnet(), [5] * 8, wanted=40, rng=7)
    assert [h.rows() for h in first] == [h.rows() for h in second]
    assert len(candidates(["nurse"], from_edges([("nurse", "job")]), wanted=50)) == 1
    with pytest.raises(BadInput, match="at least 1 candidate"):
        candidates(JOBS, wordnet(), wanted=0)


# ---- perturbations ----


def test_the_test_bed_spreads_from_the_ideal_to_the_poor() -> None:
    measure = distance("wu-palmer", wordnet())
    ideal = reduce_abstractness(base_hierarchy(JOBS, wordnet()))
    bed = make_test_bed(ideal, measure, wanted=60, rng=5)
    assert len({signature(h) for h in bed}) == 60
    assert bed[0] is ideal
    assert [e for h in bed for e in errors(h)] == []
    judged = scores(bed, measure)
    assert judged[0] < np.quantile(judged, 0.25)
    assert judged[40:].mean() > judged[:20].mean() + 0.03
    strength = [h.info["strength"] for h in bed[1:]]
    assert max(strength) == 1.0


@settings(max_examples=30, deadline=None)
@given(hierarchies(max_height=5), st.floats(0, 1), st.integers(0, 4))
def test_perturbations_keep_it_valid(hierarchy: Hierarchy, share: float, number: int) -> None:
    for made in (regroup(hierarchy, share, rng=number), drop_levels(hierarchy, number, rng=number)):
        assert errors(made) == []
        assert made.leaves == hierarchy.leaves
        assert len(made.labels[-1]) == 1
    assert regroup(hierarchy, 0, rng=1).rows() == hierarchy.rows()


def test_bad_strengths_are_refused() -> None:
    jobs = Hierarchy.of_rows([("a", "x", "*")])
    for function in (lambda: regroup(jobs, 1.5), lambda: perturb(jobs, None, None, strength=-1)):  # type: ignore[arg-type]
        with pytest.raises(BadInput, match="between 0 and 1"):
            function()
    with pytest.raises(BadInput, match="starts from a hierarchy with concepts"):
        make_test_bed(jobs, distance("path", from_edges([("a", "b")])))
