"""The equivalence classes of a released table, grouped once in SQL: what the checks of promises ask."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from keepsense.engines.protocol import PlacesCells, SqlConnection, SqlTable, SumsRows
from keepsense.errors import InternalError
from keepsense.verification.check_result import Check, Unseen

# Cells of several columns as one whole number, by the place of each cell among its column's values
#
# Numbers are grouped and joined in a fraction of the time of texts. Nothing is hashed: places are found by comparing
# whole texts, so that equal numbers mean equal cells.

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

    >>> from keepsense.engines.protocol import sql
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


# Classes

EXAMPLES = 100
"""Most classes that break a promise and are remembered one by one."""


class Classes:
    """The combinations of quasi-identifiers in a release: a table `tuples` of them, with numbers (`class_`).

    The names of its tables begin with `prefix`. `column` is one whose values are counted along, in the same scan; with
    `only_which`, checks will ask of it how many different values a class has, and nothing else.

    `own` records have a combination; the table `sizes` says how many records fit it (`n`), which differ where missing
    cells in the `wild` columns fit anything. Records that are suppressed in every quasi-identifier are a class that the
    promises are about, too, but not of the `number` of classes, unless all are: then the table is generalized to the
    top, and one class.

    >>> from keepsense.engines.protocol import sql
    >>> with sql() as connection:
    ...     released = connection.table("released", {"job": ["medic", "medic", "*"]})
    ...     classes = Classes(connection, {"released": released}, ["job"])
    ...     classes.number, classes.suppressed, classes.ask("SELECT own, n FROM sizes ORDER BY n")
    (1, 1, [(1, 1), (2, 2)])
    """

    def __init__(
        self,
        connection: SqlConnection,
        tables: Mapping[str, SqlTable],
        quasi_identifiers: Sequence[str],
        *,
        suppressed: str = "*",
        wild: Collection[str] = (),
        prefix: str = "",
        column: str | None = None,
        only_which: bool = False,
    ) -> None:
        self.ask = connection.run
        self._connection, self._mark = connection, suppressed
        self.tuples, self.sizes, self._prefix = f"{prefix}tuples", f"{prefix}sizes", prefix
        self._finer: dict[tuple[str, ...], Classes] = {}
        self.tables = tables
        self.quasi_identifiers = tuple(quasi_identifiers)
        released = tables["released"]
        self.keys = [released.column(name) for name in quasi_identifiers]
        self.wild = {released.column(name) for name in quasi_identifiers if name in wild}
        self._counted: dict[str, str] = {}
        self._failing: list[str] = []
        self._made: set[str] = set()
        self.records = self.rows("released")
        self._valued = column if column in released.columns and column not in quasi_identifiers else None
        self._packing = packed(connection, "released", self.keys, self.records, prefix)
        self._which = self._set_of_values() if only_which else ""
        self._by = ["key_"] if self._packing else self.keys
        self._group()
        self.suppressed = self._suppressed(released, suppressed)
        self.number = self.rows(self.tuples) - (self.suppressed > 0)

    def rows(self, table: str) -> int:
        """Rows of a table."""
        number = self.tables[table].rows if table in self.tables else "count(*)"
        return int(self.one(f"SELECT {number} FROM {table}"))

    def one(self, query: str) -> Any:
        """The single value that a query gives."""
        return self.ask(query)[0][0]

    def once(self, statement: str) -> None:
        """Run a statement that makes a table, unless it was run before."""
        if statement not in self._made:
            self.ask(statement)
            self._made.add(statement)

    # ---- grouping ----------------------------------------------------------------------------------------------------

    def _suppressed(self, released: SqlTable, marker: str) -> int:
        """How many records have no values, though others have."""
        # a suppressed list holds the mark and nothing else
        marks = [f"[{marker}]" if name in released.lists else marker for name in self.quasi_identifiers]
        hidden = " AND ".join(
            f"{key} IS NOT DISTINCT FROM {text(mark)}" for key, mark in zip(self.keys, marks, strict=True)
        )
        suppressed = int(self.one(f"SELECT coalesce(sum(own), 0) FROM {self.tuples} WHERE {hidden}"))
        return 0 if suppressed == self.records else suppressed

    def _group(self) -> None:
        by = ", ".join(self._by)
        grouped = f"SELECT {by}{self._which}, count(*) AS own FROM {self._rows()} GROUP BY {by}"
        if self._valued is not None and not self._which:  # one scan for the classes and for the values in them
            self.ask(f"CREATE TABLE {self._prefix}valued AS {self._by_value(self._valued)}")
            grouped = f"SELECT {by}, CAST(sum(n) AS BIGINT) AS own FROM {self._prefix}valued GROUP BY {by}"
        cells, joins = ("", "") if self._packing is None else self._packing.spelled("grouped")
        number = f"CAST(row_number() OVER (ORDER BY {by}) AS BIGINT)"
        self.ask(
            f"CREATE TABLE {self.tuples} AS SELECT *, {number} AS class_, {self.gaps()} AS gaps FROM "
            f"(SELECT grouped.*{cells} FROM ({grouped}) grouped{joins}) spelled"
        )
        if self._packing is not None and int(self.one(f"SELECT sum(own) FROM {self.tuples}")) != self.records:
            raise InternalError("some cells have no place among the values of their column")
        sizes = f"SELECT class_, own, own AS n FROM {self.tuples}"
        if self.wild:
            fitting = " UNION ALL ".join(
                f"SELECT a.class_, a.own, b.own AS n FROM {self.tuples} a JOIN {self.tuples} b ON {fits}"
                for fits in self.fits()
            )
            sizes = f"SELECT class_, own, CAST(sum(n) AS BIGINT) AS n FROM ({fitting}) fitting GROUP BY class_, own"
        self.ask(f"CREATE TABLE {self.sizes} AS {sizes}")

    def _rows(self, further: str = "") -> str:
        """SQL for the rows of the release with what they are grouped by, and a further column if one is named."""
        number = "" if self._packing is None else f", {self._packing.number} AS key_"
        return f"(SELECT *{number}{further} FROM released) rows_"

    def _set_of_values(self) -> str:
        """SQL for how many different values the rows of a group have; nothing where they are to be counted."""
        if self._valued is None or self._packing is None or self.wild:
            return ""
        column = self.tables["released"].column(self._valued)
        places = packed(self._connection, "released", [column], self.records, f"{self._prefix}value_")
        different = "" if places is None else places.different()
        return f", {different} AS which" if different else ""

    def different(self, column: str) -> str:
        """SQL that gives `class_` and `x`, the number of different values that a column has in it."""
        if column == self._valued and self._which:
            return f"SELECT class_, which AS x FROM {self.tuples}"
        return f"SELECT class_, count(*) AS x FROM {self.counted(column)} GROUP BY class_"

    def _by_value(self, column: str) -> str:
        """SQL that counts one more column under each combination."""
        by, value = ", ".join(self._by), self.tables["released"].column(column)
        # an alias of its own: the column may be a key, too
        return f"SELECT {by}, value, count(*) AS n FROM {self._rows(f', {value} AS value')} GROUP BY {by}, value"

    def gaps(self) -> str:
        """SQL for the pattern of a row's cells that fit anything, as a number."""
        wild = [(i, key) for i, key in enumerate(self.keys) if key in self.wild]
        return " + ".join(["0", *(f"CASE WHEN {key} IS NULL THEN {1 << i} ELSE 0 END" for i, key in wild)])

    def fits(self, left: str = "", right: str = "") -> list[str]:
        """Conditions under which row a of a table with keys and gaps fits row b, one for each two patterns of gaps."""
        patterns = [
            [int(row[0]) for row in self.ask(f"SELECT DISTINCT gaps FROM {table or self.tuples} ORDER BY gaps")]
            for table in (left, right)
        ]
        return [
            f"a.gaps = {mine} AND b.gaps = {theirs}"
            + "".join(f" AND {same('a', 'b', key)}" for i, key in enumerate(self.keys) if not (mine | theirs) >> i & 1)
            for mine in patterns[0]
            for theirs in patterns[1]
        ]

    def counted(self, column: str) -> str:
        """Name of a table (class_, value, n) of one more column under each class, made when it is first asked for."""
        if column not in self.tables["released"].columns:
            raise Unseen(f"column {column!r} is not in the release, so the promise cannot be checked on it")
        if column not in self._counted:
            name = f"{self._prefix}values_{len(self._counted)}"
            at_hand = column == self._valued and not self._which
            grouped = f"SELECT * FROM {self._prefix}valued" if at_hand else self._by_value(column)
            matching = " AND ".join(same("g", "t", key) for key in self._by)
            own = f"SELECT t.*, g.value, g.n FROM ({grouped}) g JOIN {self.tuples} t ON {matching}"
            if not self.wild:
                self.ask(f"CREATE TABLE {name} AS SELECT class_, value, n FROM ({own}) own_values")
            else:
                self.ask(f"CREATE TABLE {name}_own AS {own}")
                fitting = " UNION ALL ".join(
                    f"SELECT a.class_, b.value, b.n FROM {self.tuples} a JOIN {name}_own b ON {fits}"
                    for fits in self.fits()
                )
                self.ask(
                    f"CREATE TABLE {name} AS SELECT class_, value, CAST(sum(n) AS BIGINT) AS n "
                    f"FROM ({fitting}) fitting GROUP BY class_, value"
                )
            self._counted[column] = name
        return self._counted[column]

    def beside(self, columns: Sequence[str]) -> Classes:
        """The classes divided further by other columns of the release, as if these were quasi-identifiers, too."""
        for column in columns:
            if column not in self.tables["released"].columns:
                raise Unseen(f"column {column!r} is not in the release, so the promise cannot be checked beside it")
        more = tuple(column for column in columns if column not in self.quasi_identifiers)
        if more not in self._finer:
            wild = [name for name, key in zip(self.quasi_identifiers, self.keys, strict=True) if key in self.wild]
            self._finer[more] = Classes(
                self._connection,
                self.tables,
                [*self.quasi_identifiers, *more],
                suppressed=self._mark,
                wild=wild,
                prefix=f"finer_{len(self._finer)}_",
            )
        return self._finer[more]

    # ---- judging -----------------------------------------------------------------------------------------------------

    def judged(self, promise: Mapping[str, Any], per_class: str, bad: str, worst: str) -> Check:
        """Outcome for a query that gives `class_` and `x`: classes where `bad` holds, the worst `x` (min or max).

        `bad` may ask for the number of records that fit the class, too: `n`.
        """
        query = f"SELECT s.class_, s.own, s.n, p.x FROM ({per_class}) p JOIN {self.sizes} s ON p.class_ = s.class_"
        ((broken, records, extreme),) = self.ask(
            f"SELECT count(*) FILTER (WHERE {bad}), coalesce(sum(own) FILTER (WHERE {bad}), 0), {worst}(x) "
            f"FROM ({query}) judged"
        )
        if broken:
            self.remember(f"SELECT class_ FROM ({query}) judged WHERE {bad}")
        return Check(promise, broken == 0, int(broken), int(records), None if extreme is None else float(extreme))

    def compared(self, promise: Mapping[str, Any], per_class: str, bad: Callable[[int, int], bool]) -> Check:
        """Outcome for a query that gives `class_` and whole numbers `a` and `b`, compared in Python without rounding.

        There are far fewer different pairs than classes. The worst is the largest a/b.
        """
        query = f"SELECT s.class_, s.own, p.a, p.b FROM ({per_class}) p JOIN {self.sizes} s ON p.class_ = s.class_"
        pairs = [
            tuple(map(int, row))
            for row in self.ask(f"SELECT a, b, count(*), sum(own) FROM ({query}) compared GROUP BY a, b ORDER BY a, b")
        ]
        broken = [pair for pair in pairs if bad(pair[0], pair[1])]
        if broken:
            which = " OR ".join(f"(a = {a} AND b = {b})" for a, b, *_ in broken[:EXAMPLES])
            self.remember(f"SELECT class_ FROM ({query}) compared WHERE {which}")
        worst = max((Fraction(a, b) for a, b, *_ in pairs if b), default=None)
        numbers, records = (sum(pair[place] for pair in broken) for place in (2, 3))
        return Check(promise, not broken, numbers, records, None if worst is None else float(worst))

    def remember(self, failing: str) -> None:
        """Keep a query that gives the classes which break a promise, for examples."""
        self._failing.append(failing)

    def examples(self, limit: int) -> tuple[tuple[str | None, ...], ...]:
        """Combinations of quasi-identifiers that break a promise: only for those who may see them."""
        for finer in self._finer.values():
            for query in finer._failing:
                matching = " AND ".join(same("t", "f", key) for key in self.keys)
                of_finer = f"SELECT * FROM {finer.tuples} WHERE class_ IN ({query})"
                self._failing.append(f"SELECT t.class_ FROM {self.tuples} t JOIN ({of_finer}) f ON {matching}")
            finer._failing.clear()
        if not self._failing:
            return ()
        keys, failing = ", ".join(self.keys), " UNION ".join(self._failing)
        return tuple(
            self.ask(f"SELECT {keys} FROM {self.tuples} WHERE class_ IN ({failing}) ORDER BY class_ LIMIT {limit}")
        )

    def missing_everywhere(self) -> int:
        """Records all of whose quasi-identifiers are missing and fit anything."""
        if len(self.wild) < len(self.keys):
            return 0
        return int(
            self.one(f"SELECT coalesce(sum(own), 0) FROM {self.tuples} WHERE gaps = {(1 << len(self.keys)) - 1}")
        )

    def changed_rows(self, columns: Sequence[str]) -> int:
        """Rows of the release whose values in some columns occur more often than in the original, or not at all.

        Where the release has as many rows as the original this is the number of changed rows.
        """
        if self._same_rows(columns):
            return 0
        counted = {
            table: f"SELECT {listed}, {self.tables[table].rows} AS n FROM {table} GROUP BY {', '.join(cells)}"
            for table in ("released", "original")
            for cells in [[self.tables[table].column(name) for name in columns]]
            for listed in [", ".join(f"{cell} AS v{i}" for i, cell in enumerate(cells))]
        }
        matching = " AND ".join(same("r", "o", f"v{i}") for i in range(len(columns)))
        more = "CASE WHEN r.n > coalesce(o.n, 0) THEN r.n - coalesce(o.n, 0) ELSE 0 END"
        joined = f"({counted['released']}) r LEFT JOIN ({counted['original']}) o ON {matching}"
        return int(self.one(f"SELECT coalesce(sum({more}), 0) FROM {joined}"))

    def _same_rows(self, columns: Sequence[str]) -> bool:
        """Whether both tables hold the same rows, told by sums of a hash of whole rows under a key drawn for it."""
        if not isinstance(self._connection, SumsRows) or self.records != self.rows("original"):
            return False
        if self.tables["original"].times is not None:  # few rows differ, and are compared one by one
            return False
        key = secrets.token_hex(16)
        sums = [
            self._connection.row_sums(table, [self.tables[table].column(name) for name in columns], key)
            for table in ("released", "original")
        ]
        return sums[0] == sums[1]


