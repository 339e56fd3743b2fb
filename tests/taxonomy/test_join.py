"""Several taxonomies as one: what is matched, what hangs where, what stays as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.errors import BadInput, BadTaxonomy, UnknownConcept
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import VIRTUAL_ROOT, closing_links, from_edges
from keepsense.taxonomy.taxonomy_union import join

SPORTS = from_edges(
    [("s2", "s1"), ("s3", "s1"), ("s4", "s2"), ("s5", "s2"), ("s6", "s3")],
    names={
        "s1": ["sport"],
        "s2": ["water sport", "aquatics"],
        "s3": ["ball game"],
        "s4": ["swimming"],
        "s5": ["surfing"],
        "s6": ["football", "soccer"],
    },
    relations={"uses": [("s6", "s3")]},
    name="sports",
)


def newer(**names: list[str]) -> Taxonomy:
    """A small list of sports that came later, in its own words."""
    return from_edges(
        [("n2", "n1"), ("n3", "n1")],
        names={"n1": ["Water-Sport"], "n2": ["kitesurfing"], "n3": ["parasailing"], **names},
        name="newer",
    )


def parents(t: Taxonomy, concept: str) -> list[str]:
    return sorted(t.labels(t.parents[t.code(concept)].tolist()))


def test_concepts_with_the_same_label_become_one() -> None:
    t = join([SPORTS, newer()])
    assert len(t) == len(SPORTS) + 2
    assert parents(t, "kitesurfing") == ["water sport"]
    assert t.synonyms("s2") == ["water sport", "aquatics", "Water-Sport"]
    assert t.label(t.lcs("kitesurfing", "swimming")) == "water sport"
    assert list(t.ids)[: len(SPORTS)] == list(SPORTS.ids)
    assert t.info["concepts matched"] == "1"
    assert t.name == "sports + newer"


def test_distances_in_the_first_do_not_change_where_the_second_only_adds_below() -> None:
    from keepsense.semantics.distance import distance

    t = join([SPORTS, newer()])
    codes = np.arange(len(SPORTS))
    assert np.array_equal(t.depth[codes], SPORTS.depth)
    for name in ("path", "leacock-chodorow", "wu-palmer", "feature", "log-feature"):
        before = distance(name, SPORTS).matrix(codes)
        after = distance(name, t).matrix(codes)
        assert np.allclose(before, after), name


def test_a_term_the_first_lacks_becomes_mappable() -> None:
    from keepsense.taxonomy.mapper import map_values

    values = ["swimming", "kitesurfing", "Parasailing"]
    alone = map_values(values, SPORTS)
    both = map_values(values, join([SPORTS, newer()]))
    assert set(alone.unmapped) == {"kitesurfing", "Parasailing"}
    assert not both.unmapped


def test_a_synonym_of_the_first_matches_too() -> None:
    later = from_edges([("x2", "x1")], names={"x1": ["Soccer"], "x2": ["beach soccer"]}, name="later")
    assert parents(join([SPORTS, later]), "beach soccer") == ["football"]


def test_what_is_not_unique_is_left_apart_and_counted() -> None:
    first = from_edges([("a", "r"), ("b", "r")], names={"a": ["bank"], "b": ["bank"], "r": ["thing"]}, name="first")
    later = from_edges([("x", "y")], names={"x": ["branch"], "y": ["Bank"]}, name="later")
    t = join([first, later])
    assert parents(t, "y") == [VIRTUAL_ROOT]
    assert t.info["concepts left apart as not unique"] == "1: Bank"
    twice = from_edges([("x", "y"), ("z", "y")], names={"x": ["thing"], "z": ["thing"]}, name="twice")
    assert join([first, twice]).info["concepts left apart as not unique"] == "2: thing, thing"


def test_one_earlier_concept_takes_one_later_concept() -> None:
    later = from_edges(
        [("x", "r"), ("y", "r")], names={"x": ["soccer"], "y": ["football"], "r": ["sport"]}, name="later"
    )
    t = join([SPORTS, later])
    assert t.code("football") == SPORTS.code("s6")
    assert "x" in list(t.ids)
    assert t.info["concepts left apart as not unique"] == "1: soccer"


def test_a_mapping_has_the_first_word() -> None:
    t = join([SPORTS, newer()], mapping={"n1": "s3", "kitesurfing": "surfing"})
    assert parents(t, "parasailing") == ["ball game"]
    assert t.synonyms("s5") == ["surfing", "kitesurfing"]
    assert parents(t, "s5") == ["ball game", "water sport"]
    apart = join([SPORTS, newer()], mapping={"n1": None})
    assert parents(apart, "n1") == [VIRTUAL_ROOT]
    with pytest.raises(UnknownConcept, match="mapping: no earlier taxonomy has the concept 's99'"):
        join([SPORTS, newer()], mapping={"n1": "s99"})
    with pytest.raises(UnknownConcept, match="no later taxonomy has the concept 'n99'"):
        join([SPORTS, newer()], mapping={"n99": "s1"})


def test_matching_by_id_or_not_at_all() -> None:
    one = from_edges([("D:2", "D:1")], names={"D:2": ["cold"]}, name="one")
    two = from_edges([("D:3", "D:2")], names={"D:2": ["common cold"]}, name="two")
    t = join([one, two], match="id")
    assert list(t.ids) == ["D:2", "D:1", "D:3"]
    assert t.synonyms("D:2") == ["cold", "common cold"]
    apart = join([one, two], match="none")
    assert list(apart.ids) == ["D:2", "D:1", "two:D:2", "D:3", VIRTUAL_ROOT]


def test_taken_ids_stay_unique() -> None:
    same = from_edges([("cat", "animal")], name="pets")
    t = join([same, same, same], match="none")
    assert list(t.ids) == ["cat", "animal", "pets:cat", "pets:animal", "pets:2:cat", "pets:2:animal", VIRTUAL_ROOT]


def test_roots_are_attached_where_asked() -> None:
    craft = from_edges([("c2", "c1"), ("c3", "c1")], names={"c1": ["crafts"], "c2": ["knitting"], "c3": ["pottery"]})
    assert parents(join([SPORTS, craft], attach="sport"), "crafts") == ["sport"]
    t = join([SPORTS, craft], attach={"c1": "s1", "pottery": "ball game"})
    assert parents(t, "crafts") == ["sport"]
    assert parents(t, "pottery") == ["ball game", "crafts"]
    assert t.label(t.root) == "sport"
    with pytest.raises(UnknownConcept, match="attach: no earlier taxonomy has the concept 'leisure'"):
        join([SPORTS, craft], attach="leisure")
    with pytest.raises(BadInput, match="'Water-Sport' is the same as 'water sport' and hangs where that does"):
        join([SPORTS, newer()], attach={"n1": "s1"})


def test_unmatched_roots_go_below_a_virtual_root_once() -> None:
    crafts = from_edges([("knitting", "crafts")], name="crafts")
    music = from_edges([("opera", "music")], name="music")
    t = join([SPORTS, crafts], root_label="leisure")
    assert t.labels(t.children[t.root]) == ["sport", "crafts"]
    assert t.label(t.root) == "leisure"
    more = join([join([SPORTS, crafts]), music])
    assert more.labels(more.children[more.root]) == ["sport", "crafts", "music"]
    assert list(more.ids).count(VIRTUAL_ROOT) == 1


def test_the_first_ones_links_can_be_kept() -> None:
    later = from_edges([("x", "y"), ("y", "z")], names={"x": ["surfing"], "y": ["board sport"], "z": ["sport"]})
    assert parents(join([SPORTS, later]), "surfing") == ["board sport", "water sport"]
    assert parents(join([SPORTS, later], parents="first"), "surfing") == ["water sport"]


def test_contradictions_are_refused_by_name_or_given_up() -> None:
    one = from_edges([("a", "b"), ("b", "r")], names={"a": ["ethics"], "b": ["morals"]}, name="one")
    two = from_edges([("x", "y"), ("y", "r")], names={"x": ["morals"], "y": ["ethics"]}, name="two")
    with pytest.raises(BadTaxonomy, match="contradict each other: two has 'morals' below 'ethics'"):
        join([one, two])
    t = join([one, two], on_cycle="drop")
    assert parents(t, "ethics") == ["morals", "r"]
    assert parents(t, "morals") == ["r"]
    assert t.info["links given up to break cycles"] == "1: two has 'morals' below 'ethics'"


def test_a_concept_and_its_parent_may_become_one() -> None:
    t = join([SPORTS, newer()], mapping={"n1": "s2", "n2": "s2"})
    assert "kitesurfing" in t.synonyms("s2")
    assert parents(t, "s2") == ["sport"]


def test_relations_are_kept_and_united() -> None:
    later = from_edges(
        [("x", "r")],
        names={"x": ["football"], "r": ["sport"]},
        relations={"uses": [("x", "r")], "part": [("r", "x")]},
        name="later",
    )
    t = join([SPORTS, later])
    assert sorted(t.labels(t.related("football", "uses").tolist())) == ["ball game", "sport"]
    assert t.labels(t.related("sport", "part")) == ["football"]


def test_wordnet_keeps_its_senses_glosses_and_plurals(tmp_path: Path) -> None:
    from keepsense.taxonomy.embedded_taxonomies import exceptions, wordnet
    from keepsense.taxonomy.glosses import gloss_words
    from keepsense.taxonomy.taxonomy import Taxonomy

    nouns = wordnet()
    t = join([nouns, newer()])
    assert t.label(t.root) == "entity"
    assert parents(t, "kitesurfing") == ["water sport"]
    for term in ("coach", "bank", "turkey", "Turkey", "water sport"):
        assert t.senses_of(term).tolist() == nouns.senses_of(term).tolist()
    assert set(t.terms) == {*nouns.terms, "Water-Sport", "kitesurfing", "parasailing"}
    assert t.sense_counts is not None
    assert nouns.sense_counts is not None
    assert int(t.sense_counts.sum()) == int(nouns.sense_counts.sum())
    assert gloss_words(t, "coach#1").tolist() == gloss_words(nouns, "coach#1").tolist()
    assert gloss_words(t, "kitesurfing").tolist() == []
    assert exceptions(t)["mice"] == ("mouse",)
    t.save(tmp_path / "both.taxonomy")
    assert Taxonomy.load(tmp_path / "both.taxonomy").code("kitesurfing") == t.code("kitesurfing")


def test_wordnet_as_the_later_one_keeps_its_senses_too() -> None:
    from keepsense.taxonomy.embedded_taxonomies import wordnet
    from keepsense.taxonomy.glosses import gloss_words

    nouns = wordnet()
    t = join([newer(), nouns.below("sport#1")], match="label")
    assert [t.ids[c] for c in t.senses_of("surfing")] == [nouns.ids[c] for c in nouns.senses_of("surfing")]
    assert gloss_words(t, "surfing").tolist() == gloss_words(nouns, "surfing").tolist()


def test_options_are_checked() -> None:
    for too_few in ([SPORTS], SPORTS):
        with pytest.raises(BadInput, match="at least two"):
            join(too_few)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="a str is no taxonomy"):
        join([SPORTS, "wordnet"])  # type: ignore[list-item]
    for option in ("match", "parents", "on_cycle"):
        with pytest.raises(BadInput, match=f"{option}: 'maybe' is not one of"):
            join([SPORTS, newer()], **{option: "maybe"})  # type: ignore[arg-type]


@st.composite
def trees(draw: st.DrawFn, name: str, labels: str) -> Taxonomy:
    size = draw(st.integers(2, 8))
    ids = [f"{name}{i}" for i in range(size)]
    edges = [(ids[i], ids[draw(st.integers(0, i - 1))]) for i in range(1, size)]
    texts = draw(st.lists(st.sampled_from(labels), min_size=size, max_size=size))
    return from_edges(edges, names={key: [text] for key, text in zip(ids, texts, strict=True)}, name=name)


@settings(max_examples=60, deadline=None)
@given(trees("a", "pqrstuvw"), trees("b", "pqrstuvwxyz"))
def test_every_link_of_both_is_in_the_joined_one_unless_it_was_given_up(first: Taxonomy, later: Taxonomy) -> None:
    t = join([first, later], on_cycle="drop")
    assert t.parents.sizes.min() == 0
    assert int((t.parents.sizes == 0).sum()) == 1
    for c in first:
        for p in first.parents[c]:
            assert p in t.parents[c]
    given_up = int(t.info["links given up to break cycles"].split(":")[0])
    # Where each later concept went: its id if it is new, else the earlier concept of its label.
    place = {c: t.get(later.ids[c]) for c in later}
    merged = {
        c: p if p is not None else next(x for x in first if first.label(x) == later.label(c)) for c, p in place.items()
    }
    lost = sum(
        merged[int(p)] not in t.parents[merged[c]]
        for c in later
        for p in later.parents[c]
        if merged[c] != merged[int(p)]
    )
    assert lost == given_up
    assert int(t.info["concepts matched"]) == sum(p is None for p in place.values())


def reference(n: int, links: list[tuple[int, int]]) -> list[bool]:
    """Lay the links one by one and look from scratch each time whether the parent already lies below the child."""
    kept: set[tuple[int, int]] = set()
    marks = []
    for low, high in links:
        reach = {high}
        for _ in range(n):
            reach |= {b for a, b in kept if a in reach}
        marks.append(low in reach)
        if low not in reach:
            kept.add((low, high))
    return marks


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 7).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.tuples(*[st.integers(0, n - 1)] * 2)))))
def test_links_that_close_cycles_are_those_of_the_plain_reference(case: tuple[int, list[tuple[int, int]]]) -> None:
    n, links = case
    child = np.array([a for a, _ in links], dtype=np.int64)
    parent = np.array([b for _, b in links], dtype=np.int64)
    assert closing_links(n, child, parent).tolist() == reference(n, links)
