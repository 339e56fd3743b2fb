"""Spelling, plurals and phrases: what a text may mean, by which rule, and that no text breaks the look-up."""

from __future__ import annotations

import gc
import sys
import unicodedata
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest
from benchmarks._nltk import reader
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.lookup import Found, lookup, sense_name
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.taxonomy.word_forms import (
    CLOSED,
    LONGEST,
    all_normalised,
    all_without_accents,
    base_forms,
    head_words,
    looks_numeric,
    normalise,
    without_accents,
)

NAMES = {
    "phone": ["iPhone", "smart-phone"],
    "cafe": ["café", "coffee bar"],
    "nurse": ["nurse"],
    "child": ["child"],
    "bus": ["bus", "coach"],
    "trainer": ["trainer", "coach"],
    "postdoc": ["post doc"],
    "usa": ["U.S.A.", "United States"],
    "mil": ["mother-in-law"],
    "dod": ["Department of Defense"],
    "dep": ["department"],
    "therapist": ["therapist"],
    "c": ["C"],
    "berries": ["berries"],
}


@pytest.fixture(scope="module")
def things() -> Taxonomy:
    return from_edges([(key, "thing") for key in NAMES], names=NAMES)


def found(taxonomy: Taxonomy, text: str) -> tuple[str, str] | None:
    hit = lookup(taxonomy).find(text)
    return (hit.how, taxonomy.id(hit.concepts[0])) if hit else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Water-Skiing", "water skiing"),
        ("boat_racing", "boat racing"),
        ("  New \t\n York ", "new york"),
        ("U.S.A.", "usa"),
        ("St. John's", "st johns"),
        ("C++", "c++"),
        ("STRASSE", "strasse"),
        ("Straße", "strasse"),
        ("caf\u00e9", "caf\u00e9"),
        ("cafe\u0301", "caf\u00e9"),
        ("zero\u200bwidth", "zerowidth"),
        ("soft\u00adhyphen", "softhyphen"),
        ("en\u2013dash", "en dash"),
        ("ﬁreman", "fireman"),
        ("a\x00b", "a b"),
        ("!?", ""),
        ("", ""),
    ],
)
def test_normalising_takes_away_what_spelling_varies_in(text: str, expected: str) -> None:
    assert normalise(text) == expected


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_normalising_twice_changes_nothing_more(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


def test_every_blank_there_is_counts_as_a_space() -> None:
    blanks = [char for char in map(chr, range(sys.maxunicode)) if char.isspace()]
    texts = [f"{blank}post{blank}{other}doc{blank}" for blank in blanks for other in ("", " ", "\t")]
    assert set(all_normalised(texts)) == set(map(normalise, texts)) == {"post doc"}


@given(st.lists(st.text(max_size=12) | st.sampled_from(["Crème Brûlée", "É\u0301", "a\0b", "ﬁ"]), max_size=8))
def test_many_texts_at_once_become_what_each_becomes(texts: list[str]) -> None:
    assert all_normalised(texts) == [normalise(text) for text in texts]
    plain = ["".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c)) for text in texts]
    assert [without_accents(text) for text in texts] == all_without_accents(texts) == plain


def test_accents_come_off_letters_and_nothing_else() -> None:
    assert without_accents("Ångström, naïve, ñandú") == "Angstrom, naive, nandu"


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("teachers", "teacher"),
        ("buses", "bus"),
        ("boxes", "box"),
        ("quizzes", "quizz"),
        ("churches", "church"),
        ("dishes", "dish"),
        ("firemen", "fireman"),
        ("berries", "berry"),
        ("spoonsful", "spoonful"),
    ],
)
def test_wordnets_detachment_rules(plural: str, singular: str) -> None:
    assert singular in base_forms(plural, {})


@pytest.mark.parametrize("word", ["glass", "is", "child", "", "s", "ful"])
def test_words_no_rule_applies_to(word: str) -> None:
    assert base_forms(word, {}) == []


