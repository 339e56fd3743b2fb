"""Tables of PostgreSQL: types both ways, one transaction, nobody else's tables, no secrets in errors."""

from __future__ import annotations

import datetime as dt
import decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.postgresql import Server, server

from keepsense.engines.formats.postgresql import MARK, as_csv, mark, opened, same_table, split_name, staged
from keepsense.engines.protocol import Reading, Writing, engine
from keepsense.errors import BadInput, InDoubt

__all__ = ["server"]

UTC = dt.UTC
AWKWARD = ["plain", "", None, 'say "hi", she said', "two\nlines", "a\r\nb", "\\.", "a\n\\.\nb", "naïve ☃ 𝄞", "'; --"]
TYPED = {
    "flag": pa.array([True, False, None], pa.bool_()),
    "small": pa.array([1, -32768, None], pa.int16()),
    "whole": pa.array([1, 2**31 - 1, None], pa.int32()),
    "big": pa.array([1, -(2**63), None], pa.int64()),
    "single": pa.array([0.1, float("inf"), None], pa.float32()),
    "double": pa.array([0.1, 1e-300, None], pa.float64()),
    "money": pa.array([decimal.Decimal("1.50"), decimal.Decimal("-99999.99"), None], pa.decimal128(7, 2)),
    "day": pa.array([dt.date(2024, 2, 29), dt.date(1, 1, 1), None], pa.date32()),
    "moment": pa.array([dt.datetime(2024, 2, 29, 1, 2, 3, 456789), dt.datetime(1999, 1, 1), None], pa.timestamp("us")),
    "instant": pa.array([dt.datetime(2024, 2, 29, 1, tzinfo=UTC), None, None], pa.timestamp("us", "UTC")),
    "text": pa.array(["a", "", None], pa.string()),
    "raw": pa.array([b"\x00\xff", b"", None], pa.binary()),
    "words": pa.array([["a", 'b "c"', "d,e\\", "", None, "NULL", "{}"], [], None], pa.list_(pa.string())),
    "numbers": pa.array([[1, 2], [], None], pa.list_(pa.int64())),
}


def release(where: Server, table: str, data: pa.Table) -> None:
    with staged(where.address(), table) as stage:
        stage.write(data.to_reader())
        stage.commit()


def read(where: Server, table: str, size: int = 2) -> pa.Table:
    with opened(where.address(), table, size=size) as reader:
        return reader.read_all()


def test_types_order_and_cells_survive(server: Server) -> None:
    data = pa.table(TYPED)
    release(server, "typed", data)
    back = read(server, "typed")
    assert back.schema == data.schema
    assert back.equals(data)


def test_awkward_texts_survive(server: Server) -> None:
    data = pa.table({'odd "name"; --': pa.array(AWKWARD), "words": pa.array([[t] for t in AWKWARD])})
    release(server, '"odd ""table""; --"', data)
    assert read(server, '"odd ""table""; --"').equals(data)
    one = pa.table({"t": pa.array([None, "", None])})
    release(server, "one", one)
    assert read(server, "one").equals(one)


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(
            st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8")),
            st.none() | st.floats(allow_nan=False),
            st.none() | st.lists(st.none() | st.text(st.characters(exclude_characters="\0", codec="utf-8"))),
        ),
        max_size=8,
    )
)
def test_any_text_number_and_list_survives(server: Server, rows: list[tuple[Any, ...]]) -> None:
    kinds = (pa.string(), pa.float64(), pa.list_(pa.string()))
    data = pa.table({f"c{j}": pa.array([row[j] for row in rows], kind) for j, kind in enumerate(kinds)})
    with staged(server.address(), "anything") as stage:
        stage.write(data.to_reader())
        assert stage.read().read_all().equals(data)


def test_slices_and_dictionaries_are_copied_right() -> None:
    lists = pa.array([["x"], ["a", "b"], None, ["c"]], pa.list_(pa.string())).slice(1, 2)
    words = pa.array(["p", "q", "p", "q"]).dictionary_encode().slice(1, 2)
    batch = pa.record_batch([lists, words], names=["l", "w"])
    assert as_csv(batch).decode() == '"{""a"",""b""}","q"\n,"p"\n'


