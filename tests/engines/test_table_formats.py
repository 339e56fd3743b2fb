"""What each format carries: column order, types, awkward texts, missing and empty, and that rows come in a stream."""

from __future__ import annotations

import datetime as dt
import decimal
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.postgresql import server

from keepsense.engines.duckdb_store import Store, quoted
from keepsense.engines.formats.table_formats import FORMATS, Format, format_of, names, register
from keepsense.engines.protocol import Reading, Writing, engine
from keepsense.errors import BadInput

__all__ = ["server"]

ENDINGS = ("csv", "parquet", "jsonl", "arrow", "xlsx", "duckdb", "sqlite", "postgresql")
AWKWARD = ["plain", None, 'say "hi", she said', "two\nlines", "a\r\nb", "semi;colon\ttab", "naïve ☃ 𝄞", " pad ", "it's"]
AWKWARD += ["007", "1.50", "2024-01-01", "NULL", "[a, b]", "_x000D_", "#N/A", "true", "\\", "\\N", "a,b"]
SPREAD = ["=1+1", "+cmd", "@x", "-x"]
CELLS: dict[str, pa.Array] = {
    "key": pa.array(["c", "b", "a"], pa.string()),
    "zeta": pa.array([3, -1, None], pa.int64()),
    "small": pa.array([3, -1, None], pa.int32()),
    "id": pa.array([2**53 + 1, -(2**63), None], pa.int64()),
    "flag": pa.array([True, False, None], pa.bool_()),
    "share": pa.array([0.1, 1e-7, None], pa.float64()),
    "round": pa.array([1.0, 2.0, None], pa.float64()),
    "single": pa.array([0.1, 2.5, None], pa.float32()),
    "money": pa.array([decimal.Decimal("1.50"), decimal.Decimal("-99999.99"), None], pa.decimal128(7, 2)),
    "long": pa.array([decimal.Decimal("1" * 20), None, None], pa.decimal128(30, 5)),
    "day": pa.array([dt.date(2024, 2, 29), dt.date(1970, 1, 1), None], pa.date32()),
    "old day": pa.array([dt.date(1871, 1, 18), dt.date(1970, 1, 1), None], pa.date32()),
    "moment": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 456000), dt.datetime(1999, 1, 1), None], pa.timestamp("us")),
    "exact": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 456789), None, None], pa.timestamp("us")),
    "text": pa.array(["a", "", None], pa.string()),
    "words": pa.array([["a", "b, c", "it's", "", None], [], None], pa.list_(pa.string())),
    "nothing": pa.array([None, None, None], pa.string()),
}
TEXT = dict.fromkeys(CELLS, "VARCHAR")
KEPT = {
    "key": "VARCHAR", "zeta": "BIGINT", "small": "INTEGER", "id": "BIGINT", "flag": "BOOLEAN", "share": "DOUBLE",
    "round": "DOUBLE", "single": "FLOAT", "money": "DECIMAL(7,2)", "long": "DECIMAL(30,5)", "day": "DATE",
    "old day": "DATE", "moment": "TIMESTAMP", "exact": "TIMESTAMP", "text": "VARCHAR", "words": "VARCHAR[]",
    "nothing": "VARCHAR",
}  # fmt: skip
# What a format cannot carry comes back as something that still reads the same.
CARRIED: dict[str, dict[str, str]] = {
    "csv": TEXT,
    "parquet": KEPT,
    "arrow": KEPT,
    "duckdb": KEPT,
    "postgresql": KEPT,
    "jsonl": KEPT | {"small": "BIGINT", "single": "DOUBLE", "money": "VARCHAR", "long": "VARCHAR"},
    "sqlite": KEPT | {"small": "BIGINT", "single": "DOUBLE", "long": "VARCHAR", "words": "VARCHAR"},
    "xlsx": KEPT
    | {"small": "BIGINT", "id": "VARCHAR", "single": "DOUBLE", "money": "DECIMAL(15,2)", "long": "VARCHAR"}
    | {"old day": "VARCHAR", "exact": "VARCHAR", "words": "VARCHAR"},
}


@pytest.fixture
def duck() -> Iterator[Any]:
    with engine() as running:
        yield running


