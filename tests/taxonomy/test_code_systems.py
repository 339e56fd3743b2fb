"""Classifications by codes: what codes tell of themselves, and official files of several kinds."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsense.draft.vocabulary import words_of
from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.code_systems import SYSTEMS, code_taxonomy, system_of
from keepsense.taxonomy.formats.taxonomy_formats import find_format, read_taxonomy
from keepsense.taxonomy.mapper import map_values


@pytest.mark.parametrize(
    ("system", "code", "path"),
    [
        ("isco-08", "2221", ["2221", "222", "22", "2"]),
        ("isco-08", "0110", ["0110", "011", "01", "0"]),
        ("esco", "2221.2.1", ["2221.2.1", "2221.2", "2221", "222", "22", "2"]),
        ("naics", "325412", ["325412", "32541", "3254", "325", "31-33"]),
        ("naics", "62", ["62"]),
        ("nace", "01.11", ["0111", "011", "01", "A"]),
        ("nace", "C", ["C"]),
        ("atc", "a10ba02", ["A10BA02", "A10BA", "A10B", "A10", "A"]),
    ],
)
def test_codes_tell_what_lies_above_them(system: str, code: str, path: list[str]) -> None:
    taxonomy = code_taxonomy(system, [code])
    (concept,) = map_values([code], taxonomy).concepts.values()
    chain = [taxonomy.id(c) for c in taxonomy.path(concept, taxonomy.root)]
    assert chain == [*path, SYSTEMS[system].title]
    labels = taxonomy.labels(range(len(taxonomy)))
    assert len(set(labels)) == len(labels)


def test_top_levels_are_complete() -> None:
    sizes = {name: len(system.titles) for name, system in SYSTEMS.items()}
    assert sizes == {"isco-08": 10 + 43, "esco": 10 + 43, "naics": 20, "nace": 21, "atc": 14}
    assert all(title == title.strip() and title for s in SYSTEMS.values() for title in s.titles.values())


@pytest.mark.parametrize(
    ("system", "text"),
    [
        ("isco-08", "9999999"),
        ("isco-08", "1x"),
        ("naics", "9911"),
        ("nace", "04.1"),
        ("atc", "Z01"),
        ("atc", "aspirin"),
    ],
)
def test_what_is_no_code_is_left_out(system: str, text: str) -> None:
    assert SYSTEMS[system].spell(text) is None
    with pytest.raises(BadInput, match="none of the values"):
        code_taxonomy(system, [text])


def test_a_misspelled_system_is_named() -> None:
    with pytest.raises(BadInput, match="Did you mean"):
        code_taxonomy("isco08", ["1"])


UNITS = ["2221", "2211", "5120", "7115", "8322", "9112", "4110", "6111", "3221"]
CODES = {
    "isco-08": (["isco_08", "occupation"], UNITS),
    "esco": (["esco", "job_code"], [f"{unit}.{i}.1" for i, unit in enumerate(UNITS, 1)]),
    "naics": (["naics", "industry"], [f"{n}1110" for n in (11, 21, 23, 31, 42, 44, 52, 62, 72)]),
    "nace": (
        ["NACE_rev2", "sector"],
        ["01.11", "10.71", "35.11", "41.20", "47.11", "49.41", "56.10", "62.01", "85.20"],
    ),
    "atc": (
        ["ATC code", "given"],
        ["A10BA02", "N02BE01", "C09AA05", "C07AB02", "J01CA04", "R03AC02", "M01AE01", "B01AC06"],
    ),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_column_of_codes_tells_its_system(system: str) -> None:
    names, codes = CODES[system]
    for name in names:
        recognised = system_of(codes, words_of(name))
        assert recognised is not None
        assert recognised.name == system
    assert system_of(codes[:2], words_of(names[0])) is SYSTEMS[system]
    assert system_of(codes[:7], words_of(names[1])) is None, "too few to tell"


def test_minor_groups_of_isco_are_complete() -> None:
    pattern = SYSTEMS["isco-08"].telling
    assert pattern is not None
    minor = [f"{n:03}" for n in range(1000) if pattern.fullmatch(f"{n:03}0")]
    assert len(minor) == 130
    assert {code[:2] for code in minor} == {code for code in SYSTEMS["isco-08"].titles if len(code) == 2}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("age", [str(n) for n in range(17, 90)]),
        ("industry", [str(n) for n in range(1, 60)]),
        ("occupation", [str(n) for n in range(15)]),
        ("occupation", [f"{n:04}" for n in range(10, 9830, 45)]),  # the census has other codes
        ("zip", ["11201", "21201", "31401", "44101", "52401", "62701", "72201", "81001", "92101"]),
        ("year", [str(n) for n in range(1990, 2020)]),
        ("salary", ["2221", "2211", "5120", "7115", "8322", "9112", "4110", "6111", "3221"]),
        ("business", [f"{n}.50" for n in range(100, 140)]),
        ("deck", list("ABCDEFGT")),
        ("job", ["nurse", "cook", "clerk", "pilot", "baker", "judge", "actor", "guard"]),
        ("ward", ["A10", "B20", "C30", "D10", "G20", "H30", "J40", "L50"]),
    ],
)
def test_other_columns_are_not_taken_for_codes(name: str, values: list[str]) -> None:
    assert system_of(values, words_of(name)) is None


def test_esco_occupations_below_isco(tmp_path: Path) -> None:
    file = tmp_path / "occupations_en.csv"
    file.write_text(
        "conceptType,conceptUri,iscoGroup,preferredLabel,altLabels,description,code\n"
        'Occupation,http://x/1,2221,specialist nurse,"advanced nurse\nexpert nurse",cares,2221.2\n'
        "Occupation,http://x/2,2221,wound care nurse,,cares,2221.2.1\n"
        "Occupation,http://x/3,5120,cook,chef,cooks,5120.1\n"
    )
    assert find_format(file) == "classification"
    esco = read_taxonomy(file)
    assert esco.synonyms("2221.2") == ["specialist nurse", "advanced nurse", "expert nurse"]
    assert [esco.id(c) for c in esco.path("2221.2.1", esco.root)] == [
        "2221.2.1",
        "2221.2",
        "22",
        "2",
        SYSTEMS["isco-08"].title,
    ]
    assert esco.label(esco.lcs("chef", "expert nurse")) == SYSTEMS["isco-08"].title


def test_isco_groups_of_the_ilo(tmp_path: Path) -> None:
    file = tmp_path / "isco.csv"
    file.write_text(
        "Level,ISCO 08 Code,Title EN\n1,2,Professionals\n2,22,Health professionals\n3,222,Nursing\n4,2221,Nurses\n"
    )
    isco = read_taxonomy(file)
    assert isco.labels(isco.path("2221", isco.root))[:4] == [
        "Nurses",
        "Nursing",
        "Health professionals",
        "Professionals",
    ]


def test_naics_as_the_census_bureau_publishes_it(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (
        ["Seq. No.", "2022 NAICS US   Code", "2022 NAICS US Title"],
        [None, None, None],
        [1, "31-33", "ManufacturingT"],
        [2, 325, "Chemical ManufacturingT"],
        [3, 3254, "Pharmaceutical and Medicine Manufacturing"],
        [4, 62, "Health Care and Social AssistanceT"],
        [5, 622, "HospitalsT"],
    ):
        sheet.append(row)
    file = tmp_path / "2-6 digit_2022_Codes.xlsx"
    book.save(file)
    naics = read_taxonomy(file)
    assert naics.labels(naics.path("3254", naics.root)) == [
        "Pharmaceutical and Medicine Manufacturing",
        "Chemical Manufacturing",
        "Manufacturing",
        "NAICS industries",
    ]
    assert naics.is_a("622", "62")


def test_atc_and_nace_tables(tmp_path: Path) -> None:
    (tmp_path / "atc.csv").write_text("atc_code,atc_name\nA10,Drugs used in diabetes\nA10BA02,metformin\n")
    atc = read_taxonomy(tmp_path / "atc.csv")
    assert atc.labels(atc.path("metformin", atc.root))[1:3] == [
        "Drugs used in diabetes",
        "Alimentary tract and metabolism (A)",
    ]
    (tmp_path / "nace.csv").write_text("NACE Code;Title\n01;Crop production\n01.1;Annual crops\n01.11;Cereals\n")
    nace = read_taxonomy(tmp_path / "nace.csv")
    assert [nace.id(c) for c in nace.path("01.11", nace.root)][:4] == ["01.11", "01.1", "01", "A"]
    assert map_values(["0111", "01.11"], nace).labels == ("Cereals", "Cereals")


def test_files_that_are_none_are_refused_by_name(tmp_path: Path) -> None:
    broken = tmp_path / "broken.xlsx"
    broken.write_bytes(b"PK\x03\x04 no")
    with pytest.raises(BadTaxonomy, match=r"broken\.xlsx"):
        read_taxonomy(broken)
    (tmp_path / "twice.csv").write_text("ATC code,name\nA01,one\nA01,two\n")
    with pytest.raises(BadTaxonomy, match="line 3 has the code"):
        read_taxonomy(tmp_path / "twice.csv")
