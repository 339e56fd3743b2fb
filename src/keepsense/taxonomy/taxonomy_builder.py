"""Build a taxonomy from concepts and is-a links; invalid links are refused by name, cycles can be broken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.taxonomy import Taxonomy, assembled, shown, twice

VIRTUAL_ROOT = "(everything)"


def from_edges(
    edges: Iterable[tuple[str, str]],
    *,
    names: Mapping[str, Sequence[str]] | None = None,
    concepts: Iterable[str] | None = None,
    relations: Mapping[str, Iterable[tuple[str, str]]] | None = None,
    join_roots: bool = False,
    root_label: str = VIRTUAL_ROOT,
    name: str = "taxonomy",
    info: Mapping[str, str] | None = None,
) -> Taxonomy:
    """Build a taxonomy from (child id, parent id) pairs.

    `names` gives each concept's label and synonyms (the id is its label where it has none). `concepts`, where given,
    is the closed list of ids: an edge to any other is refused. Without it every id in an edge is a concept. Several
    roots are refused unless `join_roots` puts one virtual root above them. Of `relations` those between concepts of
    the taxonomy are kept.

    >>> pets = from_edges([("cat", "animal"), ("dog", "animal")], names={"cat": ["cat", "kitty"]})
    >>> pets.synonyms("cat"), pets.label(pets.root)
    (['cat', 'kitty'], 'animal')
    """
    pairs = list(edges)
    _check_pairs(name, pairs)
    closed = concepts is not None
    ids: list[str] = list(concepts) if concepts is not None else list(names or ())
    code = {key: i for i, key in enumerate(ids)}
    if len(code) != len(ids):
        raise twice(name, ids)
    for child, parent in pairs:
        for key in (child, parent):
            if key not in code:
                if closed:
                    raise BadTaxonomy(
                        f"{name}: the is-a link {shown(child)} -> {shown(parent)} names the unknown concept "
                        f"{shown(key)}; add it to the concepts or drop the link"
                    )
                code[key] = len(ids)
                ids.append(key)
    child_codes = np.fromiter((code[c] for c, _ in pairs), dtype=np.int32, count=len(pairs))
    parent_codes = np.fromiter((code[p] for _, p in pairs), dtype=np.int32, count=len(pairs))
    related: dict[str, tuple[Ints, Ints]] = {}
    for kind, links in (relations or {}).items():
        known = [(code[a], code[b]) for a, b in links if a in code and b in code]
        array = np.array(known, dtype=np.int32).reshape(-1, 2)
        related[kind] = (array[:, 0], array[:, 1])
    given = {key: [found] if isinstance(found, str) else found for key, found in (names or {}).items()}
    named = [list(dict.fromkeys(t for t in given.get(key, ()) if t)) or [key] for key in ids]
    return from_arrays(
        ids,
        named,
        child_codes,
        parent_codes,
        relations=related,
        join_roots=join_roots,
        root_label=root_label,
        name=name,
        info=info,
    )


def from_arrays(  # noqa: PLR0913
    ids: Sequence[str],
    names: Sequence[Sequence[str]],
    child: NDArray[Any],
    parent: NDArray[Any],
    *,
    relations: Mapping[str, tuple[NDArray[Any], NDArray[Any]]] | None = None,
    join_roots: bool = False,
    root_label: str = VIRTUAL_ROOT,
    name: str = "taxonomy",
    info: Mapping[str, str] | None = None,
    **parts: Any,
) -> Taxonomy:
    """Build a taxonomy from codes: the fast way for loaders that number their concepts themselves.

    Row i of `names` holds the label and the synonyms of `ids[i]`; a concept without any goes by its id.

    >>> import numpy as np
    >>> tree = from_arrays(["a", "b"], [["top"], ["leaf"]], np.array([1]), np.array([0]))
    >>> tree.label(tree.root)
    'top'
    """
    return Taxonomy(
        **assembled(ids, names, child, parent, relations or {}, root_label if join_roots else None, name=name),
        info=dict(info or {}),
        **parts,
    )


def _check_pairs(name: str, pairs: Sequence[Any]) -> None:
    """Every link is a pair of texts that are not empty."""
    for number, pair in enumerate(pairs):
        whole = isinstance(pair, tuple | list | np.ndarray) and len(pair) == 2
        if not whole or not (isinstance(pair[0], str) and isinstance(pair[1], str)):
            kinds = ", ".join(type(end).__name__ for end in pair) if whole else type(pair).__name__
            raise BadTaxonomy(
                f"{name}: is-a link number {number} is not a pair of texts, child id and parent id, but ({kinds})"
            )
        if not (pair[0] and pair[1]):
            raise BadTaxonomy(f"{name}: an is-a link of {shown(pair[0] or pair[1])} has an empty id at its other end")


# Links to drop so that no cycle is left, for sources with unreliable links


def closing_links(n: int, child: NDArray[Any], parent: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the links that close a cycle when links are laid one by one in the given order.

    The earlier a link, the safer it is; the same links in the same order always give the same answer. Only links inside
    strongly connected parts are looked at, so a graph with few cycles costs little more than reading it. Among those a
    topological order is kept up as links come in (Pearce and Kelly 2006), so that each link is checked against the
    concepts between its two ends only.

    >>> import numpy as np
    >>> closing_links(3, np.array([0, 1, 2]), np.array([1, 2, 0])).tolist()
    [False, False, True]
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    drop = np.zeros(len(child), dtype=np.bool_)
    if not len(child):
        return drop
    graph = coo_array((np.ones(len(child), dtype=np.int8), (child, parent)), shape=(n, n))
    _, part = connected_components(graph.tocsr(), directed=True, connection="strong")
    inside = np.flatnonzero(part[child] == part[parent])
    order = _Order(np.unique(np.concatenate([child[inside], parent[inside]])).tolist())
    for i in inside.tolist():
        drop[i] = not order.lay(int(child[i]), int(parent[i]))
    return drop


class _Order:
    """Concepts in an order in which each comes before its parents, kept as links are laid."""

    def __init__(self, concepts: list[int]) -> None:
        # Lower codes tend to be parents: starting with them last leaves less to mend.
        self._rank = {c: i for i, c in enumerate(reversed(concepts))}
        self._above: dict[int, list[int]] = {c: [] for c in concepts}
        self._below: dict[int, list[int]] = {c: [] for c in concepts}

    def lay(self, child: int, parent: int) -> bool:
        """Lay a link; False, and nothing changed, where it would close a cycle."""
        rank = self._rank
        if child == parent:
            return False
        if rank[parent] < rank[child]:
            low, high = rank[parent], rank[child]
            upward = self._reach(parent, self._above, low, high, child)
            if child in upward:
                return False
            downward = self._reach(child, self._below, low, high, parent)
            moved = [*sorted(downward, key=rank.__getitem__), *sorted(upward, key=rank.__getitem__)]
            for concept, place in zip(moved, sorted(rank[c] for c in moved), strict=True):
                rank[concept] = place
        self._above[child].append(parent)
        self._below[parent].append(child)
        return True

    def _reach(self, start: int, along: dict[int, list[int]], low: int, high: int, goal: int) -> set[int]:
        """Everything reachable within the given ranks, or as much as it takes to find the goal."""
        waiting, seen = [start], {start}
        while waiting and goal not in seen:
            for step in along[waiting.pop()]:
                if step not in seen and low <= self._rank[step] <= high:
                    seen.add(step)
                    waiting.append(step)
        return seen


def listed(items: Sequence[str], shown: int = 20) -> str:
    """How many there are and the first few of them, for `info`; empty where there are none."""
    more = f", and {len(items) - shown} more" if len(items) > shown else ""
    return f"{len(items)}: {', '.join(items[:shown])}{more}" if items else ""