@pytest.fixture(params=ENDINGS)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, str]:
    """Kind of a target, and where it is."""
    if request.param == "postgresql":
        return request.param, request.getfixturevalue("server").address()
    return request.param, str(tmp_path / f"x.{request.param}")


def returned(duck: Any, table: Any, target: str, name: str = "kept", **how: Any) -> Any:
    duck.write(table, target, Writing(table=name, **how))
    of_file = not target.startswith("postgresql") and not target.endswith((".xlsx", ".duckdb", ".sqlite"))
    return duck.read(target, Reading(table=None if of_file else name))


def as_text(table: Any) -> list[tuple[Any, ...]]:
    """Every cell as the text it is compared by when a release is verified."""
    sql = ", ".join(f"CAST({quoted(c)} AS VARCHAR)" for c in table.columns)
    return list(table.store.run(f"SELECT {sql} FROM {table.name} ORDER BY __keepsense_row"))


def test_every_ending_is_covered() -> None:
    elsewhere = {"rds", "rdata", "spss", "stata"}  # test_labelled.py
    covered = {format_of("postgresql://db/x" if e == "postgresql" else f"x.{e}").name for e in ENDINGS}
    assert covered | elsewhere == set(FORMATS)


def test_order_types_and_cells(duck: Any, place: tuple[str, str]) -> None:
    kind, target = place
    table = duck.read(pa.table(CELLS))
    back = returned(duck, table, target)
    assert back.columns == tuple(CELLS)
    assert dict(zip(back.columns, back.types, strict=True)) == CARRIED[kind]
    expected = as_text(table)
    if kind == "csv":  # an empty cell is a missing one to whoever reads CSV
        expected = [tuple(None if cell == "" else cell for cell in row) for row in expected]
    assert as_text(back) == expected


@pytest.mark.parametrize("safe", [True, False])
def test_awkward_texts(duck: Any, place: tuple[str, str], safe: bool) -> None:
    kind, target = place
    table = duck.read({"one": [*AWKWARD, *SPREAD], 'two "2", x': [*SPREAD, *AWKWARD]})
    expected = as_text(table)
    if safe and kind in ("csv", "xlsx"):
        expected = [tuple(f"'{cell}" if cell in SPREAD else cell for cell in row) for row in expected]
    back = returned(duck, table, target, spreadsheet_safe=safe)
    assert back.types == ("VARCHAR", "DATE") or back.types == ("VARCHAR", "VARCHAR")
    assert as_text(back) == expected


@settings(deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12),
            # SQLite knows one zero
            st.none() | st.floats(allow_nan=False, allow_infinity=False).map(lambda x: x + 0.0),
            st.none() | st.integers(-(2**63), 2**63 - 1),
            st.just("x"),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_any_cell(duck: Any, place: tuple[str, str], rows: list[tuple[Any, ...]]) -> None:
    kind, target = place
    types = (pa.string(), pa.float64(), pa.int64(), pa.string())
    table = duck.read(pa.table({f"c{j}": pa.array([row[j] for row in rows], t) for j, t in enumerate(types)}))
    expected = as_text(table)
    if kind == "csv":
        expected = [tuple(None if cell == "" else cell for cell in row) for row in expected]
    assert as_text(returned(duck, table, target, spreadsheet_safe=False)) == expected


def test_one_column_with_gaps(duck: Any, place: tuple[str, str]) -> None:
    kind, target = place
    table = duck.read({"only": ["a", None, "b", None]})
    back = [cell for (cell,) in as_text(returned(duck, table, target))]
    assert back == (["a", "b"] if kind == "xlsx" else ["a", None, "b", None])


def test_empty_tables(duck: Any, place: tuple[str, str]) -> None:
    kind, target = place
    table = duck.read(pa.table({"a": pa.array([], pa.string()), "b": pa.array([], pa.int64())}))
    if kind == "jsonl":  # a file without lines names no columns
        with pytest.raises(BadInput, match="the file is empty"):
            returned(duck, table, target)
        return
    back = returned(duck, table, target)
    assert (back.columns, back.rows) == (("a", "b"), 0)


