"""PostgreSQL tables: read in a stream, released in one transaction that no one sees before it is verified.

The password belongs into the environment (`PGPASSWORD`) or into `~/.pgpass`, where PostgreSQL's own tools look too.
Addresses, passwords and cells never appear in an error.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from keepsense.engines.duckdb_store import Store
from keepsense.engines.formats.table_formats import Database, Format, register
from keepsense.engines.protocol import Reading
from keepsense.errors import BadInput, InDoubt, MissingExtra, did_you_mean

# A connection, and its errors in our words: PostgreSQL's own may hold addresses, passwords or cells


@contextmanager
def connected(address: str) -> Iterator[Any]:
    """A connection with a transaction of its own, closed at the end."""
    try:
        import psycopg
        from psycopg.conninfo import conninfo_to_dict, make_conninfo
    except ImportError:
        raise MissingExtra("PostgreSQL needs psycopg; install keepsense[postgresql]") from None
    try:
        patient = "connect_timeout" in conninfo_to_dict(address) or "PGCONNECT_TIMEOUT" in os.environ
        whole = make_conninfo(address, **({} if patient else {"connect_timeout": 15}))
        base = psycopg.connect(whole, client_encoding="utf8", application_name="keepsense")
    except psycopg.ProgrammingError:
        raise BadInput(
            "PostgreSQL: the address cannot be understood; write it as postgresql://user@host:port/database"
        ) from None
    except psycopg.Error as error:
        raise BadInput(f"PostgreSQL: {_unreachable(str(error))}") from None
    try:
        # rows in the order they were written, times in one zone
        base.execute("SET synchronize_seqscans = off")
        base.execute("SET TIME ZONE 'UTC'")
        base.commit()
        yield base
    finally:
        base.close()


def _unreachable(message: str) -> str:
    """Why no connection was made, without the host, the user or the password that the driver's words hold."""
    for sign, meaning in (
        ("no password supplied", "the server wants a password; set PGPASSWORD, or put it into ~/.pgpass"),
        ("password authentication failed", "the user or the password is wrong"),
        ("authentication failed", "the server does not let this user in"),
        ("pg_hba.conf", "the server does not let this user in from here"),
        ("resolve host", "no server has this host name; check the address"),
        ("translate host name", "no server has this host name; check the address"),
        ("role ", "the server does not know this user"),
        ("database ", "the server has no such database, or this user may not open it"),
        ("too many", "the server has no connection to spare; try again later"),
        ("timeout", "the server did not answer in time; check host and port"),
        ("refused", "no server answers there; check host and port, and that it is running"),
        ("No such file", "no server answers there; check host and port, and that it is running"),
    ):
        if sign in message:
            return meaning
    return "no connection could be made; check the address, and that the server is running"


_REASONS = {
    "42501": "this user may not do that; ask the owner of the database",
    "3F000": "there is no such schema",
    "22021": "a text holds a character that the database cannot keep, such as NUL",
    "22P05": "a text holds a character that the database cannot keep",
    "2BP01": "a view or another object depends on the earlier release; remove it first",
    "53100": "the server's disk is full",
    "25006": "the server takes no changes",
}


@contextmanager
def plainly(failure: str) -> Iterator[None]:
    """PostgreSQL's complaints in our words: its own may quote cells."""
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        state = error.sqlstate or ""
        reason = _REASONS.get(state)
        if reason is None and (not state or state.startswith(("08", "57"))) and not _is_about_data(error):
            reason = "the connection to the server was lost"
        raise BadInput(f"PostgreSQL: {failure} ({reason or type(error).__name__})") from None


def _is_about_data(error: Exception) -> bool:
    import psycopg

    return isinstance(error, psycopg.DataError | psycopg.ProgrammingError | psycopg.NotSupportedError)


# Names of tables, and whether two addresses mean the same table

LONGEST_NAME = 63
"""Bytes of a name that PostgreSQL keeps; it cuts longer ones without a word."""

_PART = r'"(?:[^"]|"")+"|[^".]+'


