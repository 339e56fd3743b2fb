"""The verifier's own earth mover's distances: plain loops and, for arbitrary distances, a linear program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

Shares = dict[Any, float]


def class_distances(
    rows: Sequence[tuple[int, Any, int]],
    reference: Mapping[Any, int],
    promise: Mapping[str, Any],
    evidence: Mapping[str, Any],
    limit: float,
) -> dict[int, float]:
    """Distance of each class to the reference; `rows` are (class, value, count). Raises LookupError where it cannot."""
    total = sum(reference.values())
    whole = {value: n / total for value, n in reference.items()}
    kind = promise.get("ground", "equal")
    classes: dict[int, dict[Any, int]] = {}
    for number, value, n in rows:
        classes.setdefault(number, {})[value] = n
    strange = {value for counts in classes.values() for value in counts} - set(whole)
    if strange:
        raise LookupError(f"{len(strange)} sensitive value(s) of the release do not occur in the whole table")
    measure = _MEASURES.get(kind)
    if measure is None:
        raise LookupError(f"the verifier knows no ground distance {kind!r}")
    prepared = measure(list(whole), evidence)
    found = {}
    for number, counts in classes.items():
        size = sum(counts.values())
        difference = {value: counts.get(value, 0) / size - share for value, share in whole.items()}
        found[number] = prepared(difference, counts, size, whole, limit)
    return found


def _equal(values: list[Any], evidence: Mapping[str, Any]) -> Any:
    return lambda difference, *_: sum(max(0.0, d) for d in difference.values())


def _line(values: list[Any], at: list[float], whole_length: float = 0.0) -> Any:
    order = sorted(range(len(values)), key=at.__getitem__)
    length = whole_length or at[order[-1]] - at[order[0]]

    def area(difference: Shares, *_: Any) -> float:
        if length == 0:
            return 0.0
        carried = work = 0.0
        for here, there in pairwise(order):
            carried += difference[values[here]]
            work += abs(carried) * (at[there] - at[here])
        return work / length

    return area


def _ordered(values: list[Any], evidence: Mapping[str, Any]) -> Any:
    given = evidence.get("order")
    if given is not None:
        place = {str(value): float(i) for i, value in enumerate(given)}
        if any(str(value) not in place for value in values):
            raise LookupError("the order of sensitive values does not hold all of them")
        return _line(values, [place[str(value)] for value in values], len(given) - 1.0)
    keys: list[Any] = _numbers(values) or list(values)
    if any(key is None for key in keys):
        raise LookupError("missing sensitive values have no place in an order")
    ranks = [0.0] * len(values)
    for rank, i in enumerate(sorted(range(len(values)), key=keys.__getitem__)):
        ranks[i] = float(rank)
    return _line(values, ranks)


def _numeric(values: list[Any], evidence: Mapping[str, Any]) -> Any:
    numbers = _numbers(values)
    if numbers is None:
        raise LookupError("the sensitive column does not hold numbers only")
    return _line(values, numbers)


def _numbers(values: list[Any]) -> list[float] | None:
    try:
        return [float(value) for value in values]
    except (TypeError, ValueError):
        return None


def _hierarchical(values: list[Any], evidence: Mapping[str, Any]) -> Any:
    if "rows" not in evidence:
        raise LookupError("the hierarchy of the sensitive column is needed to check this promise; give it as evidence")
    chain = {_spelling(row[0]): tuple(map(str, row)) for row in evidence["rows"]}
    if any(value not in chain for value in values):
        raise LookupError("the hierarchy does not hold all sensitive values")
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


def _links(values: list[Any], evidence: Mapping[str, Any]) -> Any:
    chains = evidence.get("chains")
    if chains is None:
        raise LookupError(
            "the chains of concepts above each value are needed to check this promise; give them as evidence"
        )
    if any(value not in chains for value in values):
        raise LookupError("the chains of concepts do not hold all sensitive values")

    def flows(difference: Shares, *_: Any) -> float:
        carried: dict[Any, float] = {}
        for value, d in difference.items():
            for node in chains[value]:
                carried[node] = carried.get(node, 0.0) + d
        return sum(map(abs, carried.values())) / (2 * max(1, int(evidence["height"])))

    return flows


def _semantic(values: list[Any], evidence: Mapping[str, Any]) -> Any:
    if "matrix" not in evidence or "values" not in evidence:
        raise LookupError(
            "the distances between sensitive values are needed to check this promise; give them as evidence"
        )
    place = {_spelling(value): i for i, value in enumerate(evidence["values"])}
    if any(value not in place for value in values):
        raise LookupError("the distances do not cover all sensitive values")
    matrix = np.asarray(evidence["matrix"], dtype=np.float64)
    longest = float(matrix.max(initial=0.0))

    def least_work(difference: Shares, counts: Mapping[Any, int], size: int, whole: Shares, limit: float) -> float:
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
        sides = np.array([counts[v] / size for v in give] + [whole[v] for v in take])
        solved = linprog(cost, A_eq=sums[:-1], b_eq=sides[:-1], method="highs")
        return float(solved.fun) if solved.status == 0 else float("inf")

    return least_work


def _spelling(value: Any) -> str | None:
    return None if value is None else str(value)


_MEASURES: dict[Any, Any] = {
    "equal": _equal,
    "ordered": _ordered,
    "numeric": _numeric,
    "hierarchical": _hierarchical,
    "links": _links,
    "semantic": _semantic,
}
