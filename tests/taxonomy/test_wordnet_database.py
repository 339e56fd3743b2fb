"""A WordNet database folder in its real format, written small by the tests."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.embedded_taxonomies import exceptions
from keepsense.taxonomy.formats.wordnet_database import load_wndb
from keepsense.taxonomy.glosses import explain, gloss, gloss_words, word_ids
from keepsense.taxonomy.lookup import lookup

LICENCE = (
    "  1 This software and database is being provided to you, the LICENSEE, by  \n"
    "  2 WordNet 3.1 Copyright 2011 by Princeton University.  All rights reserved.  \n"
)


@dataclass(frozen=True)
class Synset:
    """One synset as the writer takes it: names with lexical ids, links as (symbol, number of the other synset)."""

    names: tuple[str, ...]
    links: tuple[tuple[str, int], ...] = ()
    gloss: str = "a gloss"
    file: int = 3


TINY = (
    Synset(("entity",), (), "that which is"),
    Synset(("person", "individual"), (("@", 0),), "a human being; \"there was too much for one person to do\""),
    Synset(("teacher", "instructor"), (("@", 1),), "a person whose occupation is teaching", 18),
    Synset(("coach", "manager"), (("@", 2),), "(sports) someone in charge of training an athlete or a team", 18),
    Synset(("coach", "bus"), (("@", 0), ("%p", 5)), "a vehicle carrying many passengers", 6),
    Synset(("wheel",), (("@", 0),), "a circular frame that rotates"),
    Synset(("turkey",), (("@", 0),), "a large bird"),
    Synset(("Turkey", "Republic_of_Turkey"), (("@i", 0), ("%m", 1), ("%s", 5)), "a country"),
    Synset(("turkey", "bomb"), (("@", 0), ("@", 5)), "an event that fails badly"),
)  # fmt: skip
INDEX = {"coach": (3, 4), "turkey": (6, 7, 8)}
EXCEPTIONS = "mice mouse\nattorneys_general attorney_general\naxes ax axis\n"
COUNTS = (
    "coach%1:18:00:: 1 20\ncoach%2:32:00:: 1 2\nturkey%1:03:00:: 1 2\nturkey%1:03:01:: 2 5\nRepublic%5:00:00:x:00 1 3\n"
)


def write(folder: Path, synsets: tuple[Synset, ...] = TINY, index: dict[str, tuple[int, ...]] = INDEX) -> Path:
    """Write a database folder; each synset's number is its byte offset in data.noun, as in the real one."""
    folder.mkdir(exist_ok=True)

    def lexical_id(name: str, position: int, file: int) -> int:
        before = (s for s in synsets[:position] if s.file == file)
        return sum(name.lower() in map(str.lower, s.names) for s in before)

    def lines(offsets: list[int]) -> list[str]:
        found = []
        for i, (synset, offset) in enumerate(zip(synsets, offsets, strict=True)):
            words = " ".join(f"{name} {lexical_id(name, i, synset.file):x}" for name in synset.names)
            links = "".join(f"{symbol} {offsets[other]:08} n 0000 " for symbol, other in synset.links)
            links = f"{len(synset.links) + 1:03} {links}+ 00012345 v 0101"
            found.append(f"{offset:08} {synset.file:02} n {len(synset.names):02x} {words} {links} | {synset.gloss}  \n")
        return found

    offsets = [0] * len(synsets)
    place = len(LICENCE.encode())
    for i, line in enumerate(lines(offsets)):
        offsets[i] = place
        place += len(line.encode())
    (folder / "data.noun").write_text(LICENCE + "".join(lines(offsets)), encoding="utf-8", newline="\n")
    order: dict[str, list[int]] = {name.lower(): [] for synset in synsets for name in synset.names}
    for i, synset in enumerate(synsets):
        for name in dict.fromkeys(n.lower() for n in synset.names):
            order[name].append(i)
    order |= {name: list(row) for name, row in index.items()}
    entries = "".join(
        f"{name} n {len(row)} 2 @ ~ {len(row)} 0 {' '.join(f'{offsets[i]:08}' for i in row)}  \n"
        for name, row in sorted(order.items())
    )
    (folder / "index.noun").write_text(LICENCE + entries, encoding="utf-8", newline="\n")
    (folder / "noun.exc").write_text(EXCEPTIONS)
    (folder / "cntlist.rev").write_text(COUNTS)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write(tmp_path / "dict")


