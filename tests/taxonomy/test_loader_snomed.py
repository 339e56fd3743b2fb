"""SNOMED CT RF2: a small release written here, in the real layout, with made-up concepts."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.snomed import read_snomed

IS_A, SITE, PART_OF = 116680003, 363698007, 123005000
INFERRED, STATED = 900000000000011006, 900000000000010007
FULL, SYNONYM, DEFINITION = 900000000000003001, 900000000000013009, 900000000000550004
US, GB = 900000000000509007, 900000000000508004
PREFERRED, ACCEPTABLE = 900000000000548007, 900000000000549004

CONCEPTS = "id effectiveTime active moduleId definitionStatusId"
DESCRIPTIONS = "id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId"
RELATIONSHIPS = (
    "id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId characteristicTypeId modifierId"
)
LANGUAGES = "id effectiveTime active moduleId refsetId referencedComponentId acceptabilityId"

Row = tuple[object, ...]


def concept(key: int, active: int = 1, time: int = 20240101) -> Row:
    return (key, time, active, 1, 1)


def description(key: int, of: int, kind: int, term: str, active: int = 1, language: str = "en") -> Row:
    return (key, 20240101, active, 1, of, language, kind, term, 1)


def link(key: int, low: int, high: int, kind: int = IS_A, view: int = INFERRED, active: int = 1) -> Row:
    return (key, 20240101, active, 1, low, high, 0, kind, view, 1)


def prefer(number: int, what: int, refset: int = US, how: int = PREFERRED, active: int = 1) -> Row:
    return (f"80000000-0000-0000-0000-{number:012d}", 20240101, active, 1, refset, what, how)


ROOT, FINDING, HEART, ATTACK, OLD = 138875005, 404684003, 80891009, 22298006, 111

RELEASE: dict[str, tuple[str, list[Row]]] = {
    "Terminology/sct2_Concept_Snapshot_INT_20240101.txt": (
        CONCEPTS,
        [concept(k) for k in (ROOT, FINDING, HEART, ATTACK, SITE, PART_OF)] + [concept(OLD, active=0)],
    ),
    "Terminology/sct2_Description_Snapshot-en_INT_20240101.txt": (
        DESCRIPTIONS,
        [
            description(1, ROOT, FULL, "SNOMED CT Concept (SNOMED RT+CTV3)"),
            description(2, FINDING, FULL, "Clinical finding (finding)"),
            description(3, HEART, FULL, "Heart structure (body structure)"),
            description(4, HEART, SYNONYM, "Heart"),
            description(5, ATTACK, FULL, "Myocardial infarction (disorder)"),
            description(6, ATTACK, SYNONYM, 'Cardiac "infarction"'),
            description(7, ATTACK, SYNONYM, "Heart attack"),
            description(8, ATTACK, SYNONYM, "Myocardial infarction"),
            description(9, ATTACK, SYNONYM, "Withdrawn name", active=0),
            description(10, ATTACK, DEFINITION, "Death of heart muscle."),
            description(11, ATTACK, SYNONYM, "Infarto de miocardio", language="es"),
            description(12, SITE, SYNONYM, "Finding site"),
            description(13, OLD, SYNONYM, "Old thing"),
        ],
    ),
    "Terminology/sct2_Relationship_Snapshot_INT_20240101.txt": (
        RELATIONSHIPS,
        [
            link(1, FINDING, ROOT),
            link(2, HEART, ROOT),
            link(3, ATTACK, FINDING),
            link(4, SITE, ROOT),
            link(5, PART_OF, ROOT),
            link(6, ATTACK, ROOT, active=0),
            link(7, ATTACK, HEART, view=STATED),
            link(8, ATTACK, HEART, SITE),
            link(9, ATTACK, OLD),
        ],
    ),
    "Refset/Language/der2_cRefset_LanguageSnapshot-en_INT_20240101.txt": (
        LANGUAGES,
        [
            prefer(1, 4),
            prefer(2, 8),
            prefer(3, 7, how=ACCEPTABLE),
            prefer(4, 7, refset=GB),
            prefer(5, 6, active=0),
        ],
    ),
}


def write(folder: Path, release: dict[str, tuple[str, list[Row]]] = RELEASE) -> Path:
    for name, (header, rows) in release.items():
        place = folder / "Snapshot" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        lines = ["\t".join(header.split()), *("\t".join(map(str, row)) for row in rows)]
        place.write_bytes(("\r\n".join(lines) + "\r\n").encode())
    return folder


def changed(name: str, *rows: Row, replace: bool = False) -> dict[str, tuple[str, list[Row]]]:
    key = next(k for k in RELEASE if name in k)
    header, old = RELEASE[key]
    return RELEASE | {key: (header, list(rows) if replace else [*old, *rows])}


def test_a_release_folder(tmp_path: Path) -> None:
    t = read_snomed(write(tmp_path))
    assert sorted(map(int, t.ids)) == sorted([ROOT, FINDING, HEART, ATTACK, SITE, PART_OF])
    assert t.synonyms(str(ATTACK)) == [
        "Myocardial infarction",
        'Cardiac "infarction"',
        "Heart attack",
        "Myocardial infarction (disorder)",
    ]
    assert [t.ids[p] for p in t.parents[t.code(str(ATTACK))]] == [str(FINDING)]
    assert t.id(t.root) == str(ROOT)
    assert t.label(str(PART_OF)) == str(PART_OF)
    assert not t.relations
    assert t.info["inactive concepts left out"] == "1"
    assert t.info["links to inactive concepts"] == "1"


def test_attributes_become_relations_if_asked(tmp_path: Path) -> None:
    t = read_snomed(write(tmp_path), relations=True)
    assert list(t.relations) == ["Finding site"]
    assert t.labels(t.related("Heart attack", "Finding site")) == ["Heart"]


def test_the_files_themselves_and_no_language_refset(tmp_path: Path) -> None:
    write(tmp_path)
    t = read_snomed(sorted((tmp_path / "Snapshot" / "Terminology").iterdir()))
    assert t.synonyms(str(ATTACK))[0] == "Myocardial infarction"
    assert t.synonyms(str(HEART)) == ["Heart structure", "Heart", "Heart structure (body structure)"]
    with pytest.raises(BadInput, match="holds no language reference set"):
        read_snomed(sorted((tmp_path / "Snapshot" / "Terminology").iterdir()), language_refset=GB)


def test_another_language_refset(tmp_path: Path) -> None:
    write(tmp_path)
    assert read_snomed(tmp_path, language_refset=GB).label(str(ATTACK)) == "Heart attack"
    with pytest.raises(BadInput, match=f"language_refset: 5 is not in the release; it has {GB}, {US}"):
        read_snomed(tmp_path, language_refset=5)


def test_another_language(tmp_path: Path) -> None:
    write(tmp_path)
    assert "Infarto de miocardio" in read_snomed(tmp_path, language="es").synonyms(str(ATTACK))
    with pytest.raises(BadTaxonomy, match="no description in the language 'fr'"):
        read_snomed(tmp_path, language="fr")


def test_of_two_states_the_newer_counts(tmp_path: Path) -> None:
    extension = {
        "Extension/sct2_Concept_Snapshot_XX_20240601.txt": (
            CONCEPTS,
            [concept(OLD, active=1, time=20240601), concept(7777)],
        ),
        "Extension/sct2_Relationship_Snapshot_XX_20240601.txt": (
            RELATIONSHIPS,
            [link(70, OLD, FINDING), link(71, 7777, OLD)],
        ),
    }
    t = read_snomed(write(tmp_path, RELEASE | extension))
    assert t.label(str(OLD)) == "Old thing"
    assert t.is_a("7777", str(OLD))
    assert t.is_a(str(ATTACK), str(OLD))


def test_what_is_no_release_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadTaxonomy, match=r"no file sct2_Concept_Snapshot\*\.txt among the snapshot files"):
        read_snomed(tmp_path)
    with pytest.raises(BadTaxonomy, match="nothing: no such folder"):
        read_snomed(tmp_path / "nothing")
    with pytest.raises(BadInput, match="give the release folder"):
        read_snomed([])


def test_a_link_to_an_unknown_concept_is_refused(tmp_path: Path) -> None:
    write(tmp_path, changed("Relationship", link(20, ATTACK, 424242)))
    with pytest.raises(
        BadTaxonomy, match=f"the link {ATTACK} -> 424242 names the concept 424242, which no concept file"
    ):
        read_snomed(tmp_path)


def test_a_cycle_is_named(tmp_path: Path) -> None:
    write(tmp_path, changed("Relationship", link(20, FINDING, ATTACK)))
    with pytest.raises(BadTaxonomy, match=f"cycle: '{ATTACK}' -> '{FINDING}' -> '{ATTACK}'"):
        read_snomed(tmp_path)


def test_several_roots(tmp_path: Path) -> None:
    write(tmp_path, changed("Concept", concept(99)))
    with pytest.raises(BadTaxonomy, match="2 roots"):
        read_snomed(tmp_path)
    assert len(read_snomed(tmp_path, join_roots=True)) == 8


def test_stated_links_alone_are_not_enough(tmp_path: Path) -> None:
    write(tmp_path, changed("Relationship", link(20, ATTACK, ROOT, view=STATED), replace=True))
    with pytest.raises(BadTaxonomy, match="no active inferred is-a link"):
        read_snomed(tmp_path)


def spoil(folder: Path, name: str, old: bytes, new: bytes) -> None:
    place = next(folder.rglob(f"*{name}*"))
    raw = place.read_bytes()
    assert old in raw
    place.write_bytes(raw.replace(old, new, 1))


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("Description", b"Heart attack", b"Heart \xff", r"Description.*: line 8 is not valid utf-8 \(byte \d+ "),
        ("Description", b"Heart attack", b"Heart\0", "characters that are not text"),
        (
            "Relationship",
            b"2\t20240101",
            b"2\t2024\t0101",
            "Relationship.*: line 3 has 11 columns where the header has 10",
        ),
        ("Concept_", b"\tactive\t", b"\tstate\t", "Concept.*: .*active"),
        ("Concept_", b"404684003", b"fourhundred", "not a valid RF2 snapshot file"),
        ("Concept_", b"404684003", b"", "(1 rows have no id|not a valid RF2)"),
    ],
)
def test_damaged_files_are_named(tmp_path: Path, name: str, old: bytes, new: bytes, message: str) -> None:
    spoil(write(tmp_path), name, old, new)
    with pytest.raises(BadTaxonomy, match=message):
        read_snomed(tmp_path)


def test_an_empty_file_is_named(tmp_path: Path) -> None:
    place = next(write(tmp_path).rglob("*Concept_*"))
    place.write_bytes(b"")
    with pytest.raises(BadTaxonomy, match=r"sct2_Concept.*: the file is empty"):
        read_snomed(tmp_path)
    place.write_bytes(b"\t".join(CONCEPTS.encode().split()) + b"\r\n")
    with pytest.raises(BadTaxonomy, match="no active concept"):
        read_snomed(tmp_path)
