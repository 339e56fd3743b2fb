"""A connection to PostgreSQL, and its complaints in our words: its own may hold addresses, passwords or cells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from keepsense.errors import BadInput, MissingExtra


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