def test_the_table_is_called_what_was_asked(duck: Any, tmp_path: Path) -> None:
    table = duck.read({"n": [1]})
    for ending in ("duckdb", "sqlite", "xlsx"):
        duck.write(table, tmp_path / f"x.{ending}", Writing(table="Health data"))
        assert duck.read(tmp_path / f"x.{ending}", Reading(table="Health data")).rows == 1
        with pytest.raises(BadInput, match="Health data"):
            duck.read(tmp_path / f"x.{ending}", Reading(table="other"))
    with pytest.raises(BadInput, match="worksheet cannot be called"):
        duck.write(table, tmp_path / "y.xlsx", Writing(table="a/b"))


# ---- SQLite ------------------------------------------------------------------------------------------------------


def test_sqlite_types_are_believed_only_where_every_cell_agrees(duck: Any, tmp_path: Path) -> None:
    path = tmp_path / "odd name #1?.sqlite"
    with closing(sqlite3.connect(path)) as base, base:
        base.execute(
            "CREATE TABLE t (age INTEGER, mixed INTEGER, born DATE, odd DATE, yes BOOLEAN, no BOOLEAN,"
            " paid NUMERIC(7, 2), rough NUMERIC(7, 2), free, seen DATETIME, raw BLOB, big INTEGER)"
        )
        for row in (
            (31, 1, "2024-02-29", "2024-02-30", 1, 1, 1.5, 1.239, 1, "2024-01-01 10:00", b"\x00a", 2**62),
            (40, "x", "1990-01-01", "1990-01-01", 0, 2, 2, 1, 2.5, "2024-01-01 10:00:00.5", None, 1.5),
        ):
            base.execute(f"INSERT INTO t VALUES ({', '.join('?' * 12)})", row)
        base.execute("CREATE VIEW v AS SELECT age, born FROM t")
    table = duck.read(path, Reading(table="t"))
    assert dict(zip(table.columns, table.types, strict=True)) == {
        "age": "BIGINT",
        "mixed": "VARCHAR",
        "born": "DATE",
        "odd": "VARCHAR",
        "yes": "BOOLEAN",
        "no": "BIGINT",
        "paid": "DECIMAL(7,2)",
        "rough": "DOUBLE",
        "free": "DOUBLE",
        "seen": "VARCHAR",
        "raw": "BLOB",
        "big": "VARCHAR",
    }
    assert duck.frame(table)["mixed"].to_pylist() == ["1", "x"]
    assert duck.frame(table)["big"].to_pylist() == [str(2**62), "1.5"]
    assert duck.frame(table)["raw"].to_pylist() == [b"\x00a", None]
    assert duck.read(path, Reading(table="v")).types == ("BIGINT", "DATE")


def test_sqlite_tables_carry_declared_types(duck: Any, tmp_path: Path) -> None:
    duck.write(duck.read(pa.table(CELLS)), tmp_path / "x.db")
    with closing(sqlite3.connect(tmp_path / "x.db")) as base:
        declared = {row[1]: row[2] for row in base.execute("PRAGMA table_info(released)")}
        assert declared["zeta"] == "INTEGER"
        assert declared["share"] == "REAL"
        assert declared["day"] == "DATE"
        assert declared["flag"] == "BOOLEAN"
        assert base.execute('SELECT day, moment, words, "flag" FROM released').fetchone() == (
            "2024-02-29",
            "2024-02-29 01:02:03.456",
            "[a, 'b, c', 'it\\'s', '', NULL]",
            1,
        )