def split_name(table: str) -> tuple[str | None, str]:
    """Schema, if one is named, and table of `table` or `schema.table`; names with a dot stand in double quotes.

    >>> split_name("people"), split_name("health.people"), split_name('health."people.2024"')
    ((None, 'people'), ('health', 'people'), ('health', 'people.2024'))
    """
    if not re.fullmatch(rf"({_PART})(\.({_PART}))?", table):
        raise BadInput(f"{table!r} is no name of a PostgreSQL table; write table or schema.table")
    parts = [p[1:-1].replace('""', '"') if p.startswith('"') else p for p in re.findall(_PART, table)]
    for part in parts:
        check_name(part, "table")
    return (parts[0], parts[1]) if len(parts) == 2 else (None, parts[0])


def check_name(name: str, what: str) -> None:
    """Refuse a name that PostgreSQL would cut without a word."""
    if not name or len(name.encode()) > LONGEST_NAME:
        raise BadInput(f"the {what} name {name!r} does not fit PostgreSQL: it takes 1 to {LONGEST_NAME} bytes")


def same_table(address: str, table: str, other_address: str, other_table: str) -> bool:
    """Whether two addresses and names mean one table; so a release cannot replace its own source.

    Equal spellings are the same without asking. Otherwise both servers are asked who they are, since one server has
    many names (localhost, an address, a socket), and a copy of it for reading has its own.

    >>> same_table("postgresql://db/people", "staff", "postgres://ann:secret@DB:5432/people", "staff")
    True
    """
    first, second = _normal(address, table), _normal(other_address, other_table)
    if first == second:
        return True
    if first[-1] != second[-1]:
        return False
    numbers = _identity(address, table)
    return numbers is not None and numbers == _identity(other_address, other_table)


def _normal(address: str, table: str) -> tuple[str, ...]:
    """An address and a table spelled one way, with what PostgreSQL fills in where nothing is said."""
    try:
        from psycopg import ProgrammingError
        from psycopg.conninfo import conninfo_to_dict
    except ImportError:
        raise MissingExtra("PostgreSQL needs psycopg; install keepsense[postgresql]") from None
    try:
        parts = {name: str(value) for name, value in conninfo_to_dict(address).items()}
    except ProgrammingError:
        raise BadInput(
            "PostgreSQL: the address cannot be understood; write it as postgresql://user@host:port/database"
        ) from None
    host = parts.get("host") or os.environ.get("PGHOST", "")
    port = parts.get("port") or os.environ.get("PGPORT", "5432")
    user = parts.get("user") or os.environ.get("PGUSER", "")
    database = parts.get("dbname") or os.environ.get("PGDATABASE") or user
    schema, name = split_name(table)
    return host.lower(), port, database, schema or "", name


def _identity(address: str, table: str) -> tuple[Any, ...] | None:
    """Which server, database and table this is, in the server's own numbers; None where there is no such table."""
    from psycopg import sql

    place = split_name(table)
    relation = sql.Identifier(*(part for part in place if part is not None))
    with connected(address) as base, plainly(f"the table {table!r} cannot be looked up"):
        allowed = base.execute("SELECT has_function_privilege('pg_control_system()', 'execute')").fetchone()[0]
        who = "(SELECT system_identifier FROM pg_control_system())" if allowed else "pg_postmaster_start_time()"
        query = f"SELECT {who}, (SELECT oid FROM pg_database WHERE datname = current_database()), to_regclass(%s)::oid"
        numbers = base.execute(query, [relation.as_string(base)]).fetchone()
        return None if numbers[-1] is None else tuple(numbers)


# Columns as Arrow columns and back: the query, the type and the copied text of each

_NUMERIC = 1700
_SCALARS = {16: "bool_", 21: "int16", 23: "int32", 20: "int64", 26: "int64", 700: "float32", 701: "float64"}
_SCALARS |= {1082: "date32", 25: "string", 1043: "string", 17: "binary"}
_ARRAYS = {1000: "bool_", 1005: "int16", 1007: "int32", 1016: "int64", 1021: "float32", 1022: "float64"}


@dataclass(frozen=True)
class Incoming:
    """A column on its way out of PostgreSQL: its name, the Arrow type it gets, and the type to ask the server for."""

    name: str
    type: Any
    cast: str | None = None


