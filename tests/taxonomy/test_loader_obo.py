"""OBO files: what is read, what is left out, and how mistakes are told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.obo import read_obo
from keepsense.taxonomy.formats.obo_graph import read_obo_graph
from keepsense.taxonomy.taxonomy import Taxonomy

SAMPLE = """\
format-version: 1.4
data-version: releases/2024-01-01/pets.obo
default-namespace: pets
ontology: pets

[Term]
id: PET:1
name: animal
def: "A living thing." [url:http\\://example.org |broken\\:cross-reference]

[Term]
id: PET:2
name: cat
alt_id: PET:22
synonym: "feline" RELATED []
synonym: "kitty" EXACT [] {comment="of children"}
synonym: "mammal" BROAD []
synonym: "house cat" NARROW []
xref: MESH:D002415
is_a: PET:1 ! animal

[Term]
id: PET:3
name: tail
is_a: PET:1
relationship: part_of PET:2 ! cat
relationship: BFO:0000051 PET:1

[Term]
id: PET:4
name: pet
namespace: uses
is_a: PET:1

[Term]
id: PET:5
name: lap cat
is_a: PET:2
is_a: PET:4

[Term]
id: PET:9
name: gone
is_obsolete: true

[Typedef]
id: part_of
name: part of

[Typedef]
id: BFO:0000051
name: has part
"""


@pytest.fixture
def sample(tmp_path: Path) -> Path:
    place = tmp_path / "pets.obo"
    place.write_text(SAMPLE)
    return place


def write(tmp_path: Path, text: str | bytes) -> Path:
    place = tmp_path / "bad.obo"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def test_terms_links_names_and_relationships(sample: Path) -> None:
    t = read_obo(sample)
    assert list(t.ids) == ["PET:1", "PET:2", "PET:3", "PET:4", "PET:5"]
    assert t.synonyms("PET:2") == ["cat", "kitty", "feline", "house cat", "PET:22"]
    assert t.code("PET:22") == t.code("PET:2")
    assert [t.ids[p] for p in t.parents[t.code("PET:5")]] == ["PET:2", "PET:4"]
    assert t.labels(t.related("PET:3", "part_of")) == ["cat"]
    assert t.labels(t.related("PET:3", "has_part")) == ["animal"]
    assert t.info["obsolete terms left out"] == "1"
    assert t.info["version"] == "releases/2024-01-01/pets.obo"


def test_scopes_choose_the_synonyms(sample: Path) -> None:
    assert read_obo(sample, scopes=["BROAD"]).synonyms("PET:2") == ["cat", "mammal", "PET:22"]
    with pytest.raises(BadInput, match="scopes: 'WIDE' is no scope"):
        read_obo(sample, scopes=["WIDE"])


def test_one_namespace(sample: Path) -> None:
    t = read_obo(sample, namespace="pets")
    assert "PET:4" not in list(t.ids)
    assert t.labels(t.parents[t.code("PET:5")]) == ["cat"]
    assert t.info["terms of other namespaces left out"] == "1"
    with pytest.raises(BadTaxonomy, match="no term in the namespace 'plants'"):
        read_obo(sample, namespace="plants")


def test_windows_line_ends_and_a_byte_order_mark(tmp_path: Path, sample: Path) -> None:
    other = write(tmp_path, b"\xef\xbb\xbf" + SAMPLE.replace("\n", "\r\n").encode())
    assert list(read_obo(other).ids) == list(read_obo(sample).ids)


def test_the_disease_ontology(shared_data: Path) -> None:
    """11,647 terms of which 2,414 are obsolete, 10,880 is-a links, as its SOURCE.txt counts them."""
    t = read_obo(shared_data / "disease_ontology" / "doid.obo")
    assert len(t) == 11_647 - 2_414
    assert len(t.parents.indices) == 10_880
    assert t.info["obsolete terms left out"] == "2414"
    assert t.label(t.root) == "disease"
    assert t.synonyms("DOID:0001816")[:2] == ["angiosarcoma", "hemangiosarcoma"]
    assert t.code("DOID:267") == t.code("angiosarcoma")
    assert t.is_a("angiosarcoma", "vascular cancer")
    assert int((t.parents.sizes > 1).sum()) > 0


def million_lines() -> list[str]:
    lines = ["format-version: 1.2", "", "[Term]", "id: X:0", "name: root", ""]
    for i in range(1, 166_667):
        lines += ["[Term]", f"id: X:{i}", f"name: term {i}", 'def: "About it." []', f"is_a: X:{i // 9}", ""]
    return lines


@pytest.mark.long
def test_a_million_lines_with_one_bad_line_name_the_line(tmp_path: Path) -> None:
    lines = million_lines()
    assert len(lines) > 1_000_000
    lines[800_004] = "is_a X:12"
    with pytest.raises(BadTaxonomy, match=r"bad\.obo: line 800005 is not valid OBO .*'is_a X:12'"):
        read_obo(write(tmp_path, "\n".join(lines)))


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (8, "name cat"),
        (8, "isa: PET:1"),
        (8, "is_a:"),
        (8, 'synonym: "unclosed EXACT []'),
        (8, "just words"),
        (1, "hello world"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: int, text: str) -> None:
    lines = ["format-version: 1.2", "", "[Term]", "id: P:1", "name: animal", "", "[Term]", "id: P:2", ""]
    lines.insert(line - 1 if line == 1 else line, text)
    number = lines.index(text) + 1
    with pytest.raises(BadTaxonomy, match=f"line {number} is not valid OBO"):
        read_obo(write(tmp_path, "\n".join(lines) + "\n"))


def test_a_broken_encoding_names_line_and_byte(tmp_path: Path) -> None:
    raw = SAMPLE.encode()
    place = raw.index(b"feline")
    with pytest.raises(BadTaxonomy, match=rf"line {raw[:place].count(10) + 1} is not valid utf-8 \(byte {place} "):
        read_obo(write(tmp_path, raw[:place] + b"\xff" + raw[place + 1 :]))


def test_a_broken_encoding_far_into_a_file_names_line_and_byte(tmp_path: Path) -> None:
    raw = SAMPLE.encode() + b"! a comment line of some length\n" * 80_000 + b"! caf\xe9\n"
    assert len(raw) > 1 << 21
    with pytest.raises(BadTaxonomy, match=rf"line {raw.count(10)} is not valid utf-8 \(byte {len(raw) - 2} "):
        read_obo(write(tmp_path, raw))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("format-version: 1.2\n", "defines no term; is this an OBO file"),
        ("format-version: 1.2\n\n[Term]\nid: A:1\nis_obsolete: true\n", "no term that is not obsolete"),
        ("format-version: 1.2\n\n[Term]\nid: A:1\n\n[Term]\nid: A:1\n", "'A:1' occurs more than once"),
        ("format-version: 1.2\n\n[Term]\nid: A:1\n\n[Term]\nid: A:2\n", "2 roots.*join_roots=True"),
        ("[Term]\nid: A:1\nis_a: A:2\n\n[Term]\nid: A:2\nis_a: A:1\n", "cycle: 'A:1' -> 'A:2' -> 'A:1'"),
        ("[Term]\nid: A:1\nis_a: A:1\n", "'A:1' is its own parent"),
        ("[Term]\nid: A:1\nis_a: A:7\n", "'A:1' is_a 'A:7', which is defined nowhere"),
        ("[Term]\nid: A:1\nis_a: A:2\n\n[Term]\nid: A:2\nis_obsolete: true\n", "'A:2', which is obsolete"),
    ],
)
def test_what_is_no_taxonomy_is_refused_by_name(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=message):
        read_obo(write(tmp_path, text))


def test_several_roots_are_joined_if_asked(tmp_path: Path) -> None:
    place = write(tmp_path, "format-version: 1.2\n\n[Term]\nid: A:1\n\n[Term]\nid: A:2\n")
    t = read_obo(place, join_roots=True, root_label="all")
    assert t.label(t.root) == "all"
    assert t.labels(t.children[t.root]) == ["A:1", "A:2"]


def test_unknown_parents_are_dropped_or_added_if_asked(tmp_path: Path) -> None:
    place = write(tmp_path, "[Term]\nid: A:1\n\n[Term]\nid: A:2\nis_a: A:1\nis_a: B:7\n")
    assert list(read_obo(place, unknown_parents="drop").ids) == ["A:1", "A:2"]
    with pytest.raises(BadTaxonomy, match="2 roots"):
        read_obo(place, unknown_parents="add")
    t = read_obo(place, unknown_parents="add", join_roots=True)
    assert t.is_a("A:2", "B:7")
    with pytest.raises(BadInput, match="unknown_parents: 'keep'"):
        read_obo(place, unknown_parents="keep")  # type: ignore[arg-type]


def iri(number: int) -> str:
    return f"http://purl.obolibrary.org/obo/PET_{number}"


def graph(tmp_path: Path) -> Path:
    nodes = [{"id": iri(i), "lbl": lbl, "type": "CLASS"} for i, lbl in enumerate(["animal", "cat", "lap cat"])]
    nodes[1]["meta"] = {"synonyms": [{"pred": "hasExactSynonym", "val": "kitty"}]}  # type: ignore[assignment]
    nodes.append({"id": iri(9), "lbl": "gone", "type": "CLASS", "meta": {"deprecated": True}})  # type: ignore[dict-item]
    nodes.append({"id": "http://purl.obolibrary.org/obo/BFO_0000050", "lbl": "part of", "type": "PROPERTY"})
    edges = [{"sub": iri(1), "pred": "is_a", "obj": iri(0)}, {"sub": iri(2), "pred": "is_a", "obj": iri(1)}]
    edges.append({"sub": iri(2), "pred": "http://purl.obolibrary.org/obo/BFO_0000050", "obj": iri(0)})
    place = tmp_path / "pets.json"
    place.write_text(json.dumps({"graphs": [{"id": "http://example.org/pets.owl", "nodes": nodes, "edges": edges}]}))
    return place


def test_an_obo_graph(tmp_path: Path) -> None:
    t: Taxonomy = read_obo_graph(graph(tmp_path))
    assert list(t.ids) == ["PET:0", "PET:1", "PET:2"]
    assert t.synonyms("PET:1") == ["cat", "kitty"]
    assert t.is_a("lap cat", "animal")
    assert t.labels(t.related("lap cat", "part_of")) == ["animal"]
    assert t.info["obsolete terms left out"] == "1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "has no 'graphs'"),
        ("[]", "has no 'graphs'"),
        ('{"graphs":\n [', "line 2 is not valid JSON"),
        ('{"graphs": 3}', "'graphs' is not a list of objects"),
        ("[" * 50_000, "not valid JSON"),
        ('{"graphs": [{"nodes": 3}]}', "'nodes' is not a list"),
        ('{"graphs": [{"nodes": [{"id": 3}]}]}', "'id' is not text"),
        ('{"graphs": []}', "defines no term"),
        ('{"graphs": [{"nodes": [{"id": "A", "lbl": "half \\ud800"}]}]}', "half a surrogate pair"),
        (
            '{"graphs": [{"nodes": [{"id": "A"}], "edges": [{"sub": "A", "pred": "is_a", "obj": "B"}]}]}',
            "defined nowhere",
        ),
    ],
)
def test_a_broken_obo_graph(tmp_path: Path, text: str, message: str) -> None:
    place = tmp_path / "bad.json"
    place.write_text(text)
    with pytest.raises(BadTaxonomy, match=rf"bad\.json: .*{message}"):
        read_obo_graph(place)