def test_types_of_foreign_tables(server: Server) -> None:
    server.execute(
        "CREATE TYPE mood AS ENUM ('sad', 'ok')",
        "CREATE DOMAIN age AS integer CHECK (VALUE >= 0)",
        "CREATE TABLE foreign_types (u uuid, c char(5), v varchar(9), m mood, a age, n numeric, big numeric,"
        " odd numeric, j jsonb, t time, i interval, b bytea, tz timestamptz, ms mood[], dates date[])",
        "INSERT INTO foreign_types VALUES ('00000000-0000-0000-0000-000000000001', 'ab', 'cd', 'ok', 7, 1.25, 1e30,"
        " 'NaN', '{\"a\": 1}', '10:00', '1 day', '\\x00ff', '2024-01-01 00:00+02', '{ok,sad}', '{2024-01-01}')",
        "INSERT INTO foreign_types (n, odd) VALUES (10, 1)",
        "CREATE TABLE wide (n numeric)",
        "INSERT INTO wide VALUES (1e40), (0.001)",
    )
    back = read(server, "foreign_types")
    assert back.to_pylist()[0] == {
        "u": "00000000-0000-0000-0000-000000000001",
        "c": "ab",
        "v": "cd",
        "m": "ok",
        "a": 7,
        "n": decimal.Decimal("1.25"),
        "big": decimal.Decimal("1e30"),
        "odd": pytest.approx(float("nan"), nan_ok=True),
        "j": '{"a": 1}',
        "t": "10:00:00",
        "i": "1 day",
        "b": b"\x00\xff",
        "tz": dt.datetime(2023, 12, 31, 22, tzinfo=UTC),
        "ms": ["ok", "sad"],
        "dates": ["2024-01-01"],
    }
    assert back.schema.field("a").type == pa.int32()
    assert back.schema.field("n").type == pa.decimal128(18, 2)
    assert read(server, "wide").to_pydict() == {"n": [1e40, 0.001]}


def test_reading_is_a_stream_of_one_snapshot(server: Server) -> None:
    server.execute("CREATE TABLE many AS SELECT generate_series(1, 5000) AS n")
    with opened(server.address(), "many", size=1000) as reader:
        sizes = [reader.read_next_batch().num_rows]
        server.execute("DELETE FROM many")
        sizes += [batch.num_rows for batch in reader]
    assert sizes == [1000] * 5
    assert server.execute("SELECT count(*) FROM many") == [(0,)]


def test_nobody_sees_a_release_before_its_commit(server: Server) -> None:
    data = pa.table({"n": [1, 2, 3]})
    with staged(server.address(), "quiet") as stage:
        assert stage.write(data.to_reader()) == 3
        assert stage.read().read_all().equals(data)
        assert stage.read().read_all().equals(data), "more than once"
        assert server.execute("SELECT to_regclass('quiet')") == [(None,)]
        stage.commit()
    assert server.execute("SELECT n FROM quiet ORDER BY n") == [(1,), (2,), (3,)]
    names = server.execute("SELECT attname FROM pg_attribute WHERE attrelid = 'quiet'::regclass AND attnum > 0")
    assert names == [("n",)], "no row number"


def leftovers(where: Server) -> list[tuple[Any, ...]]:
    return where.execute("SELECT relname FROM pg_class WHERE relname LIKE 'keepsense_unverified%'")


@pytest.mark.parametrize("failure", [KeyboardInterrupt, RuntimeError, None])
def test_without_commit_nothing_changes(server: Server, failure: type[BaseException] | None) -> None:
    server.execute("DROP TABLE IF EXISTS kept")
    release(server, "kept", pa.table({"n": [1]}))

    def fail() -> None:
        with staged(server.address(), "kept") as stage:
            stage.write(pa.table({"other": ["x"]}).to_reader())
            if failure is not None:
                raise failure()

    if failure is None:
        fail()
    else:
        with pytest.raises(failure):
            fail()
    assert server.execute("SELECT n FROM kept") == [(1,)]
    assert leftovers(server) == []


def test_an_error_while_copying_leaves_nothing(server: Server) -> None:
    def batches() -> Any:
        yield pa.record_batch({"n": [1]})
        raise RuntimeError("the source broke")

    with pytest.raises(RuntimeError, match="broke"), staged(server.address(), "broken") as stage:
        stage.write(pa.RecordBatchReader.from_batches(pa.schema([("n", pa.int64())]), batches()))
    assert server.execute("SELECT to_regclass('broken')") == [(None,)]
    assert leftovers(server) == []


def test_a_lost_connection_leaves_nothing(server: Server) -> None:
    with staged(server.address(), "lost") as stage:
        stage.write(pa.table({"n": [1]}).to_reader())
        server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keepsense'")
        with pytest.raises(BadInput, match="connection to the server was lost"):
            stage.commit()
    assert server.execute("SELECT to_regclass('lost')") == [(None,)]
    assert leftovers(server) == []


