"""Garbage and damaged files give a `KeepsenseError` or a taxonomy that can be saved: nothing else."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.errors import KeepsenseError
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, read_taxonomy

SKOS = "http://www.w3.org/2004/02/skos/core#"

SAMPLES: dict[str, bytes] = {
    "obo": b"format-version: 1.2\n\n[Term]\nid: A:1\nname: animal\n! note\n\n[Term]\nid: A:2\nname: cat\n"
    b'synonym: "kitty" EXACT []\nis_a: A:1 ! animal\nrelationship: part_of A:1\n\n'
    b"[Typedef]\nid: part_of\nname: part of\n",
    "obo-graph": b'{"graphs": [{"nodes": [{"id": "A", "lbl": "a", "type": "CLASS", "meta": {"synonyms": [{"pred":'
    b' "hasExactSynonym", "val": "k"}]}}], "edges": []}]}',
    "rdf": f'@prefix s: <{SKOS}> .\n<http://x/a> s:broader <http://x/b> ; s:prefLabel "a"@en, """b""" .\n'.encode(),
    "owl": b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:owl="http://www.w3.org/2002/07/owl#"'
    b' xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"><owl:Class rdf:about="http://x/a"><rdfs:subClassOf'
    b' rdf:resource="http://x/b"/><rdfs:label>a</rdfs:label></owl:Class></rdf:RDF>',
    "skos": f'{{"@context": {{"s": "{SKOS}"}}, "@id": "http://x/a", "s:broader": {{"@id": "http://x/b"}}}}'.encode(),
    "mesh": b'<?xml version="1.0"?><DescriptorRecordSet><DescriptorRecord><DescriptorUI>D1</DescriptorUI>'
    b"<DescriptorName><String>Body</String></DescriptorName><TreeNumberList><TreeNumber>A01</TreeNumber></TreeNumberList>"
    b"</DescriptorRecord></DescriptorRecordSet>",
    "open-directory": b'<RDF xmlns:r="http://www.w3.org/TR/RDF/"><Topic r:id="Top/A"><narrow r:resource="Top/A/B"/>'
    b"</Topic></RDF>",
    "edges": b'child,parent,label\ncat,animal,"Cat"\ndog,animal,Dog\n',
    "paths": b"path\nA/B/C\nA/D\n",
    "nested": b"level2;level1;root\nham;meat;*\npork;pork;*\n",
    "prefixes": b"code,title\n31-33,Making\n325,Chemicals\n",
    "keepsense": b"KEEPSENSE-TAXONOMY 1\n\x10\x00\x00\x00\x00\x00\x00\x00" + b'{"sections": []}',
}
OPTIONS: dict[str, dict[str, object]] = {"prefixes": {"scheme": "naics"}}
FILES = sorted(set(LOADERS) - {"snomed", "wordnet", "wn", "icd-10-cm"})


def attempt(raw: bytes, format: str | None, name: str = "x") -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / name
        place.write_bytes(raw)
        try:
            taxonomy = read_taxonomy(place, format, **OPTIONS.get(format or "", {}))
        except KeepsenseError as error:
            message = str(error)
        else:
            message = "read"
            taxonomy.save(Path(folder) / "saved")
        assert message
        assert folder not in message


@settings(max_examples=60, deadline=None)
@given(
    st.binary(max_size=200),
    st.sampled_from([None, *FILES]),
    st.sampled_from(["x", "x.csv", "x.obo", "x.ttl", "x.json"]),
)
def test_random_bytes(raw: bytes, format: str | None, name: str) -> None:
    attempt(raw, format, name)


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=100), st.sampled_from([None, *FILES]), st.sampled_from(["x.csv", "x.txt", "x.nt"]))
def test_random_text(text: str, format: str | None, name: str) -> None:
    attempt(text.encode("utf-8", "surrogatepass"), format, name)


PIECES = [
    b"\\",
    b'"',
    b"<",
    b"&",
    b"{",
    b"[",
    b":",
    b"\n",
    b"\0",
    b"\xff",
    b"!",
    b"\r",
    b";",
    b",",
    b"@",
    b"(",
    b"_:",
    b"/",
]


def damaged(raw: bytes, rng: random.Random) -> bytes:
    data = bytearray(raw)
    for _ in range(rng.choice([1, 1, 2, 4])):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(4)
        if kind == 0:
            data[at : at + 1] = bytes([rng.randrange(256)])
        elif kind == 1:
            del data[at : at + rng.randrange(1, 20)]
        elif kind == 2:
            data[at:at] = rng.choice(PIECES)
        else:
            start = rng.randrange(len(data) + 1)
            data[at:at] = data[start : start + rng.randrange(30)]
    return bytes(data)


@pytest.mark.parametrize("format", SAMPLES)
@settings(max_examples=40, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_damaged_files(format: str, rng: random.Random) -> None:
    raw = damaged(SAMPLES[format], rng)
    attempt(raw, format)
    attempt(raw, None)


@pytest.mark.parametrize("format", sorted(set(SAMPLES) - {"keepsense"}))
def test_the_undamaged_samples_are_read(format: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "x"
        place.write_bytes(SAMPLES[format])
        assert len(read_taxonomy(place, format, **OPTIONS.get(format, {}))) > 0


@settings(max_examples=25, deadline=None)
@given(rng=st.randoms(use_true_random=False))
def test_damaged_snapshots(rng: random.Random) -> None:
    files = {
        "sct2_Concept_Snapshot_INT_1.txt": b"id\teffectiveTime\tactive\tmoduleId\tdefinitionStatusId\n"
        b"1\t1\t1\t1\t1\n2\t1\t1\t1\t1\n",
        "sct2_Description_Snapshot-en_INT_1.txt": b"id\teffectiveTime\tactive\tmoduleId\tconceptId\tlanguageCode\t"
        b"typeId\tterm\tcaseSignificanceId\n5\t1\t1\t1\t1\ten\t900000000000013009\troot\t1\n",
        "sct2_Relationship_Snapshot_INT_1.txt": b"id\teffectiveTime\tactive\tmoduleId\tsourceId\tdestinationId\t"
        b"relationshipGroup\ttypeId\tcharacteristicTypeId\tmodifierId\n7\t1\t1\t1\t2\t1\t0\t116680003\t900000000000011006\t1\n",
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, raw in files.items():
            (Path(folder) / name).write_bytes(raw)
        assert len(read_taxonomy(folder)) == 2
        name = rng.choice(sorted(files))
        (Path(folder) / name).write_bytes(damaged(files[name], rng))
        try:
            read_taxonomy(folder).save(Path(folder) / "saved")
        except KeepsenseError as error:
            message = str(error)
        else:
            message = "read"
        assert message
        assert folder not in message
