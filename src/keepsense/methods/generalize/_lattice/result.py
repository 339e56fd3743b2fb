"""From a chosen node to a recoding, and from no node to an error that says what to relax."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.errors import Infeasible
from keepsense.methods.generalize._lattice.space import Node, Space
from keepsense.recoding import Cuts

if TYPE_CHECKING:
    from keepsense.methods.generalize.lattice import LatticeSearch


def recoding(search: LatticeSearch, node: Node, algorithm: str, **info: Any) -> Cuts:
    """The recoding of a node: one level for each column, and the classes it suppresses."""
    space = search.space
    verdict = search.check(node)
    begin, m = int(search.store.first[search.place]), int(search.store.length[search.place])
    suppress: frozenset[tuple[Value, ...]] = frozenset()
    if verdict.suppressed:
        bad = search.store.bad[:m] & (search.store.weights[begin : begin + m] > 0)
        suppress = frozenset(_labels(space, node, search.store.keys[begin : begin + m][bad]))
    cuts = tuple(
        replace(hierarchy.cut(level), name=name)
        for name, hierarchy, level in zip(space.names, space.hierarchies, node, strict=True)
    )
    told = {
        "algorithm": algorithm,
        "node": node,
        "measure": search.objective.name,
        "loss": verdict.value if np.isfinite(verdict.value) else None,
        "classes": verdict.classes,
        "suppressed": verdict.suppressed,
        "lattice": {"nodes": space.size, "checked": search.checks, "merged": int(search.store.fill[2])},
    }
    return Cuts(cuts, suppress, {**told, **info})


def _labels(space: Space, node: Node, keys: NDArray[np.uint64]) -> list[tuple[Value, ...]]:
    """Released labels of packed classes."""
    columns: list[list[Value]] = []
    levels = space.levels
    for j, level in enumerate(node):
        code = (keys[:, levels.word[j]] >> levels.shift[j]) & levels.mask[j]
        labels = space.hierarchies[j].labels[level]
        mine = space.codes[space.codes_at[j] : space.codes_at[j + 1]].reshape(-1, space.heights[j] + 1)[:, level]
        label_of = np.empty(int(levels.sizes[j, level]), np.int64)
        label_of[mine] = space.raw[j][:, level]
        columns.append([labels[c] for c in label_of[code.astype(np.int64)].tolist()])
    return list(zip(*columns, strict=True))


def infeasible(search: LatticeSearch, algorithm: str, nearest: Node | None = None) -> Infeasible:
    """The error where no node holds: the most general node as best attempt, and what to relax."""
    space, required = search.space, search.required
    node = space.heights if nearest is None else nearest
    verdict = search.check(node)
    share = verdict.suppressed / space.total
    relax = []
    if verdict.classes and verdict.suppressed > required.limit:
        relax.append(f"allow {np.ceil(share * 1000) / 10:.1f}% of the records to be suppressed")
    if required.k > space.total:
        relax.append(f"k of at most {space.total:,}, the number of rows")
    elif required.k > 1:
        relax.append(f"k below {required.k}")
    for model in required.models:
        if model.columns:
            relax.append(f"a weaker {model.name}")
    for name, sizes, height in zip(space.names, space.levels.sizes.tolist(), space.heights, strict=True):
        if sizes[height] > 1:
            relax.append(f"one top value for the hierarchy of {name!r} (it has {sizes[height]})")
    best = recoding(search, node, algorithm, holds=False) if verdict.classes else None
    return Infeasible(
        f"no generalization of the {len(space.names)} quasi-identifiers keeps the promise: even the most general one "
        f"leaves {verdict.suppressed:,} of {space.total:,} records in classes that break it, and {required.limit:,} "
        f"may be suppressed. Relax one of: {'; '.join(relax)}",
        best=best,
        relax=relax,
    )
