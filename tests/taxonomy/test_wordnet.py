"""The embedded WordNet: what it holds, that it is what the database says, and that it compiles to the same bytes."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks._nltk import WNDB, reader

from keepsense.taxonomy.embedded_taxonomies import exceptions, wordnet
from keepsense.taxonomy.glosses import explain, gloss, gloss_rows, gloss_words, word_ids
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.taxonomy.word_forms import content_words, stem

ROOT = Path(__file__).resolve().parents[2]
EMBEDDED = ROOT / "src" / "keepsense" / "taxonomy" / "data" / "wordnet.taxonomy"


@pytest.fixture(scope="module")
def database() -> Path:
    """The database files the embedded file was compiled from."""
    if not (WNDB / "data.noun").exists() or b"WordNet 3.0 Copyright" not in (WNDB / "data.noun").read_bytes()[:4000]:
        pytest.skip("needs the database files of WordNet 3.0 (Debian's wordnet-base, or the folder named by WNDB)")
    return WNDB


def names_of_senses(taxonomy: Taxonomy) -> dict[str, set[int]]:
    """Concepts of each name, case ignored as WordNet's index does."""
    found: dict[str, set[int]] = {}
    for concept in taxonomy:
        for name in taxonomy.synonyms(concept):
            found.setdefault(name.lower(), set()).add(concept)
    return found


@pytest.mark.golden
def test_the_published_statistics_of_wordnet_nouns() -> None:
    """The numbers of WordNet 3.0's manual page wnstats: words, synsets, senses, and how many words are ambiguous."""
    senses = names_of_senses(wordnet())
    assert len(wordnet()) == 82_115
    assert len(senses) == 117_798
    assert sum(map(len, senses.values())) == 146_312
    assert sum(len(row) == 1 for row in senses.values()) == 101_863
    assert sum(len(row) > 1 for row in senses.values()) == 15_935
    assert sum(len(row) for row in senses.values() if len(row) > 1) == 44_449


def test_one_root_and_the_shape_of_the_graph() -> None:
    nouns = wordnet()
    assert np.flatnonzero(nouns.parents.sizes == 0).tolist() == [nouns.root]
    assert (nouns.id(nouns.root), nouns.label(nouns.root)) == ("00001740-n", "entity")
    assert nouns.max_depth == 20
    assert nouns.labels(np.flatnonzero(nouns.depth == 20)) == ["rock hind"]
    assert len(nouns.parents.indices) == 84_427
    assert {kind: len(rows.indices) for kind, rows in nouns.relations.items()} == {
        "instance": 8_577,
        "part": 9_097,
        "member": 12_293,
        "substance": 797,
    }
    assert wordnet() is nouns


def test_instances_are_told_apart_from_kinds() -> None:
    nouns = wordnet()
    paris = nouns.code("Paris")
    assert nouns.labels(nouns.related(paris, "instance")) == ["national capital"]
    assert set(nouns.related(paris, "instance")) <= set(nouns.parents[paris])
    assert not len(nouns.related("coach#1", "instance"))
    for concept in range(0, len(nouns), 17):
        assert set(nouns.related(concept, "instance")) <= set(nouns.parents[concept])


def test_meronyms_lead_from_the_whole_to_its_parts() -> None:
    nouns = wordnet()
    assert "accelerator" in nouns.labels(nouns.related("car", "part"))
    assert "tree" in nouns.labels(nouns.related("forest#1", "member"))
    assert "oxygen" in nouns.labels(nouns.related("water#1", "substance"))
    assert not len(nouns.related("accelerator", "part"))


def test_senses_in_wordnets_order() -> None:
    nouns = wordnet()
    assert [nouns.id(c) for c in nouns.senses_of("coach")] == [
        "09931640-n",
        "09931418-n",
        "03895866-n",
        "03055670-n",
        "02924116-n",
    ]
    assert [nouns.describe(f"coach#{i}") for i in (1, 2, 5)] == [
        "coach (manager, handler), a kind of trainer",
        "coach (private instructor, tutor), a kind of teacher",
        "bus (autobus, coach, charabanc, double-decker), a kind of public transport",
    ]
    assert nouns.describe("education#4") == "education, a kind of profession"
    assert nouns.id("math teacher") == "10302446-n"
    assert nouns.get("coach#6") is None
    assert nouns.code("turkey#2") == nouns.code("Turkey") != nouns.code("turkey")
    assert nouns.code("pm#1") == nouns.code("PM") != nouns.code("Pm")


def test_any_spelling_in_lower_case_is_one_entry() -> None:
    """What a mapping that ignores case relies on: lower-cased names either are names, or belong to one spelling."""
    terms = list(wordnet().terms)
    spellings: dict[str, list[str]] = {}
    for term in terms:
        spellings.setdefault(term.lower(), []).append(term)
    assert all(len(row) == 1 or lower in row for lower, row in spellings.items())
    assert len(spellings) == 117_798


def test_sense_counts_fit_their_senses() -> None:
    nouns = wordnet()
    assert nouns.senses is not None
    assert nouns.sense_counts is not None
    assert len(nouns.sense_counts) == len(nouns.senses.indices)
    term = list(nouns.terms).index("coach")
    assert nouns.sense_counts[nouns.senses.starts[term] : nouns.senses.starts[term + 1]].tolist() == [20, 0, 0, 0, 0]


def test_irregular_plurals() -> None:
    found = exceptions(wordnet())
    assert found["mice"] == ("mouse",)
    assert found["children"] == ("child",)
    assert found["axes"] == ("ax", "axis")
    assert found["amici curiae"] == ("amicus curiae",)
    assert exceptions(from_edges([("cat", "animal")])) == {}


