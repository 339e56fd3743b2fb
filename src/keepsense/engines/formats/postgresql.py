"""Tables of PostgreSQL: read in a stream, and released in one transaction that nobody sees before it is verified.

The password belongs into the environment (`PGPASSWORD`) or into `~/.pgpass`, where PostgreSQL's own tools look too.
Addresses, passwords and cells never appear in an error.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from keepsense.engines.base import Reading
from keepsense.engines.formats import Database, Format, register
from keepsense.engines.formats._postgresql_names import check_name, same_table, split_name
from keepsense.engines.formats._postgresql_server import connected, plainly
from keepsense.engines.formats._postgresql_types import Incoming, as_csv, incoming, sql_type
from keepsense.engines.store import Store
from keepsense.errors import BadInput, InDoubt, did_you_mean

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
