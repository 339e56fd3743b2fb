"""Count the rows of a DuckDB table: codes from one scan, counted in NumPy; one GROUP BY where cells are not coded."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Histogram, distinct_rows, histogram
from keepsense.counts_out_of_core import LargeCounts
from keepsense.engines.dictionary_encoding import counted, dictionary_of
from keepsense.engines.duckdb.table import DuckTable, can_be_coded, coded
from keepsense.engines.duckdb_store import ROW, quoted
from keepsense.engines.memory_limits import (
    beside_parts,
    needed,
    needed_apart,
    part_of,
    refuse_too_large,
    room,
    too_large,
)
from keepsense.engines.partitioned_count import CodedRows, counted_in_parts
from keepsense.engines.protocol import Profile
from keepsense.errors import BadInput

_MANY = 1 << 24
"""Rows from which on they are counted part by part."""


def count(table: DuckTable, columns: tuple[str, ...], further: tuple[str, ...], sums: tuple[str, ...]) -> Counts:
    """Distinct tuples sorted by value, their weights, and what was asked for under each."""
    if not columns:
        raise BadInput("counting needs at least one column")
    for name in (*columns, *further):
        if table.holds_records(name):
            raise BadInput(f"column {name!r} holds records in its cells; make columns of them, or give it another role")
    _refuse_too_large(table, columns)
    if can_be_coded(table, (*columns, *further)):
        codes = coded(table, (*columns, *further))
        own, along = {n: codes[n] for n in columns}, {n: codes[n] for n in further}
        if not sums and table.rows > _MANY:
            return counted_in_parts(own, along, threads=table.store.threads)
        return counted(own, along, {name: _numbers(table, name) for name in sums})
    return _grouped(table, columns, further, sums)


def recounted(table: DuckTable, columns: tuple[str, ...], further: tuple[str, ...]) -> LargeCounts | None:
    """Counts that are not held; None where cells are not coded, or where the codes alone take more than they may."""
    most, threads = room(table.store.limit), table.store.threads
    if not can_be_coded(table, (*columns, *further)) or needed_apart(table.rows, len(columns)) > most:
        return None
    codes = coded(table, (*columns, *further))
    left = most - sum(column.codes.nbytes for column in table.codes.values())
    part = part_of(left, len(columns), threads)
    decided = left - left // 10 - beside_parts(part, len(columns), threads)
    own, along = {n: codes[n] for n in columns}, {n: codes[n] for n in further}
    rows = CodedRows(own, along, max(0, decided), part, threads)
    return LargeCounts(rows, further)


def outgrown(table: DuckTable, columns: tuple[str, ...], further: tuple[str, ...]) -> LargeCounts | None:
    """The same, but None also where all tuples may be held at once."""
    rows, limit = table.rows, table.store.limit
    if needed(rows, len(columns), rows) <= room(limit) or (found := recounted(table, columns, further)) is None:
        return None
    tuples = found.table.about([None] * len(columns))
    if needed(rows, len(columns), tuples) <= room(limit):
        return None
    return LargeCounts(found.table, further, too_large(rows, len(columns), tuples, limit))


def _refuse_too_large(table: DuckTable, columns: tuple[str, ...]) -> None:
    """Stop early where so many tuples would be counted that they take more memory than there may be."""
    rows, limit = table.rows, table.store.limit
    if needed(rows, len(columns), rows) <= room(limit):
        return
    if all(name in table.codes for name in columns):
        possible = math.prod(len(table.codes[name]) for name in columns)
        if needed(rows, len(columns), min(rows, possible)) <= room(limit):
            return
        tuples = CodedRows(coded(table, columns), {}, 0, threads=table.store.threads).about([None] * len(columns))
    else:
        cells = ", ".join(map(quoted, columns))
        ((tuples,),) = table.store.run(f"SELECT approx_count_distinct(hash({cells})) FROM {table.name}")
    refuse_too_large(rows, len(columns), min(rows, int(tuples)), limit)


def _numbers(table: DuckTable, name: str) -> NDArray[np.float64]:
    """Cells of a column as numbers, row by row in order; 0 where there is none."""
    order = "" if table.ordered else f" ORDER BY {ROW}"
    sql = f"SELECT coalesce(TRY_CAST({quoted(name)} AS DOUBLE), 0) AS n FROM {table.name}{order}"
    return np.asarray(table.store.connection.sql(sql).fetchnumpy()["n"], dtype=np.float64)


def _grouped(table: DuckTable, columns: tuple[str, ...], further: tuple[str, ...], sums: tuple[str, ...]) -> Counts:
    """The same in SQL, for cells such as lists."""
    # Each histogram groups by one column more. Grouping sets do all of that in one scan; GROUPING_ID tells them apart.
    more = tuple(name for name in dict.fromkeys(further) if name not in columns)
    keys = ", ".join(map(quoted, columns))
    sets = "".join(f", ({keys}, {quoted(name)})" for name in more)
    listed = "".join(f", {quoted(name)}" for name in more)
    place = f", GROUPING_ID({listed[2:]})" if more else ", 0"
    added = "".join(f", sum(TRY_CAST({quoted(name)} AS DOUBLE))" for name in sums)
    sql = f"SELECT {keys}{listed}{place}, count(*){added} FROM {table.name} GROUP BY GROUPING SETS (({keys}){sets})"
    grouped = table.store.connection.sql(sql).to_arrow_table()
    numbers = [column.to_numpy() for column in grouped.columns[len(columns) + len(more) :]]
    every = (1 << len(more)) - 1  # a bit for each further column that a row was not grouped by
    own = np.flatnonzero(numbers[0] == every)
    coded = [dictionary_of(grouped.column(i)) for i in range(len(columns))]
    codes = np.stack([c for _, c in coded], axis=1)
    order = own[np.lexsort(codes[own].T[::-1])]
    tuples = np.ascontiguousarray(codes[order])
    histograms: dict[str, Histogram] = {}
    for name in further:
        i = more.index(name) if name in more else None
        rows = own if i is None else np.flatnonzero(numbers[0] == every - (1 << len(more) - 1 - i))
        cells = grouped.column(columns.index(name) if i is None else len(columns) + i).take(rows)
        # The sorted tuples come first, so a tuple's position among the distinct ones is its own position.
        _, position = distinct_rows(np.concatenate([tuples, codes[rows]]))
        histograms[name] = histogram(*dictionary_of(cells), position[len(tuples) :], numbers[1][rows], len(tuples))
    totals = {
        name: np.nan_to_num(column[order].astype(np.float64)) for name, column in zip(sums, numbers[2:], strict=True)
    }
    return Counts(columns, tuple(v for v, _ in coded), tuples, numbers[1][order].astype(np.int64), histograms, totals)


# Profiles of columns: three small queries each, or one for many columns of a small table

_FEW = 50
# what DuckDB's trim takes off: spaces of all widths, and no tabs or line ends
_BLANKS = " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"
_SMALL = 10_000
_TOGETHER = 200


def batched(names: Sequence[str], size: int) -> Iterator[Sequence[str]]:
    """Names in portions.

    >>> list(batched(("age", "job", "town"), 2))
    [('age', 'job'), ('town',)]
    """
    for start in range(0, len(names), size):
        yield names[start : start + size]


def profiles(table: DuckTable, limit: int, columns: Sequence[str]) -> list[Profile]:
    """Profile of each column."""
    by_name: dict[str, Profile] = {}
    if len(columns) > _FEW and table.rows <= _SMALL:
        texts = [name for name in columns if table.is_text(name)]
        for block in batched(texts, _TOGETHER):
            by_name |= _together(table, block, limit)
    return [by_name.get(name) or _profile(table, name, limit) for name in columns]


def _together(table: DuckTable, columns: Sequence[str], limit: int) -> dict[str, Profile]:
    """Profiles of many texts of a small table: a query costs more than to count its cells here."""
    cells = table.store.connection.sql(table.query(columns)).to_arrow_table()
    profiles = {}
    for name, column in zip(columns, cells.columns, strict=True):
        counts = Counter(column.to_pylist())
        rows = counts.total()
        empty = [value for value in counts if value is None or not value.strip(_BLANKS)]
        for value in empty:
            del counts[value]
        frequent = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:limit]
        single = sum(number == 1 for number in counts.values())
        missing = rows - counts.total()
        profiles[name] = Profile(
            name, table.type_of(name), rows, missing, len(counts), single, dict(frequent), False, any(empty)
        )
    return profiles


def _profile(table: DuckTable, name: str, limit: int) -> Profile:
    column = f"CAST({quoted(name)} AS VARCHAR)" if table.holds_records(name) else quoted(name)
    blank = f"trim({column}) = ''" if table.is_text(name) else "false"
    ((rows, missing, blanks),) = table.store.run(
        f"SELECT count(*), count(*) FILTER ({column} IS NULL OR {blank}), "
        f"count(*) FILTER ({blank} AND CAST({column} AS VARCHAR) <> '') FROM {table.name}"
    )
    grouped = (
        f"(SELECT {column} AS v, count(*) AS n FROM {table.name} WHERE {column} IS NOT NULL AND NOT {blank} "
        f"GROUP BY {column})"
    )
    ((distinct, single),) = table.store.run(f"SELECT count(*), count(*) FILTER (n = 1) FROM {grouped}")
    # equally frequent values in an order of their own, so that the same table always gives the same profile
    frequent = table.store.connection.sql(
        f"SELECT v, n FROM {grouped} ORDER BY n DESC, CAST(v AS VARCHAR) LIMIT {limit}"
    )
    cells = frequent.to_arrow_table().to_pydict()
    values = {tuple(v) if isinstance(v, list) else v: n for v, n in zip(cells["v"], cells["n"], strict=True)}
    lists = table.holds_lists(name)
    return Profile(name, table.type_of(name), rows, missing, distinct, single, values, lists, blanks > 0)
