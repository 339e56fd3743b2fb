"""Noun phrases in short texts, found by the embedded chunker and by taggers a user has."""

from __future__ import annotations

import importlib
import sys
import zlib
from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.errors import MissingExtra
from keepsense.sets import noun_phrases as taggers
from keepsense.sets.concept_sets import map_sets
from keepsense.sets.item_sets import from_lists
from keepsense.sets.noun_phrases import noun_phrases
from keepsense.taxonomy.embedded_taxonomies import wordnet

EXAMPLES = {
    "AC charger for an iPhone": ["AC charger", "iPhone"],
    "a new iPhone": ["new iPhone"],
    "how to fix a broken washing machine": ["broken washing machine"],
    "cheap hotels in Paris": ["cheap hotels", "Paris"],
    "watch movies online free": ["movies"],
    "apple watch": ["apple watch"],
    "blood test results": ["blood test results"],
    "what is the capital of Spain?": ["capital", "Spain"],
    "flights from london to madrid, cheap": ["flights", "london", "madrid"],
    "homes for rent": ["homes", "rent"],
    "buy a new car": ["new car"],
    "play guitar": ["guitar"],
    "used cars for sale": ["used cars", "sale"],
    "hotels cheap flights": ["hotels", "cheap flights"],
    "symptoms of diabetes in children": ["symptoms", "diabetes", "children"],
    "Dr. Smith. His car": ["Dr Smith", "car"],
    "john's car": ["john's car"],
    "www.example.com": ["www.example.com"],
}


@pytest.mark.parametrize(("text", "phrases"), EXAMPLES.items())
def test_examples(text: str, phrases: list[str]) -> None:
    assert noun_phrases([text]) == [phrases]


def test_names_with_function_words_stay_in_one_piece() -> None:
    texts = ["the bill of rights", "bed and breakfast near new york city", "attorney general of texas"]
    assert noun_phrases(texts, wordnet()) == [
        ["bill of rights"],
        ["bed and breakfast", "new york city"],
        ["attorney general", "texas"],
    ]
    assert noun_phrases(texts[:1]) == [["bill", "rights"]]


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=60))
def test_nothing_is_dropped_and_nothing_breaks(text: str) -> None:
    found = noun_phrases([text], wordnet())[0]
    assert bool(found) == bool(text.strip())
    assert all(phrase.strip() for phrase in found)


def test_a_text_without_any_noun_is_its_own_phrase() -> None:
    assert noun_phrases(["download", "  2006 ", "how to", ""]) == [["download"], ["2006"], ["how to"], []]


def test_very_long_texts_are_cut() -> None:
    assert len(noun_phrases(["word, " * 5_000])[0]) < 200


def test_queries_become_sets_of_concepts() -> None:
    log = map_sets(
        from_lists([["AC charger for an iPhone", "cheap hotels in Paris"], ["hotel"]]), wordnet(), phrases=True
    )
    assert log.labels(log.rows[0]) == ["charger", "hotel", "Paris", "iphone"]
    assert log.labels(log.rows[1]) == ["hotel"]
    assert log.opaque == ("iphone",)
    assert any(f.code == "W305" and "1 of 5 terms" in f.message for f in log.findings())


def test_spellings_of_one_opaque_term_are_one_thing() -> None:
    sets = map_sets(from_lists([["Zzyzx-Qwrtl"], ["zzyzx qwrtl"], ["ZZYZX"]]), wordnet())
    assert sets.opaque == ("zzyzx", "zzyzx qwrtl")


def test_hanta_finds_phrases() -> None:
    pytest.importorskip("HanTa")
    chunk = taggers.phrases_by_hanta()
    found = chunk(["AC charger for an iPhone", "how to fix a broken washing machine", "to", ""])
    assert found == [["AC charger", "iPhone"], ["broken washing machine"], ["to"], []]
    log = map_sets(from_lists([["cheap hotels in Paris"]]), wordnet(), phrases=chunk)
    assert log.labels(log.rows[0]) == ["hotel", "Paris"]


def test_hanta_missing_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "HanTa", None)
    monkeypatch.setitem(sys.modules, "HanTa.HanoverTagger", None)
    taggers._hanta.cache_clear()
    with pytest.raises(MissingExtra, match=r"keepsense\[nlp\]"):
        taggers.phrases_by_hanta()
    taggers._hanta.cache_clear()


def test_the_embedded_word_list_is_what_its_script_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path("/usr/share/wordnet")
    if not (folder / "index.verb").is_file():
        pytest.skip("needs a WordNet database folder (Debian's wordnet-base)")
    monkeypatch.syspath_prepend(str(Path(__file__).resolve().parents[2] / "scripts"))
    made = importlib.import_module("compile_lexicon").lexicon(folder)
    embedded = resources.files("keepsense.sets").joinpath("data/words.z").read_bytes()
    assert zlib.decompress(embedded).decode("ascii") == made
