"""Check of sets that were taken apart into pieces: what occurs together in a piece, and whether pieces hide people."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from keepsense.privacy.checks.outcome import Check
from keepsense.privacy.checks.sets import Sets

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
        rare, _, smallest = sets.groups(_combined(size), k)
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


def _combined(size: int) -> str:
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
