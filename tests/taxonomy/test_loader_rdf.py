"""OWL, RDFS and SKOS in four syntaxes: what is read, and that nothing is fetched or blown up on the way."""

from __future__ import annotations

import socket
import ssl  # noqa: F401  (it needs sockets while it is imported, which the tests refuse)
from pathlib import Path

import pytest

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.rdf import read_rdf
from keepsense.taxonomy.taxonomy import Taxonomy

PETS = """\
<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [
  <!ENTITY owl "http://www.w3.org/2002/07/owl#" >
  <!ENTITY obo "http://purl.obolibrary.org/obo/" >
]>
<rdf:RDF xml:base="http://example.org/pets.owl" xmlns="http://example.org/pets.owl#" xmlns:owl="&owl;"
  xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
  xmlns:oboInOwl="http://www.geneontology.org/formats/oboInOwl#">
  <owl:Ontology rdf:about="http://example.org/pets.owl">
    <owl:imports rdf:resource="http://localhost:9/never-fetched.owl"/>
  </owl:Ontology>
  <owl:ObjectProperty rdf:about="&obo;BFO_0000050"><rdfs:label>part of</rdfs:label></owl:ObjectProperty>
  <owl:Class rdf:about="&obo;PET_1">
    <rdfs:label xml:lang="de">Tier</rdfs:label><rdfs:label xml:lang="en">animal</rdfs:label>
    <rdfs:subClassOf rdf:resource="&owl;Thing"/>
  </owl:Class>
  <owl:Class rdf:about="&obo;PET_2">
    <rdfs:label>cat</rdfs:label>
    <oboInOwl:hasExactSynonym>kitty</oboInOwl:hasExactSynonym>
    <oboInOwl:hasBroadSynonym>mammal</oboInOwl:hasBroadSynonym>
    <rdfs:subClassOf rdf:resource="&obo;PET_1"/>
  </owl:Class>
  <owl:Class rdf:about="&obo;PET_3">
    <rdfs:label>tail</rdfs:label>
    <rdfs:subClassOf rdf:resource="&obo;PET_1"/>
    <rdfs:subClassOf><owl:Restriction>
      <owl:onProperty rdf:resource="&obo;BFO_0000050"/><owl:someValuesFrom rdf:resource="&obo;PET_2"/>
    </owl:Restriction></rdfs:subClassOf>
  </owl:Class>
  <owl:Class rdf:about="#NobleCat">
    <owl:equivalentClass><owl:Class><owl:intersectionOf rdf:parseType="Collection">
      <rdf:Description rdf:about="&obo;PET_2"/>
      <owl:Restriction>
        <owl:onProperty rdf:resource="&obo;BFO_0000050"/><owl:someValuesFrom rdf:resource="&obo;PET_3"/>
      </owl:Restriction>
    </owl:intersectionOf></owl:Class></owl:equivalentClass>
  </owl:Class>
  <owl:Class rdf:about="#Stray"><owl:intersectionOf rdf:parseType="Collection">
    <rdf:Description rdf:about="&obo;PET_2"/>
  </owl:intersectionOf></owl:Class>
  <owl:Class rdf:about="#Feline"><owl:equivalentClass rdf:resource="&obo;PET_2"/>
    <rdfs:subClassOf rdf:resource="&obo;PET_1"/></owl:Class>
  <owl:Class rdf:about="&obo;PET_9">
    <owl:deprecated rdf:datatype="http://www.w3.org/2001/XMLSchema#boolean">true</owl:deprecated>
    <rdfs:subClassOf rdf:resource="&obo;PET_1"/>
  </owl:Class>
</rdf:RDF>
"""

