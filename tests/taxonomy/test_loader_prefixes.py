"""Codes whose prefixes are the hierarchy."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.code_prefixes import read_prefixes

NAICS = """code,title
11,"Agriculture, Forestry, Fishing and Hunting"
111,Crop Production
1111,Oilseed and Grain Farming
11111,Soybean Farming
111110,Soybean Farming
31-33,Manufacturing
311,Food Manufacturing
325,Chemical Manufacturing
3254,Pharmaceutical and Medicine Manufacturing
44-45,Retail Trade
445,Food and Beverage Retailers
"""

UNSPSC = """Code;Title
10000000;Live Plant and Animal Material
10100000;Live animals
10101500;Livestock
10101501;Cats
10101502;Dogs
10101600;Birds and fowl
"""


def write(tmp_path: Path, text: str | bytes) -> Path:
    place = tmp_path / "codes.csv"
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def test_naics_with_its_ranges(tmp_path: Path) -> None:
    t = read_prefixes(write(tmp_path, NAICS), scheme="naics", join_roots=True)
    assert len(t) == 12
    assert [t.ids[c] for c in t.subsumers("111110")][:-1] == ["11", "111", "1111", "11111", "111110"]
    assert [t.ids[p] for p in t.parents[t.code("311")]] == ["31-33"]
    assert [t.ids[p] for p in t.parents[t.code("325")]] == ["31-33"]
    assert [t.ids[p] for p in t.parents[t.code("445")]] == ["44-45"]
    assert t.label("3254") == "Pharmaceutical and Medicine Manufacturing"


def test_unspsc_padded_with_zeros(tmp_path: Path) -> None:
    t = read_prefixes(write(tmp_path, UNSPSC), scheme="unspsc")
    assert t.labels(t.subsumers("Cats")) == ["Live Plant and Animal Material", "Live animals", "Livestock", "Cats"]
    assert t.labels(t.children[t.code("10100000")]) == ["Livestock", "Birds and fowl"]


def test_missing_levels_are_made_skipped_or_refused(tmp_path: Path) -> None:
    place = write(tmp_path, "code,title\n10000000,Live material\n10101501,Cats\n")
    made = read_prefixes(place, scheme="unspsc")
    assert [made.ids[c] for c in made.path("10101501", "10000000")] == ["10101501", "10101500", "10100000", "10000000"]
    assert made.label("10101500") == "10101500"
    near = read_prefixes(place, scheme="unspsc", missing="nearest")
    assert list(near.ids) == ["10000000", "10101501"]
    with pytest.raises(BadTaxonomy, match="line 3: the code '10101501' is below '101015', which has no row"):
        read_prefixes(place, scheme="unspsc", missing="refuse")
    with pytest.raises(BadInput, match="missing: 'skip'"):
        read_prefixes(place, scheme="unspsc", missing="skip")  # type: ignore[arg-type]


def test_lengths_of_your_own_and_dots(tmp_path: Path) -> None:
    t = read_prefixes(
        write(tmp_path, "code,title\n00,Procedures\n00.0,Ultrasound\n00.01,Of the head\n"), lengths=(2, 3, 4)
    )
    assert t.labels(t.subsumers("00.01")) == ["Procedures", "Ultrasound", "Of the head"]


def test_icd_9_cm_procedures(shared_data: Path) -> None:
    """3,882 procedures; the first two digits are the parent, as its SOURCE.txt says (with three digits in between)."""
    place = shared_data / "icd9cm" / "CMS32_DESC_LONG_SG.txt"
    t = read_prefixes(place, scheme="icd9-procedures", delimiter=" ", header=False, join_roots=True)
    listed = [line.split(" ", 1) for line in place.read_text().splitlines() if line.strip()]
    assert len(listed) == 3_882
    for code, title in listed:
        assert t.label(t.code(code)) == title.strip()
    assert {t.ids[c] for c in t.children[t.root]} == {code[:2] for code, _ in listed}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("code,title\n11,A\n11,B\n", "line 3 has the code '11' again"),
        ("code,title\n1,A\n", "line 2 has the code '1' of 1 characters, where codes have 2 or 3 or 4 or 5 or 6"),
        ("code,title\n31-33,A\n31,B\n", "line 3: the codes '31-33' and '31' are the same"),
        ("code,title\n11,A\n21,B\n", "2 roots"),
        (b"code,title\n11,\xff\n", "line 2 is not valid utf-8"),
    ],
)
def test_broken_code_lists_are_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=rf"codes\.csv: .*{message}"):
        read_prefixes(write(tmp_path, text), scheme="naics")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "scheme: say how codes are built"),
        ({"scheme": "nace"}, "scheme: 'nace' is not one of naics"),
        ({"scheme": "naics", "lengths": (2, 3)}, "lengths: the scheme has its own"),
        ({"lengths": (4, 2)}, "lengths: .* whole numbers that grow"),
        ({"lengths": ()}, "lengths: "),
        ({"lengths": (2, 4), "pad": "00"}, "pad: '00'"),
        ({"scheme": "naics", "code": "kode"}, "code: codes.csv has no column 'kode'"),
    ],
)
def test_options_are_checked(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        read_prefixes(write(tmp_path, NAICS), **options)  # type: ignore[arg-type]


def test_a_header_nobody_knows(tmp_path: Path) -> None:
    place = write(tmp_path, "Kode,Titel\n11,Agriculture\n111,Crops\n")
    with pytest.raises(BadInput, match="looks like a header"):
        read_prefixes(place, scheme="naics")
    assert read_prefixes(place, scheme="naics", code="Kode").label("111") == "Crops"