def test_synsets_names_links_and_relations(folder: Path) -> None:
    tiny = load_wndb(folder)
    assert tiny.name == "WordNet 3.1"
    assert len(tiny) == len(TINY)
    raw = (folder / "data.noun").read_bytes()
    for code in tiny:
        assert raw[int(tiny.id(code)[:8]) :].startswith(tiny.id(code)[:8].encode())
    assert tiny.synonyms(7) == ["Turkey", "Republic of Turkey"]
    assert tiny.label(tiny.root) == "entity"
    assert tiny.parents[8].tolist() == [0, 5]
    assert {kind: [(c, rows[c].tolist()) for c in tiny if len(rows[c])] for kind, rows in tiny.relations.items()} == {
        "instance": [(7, [0])],
        "part": [(4, [5])],
        "member": [(7, [1])],
        "substance": [(7, [5])],
    }


def test_sense_order_is_that_of_the_index(folder: Path) -> None:
    write(folder, index={"coach": (4, 3)})
    tiny = load_wndb(folder)
    assert tiny.senses_of("coach").tolist() == [4, 3]
    assert tiny.code("coach#2") == 3


def test_spellings_that_differ_in_case(folder: Path) -> None:
    tiny = load_wndb(folder)
    assert tiny.senses_of("turkey").tolist() == [6, 7, 8]
    assert tiny.senses_of("Turkey").tolist() == [7]
    assert tiny.code("turkey#2") == tiny.code("Turkey") == 7


def test_a_lower_case_name_no_synset_is_written_with(tmp_path: Path) -> None:
    synsets = (Synset(("entity",)), Synset(("PM", "post"), (("@", 0),)), Synset(("Pm",), (("@", 0),)))
    tiny = load_wndb(write(tmp_path / "dict", synsets, {"pm": (2, 1)}))
    assert tiny.senses_of("pm").tolist() == [2, 1]
    assert tiny.senses_of("PM").tolist() == [1]
    assert tiny.synonyms(2) == ["Pm"]


def test_counts_belong_to_name_and_sense(folder: Path) -> None:
    tiny = load_wndb(folder)
    assert tiny.senses is not None
    assert tiny.sense_counts is not None
    found = {}
    for position, term in enumerate(tiny.terms):
        where = slice(tiny.senses.starts[position], tiny.senses.starts[position + 1])
        for concept, count in zip(tiny.senses.indices[where], tiny.sense_counts[where], strict=True):
            if count:
                found[term, int(concept)] = int(count)
    assert found == {("coach", 3): 20, ("turkey", 6): 2, ("turkey", 7): 5, ("Turkey", 7): 5}
    (folder / "cntlist.rev").unlink()
    without = load_wndb(folder)
    assert without.sense_counts is not None
    assert without.sense_counts.sum() == 0


def test_exceptions(folder: Path) -> None:
    assert exceptions(load_wndb(folder)) == {
        "mice": ("mouse",),
        "attorneys general": ("attorney general",),
        "axes": ("ax", "axis"),
    }


def test_glosses_as_text_and_as_words(folder: Path) -> None:
    tiny = load_wndb(folder)
    assert gloss(tiny, "person") == 'a human being; "there was too much for one person to do"'
    assert explain(tiny, "coach#2") == "coach, bus: a vehicle carrying many passengers"
    words = tiny.tables["gloss vocabulary"]
    assert [words[i] for i in gloss_words(tiny, 3)] == ["sport", "charg", "train", "athlet", "team"]
    assert gloss_words(tiny, 2).tolist() == word_ids(tiny, "persons' occupations: to teach")
    silent = load_wndb(folder, glosses=False)
    assert gloss(silent, "person") is None
    assert explain(silent, "coach#2") == "coach (bus), a kind of entity"
    assert gloss_words(silent, 3).tolist() == gloss_words(tiny, 3).tolist()


def test_windows_line_ends_and_names_beyond_ascii(folder: Path) -> None:
    data = (folder / "data.noun").read_bytes().replace(b" bus ", " ómnibus ".encode())
    (folder / "data.noun").write_bytes(data.replace(b"\n", b"\r\n"))
    index = (folder / "index.noun").read_bytes().replace(b"bus n", "ómnibus n".encode())
    (folder / "index.noun").write_bytes(index)
    tiny = load_wndb(folder)
    assert tiny.synonyms(4) == ["coach", "ómnibus"]
    assert gloss(tiny, 4) == "a vehicle carrying many passengers"