def incoming(base: Any, relation: Any) -> list[Incoming]:
    """How the columns of a table or view are read; what Arrow has no type for arrives as the text the server gives."""
    import pyarrow as pa
    from psycopg import sql

    described = base.execute(sql.SQL("SELECT * FROM {} LIMIT 0").format(relation)).description or ()
    codes = [column.type_code for column in described]
    listed = base.execute("SELECT oid::bigint FROM pg_type WHERE typcategory = 'A' AND oid = ANY(%s)", [codes])
    arrays = {row[0] for row in listed.fetchall()}
    decimals = _decimals(base, relation, [column for column in described if column.type_code == _NUMERIC])
    types = {code: (getattr(pa, name)(), None) for code, name in _SCALARS.items()}
    types |= {1114: (pa.timestamp("us"), None), 1184: (pa.timestamp("us", tz="UTC"), None)}
    types |= {code: (pa.list_(pa.string()), "text[]") for code in arrays}
    types |= {code: (pa.list_(getattr(pa, name)()), None) for code, name in _ARRAYS.items()}
    text = pa.string(), "text"
    return [Incoming(c.name, *decimals.get(c.name, types.get(c.type_code, text))) for c in described]


def _decimals(base: Any, relation: Any, columns: Sequence[Any]) -> dict[str, tuple[Any, str | None]]:
    """Decimals where their digits fit one Arrow type, looked up in the data where none are declared; else doubles."""
    import pyarrow as pa
    from psycopg import sql

    if not columns:
        return {}
    measure = sql.SQL(
        "max(scale({0})), max(length(trunc(abs({0}))::text)),"
        " coalesce(bool_or({0}::text IN ('NaN', 'Infinity', '-Infinity')), false)"
    )
    digits = sql.SQL(", ").join(measure.format(sql.Identifier(column.name)) for column in columns)
    measured = base.execute(sql.SQL("SELECT {} FROM {}").format(digits, relation)).fetchone()
    types: dict[str, tuple[Any, str | None]] = {}
    for j, column in enumerate(columns):
        scale, whole, no_number = measured[3 * j : 3 * j + 3]
        declared, places = column.precision, column.scale
        if not no_number and declared is not None and places is not None and 0 <= places <= declared <= 38:
            types[column.name] = pa.decimal128(declared, places), None
        elif not no_number and (scale or 0) + (whole or 1) <= 38:
            types[column.name] = pa.decimal128(18 if (scale or 0) + (whole or 1) <= 18 else 38, scale or 0), None
        else:
            types[column.name] = pa.float64(), "double precision"
    return types


def sql_type(kind: Any) -> str:
    """The PostgreSQL type that carries an Arrow type.

    >>> import pyarrow as pa
    >>> sql_type(pa.int32()), sql_type(pa.list_(pa.string())), sql_type(pa.decimal128(9, 2))
    ('integer', 'text[]', 'numeric(9, 2)')
    """
    import pyarrow.types as t

    if t.is_dictionary(kind):
        return sql_type(kind.value_type)
    if _is_list(kind):
        inner = sql_type(kind.value_type)
        return "text[]" if inner.endswith("[]") else f"{inner}[]"
    if t.is_integer(kind):
        if t.is_unsigned_integer(kind):
            return {8: "smallint", 16: "integer", 32: "bigint"}.get(kind.bit_width, "numeric(20, 0)")
        return {8: "smallint", 16: "smallint", 32: "integer"}.get(kind.bit_width, "bigint")
    if t.is_decimal(kind):
        return f"numeric({kind.precision}, {kind.scale})"
    if t.is_timestamp(kind):
        return "timestamp with time zone" if kind.tz else "timestamp"
    for known, name in (
        (t.is_boolean, "boolean"),
        (t.is_float64, "double precision"),
        (t.is_floating, "real"),
        (t.is_date, "date"),
        (t.is_time, "time"),
        (_is_bytes, "bytea"),
    ):
        if known(kind):
            return name
    return "text"


def as_csv(batch: Any) -> bytes:
    """A record batch as COPY reads it: text in quotes, so that an empty text is not a missing one."""
    import pyarrow as pa
    import pyarrow.csv as csv

    columns = [_cells(column) for column in batch.columns]
    sink = pa.BufferOutputStream()
    plain = pa.record_batch(columns, names=[f"c{j}" for j in range(len(columns))])
    csv.write_csv(plain, sink, csv.WriteOptions(include_header=False))
    return bytes(sink.getvalue().to_pybytes())


