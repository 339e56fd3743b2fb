"""Mappings as files: they survive the round trip, editing and spreadsheets, and broken lines are refused by number."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.errors import BadInput, UnknownConcept
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.mapping_file import HEADER
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


JOBS = from_edges(EDGES, names=NAMES, name="jobs")


def meaning(mapping: Mapping) -> dict[Any, tuple[int, str]]:
    return {v: (int(c), h) for v, c, h in zip(mapping.values, mapping.codes, mapping.how, strict=True)}


def edited(path: Path, **changes: dict[str, str]) -> Path:
    """Change cells of the lines of some values, as a person with a spreadsheet does."""
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        line.update(changes.get(line["value"], {}))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, HEADER)
        writer.writeheader()
        writer.writerows(lines)
    return path


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "occupation.csv"
    table = {"boss": "coach#1", "none": None}
    map_values(
        ["coach", "nurse", "an old nurse", "xyzzy", "boss", "none", None, None], JOBS, table=table, suggestions="accept"
    ).save(path)
    return path


def test_a_file_is_read_back_as_it_was(saved: Path) -> None:
    mapping = Mapping.read(saved, JOBS)
    assert mapping.column == "occupation"
    assert meaning(mapping) == {
        "coach": (JOBS.code("t"), "exact"),
        "nurse": (JOBS.code("n"), "exact"),
        "an old nurse": (JOBS.code("n"), "head"),
        "xyzzy": (-1, "unmapped"),
        "boss": (JOBS.code("t"), "table"),
        "none": (-1, "table"),
    }
    assert mapping.missing == 2
    assert mapping.labels == ("coach#1", "nurse", "nurse", "", "trainer", "")
    assert [a.value for a in mapping.ambiguous] == ["coach"]
    again = saved.with_name("again.csv")
    mapping.save(again)
    assert again.read_bytes() == saved.read_bytes()


@settings(max_examples=40, deadline=None)
@given(st.lists(VALUES, max_size=8), st.sampled_from(["first", "joint"]))
def test_any_mapping_survives_its_file(tmp_path_factory: Any, column: list[Any], senses: str) -> None:
    texts = [v if v is None else str(v) for v in column]
    mapping = map_values(texts, JOBS, senses=senses)
    path = tmp_path_factory.mktemp("m") / "m.csv"
    mapping.save(path)
    back = Mapping.read(path, JOBS, column="values")
    assert meaning(back) == meaning(mapping)
    assert (back.rows.tolist(), back.missing) == (mapping.rows.tolist(), mapping.missing)
    for i in range(len(mapping)):
        assert set(back.candidates[i].tolist()) == set(mapping.candidates[i].tolist())
    with path.open(encoding="utf-8", errors="surrogatepass", newline="") as file:
        for cell in (cell for line in csv.reader(file) for cell in line):
            assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


def test_an_edited_cell_wins(saved: Path) -> None:
    edited(
        saved,
        coach={"label": "Coach#2"},
        nurse={"concept": "v"},
        xyzzy={"label": "trainer"},
        boss={"label": "", "concept": ""},
        none={"concept": "n", "label": "nurse"},
    )
    mapping = Mapping.read(saved, JOBS)
    assert meaning(mapping) == {
        "coach": (JOBS.code("b"), "table"),
        "nurse": (JOBS.code("v"), "table"),
        "an old nurse": (JOBS.code("n"), "head"),
        "xyzzy": (JOBS.code("t"), "table"),
        "boss": (-1, "table"),
        "none": (JOBS.code("n"), "table"),
    }


def test_emptying_one_cell_unmaps(saved: Path) -> None:
    edited(saved, coach={"label": ""}, nurse={"concept": ""})
    mapping = Mapping.read(saved, JOBS)
    assert meaning(mapping)["coach"] == meaning(mapping)["nurse"] == (-1, "table")


def test_two_edits_that_disagree_are_refused(saved: Path) -> None:
    edited(saved, nurse={"concept": "v", "label": "bus"})
    with pytest.raises(BadInput, match=r"occupation\.csv, line 3: .*say different things"):
        Mapping.read(saved, JOBS)


def test_an_unknown_concept_is_named_with_its_line(saved: Path) -> None:
    edited(saved, nurse={"label": "veternarian"})
    with pytest.raises(UnknownConcept, match=r"line 3: jobs: .*'veternarian'.*Did you mean veterinarian"):
        Mapping.read(saved, JOBS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": "many"}, "number of rows must be"),
        ({"rows": "-1"}, "number of rows must be"),
        ({"rows": "²"}, "number of rows must be"),
        ({"how": "guess"}, "`how` must be one of"),
        ({"value": " "}, "the value is empty"),
        ({"value": "coach"}, "also on line 2"),
    ],
)
def test_broken_cells_are_refused_by_line(saved: Path, change: dict[str, str], message: str) -> None:
    edited(saved, nurse=change)
    with pytest.raises(BadInput, match=rf"occupation\.csv, line 3: .*{message}"):
        Mapping.read(saved, JOBS)


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "the file is empty"),
        (b"\n\n", "the file is empty"),
        (b"value,label\n", "line 1: the header must be"),
        (",".join(HEADER).encode() + b'\n"a,b\n', "line 2: not a CSV line"),
        (",".join(HEADER).encode() + b"\na,b\n", "line 2: 2 cells where the header has 8"),
        (",".join(HEADER).encode() + b"\n\xff\xfe", "line 2: not UTF-8"),
    ],
)
def test_broken_files_are_refused(tmp_path: Path, raw: bytes, message: str) -> None:
    path = tmp_path / "m.csv"
    path.write_bytes(raw)
    with pytest.raises(BadInput, match=rf"m\.csv.*{message}"):
        Mapping.read(path, JOBS)


def test_a_line_number_counts_lines_within_cells(tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    map_values(["line\nbreak", "nurse"], JOBS).save(path)
    edited(path, nurse={"how": "guess"})
    with pytest.raises(BadInput, match="line 4"):
        Mapping.read(path, JOBS)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.csv: the file cannot be read"):
        Mapping.read(tmp_path / "none.csv", JOBS)


@pytest.mark.parametrize("separator", [";", "\t"])
def test_what_other_spreadsheets_write_is_read(saved: Path, separator: str) -> None:
    expected = meaning(Mapping.read(saved, JOBS))
    rows = list(csv.reader(io.StringIO(saved.read_text(encoding="utf-8"), newline="")))
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\r\n").writerows(rows)
    saved.write_text("\ufeff" + out.getvalue(), encoding="utf-8", newline="")
    assert meaning(Mapping.read(saved, JOBS)) == expected


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path) -> None:
    target = tmp_path / "folder"
    target.mkdir()
    with pytest.raises(BadInput, match="it is a folder"):
        map_values(["nurse"], JOBS).save(target)
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_the_file_carries_confidence_and_suggestions(tmp_path: Path) -> None:
    file = tmp_path / "job.csv"
    mapping = map_values({"coach": 3, "nurse": 2, "veternarian": 4}, wordnet(), domain="person")
    mapping.save(file)
    cells = {row["value"]: row for row in csv.DictReader(io.StringIO(file.read_text(encoding="utf-8")))}
    assert 0 < float(cells["coach"]["confidence"]) <= 1
    assert (cells["veternarian"]["how"], cells["veternarian"]["confidence"]) == ("unmapped", "")
    assert cells["veternarian"]["alternatives"].startswith("veterinarian = ")
    again = Mapping.read(file, wordnet())
    assert again.confidence is not None
    assert again.confidence[again.values.index("coach")] == pytest.approx(float(cells["coach"]["confidence"]))
    assert again.unmapped == ("veternarian",)
    told = file.read_text(encoding="utf-8")
    for wrong in ("2.5", "sure"):
        file.write_text(told.replace(f'"{cells["coach"]["confidence"]}"', f'"{wrong}"'), encoding="utf-8")
        with pytest.raises(BadInput, match=r"line \d+: the confidence must be a number between 0 and 1"):
            Mapping.read(file, wordnet())


def test_files_without_confidence_are_still_read(tmp_path: Path) -> None:
    file = tmp_path / "job.csv"
    map_values({"coach": 3, "nurse": 2}, wordnet(), domain="person").save(file)
    with file.open(encoding="utf-8", newline="") as lines:
        rows = list(csv.reader(lines))
    at = rows[0].index("confidence")
    old = [row[:at] + row[at + 1 :] for row in rows]
    old[-1][-1] = old[-1][-1].replace("version 3", "version 2")
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines, quoting=csv.QUOTE_ALL).writerows(old)
    again = Mapping.read(file, wordnet())
    assert (again.values, again.labels) == (("coach", "nurse"), ("coach#1", "nurse#1"))
    assert again.confidence is not None
    assert not (again.confidence >= 0).any()
