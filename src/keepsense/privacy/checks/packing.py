"""The cells of several columns of a row as one whole number, by the place of each cell among its column's values.

Numbers are grouped and joined in a fraction of the time and memory that texts take. Nothing is hashed: a place is found
by comparing whole texts, so that two rows have the same number exactly where all their cells are the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from keepsense.engines import PlacesCells, SqlConnection

LEAST_ROWS = 100_000
"""Rows below which texts are grouped as they are: that takes no longer."""
MOST_VALUES = 100_000
"""Different cells of a column above which their places are not looked up."""
_MOST = 2**62
_BITS, _WORDS = 62, 4
"""Values that a whole number has a bit for, and most numbers that say which values some rows have."""


@dataclass(frozen=True)
class Packing:
    """How the cells of a row are told by one number.

    `number` is its SQL. The cells of each column stand in a table of their own: its name, what the column adds to the
    number (`step` for each place, fewer than `end` together).

    >>> Packing("n", (Digit("places_c0", "c0", 1, 4),)).spelled("g")
    (', p0.cell AS c0', ' JOIN places_c0 p0 ON p0.term = g.key_ % 4 - g.key_ % 1')
    """

    number: str
    digits: tuple[Digit, ...]

    def spelled(self, rows: str) -> tuple[str, str]:
        """SQL that gives the cells again: what to select beside `rows`, which have a number `key_`, and to join."""
        cells = "".join(f", p{i}.cell AS {digit.column}" for i, digit in enumerate(self.digits))
        joins = "".join(
            f" JOIN {digit.table} p{i} ON p{i}.term = {rows}.key_ % {digit.end} - {rows}.key_ % {digit.step}"
            for i, digit in enumerate(self.digits)
        )
        return cells, joins

    def different(self) -> str:
        """SQL for how many different values of a single column some rows have, by a bit for each; "" if these are many.

        A value without a place would not be counted, so that no rows seem to have more of them than they have.
        """
        (digit,) = self.digits
        if digit.values > _WORDS * _BITS:
            return ""
        words = []
        for first in range(0, digit.values, _BITS):
            place = f"({self.number} - {first + 1})"
            bit = f"CASE WHEN {place} BETWEEN 0 AND {_BITS - 1} THEN CAST(1 AS BIGINT) << {place} ELSE 0 END"
            words.append(f"CAST(bit_count(bit_or({bit})) AS BIGINT)")
        return " + ".join(words)


@dataclass(frozen=True)
class Digit:
    """What one column adds to the number of a row."""

    table: str
    column: str
    step: int
    end: int

    @property
    def values(self) -> int:
        """How many different cells the column has."""
        return self.end // self.step - 1


def packed(
    connection: SqlConnection, table: str, columns: Sequence[str], records: int, prefix: str = ""
) -> Packing | None:
    """How to pack some columns of a table; None where that is not worth it, or the connection finds no places.

    Rows are in the order of their texts by these numbers, too.

    >>> from keepsense.engines import sql
    >>> with sql() as connection:
    ...     _ = connection.table("released", {"job": ["nurse", "clerk"]})
    ...     packed(connection, "released", ["c0"], 2) is None
    True
    """
    if records < LEAST_ROWS or not isinstance(connection, PlacesCells):
        return None
    first = f"SELECT * FROM {table} LIMIT {LEAST_ROWS}"
    different = ", ".join(f"count(DISTINCT {column})" for column in columns)
    if not connection.finds_places(table):
        return None
    if any(number > MOST_VALUES for number in connection.run(f"SELECT {different} FROM ({first}) first_rows")[0]):
        return None
    digits: list[Digit] = []
    terms: list[str] = []
    step = 1
    for column in reversed(columns):
        name, cells = f"{prefix}places_{column}", f"SELECT DISTINCT {column} AS cell FROM {table}"
        term = f"row_number() OVER (ORDER BY cell NULLS LAST) * CAST({step} AS BIGINT)"
        connection.run(f"CREATE TABLE {name} AS SELECT cell, {term} AS term FROM ({cells}) cells")
        values = [cell for (cell,) in connection.run(f"SELECT cell FROM {name} ORDER BY term")]
        end = step * (len(values) + 1)
        if len(values) > MOST_VALUES or end > _MOST:
            return None
        terms.append(f"{connection.place(column, values)} * CAST({step} AS BIGINT)")
        digits.append(Digit(name, column, step, end))
        step = end
    return Packing(" + ".join(terms), tuple(reversed(digits)))
