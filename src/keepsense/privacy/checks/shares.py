"""Checks of promises about the share of single sensitive values: beta-likeness, delta-disclosure, (alpha,k)-anonymity.

Shares are whole numbers over whole numbers, and compared as fractions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from math import log
from typing import Any

from keepsense.privacy.checks.classes import EXAMPLES, Classes, among, exact, whole_table
from keepsense.privacy.checks.outcome import Check, Unseen

Cell = str | None
Groups = Mapping[int, Mapping[Any, int]]
Bad = Callable[[Mapping[Any, int], int], bool]
"""Whether a class breaks a promise: how often it has each value, and how many records it holds."""


def beta_likeness(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """No value is much more frequent in a class than in the whole table."""
    form, beta = promise.get("form", "enhanced"), exact(promise["beta"])
    if form not in ("basic", "enhanced", "concepts"):
        raise Unseen(f"the verifier knows no form {form!r} of beta-likeness")
    finer, groups = _groups(classes, promise)
    table = whole(classes, promise, groups)
    total = sum(table.values())
    above = _above(promise, evidence, table) if form == "concepts" else _alone
    table, groups, sizes = _added(table, above), {c: _added(n, above) for c, n in groups.items()}, _sizes(groups)
    most: dict[Any, Fraction] = {}
    for value, n in table.items():
        growth = -log(n / total)
        most[value] = 1 + (beta if form == "basic" or beta <= growth else Fraction(growth))

    def bad(counts: Mapping[Cell, int], size: int) -> bool:
        return any(n * total > most[value] * size * table[value] for value, n in counts.items())

    check = _outcome(finer, promise, groups, sizes, bad, _largest(groups, sizes, table, total))
    return replace(check, promised=float(1 + beta))


def delta_disclosure(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Every value is less than 2^delta times as frequent in a class as in the table, and more than one over that."""
    form = promise.get("form", "values")
    if form not in ("values", "concepts"):
        raise Unseen(f"the verifier knows no form {form!r} of delta-disclosure")
    finer, groups = _groups(classes, promise)
    table = whole(classes, promise, groups)
    total, factor = sum(table.values()), Fraction(2.0 ** float(promise["delta"]))
    above = _above(promise, evidence, table) if form == "concepts" else _alone
    several = Counter(name for value in table for name in above(value))
    table, groups, sizes = _added(table, above), {c: _added(n, above) for c, n in groups.items()}, _sizes(groups)

    def bad(counts: Mapping[Any, int], size: int) -> bool:
        for name, n in table.items():
            here, there = counts.get(name, 0) * total, n * size
            if form == "concepts":
                filled = n < total and counts.get(name, 0) == size
                if here >= factor * there or filled or (several[name] > 1 and factor * here <= there):
                    return True
            elif here >= factor * there or factor * here <= there:
                return True
        return False

    check = _outcome(finer, promise, groups, sizes, bad, _largest(groups, sizes, table, total))
    return replace(check, promised=float(factor))


