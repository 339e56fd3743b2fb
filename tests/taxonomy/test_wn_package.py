"""Wordnets installed for the `wn` package: a tiny English one, and a Spanish one that leans on it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from keepsense.errors import BadInput, BadTaxonomy, MissingExtra
from keepsense.taxonomy.embedded_taxonomies import exceptions
from keepsense.taxonomy.formats.wordnet_lmf import load_wn
from keepsense.taxonomy.glosses import explain, gloss, gloss_words, word_ids

wn = pytest.importorskip("wn", reason="needs the extra keepsense[wn]")

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE LexicalResource SYSTEM "http://globalwordnet.github.io/schemas/WN-LMF-1.1.dtd">
<LexicalResource xmlns:dc="https://globalwordnet.github.io/schemas/dc/">
"""

ENGLISH = """<Lexicon id="tiny" label="Tiny English" language="en" email="nobody@example.org"
  license="https://example.org/licence" version="1">
<LexicalEntry id="tiny-entity-n"><Lemma writtenForm="entity" partOfSpeech="n"/>
  <Sense id="tiny-entity-1" synset="tiny-1-n"/></LexicalEntry>
<LexicalEntry id="tiny-person-n"><Lemma writtenForm="person" partOfSpeech="n"/><Form writtenForm="people"/>
  <Sense id="tiny-person-1" synset="tiny-2-n"/></LexicalEntry>
<LexicalEntry id="tiny-teacher-n"><Lemma writtenForm="teacher" partOfSpeech="n"/>
  <Sense id="tiny-teacher-1" synset="tiny-3-n"><Count>20</Count></Sense></LexicalEntry>
<LexicalEntry id="tiny-instructor-n"><Lemma writtenForm="instructor" partOfSpeech="n"/>
  <Sense id="tiny-instructor-1" synset="tiny-3-n"/></LexicalEntry>
<LexicalEntry id="tiny-coach-n"><Lemma writtenForm="coach" partOfSpeech="n"/>
  <Sense id="tiny-coach-1" synset="tiny-4-n"><Count>7</Count></Sense>
  <Sense id="tiny-coach-2" synset="tiny-5-n"/></LexicalEntry>
<LexicalEntry id="tiny-wheel-n"><Lemma writtenForm="wheel" partOfSpeech="n"/>
  <Sense id="tiny-wheel-1" synset="tiny-6-n"/></LexicalEntry>
<LexicalEntry id="tiny-socrates-n"><Lemma writtenForm="Socrates" partOfSpeech="n"/>
  <Sense id="tiny-socrates-1" synset="tiny-7-n"/></LexicalEntry>
<LexicalEntry id="tiny-teach-v"><Lemma writtenForm="teach" partOfSpeech="v"/>
  <Sense id="tiny-teach-1" synset="tiny-8-v"/></LexicalEntry>
<Synset id="tiny-1-n" ili="i1" partOfSpeech="n"><Definition>what exists</Definition></Synset>
<Synset id="tiny-2-n" ili="i2" partOfSpeech="n"><Definition>a human being</Definition>
  <SynsetRelation relType="hypernym" target="tiny-1-n"/></Synset>
<Synset id="tiny-3-n" ili="i3" partOfSpeech="n" members="tiny-teacher-1 tiny-instructor-1">
  <Definition>a person whose occupation is teaching</Definition>
  <SynsetRelation relType="hypernym" target="tiny-2-n"/><Example>she is a good teacher</Example></Synset>
<Synset id="tiny-4-n" ili="i4" partOfSpeech="n"><Definition>someone who trains a team</Definition>
  <SynsetRelation relType="hypernym" target="tiny-3-n"/></Synset>
<Synset id="tiny-5-n" ili="i5" partOfSpeech="n">
  <SynsetRelation relType="hypernym" target="tiny-1-n"/><SynsetRelation relType="mero_part" target="tiny-6-n"/></Synset>
<Synset id="tiny-6-n" ili="i6" partOfSpeech="n"><Definition>a round thing that turns</Definition>
  <SynsetRelation relType="hypernym" target="tiny-1-n"/></Synset>
<Synset id="tiny-7-n" ili="i7" partOfSpeech="n"><Definition>an ancient Athenian philosopher</Definition>
  <SynsetRelation relType="instance_hypernym" target="tiny-3-n"/></Synset>
<Synset id="tiny-8-v" ili="i8" partOfSpeech="v"><Definition>impart skills</Definition></Synset>
</Lexicon>
"""

