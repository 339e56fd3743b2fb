"""The promise that linking released records by meaning mostly fails, checked on what became of every record."""

from __future__ import annotations

from typing import Any

from keepsense.publish.distances import released_gaps
from keepsense.publish.mechanisms import LINKAGE_RISK, LinkageRisk
from keepsense.publish.plan import Plan
from keepsense.recoding import Cells, Cuts, Draws, Recoding

MOST_PAIRS = 20_000_000_000
"""Pairs of distinct released and original records up to which all are compared."""


def linkage_kept(plan: Plan, rules: list[Recoding]) -> tuple[str, ...]:
    """The name of the promise where it is made and holds; nothing where it does not, or cannot be measured.

    >>> linkage_kept.__name__
    'linkage_kept'
    """
    limits = [model.threshold for model in plan.models if isinstance(model, LinkageRisk)]
    if not limits:
        return ()
    found = linkage(plan, rules)
    return (LINKAGE_RISK,) if found is not None and found.risk <= min(limits) + 1e-12 else ()


def linkage(plan: Plan, rules: list[Recoding]) -> Any:
    """How a linkage attack on all quasi-identifiers fares, or None where it is too large to measure or not covered.

    What is drawn by a published matrix is measured on a draw of its own.

    >>> linkage.__name__
    'linkage'
    """
    from keepsense.privacy.linkage import record_linkage

    cells = _as_cells(plan, rules)
    if cells is None or cells.inputs is None or set(cells.names) != set(plan.every_quasi_identifier):
        return None
    counts = cells.inputs
    if len(counts) * len(cells.codes) > MOST_PAIRS:
        return None
    return record_linkage(counts, cells, released_gaps(plan, counts, cells))


def _as_cells(plan: Plan, rules: list[Recoding]) -> Cells | None:
    if len(rules) == 1 and isinstance(rules[0], Cells):
        return rules[0]
    if len(rules) == 1 and isinstance(rules[0], Cuts):
        counts = plan.own_counts
        return rules[0].cells(counts).bound(counts)
    drawn = [rule for rule in rules if isinstance(rule, Draws)]
    if not rules or len(drawn) < len(rules):
        return None
    from keepsense.methods.perturb.pram import draw

    counts = plan.count(plan.quasi_identifiers)
    return draw(counts, drawn).bound(counts)
