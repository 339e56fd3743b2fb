"""Columns mapped onto concepts: nothing lost, the table wins, order does not matter, files survive editing."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.errors import BadInput, UnknownConcept
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.mapping_file import HOW
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.taxonomy.value_mapping import Mapping

NAMES = {
    "j": ["job"],
    "t": ["trainer", "coach"],
    "b": ["bus", "coach"],
    "n": ["nurse"],
    "v": ["veterinarian"],
    "q": ["=cmd", "-1st", "@home", "'quoted'"],
}
EDGES = [("t", "j"), ("n", "j"), ("v", "j"), ("j", "thing"), ("b", "thing"), ("q", "thing")]
VALUES = st.one_of(
    st.sampled_from(
        ["coach", "Coaches", "a nurse", "nurse", "NURSE", "bus#1", "coach#2", "xyzzy", "t", "7", "NA", "?"]
    ),
    st.text(max_size=12),
    st.none(),
    st.integers(-5, 5),
)


@pytest.fixture(scope="module")
def jobs() -> Taxonomy:
    return from_edges(EDGES, names=NAMES, name="jobs")


JOBS = from_edges(EDGES, names=NAMES, name="jobs")


def meaning(mapping: Mapping) -> dict[Any, tuple[int, str]]:
    return {v: (int(c), h) for v, c, h in zip(mapping.values, mapping.codes, mapping.how, strict=True)}


# ---- what goes in ----------------------------------------------------------------------------------------------------


def test_a_column_a_dictionary_pairs_and_weights_say_the_same(jobs: Taxonomy) -> None:
    column = ["nurse", "coach", "nurse", None, ""]
    ways = [
        map_values(column, jobs),
        map_values(Counter(column), jobs),
        map_values([("nurse", 2), ("coach", 1), (None, 2)], jobs),
        map_values(["nurse", "coach", None], jobs, weights=[2, 1, 2]),
        map_values(np.array(["nurse", "coach", "nurse", " ", ""]), jobs),
    ]
    for way in ways:
        assert way.values == ("nurse", "coach")
        assert way.rows.tolist() == [2, 1]
        assert way.missing == 2
        assert way.concepts == {"nurse": jobs.code("n"), "coach": jobs.code("t")}


@pytest.mark.parametrize(
    ("values", "options", "message"),
    [
        ("nurse", {}, "a single text"),
        ([["nurse"]], {}, "a value is a list"),
        (["nurse"], {"weights": [1, 2]}, "2 weights do not fit 1 values"),
        ({"nurse": 1}, {"weights": [1]}, "weights do not fit"),
        ({"nurse": -1}, {}, "whole number"),
        (["nurse"], {"weights": [0.5]}, "whole number"),
        (["nurse"], {"senses": "best"}, "no strategy 'best'"),
        (None, {}, "a NoneType was given as the values"),
        (["nurse"], {"table": [("nurse", "n")]}, "give a dictionary"),
        (["nurse"], {"table": {"nurse": 1.5}}, "this is a float"),
    ],
)
def test_what_cannot_be_mapped_is_refused(jobs: Taxonomy, values: Any, options: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        map_values(values, jobs, column="occupation", **options)


def test_an_unknown_domain_is_refused(jobs: Taxonomy) -> None:
    with pytest.raises(UnknownConcept, match="jib"):
        map_values(["nurse"], jobs, domain="jib")


def test_nothing_to_map(jobs: Taxonomy) -> None:
    for senses in ("first", "lesk", "joint"):
        empty = map_values([], jobs, senses=senses)
        assert len(empty) == 0
        assert (empty.coverage.values, empty.coverage.rows) == (1.0, 1.0)
        assert empty.findings() == []
        assert empty.suggestions() == {}
        assert empty.codes_of([None, "x"]).tolist() == [-1, -1]


# ---- what must always hold -------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(st.lists(VALUES, max_size=12), st.sampled_from(["first", "lesk", "joint"]), st.randoms())
def test_nothing_is_lost_and_order_does_not_matter(column: list[Any], senses: str, random: Any) -> None:
    mapping = map_values(column, JOBS, senses=senses)
    missing = [v for v in column if v is None or (isinstance(v, str) and not v.strip())]
    assert mapping.missing == len(missing)
    assert set(mapping.concepts) | set(mapping.unmapped) == set(column) - set(missing)
    assert not set(mapping.concepts) & set(mapping.unmapped)
    assert int(mapping.rows.sum()) + mapping.missing == len(column)
    assert set(mapping.how) <= set(HOW)
    for i, code in enumerate(mapping.codes.tolist()):
        assert (code < 0) == (mapping.how[i] in ("suggested", "unmapped"))
        assert code < 0 or code in mapping.candidates[i]
        assert code < 0 or JOBS.code(mapping.labels[i]) == code
    again = list(column)
    random.shuffle(again)
    assert meaning(map_values(again, JOBS, senses=senses)) == meaning(mapping)
    assert mapping.codes_of(column).tolist() == [mapping.concepts.get(v, -1) for v in column]


@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES, max_size=8), st.data())
def test_the_table_always_wins(column: list[Any], data: st.DataObject) -> None:
    present = [v for v in column if v is not None and str(v).strip()]
    entries = st.sampled_from(["coach#2", "n", "veterinarian", None, "unmapped", ""])
    table = {v: data.draw(entries) for v in present if data.draw(st.booleans())}
    mapping = map_values(column, JOBS, table=table, senses="joint", domain="job")
    codes = {"coach#2": JOBS.code("b"), "n": JOBS.code("n"), "veterinarian": JOBS.code("v")}
    for value, entry in table.items():
        assert meaning(mapping)[value] == (codes.get(entry or "", -1), "table")


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_joint_senses_are_never_farther_apart_than_first_ones(data: st.DataObject) -> None:
    from keepsense.taxonomy.sense_disambiguation import spread

    taxonomy = data.draw(taxonomies())
    words = data.draw(st.lists(st.sampled_from(list(taxonomy.terms)), min_size=1, max_size=8))
    first, joined = (map_values(words, taxonomy, senses=s) for s in ("first", "joint"))
    assert spread(taxonomy, joined.codes, joined.rows) <= spread(taxonomy, first.codes, first.rows) + 1e-6


@pytest.mark.parametrize("senses", ["first", "lesk", "joint"])
def test_hostile_values_are_survived_and_kept(senses: str, tmp_path: Path) -> None:
    hostile = [
        "x" * 1_000_000,
        "\u0301" * 100_000,
        "a\x00b",
        "🙂",
        "טבח",
        "\u202etxet",
        "\ud800",
        '"; drop table',
        "=1+1",
        "'=1+1",
        "''",
        "+",
        "@a",
        "\ttab",
        "\r\n",
        "line\nbreak",
        " nurse ",
        "a,b;c",
    ]
    mapping = map_values([*hostile, "nurse"], JOBS, senses=senses)
    assert set(mapping.values) | {"\r\n"} == {*hostile, "nurse"}
    assert mapping.missing == 1
    assert any(f.code == "W106" for f in mapping.findings())
    mapping.suggestions()
    mapping.save(tmp_path / "m.csv")
    assert meaning(Mapping.read(tmp_path / "m.csv", JOBS)) == meaning(mapping)


# ---- the table, the domain, the senses -------------------------------------------------------------------------------


def test_a_table_entry_covers_other_spellings_unless_they_disagree(jobs: Taxonomy) -> None:
    table = {"Head-Coach": "bus", "boss": "t", "BOSS": "n", "7": "v", 8: "n", "8": "t"}
    mapping = map_values(["head coach", "Head-Coach", "boss", "BOSS", "Boss", 7, 8, "8"], jobs, table=table)
    codes = jobs.codes(["b", "b", "t", "n"]).tolist()
    assert mapping.codes.tolist() == [*codes, -1, *jobs.codes(["v", "n", "t"])]


def test_values_that_read_alike_are_one_line_of_a_file(jobs: Taxonomy, tmp_path: Path) -> None:
    map_values([7, "7", 7], jobs).save(tmp_path / "m.csv")
    assert Mapping.read(tmp_path / "m.csv", jobs).rows.tolist() == [3]


def test_a_table_with_an_unknown_concept_is_refused_with_a_hint(jobs: Taxonomy) -> None:
    with pytest.raises(UnknownConcept, match=r"'veternarian'.*Did you mean veterinarian"):
        map_values(["x"], jobs, table={"x": "veternarian"})


def test_a_mapping_serves_as_a_table_for_next_months_file(jobs: Taxonomy) -> None:
    march = map_values(["coach", "zzz", "yyy"], jobs, table={"coach": "coach#2", "zzz": None})
    april = map_values(["Coach", "zzz", "yyy", "nurse"], jobs, table=march, senses="joint")
    assert meaning(april) == {
        "Coach": (jobs.code("b"), "table"),
        "zzz": (-1, "table"),
        "yyy": (-1, "unmapped"),
        "nurse": (jobs.code("n"), "exact"),
    }


def test_a_domain_rules_senses_out(jobs: Taxonomy) -> None:
    assert map_values(["coach"], jobs, domain="b").labels == ("coach#2",)
    assert map_values(["coach"], jobs, domain=["job", "b"]).labels == ("coach#1",)
    outside = map_values(["bus"], jobs, domain="job")
    assert outside.unmapped == ("bus",)
    assert outside.suggestions() == {"bus": ["bus"]}


def test_spellings_of_one_word_get_one_sense() -> None:
    mapping = map_values(["Coach", "coaches", "COACH", "lorry", "taxi"], wordnet(), senses="joint")
    assert len({mapping.concepts[v] for v in ("Coach", "coaches", "COACH")}) == 1


def test_ambiguous_values_come_with_their_alternatives(jobs: Taxonomy) -> None:
    mapping = map_values(["coach", "nurse", "coach#2"], jobs, senses="first")
    (only,) = mapping.ambiguous
    assert only.value == "coach"
    assert only.chosen == ("coach#1", "trainer (coach), a kind of job")
    assert only.alternatives == (("coach#2", "bus (coach), a kind of thing"),)


# ---- suggestions -----------------------------------------------------------------------------------------------------


def test_a_match_by_the_last_noun_is_used_only_when_it_is_accepted(jobs: Taxonomy, tmp_path: Path) -> None:
    values = {"nurse": 5, "old nurse": 3, "nurse (retired)": 2, "Smith": 1}
    asked = map_values(values, jobs, column="job")
    assert asked.how == ("exact", "suggested", "suggested", "unmapped")
    assert asked.suggested == {"old nurse": (3, "nurse"), "nurse (retired)": (2, "nurse")}
    assert (asked.coverage.rows, asked.unmapped) == (5 / 11, ("old nurse", "nurse (retired)", "Smith"))
    told = {finding.code: finding.message for finding in asked.findings()}
    assert told["W110"].startswith("2 values (5 rows) known by the last noun alone")
    assert told["W101"].startswith("1 of 4 values (1 row) not found")
    assert "`keepsense map FILE job --output mapping.csv`" in told["W110"]
    accepted = map_values(values, jobs, suggestions="accept")
    assert (accepted.how[1], accepted.coverage.rows) == ("head", 10 / 11)
    with pytest.raises(BadInput, match="'ask' or 'accept'"):
        map_values(values, jobs, suggestions="yes")  # type: ignore[arg-type]
    # a file that was written and not edited accepts nothing; one in which somebody wrote the noun does
    file = tmp_path / "job.csv"
    asked.save(file)
    unedited = map_values(values, jobs, table=Mapping.read(file, jobs))
    assert unedited.codes.tolist() == asked.codes.tolist()
    assert Mapping.read(file, jobs).how == asked.how
    file.write_text(file.read_text().replace('"old nurse","",""', '"old nurse","","nurse"'))
    edited = map_values(values, jobs, table=Mapping.read(file, jobs))
    assert edited.how == ("table", "table", "suggested", "unmapped")


# ---- findings --------------------------------------------------------------------------------------------------------


def codes_of(mapping: Mapping) -> list[str]:
    return [f.code for f in mapping.findings()]


def test_findings_count_and_never_show_values(jobs: Taxonomy) -> None:
    secrets = ["Smith's secret", "NA", "caf\ufffd", "x" * 2000, "old nurse", "coach", None]
    mapping = map_values(secrets, jobs, senses="lesk", column="occupation")
    findings = mapping.findings()
    assert [f.code for f in findings] == ["W101", "W102", "W104", "W110", "W106", "W107", "W108", "W109"]
    assert not any(f.is_error for f in findings)
    text = "\n".join(map(str, findings))
    assert "W101 occupation: 4 of 6 values (4 rows) not found in jobs" in text
    assert not any(str(s) in text for s in ("Smith", "caf", "xxx", "old nurse"))


def test_a_numeric_column_is_told(jobs: Taxonomy) -> None:
    ages = map_values([str(n) for n in range(20, 80)], wordnet(), column="age")
    assert ages.concepts == {}
    assert codes_of(ages) == ["E101", "W103"]
    assert "looks numeric" in ages.findings()[1].message
    assert ages.suggestions() == {}
    assert codes_of(map_values([1.5, 2, "3", "nurse"], jobs)) == ["W101", "W103"]
    assert codes_of(map_values(["nurse", "bus", 3], jobs)) == ["W101"]


def test_a_column_in_no_taxonomy_is_an_error(jobs: Taxonomy) -> None:
    lost = map_values(["xx", "yy"], jobs, column="c")
    assert [str(f) for f in lost.findings()] == ["E101 c: none of the 2 values is in jobs; try another taxonomy"]
    assert lost.findings()[0].is_error
    assert lost.coverage.values == 0.0


def test_lesk_over_glosses_needs_no_remark() -> None:
    mapping = map_values(["coach", "bus"], wordnet(), senses="lesk")
    assert codes_of(mapping) == ["W104"]


def test_suggestions_go_to_the_most_frequent_values(jobs: Taxonomy) -> None:
    mapping = map_values({"veternarian": 1, "nurze": 5, "qqqqqq": 9, "7": 9, "NA": 9}, jobs)
    assert mapping.suggestions() == {"nurze": ["nurse"], "veternarian": ["veterinarian"]}
    assert mapping.suggestions(at_most=2) == {"nurze": ["nurse"]}


# ---- real data -------------------------------------------------------------------------------------------------------


@pytest.mark.data
@pytest.mark.parametrize(
    ("column", "distinct"), [("occupation", 60), ("placeOfWork", 29), ("activity", 40), ("placeOfActivity", 32)]
)
def test_every_nominal_value_of_the_insurance_data_is_mapped(shared_data: Path, column: str, distinct: int) -> None:
    with (shared_data / "insurance" / "insurance_act_original_occ_original_10000.csv").open(encoding="utf-8") as file:
        cells = [row[column] for row in csv.DictReader(file)]
    for senses in ("first", "lesk", "joint"):
        mapping = map_values(cells, wordnet(), senses=senses, column=column)
        assert len(mapping) == distinct
        assert (mapping.coverage.values, mapping.coverage.rows) == (1.0, 1.0)
        assert set(mapping.how) <= {"exact", "normalised"}
        assert codes_of(mapping) == ["W104"]