THESAURUS = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix : <http://example.org/> .
:scheme a skos:ConceptScheme ; skos:prefLabel "Work and play"@en .
:work a skos:Concept ; skos:prefLabel "work"@en, "trabajo"@es ; skos:topConceptOf :scheme ; skos:narrower :teaching .
:play a skos:Concept ; skos:prefLabel "play"@en-GB ; skos:topConceptOf :scheme ; skos:related :work .
:teaching a skos:Concept ; skos:prefLabel "teaching"@en ; skos:altLabel "instruction"@en, "docencia"@es .
:coaching a skos:Concept ; skos:prefLabel "coaching" ; skos:broader :teaching, :play .
"""

SKOS = "http://www.w3.org/2004/02/skos/core#"


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a loader asked for the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


def write(tmp_path: Path, name: str, text: str | bytes) -> Path:
    place = tmp_path / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def parents(t: Taxonomy, concept: str) -> list[str]:
    return sorted(t.labels(t.parents[t.code(concept)].tolist()))


def test_owl_in_rdf_xml(tmp_path: Path) -> None:
    t = read_rdf(write(tmp_path, "pets.owl", PETS))
    assert t.synonyms("PET:2") == ["cat", "kitty"]
    assert t.label(t.root) == "animal"
    assert parents(t, "http://example.org/pets.owl#NobleCat") == ["cat"]
    assert parents(t, "Stray") == ["cat"]
    assert parents(t, "Feline") == ["animal"]
    assert t.synonyms("NobleCat") == ["NobleCat", "Noble Cat"]
    assert t.labels(t.related("tail", "part_of")) == ["cat"]
    assert t.labels(t.related("NobleCat", "part_of")) == ["tail"]
    assert "PET:9" not in list(t.ids)
    assert t.info["deprecated classes left out"] == "1"


def test_rdfs_classes(tmp_path: Path) -> None:
    text = """@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix : <http://example.org/#> .
    :cat a rdfs:Class ; rdfs:subClassOf :animal . :dog rdfs:subClassOf :animal . :animal rdfs:label "animal" ."""
    t = read_rdf(write(tmp_path, "pets.ttl", text))
    assert t.label(t.root) == "animal"
    assert sorted(t.labels(t.leaves().tolist())) == ["cat", "dog"]


def test_skos_labels_links_and_scheme(tmp_path: Path) -> None:
    place = write(tmp_path, "work.ttl", THESAURUS)
    with pytest.raises(BadTaxonomy, match=r"2 roots.*join_roots=True"):
        read_rdf(place)
    t = read_rdf(place, join_roots=True)
    assert t.label(t.root) == "Work and play"
    assert t.synonyms("teaching") == ["teaching", "instruction"]
    assert parents(t, "coaching") == ["play", "teaching"]
    assert parents(t, "teaching") == ["work"]
    assert t.labels(t.related("play", "related")) == ["work"]


def test_skos_in_another_language(tmp_path: Path) -> None:
    t = read_rdf(write(tmp_path, "work.ttl", THESAURUS), language="es", join_roots=True)
    teaching = "http://example.org/teaching"
    assert t.label("http://example.org/work") == "trabajo"
    # No Spanish label: one in another language is better than none; synonyms stay Spanish.
    assert t.synonyms(teaching) == ["teaching", "docencia"]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.nt", f'<http://x/cat> <{SKOS}broader> <http://x/animal> .\n<http://x/cat> <{SKOS}prefLabel> "cat"@en .\n'),
        (
            "a.jsonld",
            f'{{"@context": {{"skos": "{SKOS}"}}, "@graph": [{{"@id": "http://x/cat", "skos:broader":'
            ' {"@id": "http://x/animal"}, "skos:prefLabel": {"@value": "cat", "@language": "en"}}]}',
        ),
        (
            "a.rdf",
            f'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:s="{SKOS}"><s:Concept'
            ' rdf:about="http://x/cat"><s:broader rdf:resource="http://x/animal"/><s:prefLabel>cat</s:prefLabel>'
            "</s:Concept></rdf:RDF>",
        ),
        ("a", f'PREFIX s: <{SKOS}>\n<http://x/cat> s:broader <http://x/animal> ; s:prefLabel "cat" .\n'),
    ],
)
def test_the_other_syntaxes(tmp_path: Path, name: str, text: str) -> None:
    t = read_rdf(write(tmp_path, name, text))
    assert sorted(t.ids) == ["http://x/animal", "http://x/cat"]
    assert t.label("http://x/cat") == "cat"
    assert t.is_a("cat", "animal")


def test_the_same_ontology_in_every_syntax_is_the_same_taxonomy(tmp_path: Path) -> None:
    rdflib = pytest.importorskip("rdflib")
    owl = write(tmp_path, "pets.owl", PETS)
    graph = rdflib.Graph().parse(owl, format="xml")
    want = read_rdf(owl)
    for syntax, ending in (("turtle", "ttl"), ("nt11", "nt"), ("json-ld", "jsonld")):
        place = tmp_path / f"pets.{ending}"
        graph.serialize(place, format=syntax, encoding="utf-8")
        got = read_rdf(place)
        assert sorted(got.ids) == sorted(want.ids)
        for key in want.ids:
            assert sorted(got.synonyms(key)) == sorted(want.synonyms(key))
            assert parents(got, key) == parents(want, key)
            assert sorted(got.labels(got.related(key, "part_of"))) == sorted(want.labels(want.related(key, "part_of")))


def test_ids_do_not_depend_on_where_the_file_lies(tmp_path: Path) -> None:
    text = f"@prefix s: <{SKOS}> . <#cat> s:broader <#animal> ."
    (tmp_path / "sub").mkdir()
    one, two = write(tmp_path, "a.ttl", text), write(tmp_path / "sub", "b.ttl", text)
    assert list(read_rdf(one).ids) == list(read_rdf(two).ids)


NESTED = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [<!ENTITY base "http://example.org/"><!ENTITY pets "&base;pets#">
  <!ENTITY rdfs "http://www.w3.org/2000/01/rdf-schema#"><!ENTITY owl "http://www.w3.org/2002/07/owl#">]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="&rdfs;" xmlns:owl="&owl;">
  <owl:Class rdf:about="&pets;cat"><rdfs:subClassOf rdf:resource="&pets;animal"/></owl:Class>
</rdf:RDF>"""