def _cells(column: Any) -> Any:
    """A column that Arrow can write as CSV."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as t

    kind = column.type
    if t.is_dictionary(kind):
        return _cells(column.dictionary_decode())
    if _is_list(kind):
        return _array_literals(column)
    if t.is_timestamp(kind):
        return column.cast(pa.timestamp("us", tz=kind.tz and "UTC"), safe=False)
    if t.is_boolean(kind) or t.is_integer(kind) or t.is_floating(kind) or t.is_date(kind) or t.is_string(kind):
        return column
    if _is_bytes(kind):
        return pa.array([None if cell is None else f"\\x{cell.hex()}" for cell in column.to_pylist()], pa.string())
    try:
        return pc.cast(column, pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.array([None if cell is None else str(cell) for cell in column.to_pylist()], pa.string())


def _array_literals(column: Any) -> Any:
    """Lists as PostgreSQL spells arrays: every element in quotes, missing ones as NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    inner = column.flatten()
    text = inner if pa.types.is_string(inner.type) else pc.cast(_cells(inner), pa.string())
    escaped = pc.replace_substring(pc.replace_substring(text, "\\", "\\\\"), '"', '\\"')
    spelled = pc.fill_null(pc.binary_join_element_wise('"', escaped, '"', ""), "NULL")
    lengths = pc.fill_null(pc.list_value_length(column), 0).cast(pa.int64())
    ends = pc.cumulative_sum(lengths)
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), ends])
    joined = pc.binary_join(pa.LargeListArray.from_arrays(offsets, spelled), ",")
    arrays = pc.binary_join_element_wise("{", joined, "}", "")
    return pc.if_else(column.is_valid(), arrays, pa.scalar(None, pa.string()))


def _is_list(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_list(kind) or t.is_large_list(kind) or t.is_fixed_size_list(kind))


def _is_bytes(kind: Any) -> bool:
    import pyarrow.types as t

    return bool(t.is_binary(kind) or t.is_large_binary(kind) or t.is_fixed_size_binary(kind))


# Reading and releasing a table

MARK = "Released by Keepsense"
"""Comment on every released table: only a table that carries it is ever replaced."""

BATCH = 65_536
"""Rows that are in memory at a time."""


def read(store: Store, source: str, reading: Reading) -> str:
    """A table or view, in a stream."""
    if reading.table is None:
        raise BadInput("say which PostgreSQL table to read")
    with opened(source, reading.table) as reader:
        return store.keep_arrow(reader)


@contextmanager
def opened(address: str, table: str, *, size: int = BATCH) -> Iterator[Any]:
    """A table or view as a `pyarrow.RecordBatchReader`; one snapshot of it, read `size` rows at a time.

    The rows come while the block is open. Integers, floats, booleans, dates, timestamps, decimals, texts and arrays
    keep their types; everything else arrives as the text that PostgreSQL shows.

    >>> with opened("postgresql://nobody@127.0.0.1:1/none", "people") as reader:
    ...     reader.schema
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: PostgreSQL: no server answers there; check host and port, and that it is running
    """
    place = split_name(table)
    with connected(address) as base, plainly(f"the table {table!r} cannot be read"):
        base.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY")
        yield _stream(base, _relation(base, place, table), table, size)


@contextmanager
def staged(address: str, table: str) -> Iterator[_Stage]:
    """A release that exists for this connection only, until it is committed.

    Leaving the block without `commit`, by an error, Ctrl-C or a crash, leaves the database as it was. A table that is
    there already is replaced only if Keepsense released it (see `MARK`); any other is refused at once.

    >>> with staged("postgresql://nobody@127.0.0.1:1/none", "released") as stage:  # doctest: +ELLIPSIS
    ...     stage.write(reader)
    ...     assert verified(stage.read())
    ...     stage.commit()
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: PostgreSQL: no server answers there; check host and port, and that it is running
    """
    place = split_name(table)
    with connected(address) as base, plainly(f"the table {table!r} cannot be written"):
        import psycopg

        # the transaction waits while the verifier works
        base.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        stage = _Stage(base, address, place, table)
        try:
            yield stage
        finally:
            if not stage.committed:
                # where the connection is lost, the server has rolled back by itself
                with suppress(psycopg.Error):
                    base.rollback()


