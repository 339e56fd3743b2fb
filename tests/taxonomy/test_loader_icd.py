"""ICD-10-CM as simple-icd-10-cm has it."""

from __future__ import annotations

import sys
from collections import Counter

import pytest

from keepsense.errors import BadTaxonomy, MissingExtra
from keepsense.taxonomy.formats.icd import icd10cm
from keepsense.taxonomy.taxonomy import Taxonomy


@pytest.fixture(scope="module")
def t() -> Taxonomy:
    pytest.importorskip("simple_icd_10_cm")
    return icd10cm(join_roots=True)


def blocks_of_one_category() -> list[str]:
    import simple_icd_10_cm as source

    return [code for code, times in Counter(source.get_all_codes(with_dots=True)).items() if times > 1]


def test_chapters_blocks_categories_and_codes(t: Taxonomy) -> None:
    import simple_icd_10_cm as source

    codes = set(source.get_all_codes(with_dots=True))
    assert {c for c in t.ids if c not in codes} - {"ICD-10-CM"} == {f"{c}-{c}" for c in blocks_of_one_category()}
    assert t.label(t.root) == "ICD-10-CM"
    assert [t.ids[c] for c in t.children[t.root]] == [c for c in t.ids if source.is_chapter(c)]
    assert [t.ids[c] for c in t.subsumers("E11.9")] == ["4", "E08-E13", "E11", "E11.9", "ICD-10-CM"]
    assert t.label("E11.9") == "Type 2 diabetes mellitus without complications"
    assert t.code("E119") == t.code("E11.9")
    assert t.label("A00-A09") == "Intestinal infectious diseases"
    assert "Infection due to Salmonella typhi" in t.synonyms("A01.0")


def test_inclusion_terms_can_be_left_out(t: Taxonomy) -> None:
    plain = icd10cm(join_roots=True, inclusion_terms=False)
    assert plain.synonyms("A01.0") == ["Typhoid fever", "A010"]


def test_a_block_with_the_code_of_its_category_stays_apart_from_it(t: Taxonomy) -> None:
    import simple_icd_10_cm as source

    assert len(blocks_of_one_category()) == 39
    for code in blocks_of_one_category():
        block = t.code(f"{code}-{code}")
        assert [t.ids[p] for p in t.parents[block]] == [source.get_parent(code, prioritize_blocks=True)]
        assert [t.ids[c] for c in t.children[block]] == [code]
        assert {t.ids[c] for c in t.children[t.code(code)]} == set(source.get_children(code))
    assert (t.label("B99-B99"), t.label("B99")) == (
        "Other infectious diseases",
        "Other and unspecified infectious diseases",
    )


def test_the_chapters_are_joined_only_if_asked() -> None:
    pytest.importorskip("simple_icd_10_cm")
    with pytest.raises(BadTaxonomy, match=r"ICD-10-CM: there are 22 roots .*join_roots=True"):
        icd10cm()


def test_a_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simple_icd_10_cm", None)
    with pytest.raises(MissingExtra, match=r"keepsense\[icd\]"):
        icd10cm()
