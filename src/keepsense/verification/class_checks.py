"""Checks of class sizes, diversity and frequencies.

Sizes: k-anonymity, (X,Y)-anonymity and thresholds of risk. Diversity: l-diversity in its three forms. Frequencies:
beta-likeness, delta-disclosure and (alpha, k)-anonymity; their shares are fractions of whole numbers, compared exactly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import ceil, log
from typing import Any

from keepsense.verification.check_result import SLACK, Check, Unseen
from keepsense.verification.released_classes import EXAMPLES, Classes, among, exact, whole_table

# Sizes of classes: how many records, or persons, share a class


def k_anonymity(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k records in every class."""
    return classes.judged(promise, "SELECT class_, n AS x FROM sizes", f"x < {int(promise['k'])}", "min")


def maximum_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """One over the size of every class is at most the threshold."""
    least = ceil(1 / exact(promise["threshold"]))
    return classes.judged(promise, "SELECT class_, CAST(1 AS DOUBLE) / n AS x FROM sizes", f"n < {least}", "max")


def average_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """The mean over records of one over the size of their class is at most the threshold."""
    limit = exact(promise["threshold"])
    if classes.wild:
        risks = [(int(n), int(own)) for n, own in classes.ask("SELECT n, sum(own) FROM sizes GROUP BY n")]
        mean = _sum([Fraction(own, n) for n, own in risks]) / sum(own for _, own in risks)
    else:
        numbers, records = map(int, classes.ask("SELECT count(*), sum(own) FROM sizes")[0])
        mean = Fraction(numbers, records)
    if mean <= limit:
        return Check(promise, True, worst=float(mean))
    return Check(promise, False, classes.number, classes.records, float(mean))


def _sum(fractions: Sequence[Fraction]) -> Fraction:
    """The exact sum, by halves: so only the last few additions have long denominators."""
    if len(fractions) < 3:
        return sum(fractions, Fraction(0))
    middle = len(fractions) // 2
    return _sum(fractions[:middle]) + _sum(fractions[middle:])


def strict_average_risk(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """The average risk is at most the threshold, and every class has at least k records."""
    check = k_anonymity(classes, promise, evidence)
    if not check.holds:
        return check
    return replace(average_risk(classes, promise, evidence), promised=float(promise["threshold"]))


def people(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """At least k different people in every class."""
    values = classes.counted(str(promise["person"]))
    distinct = f"SELECT class_, count(*) AS x FROM {values} GROUP BY class_"
    return classes.judged(promise, distinct, f"x < {int(promise['k'])}", "min")


# l-diversity in its three forms


def l_diversity(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Enough different, or well mixed, sensitive values in every class."""
    form = promise.get("form", "distinct")
    if form not in _FORMS:
        raise Unseen(f"the verifier knows no form {form!r} of l-diversity")
    classes = among(classes, promise)
    if asks_only_which(promise):
        return _enough(classes, promise, classes.different(str(promise["column"])))
    values = classes.counted(str(promise["column"]))
    how = promise.get("missing", "value")
    if how not in ("value", "unknown"):
        raise Unseen(f"the verifier knows no reading {how!r} of empty sensitive cells")
    return _FORMS[form](classes, promise, values if how == "value" else _known(values))


def asks_only_which(promise: Mapping[str, Any]) -> bool:
    """Whether a promise is about which values a class has, and not about how often.

    >>> asks_only_which({"model": "l-diversity", "l": 2}), asks_only_which({"model": "l-diversity", "form": "entropy"})
    (True, False)
    """
    plain = promise.get("form", "distinct") == "distinct" and promise.get("missing", "value") == "value"
    return promise.get("model") == "l-diversity" and plain


def _known(values: str) -> str:
    """The values without empty cells, which are added to the commonest of their class; they alone are one value."""
    blank = "(value IS NULL OR trim(value) = '')"
    place = f"row_number() OVER (PARTITION BY class_ ORDER BY {blank}, n DESC)"
    lost = f"sum(CASE WHEN {blank} THEN n ELSE 0 END) OVER (PARTITION BY class_)"
    ranked = f"SELECT class_, value, n, {blank} AS blank, {place} AS place, {lost} AS lost FROM {values}"
    counted = "CASE WHEN place > 1 THEN n WHEN blank THEN lost ELSE n + lost END"
    return (
        f"(SELECT class_, value, CAST({counted} AS BIGINT) AS n FROM ({ranked}) r WHERE place = 1 OR NOT blank) known"
    )


def _distinct(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    return _enough(classes, promise, f"SELECT class_, count(*) AS x FROM {values} GROUP BY class_")


def _enough(classes: Classes, promise: Mapping[str, Any], different: str) -> Check:
    return classes.judged(promise, different, f"x < {int(promise['l'])}", "min")


def _entropy(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    query = f"SELECT class_, exp(ln(sum(n)) - sum(n * ln(n)) / sum(n)) AS x FROM {values} GROUP BY class_"
    return classes.judged(promise, query, f"x < {float(promise['l']) * (1 - SLACK)!r}", "min")


def _recursive(classes: Classes, promise: Mapping[str, Any], values: str) -> Check:
    ranked = f"SELECT class_, n, row_number() OVER (PARTITION BY class_ ORDER BY n DESC) AS place FROM {values}"
    rare = f"sum(CASE WHEN place >= {int(promise['l'])} THEN n ELSE 0 END)"
    c = exact(promise["c"])
    query = f"SELECT class_, max(n) AS a, {rare} AS b FROM ({ranked}) ranked GROUP BY class_"
    return classes.compared(promise, query, lambda head, tail: head >= c * tail)


_FORMS = {"distinct": _distinct, "entropy": _entropy, "recursive": _recursive}


# Frequencies of single sensitive values: beta-likeness, delta-disclosure, (alpha, k)-anonymity

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

    >>> from keepsense.engines.protocol import sql
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
