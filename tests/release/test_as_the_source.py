"""A release is written as its source is: types, delimiter, line ends; numbers of every country stay as they are."""

from __future__ import annotations

import datetime as dt
import decimal
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from tests.release.tables import project

from keepsense.draft.inspection import inspect
from keepsense.draft.project_text import draft
from keepsense.engines.protocol import Reading, engine
from keepsense.errors import BadInput
from keepsense.release.changes import changes
from keepsense.release.folder.recipient import read_release
from keepsense.release.reopen import reopen
from keepsense.release.run import Outcome, run
from keepsense.release.verify import verify_file

ROWS = 24
SEX = ["fm"[i % 2] for i in range(ROWS)]
RARE = [{0: "m", 6: "x"}.get(i % 12, "f") for i in range(ROWS)]
"""Four of them stand out, and are suppressed together."""


def column(cells: list[Any], kind: Any = None) -> pa.Array:
    return pa.array([None if i == 5 else cells[i % len(cells)] for i in range(ROWS)], kind)


ZONED = [dt.datetime(2000 + i, 1, 1, 3, tzinfo=dt.UTC) for i in range(3)]
TYPES: dict[str, tuple[pa.Array, str]] = {
    "truth values": (column([True, False]), "nominal"),
    "small numbers": (column([1, 2, 3], pa.int8()), "numeric"),
    "large numbers": (column([1, 2, 3], pa.uint64()), "numeric"),
    "short floats": (column([0.5, 1.25, 2.0], pa.float32()), "numeric"),
    "decimals": (column([decimal.Decimal("1.25"), decimal.Decimal("2.50")], pa.decimal128(7, 2)), "numeric"),
    "days": (column([dt.date(2000 + i, 1, 1) for i in range(3)]), "date"),
    "moments": (column([dt.datetime(2000 + i, 1, 1, 3) for i in range(3)], pa.timestamp("ms")), "date"),
    "zones": (column(ZONED, pa.timestamp("us", "Europe/Zurich")), "date"),
    "nanoseconds": (column([dt.datetime(2000 + i, 1, 1, 3) for i in range(3)], pa.timestamp("ns")), "date"),
    "times of day": (column([dt.time(i, 30) for i in range(3)]), "nominal"),
    "durations": (column([dt.timedelta(days=i) for i in range(3)]), "nominal"),
    "large texts": (column(["a", "b"], pa.large_string()), "nominal"),
    "categories": (column(["a", "b"]).dictionary_encode(), "nominal"),
    "nothing": (pa.nulls(ROWS), "nominal"),
    "no numbers": (pa.nulls(ROWS, pa.float64()), "numeric"),
    "bytes": (column([b"a", b"b"]), "nominal"),
}


def released(folder: Path, name: str, role: str, kind: str, **release: Any) -> Outcome:
    accepted = {"accept": "identifying"} if role == "insensitive" else {}
    job = project(
        source={"path": name},
        columns={"x": {"role": role, "kind": kind, **accepted}, "sex": {"role": "quasi-identifier"}},
        privacy=[{"model": "k-anonymity", "k": 3}],
        method={"name": "optimal"},
        release={"suppression": 0.3, "suppressed": "keep", "shuffle": False, **release},
    )
    return run(job, folder=folder, rng=1)


@pytest.mark.parametrize("ending", ["parquet", "arrow"])
@pytest.mark.parametrize("what", TYPES)
def test_a_column_that_nobody_changes_keeps_its_type_and_its_cells(tmp_path: Path, what: str, ending: str) -> None:
    cells, kind = TYPES[what]
    table = pa.table({"x": cells, "sex": SEX})
    if ending == "parquet":
        pq.write_table(table, tmp_path / "people.parquet")
    else:
        feather.write_feather(table, tmp_path / "people.arrow", compression="uncompressed")
    done = released(tmp_path, f"people.{ending}", "insensitive", kind)
    back = pq.read_table(done.file) if ending == "parquet" else feather.read_table(done.file)
    assert back.schema.field("x").type == table.schema.field("x").type
    assert back.column("x").to_pylist() == cells.to_pylist()