def whole_table(classes: Classes, column: str) -> dict[Any, int]:
    """How often each value of a column occurs in the whole table: the original where it is at hand.

    >>> from keepsense.engines.protocol import sql
    >>> with sql() as connection:
    ...     released = connection.table("released", {"job": ["medic", "medic"], "ill": ["flu", "cold"]})
    ...     whole_table(Classes(connection, {"released": released}, ["job"]), "ill")["flu"]
    1
    """
    source = "original" if "original" in classes.tables and column in classes.tables["original"].columns else "released"
    table = classes.tables[source]
    cell = table.column(column)
    return {value: int(n) for value, n in classes.ask(f"SELECT {cell}, {table.rows} FROM {source} GROUP BY {cell}")}


def among(classes: Classes, promise: Mapping[str, Any]) -> Classes:
    """The classes that a promise about one column is about: divided by the columns that are known beside it."""
    columns = promise.get("beside", ())
    if not isinstance(columns, list | tuple) or not all(isinstance(column, str) for column in columns):
        raise Unseen("the columns beside the sensitive one are no list of names")
    return classes.beside(columns) if columns else classes


def same(left: str, right: str, column: str) -> str:
    """The condition that two tables hold the same in a column; two missing cells are alike.

    >>> same("a", "b", "c0")
    'a.c0 IS NOT DISTINCT FROM b.c0'
    """
    return f"{left}.{column} IS NOT DISTINCT FROM {right}.{column}"


def exact(number: Any) -> Fraction:
    """A number of a promise as it is written: 0.1 is a tenth.

    >>> exact(0.1), exact("2")
    (Fraction(1, 10), Fraction(2, 1))
    """
    return Fraction(repr(float(number)))


def text(value: str) -> str:
    """A text as SQL spells it.

    >>> text("it's")
    "'it''s'"
    """
    return "'" + value.replace("'", "''") + "'"
