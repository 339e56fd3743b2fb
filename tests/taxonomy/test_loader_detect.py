"""`read_taxonomy`: the format is found by looking, named in errors, and never guessed where it could be wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, find_format, read_taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

SKOS = "http://www.w3.org/2004/02/skos/core#"
RDF = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'

SAMPLES: dict[str, tuple[str, str]] = {
    # By content alone: these files have no telling name.
    "obo": ("x", "! a comment\nformat-version: 1.2\n\n[Term]\nid: A:1\n"),
    "obo without a header": ("x", "[Term]\nid: A:1\n"),
    "obo-graph": ("x", '{"graphs": [{"nodes": [{"id": "A", "lbl": "a"}]}]}'),
    "mesh xml": (
        "x",
        '<?xml version="1.0"?><!DOCTYPE DescriptorRecordSet SYSTEM "x.dtd"><DescriptorRecordSet><DescriptorRecord>'
        "<DescriptorUI>D1</DescriptorUI><TreeNumberList><TreeNumber>A01</TreeNumber></TreeNumberList>"
        "</DescriptorRecord></DescriptorRecordSet>",
    ),
    "mesh ascii": ("x", "*NEWRECORD\nRECTYPE = D\nMH = Body\nMN = A01\nUI = D1\n"),
    "open-directory": (
        "x",
        '<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns="http://dmoz.org/rdf/"><Topic r:id="Top/Arts"/></RDF>',
    ),
    "rdf xml": ("x", f'<rdf:RDF {RDF} xmlns:s="{SKOS}"><s:Concept rdf:about="http://x/a"/></rdf:RDF>'),
    "rdf turtle": ("x", f"# a comment\n@prefix s: <{SKOS}> .\n<http://x/a> a s:Concept ."),
    "rdf sparql-style turtle": ("x", f"PREFIX s: <{SKOS}>\n<http://x/a> a s:Concept ."),
    "rdf triples": ("x", f"<http://x/a> <{SKOS}broader> <http://x/b> .\n"),
    "rdf json-ld": ("x", f'[{{"@id": "http://x/a", "@type": "{SKOS}Concept"}}]'),
    "edges": ("x.csv", "child,parent\na,b\n"),
    "edges with other words": ("x.tsv", "code\tbroader\tlabel\na\tb\tA\n"),
    "paths": ("x.csv", "path\na/b\n"),
    "paths in a list": ("x.txt", "a/b\na/c\n"),
    "nested": ("x.csv", "level_1,level_2\na,b\na,c\n"),
    "nested as in ARX": ("x.csv", "a;b;*\nc;b;*\n"),
}


def write(tmp_path: Path, name: str, text: str | bytes) -> Path:
    place = tmp_path / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


@pytest.mark.parametrize("sample", SAMPLES)
def test_formats_are_found_and_read(tmp_path: Path, sample: str) -> None:
    place = write(tmp_path, *SAMPLES[sample])
    assert find_format(place) == sample.split(" ")[0]
    assert len(read_taxonomy(place)) >= 1


def test_folders(tmp_path: Path) -> None:
    release, nouns = tmp_path / "release" / "Snapshot", tmp_path / "dict"
    release.mkdir(parents=True)
    nouns.mkdir()
    (release / "sct2_Concept_Snapshot_INT_20240101.txt").write_text("id\n")
    (nouns / "data.noun").write_text("")
    assert find_format(tmp_path / "release") == "snomed"
    assert find_format(nouns) == "wordnet"
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(BadTaxonomy, match=r"no SNOMED CT .* folder and no WordNet .*Known formats: keepsense"):
        read_taxonomy(empty)


def test_our_own_files(tmp_path: Path) -> None:
    pets = from_edges([("cat", "animal")])
    for compress in (False, True):
        pets.save(tmp_path / "pets.taxonomy", compress=compress)
        assert list(read_taxonomy(tmp_path / "pets.taxonomy").ids) == list(pets.ids)
        assert list(read_taxonomy(tmp_path / "pets.taxonomy", join_roots=True).ids) == list(pets.ids)
    with pytest.raises(BadInput, match="encoding: the format 'keepsense' has no such option; it has join_roots"):
        read_taxonomy(tmp_path / "pets.taxonomy", encoding="utf-8")


def test_parquet(tmp_path: Path) -> None:
    pq.write_table(pa.table({"child": ["a"], "parent": ["b"]}), tmp_path / "x")
    assert find_format(tmp_path / "x") == "edges"
    pq.write_table(pa.table({"u": ["a"], "v": ["b"]}), tmp_path / "x")
    with pytest.raises(BadTaxonomy, match="this is a table, but not how it holds a taxonomy"):
        read_taxonomy(tmp_path / "x")


def test_an_unknown_format_lists_the_known_ones(tmp_path: Path) -> None:
    for name, text in (
        ("x", b"\x7fELF\x00\x01\x02\xff"),
        ("x.bin", b"\x00" * 100),
        ("notes.md", b"# Hello\n\nwords\n"),
    ):
        with pytest.raises(BadTaxonomy) as caught:
            read_taxonomy(write(tmp_path, name, text))
        assert str(caught.value).startswith(f"{name}: the format is not recognised. Known formats: ")
        assert all(known in str(caught.value) for known in LOADERS)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("x", b"", "the file is empty"),
        ("x.csv", b"a,b\n1,2\n", "this is a table, but not how it holds a taxonomy; name its format: .*'edges'"),
        ("x.csv", b"caf\xe9,b\n", "line 1 is not valid utf-8"),
        ("x.txt", b"caf\xe9/b\n", "line 1 is not valid utf-8"),
        ("x.obo", b"hello", "line 1 is not valid OBO"),
        ("x.ttl", b"hello", "not valid turtle"),
        ("x", b"<html><body/></html>", "its first XML element, 'html', is of no known format"),
        ("x", b'<Ontology xmlns="http://www.w3.org/2002/07/owl#"/>', "OWL/XML cannot be read; save it as RDF/XML"),
        ("x", b"Prefix(:=<http://x/>)\nOntology(<http://x/>)", "functional or Manchester syntax cannot be read"),
        ("x", b"\x1f\x8b\x08\x00\x00", r"compressed \(gzip\)"),
    ],
)
def test_what_cannot_be_read_is_told(tmp_path: Path, name: str, text: bytes, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=rf"{name}: .*{message}"):
        read_taxonomy(write(tmp_path, name, text))


def test_a_table_of_people_is_not_taken_for_a_taxonomy(shared_data: Path) -> None:
    for name in ("adult/adult.csv", "groceries/groceries_baskets.csv", "chicago_homicide/homicide.csv"):
        with pytest.raises(BadTaxonomy, match="this is a table, but not how it holds a taxonomy"):
            read_taxonomy(shared_data / name)


def test_formats_and_options_by_name(tmp_path: Path) -> None:
    place = write(tmp_path, "x.csv", "a,b\n1,2\n")
    with pytest.raises(BadInput, match=r"no taxonomy format is called 'edge'.* Did you mean edges"):
        read_taxonomy(place, "edge")
    with pytest.raises(BadInput, match=r"join_root: the format 'edges' has no such option.* Did you mean join_roots"):
        read_taxonomy(place, "edges", join_root=True)
    assert len(read_taxonomy(place, "edges", header=False, join_roots=True)) == 5
    assert len(read_taxonomy(place, "nested", order="leaf-first", header=True)) == 2
    skos = write(tmp_path, "y.ttl", f"@prefix s: <{SKOS}> .\n<http://x/a> a s:Concept .")
    assert len(read_taxonomy(skos, "skos")) == 1
    with pytest.raises(BadTaxonomy, match="holds no class"):
        read_taxonomy(skos, "owl")


def test_the_encoding_counts_when_looking(tmp_path: Path) -> None:
    place = write(tmp_path, "x.csv", "child,parent\ncafé,place\n".encode("latin-1"))
    assert read_taxonomy(place, encoding="latin-1").label("café") == "café"


def test_real_files_are_found(shared_data: Path) -> None:
    want = {
        "disease_ontology/doid.obo": "obo",
        "icd9cm/icd9cm_dx_tree.csv": "edges",
        "open_directory/odp_categories.tsv": "edges",
        "groceries/groceries_hierarchy.csv": "nested",
        "adult/adult_hierarchy_occupation.csv": "nested",
    }
    assert {name: find_format(shared_data / name) for name in want} == want


def test_importing_the_loaders_imports_no_heavy_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys, keepsense.taxonomy.formats, keepsense.taxonomy.taxonomy_union;"
        "print([m for m in ('numba', 'rdflib', 'pyarrow', 'scipy', 'fastobo', 'pandas', 'simple_icd_10_cm')"
        " if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_loader_says_what_it_reads_and_where_that_is_explained() -> None:
    root = Path(__file__).parents[2]
    extras = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for name, loader in LOADERS.items():
        assert loader.name == name
        assert loader.about
        assert (root / "docs" / "how-to" / f"{loader.page}.md").is_file(), name
        assert not loader.extra or loader.extra in extras, name