class _Stage:
    """An unverified release inside a transaction."""

    def __init__(self, base: Any, address: str, place: tuple[str | None, str], table: str) -> None:
        from psycopg import sql

        self.committed = False
        self._base, self._address, self._table, self._name = base, address, table, place[1]
        schema = place[0] or base.execute("SELECT current_schema()").fetchone()[0]
        if schema is None:
            raise BadInput(f"PostgreSQL: no schema is chosen for the table {table!r}; name it as schema.table")
        self._schema: str = schema
        self._target = sql.Identifier(schema, place[1])
        self._part = sql.Identifier(schema, f"keepsense_unverified_{secrets.token_hex(8)}")
        self._columns: tuple[str, ...] = ()
        self._replaces()

    def write(self, reader: Any) -> int:
        """Copy in what a record batch reader (or an Arrow table) holds, in its order; give the number of rows."""
        from psycopg import sql

        columns = [(field.name, sql_type(field.type)) for field in reader.schema]
        self._columns = tuple(name for name, _ in columns)
        for name in self._columns:
            check_name(name, "column")
        spelled = sql.SQL(", ").join(sql.SQL("{} {}").format(sql.Identifier(n), _type(t)) for n, t in columns)
        rows = 0
        with plainly(f"the table {self._table!r} cannot be written"):
            self._base.execute(sql.SQL("DROP TABLE IF EXISTS {}").format(self._part))
            self._base.execute(sql.SQL("CREATE TABLE {} ({})").format(self._part, spelled))
            copy = sql.SQL("COPY {} FROM STDIN (FORMAT csv, ENCODING 'UTF8')").format(self._part)
            with self._base.cursor() as cursor, cursor.copy(copy) as into:
                for batch in reader.to_batches() if hasattr(reader, "to_batches") else reader:
                    into.write(as_csv(batch))
                    rows += batch.num_rows
        return rows

    def read(self, *, size: int = BATCH) -> Any:
        """What was written, as a `pyarrow.RecordBatchReader` in the order of writing, from inside the transaction."""
        if not self._columns:
            raise BadInput("nothing is written to the stage yet; write before reading")
        return _stream(self._base, self._part, self._table, size)

    def commit(self, mark: str = "") -> None:
        """Make the release visible to everybody, in place of an earlier one, with a mark in its comment; then done."""
        from psycopg import sql

        if not self._columns:
            raise BadInput("nothing is written to the stage yet; write before committing")
        with plainly(f"the table {self._table!r} cannot be released; nothing was changed"):
            if self._replaces():
                self._base.execute(sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE").format(self._target))
                self._replaces()
                self._base.execute(sql.SQL("DROP TABLE {}").format(self._target))
            comment = sql.Literal(f"{MARK} {mark}".strip())
            self._base.execute(sql.SQL("COMMENT ON TABLE {} IS {}").format(self._part, comment))
            rename = sql.SQL("ALTER TABLE {} RENAME TO {}").format(self._part, sql.Identifier(self._name))
            self._base.execute(rename)
            self._commit(mark)
        self.committed = True

    def _commit(self, wanted: str) -> None:
        """Commit; where the answer is lost, ask the server anew whether it did."""
        import psycopg

        try:
            self._base.commit()
        except psycopg.OperationalError:
            try:
                landed = bool(wanted) and mark(self._address, self._table) == wanted
            except BadInput:
                raise InDoubt(
                    f"PostgreSQL: the connection was lost while the table {self._table!r} was released, and nobody "
                    "knows whether it is there; the ledger keeps it. Run again when the server answers"
                ) from None
            if not landed:
                raise

    def _replaces(self) -> bool:
        """Whether an earlier release is there; refuses whatever else has that name."""
        earlier = _commented(self._base, self._schema, self._name)
        if earlier is None:
            return False
        if earlier[0] != "r" or not (earlier[1] or "").startswith(MARK):
            raise BadInput(
                f"PostgreSQL: there is already a table or view {self._table!r} that Keepsense did not release; "
                "it is not replaced. Choose another name, or remove it yourself"
            )
        return True


def mark(address: str, table: str) -> str | None:
    """The mark in a released table's comment; None where there is no table that Keepsense released.

    >>> mark("postgresql://nobody@127.0.0.1:1/none", "people")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: PostgreSQL: no server answers there; check host and port, and that it is running
    """
    schema, name = split_name(table)
    with connected(address) as base, plainly(f"the table {table!r} cannot be looked at"):
        _, comment = _commented(base, schema, name) or (None, None)
    return comment.removeprefix(MARK).strip() if comment is not None and comment.startswith(MARK) else None


def _commented(base: Any, schema: str | None, name: str) -> tuple[str, str | None] | None:
    """What kind of relation a name stands for, and the comment on it; without a schema, in the current one."""
    ask = (
        "SELECT c.relkind::text, obj_description(c.oid, 'pg_class') FROM pg_class c JOIN pg_namespace n"
        " ON n.oid = c.relnamespace WHERE n.nspname = coalesce(%s, current_schema()) AND c.relname = %s"
    )
    row: tuple[str, str | None] | None = base.execute(ask, [schema, name]).fetchone()
    return row


def _type(spelled: str) -> Any:
    """A type as SQL; it comes from `sql_type`, never from a user."""
    from psycopg import sql

    return sql.SQL(spelled)


def _relation(base: Any, place: tuple[str | None, str], table: str) -> Any:
    """A table or view as SQL, if the connection sees one by that name."""
    from psycopg import sql

    relation = sql.Identifier(*(part for part in place if part is not None))
    if base.execute("SELECT to_regclass(%s)", [relation.as_string(base)]).fetchone()[0] is not None:
        return relation
    visible = "pg_table_is_visible(c.oid)" if place[0] is None else "n.nspname = %s"
    listed = base.execute(
        "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND n.nspname NOT IN ('pg_catalog', 'information_schema')"
        f" AND {visible} ORDER BY 1",
        [] if place[0] is None else [place[0]],
    )
    names = [row[0] for row in listed.fetchall()]
    few = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    raise BadInput(
        f"PostgreSQL: there is no table {table!r}; there are: {few or 'none'}.{did_you_mean(place[1], names)}"
    )


def _stream(base: Any, relation: Any, table: str, size: int) -> Any:
    """Rows through a server-side cursor: the server keeps them, only `size` are here at a time."""
    import pyarrow as pa

    columns = incoming(base, relation)
    schema = pa.schema([(column.name, column.type) for column in columns])
    return pa.RecordBatchReader.from_batches(schema, _batches(base, relation, columns, schema, table, size))


def _batches(base: Any, relation: Any, columns: list[Incoming], schema: Any, table: str, size: int) -> Iterator[Any]:
    import psycopg
    import pyarrow as pa
    from psycopg import sql

    cells = sql.SQL(", ").join(
        sql.Identifier(c.name) if c.cast is None else sql.SQL("{}::{}").format(sql.Identifier(c.name), _type(c.cast))
        for c in columns
    )
    with plainly(f"the table {table!r} cannot be read"), base.cursor(name=f"ks_{secrets.token_hex(6)}") as cursor:
        cursor.execute(sql.SQL("SELECT {} FROM {}").format(cells, relation))
        while True:
            try:
                rows = cursor.fetchmany(size)
            except psycopg.DataError:
                times = [c.name for c in columns if pa.types.is_temporal(c.type)]
                raise BadInput(
                    f"PostgreSQL: the table {table!r} holds an infinite date, or one outside the years 1 to 9999, in "
                    f"one of: {', '.join(times)}. Read a view that gives it as text"
                ) from None
            if not rows:
                return
            yield _batch(rows, columns, schema)


def _batch(rows: list[tuple[Any, ...]], columns: list[Incoming], schema: Any) -> Any:
    import pyarrow as pa

    arrays = []
    for column, cells in zip(columns, zip(*rows, strict=True), strict=True):
        try:
            arrays.append(pa.array(cells, column.type))
        except (pa.ArrowInvalid, pa.ArrowTypeError):
            raise BadInput(
                f"PostgreSQL: column {column.name!r} holds values that do not fit {column.type}, such as lists within "
                "lists; read a view that gives it as text"
            ) from None
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def spelled(column: str, kind: str) -> str:
    """Records and intervals as text."""
    return f"CAST({column} AS VARCHAR)" if kind.startswith(("STRUCT", "MAP", "UNION", "INTERVAL")) else column


register(
    Format(
        "postgresql",
        ("postgresql://", "postgres://"),
        read,
        None,
        options=("table",),
        keeps_tables=True,
        extra="postgresql",
        spelled=spelled,
        database=Database(staged, same_table, split_name, mark),
    )
)
