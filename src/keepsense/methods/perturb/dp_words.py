"""Words and categories with differential privacy: values are redrawn record by record, under a budget.

Two tables are neighbours when one record is replaced by another, so the number of rows is public. Every record is
released by itself, so a record's loss is what its own columns spend, added up. Candidates, domains and bounds are
declared by the publisher, from public knowledge; nothing here is taken from the data but the values to be protected.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.perturb.privacy_budget import _SLACK, Budget, check_epsilon
from keepsense.methods.records import cells_of, records_of
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells, Draws
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.distance import Distance
from keepsense.taxonomy.taxonomy import Concept

_EXACT_CELLS = 1 << 22


def release_words(
    counts: Counts,
    columns: Sequence[Nominal],
    epsilon: float | Mapping[str, float],
    budget: Budget,
    *,
    domains: Mapping[str, Sequence[Concept]] | None = None,
    spelling: Literal["label", "id"] = "label",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Release columns of words by the exponential mechanism with semantic distance as score (McSherry and Talwar 2007).

    A record of value x becomes concept c of the domain with a chance proportional to exp(-b d(x, c)): near meanings are
    likelier. b is as large as epsilon allows, so that no two values are told apart by more than a factor of e to the
    epsilon: over domains of up to 2,048 concepts found exactly from the public matrix of chances, else epsilon / 2D, D
    being the greatest distance that it can take. `epsilon` is for each column, or given by column; a record's
    columns add up, and the sum is entered into the budget first. A column's domain is its whole taxonomy unless
    `domains` declares one from public knowledge; values outside are refused, and so is a column whose taxonomy was made
    from its own values. Prefer a small domain: epsilon buys little among 100,000 concepts. Chances are rounded to whole
    numbers, a billionth of epsilon paying for it, and drawn exactly. O(distinct values x domain + rows).

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> counts = Counts.of({"pet": ["pug", "lab", "lab", "cat"]})
    >>> column = Nominal.of(counts, "pet", distance("wu-palmer", pets))
    >>> cells = release_words(counts, [column], 2.0, Budget(2.0), rng=1)
    >>> cells.info["epsilon"]
    {'pet': 2.0}
    """
    each = _each(columns, epsilon)
    if domains and set(domains) - set(each):
        raise BadInput(f"domains are declared for {sorted(set(domains) - set(each))}, which are not released")
    for column in columns:
        if column.own_taxonomy:
            raise BadInput(
                f"column {column.name!r}: its taxonomy was cut down to what the column holds, so that the mechanism "
                'would tell what is in the table; make the column with over="domain", from the whole taxonomy'
            )
        if column.by_company:
            raise BadInput(
                f"column {column.name!r}: which sense a word has was decided by the other records, which would tell "
                'about them; make the column with senses="first", or say what its words mean with concepts=...'
            )
    declared = {c.name: _domain(c.name, c.bound()[0], (domains or {}).get(c.name)) for c in columns}
    for column in columns:
        if not np.isin(column.bound()[1], declared[column.name]).all():
            raise BadInput(f"column {column.name!r} has values outside the declared domain; declare what is possible")
        _check_rounding(column.name, each[column.name], len(declared[column.name]))
    random = generator(rng)
    budget.spend(math.fsum(each.values()), ", ".join(f"words of {name}" for name in each))
    source = records_of(counts)
    released: list[tuple[tuple[Value, ...], Ints]] = []
    for column in columns:
        distance, concepts = column.bound()
        domain = declared[column.name]
        sharp = _sharpness(distance, domain, each[column.name])
        codes = counts.column(column.name)[source]
        out = np.empty(len(codes), dtype=np.int32)
        grouped = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[grouped], np.arange(len(concepts) + 1))
        used = np.flatnonzero(np.diff(starts))
        whole = len(domain) == len(distance.taxonomy)
        blocks = distance.blocks(concepts[used]) if whole else distance.blocks(concepts[used], domain)
        chances = np.zeros((len(concepts), len(domain))) if wants_steps(listener) else None
        for where, block in blocks:
            for value, row in zip(used[where].tolist(), block, strict=True):
                mine = grouped[starts[value] : starts[value + 1]]
                odds = _odds(row, sharp)
                out[mine] = _draw_exactly(odds, len(mine), random)
                if chances is not None:
                    chances[value] = odds / odds.sum()
        # The whole domain is written down, drawn or not, and no concept as the table happened to spell it.
        taxonomy = distance.taxonomy
        names = tuple(taxonomy.ids[int(c)] if spelling == "id" else taxonomy.label(int(c)) for c in domain)
        released.append((names, out))
        if chances is not None:
            rule = Draws(column.name, tuple(column.values[v] for v in used), names, chances[used])
            emit(listener, "drawn", len(released), len(columns), rule=rule, source=source, codes=out)
    info = {
        "method": "exponential mechanism",
        "epsilon": dict(each),
        "neighbours": "replace one record",
        "domain": {name: len(domain) for name, domain in declared.items()},
    }
    return cells_of([c.name for c in columns], [v for v, _ in released], source, [x for _, x in released], info)