def test_sqlite_text_that_is_no_text(duck: Any, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as base, base:
        base.execute("CREATE TABLE t (name TEXT)")
        base.execute("INSERT INTO t VALUES (CAST(x'416e6eff' AS TEXT))")
    with pytest.raises(BadInput, match="not UTF-8") as refusal:
        duck.read(tmp_path / "x.db")
    assert "Ann" not in str(refusal.value)


# ---- Excel -------------------------------------------------------------------------------------------------------


def test_workbooks_as_people_make_them(duck: Any, tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["name", "born", "seen", "n", "mixed", None])
    sheet.append(["Ann", dt.date(1990, 5, 1), dt.datetime(2024, 1, 1), 1, "a"])
    sheet.append([None] * 5)
    sheet.append(["Bo", dt.date(1991, 5, 1), dt.datetime(2024, 1, 1, 9, 30), 2.5, 7])
    sheet["B2"].number_format = "dd/mm/yyyy"
    book.save(tmp_path / "x.xlsx")
    table = duck.read(tmp_path / "x.xlsx")
    assert table.columns == ("name", "born", "seen", "n", "mixed")
    assert table.types == ("VARCHAR", "DATE", "TIMESTAMP", "DOUBLE", "VARCHAR")
    assert table.rows == 2, "blank rows are left out"
    sheet["B1"] = None
    book.save(tmp_path / "x.xlsx")
    with pytest.raises(BadInput, match="different column names"):
        duck.read(tmp_path / "x.xlsx")


def test_dates_in_workbooks_are_dates(duck: Any, tmp_path: Path) -> None:
    duck.write(duck.read(pa.table(CELLS)), tmp_path / "x.xlsx")
    sheet = openpyxl.load_workbook(tmp_path / "x.xlsx").active
    assert sheet is not None
    row = dict(zip(CELLS, sheet[2], strict=True))
    assert row["day"].is_date
    assert row["moment"].is_date
    assert row["flag"].value is True
    assert row["money"].value == 1.5
    assert row["money"].number_format.startswith("0.00")
    with pytest.raises(BadInput, match="32,767 characters"):
        duck.write(duck.read({"t": ["x" * 40_000]}), tmp_path / "y.xlsx")


# ---- JSON lines, Arrow, DuckDB, CSV ------------------------------------------------------------------------------


def test_json_texts_stay_as_they_are_spelled(duck: Any, tmp_path: Path) -> None:
    lines = ['{"when": "01/02/2024", "id": "ABCDEF00-0000-0000-0000-000000000001", "day": "2024-01-01"}'] * 30_000
    lines.append('{"when": "x", "day": "2024-01-02", "late": 1}')
    (tmp_path / "x.jsonl").write_text("\n".join(lines), encoding="utf-8")
    table = duck.read(tmp_path / "x.jsonl")
    assert dict(zip(table.columns, table.types, strict=True)) == {
        "when": "VARCHAR",
        "id": "VARCHAR",
        "day": "DATE",
        "late": "BIGINT",
    }
    assert as_text(table)[0][:2] == ("01/02/2024", "ABCDEF00-0000-0000-0000-000000000001")


def test_arrow_streams_and_files_in_batches(duck: Any, tmp_path: Path) -> None:
    data = pa.table({"n": list(range(1000)), "job": pa.array(["nurse", "clerk"] * 500).dictionary_encode()})
    with pa.OSFile(str(tmp_path / "s.arrow"), "wb") as sink, pa.ipc.new_stream(sink, data.schema) as out:
        out.write_table(data, max_chunksize=64)
    with pa.OSFile(str(tmp_path / "f.arrow"), "wb") as sink, pa.ipc.new_file(sink, data.schema) as out:
        out.write_table(data, max_chunksize=64)
    for name in ("s.arrow", "f.arrow"):
        table = duck.read(tmp_path / name)
        assert duck.frame(table)["n"].to_pylist() == list(range(1000))
        assert duck.frame(table)["job"].to_pylist() == ["nurse", "clerk"] * 500
    whole = (tmp_path / "s.arrow").read_bytes()
    (tmp_path / "cut.arrow").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(BadInput, match="not an Arrow file"):
        duck.read(tmp_path / "cut.arrow")


def test_duckdb_views_schemas_and_enums(duck: Any, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "x.duckdb")) as base:
        base.execute("CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t AS SELECT 'ok'::mood AS m, 1 AS n")
        base.execute("CREATE VIEW v AS SELECT n FROM t; CREATE SCHEMA s; CREATE TABLE s.t AS SELECT 2 AS n")
    assert duck.frame(duck.read(tmp_path / "x.duckdb", Reading(table="t"))).to_pydict() == {"m": ["ok"], "n": [1]}
    assert duck.frame(duck.read(tmp_path / "x.duckdb", Reading(table="v"))).to_pydict() == {"n": [1]}
    assert duck.frame(duck.read(tmp_path / "x.duckdb", Reading(table="s.t"))).to_pydict() == {"n": [2]}
    with pytest.raises(BadInput, match=r"it has s\.t, t, v"):
        duck.read(tmp_path / "x.duckdb")
    (tmp_path / "y.duckdb").write_bytes(b"no base" * 999)
    with pytest.raises(BadInput, match="not a DuckDB database"):
        duck.read(tmp_path / "y.duckdb")


