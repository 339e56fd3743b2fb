"""What the verifier gets: tables of text under names, SQL in, rows out. Held to by every engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.spark import EVERY_ENGINE, session, started

from keepsense.engines.protocol import Reading, Writing, sql
from keepsense.errors import BadInput

PEOPLE = {"job": ["nurse", "clerk", None], "Job": [31, 40, 52], "likes": [["tea", "milk"], ["tea"], None]}
AS_TEXT = [("nurse", "31", "[tea, milk]"), ("clerk", "40", "[tea]"), (None, "52", None)]


@pytest.fixture(params=EVERY_ENGINE)
def name(request: pytest.FixtureRequest) -> str:
    if request.param == "spark":
        session()
    return str(request.param)


@pytest.fixture
def connection(name: str) -> Iterator[Any]:
    with sql(name) as running:
        yield running


@pytest.mark.parametrize(
    "source",
    [lambda: PEOPLE, lambda: pa.table(PEOPLE), lambda: pa.table(PEOPLE).to_reader()],
    ids=["columns", "arrow", "stream"],
)
def test_a_frame_becomes_a_table_of_text(connection: Any, source: Any) -> None:
    table = connection.table("released", source())
    assert table.columns == ("job", "Job", "likes")
    assert table.lists == {"likes"}
    assert table.column("Job") == "c1"
    assert connection.run("SELECT c0, c1, c2 FROM released ORDER BY c1") == AS_TEXT


def test_polars_and_pandas_frames(connection: Any) -> None:
    pl, pd = pytest.importorskip("polars"), pytest.importorskip("pandas")
    connection.table("polars_frame", pl.DataFrame(PEOPLE))
    connection.table("lazy", pl.LazyFrame(PEOPLE))
    connection.table("pandas_frame", pd.DataFrame({"job": PEOPLE["job"], "age": PEOPLE["Job"]}))
    assert connection.run("SELECT * FROM polars_frame") == AS_TEXT == connection.run("SELECT * FROM lazy")
    assert connection.run("SELECT * FROM pandas_frame") == [row[:2] for row in AS_TEXT]


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "parquet", "xlsx", "jsonl", "arrow", "duckdb", "sqlite"])
def test_a_file_of_any_format(connection: Any, name: str, ending: str, tmp_path: Path) -> None:
    file = tmp_path / f"people.{ending}"
    with started(name) as running:
        running.write(running.read({"job": ["nurse", "clerk"], "age": [31, 40]}), file)
    assert connection.table("released", file).columns == ("job", "age")
    assert connection.run("SELECT * FROM released") == [("nurse", "31"), ("clerk", "40")]


def test_how_a_file_is_read_may_be_told(connection: Any, name: str, tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text('a|b\n"x,y"|""\n', encoding="utf-8")
    connection.table("text", tmp_path / "people.csv", Reading(delimiter="|"))
    assert connection.run("SELECT * FROM text") == [("x,y", "")]
    with started(name) as running:
        running.write(running.read({"a": [1]}), tmp_path / "people.sqlite", Writing(table="staff"))
    connection.table("base", tmp_path / "people.sqlite", Reading(table="staff"))
    assert connection.run("SELECT * FROM base") == [("1",)]


def test_lists_stay_lists_where_that_is_asked_for(connection: Any) -> None:
    connection.table("sets", {"record": [1, 2], "items": [[3, 4], []]}, keep_lists=True)
    assert connection.run("SELECT * FROM sets") == [("1", ["3", "4"]), ("2", [])]


def test_columns_beside_a_table_join_it_row_by_row(connection: Any, tmp_path: Path) -> None:
    (tmp_path / "released.csv").write_text("job\nnurse\nclerk\n", encoding="utf-8")
    table = connection.table("released", tmp_path / "released.csv", beside={"person": ["Ann", "Bo"]})
    assert table.columns == ("job", "person")
    assert connection.run("SELECT c0, c1 FROM released") == [("nurse", "Ann"), ("clerk", "Bo")]
    with pytest.raises(BadInput, match="another number of rows"):
        connection.table("other", {"job": ["nurse"]}, beside={"person": ["Ann", "Bo"]})


def test_what_cannot_be_read_is_refused_without_its_cells(connection: Any, tmp_path: Path) -> None:
    (tmp_path / "people.parquet").write_bytes(b"Ann Smith, flu")
    with pytest.raises(BadInput, match=r"the file 'people.parquet' cannot be read back") as refused:
        connection.table("released", tmp_path / "people.parquet")
    assert "Smith" not in str(refused.value)
    with pytest.raises(BadInput, match="there is no such file"):
        connection.table("released", tmp_path / "nowhere.csv")


def test_a_closed_connection_leaves_nothing_behind(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with sql(name) as connection:
        connection.table("people", PEOPLE)
    assert not list(tmp_path.iterdir())


def test_rows_are_added_up_whole_whatever_their_order(connection: Any) -> None:
    tables = {
        "a": {"job": ["nurse", "clerk", None], "ill": ["flu", "cold", "flu"]},
        "reordered": {"job": ["clerk", None, "nurse"], "ill": ["cold", "flu", "flu"]},
        "exchanged": {"job": ["clerk", "nurse", None], "ill": ["flu", "cold", "flu"]},
        "moved": {"job": ["nurse", "clerk", "flu"], "ill": ["flu", "cold", None]},
    }
    for name, columns in tables.items():
        connection.table(name, columns)
    sums = {name: connection.row_sums(name, ["c0", "c1"], "secret") for name in tables}
    assert sums["a"] == sums["reordered"]
    assert sums["a"] not in (sums["exchanged"], sums["moved"])
    assert sums["a"] != connection.row_sums("a", ["c0", "c1"], "another")


@pytest.mark.parametrize("few", [0, 10])
def test_tables_that_sql_made_are_asked_like_others(
    connection: Any, name: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the driver has a copy of what executors made, or not; and those that only the driver made go to them."""
    if name == "spark":
        monkeypatch.setattr("keepsense.engines.spark.sql.FEW", few)
    connection.table("people", {"job": ["nurse", "clerk", "nurse", None], "ill": ["flu", "people", "cold", "it's"]})
    connection.run("CREATE TABLE jobs AS SELECT c0 AS job, count(*) AS n FROM people GROUP BY c0")
    connection.run("CREATE TABLE common AS SELECT job, CAST(sum(n) AS BIGINT) AS n FROM jobs WHERE n > 1 GROUP BY job")
    assert connection.run("SELECT count(*) FROM people") == [(4,)]
    assert connection.run("SELECT count(*) FROM jobs") == [(3,)]
    assert connection.run("SELECT job, n FROM common") == [("nurse", 2)]
    joined = "SELECT p.c1, c.n FROM people p JOIN common c ON p.c0 = c.job ORDER BY p.c1"
    assert connection.run(joined) == [("cold", 2), ("flu", 2)]
    text = "SELECT count(*) FROM jobs WHERE job = 'people' OR job = 'it''s'"
    assert connection.run(text) == [(0,)], "names in texts are no tables"
    connection.run("CREATE TABLE again AS SELECT sum(n) AS n FROM common")
    assert [int(row[0]) for row in connection.run("SELECT a.n FROM again a JOIN people p ON p.c1 = 'flu'")] == [2]
    assert len(set(connection.row_sums("jobs", ["job"], "secret"))) == 3