def test_entities_built_from_entities_are_written_out_within_bounds(tmp_path: Path) -> None:
    t = read_rdf(write(tmp_path, "nested.owl", NESTED))
    assert set(t.ids) == {"http://example.org/pets#cat", "http://example.org/pets#animal"}


XL = """@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix xl: <http://www.w3.org/2008/05/skos-xl#> .
@prefix : <http://example.org/> .
:animal a skos:Concept ; skos:prefLabel "animal"@en .
:c1 a skos:Concept ; skos:broader :animal ; xl:prefLabel :l1, :l2 ; xl:altLabel [ xl:literalForm "puss"@en ] ;
    skos:notation "C.1"^^:code .
:c2 a skos:Concept ; skos:broader :animal ; skos:notation "C.2" .
:l1 a xl:Label ; xl:literalForm "cat"@en .
:l2 a xl:Label ; xl:literalForm "gato"@es .
"""


def test_labels_of_skos_xl_and_notations_are_names(tmp_path: Path) -> None:
    t = read_rdf(write(tmp_path, "xl.ttl", XL))
    assert t.synonyms("http://example.org/c1")[:3] == ["cat", "puss", "C.1"]
    assert t.label("http://example.org/c2") == "C.2"
    assert t.code("C.1") == t.code("cat")
    spanish = read_rdf(write(tmp_path, "xl.ttl", XL), language="es")
    assert spanish.label("http://example.org/c1") == "gato"


def test_a_taxonomy_knows_the_language_of_its_labels(tmp_path: Path) -> None:
    german = XL.replace("@en", "@de")
    assert "language" not in read_rdf(write(tmp_path, "xl.ttl", XL)).info
    assert read_rdf(write(tmp_path, "xl.ttl", german)).info["language"] == "de"
    assert read_rdf(write(tmp_path, "xl.ttl", german.replace("@de", "")), language="de").info["language"] == "de"


# ---- hostile and broken files ------------------------------------------------------------------------------------