def test_csv_tells_empty_from_missing_to_those_who_look(duck: Any, tmp_path: Path) -> None:
    duck.write(duck.read({"a": ["", None, "x"], "n": [1, 2, 3]}), tmp_path / "x.csv")
    assert (tmp_path / "x.csv").read_bytes() == b'a,n\n"",1\n,2\nx,3\n'


# ---- streams -----------------------------------------------------------------------------------------------------


def test_a_stream_is_never_asked_for_more_than_it_gives(duck: Any) -> None:
    asked = []

    def batches() -> Iterator[pa.RecordBatch]:
        for i in range(50):
            asked.append(i)
            yield pa.record_batch({"n": pa.array([i] * 100)})

    table = duck.read(pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64())]), batches()))
    assert table.rows == 5000
    assert asked == list(range(50))


def test_what_breaks_in_a_stream_is_told_as_it_is(duck: Any) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"n": [1]})
        raise BadInput("line 2 is torn")

    with pytest.raises(BadInput, match="line 2 is torn"):
        duck.read(pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64())]), batches()))
    with pytest.raises(BadInput, match="rename it"):
        duck.read(pa.table({"__keepsense_row": [1]}))


def test_profiles_of_times_with_zones(duck: Any) -> None:
    moment = dt.datetime(2024, 1, 1, tzinfo=dt.UTC)
    (found,) = duck.profiles(duck.read(pa.table({"t": pa.array([moment, moment, None], pa.timestamp("us", "UTC"))})))
    assert (found.distinct, found.missing) == (1, 1)
    assert next(iter(found.values)) == moment


def test_places_that_cannot_be_written_to(duck: Any, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    table = duck.read({"n": [1]})
    with pytest.raises(BadInput, match=r"folder\.csv: the file cannot be written"):
        duck.write(table, tmp_path / "folder.csv")
    for ending in ("csv", "xlsx", "sqlite"):
        with pytest.raises(BadInput, match="the file cannot be written"):
            duck.write(table, tmp_path / f"{'n' * 300}.{ending}")
    duck.write(table, tmp_path / f"{'n' * 240}.csv")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["folder.csv", f"{'n' * 240}.csv"]


def test_parquet_kept_whole(duck: Any, tmp_path: Path) -> None:
    duck.write(duck.read(pa.table(CELLS)), tmp_path / "x.parquet")
    assert pq.read_table(tmp_path / "x.parquet").to_pydict() == pa.table(CELLS).to_pydict()


def test_a_new_format_is_one_entry(duck: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines, the verifier's connection and lists of formats know it at once."""

    def write_lines(store: Store, query: str, part: Path, writing: Writing) -> None:
        part.write_text("".join(f"{job}\n" for (job,) in store.run(query)), encoding="utf-8")

    def read_lines(store: Store, source: str, reading: Reading) -> str:
        return store.keep_arrow(pa.table({"job": Path(source).read_text(encoding="utf-8").splitlines()}))

    for part in ("_entries", "_spellings"):
        monkeypatch.setattr(FORMATS, part, dict(getattr(FORMATS, part)))
    register(Format("lines", (".lines",), read_lines, write_lines, runs_formulas=True))
    duck.write(duck.read({"job": ["nurse", "=1+1"]}), tmp_path / "x.lines")
    assert duck.frame(duck.read(tmp_path / "x.lines")).to_pydict() == {"job": ["nurse", "'=1+1"]}
    with duck.sql() as connection:
        connection.table("released", tmp_path / "x.lines")
        assert connection.run("SELECT c0 FROM released") == [("nurse",), ("'=1+1",)]
    assert "lines" in names()