@pytest.mark.parametrize("what", [what for what in TYPES if what not in ("bytes", "nothing", "no numbers")])
def test_suppressed_cells_of_every_type_are_verified(tmp_path: Path, what: str) -> None:
    cells, kind = TYPES[what]
    pq.write_table(pa.table({"x": cells, "sex": RARE}), tmp_path / "people.parquet")
    done = released(tmp_path, "people.parquet", "quasi-identifier", kind)
    assert done.verification.ok
    assert done.description["suppressed records"] > 0
    assert all(change.lost_in_words for change in changes(done))


def test_a_truth_value_is_spelled_in_one_way(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": TYPES["truth values"][0], "sex": RARE}), tmp_path / "people.parquet")
    done = released(tmp_path, "people.parquet", "quasi-identifier", "nominal")
    assert set(pq.read_table(done.file).column("x").to_pylist()) <= {"true", "false", "*", None}


def test_bytes_are_no_quasi_identifier(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": TYPES["bytes"][0], "sex": SEX}), tmp_path / "people.parquet")
    with pytest.raises(BadInput, match="'x' holds bytes, which cannot be generalized"):
        released(tmp_path, "people.parquet", "quasi-identifier", "nominal")


# ---- dialects --------------------------------------------------------------------------------------------------------


def write_lines(path: Path, cells: list[str], delimiter: str = ",", newline: str = "\n") -> bytes:
    lines = [f"x{delimiter}sex", *(f"{cells[i % len(cells)]}{delimiter}{SEX[i]}" for i in range(ROWS))]
    path.write_bytes((newline.join(lines) + newline).encode())
    return path.read_bytes()


@pytest.mark.parametrize(
    ("name", "delimiter", "newline"),
    [("people.tsv", "\t", "\n"), ("people.csv", ";", "\r\n"), ("people.csv", "|", "\n"), ("people.csv", ",", "\r\n")],
)
def test_a_release_has_the_delimiter_and_line_ends_of_its_source(
    tmp_path: Path, name: str, delimiter: str, newline: str
) -> None:
    before = write_lines(tmp_path / name, ["a b", '"two\nlines"', '"say ""no"""'], delimiter, newline)
    done = released(tmp_path, name, "insensitive", "nominal")
    after = done.file.read_bytes()
    assert after.split(newline.encode())[0] == f"x{delimiter}sex".encode()
    assert after.count(newline.encode()) == before.count(newline.encode())
    assert b'"two\nlines"' in after  # what stands inside a cell stays


def test_a_delimiter_that_is_asked_for_wins(tmp_path: Path) -> None:
    write_lines(tmp_path / "people.csv", ["a"], ";")
    done = released(tmp_path, "people.csv", "insensitive", "nominal", delimiter="|")
    assert done.file.read_text(encoding="utf-8").startswith("x|sex\n")


def test_mixed_line_ends_are_named(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_bytes(b"job,age\r\nnurse,31\nclerk,40\r\nbaker,50\n")
    with engine() as running, pytest.raises(BadInput, match=r"several ways \(2 with CR LF, 2 with LF\)"):
        running.read(str(tmp_path / "people.csv"))


def test_a_workbook_of_several_sheets_asks_which(tmp_path: Path) -> None:
    book = pytest.importorskip("openpyxl").Workbook()
    book.active.append(["job"])
    book.active.append(["nurse"])
    more = book.create_sheet("Old")
    more.append(["age"])
    more.append([31])
    book.create_sheet("Empty")
    book.save(tmp_path / "people.xlsx")
    with engine() as running:
        with pytest.raises(BadInput, match="say which sheet to read, as its `table`; it has Sheet, Old"):
            running.read(str(tmp_path / "people.xlsx"))
        assert running.read(str(tmp_path / "people.xlsx"), Reading(table="Old")).columns == ("age",)


# ---- numbers that begin like formulas --------------------------------------------------------------------------------

NUMBERS = ["-5,3", "-1.234,50", "-1'234.50", "-12%", "-€5", "- 5 €", "-CHF 5.-", "-", "--", "+41 79 555",
           "+1-202-555-0143", "-3", "+02:00"]  # fmt: skip
FORMULAS = ["=1+1", "-1+cmd|' /C calc'!A0", "@SUM(A1)", "+A1", "-2+3", "-SUM(A1)", "-ABC1"]


@pytest.mark.parametrize("ending", ["csv", "xlsx"])
def test_numbers_of_every_country_stay_as_they_are(tmp_path: Path, ending: str) -> None:
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    with engine() as running:
        cells = [NUMBERS[i % len(NUMBERS)] for i in range(ROWS)]
        running.write(running.read({"x": cells, "sex": SEX}), tmp_path / f"people.{ending}")
        done = released(tmp_path, f"people.{ending}", "insensitive", "nominal")
        assert running.frame(running.read(str(done.file))).column("x").to_pylist() == cells
    assert "cells with an apostrophe" not in done.description


def test_what_is_still_changed_is_counted(tmp_path: Path) -> None:
    write_lines(tmp_path / "people.csv", [*FORMULAS, "nurse"])
    done = released(tmp_path, "people.csv", "insensitive", "nominal")
    about = json.loads((done.file.parent / "release.json").read_text(encoding="utf-8"))
    guarded = sum(line.startswith("'") for line in done.file.read_text(encoding="utf-8").splitlines())
    assert about["cells with an apostrophe"] == {"x": guarded}
    assert guarded == ROWS * 7 // 8  # all but the nurses
    assert [finding.where for finding in done.findings if finding.code == "W415"] == ["x"]


def test_numbers_with_decimal_commas_are_written_back_with_them(tmp_path: Path) -> None:
    lines = ["pay;sex", *(f"{('1.200,50', '-3,5', '7')[i % 3]};{SEX[i]}" for i in range(ROWS))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    pay = {"role": "insensitive", "kind": "numeric", "format": "1.234,56", "accept": "identifying"}
    for safe in (True, False):
        job = project(
            columns={"pay": pay, "sex": {"role": "quasi-identifier"}},
            release={"shuffle": False, "spreadsheet_safe": safe},
        )
        done = run(job, folder=tmp_path, rng=1)
        cells = [line.split(";")[0] for line in done.file.read_text(encoding="utf-8").splitlines()[1:4]]
        assert cells == ["1.200,50", "-3,5", "7"]


@pytest.mark.parametrize("role", ["quasi-identifier", "sensitive"])
def test_bands_of_numbers_have_the_decimal_comma_of_the_source(tmp_path: Path, role: str) -> None:
    lines = ["dose;sex", *(f"{i % 40 / 40:.3f}".replace(".", ",") + f";{SEX[i]}" for i in range(ROWS))]
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    dose = {"role": role, "kind": "numeric", "format": "1.234,56", **({"width": 0.25} if role == "sensitive" else {})}
    job = project(
        columns={"dose": dose, "sex": {"role": "insensitive" if role == "quasi-identifier" else "quasi-identifier"}},
        privacy=[{"model": "k-anonymity", "k": 4}],
        method={"name": "optimal"},
    )
    done = run(job, folder=tmp_path, rng=1)
    assert done.verification.ok
    cells = {line.split(";")[0] for line in done.file.read_text(encoding="utf-8").splitlines()[1:]}
    assert any("," in cell for cell in cells)
    assert not any("." in cell for cell in cells)
    assert verify_file(job, done.file, folder=tmp_path)[0].ok
    if role == "quasi-identifier":
        rows = read_release(done.file.parent, "pyarrow")
        ends = {*rows["dose lower"].to_pylist(), *rows["dose upper"].to_pylist()} - {None}
        assert ends
        assert all(0 <= end <= 1 for end in ends)
        assert 0.0 < min(ends) < 1.0 or len(ends) > 1
    assert reopen(job, folder=tmp_path).verification.ok


def test_a_draft_says_which_columns_become_text(tmp_path: Path) -> None:
    ages = pa.array([20 + i % 20 for i in range(ROWS)])
    pq.write_table(pa.table({"age": ages, "sex": SEX}), tmp_path / "people.parquet")
    text = draft(inspect(str(tmp_path / "people.parquet"), taxonomies={}), source={"path": "people.parquet"})
    assert text.count("released as text where it is generalized or suppressed") == 1