BOMB = "<!DOCTYPE r [" + '<!ENTITY l0 "lol">'
BOMB += "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10)) + "]><r>&l9;</r>"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (BOMB, r"declares the entity 'l\d' with more than a short text"),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><r>&x;</r>', "content of another file or address"),
        ('<!DOCTYPE r [<!ENTITY x SYSTEM "http://localhost:9/x">]><r>&x;</r>', "content of another file or address"),
        ('<!DOCTYPE r [<!ENTITY % x SYSTEM "http://localhost:9/x">%x;]><r/>', "parameter entity 'x'"),
        ('<!DOCTYPE r [<!ENTITY % x "y">]><r/>', "parameter entity 'x'"),
        ('<!DOCTYPE r SYSTEM "http://localhost:9/x.dtd"><r/>', "document type in another file or on the network"),
        (f'<!DOCTYPE r [<!ENTITY x "{"a" * 500}">]><r>&x;</r>', "more than a short text"),
        (
            '<!DOCTYPE r [<!ENTITY x "a &#38;#60; b">]><r>&x;</r>',
            "builds an entity from '&#60;', which is not declared",
        ),
        ('<!DOCTYPE r [<!ENTITY x "&#60;b/>">]><r>&x;</r>', "more than a short text"),
        ('<!DOCTYPE r [<!ATTLIST r a CDATA "much">]><r/>', "attribute 'a' a default value"),
        ("<!DOCTYPE r [" + "".join(f'<!ENTITY x{i} "a">' for i in range(101)) + "]><r/>", "more than 100 entities"),
        ("<r><unclosed></r>", "line 1 is not well-formed XML"),
        ("<r", "line 1 is not well-formed XML"),
        ('<?xml version="1.0" encoding="klingon"?><r/>', "names an encoding that cannot be read"),
        ("<r/>", "holds no class"),
    ],
)
def test_hostile_xml_is_refused_before_it_is_parsed(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=rf"bad\.owl: .*{message}"):
        read_rdf(write(tmp_path, "bad.owl", text))


@pytest.mark.parametrize(
    "context",
    ['"http://localhost:9/context.jsonld"', '["context.jsonld"]', '{"@import": "http://localhost:9/c"}',
     '{"a": {"@id": "http://x/a", "@context": "http://localhost:9/c"}}'],
)  # fmt: skip
def test_json_ld_contexts_elsewhere_are_not_fetched(tmp_path: Path, context: str) -> None:
    with pytest.raises(BadTaxonomy, match="its JSON-LD context lies elsewhere and is never fetched"):
        read_rdf(write(tmp_path, "bad.jsonld", f'{{"@context": {context}, "@id": "http://x/cat"}}'))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("e.ttl", "", "the file is empty"),
        ("e.ttl", b"\xff\xfa\x00", "is not valid utf-8"),
        ("e.ttl", "@prefix : <http://x/> .\n\n:a :b ;;; . oops", "not valid turtle in line 3"),
        ("e.ttl", "@prefix : <http://x/> .\n:a :b", "ends in the middle"),
        ("e.ttl", "[" * 20_000, "nested too deeply"),
        ("e.nt", f"<http://x/a> <{SKOS}broader> <http://x/b> .\n<http://x/a> oops\n", "not valid n-triples in line 2"),
        ("e.jsonld", '{"a":\n [}', "line 2 is not valid JSON"),
        ("e.jsonld", "[" * 20_000, "not valid JSON"),
        ("e.jsonld", "[]", "holds no class"),
        ("e.bin", "nothing of the kind", "cannot tell how this RDF is written; give syntax="),
    ],
)
def test_broken_files_are_named_with_the_place(tmp_path: Path, name: str, text: str | bytes, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=rf"{name}: .*{message}"):
        read_rdf(write(tmp_path, name, text))


def test_a_cycle_is_named(tmp_path: Path) -> None:
    text = f"@prefix s: <{SKOS}> . <http://x/a> s:broader <http://x/b> . <http://x/b> s:broader <http://x/a> ."
    with pytest.raises(BadTaxonomy, match="cycle: 'http://x/a' -> 'http://x/b' -> 'http://x/a'"):
        read_rdf(write(tmp_path, "a.ttl", text))


def test_options_are_checked(tmp_path: Path) -> None:
    place = write(tmp_path, "work.ttl", THESAURUS)
    with pytest.raises(BadInput, match="vocabulary: 'rdfs'"):
        read_rdf(place, vocabulary="rdfs")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="syntax: 'n3' is not one of 'turtle'"):
        read_rdf(place, syntax="n3")
    with pytest.raises(BadTaxonomy, match="holds no class"):
        read_rdf(place, vocabulary="owl")


def test_a_missing_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    from keepsense.errors import MissingExtra

    monkeypatch.setitem(sys.modules, "rdflib", None)
    with pytest.raises(MissingExtra, match=r"keepsense\[rdf\]"):
        read_rdf(write(tmp_path, "work.ttl", THESAURUS))
