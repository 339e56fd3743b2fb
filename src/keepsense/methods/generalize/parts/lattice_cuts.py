"""Cuts: what failed checks and suppressed records rule out in a lattice too large to list."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from keepsense.methods.generalize.lattice_space import CLASS_SIZE, DISCERNIBILITY, Node
from keepsense.methods.generalize.lattice_template import limits

if TYPE_CHECKING:
    from keepsense.methods.generalize.lattice_template import LatticeSearch

_STATES = 20_000
"""Partial nodes looked at for one cheapest node before the search for it is cut short."""


class CutSet:
    """Nodes with a price: every node at or below one costs at least its own loss plus the price (infinite: it fails).

    A level one above a column's top leaves the column out, so that a cut speaks of few columns only.
    """

    def __init__(self, search: LatticeSearch) -> None:
        self.search = search
        self.cost = search.objective.costs(search.space.heights)
        self.bounded = self.bounds(search)
        d = len(search.space.names)
        self.levels, self.prices, self.number = np.empty((256, d), np.int16), np.empty(256), 0
        self.lowest = np.zeros(d, np.int64)
        if search.required.k > 1 and search.required.limit < search.space.total:
            self._start()

    @staticmethod
    def bounds(search: LatticeSearch) -> bool:
        """Whether costs of columns bound the metric; class sizes they do not."""
        return search.objective.kind not in (DISCERNIBILITY, CLASS_SIZE)

    def _start(self) -> None:
        """Lowest levels of columns by themselves, and the highest levels of two columns that cannot go together."""
        self.lowest, fine = limits(self.search)
        heights = self.search.space.heights
        for a in range(len(heights)):
            for b in range(a + 1, len(heights)):
                bad = np.zeros((heights[a] + 2, heights[b] + 2), np.bool_)
                bad[:-1, :-1] = ~fine[a, b, : heights[a] + 1, : heights[b] + 1]
                highest = bad[:-1, :-1] & ~bad[1:, :-1] & ~bad[:-1, 1:]
                for x, y in np.argwhere(highest).tolist():
                    node = [height + 1 for height in heights]
                    node[a], node[b] = x, y
                    self._add(tuple(node), np.inf)

    def limit(self, best: float) -> float:
        """Cost that a node must stay below to be better than the best value so far."""
        return self.search.objective.to_cost(best) if self.bounded else np.inf

    def cheapest(self, best: float) -> tuple[Node | None, float]:
        """The cheapest node that no cut rules out (None: no better one than the best is left), and a lower bound."""
        from keepsense.methods.generalize.kernels.cuts import cheapest

        heights = self.search.space.levels.heights
        node = np.empty(len(heights), np.int64)
        low, verdict = cheapest(self.cost, heights, self.lowest, self.levels, self.prices, self.number,
                                self.limit(best), _STATES, node)  # fmt: skip
        bound = self.search.objective.from_cost(low) if self.bounded else 0.0
        return (tuple(node.tolist()) if verdict else None), bound

    def cut(self, node: Node, best: float, deadline: float) -> bool:
        """Rule a node out, with as much else as possible; False where the node holds and nothing rules it out."""
        heights, columns = self.search.space.heights, range(len(node))
        limit = self.limit(best)
        here = float(sum(self.cost[j, node[j]] for j in columns))
        enough = limit - here - (1e-12 * max(1.0, abs(limit)) if np.isfinite(limit) else 0.0)
        paid = self._price(node)
        if paid < enough:
            return False
        step = {j: self.cost[j, min(node[j] + 1, heights[j])] - self.cost[j, node[j]] for j in columns}
        rest = sorted(columns, key=step.__getitem__)  # what is cheap to raise should not stay in the cut
        while rest and time.monotonic() <= deadline:
            free, kept = 0, len(rest) + 1  # the first `free` columns can be left out together, the first `kept` cannot
            trial = len(rest)
            while free + 1 < kept:
                price = self._price(self._without(node, rest[:trial]))
                free, kept, paid = (trial, kept, price) if price >= enough else (free, trial, paid)
                trial = (free + kept) // 2
            node = self._without(node, rest[:free])
            if free == len(rest):
                break
            j, rest = rest[free], rest[free + 1 :]
            low, high = node[j], heights[j]
            while low < high:
                middle = (low + high + 1) // 2
                price = self._price((*node[:j], middle, *node[j + 1 :]))
                low, high, paid = (middle, high, price) if price >= enough else (low, middle - 1, paid)
            node = (*node[:j], low, *node[j + 1 :])
        self._add(node, max(paid, limit - here))  # they differ by rounding at most; the node must not come again
        return True

    def _price(self, node: Node) -> float:
        verdict, added, _ = self.search.judge(node)
        if not verdict.holds:
            return np.inf
        return added if self.search.objective.monotone else 0.0

    def _without(self, node: Node, columns: Sequence[int]) -> Node:
        out = set(columns)
        return tuple(self.search.space.heights[j] + 1 if j in out else level for j, level in enumerate(node))

    def _add(self, node: Node, price: float) -> None:
        if self.number == len(self.prices):
            self.levels = np.concatenate([self.levels, np.empty_like(self.levels)])
            self.prices = np.concatenate([self.prices, np.empty_like(self.prices)])
        self.levels[self.number], self.prices[self.number] = node, price
        self.number += 1
