"""MeSH descriptors in XML and ASCII: the same few records in both forms, in the real layouts."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.formats.mesh import read_mesh
from keepsense.taxonomy.taxonomy import Taxonomy

RECORDS = [
    ("D001829", "Body Regions", ["Body Region"], ["A01"]),
    ("D000005", "Abdomen", ["Abdomens"], ["A01.923.047"]),
    ("D060726", "Torso", ["Trunk"], ["A01.923"]),
    ("D009369", "Neoplasms", ["Cancer", "Tumors"], ["C04"]),
    ("D000008", "Abdominal Neoplasms", [], ["C04.588.033", "A01.923.047.111"]),
    ("D005260", "Female", [], []),
]

HEAD = """<?xml version="1.0"?>
<!DOCTYPE DescriptorRecordSet SYSTEM "https://www.nlm.nih.gov/databases/dtd/nlmdescriptorrecordset_20240101.dtd">
<DescriptorRecordSet LanguageCode = "eng">
"""


def xml(records: list[tuple[str, str, list[str], list[str]]] = RECORDS) -> str:
    parts = [HEAD]
    for key, label, others, places in records:
        terms = "".join(f"<Term><TermUI>T1</TermUI><String>{t}</String></Term>" for t in [label, *others])
        tree = "".join(f"<TreeNumber>{p}</TreeNumber>" for p in places)
        parts.append(
            f'<DescriptorRecord DescriptorClass = "1"><DescriptorUI>{key}</DescriptorUI><DescriptorName><String>{label}'
            "</String></DescriptorName><PharmacologicalActionList><PharmacologicalAction><DescriptorReferredTo>"
            "<DescriptorUI>D999999</DescriptorUI><DescriptorName><String>Not this</String></DescriptorName>"
            "</DescriptorReferredTo></PharmacologicalAction></PharmacologicalActionList>"
            + (f"<TreeNumberList>{tree}</TreeNumberList>" if places else "")
            + f"<ConceptList><Concept><ConceptName><String>{label}</String></ConceptName><TermList>{terms}</TermList>"
            "</Concept></ConceptList></DescriptorRecord>\n"
        )
    return "".join(parts) + "</DescriptorRecordSet>\n"


def ascii_text(records: list[tuple[str, str, list[str], list[str]]] = RECORDS) -> str:
    lines: list[str] = []
    for key, label, others, places in records:
        lines += ["*NEWRECORD", "RECTYPE = D", f"MH = {label}"]
        lines += [f"{'PRINT ENTRY' if i else 'ENTRY'} = {t}|T023|EQV|NLM (1994)|abcdef" for i, t in enumerate(others)]
        lines += [f"MN = {p}" for p in places] + ["MS = A scope note = with a sign.", f"UI = {key}", ""]
    lines += ["*NEWRECORD", "RECTYPE = Q", "SH = administration & dosage", "UI = Q000008", ""]
    return "\n".join(lines)


def write(tmp_path: Path, name: str, text: str | bytes) -> Path:
    place = tmp_path / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


@pytest.fixture(params=["xml", "ascii"])
def sample(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return write(tmp_path, "mesh", xml() if request.param == "xml" else ascii_text())


def parents(t: Taxonomy, concept: str) -> list[str]:
    return sorted(t.labels(t.parents[t.code(concept)].tolist()))


def test_descriptors_hang_where_their_tree_numbers_say(sample: Path) -> None:
    t = read_mesh(sample, join_roots=True)
    assert list(t.ids) == ["A", "C", "D001829", "D000005", "D060726", "D009369", "D000008", "MeSH"]
    assert parents(t, "Abdomen") == ["Torso"]
    assert parents(t, "Torso") == ["Body Regions"]
    assert parents(t, "Body Regions") == ["Anatomy"]
    # C04.588 is not in the file: the nearest tree number above it is.
    assert parents(t, "Abdominal Neoplasms") == ["Abdomen", "Neoplasms"]
    assert t.synonyms("D009369") == ["Neoplasms", "Cancer", "Tumors"]
    assert t.labels(t.children[t.root]) == ["Anatomy", "Diseases"]
    assert t.info["descriptors without a place left out"] == "1"
    assert "links given up to break cycles" not in t.info


def test_categories_are_joined_only_if_asked(sample: Path) -> None:
    with pytest.raises(BadTaxonomy, match=r"2 roots \('A', 'C'\).*join_roots=True"):
        read_mesh(sample)


def test_both_forms_are_the_same_taxonomy(tmp_path: Path) -> None:
    one = read_mesh(write(tmp_path, "desc.xml", xml()), join_roots=True)
    two = read_mesh(write(tmp_path, "d.bin", ascii_text()), join_roots=True)
    assert list(one.ids) == list(two.ids)
    assert [one.synonyms(c) for c in one] == [two.synonyms(c) for c in two]
    assert one.parents.indices.tolist() == two.parents.indices.tolist()


def test_the_document_type_is_not_fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a loader asked for the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert len(read_mesh(write(tmp_path, "desc.xml", xml()), join_roots=True)) == 8


def test_descriptors_above_each_other_lose_the_deeper_link(tmp_path: Path) -> None:
    """As in MeSH itself, where Ethics and Morals lie below each other in different trees."""
    records = [
        ("D1", "Humanities", list[str](), ["K01"]),
        ("D2", "Ethics", [], ["K01.316", "K01.500.100.200"]),
        ("D3", "Morals", [], ["K01.500.100", "K01.316.630.400.500"]),
        ("D4", "Principles", [], ["K01.316.630"]),
    ]
    t = read_mesh(write(tmp_path, "desc.xml", xml(records)))
    assert parents(t, "Ethics") == ["Humanities", "Morals"]
    assert parents(t, "Morals") == ["Humanities"]
    assert parents(t, "Principles") == ["Ethics"]
    assert t.info["links given up to break cycles"] == "1: D3 below D4"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        (HEAD + "</DescriptorRecordSet>", "holds no descriptor"),
        (HEAD + "<DescriptorRecord>", "line 4 is not well-formed XML"),
        ("<Something/>", "the first element is 'Something', not DescriptorRecordSet"),
        (
            '<!DOCTYPE DescriptorRecordSet [<!ENTITY a SYSTEM "file:///etc/passwd">]><DescriptorRecordSet/>',
            "another file",
        ),
        (xml([("", "Nameless", [], ["A01"])]), "'Nameless' has no id"),
        (xml([("D1", "One", [], ["A01"]), ("D2", "Two", [], ["A01"])]), "'A01' belongs to both D1 and D2"),
        (xml([("D1", "One", [], ["7.1"])]), "'7.1' is not a tree number"),
        (xml([("D1", "One", [], ["A01"]), ("D1", "Two", [], ["A02"])]), "'D1' occurs more than once"),
        ("MH = Abdomen\n", "line 1 is not valid MeSH ASCII"),
        ("*NEWRECORD\nMH = Abdomen\nwhat is this\n", "line 3 is not valid MeSH ASCII: 'what is this'"),
        (b"*NEWRECORD\nMH = Caf\xe9\n", "line 2 is not valid utf-8"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=f"bad: .*{message}"):
        read_mesh(write(tmp_path, "bad", text))


def test_a_descriptor_below_itself_loses_that_link(tmp_path: Path) -> None:
    t = read_mesh(write(tmp_path, "desc.xml", xml([("D1", "Nested", [], ["A01", "A01.100"])])))
    assert t.info["links given up to break cycles"] == "1: D1 below D1"
    assert parents(t, "Nested") == ["Anatomy"]


def test_an_old_encoding_can_be_named(tmp_path: Path) -> None:
    place = write(tmp_path, "d.bin", "*NEWRECORD\nRECTYPE = D\nMH = Ménière\nMN = C09\nUI = D1\n".encode("latin-1"))
    assert read_mesh(place, encoding="latin-1").label("D1") == "Ménière"