@pytest.mark.parametrize(("lost", "asked"), [("after", True), ("before", True), ("after", False)])
def test_an_answer_that_is_lost_is_asked_for_again(
    server: Server, monkeypatch: pytest.MonkeyPatch, lost: str, asked: bool
) -> None:
    """A connection that breaks while it commits does not say whether it did; a new one does, if there is one."""
    import psycopg

    def commit() -> None:
        if lost == "after":
            whole()
        raise psycopg.OperationalError("server closed the connection unexpectedly")

    name = f"doubt_{lost}_{asked}".lower()
    with staged(server.address(), name) as stage:
        stage.write(pa.table({"n": [1]}).to_reader())
        whole = stage._base.commit
        monkeypatch.setattr(stage._base, "commit", commit)
        if not asked:
            monkeypatch.setattr(stage, "_address", "postgresql://nobody@127.0.0.1:1/none")
        if lost == "before":
            with pytest.raises(BadInput, match="nothing was changed"):
                stage.commit("ab12")
        elif not asked:
            with pytest.raises(InDoubt, match="nobody knows whether it is there"):
                stage.commit("ab12")
        else:
            stage.commit("ab12")
    there = lost == "after"
    assert server.execute(f"SELECT to_regclass('{name}') IS NOT NULL") == [(there,)]
    assert mark(server.address(), name) == ("ab12" if there else None)


def test_an_earlier_release_is_replaced_and_nothing_else(server: Server) -> None:
    server.execute(
        "CREATE SCHEMA shop", "CREATE TABLE shop.customers (secret text)", "CREATE VIEW shop.v AS SELECT 1 AS n"
    )
    release(server, "shop.release", pa.table({"n": [1]}))
    release(server, "shop.release", pa.table({"other": ["x"]}))
    assert server.execute("SELECT other FROM shop.release") == [("x",)]
    assert server.execute("SELECT obj_description('shop.release'::regclass)") == [(MARK,)]
    for name in ("shop.customers", "shop.v"):
        with pytest.raises(BadInput, match="that Keepsense did not release"), staged(server.address(), name):
            raise AssertionError("refused before anything is computed")
    assert server.execute("SELECT count(*) FROM shop.customers") == [(0,)]


def test_a_table_that_appears_meanwhile_is_kept(server: Server) -> None:
    with staged(server.address(), "sudden") as stage:
        stage.write(pa.table({"n": [1]}).to_reader())
        server.execute("CREATE TABLE sudden (mine text)", "INSERT INTO sudden VALUES ('precious')")
        with pytest.raises(BadInput, match="did not release"):
            stage.commit()
    assert server.execute("SELECT mine FROM sudden") == [("precious",)]


def test_views_on_an_earlier_release_stop_it(server: Server) -> None:
    release(server, "viewed", pa.table({"n": [1]}))
    server.execute("CREATE VIEW on_viewed AS SELECT * FROM viewed")
    with pytest.raises(BadInput, match="depends on the earlier release"):
        release(server, "viewed", pa.table({"n": [2]}))
    assert server.execute("SELECT n FROM viewed") == [(1,)]


def test_the_engine_reads_and_writes_tables(server: Server) -> None:
    with engine() as duck:
        table = duck.read({"job": ["nurse", None, ""], "age": [31, 40, 52], "likes": [["tea"], [], None]})
        duck.write(table, server.address(), Writing(table="by_engine"))
        back = duck.read(server.address(), Reading(table="by_engine"))
        assert back.columns == ("job", "age", "likes")
        assert back.types == ("VARCHAR", "BIGINT", "VARCHAR[]")
        assert duck.frame(back).to_pydict() == duck.frame(table).to_pydict()
        many = duck.read({"n": list(range(500))})
        duck.write(many, server.address(), Writing(table="shuffled", shuffle=True), rng=1)
        rows = [n for (n,) in server.execute("SELECT n FROM shuffled")]
        assert rows != list(range(500))
        assert sorted(rows) == list(range(500))
        days = pa.array([pa.MonthDayNano([0, 1, 0])], pa.month_day_nano_interval())
        odd = duck.read(
            pa.table({"s": [{"a": 1}], "i": days, "m": pa.array([[("k", 2)]], pa.map_(pa.string(), pa.int64()))})
        )
        duck.write(odd, server.address(), Writing(table="odd"))
        assert server.execute("SELECT s, i, m FROM odd") == [("{'a': 1}", "1 day", "{k=2}")]
        with pytest.raises(BadInput, match="say which PostgreSQL table"):
            duck.read(server.address())


