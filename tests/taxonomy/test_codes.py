"""Codes: every spelling of a diagnosis is found, at the right place of the right tree."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsense.taxonomy.code_systems import icd9, icd10
from keepsense.taxonomy.formats import taxonomy_library
from keepsense.taxonomy.lookup import lookup
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.taxonomy import Taxonomy


@pytest.fixture(scope="module")
def icd9cm() -> Taxonomy:
    return taxonomy_library.find("icd9cm")


@pytest.fixture(scope="module")
def icd10cm() -> Taxonomy:
    return taxonomy_library.find("icd10cm")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("250.8", "Diabetes with other specified manifestations (250.8)"),
        ("2508", "Diabetes with other specified manifestations (250.8)"),
        ("38", "Septicemia (038)"),
        ("038", "Septicemia (038)"),
        ("8", "Intestinal infections due to other organisms (008)"),
        ("V45", "Other postprocedural states (V45)"),
        ("v45.", "Other postprocedural states (V45)"),
        ("V4581", "Aortocoronary bypass status (V45.81)"),
        ("390-459", "Diseases of the circulatory system (390-459)"),
        (250.0, "Diabetes mellitus (250)"),  # a whole number that a spreadsheet made a fraction
        (428, "Heart failure (428)"),
    ],
)
def test_diagnoses_of_icd9_in_every_spelling(icd9cm: Taxonomy, text: object, label: str) -> None:
    mapping = map_values([text], icd9cm)
    assert icd9cm.labels(mapping.concepts.values()) == [label]
    assert mapping.how[0] in ("given", "normalised")


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("E11.9", "Type 2 diabetes mellitus without complications (E11.9)"),
        ("e119", "Type 2 diabetes mellitus without complications (E11.9)"),
        ("I10", "Essential (primary) hypertension (I10)"),
        ("S02.0XXA", "Fracture of vault of skull (S02.0)"),
        ("I00-I99", "Diseases of the circulatory system (I00-I99)"),
    ],
)
def test_diagnoses_of_icd10_in_every_spelling(icd10cm: Taxonomy, text: str, label: str) -> None:
    mapping = map_values([text], icd10cm)
    assert icd10cm.labels(mapping.concepts.values()) == [label]
    assert mapping.how[0] in ("given", "normalised")


def test_what_is_not_listed_is_a_suggestion_of_what_lies_above(icd9cm: Taxonomy, icd10cm: Taxonomy) -> None:
    stroke = lookup(icd10cm).find("I64")  # of ICD-10, not of its American version
    assert stroke is not None
    assert (stroke.how, icd10cm.label(stroke.concepts[0])) == ("head", "Cerebrovascular diseases (I60-I69)")
    deeper = lookup(icd9cm).find("428.77")
    assert deeper is not None
    assert (deeper.how, deeper.name) == ("head", "428")


@pytest.mark.parametrize("text", ["12 mg", "1250.8", "250.123", "-5", "1e3", "2001-05-03", "", "E", "V"])
def test_what_is_no_code_is_not_found(icd9cm: Taxonomy, text: str) -> None:
    assert icd9(text) is None
    assert lookup(icd9cm).find(text) is None


def test_titles_are_found_too_and_no_two_labels_are_alike(icd9cm: Taxonomy, icd10cm: Taxonomy) -> None:
    assert "Septicemia (038)" in icd9cm.labels(icd9cm.senses_of("Septicemia"))
    for taxonomy in (icd9cm, icd10cm):
        labels = taxonomy.labels(range(len(taxonomy)))
        assert len(set(labels)) == len(labels)


def test_every_code_is_found_without_its_dot(icd9cm: Taxonomy, icd10cm: Taxonomy) -> None:
    for taxonomy, spell in ((icd9cm, icd9), (icd10cm, icd10)):
        ids = [key for key in taxonomy.ids if "-" not in key]
        assert len(ids) > 15_000
        plain = [key.replace(".", "").lower() for key in ids]
        assert [spell(text) for text in plain] == ids


@given(st.integers(0, 999), st.sampled_from(["", ".1", ".12"]))
def test_zeros_in_front_do_not_matter(number: int, part: str) -> None:
    assert icd9(f"{number}{part}") == icd9(f"{number:03}{part}") == f"{number:03}{part}"


@pytest.mark.data
def test_icd9_agrees_with_a_tree_read_by_others(icd9cm: Taxonomy, shared_data: Path) -> None:
    """Every node of the tree is there, and so is all above it, but for blocks that are their only category."""

    def key(code: str) -> str:
        first, mark, last = code.partition("-")
        return icd9(code) or (first if mark and first == last else code)

    with (shared_data / "icd9cm" / "icd9cm_dx_tree.csv").open() as file:
        rows = list(csv.DictReader(file))
    ids = {key(row["code"]): row for row in rows if row["parent"]}
    assert set(icd9cm.ids) == {*ids, "ICD-9-CM"}
    for row in rows:
        below, above = key(row["code"]), key(row["parent"])
        if row["parent"] and row["parent"] != "n/a" and below != above:
            assert icd9cm.code(above) in icd9cm.parents[icd9cm.code(below)]


@pytest.mark.data
@pytest.mark.parametrize("column", ["diag_1", "diag_2", "diag_3"])
def test_the_diagnoses_of_diabetics_are_found(icd9cm: Taxonomy, shared_data: Path, column: str) -> None:
    with (shared_data / "diabetes130" / "encounters.csv").open() as file:
        counts = Counter(row[column] for row in csv.DictReader(file))
    del counts["?"]  # the mark of missing cells
    mapping = map_values(dict(counts), icd9cm)
    assert mapping.coverage.rows >= 0.99
    exact = sum(int(n) for n, how in zip(mapping.rows, mapping.how, strict=True) if how in ("given", "normalised"))
    assert exact >= 0.99 * counts.total()
