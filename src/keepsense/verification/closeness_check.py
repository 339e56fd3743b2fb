"""The check of t-closeness, with its own earth mover's distances: plain loops and linear programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from keepsense.verification.check_result import SLACK, Check, Unseen
from keepsense.verification.released_classes import EXAMPLES, Classes, among, whole_table

Cell = str | None
Shares = dict[Cell, float]
Work = Callable[[Shares, Mapping[Cell, int], Shares, float], float]
"""Least work from a class to the table: differences of shares, counts of the class, shares of the table, limit."""


def t_closeness(classes: Classes, promise: Mapping[str, Any], evidence: Mapping[str, Any]) -> Check:
    """Every class is at most t away from the whole table, the original where it is at hand."""
    column, limit = str(promise["column"]), float(promise["t"]) + SLACK
    classes = among(classes, promise)
    values = classes.counted(column)
    table = whole_table(classes, column)
    rows = classes.ask(f"SELECT class_, value, n FROM {values} ORDER BY class_")
    work = class_distances(rows, table, promise, evidence.get(column, {}), limit)
    bad = [number for number, distance in work.items() if distance > limit]
    own = dict(classes.ask(f"SELECT class_, own FROM {classes.sizes}"))
    if bad:
        listed = ", ".join(map(str, bad[:EXAMPLES]))
        classes.remember(f"SELECT class_ FROM {classes.tuples} WHERE class_ IN ({listed})")
    return Check(promise, not bad, len(bad), sum(own[number] for number in bad), max(work.values(), default=None))


def class_distances(
    rows: Sequence[tuple[Any, ...]],
    table: Mapping[Cell, int],
    promise: Mapping[str, Any],
    evidence: Mapping[str, Any],
    limit: float,
) -> dict[int, float]:
    """Distance of each class to the table; `rows` are (class, value, count).

    >>> class_distances([(1, "flu", 2)], {"flu": 2, "cold": 2}, {"ground": "equal"}, {}, 0.2)
    {1: 0.5}
    """
    total = sum(table.values())
    whole = {value: n / total for value, n in table.items()}
    classes: dict[int, dict[Cell, int]] = {}
    for number, value, n in rows:
        classes.setdefault(number, {})[value] = n
    strange = {value for counts in classes.values() for value in counts} - set(whole)
    if strange:
        raise Unseen(f"{len(strange)} sensitive value(s) of the release do not occur in the whole table")
    kind = promise.get("ground", "equal")
    if kind not in _GROUNDS:
        raise Unseen(f"the verifier knows no ground distance {kind!r}")
    work = _GROUNDS[kind](list(whole), evidence)
    distances = {}
    for number, counts in classes.items():
        size = sum(counts.values())
        difference = {value: counts.get(value, 0) / size - share for value, share in whole.items()}
        distances[number] = work(difference, counts, whole, limit)
    return distances


def _equal(values: list[Cell], evidence: Mapping[str, Any]) -> Work:
    return lambda difference, *_: sum(max(0.0, d) for d in difference.values())


def _line(values: list[Cell], at: list[float], whole_length: float = 0.0) -> Work:
    order = sorted(range(len(values)), key=at.__getitem__)
    length = whole_length or at[order[-1]] - at[order[0]]

    def area(difference: Shares, *_: Any) -> float:
        if length == 0:
            return 0.0
        carried = work = 0.0
        for left, right in pairwise(order):
            carried += difference[values[left]]
            work += abs(carried) * (at[right] - at[left])
        return work / length

    return area


def _ordered(values: list[Cell], evidence: Mapping[str, Any]) -> Work:
    order = evidence.get("order")
    if order is not None:
        place = {str(value): float(i) for i, value in enumerate(order)}
        if any(str(value) not in place for value in values):
            raise Unseen("the order of sensitive values does not hold all of them")
        return _line(values, [place[str(value)] for value in values], len(order) - 1.0)
    keys: list[Any] = _numbers(values) or list(values)
    if any(key is None for key in keys):
        raise Unseen("missing sensitive values have no place in an order")
    ranks = [0.0] * len(values)
    for rank, i in enumerate(sorted(range(len(values)), key=keys.__getitem__)):
        ranks[i] = float(rank)
    return _line(values, ranks)


def _numeric(values: list[Cell], evidence: Mapping[str, Any]) -> Work:
    numbers = _numbers(values)
    if numbers is None:
        raise Unseen("the sensitive column does not hold numbers only")
    return _line(values, numbers)


def _numbers(values: list[Cell]) -> list[float] | None:
    try:
        return [float(value) for value in values]  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None


def _hierarchical(values: list[Cell], evidence: Mapping[str, Any]) -> Work:
    if "rows" not in evidence:
        raise Unseen("the hierarchy of the sensitive column is needed to check this promise; give it as evidence")
    chain = {_spelling(row[0]): tuple(map(str, row)) for row in evidence["rows"]}
    if any(value not in chain for value in values):
        raise Unseen("the hierarchy does not hold all sensitive values")
    height = len(next(iter(chain.values()))) - 1

    def climb(difference: Shares, *_: Any) -> float:
        work = 0.0
        for level in range(height):
            flow: dict[str, float] = {}
            for value, d in difference.items():
                label = chain[value][level]
                flow[label] = flow.get(label, 0.0) + d
            work += sum(map(abs, flow.values())) / 2
        return work / height if height else 0.0

    return climb


def _links(values: list[Cell], evidence: Mapping[str, Any]) -> Work:
    chains = evidence.get("chains")
    if chains is None:
        raise Unseen("the chains of concepts above each value are needed to check this promise; give them as evidence")
    if any(value not in chains for value in values):
        raise Unseen("the chains of concepts do not hold all sensitive values")

    def flows(difference: Shares, *_: Any) -> float:
        carried: dict[Any, float] = {}
        for value, d in difference.items():
            for node in chains[value]:
                carried[node] = carried.get(node, 0.0) + d
        return sum(map(abs, carried.values())) / (2 * max(1, int(evidence["height"])))

    return flows


def _semantic(values: list[Cell], evidence: Mapping[str, Any]) -> Work:
    if "matrix" not in evidence or "values" not in evidence:
        raise Unseen("the distances between sensitive values are needed to check this promise; give them as evidence")
    place = {_spelling(value): i for i, value in enumerate(evidence["values"])}
    if any(value not in place for value in values):
        raise Unseen("the distances do not cover all sensitive values")
    matrix = np.asarray(evidence["matrix"], dtype=np.float64)
    longest = float(matrix.max(initial=0.0))

    def least_work(difference: Shares, counts: Mapping[Cell, int], whole: Shares, limit: float) -> float:
        crude = longest * sum(max(0.0, d) for d in difference.values())
        if crude <= limit:
            return crude
        from scipy.optimize import linprog
        from scipy.sparse import coo_array

        give, take = list(counts), [value for value in whole if whole[value] > 0]
        a, b = len(give), len(take)
        cost = matrix[np.ix_([place[v] for v in give], [place[v] for v in take])].ravel()
        cell = np.arange(a * b)
        rows, columns = np.concatenate([cell // b, a + cell % b]), np.concatenate([cell, cell])
        sums = coo_array((np.ones(2 * a * b), (rows, columns)), shape=(a + b, a * b)).tocsr()
        size = sum(counts.values())
        sides = np.array([counts[v] / size for v in give] + [whole[v] for v in take])
        # the solver's own slack is larger than ours
        tight = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        solved = linprog(cost, A_eq=sums[:-1], b_eq=sides[:-1], method="highs", options=tight)
        return float(solved.fun) if solved.status == 0 else float("inf")

    return least_work


def _spelling(value: Any) -> str | None:
    return None if value is None else str(value)


_GROUNDS: dict[Any, Callable[[list[Cell], Mapping[str, Any]], Work]] = {
    "equal": _equal,
    "ordered": _ordered,
    "numeric": _numeric,
    "hierarchical": _hierarchical,
    "links": _links,
    "semantic": _semantic,
}