def exponential_matrix(name: str, distance: Distance, epsilon: float, domain: Sequence[Concept] | None = None) -> Draws:
    """The transition matrix `release_words` draws from, over the whole declared domain: to be published.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> exponential_matrix("pet", distance("wu-palmer", pets), 2.0, ["cat", "dog"]).probabilities.round(3).tolist()
    [[0.881, 0.119], [0.119, 0.881]]
    """
    check_epsilon(epsilon)
    codes = _domain(name, distance, domain)
    if len(codes) ** 2 > 16 * _EXACT_CELLS:
        raise BadInput(f"column {name!r}: a matrix over {len(codes):,} concepts is too large to write down")
    _check_rounding(name, epsilon, len(codes))
    sharp = _sharpness(distance, codes, epsilon)
    odds = np.stack([_odds(row, sharp) for row in distance.matrix(codes)]).astype(np.float64)
    taxonomy = distance.taxonomy
    labels = tuple(taxonomy.label(int(c)) for c in codes)
    info = {"method": "exponential mechanism", "epsilon": float(epsilon), "publish": True}
    return Draws(name, labels, labels, odds / odds.sum(axis=1, keepdims=True), info)


def response_matrix(name: str, domain: Sequence[Value], epsilon: float) -> Draws:
    """The transition matrix of k-ary randomized response over a declared domain of k values: to be published.

    A value is kept with chance e^epsilon / (e^epsilon + k - 1), else any other is released with the same chance
    (Warner 1965; Kairouz, Oh and Viswanath 2014). It ignores meaning: the baseline for the exponential mechanism.

    >>> response_matrix("sex", ["f", "m"], 1.0).probabilities.round(3).tolist()
    [[0.731, 0.269], [0.269, 0.731]]
    """
    check_epsilon(epsilon)
    size = len(domain)
    if size < 2 or len(set(domain)) != size:
        raise BadInput(f"column {name!r}: the declared domain must list at least two values, each once")
    # In terms of e^-epsilon, so that a large epsilon does not overflow.
    other = math.exp(-epsilon) / (1 + (size - 1) * math.exp(-epsilon))
    table = np.full((size, size), other)
    np.fill_diagonal(table, 1 - (size - 1) * other)
    info = {"method": "k-ary randomized response", "epsilon": float(epsilon), "publish": True}
    return Draws(name, tuple(domain), tuple(domain), table, info)


