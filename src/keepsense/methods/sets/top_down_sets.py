"""Top-down generalization of sets: each group of sets at its own levels (He and Naughton 2009)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows
from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import Method, registered
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.microaggregate.mdav import check_size
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
from keepsense.methods.task import group_size
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells
from keepsense.sets.item_sets import ItemSets


def top_down_sets(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    delimiter: str = ";",
    listener: Listener | None = None,
) -> Cells:
    """Generalize the items of a set-valued column as `generalize_sets_top_down` does, and give back a recoding.

    >>> food = Hierarchy.of_rows([("ham", "meat", "*"), ("beef", "meat", "*"), ("tea", "drink", "*")])
    >>> baskets = Counts.of({"basket": ["ham;tea", "beef;tea", "tea", "tea"]})
    >>> top_down_sets(baskets, {"basket": food}, k=2).apply(baskets).rows_of("basket")
    {'meat;tea': 2, 'tea': 2}
    """
    column = SetColumn.alone(counts, delimiter)
    return column.generalized(
        generalize_sets_top_down(column.items, hierarchies[column.name], models, k=k, listener=listener), METHOD.name
    )


def generalize_sets_top_down(
    sets: ItemSets,
    hierarchy: Hierarchy,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    listener: Listener | None = None,
) -> GeneralizedSets:
    """Start with every set at the root and split groups as long as each part keeps k sets that are released alike.

    Each step takes, in one group, the node whose children would win most (the penalty saved over all items below it)
    and parts the records by which of the children they hold. Parts of fewer than k records stay together where they
    were; if they are fewer than k themselves, records that win least are taken from parts that can spare them, or else
    the smallest part, of equals the one that wins least, joins. Where no part has k records the node is not split.
    Groups end up with different levels of detail (local recoding). An empty set holds an item of its own right below
    the root, so the root's label then means anything, or nothing.

    Use it for truthful output in which whole sets are shared by k records (k-anonymity), whatever an attacker knows.
    Costs each record's items once for every split of a group it is in.

    >>> from keepsense.sets.item_sets import from_lists
    >>> food = Hierarchy.of_rows([("ham", "meat", "*"), ("beef", "meat", "*"), ("tea", "drink", "*")])
    >>> release = generalize_sets_top_down(from_lists([["ham", "tea"], ["beef", "tea"], ["tea"], ["tea"]]), food, k=2)
    >>> release.records()
    [['meat', 'tea'], ['meat', 'tea'], ['tea'], ['tea']]
    """
    k = check_size(group_size(models, k), len(sets), f"column {sets.column!r}")
    rows = leaf_rows(sets, hierarchy)
    empty = np.flatnonzero(rows.sizes == 0)
    tree = ItemTree.of(hierarchy, nothing=len(empty) > 0)
    if len(empty):
        nothing = np.full(len(empty), tree.leaves - 1, dtype=np.int32)
        row = np.concatenate([rows.row_of(), empty])
        rows = Rows.from_pairs(row, np.concatenate([rows.indices, nothing]), len(rows))
    node = np.full(len(rows.indices), tree.root, dtype=np.int64)
    group = np.zeros(len(rows), dtype=np.int64)
    open_groups = [_Group(np.arange(len(rows), dtype=np.int64), frozenset())]
    finished = 0
    if wants_steps(listener):
        emit(listener, "root", 0, None, sets=labelled(tree, released_rows(rows, node)))
    while open_groups:
        opened = open_groups.pop()
        parts = _split(tree, rows, node, opened, k, listener)
        if parts is None:
            group[opened.records] = finished
            finished += 1
            emit(listener, "groups", finished, None, size=len(opened.records))
        else:
            open_groups += parts
    released = released_rows(rows, node)
    promise = KAnonymity(k).promise()
    held = rows.indices < len(hierarchy.leaves)  # what an empty set holds is no item and has no penalty
    return GeneralizedSets(sets, tree, released, mean_penalty(tree, node[held]), promise, None, group)


@dataclass(frozen=True, eq=False)
class _Group:
    """Records that are released alike, and the nodes that it was no use to split."""

    records: NDArray[np.int64]
    closed: frozenset[int]


def _entries(rows: Rows, records: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Positions in `rows.indices` of the records' items, and which of the records each belongs to."""
    sizes = (rows.starts[records + 1] - rows.starts[records]).astype(np.int64)
    first = np.repeat(rows.starts[records] - np.concatenate(([0], np.cumsum(sizes)[:-1])), sizes)
    return np.arange(int(sizes.sum())) + first, np.repeat(np.arange(len(records)), sizes)