def test_listed_forms_come_before_guesses() -> None:
    assert base_forms("axes", {"axes": ("ax", "axis")})[:2] == ["ax", "axis"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("42", True),
        ("-3.14", True),
        ("1,000", True),
        ("1e5", True),
        ("50%", True),
        ("2001-05-03", True),
        ("18-25", True),
        ("٣٤", True),
        ("3-D", False),
        ("A40", False),
        ("forty", False),
        ("nan", False),
        ("", False),
    ],
)
def test_numbers_and_dates_are_told_from_words(text: str, expected: bool) -> None:
    assert looks_numeric(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a new iPhone", (["new", "iphone"], 2)),
        ("teacher of English", (["teacher", "of", "english"], 1)),
        ("HOTEL/MOTEL", (["hotel"], 1)),
        ("School, public", (["school"], 1)),
        ("(retired) nurse", (["nurse"], 1)),
        ("[nurse]", (["nurse"], 1)),
        ("iPhone 3", (["iphone", "3"], 1)),
        ("of the", ([], 0)),
        ("", ([], 0)),
    ],
)
def test_the_first_noun_phrase(text: str, expected: tuple[list[str], int]) -> None:
    assert head_words(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nurse", ("exact", "nurse")),
        ("phone", ("given", "phone")),
        ("coach#1", ("given", "bus")),
        ("coach#2", ("given", "trainer")),
        ("Coach#2", ("given", "trainer")),
        ("coach#3", None),
        ("coach#0", None),
        ("NURSE", ("normalised", "nurse")),
        ("Nurses", ("normalised", "nurse")),
        ("children", ("normalised", "child")),
        ("Smart_Phones", ("normalised", "phone")),
        ("smartphone", ("normalised", "phone")),
        ("Post-Docs", ("normalised", "postdoc")),
        ("postdoc", ("given", "postdoc")),
        ("mothers in law", ("normalised", "mil")),
        ("usa", ("given", "usa")),
        ("U S A", None),
        ("cafe", ("given", "cafe")),
        ("CAFE", ("normalised", "cafe")),
        ("CAFES", ("normalised", "cafe")),
        ("berry", ("normalised", "berries")),
        ("a new iPhone", ("head", "phone")),
        ("new iPhone", ("head", "phone")),
        ("three experienced paediatric nurses", ("head", "nurse")),
        ("iPhone 3", ("head", "phone")),
        ("US Department of Defense", ("head", "dod")),
        ("department of sports", ("head", "dep")),
        ("nurse for a child", ("head", "nurse")),
        ("nurse (retired)", ("head", "nurse")),
        ("the therapist", ("head", "therapist")),
        ("the rapist", None),
        ("C++", None),
        ("(c)", None),
        ("of", None),
        ("NA", None),
        ("?", None),
        ("7", None),
        ("nurse" * 1000, None),
    ],
)
def test_the_rules_one_by_one(things: Taxonomy, text: str, expected: tuple[str, str] | None) -> None:
    assert found(things, text) == expected


def test_numbers_are_codes_or_nothing() -> None:
    codes = from_edges([("111", "11"), ("112", "11")], names={"111": ["crops"], "112": ["2001"], "11": ["farming"]})
    assert found(codes, "111") == ("given", "111")
    assert found(codes, "2001") is None
    assert found(codes, "crops") == ("exact", "111")
    assert lookup(wordnet()).find("78") is None


def test_a_name_that_is_also_the_id_of_something_else() -> None:
    mixed = from_edges([("aa", "r"), ("bb", "r")], names={"aa": ["bb"], "bb": ["xx"], "r": ["r"]})
    assert found(mixed, "bb") == ("given", "bb")
    assert found(mixed, "BB") == ("normalised", "aa")


def test_a_domain_keeps_the_rules_going_until_they_find_something_inside(things: Taxonomy) -> None:
    inside = np.zeros(len(things), dtype=bool)
    inside[things.code("trainer")] = True
    look = lookup(things)
    assert look.find("coach", inside) == Found("exact", "coach", (things.code("trainer"),))
    assert look.find("nurse", inside) is None
    assert look.find("coach#1", inside) is None
    assert look.find("trainer", inside) == Found("exact", "trainer", (things.code("trainer"),))
    assert look.find("phone", inside) is None


def test_other_languages_have_spelling_only() -> None:
    spanish = from_edges(
        [("1", "0"), ("2", "0")], names={"0": ["cosa"], "1": ["médico"], "2": ["ciencia"]}, info={"language": "es"}
    )
    assert found(spanish, "MEDICO") == ("normalised", "1")
    assert found(spanish, "ciencias") is None
    assert found(spanish, "profesor de ciencia") is None