def release_categories(
    counts: Counts, rules: Sequence[Draws], budget: Budget, *, rng: Random = None, listener: Listener | None = None
) -> Cells:
    """Release columns by published matrices (`response_matrix`, `exponential_matrix`), entered into the budget.

    Each matrix is trusted only as far as it goes: the epsilon taken from the budget is computed from its entries, the
    largest logarithm of the ratio of two entries of one column. One over the column's own values (`pram`) is refused.

    >>> counts = Counts.of({"sex": ["f", "m", "m"]})
    >>> budget = Budget(1.0)
    >>> cells = release_categories(counts, [response_matrix("sex", ["f", "m"], 1.0)], budget, rng=1)
    >>> budget.remaining
    0.0
    """
    each, tables = {}, {}
    for rule in rules:
        if rule.info.get("own_values"):
            raise BadInput(
                f"column {rule.name!r}: a matrix over the column's own values would tell which these are; make it with "
                "response_matrix or exponential_matrix over declared ones"
            )
        if not set(counts.values_of(rule.name)) <= set(rule.inputs):
            raise BadInput(f"column {rule.name!r} has values outside the declared domain; declare what is possible")
        table = np.rint(rule.probabilities * float(1 << 52)).astype(np.int64)
        possible = table.max(axis=0) > 0
        if (table[:, possible] == 0).any():
            raise BadInput(f"column {rule.name!r}: a matrix with impossible transitions is not differentially private")
        logs = np.log(table[:, possible]) - np.log(table.sum(axis=1))[:, None]
        each[rule.name] = float((logs.max(axis=0) - logs.min(axis=0)).max())
        tables[rule.name] = table
    random = generator(rng)
    if math.fsum(each.values()) > 0:
        budget.spend(math.fsum(each.values()), ", ".join(f"categories of {name}" for name in each))
    source = records_of(counts)
    released: list[tuple[tuple[Value, ...], Ints]] = []
    for rule in rules:
        place = {v: i for i, v in enumerate(rule.inputs)}
        codes = counts.column(rule.name)[source]
        out = np.empty(len(codes), dtype=np.int32)
        for i, value in enumerate(counts.values_of(rule.name)):
            mine = np.flatnonzero(codes == i)
            out[mine] = _draw_exactly(tables[rule.name][place[value]], len(mine), random)
        released.append((rule.outputs, out))
        emit(listener, "drawn", len(released), len(rules), rule=rule, source=source, codes=out)
    info = {"method": "published matrix", "epsilon": each, "neighbours": "replace one record"}
    return cells_of([r.name for r in rules], [v for v, _ in released], source, [x for _, x in released], info)


def _each(columns: Sequence[Nominal], epsilon: float | Mapping[str, float]) -> dict[str, float]:
    names = [c.name for c in columns]
    if not names or len(set(names)) != len(names):
        raise BadInput("name at least one column, each once")
    if isinstance(epsilon, Mapping):
        if set(epsilon) != set(names):
            raise BadInput(f"epsilon is given for {sorted(epsilon)}, the columns are {sorted(names)}")
        return {name: check_epsilon(epsilon[name]) for name in names}
    return {name: check_epsilon(epsilon) for name in names}


def _check_rounding(column: str, epsilon: float, size: int) -> None:
    """Refuse what whole numbers cannot express: four roundings must cost less than the epsilon set aside for them."""
    least = (1 << 62) // size * math.exp(-epsilon)
    if 2 / max(1.0, least) > epsilon * _SLACK:
        raise BadInput(
            f"column {column!r}: epsilon = {epsilon:g} over {size:,} concepts cannot be drawn exactly; give an epsilon "
            "nearer to 1, or a smaller domain"
        )


def _domain(name: str, distance: Distance, given: Sequence[Concept] | None) -> Ints:
    if given is None:
        codes = np.arange(len(distance.taxonomy), dtype=np.int32)
    else:
        codes = distance.taxonomy.codes(given)
    if len(codes) < 2 or len(np.unique(codes)) != len(codes):
        raise BadInput(f"column {name!r}: the declared domain must list at least two concepts, each once")
    return codes


def _sharpness(distance: Distance, domain: Ints, epsilon: float) -> float:
    """How fast chances may fall with distance: exactly as epsilon allows where the domain is small enough to try."""
    epsilon *= 1 - _SLACK
    safe = epsilon / (2 * (distance.maximum or 1.0))
    if len(domain) ** 2 > _EXACT_CELLS:
        return safe
    table = distance.matrix(domain)

    def loss(sharp: float) -> float:
        logs = -sharp * table
        logs -= np.log(np.exp(logs).sum(axis=1))[:, None]
        return float((logs.max(axis=0) - logs.min(axis=0)).max())

    # The usual bound is half of what a domain without edges allows; twice that is never exceeded by much.
    low, high = safe, epsilon / max(1e-300, float(np.ptp(table, axis=0).max()))
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) <= epsilon else (low, middle)
    return low


def _odds(row: Floats, sharp: float) -> NDArray[np.int64]:
    """Chances of the exponential mechanism as whole numbers whose sum stays below 2**62."""
    whole: NDArray[np.int64] = np.rint(np.exp(-sharp * row) * ((1 << 62) // len(row))).astype(np.int64)
    return whole


def _draw_exactly(weights: NDArray[np.int64], times: int, rng: np.random.Generator) -> Ints:
    """Positions drawn with exactly these odds: a uniform whole number below their sum, found in their running sum."""
    total = np.cumsum(weights)
    drawn = rng.integers(0, int(total[-1]), times)
    return np.searchsorted(total, drawn, side="right").astype(np.int32)
