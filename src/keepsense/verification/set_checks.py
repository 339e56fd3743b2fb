"""Checks of sets: shared as a whole, in every combination of a few items, or disassociated into pieces."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any

from keepsense.engines.protocol import SqlConnection
from keepsense.verification.check_result import Check
from keepsense.verification.released_classes import text

_PART = 10_000
"""Sets that are turned into columns at a time."""


class Sets:
    """Sets in SQL: a table `sets` with the spelling of each record's set, and a table `held` with a row an item.

    >>> from keepsense.engines.protocol import sql
    >>> with sql() as connection:
    ...     sets = Sets(connection, [{"tea", "milk"}, {"milk", "tea"}, {"*"}])
    ...     sets.distinct(), sets.hidden(), sets.groups("SELECT count(*) AS times FROM sets GROUP BY c0", 2)
    (2, 1, (1, 1, 1.0))
    """

    def __init__(self, connection: SqlConnection, sets: Sequence[Collection[str]], suppressed: str = "*") -> None:
        import pyarrow as pa

        self.run = connection.run
        self.suppressed = suppressed
        self._made: set[str] = set()
        spellings, items, records = [], [], []
        for first in range(0, len(sets), _PART):  # as Arrow holds them, a small part of what lists of texts would take
            some = [sorted(set(each)) for each in sets[first : first + _PART]]
            spellings.append(pa.array([json.dumps(each) for each in some], pa.string()))
            items.append(pa.array([item for each in some for item in each], pa.string()))
            owners = [str(number) for number, each in enumerate(some, first) for _ in each]
            records.append(pa.array(owners, pa.string()))
        columns = {"spelling": spellings, "record": records, "item": items}
        whole = {name: pa.chunked_array(parts, pa.string()) for name, parts in columns.items()}
        connection.table("sets", pa.table({"spelling": whole["spelling"]}))
        connection.table("held", pa.table({name: whole[name] for name in ("record", "item")}))

    def make(self, name: str, query: str) -> None:
        """Keep what a query gives as a table, unless there is one of this name."""
        if name not in self._made:
            self.run(f"CREATE TABLE {name} AS {query}")
            self._made.add(name)

    def distinct(self) -> int:
        """Different sets."""
        return int(self.run("SELECT count(DISTINCT c0) FROM sets")[0][0])

    def hidden(self) -> int:
        """Records whose set is suppressed."""
        alone = json.dumps([self.suppressed])
        return int(self.run(f"SELECT count(*) FROM sets WHERE c0 = {text(alone)}")[0][0])

    def groups(self, query: str, k: int) -> tuple[int, int, float | None]:
        """Of a query that gives `times`: groups below k, the records in them, and the smallest group."""
        below = f"FILTER (WHERE times < {k})"
        ((broken, records, least),) = self.run(
            f"SELECT count(*) {below}, sum(times) {below}, min(times) FROM ({query}) grouped"
        )
        return int(broken), int(records or 0), None if least is None else float(least)


def whole_sets(sets: Sets, promise: Mapping[str, Any]) -> Check:
    """Every set is shared by at least k records."""
    k = _whole(promise, "k")
    if k is None:
        return Check(promise, False, reason="the promise names no k")
    broken, records, least = sets.groups("SELECT count(*) AS times FROM sets GROUP BY c0", k)
    return Check(promise, not broken, broken, records, least)


def combinations(sets: Sets, promise: Mapping[str, Any]) -> Check:
    """Every combination of up to m items that occurs is held by at least k records."""
    k, m = _whole(promise, "k"), _whole(promise, "m")
    if k is None or m is None:
        return Check(promise, False, reason=f"the promise names no {'k' if k is None else 'm'}")
    broken_in_all, least_of_all = 0, None
    for size in range(1, m + 1):
        broken, _, least = sets.groups(_combined(size, sets.suppressed), k)
        if least is None:
            break  # no set is that large
        broken_in_all += broken
        least_of_all = least if least_of_all is None else min(least_of_all, least)
    return Check(promise, not broken_in_all, broken_in_all, 0, least_of_all)


def _combined(size: int, suppressed: str) -> str:
    """SQL that counts the records of every combination of so many items; a suppressed item is nothing to know."""
    names = [f"h{i}" for i in range(size)]
    joins = "".join(
        f" JOIN held {name} ON {name}.c0 = h0.c0 AND {before}.c1 < {name}.c1" for before, name in pairwise(names)
    )
    shown = " AND ".join(f"{name}.c1 <> {text(suppressed)}" for name in names)
    return f"SELECT count(*) AS times FROM held h0{joins} WHERE {shown} GROUP BY {', '.join(f'{n}.c1' for n in names)}"


def _whole(promise: Mapping[str, Any], name: str) -> int | None:
    value = promise.get(name)
    return None if isinstance(value, bool) or not isinstance(value, int) or value < 1 else value


# Disassociated sets: what occurs together in a piece, and whether pieces protect people

_TAG = "split_part({0}.c1, ' ', 1)"
_IN_PIECE = "{0}.c1 LIKE '% %' AND split_part({0}.c1, ' ', 1) LIKE '%.%'"


def pieces(sets: Sets, promise: Mapping[str, Any]) -> Check:
    """In every piece any m items that occur together do so in k records, and no cluster tells how pieces belong."""
    k, m = promise["k"], promise["m"]
    if isinstance(k, bool) or isinstance(m, bool) or not isinstance(k, int) or not isinstance(m, int) or min(k, m) < 1:
        return Check(promise, False, reason="the promise names no k or no m")
    strange = _strange(sets)
    if strange:
        return Check(promise, False, reason=f"{strange:,} records do not say which pieces their items are in")
    broken, least = 0, None
    for size in range(1, m + 1):
        rare, _, smallest = sets.groups(_combined_in_pieces(size), k)
        if smallest is None:
            break  # no piece is that large
        broken += rare
        least = smallest if least is None else min(least, smallest)
    small, _, fewest = sets.groups("SELECT size AS times FROM clusters", k)
    told = _number(sets, _LOOSE_IN_PART) + _number(sets, _TOO_FEW_PARTS.format(k=k, m=m))
    if fewest is not None:
        least = fewest if least is None else min(least, fewest)
    return Check(promise, not (broken or small or told), broken + small + told, 0, least)


def _strange(sets: Sets) -> int:
    """Records that are in no cluster, or in several, or hold items of other clusters; makes the tables for the rest."""
    marker = "SELECT c0, c1 FROM held WHERE c1 LIKE '#%' AND c1 NOT LIKE '% %'"
    sets.make("marks", f"SELECT c0 AS record, substr(c1, 2) AS cluster FROM ({marker}) marked")
    sets.make("clusters", "SELECT cluster, count(*) AS size FROM marks GROUP BY cluster")
    # an empty set of the original holds its cluster's mark, so every record that is told must hold one
    without = _number(sets, "SELECT count(*) FROM sets") - _number(sets, "SELECT count(DISTINCT record) FROM marks")
    several = _number(
        sets, "SELECT count(*) FROM (SELECT record FROM marks GROUP BY record HAVING count(*) > 1) doubled"
    )
    tag = _TAG.format("h")
    other = _number(
        sets,
        f"SELECT count(DISTINCT h.c0) FROM held h JOIN marks ON marks.record = h.c0 WHERE h.c1 <> concat('#', cluster) "
        f"AND NOT (h.c1 LIKE '% %' AND ({tag} = concat(cluster, '+') OR (split_part({tag}, '.', 1) = cluster AND "
        f"{tag} LIKE '%.%')))",
    )
    return without + several + other


_LOOSE = "SELECT c1 AS item, count(*) AS holders FROM held WHERE split_part(c1, ' ', 1) LIKE '%+' GROUP BY c1"
_LOOSE_IN_PART = (
    f"SELECT count(*) FROM ({_LOOSE}) loose JOIN clusters ON split_part(item, ' ', 1) = concat(cluster, '+') "
    "WHERE holders <> size"
)
_PARTS = (
    "SELECT cluster, count(*) AS parts, count(DISTINCT tag) AS pieces FROM (SELECT DISTINCT h.c0 AS record, cluster, "
    "split_part(h.c1, ' ', 1) AS tag FROM held h JOIN marks ON marks.record = h.c0 WHERE "
    f"{_IN_PIECE.format('h')}) told GROUP BY cluster"
)
_TOO_FEW_PARTS = (
    f"SELECT count(*) FROM ({_PARTS}) counted JOIN clusters ON counted.cluster = clusters.cluster WHERE parts < "
    "size + {k} * (least({m}, pieces) - 1) AND concat(counted.cluster, '+') NOT IN "
    f"(SELECT split_part(item, ' ', 1) FROM ({_LOOSE}) loose)"
)


def _combined_in_pieces(size: int) -> str:
    """SQL that counts the records of every combination of so many items of one piece."""
    names = [f"h{i}" for i in range(size)]
    joins = "".join(
        f" JOIN held {name} ON {name}.c0 = h0.c0 AND {before}.c1 < {name}.c1 AND {_TAG.format(name)} = "
        f"{_TAG.format('h0')}"
        for before, name in pairwise(names)
    )
    grouped = ", ".join(f"{name}.c1" for name in names)
    return f"SELECT count(*) AS times FROM held h0{joins} WHERE {_IN_PIECE.format('h0')} GROUP BY {grouped}"


def _number(sets: Sets, query: str) -> int:
    return int(sets.run(query)[0][0])