SPANISH = """<Lexicon id="diminuto" label="Diminuto" language="es" email="nobody@example.org"
  license="https://example.org/licence" version="2"><Requires id="tiny" version="1"/>
<LexicalEntry id="dim-entidad-n"><Lemma writtenForm="entidad" partOfSpeech="n"/>
  <Sense id="dim-entidad-1" synset="dim-1-n"/></LexicalEntry>
<LexicalEntry id="dim-entrenador-n"><Lemma writtenForm="entrenador" partOfSpeech="n"/>
  <Sense id="dim-entrenador-1" synset="dim-4-n"/></LexicalEntry>
<LexicalEntry id="dim-maestro-n"><Lemma writtenForm="maestro" partOfSpeech="n"/>
  <Sense id="dim-maestro-1" synset="dim-3-n"/></LexicalEntry>
<Synset id="dim-1-n" ili="i1" partOfSpeech="n"/>
<Synset id="dim-3-n" ili="i3" partOfSpeech="n"><Definition>persona que enseña</Definition></Synset>
<Synset id="dim-4-n" ili="i4" partOfSpeech="n"/>
</Lexicon>
"""

ORPHANS = """<Lexicon id="orphans" label="Orphans" language="en" email="nobody@example.org"
  license="https://example.org/licence" version="1">
<LexicalEntry id="o-cat-n"><Lemma writtenForm="cat" partOfSpeech="n"/>
  <Sense id="o-cat-1" synset="o-1-n"/></LexicalEntry>
<LexicalEntry id="o-dog-n"><Lemma writtenForm="dog" partOfSpeech="n"/>
  <Sense id="o-dog-1" synset="o-2-n"/></LexicalEntry>
<Synset id="o-1-n" ili="" partOfSpeech="n"/>
<Synset id="o-2-n" ili="" partOfSpeech="n"/>
</Lexicon>
"""

VERBS = """<Lexicon id="verbs" label="Verbs" language="en" email="nobody@example.org"
  license="https://example.org/licence" version="1">
<LexicalEntry id="v-go-v"><Lemma writtenForm="go" partOfSpeech="v"/><Sense id="v-go-1" synset="v-1-v"/></LexicalEntry>
<Synset id="v-1-v" ili="" partOfSpeech="v"/>
</Lexicon>
"""


def install(folder: Path, *lexicons: str) -> Path:
    """Add lexicons to a data folder of wn, leaving wn's own setting as it was."""
    folder.mkdir(exist_ok=True)
    before = wn.config.database_path.parent
    wn.config.data_directory = folder
    try:
        for number, lexicon in enumerate(lexicons):
            path = folder / f"{number}.xml"
            path.write_text(HEAD + lexicon + "</LexicalResource>\n", encoding="utf-8")
            wn.add(path, progress_handler=None)
    finally:
        wn.config.data_directory = before
    return folder


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("wn"), ENGLISH, SPANISH, ORPHANS, VERBS)


def test_nouns_with_names_links_and_relations(installed: Path) -> None:
    tiny = load_wn("tiny:1", folder=installed)
    assert tiny.name == "Tiny English 1"
    assert list(tiny.ids) == [f"tiny-{i}-n" for i in range(1, 8)]
    assert tiny.synonyms("tiny-3-n") == ["teacher", "instructor"]
    assert tiny.label(tiny.root) == "entity"
    assert tiny.labels(tiny.subsumers("Socrates")) == ["entity", "person", "teacher", "Socrates"]
    assert tiny.labels(tiny.related("Socrates", "instance")) == ["teacher"]
    assert tiny.related("coach#1", "instance").tolist() == []
    assert tiny.labels(tiny.related("coach#2", "part")) == ["wheel"]
    assert list(tiny.tables["ili"]) == [f"i{i}" for i in range(1, 8)]
    assert tiny.info["licence"] == "https://example.org/licence"


def test_senses_keep_their_order_and_counts(installed: Path) -> None:
    tiny = load_wn("tiny:1", folder=installed)
    assert [tiny.id(c) for c in tiny.senses_of("coach")] == ["tiny-4-n", "tiny-5-n"]
    assert tiny.senses is not None
    assert tiny.sense_counts is not None
    term = list(tiny.terms).index("coach")
    assert tiny.sense_counts[tiny.senses.starts[term] : tiny.senses.starts[term + 1]].tolist() == [7, 0]
    assert exceptions(tiny) == {"people": ("person",)}


def test_glosses_are_shown_and_packed(installed: Path) -> None:
    tiny = load_wn("tiny:1", folder=installed)
    assert gloss(tiny, "teacher") == 'a person whose occupation is teaching; "she is a good teacher"'
    assert gloss(tiny, "coach#2") is None
    assert explain(tiny, "coach#1") == "coach: someone who trains a team"
    assert explain(tiny, "coach#2") == "coach, a kind of entity"
    assert gloss_words(tiny, "coach#1").tolist() == word_ids(tiny, "training teams")


