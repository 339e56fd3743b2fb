"""Apriori generalization of sets: one rule for all sets, k^m-anonymous (Terrovitis, Mamoulis and Kalnis 2008)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, Infeasible, InternalError
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.sets.set_column import (
    ALONE,
    GeneralizedSets,
    ItemTree,
    SetColumn,
    by_hierarchy,
    labelled,
    leaf_rows,
    mean_penalty,
    released_rows,
)
from keepsense.methods.suitability import K_ANONYMITY, KM_ANONYMITY, PROBABILISTIC, Fit
from keepsense.privacy.km_anonymity import KmAnonymity, rare_itemsets
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells, Cut
from keepsense.sets.item_sets import ItemSets


def apriori_sets(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    m: int | None = None,
    delimiter: str = ";",
    listener: Listener | None = None,
) -> Cells:
    """Generalize the items of a set-valued column as `generalize_sets_apriori` does, and give back a recoding.

    >>> food = Hierarchy.of_rows([("ham", "meat", "*"), ("beef", "meat", "*"), ("tea", "drink", "*")])
    >>> baskets = Counts.of({"basket": ["ham;tea", "beef;tea", "tea"]})
    >>> apriori_sets(baskets, {"basket": food}, k=2, m=2).apply(baskets).rows_of("basket")
    {'meat;tea': 2, 'tea': 1}
    """
    column = SetColumn.alone(counts, delimiter)
    return column.generalized(
        generalize_sets_apriori(column.items, hierarchies[column.name], models, k=k, m=m, listener=listener),
        METHOD.name,
    )


def generalize_sets_apriori(
    sets: ItemSets,
    hierarchy: Hierarchy,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    m: int | None = None,
    listener: Listener | None = None,
) -> GeneralizedSets:
    """Generalize items, everywhere alike, until any m known items are shared by at least k records.

    Goes by size: first single items, then pairs, up to m (short combinations make long ones frequent too). A rare
    combination is mended by the generalization of its items that costs least: the penalty it adds over all records,
    among all ways to move its items up until the combination occurs k times. Moving an item up takes everything below
    the new node along, so the result is one cut through the hierarchy, which also fits next month's file. Rare ones
    are taken in order of support, then of items; the paper takes them in the order of its count-tree.

    Use it for truthful output with a promise against attackers who know little (k^m-anonymity); sets as a whole need
    not be shared. Costs the combinations of up to m items that occur, a few times over. With an item that fewer than k
    records could ever share, the hierarchy's top does it; fewer than k sets with items are refused. `k` and `m` are
    those of the models unless they are given.

    >>> from keepsense.sets.item_sets import from_lists
    >>> food = Hierarchy.of_rows([("ham", "meat", "*"), ("beef", "meat", "*"), ("tea", "drink", "*")])
    >>> release = generalize_sets_apriori(from_lists([["ham", "tea"], ["beef", "tea"], ["tea"]]), food, k=2, m=2)
    >>> release.records()
    [['meat', 'tea'], ['meat', 'tea'], ['tea']]
    """
    known = next((model for model in models if isinstance(model, KmAnonymity)), None)
    if known is not None:
        k, m = known.k if k is None else k, known.m if m is None else m
    if k is None or m is None:
        raise BadInput("this method needs k and m: promise k^m-anonymity, or give both in [method.parameters]")
    promise = KmAnonymity(k, m, sets.column).promise()
    rows = leaf_rows(sets, hierarchy)
    filled = int((rows.sizes > 0).sum())
    if 0 < filled < k:
        raise Infeasible(
            f"column {sets.column!r}: only {filled:,} sets hold any item, so no item can be shared by k = {k}",
            relax=("a smaller k",),
        )
    tree = ItemTree.of(hierarchy)
    search = _Cut(tree, rows)
    weights = np.ones(len(rows), dtype=np.int64)
    for size in range(1, m + 1):
        while True:
            released = released_rows(rows, search.node[rows.indices])
            *_, rare = rare_itemsets(released, weights, k, size)
            if not len(rare.itemsets):
                break
            for at in np.lexsort((*rare.itemsets.T[::-1], rare.support)).tolist():
                search.mend(rare.itemsets[at].tolist(), k, listener)
            emit(listener, "generalized", size, m, rare=len(rare.itemsets))
    released = released_rows(rows, search.node[rows.indices])
    if any(len(rare.itemsets) for rare in rare_itemsets(released, weights, k, m)):
        raise InternalError("a rare combination of items was left after the apriori generalization")
    labels = tuple(tree.labels[node] for node in search.node.tolist())
    cut = Cut(sets.column, hierarchy.leaves, labels)
    return GeneralizedSets(sets, tree, released, mean_penalty(tree, search.node[rows.indices]), promise, cut)


class _Cut:
    """The node that each leaf is released as now, and the records below each node as bits of one long number."""

    def __init__(self, tree: ItemTree, rows: Rows) -> None:
        self.tree = tree
        self.node: NDArray[np.int64] = np.arange(tree.leaves, dtype=np.int64)
        self._occurrences = np.bincount(rows.indices, minlength=tree.leaves)
        self._holders = rows.reversed(tree.leaves)
        self._records = len(rows)
        self._rows = rows
        self._bits: dict[int, int] = {}

    def released(self) -> list[list[Value]]:
        """Every set as it stands."""
        return labelled(self.tree, released_rows(self._rows, self.node[self._rows.indices]))

    def bits(self, node: int) -> int:
        """Records that hold anything below a node."""
        found = self._bits.get(node)
        if found is None:
            held = np.zeros(self._records + 7 >> 3 << 3, dtype=np.uint8)
            held[self._holders.gather(self.tree.leaves_under(node))] = 1
            found = self._bits[node] = int.from_bytes(np.packbits(held).tobytes(), "big")
        return found

    def support(self, nodes: set[int]) -> int:
        """Records that hold something below each of the nodes."""
        first, *rest = nodes
        common = self.bits(first)
        for node in rest:
            common &= self.bits(node)
        return common.bit_count()

    def now(self, node: int) -> int:
        """What a node that was released when a combination was counted is released as by now."""
        return int(self.node[self.tree.leaves_under(node)[0]])

    def mend(self, itemset: list[int], k: int, listener: Listener | None = None) -> None:
        """Move the items of a rare combination up, at least cost, until it is rare no more."""
        nodes = {self.now(node) for node in itemset}
        shared = self.support(nodes)
        if 0 < shared < k:
            for cost, choice in sorted(self._choices(sorted(nodes))):
                if self.support(set(choice)) >= k:
                    for node in choice:
                        self._raise(node)
                    if wants_steps(listener):
                        name = self.tree.labels
                        emit(listener, "mended", items=[name[n] for n in sorted(nodes)], shared=shared, cost=cost,
                             raised=[name[n] for n in choice if n not in nodes],
                             left=[name[n] for n in choice if n in nodes], sets=self.released())  # fmt: skip
                    return
            raise InternalError("the root of the hierarchy is not frequent enough")

    def _choices(self, nodes: list[int]) -> Iterator[tuple[float, tuple[int, ...]]]:
        """All ways to move the nodes up, each with what it adds to the penalty; nodes below another are dropped."""
        for choice in product(*(self.tree.path(node) for node in nodes)):
            tops = tuple(sorted({n for n in choice if not any(o != n and o in self.tree.path(n) for o in choice)}))
            yield sum(self._cost(node) for node in tops), tops

    def _cost(self, node: int) -> float:
        below = self.tree.leaves_under(node)
        penalty = self.tree.penalty
        added = penalty[node] - penalty[self.node[below]]
        return float(self._occurrences[below] @ np.maximum(added, 0.0))

    def _raise(self, node: int) -> None:
        below = self.tree.leaves_under(node)
        lower = self.tree.leaf_counts[self.node[below]] < self.tree.leaf_counts[node]
        self.node[below[lower]] = node


METHOD = registered(
    Method(
        name="apriori sets",
        title="Apriori generalization of sets (k^m)",
        function=apriori_sets,
        set_runner=by_hierarchy,
        family="set generalization",
        place=1,
        aliases=("apriori",),
        short="one rule for all sets",
        intent="Generalize items, everywhere alike, until any m of them that occur together fit at least k people.",
        use=("one rule for all sets is wanted, also for next month's file",),
        avoid=("attackers may know whole sets: then only k over whole sets helps",),
        inputs=("a column of sets", "a hierarchy of the items", "k and m"),
        guarantee="k^m-anonymity.",
        cost="Counts of combinations of up to m items.",
        paper="Terrovitis, Mamoulis and Kalnis 2008.",
        example="Single items first, then pairs: stout and nappies occur once together, so stout becomes beer.",
        truthful=True,
        unweighed="it changes one column of sets",
        promises=(K_ANONYMITY, PROBABILISTIC, KM_ANONYMITY),
        sets="only",
        fillings={
            "start": Filling("up", "Begin with the sets as they are, and with single items"),
            "stop": Filling("m", "Is no combination of up to m items rarer than k?"),
            "candidates": Filling("rare", "Take the rarest combination, smaller ones first"),
            "change": Filling("global", "Move its items up, everywhere, the way that costs least"),
        },
        fit=Fit(
            points=6.0,
            reason="true sets by one rule, safe against anybody who knows up to m items",
            unfit=(ALONE,),
            promised=lambda s: [KmAnonymity(s.k, 2, s.set_column).promise()],
        ),
        shown=Shown(settings={"m": 2}),
    )
)
