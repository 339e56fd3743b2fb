"""The Open Directory's structure: RDF as it was published, and a table of categories."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.formats.open_directory import read_open_directory

STRUCTURE = """<?xml version='1.0' encoding='UTF-8' ?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/" xmlns="http://dmoz.org/rdf/">
  <!-- Generated at 2009-11-16 00:05:50 GMT from DMOZ 2.0 -->
  <Topic r:id="">
    <catid>1</catid>
  </Topic>
  <Topic r:id="Top/Arts">
    <catid>2</catid>
    <d:Title>Arts</d:Title>
    <narrow2 r:resource="Top/Arts/Arts_and_Crafts"/>
    <narrow r:resource="Top/Arts/Animation"/>
    <symbolic r:resource="Typography:Top/Computers/Fonts"/>
    <altlang r:resource="German:Top/World/Deutsch/Kultur"/>
  </Topic>
  <Alias r:id="Typography:Top/Computers/Fonts">
    <d:Title>Typography</d:Title>
    <Target r:resource="Top/Computers/Fonts"/>
  </Alias>
  <Topic r:id="Top/Computers/Fonts">
    <catid>3</catid>
    <d:Title>Fonts</d:Title>
    <related r:resource="Top/Arts/Animation"/>
  </Topic>
</RDF>
"""


def write(tmp_path: Path, text: str | bytes, name: str = "structure.rdf.u8") -> Path:
    place = tmp_path / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def test_the_structure(tmp_path: Path) -> None:
    t = read_open_directory(write(tmp_path, STRUCTURE))
    assert sorted(t.ids) == [
        "Top",
        "Top/Arts",
        "Top/Arts/Animation",
        "Top/Arts/Arts_and_Crafts",
        "Top/Computers",
        "Top/Computers/Fonts",
    ]
    assert t.label("Top/Arts/Arts_and_Crafts") == "Arts and Crafts"
    assert sorted(t.labels(t.subsumers("Fonts").tolist())) == ["Computers", "Fonts", "Top"]
    assert [t.ids[c] for c in t.related("Top/Arts", "symbolic")] == ["Top/Computers/Fonts"]
    assert [t.ids[c] for c in t.related("Top/Computers/Fonts", "related")] == ["Top/Arts/Animation"]


def test_the_table_of_categories(shared_data: Path) -> None:
    """5,159 categories: 15 top, 487 second and 4,656 third level ones, as its SOURCE.txt counts them."""
    t = read_open_directory(shared_data / "open_directory" / "odp_categories.tsv")
    assert len(t) == 5_159
    assert [int((t.depth == level).sum()) for level in (1, 2, 3, 4)] == [1, 15, 487, 4_656]
    assert t.label("Top/Arts/Animation") == "Animation"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("<RDF/>", "holds no Topic"),
        ("<RDF>\n<Topic>", "line 2 is not well-formed XML"),
        (STRUCTURE.encode().replace(b"Fonts</d:Title>", b"Caf\xe9</d:Title>"), "line 21 is not well-formed XML"),
        (
            '<!DOCTYPE RDF [<!ENTITY c "&a;"><!ENTITY a "b">]><RDF/>',
            "builds an entity from '&a;', which is not declared",
        ),
        ("path\tparent\tlabel\nTop\t\tTop\nTop/A\tTop\tA\nTop/B/C\tTop/B\tC\n", "line 4 names the parent 'Top/B'"),
        (b"path\tparent\tlabel\nTop\t\tCaf\xe9\n", "line 2 is not valid utf-8"),
    ],
)
def test_broken_files_are_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=rf"structure\.rdf\.u8: .*{message}"):
        read_open_directory(write(tmp_path, text))


def test_an_old_table_in_latin_1(tmp_path: Path) -> None:
    place = write(tmp_path, "path\tparent\tlabel\nTop\t\tTop\nTop/Cafe\tTop\tCafé\n".encode("latin-1"), "odp.tsv")
    assert read_open_directory(place, encoding="latin-1").label("Top/Cafe") == "Café"
