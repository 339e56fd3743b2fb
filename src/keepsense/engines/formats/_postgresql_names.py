"""Names of tables in PostgreSQL, and whether two addresses mean the same table."""

from __future__ import annotations

import os
import re
from typing import Any

from keepsense.engines.formats._postgresql_server import connected, plainly
from keepsense.errors import BadInput, MissingExtra

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