def alpha_k(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k records in every class, and at most a share alpha of them with one of the values."""
    alpha, named = exact(promise["alpha"]), promise.get("values", ())
    if not isinstance(named, list | tuple) or not all(isinstance(value, str) for value in named):
        raise Unseen("the sensitive values that are bounded are no list of texts")
    finer, groups = _groups(classes, promise)
    shares = [
        Fraction(n, sum(counts.values()))
        for counts in groups.values()
        for value, n in counts.items()
        if not named or value in named
    ]

    def bad(counts: Mapping[Cell, int], size: int) -> bool:
        return any(n > alpha * size for value, n in counts.items() if not named or value in named)

    small = [int(number) for (number,) in classes.ask(f"SELECT class_ FROM sizes WHERE n < {int(promise['k'])}")]
    worst = float(max(shares, default=Fraction(0)))
    if small and finer is not classes:
        check = _outcome(classes, promise, {}, {}, bad, worst, also=small)
    else:
        check = _outcome(finer, promise, groups, _sizes(groups), bad, worst, also=small)
    if small and worst <= alpha:
        return replace(check, worst=float(classes.one("SELECT min(n) FROM sizes")), promised=int(promise["k"]))
    return replace(check, promised=float(alpha))


def _groups(classes: Classes, promise: Mapping[str, Any]) -> tuple[Classes, Groups]:
    """The classes that a promise is about, and how often each value of its column occurs in each of them."""
    finer = among(classes, promise)
    values = finer.counted(str(promise["column"]))
    groups: dict[int, dict[Cell, int]] = {}
    for number, value, n in finer.ask(f"SELECT class_, value, n FROM {values} ORDER BY class_"):
        groups.setdefault(number, {})[value] = int(n)
    return finer, groups


def whole(classes: Classes, promise: Mapping[str, Any], groups: Groups) -> dict[Cell, int]:
    """How often each value occurs in the whole table: the original where it is at hand.

    >>> from keepsense.engines import sql
    >>> with sql() as connection:
    ...     released = connection.table("released", {"job": ["medic", "medic"], "ill": ["flu", "cold"]})
    ...     whole(Classes(connection, {"released": released}, ["job"]), {"column": "ill"}, {1: {"flu": 1}})["flu"]
    1
    """
    table = whole_table(classes, str(promise["column"]))
    strange = {value for counts in groups.values() for value in counts} - set(table)
    if strange:
        raise Unseen(f"{len(strange)} sensitive value(s) of the release do not occur in the whole table")
    return table


def _alone(value: Cell) -> tuple[Any, ...]:
    return (value,)


def _above(
    promise: Mapping[str, Any], evidence: Mapping[str, Any], table: Mapping[Cell, int]
) -> Callable[[Cell], tuple[Any, ...]]:
    """A value by itself and all concepts above it, by the chains that go with the promise.

    A concept above all values of the table tells nothing; a missing cell stands for itself.
    """
    chains = evidence.get(str(promise["column"]), {}).get("chains")
    if chains is None:
        raise Unseen("the concepts above each value are needed to check this promise; give them as evidence")
    known = [value for value in table if value is not None]
    common = Counter(name for value in known for name in set(chains.get(value, ())))

    def above(value: Cell) -> tuple[Any, ...]:
        names = () if value is None else dict.fromkeys(chains.get(value, ()))
        # a value and a concept may share a name
        return (("value", value), *(("concept", name) for name in names if common[name] < len(known)))

    return above


def _added(counts: Mapping[Cell, int], above: Callable[[Cell], tuple[Any, ...]]) -> dict[Any, int]:
    """How often each name occurs, where a value counts for all that stands above it."""
    added: dict[Any, int] = {}
    for value, n in counts.items():
        for name in above(value):
            added[name] = added.get(name, 0) + n
    return added


def _sizes(groups: Groups) -> dict[int, int]:
    return {number: sum(counts.values()) for number, counts in groups.items()}


def _largest(groups: Groups, sizes: Mapping[int, int], table: Mapping[Any, int], total: int) -> float:
    """By how much a value is more frequent in some class than in the table."""
    return float(
        max(
            Fraction(n * total, sizes[number] * table[value])
            for number, counts in groups.items()
            for value, n in counts.items()
        )
    )


def _outcome(
    classes: Classes,
    promise: Mapping[str, Any],
    groups: Groups,
    sizes: Mapping[int, int],
    bad: Bad,
    worst: float | None,
    *,
    also: Iterable[int] = (),
) -> Check:
    """What became of the classes; those of `also` break the promise whatever their values."""
    failing = sorted({number for number, counts in groups.items() if bad(counts, sizes[number])} | {*also})
    if failing:
        listed = ", ".join(map(str, failing[:EXAMPLES]))
        classes.remember(f"SELECT class_ FROM {classes.tuples} WHERE class_ IN ({listed})")
    own = dict(classes.ask(f"SELECT class_, own FROM {classes.sizes}"))
    return Check(promise, not failing, len(failing), sum(own[number] for number in failing), worst)