def test_glosses_are_words_without_text() -> None:
    nouns = wordnet()
    rows = gloss_rows(nouns)
    assert len(rows) == len(nouns)
    assert rows.sizes.min() >= 0
    words = nouns.tables["gloss vocabulary"]
    assert rows.indices.max() == len(words) - 1
    assert set(nouns.tables) == {"gloss vocabulary", "exception forms", "exception bases"}
    assert [words[i] for i in gloss_words(nouns, "math teacher")] == ["teach", "mathematic"]
    assert gloss(nouns, "coach#1") is None
    assert explain(nouns, "coach#1") == nouns.describe("coach#1")
    assert set(gloss_words(nouns, "coach#1")) & set(word_ids(nouns, "Athletes"))


@pytest.mark.parametrize(
    "forms",
    [
        "teach teaches teaching taught",
        "family families",
        "study studies studied studying",
        "plan plans planned planning",
        "glass glasses",
        "box boxes boxed",
        "size sizes sizing",
        "person persons people person's",
        "happy happily",
        "speed speeding",
    ],
)
def test_forms_of_one_word_have_one_stem(forms: str) -> None:
    assert len({stem(form) for form in forms.split()}) == 1


def test_different_words_keep_different_stems() -> None:
    words = "teach teacher string spring king sing red seed species analysis famous gas glass bus"
    assert len({stem(word) for word in words.split()}) == len(words.split())


def test_content_words_leave_out_what_tells_nothing() -> None:
    assert content_words("") == []
    assert content_words("It is the one, of 1999, that WE have: x y z") == []
    assert content_words('Ménage à trois; e.g. "a man\'s best-known DOGS"') == [
        "ménag",
        "trois",
        "man",
        "best",
        "know",
        "dog",
    ]


def test_it_compiles_to_the_same_bytes(database: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = importlib.util.spec_from_file_location("compile_wordnet", ROOT / "scripts" / "compile_wordnet.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    again = tmp_path / "again.taxonomy"
    assert script.main([str(database), str(again)]) == 0
    assert "82,115 concepts" in capsys.readouterr().out
    compiled, embedded = Taxonomy.load(again), wordnet()
    assert list(compiled.ids) == list(embedded.ids)
    assert list(compiled.terms) == list(embedded.terms)
    np.testing.assert_array_equal(gloss_rows(compiled).indices, gloss_rows(embedded).indices)
    if "ng" in zlib.ZLIB_RUNTIME_VERSION:
        pytest.skip("the content is the same; its packing is not compared, as this Python packs with zlib-ng")
    assert again.read_bytes() == EMBEDDED.read_bytes()


def test_the_script_names_what_is_wrong(tmp_path: Path) -> None:
    command = [
        sys.executable,
        str(ROOT / "scripts" / "compile_wordnet.py"),
        str(tmp_path / "none"),
        str(tmp_path / "o"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("compile_wordnet: none: no such folder")
    assert not (tmp_path / "o").exists()


def test_agreement_with_nltk_on_random_synsets(database: Path, tmp_path: Path) -> None:
    found = reader(tmp_path)
    if found is None:
        pytest.skip("needs NLTK")
    peer: Any = found
    nouns = wordnet()
    counts = {}
    assert nouns.senses is not None
    assert nouns.sense_counts is not None
    for position, term in enumerate(nouns.terms):
        where = slice(nouns.senses.starts[position], nouns.senses.starts[position + 1])
        for concept, count in zip(nouns.senses.indices[where], nouns.sense_counts[where], strict=True):
            counts[term, int(concept)] = int(count)

    def ids(synsets: Any) -> list[str]:
        return sorted(f"{s.offset():08}-n" for s in synsets if s.pos() == "n")

    for concept in map(int, np.random.default_rng(11).choice(len(nouns), 250, replace=False)):
        theirs = peer.synset_from_pos_and_offset("n", int(nouns.id(concept)[:8]))
        assert nouns.synonyms(concept) == [name.replace("_", " ") for name in theirs.lemma_names()]
        above = theirs.hypernyms() + theirs.instance_hypernyms()
        assert sorted(map(nouns.id, nouns.parents[concept].tolist())) == ids(above)
        for relation, meant in (
            ("instance", theirs.instance_hypernyms()),
            ("part", theirs.part_meronyms()),
            ("member", theirs.member_meronyms()),
            ("substance", theirs.substance_meronyms()),
        ):
            assert sorted(map(nouns.id, nouns.related(concept, relation).tolist())) == ids(meant)
        assert nouns.depth[concept] == theirs.max_depth() + 1
        assert nouns.min_depth[concept] == theirs.min_depth() + 1
        for lemma in theirs.lemmas():
            name = lemma.name().replace("_", " ")
            assert counts[name, concept] == lemma.count()
            if name.islower():
                ours = [nouns.id(c) for c in nouns.senses_of(name).tolist()]
                order = dict.fromkeys(f"{s.offset():08}-n" for s in peer.synsets(lemma.name(), "n"))
                assert [i for i in order if i in ours] == ours  # theirs also holds what a plural comes from


def test_it_loads_without_numba() -> None:
    code = "import sys; from keepsense.taxonomy.embedded_taxonomies import wordnet; wordnet().describe('coach#1'); "
    code += "print(sorted({'numba', 'nltk', 'wn', 'rapidfuzz'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_licence_is_beside_the_file() -> None:
    notice = (EMBEDDED.parent / "WORDNET-LICENSE.txt").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in notice
    assert wordnet().info["licence"].startswith("WordNet License")


def test_the_file_is_a_few_megabytes() -> None:
    assert EMBEDDED.stat().st_size < 4_000_000