def test_a_language_without_links_borrows_them(installed: Path) -> None:
    spanish = load_wn("diminuto:2", folder=installed)
    assert list(spanish.ids) == ["dim-1-n", "dim-3-n", "dim-4-n", "i2"]
    assert spanish.labels(spanish.subsumers("entrenador")) == ["entidad", "maestro", "entrenador", "person"]
    assert spanish.label(spanish.parents[spanish.code("maestro")][0]) == "person"
    assert gloss(spanish, "maestro") == "persona que enseña"
    assert gloss(spanish, "i2") == "a human being"
    assert [spanish.tables["gloss vocabulary"][i] for i in gloss_words(spanish, "maestro")] == [
        "persona",
        "que",
        "enseña",
    ]
    assert len(word_ids(spanish, "Persona")) == 1


def test_saved_and_loaded_it_is_the_same(installed: Path, tmp_path: Path) -> None:
    tiny = load_wn("tiny", folder=installed)
    tiny.save(tmp_path / "tiny.taxonomy")
    again = type(tiny).load(tmp_path / "tiny.taxonomy")
    assert list(again.ids) == list(tiny.ids)
    assert gloss(again, "teacher") == gloss(tiny, "teacher")
    assert [again.id(c) for c in again.senses_of("coach")] == ["tiny-4-n", "tiny-5-n"]


def test_several_roots_are_joined_only_if_asked(installed: Path) -> None:
    with pytest.raises(BadTaxonomy, match=r"2 roots .*join_roots=True"):
        load_wn("orphans:1", folder=installed)
    joined = load_wn("orphans:1", folder=installed, join_roots=True)
    assert sorted(joined.labels(joined.children[joined.root])) == ["cat", "dog"]
    assert gloss_words(joined, joined.root).tolist() == []
    assert gloss(joined, joined.root) is None


def test_progress_is_told(installed: Path) -> None:
    heard = []
    load_wn("tiny:1", folder=installed, listener=heard.append)
    assert {event.name for event in heard} == {"words", "concepts"}


def test_the_setting_of_wn_is_left_as_it_was(installed: Path) -> None:
    before = wn.config.database_path
    load_wn("tiny:1", folder=installed)
    with pytest.raises(BadTaxonomy):
        load_wn("nothing:1", folder=installed)
    assert wn.config.database_path == before


def test_an_unknown_wordnet_names_the_download(installed: Path) -> None:
    with pytest.raises(BadTaxonomy, match=r"'oewn:2024' \(installed: .*tiny:1.*python -m wn .*download oewn:2024"):
        load_wn("oewn:2024", folder=installed)
    with pytest.raises(BadTaxonomy, match="several installed wordnets"):
        load_wn("*", folder=installed)
    with pytest.raises(BadTaxonomy, match="no nouns"):
        load_wn("verbs:1", folder=installed)


def test_nothing_installed_names_the_download_and_creates_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadTaxonomy, match="no wordnet is installed; run `python -m wn --dir"):
        load_wn("oewn:2024", folder=tmp_path / "nowhere")
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.write_text("no folder")
    with pytest.raises(BadTaxonomy, match="not a data folder"):
        load_wn("oewn:2024", folder=file)


def test_a_missing_lender_is_named(tmp_path: Path) -> None:
    folder = install(tmp_path / "wn", SPANISH)
    with pytest.raises(BadTaxonomy, match=r"takes its is-a links from tiny:1.*download tiny:1"):
        load_wn("diminuto:2", folder=folder)


def test_a_damaged_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "wn.db").write_bytes(b"this is no database at all" * 50)
    with pytest.raises(BadTaxonomy, match="cannot be read"):
        load_wn("tiny:1", folder=tmp_path)


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "wn", None)
    with pytest.raises(MissingExtra, match=r"pip install keepsense\[wn\]"):
        load_wn("oewn:2024")


def test_a_wordnet_of_another_language_is_read_from_its_file(tmp_path: Path) -> None:
    from keepsense.taxonomy.formats.taxonomy_formats import find_format, read_taxonomy

    file = tmp_path / "both.xml"
    file.write_text(HEAD + ENGLISH + SPANISH + "</LexicalResource>\n", encoding="utf-8")
    assert find_format(file) == "lmf"
    before = wn.config.database_path
    with pytest.raises(BadInput, match=r"lexicon: both\.xml holds 2 wordnets .*; say which with lexicon="):
        read_taxonomy(file)
    spanish = read_taxonomy(file, lexicon="diminuto:2")
    assert spanish.info["language"] == "es"
    assert spanish.is_a("entrenador", "entidad")
    assert wn.config.database_path == before
    file.write_text("<LexicalResource><Lexicon/></LexicalResource>", encoding="utf-8")
    with pytest.raises(BadTaxonomy, match=r"both\.xml: not a wordnet in LMF form"):
        read_taxonomy(file)
