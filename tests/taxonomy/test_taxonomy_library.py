"""The library: what ships inside, what each taxonomy knows, whose it is, and that it is what its source says."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from keepsense.errors import BadInput
from keepsense.taxonomy.embedded_taxonomies import EMBEDDED, embedded, exceptions, wordnet
from keepsense.taxonomy.formats import taxonomy_library
from keepsense.taxonomy.glosses import gloss, gloss_rows
from keepsense.taxonomy.lookup import lookup
from keepsense.taxonomy.taxonomy import Taxonomy

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "src" / "keepsense" / "taxonomy" / "data"


@pytest.mark.parametrize("name", EMBEDDED)
def test_every_embedded_taxonomy_has_one_root_a_licence_and_a_notice(name: str) -> None:
    taxonomy = taxonomy_library.find(name)
    assert taxonomy is taxonomy_library.find(name)
    assert (taxonomy.parents.sizes == 0).sum() == 1
    entry = EMBEDDED[name]
    assert entry.licence.split("(")[0].strip() in taxonomy.info["licence"]
    assert (DATA / entry.notice).read_text().strip()
    assert entry.notice in (ROOT / "NOTICE").read_text()
    facts = taxonomy_library.facts(name, taxonomy)
    assert facts["bytes"] == (DATA / f"{name}.taxonomy").stat().st_size < 4_000_000
    assert not gloss(taxonomy, taxonomy.root)  # no text of definitions ships
    with pytest.raises(BadInput, match="embedded"):
        taxonomy_library.check_name(name)


def test_wordnet_stays_the_first() -> None:
    assert taxonomy_library.names()[0] == taxonomy_library.WORDNET == "wordnet"
    assert wordnet().name == "WordNet 3.0"


def test_nothing_is_loaded_before_it_is_asked_for() -> None:
    code = (
        "from keepsense.taxonomy import embedded_taxonomies; "
        "from keepsense.taxonomy.formats import taxonomy_library; "
        "taxonomy_library.names(); print(embedded_taxonomies.embedded.cache_info().currsize)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


@pytest.mark.parametrize(
    ("word", "above"),
    [
        ("smartphone", "cellular telephone"),
        ("COVID-19", "disease"),
        ("influencer", "person"),
        ("blogger", "person"),
        ("nurse", "health professional"),
        ("laptop", "computer"),
    ],
)
def test_open_english_wordnet_knows_words_of_today(word: str, above: str) -> None:
    words = embedded("oewn")
    answer = lookup(words).find(word)
    assert answer is not None
    assert answer.how in ("exact", "normalised")
    assert any(words.is_a(concept, above) for concept in answer.concepts)


def test_open_english_wordnet_is_as_deep_and_as_rich_as_wordnet() -> None:
    words = embedded("oewn")
    assert (len(words), words.id(words.root), words.label(words.root)) == (71_873, "00001740-n", "entity")
    assert len(words.parents.indices) == 74_237
    assert exceptions(words)["mice"] == ("mouse",)
    assert len(gloss_rows(words)) == len(words)
    assert "accelerator" in words.labels(words.related("car", "part"))
    assert words.sense_counts is not None
    assert int(words.sense_counts.sum()) > 90_000
    assert [words.describe(f"coach#{i}") for i in (1, 2)] == [wordnet().describe(f"coach#{i}") for i in (1, 2)]


def script(name: str) -> object:
    spec = importlib.util.spec_from_file_location(name, ROOT / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.data
def test_open_english_wordnet_is_what_its_sources_say(shared_data: Path) -> None:
    """The synsets of one source file, read as plain lines: all are there, under their names and parents."""
    import tarfile

    archive = shared_data / "open_english_wordnet" / "nouns.tar.xz"
    with tarfile.open(archive) as tar:
        file = tar.extractfile("yaml/noun.food.yaml")
        assert file is not None
        lines = file.read().decode().splitlines()
    words = embedded("oewn")
    key = field = ""
    checked = 0
    for line in lines:
        if not line.startswith((" ", "-")):
            key = line.rstrip(":")
        elif line.startswith("  ") and line.endswith(":") and line[2] not in " -":
            field = line.strip(" :")
        elif line.startswith("  - ") and field == "hypernym":
            assert words.code(line[4:]) in words.parents[words.code(key)]
            checked += 1
        elif line.startswith("  - ") and field == "members" and not line.startswith("  - '"):
            assert line[4:] in words.synonyms(key)
            checked += 1
    assert checked > 5_000


def test_the_compile_script_reads_entries_of_either_case(tmp_path: Path) -> None:
    import tarfile

    source = tmp_path / "yaml"
    source.mkdir()
    (source / "noun.Tops.yaml").write_text(
        "1-n:\n  definition: [all]\n  members: [entity]\n"
        "2-n:\n  definition: [a bird]\n  hypernym: [1-n]\n  members: [turkey]\n"
        "3-n:\n  definition: [a land]\n  example:\n  - {text: no way, source: x}\n"
        "  hypernym: [1-n]\n  members: [Turkey]\n"
    )
    (source / "entries-t.yaml").write_text(
        "Turkey:\n  n:\n    sense:\n    - {id: 'turkey%1:15:00::', synset: 3-n}\n"
        "turkey:\n  n:\n    form: [turkies]\n    sense:\n    - {id: 'turkey%1:05:00::', synset: 2-n}\n"
        "  v:\n    sense:\n    - {id: 'turkey%2:05:00::', synset: 9-v}\n"
        "entity:\n  n:\n    sense:\n    - {id: 'entity%1:03:00::', synset: 1-n}\n"
    )
    counts = tmp_path / "cntlist.rev"
    counts.write_text("turkey%1:05:00:: 1 2\nturkey%1:15:00:: 2 9\n")
    archive = tmp_path / "nouns.tar.xz"
    with tarfile.open(archive, "w:xz") as tar:
        tar.add(source, "yaml")
    output = tmp_path / "small.taxonomy"
    assert script("compile_oewn").main([str(archive), str(output), "--counts", str(counts)]) == 0  # type: ignore[attr-defined]
    small = Taxonomy.load(output)
    assert [small.id(c) for c in small.senses_of("turkey").tolist()] == ["3-n", "2-n"]  # the one tagged more often
    assert [small.id(c) for c in small.senses_of("Turkey").tolist()] == ["3-n"]
    assert exceptions(small) == {"turkies": ("turkey",)}
    assert np.asarray(small.sense_counts).sum() == 2 * 9 + 2