SECRET = "s3cr3t-Wörd"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("postgresql://gertrude:{secret}@127.0.0.1:1/base", "no server answers"),
        ("postgresql://{owner}:{secret}@127.0.0.1:{port}/postgres", "the user or the password is wrong"),
        ("postgresql://stranger:{secret}@127.0.0.1:{port}/postgres", "the user or the password is wrong"),
        ("postgresql://gertrude:{secret}@no-such-host.invalid/base", "no server has this host name"),
        ("postgresql://gertrude:{secret}@127.0.0.1:{port}/postgres?strange={secret}", "address cannot be understood"),
        ("postgresql://gertrude:{secret}@127.0.0.1:port/x", "PostgreSQL: "),
        ("postgresql://{owner}@127.0.0.1:{port}/postgres", "set PGPASSWORD"),
        ("postgresql://{owner}:{right}@127.0.0.1:{port}/nobase", "no such database"),
    ],
)
def test_no_secret_appears_in_an_error(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Any, address: str, message: str
) -> None:
    for name in ("PGPASSWORD", "PGSERVICE", "PGUSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    given = address.format(secret=SECRET, owner="keeper", right=server.password, port=server.port)

    def read_it() -> None:
        with opened(given, "people"):
            pass

    def write_it() -> None:
        with staged(given, "people"):
            pass

    for attempt in (read_it, write_it):
        with pytest.raises(BadInput, match=message) as refusal:
            attempt()
        for secret in (SECRET, server.password, "keeper", "gertrude", "127.0.0.1", "no-such-host", str(server.port)):
            assert secret not in str(refusal.value)
        assert refusal.value.__suppress_context__


def test_no_cell_appears_in_an_error(server: Server) -> None:
    with pytest.raises(BadInput, match="such as NUL") as refusal:
        release(server, "nul", pa.table({"t": ["Ann has\0flu"]}))
    assert "Ann" not in str(refusal.value)
    server.execute("CREATE TABLE endless (name text, born date)", "INSERT INTO endless VALUES ('Ann', 'infinity')")
    with pytest.raises(BadInput, match=r"infinite date.*born") as refusal:
        read(server, "endless")
    assert "Ann" not in str(refusal.value)
    server.execute("CREATE TABLE deep (t text[])", "INSERT INTO deep VALUES ('{{Ann,Bo},{Cy,Di}}')")
    with pytest.raises(BadInput, match="column 't'") as refusal:
        read(server, "deep")
    assert "Ann" not in str(refusal.value)
    with engine() as duck, pytest.raises(BadInput, match=r"infinite date.*born"):
        duck.read(server.address(), Reading(table="endless"))


def test_missing_tables_and_permissions(server: Server) -> None:
    server.execute("CREATE TABLE patients (n int)", "CREATE ROLE guest LOGIN PASSWORD 'guest'")
    with pytest.raises(BadInput, match="Did you mean patients"):
        read(server, "patient")
    with pytest.raises(BadInput, match="there are: none"):
        read(server, "nowhere.people")
    with pytest.raises(BadInput, match="no such schema"):
        release(server, "nowhere.people", pa.table({"n": [1]}))
    guest = server.address(user="guest", password="guest")
    with pytest.raises(BadInput, match="may not do that"), opened(guest, "patients") as reader:
        reader.read_all()
    with pytest.raises(BadInput, match="may not do that"), staged(guest, "mine") as stage:
        stage.write(pa.table({"n": [1]}))


def test_stages_are_used_in_order(server: Server) -> None:
    with staged(server.address(), "early") as stage:
        with pytest.raises(BadInput, match="write before reading"):
            stage.read()
        with pytest.raises(BadInput, match="write before committing"):
            stage.commit()
        with pytest.raises(BadInput, match="1 to 63 bytes"):
            stage.write(pa.table({"n" * 64: [1]}))


def test_names() -> None:
    assert split_name('"a.b"."c""d"') == ("a.b", 'c"d')
    assert split_name("people 2024") == (None, "people 2024")
    for bad in ("", ".", "a.", "a.b.c", '"a', 'a"b', "a" * 64, 'x."'):
        with pytest.raises(BadInput):
            split_name(bad)


def test_one_table_under_many_addresses(server: Server) -> None:
    server.execute("CREATE TABLE source (n int)", "CREATE SCHEMA elsewhere", "CREATE TABLE elsewhere.source (n int)")
    here, socket = (
        server.address(),
        f"postgresql://keeper:{server.password}@/postgres?host={server.socket}&port={server.port}",
    )
    assert same_table(here, "source", socket, "source")
    assert same_table(here, "source", here, "public.source")
    assert same_table(here, "source", here.replace("127.0.0.1", "LOCALHOST"), '"public"."source"')
    assert not same_table(here, "source", here, "elsewhere.source")
    assert not same_table(here, "source", socket, "other")
    assert not same_table(here, "source", server.address("template1"), "source")
    assert not same_table(here, "absent", here, "public.absent"), "what is not there is no source"