def test_a_folder_that_is_none_and_files_that_are_missing(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(BadTaxonomy, match="nowhere: no such folder"):
        load_wndb(tmp_path / "nowhere")
    (folder / "noun.exc").unlink()
    assert lookup(load_wndb(folder)).find("buses") is not None
    for name in ("index.noun", "data.noun"):
        (folder / name).unlink()
        with pytest.raises(BadTaxonomy, match=rf"{name}: the file cannot be read from the folder 'dict'"):
            load_wndb(folder)


BROKEN = [
    ("data.noun", "| a circular frame", "a circular frame", "line 8: not a synset"),
    ("data.noun", "n 02 coach 0 bus", "n 03 coach 0 bus", "line 7: not a synset"),
    ("data.noun", "n 02 coach 0 bus", "n zz coach 0 bus", "line 7: not a synset"),
    ("data.noun", "bus 0 003", "bus 0 004", "line 7: not a synset"),
    (
        "data.noun",
        "n 02 person 0 individual 0 002 @ ",
        "n 02 person 0 individual 0 002 @ 9",
        "line 4: a link @ leads to the synset 900000156",
    ),
    ("index.noun", "bus n 1 2", "bus n 2 2", "line 4: not a noun's entry"),
    ("index.noun", "bus n 1 2", "bus v 1 2", "line 4: not a noun's entry"),
    ("index.noun", "bus n 1 2", "bus n one 2", "line 4: not a noun's entry"),
    ("index.noun", "bomb n", "bus n", "line 4: not a noun's entry in WordNet's index format, or a second one"),
    ("noun.exc", "mice mouse", "mice", "line 1: an irregular form without its base"),
    ("cntlist.rev", "1 20", "20", "line 1: not a sense key"),
]


@pytest.mark.parametrize(("file", "old", "new", "message"), BROKEN)
def test_a_broken_line_is_named(folder: Path, file: str, old: str, new: str, message: str) -> None:
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(BadTaxonomy, match=re.escape(f"{file}, {message}")):
        load_wndb(folder)


def test_synsets_that_occur_twice_or_not_at_all(folder: Path) -> None:
    data = (folder / "data.noun").read_text()
    (folder / "data.noun").write_text(data + data.splitlines(keepends=True)[-1])
    with pytest.raises(BadTaxonomy, match=r"data.noun, line 12: the synset \d+ occurs a second time"):
        load_wndb(folder)
    (folder / "data.noun").write_text("".join(data.splitlines(keepends=True)[:-1]))
    with pytest.raises(BadTaxonomy, match=r"index.noun, line \d+: the synset \d+ is not in data.noun"):
        load_wndb(folder)
    (folder / "data.noun").write_text(LICENCE)
    with pytest.raises(BadTaxonomy, match="holds no synset"):
        load_wndb(folder)


def test_a_broken_encoding_is_named(folder: Path) -> None:
    data = (folder / "data.noun").read_bytes().replace(b"a large bird", b"a l\xe4rge bird")
    (folder / "data.noun").write_bytes(data)
    with pytest.raises(BadTaxonomy, match=r"data.noun, line 9: the line is not UTF-8"):
        load_wndb(folder)


def test_a_cycle_and_several_roots_are_refused(tmp_path: Path) -> None:
    top, low = Synset(("top",)), Synset(("low",), (("@", 2),))
    with pytest.raises(BadTaxonomy, match=r"form a cycle: '\d{8}-n' -> "):
        load_wndb(write(tmp_path / "a", (top, low, Synset(("lower",), (("@", 1),))), {}))
    with pytest.raises(BadTaxonomy, match="2 roots"):
        load_wndb(write(tmp_path / "b", (top, Synset(("other",))), {}))


names = st.text("abcXYZ'-._", min_size=1, max_size=6).filter(lambda t: t.strip("_."))


@st.composite
def databases(draw: st.DrawFn) -> tuple[Synset, ...]:
    synsets = [Synset(("entity",))]
    for i in range(1, draw(st.integers(2, 8))):
        own = draw(st.lists(names, min_size=1, max_size=3, unique_by=str.lower))
        parents = draw(st.sets(st.integers(0, i - 1), min_size=1, max_size=2))
        links = tuple((draw(st.sampled_from(["@", "@i"])), p) for p in sorted(parents))
        synsets.append(Synset(tuple(own), links, draw(st.text('ab |;"', max_size=9))))
    return tuple(synsets)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(databases())
def test_any_database_comes_back(tmp_path: Path, synsets: tuple[Synset, ...]) -> None:
    loaded = load_wndb(write(tmp_path / "any", synsets, {}))
    for code, synset in enumerate(synsets):
        assert loaded.synonyms(code) == [n.replace("_", " ") for n in synset.names]
        assert loaded.parents[code].tolist() == sorted(p for _, p in synset.links)
        assert loaded.related(code, "instance").tolist() == [p for symbol, p in synset.links if symbol == "@i"]
        assert (gloss(loaded, code) or "") == synset.gloss.strip()
        for name in loaded.synonyms(code):
            assert code in loaded.senses_of(name)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(["data.noun", "index.noun", "noun.exc", "cntlist.rev"]),
    st.integers(0, 1200),
    st.binary(min_size=0, max_size=4),
)
def test_damage_is_refused_or_harmless(tmp_path: Path, file: str, where: int, damage: bytes) -> None:
    folder = write(tmp_path / "damaged")
    raw = (folder / file).read_bytes()
    (folder / file).write_bytes(raw[:where] + damage + raw[where + 1 :])
    with suppress(BadTaxonomy):
        load_wndb(folder)