def test_names_of_wordnet_keep_their_senses() -> None:
    nouns = wordnet()
    look = lookup(nouns)
    assert look.find("CHINA").concepts == look.find("china").concepts == tuple(nouns.senses_of("china"))  # type: ignore[union-attr]
    assert sense_name(nouns, nouns.code("china#2"), "CHINA") == "china#2"
    axes = look.find("axes")
    assert axes is not None
    assert {nouns.label(c) for c in axes.concepts} >= {"ax", "axis"}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_every_name_is_found_and_named_back(data: st.DataObject) -> None:
    taxonomy = data.draw(taxonomies())
    look = lookup(taxonomy)
    for term in taxonomy.terms:
        hit = look.find(term)
        assert hit is not None
        assert hit.how == "exact"
        assert list(hit.concepts) == taxonomy.senses_of(term).tolist()
        for concept in hit.concepts:
            assert taxonomy.code(sense_name(taxonomy, concept, term)) == concept
    for term in taxonomy.terms:
        hit = look.find(term.upper().replace(" ", "_") + "S")
        assert hit is not None
        assert set(taxonomy.senses_of(term).tolist()) <= set(hit.concepts)


def test_random_wordnet_senses_are_named_back() -> None:
    nouns = wordnet()
    rng = np.random.default_rng(3)
    for position in rng.choice(len(nouns.terms), 400, replace=False):
        term = nouns.terms[int(position)]
        for concept in nouns.senses_of(term).tolist():
            assert nouns.code(sense_name(nouns, concept, term.upper())) == concept


def test_plurals_agree_with_nltk(tmp_path: Path) -> None:
    peer = reader(tmp_path)
    if peer is None:
        pytest.skip("needs NLTK and WordNet's database files")
    nouns, look = wordnet(), lookup(wordnet())
    rng = np.random.default_rng(4)
    single = [t for t in nouns.terms if t.isalpha() and t.islower()]
    plurals = [single[int(i)] + end for i in rng.choice(len(single), 300, replace=False) for end in ("s", "es")]
    plurals += ["children", "men", "mice", "geese", "axes", "alumni", "wolves", "oxen", "boxes", "ladies", "firemen"]
    compared = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for word in plurals:
            expected = {f"{s.offset():08}-n" for s in peer.synsets(word, "n")}
            if expected and word not in nouns._by_term and word not in CLOSED and not word.endswith(("ves", "ss")):
                hit = look.find(word)
                assert hit is not None, word
                assert {nouns.id(c) for c in hit.concepts} == expected, word
                compared += 1
    assert compared > 200


@pytest.mark.parametrize(
    "text",
    [
        "\x00",
        "x" * 1_000_000,
        "word " * 200_000,
        "\u0301" * 1_000_000,
        "((((" * 250,
        "🙂👩‍⚕️",
        "طبيب أسنان",
        "\u202eesrun\u202c",
        "\ud800",
        "#" * 500,
        "coach#" + "9" * 900,
        "=cmd|' /C calc'!A0",
        "\ufdfa" * 900,
        " ",
        "%s%n{0}",
    ],
)
def test_hostile_texts_are_survived(text: str) -> None:
    look = lookup(wordnet())
    assert look.find(text) is None
    assert len(look.suggest([text])) == 1


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=40))
def test_any_text_is_survived(text: str) -> None:
    hit = lookup(wordnet()).find(text)
    assert hit is None or hit.concepts


def test_suggestions_are_near_and_in_order() -> None:
    names = ["veterinarian", "vegetarian", "architect", "charger"]
    look = lookup(from_edges([(n, "thing") for n in names]))
    assert look.suggest(["veternarian"]) == [["veterinarian", "vegetarian"]]
    assert look.suggest(["veternarian"], limit=1) == [["veterinarian"]]
    assert look.suggest(["Xyz with charger", "qqqq", ""]) == [["charger"], [], []]
    assert look.suggest([]) == []
    assert look.suggest(["archtect"] * 130) == [["architect"]] * 130


def test_the_index_goes_with_its_taxonomy() -> None:
    taxonomy = from_edges([("cat", "pet")])
    assert lookup(taxonomy).find("Cats") is not None
    gone = weakref.ref(taxonomy)
    del taxonomy
    gc.collect()
    assert gone() is None


def test_longest_is_what_the_module_says() -> None:
    long_name = "x" * LONGEST
    taxonomy = from_edges([(long_name, "thing")])
    assert lookup(taxonomy).find(long_name.upper()) is not None
    assert lookup(taxonomy).find(long_name + "s") is None
