"""From a chosen node to a recoding, and from no node to an error that says what to relax."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Value
from keepsense.errors import Infeasible
from keepsense.methods.generalize.parts.space import Node, Space
from keepsense.recoding import Cuts

if TYPE_CHECKING:
    from keepsense.methods.generalize.lattice import LatticeSearch


def recoding(search: LatticeSearch, node: Node, algorithm: str, **info: Any) -> Cuts:
    """The recoding of a node: one level for each column, and the classes it suppresses."""
    space = search.space
    verdict = search.check(node)
    suppress: frozenset[tuple[Value, ...]] = frozenset()
    if verdict.suppressed:
        suppress = frozenset(_labels(space, node, search.suppressed_keys()))
    cuts = tuple(
        replace(hierarchy.cut(level), name=name)
        for name, hierarchy, level in zip(space.names, space.hierarchies, node, strict=True)
    )
    told = {
        "algorithm": algorithm,
        "node": node,
        "metric": search.objective.name,
        "loss": verdict.value if np.isfinite(verdict.value) else None,
        "classes": verdict.classes,
        "suppressed": verdict.suppressed,
        "lattice": {"nodes": space.size, "checked": search.checks, "merged": search.merged},
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


def infeasible(search: LatticeSearch, algorithm: str) -> Infeasible:
    """The error where no node holds: the most general node as best attempt, and what to relax."""
    space, required = search.space, search.required
    verdict = search.check(space.heights)
    sizes = np.sort(search.class_sizes())
    m = len(sizes)
    least = int(sizes[min(int(np.searchsorted(np.cumsum(sizes), required.limit, side="right")), m - 1)])
    relax = []
    if verdict.classes and verdict.suppressed > required.limit:
        share = np.ceil(verdict.suppressed / space.total * 1000) / 10
        relax.append(f"allow {share:.1f}% of the records to be suppressed")
    if least < required.k:
        relax.append(f"k of at most {least:,}")
    asked = [model.name for model in required.rest]
    for model in required.models:
        if model.columns or model.name in asked:
            relax += model.weaker
    for name, tops, height in zip(space.names, space.levels.sizes.tolist(), space.heights, strict=True):
        if tops[height] > 1:
            relax.append(f"one top value for the hierarchy of {name!r} (it has {tops[height]})")
    best = recoding(search, space.heights, algorithm, holds=False)
    if not verdict.classes:  # all would be suppressed; rather show what would be released
        best = replace(best, suppress=frozenset(), info={**best.info, "suppressed": 0, "classes": m})
    several = "quasi-identifiers" if len(space.names) > 1 else "quasi-identifier"
    why = f"breaks {' and '.join(asked)}"
    if verdict.suppressed > required.limit or not verdict.classes:
        why = (
            f"leaves {verdict.suppressed:,} of {space.total:,} records in classes that break it, and "
            f"{required.limit:,} may be suppressed"
        )
    return Infeasible(
        f"no generalization of the {len(space.names)} {several} keeps the promise: even the most general one {why}. "
        f"Relax one of: {'; '.join(relax)}",
        best=best,
        relax=relax,
    )