def _split(
    tree: ItemTree, rows: Rows, node: NDArray[np.int64], group: _Group, k: int, listener: Listener | None
) -> list[_Group] | None:
    """The parts of a group, split at the most winning node that can be split; None where there is none."""
    at, owner = _entries(rows, group.records)
    leaves, now = rows.indices[at], node[at]
    closed = set(group.closed)
    while True:
        best = _most_winning(tree, leaves, now, closed)
        if best is None:
            return None
        chosen, win = best
        below = now == chosen
        parts = _parted(tree, chosen, leaves[below], owner[below], win, len(group.records), k)
        if parts is not None:
            break
        closed.add(chosen)
    stay, *moved = parts
    inside = np.zeros(len(group.records), dtype=np.bool_)
    inside[np.concatenate(moved)] = True
    below &= inside[owner]
    node[at[below]] = tree.children[chosen][tree.child_of(chosen, leaves[below])]
    found = [_Group(group.records[part], frozenset(closed)) for part in moved]
    if len(stay):
        found.append(_Group(group.records[stay], frozenset(closed | {chosen})))
    if wants_steps(listener):
        emit(listener, "split", opened=tree.labels[chosen], won=float(win.max()), stay=len(stay),
             parts=[part.records for part in found], sets=labelled(tree, released_rows(rows, node)))  # fmt: skip
    return found


def _most_winning(
    tree: ItemTree, leaves: NDArray[np.int32], now: NDArray[np.int64], closed: set[int]
) -> tuple[int, NDArray[np.float64]] | None:
    """The node whose split saves most, and what it saves for each child; None where none can be split.

    `leaves` are the items of a group's records, `now` the nodes at which they stand.
    """
    best: tuple[float, int, NDArray[np.float64]] | None = None
    for chosen in np.unique(now).tolist():
        if chosen < tree.leaves or chosen in closed:
            continue
        children = tree.children[chosen]
        which = tree.child_of(chosen, leaves[now == chosen])
        saved = tree.penalty[chosen] - tree.penalty[children]
        total = float(np.bincount(which, minlength=len(children)) @ saved)
        if best is None or total > best[0] + 1e-12:
            best = (total, chosen, saved)
    return None if best is None else (best[1], best[2])


def _parted(
    tree: ItemTree,
    chosen: int,
    leaves: NDArray[np.int32],
    owner: NDArray[np.int64],
    win: NDArray[np.float64],
    size: int,
    k: int,
) -> list[NDArray[np.int64]] | None:
    """Records that stay at the node (perhaps none), then the parts; None where not even one part has k records."""
    child = tree.child_of(chosen, leaves)
    width = len(tree.children[chosen])
    pairs = np.unique(owner * width + child)
    gain = np.bincount(owner, win[child], size).astype(np.float64)
    parts: dict[bytes, list[int]] = {}
    starts = np.flatnonzero(np.diff(pairs // width, prepend=-1, append=-1))
    for first, stop in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        parts.setdefault((pairs[first:stop] % width).tobytes(), []).append(int(pairs[first] // width))
    large = [np.array(part) for part in parts.values() if len(part) >= k]
    if not large:
        return None
    stay = np.array(sorted(r for part in parts.values() if len(part) < k for r in part), dtype=np.int64)
    if 0 < len(stay) < k:
        stay, large = _balanced(stay, large, gain, k)
    return [stay, *large] if large else None


def _balanced(
    stay: NDArray[np.int64], parts: list[NDArray[np.int64]], gain: NDArray[np.float64], k: int
) -> tuple[NDArray[np.int64], list[NDArray[np.int64]]]:
    """Fill up those that stay to k records: with those that win least where parts can spare them, else whole parts."""
    spare = [part[np.lexsort((part, gain[part]))][: len(part) - k] for part in parts]
    offered = np.concatenate(spare)
    if len(offered) >= k - len(stay):
        taken = offered[np.lexsort((offered, gain[offered]))][: k - len(stay)]
        stay = np.sort(np.concatenate([stay, taken]))
        return stay, [part[~np.isin(part, taken)] for part in parts]
    parts = sorted(parts, key=lambda part: (len(part), float(gain[part].sum()), int(part[0])))
    return np.sort(np.concatenate([stay, parts[0]])), parts[1:]


METHOD = registered(
    Method(
        name="top-down sets",
        title="Top-down generalization of sets",
        function=top_down_sets,
        set_runner=by_hierarchy,
        family="set generalization",
        place=2,
        short="each group of sets at levels of its own",
        intent="Begin with everything at the root, and open up items as long as k sets still look alike.",
        use=("attackers may know whole sets", "each group may have a level of detail of its own"),
        avoid=("one rule for all sets is wanted",),
        inputs=("a column of sets", "a hierarchy of the items", "k"),
        guarantee="k-anonymity of whole sets, whatever an attacker knows of them.",
        cost="One pass over a group for each split.",
        paper="He and Naughton 2009.",
        example="All baskets hold food; those with drinks are told apart as soon as k have some.",
        truthful=True,
        unweighed="it changes one column of sets",
        promises=(K_ANONYMITY, PROBABILISTIC, KM_ANONYMITY),
        sets="only",
        fillings={
            "start": Filling("down", "Begin with one group, every item at the root"),
            "stop": Filling("none", "Is there no group left that can be split?"),
            "candidates": Filling("gain", "Take the item of a group whose opening wins most detail"),
            "change": Filling("local", "Part the group by it; parts below k stay together"),
        },
        fit=Fit(
            points=5.0,
            reason="true sets, each group at its own level, safe whatever items are known",
            unfit=(ALONE,),
        ),
    )
)
