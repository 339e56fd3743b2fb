"""The arrays that a taxonomy is made of: checked links, roots joined, levels; and a part of them on some concepts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, Strings
from keepsense.errors import BadTaxonomy

if TYPE_CHECKING:
    from keepsense.taxonomy.core import Taxonomy

PER_CONCEPT = frozenset({"glosses", "ili"})
"""Tables of strings that have one entry a concept."""


def assembled(
    ids: Sequence[str],
    names: Sequence[Sequence[str]],
    child: NDArray[Any],
    parent: NDArray[Any],
    relations: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
    joined: str | None = None,
    *,
    name: str,
) -> dict[str, Any]:
    """Fields of a taxonomy from codes; several roots are refused, or put under a virtual one called `joined`.

    >>> import numpy as np
    >>> assembled(["a", "b"], [["top"], ["leaf"]], np.array([1]), np.array([0]), {}, name="tiny")["depth"].tolist()
    [1, 2]
    """
    ids, names = list(ids), [row or [key] for key, row in zip(ids, names, strict=False)]
    n = len(ids)
    _check(name, ids, names, {"is-a": (child, parent), **relations})
    links = np.unique(np.stack([np.asarray(child, np.int64), np.asarray(parent, np.int64)], axis=1), axis=0)
    child, parent = links[:, 0].astype(np.int32), links[:, 1].astype(np.int32)
    loops = child[child == parent]
    if len(loops):
        raise BadTaxonomy(f"{name}: the concept {shown(ids[loops[0]])} is its own parent; drop that link")
    has_parent = np.zeros(n, dtype=np.bool_)
    has_parent[child] = True
    roots = np.flatnonzero(~has_parent).astype(np.int32)
    if len(roots) > 1:
        if joined is None:
            some = ", ".join(shown(ids[r]) for r in roots[:3]) + (", ..." if len(roots) > 3 else "")
            raise BadTaxonomy(
                f"{name}: there are {len(roots):,} roots ({some}); join them under a virtual root with "
                "join_roots=True, or add the missing is-a links"
            )
        if joined in set(ids):
            raise BadTaxonomy(f"{name}: the virtual root's id {shown(joined)} is taken; give another root_label")
        ids.append(joined)
        names.append([joined])
        child = np.concatenate([child, roots])
        parent = np.concatenate([parent, np.full(len(roots), n, np.int32)])
        n += 1
    parents = Rows.from_pairs(child, parent, n)
    children = Rows.from_pairs(parent, child, n)
    order, depth, min_depth = _levels(name, ids, parents, children)
    terms, term_rows = _terms(names)
    return {
        "name": name,
        "ids": Strings.of(ids),
        "terms": terms,
        "names": term_rows,
        "parents": parents,
        "children": children,
        "order": order,
        "depth": depth,
        "min_depth": min_depth,
        "relations": {kind: Rows.from_pairs(a, b, n) for kind, (a, b) in relations.items()},
    }


def _check(
    name: str,
    ids: Sequence[str],
    names: Sequence[Sequence[str]],
    links: Mapping[str, tuple[NDArray[Any], NDArray[Any]]],
) -> None:
    """There are concepts, each with an id of its own and a row of names, and links stay among them."""
    n = len(ids)
    if n == 0:
        raise BadTaxonomy(f"{name}: the taxonomy is empty; it needs at least one concept")
    if len(names) != n:
        raise BadTaxonomy(f"{name}: {n:,} ids and {len(names):,} rows of names; give one row of names for each id")
    if "" in ids:
        raise BadTaxonomy(f"{name}: concept number {ids.index('')} has an empty id; give it one")
    if len(set(ids)) != n:
        raise twice(name, ids)
    for kind, (source, target) in links.items():
        _check_codes(name, kind, np.asarray(source), np.asarray(target), n)


def _check_codes(name: str, kind: str, source: NDArray[Any], target: NDArray[Any], n: int) -> None:
    """The two ends of links are as many, and codes of concepts."""
    if source.shape != target.shape or source.ndim != 1:
        raise BadTaxonomy(f"{name}: the {kind} links have {source.shape} first and {target.shape} second ends")
    for codes in (source, target):
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < n:
            outside = int(codes.max()) if int(codes.min()) >= 0 else int(codes.min())
            raise BadTaxonomy(f"{name}: a link ({kind}) names code {outside}; codes run from 0 to {n - 1}")


def twice(name: str, ids: Sequence[str]) -> BadTaxonomy:
    """The error about an id that two concepts have."""
    seen: set[str] = set()
    shared = next(key for key in ids if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return BadTaxonomy(f"{name}: the concept id {shown(shared)} occurs more than once; ids must be unique")


def restricted(taxonomy: Taxonomy, concepts: Ints) -> dict[str, Any]:
    """Fields of the part of a taxonomy on the given sorted codes, all that lies between them and one root.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "animal"), ("dog", "animal"), ("pug", "dog")])
    >>> restricted(pets, pets.descendants("dog"))["name"]
    'taxonomy: dog'
    """
    new = np.full(len(taxonomy), -1, dtype=np.int32)
    new[concepts] = np.arange(len(concepts), dtype=np.int32)

    def part(rows: Rows) -> tuple[Ints, Ints]:
        source = np.repeat(np.arange(len(concepts), dtype=np.int32), rows.sizes[concepts])
        target = new[rows.gather(concepts)]
        inside = target >= 0
        return source[inside], target[inside]

    ids = list(taxonomy.ids)
    child, parent = part(taxonomy.parents)
    label = taxonomy.label(int(concepts[np.argmin(taxonomy.depth[concepts])]))
    fields = assembled(
        [ids[c] for c in concepts],
        [taxonomy.synonyms(int(c)) for c in concepts],
        child,
        parent,
        {kind: part(rows) for kind, rows in taxonomy.relations.items()},
        name=f"{taxonomy.name}: {label}",
    )
    return {
        **fields,
        **_senses(taxonomy, fields["terms"], new),
        "info": taxonomy.info,
        "extra": _extra(taxonomy, concepts),
        "tables": {k: t.take(concepts) if k in PER_CONCEPT else t for k, t in taxonomy.tables.items()},
    }


def _extra(taxonomy: Taxonomy, concepts: Ints) -> dict[str, NDArray[Any]]:
    """The further arrays of the kept concepts."""
    kept: dict[str, NDArray[Any]] = {}
    for key, array in taxonomy.extra.items():
        name, _, kind = key.rpartition(" ")
        sizes = taxonomy.extra.get(f"{name} sizes")
        if kind == "words" and sizes is not None:
            starts = np.zeros(len(sizes) + 1, dtype=np.int32)
            np.cumsum(sizes, out=starts[1:])
            kept[key] = Rows(starts, array).gather(concepts)
        elif len(array) == len(taxonomy):
            kept[key] = array[concepts]
    return kept


def _senses(taxonomy: Taxonomy, terms: Strings, new: Ints) -> dict[str, Any]:
    """The source's sense order and counts, of the senses that are left."""
    senses, counts = taxonomy.senses, taxonomy.sense_counts
    if senses is None:
        return {}
    place = {term: i for i, term in enumerate(terms)}
    term = np.array([place.get(t, -1) for t in taxonomy.terms], dtype=np.int32)[senses.row_of()]
    concept = new[senses.indices]
    left = (term >= 0) & (concept >= 0)
    return {
        "senses": Rows.from_pairs(term[left], concept[left], len(terms)),
        "sense_counts": None if counts is None else counts[left][np.argsort(term[left], kind="stable")],
    }


def _levels(name: str, ids: Sequence[str], parents: Rows, children: Rows) -> tuple[Ints, Ints, Ints]:
    """Topological order, longest-path depth and shortest-path depth, all in nodes; refuses a cycle by printing it."""
    n = len(parents)
    waiting = parents.sizes.astype(np.int64)
    depth = np.zeros(n, dtype=np.int32)
    frontier = np.flatnonzero(waiting == 0).astype(np.int32)
    order: list[Ints] = []
    level = 1
    while len(frontier):
        if level > _SHALLOW:
            return _deep_levels(name, ids, parents, children)
        depth[frontier] = level
        order.append(frontier)
        below, arrivals = np.unique(children.gather(frontier), return_counts=True)
        waiting[below] -= arrivals
        frontier = below[waiting[below] == 0].astype(np.int32)
        level += 1
    if sum(map(len, order)) < n:
        raise BadTaxonomy(f"{name}: the is-a links form a cycle: {_cycle(ids, parents, waiting)}; drop one of them")
    min_depth = np.zeros(n, dtype=np.int32)
    frontier, level = order[0], 1
    while len(frontier):
        min_depth[frontier] = level
        below = children.gather(frontier)
        frontier = np.unique(below[min_depth[below] == 0])
        level += 1
    return np.concatenate(order), depth, min_depth


_SHALLOW = 200
"""Levels that are walked a whole level at a time; what is deeper has few concepts on each."""


def _deep_levels(name: str, ids: Sequence[str], parents: Rows, children: Rows) -> tuple[Ints, Ints, Ints]:
    """The same as `_levels`, a concept at a time: the time grows with the links, however deep they lie."""
    waiting, starts, below = parents.sizes.tolist(), children.starts.tolist(), children.indices.tolist()
    queue = [concept for concept, number in enumerate(waiting) if not number]
    depth = [int(not number) for number in waiting]
    min_depth = [1 if not number else len(waiting) for number in waiting]
    for concept in queue:  # grows on the way
        for child in below[starts[concept] : starts[concept + 1]]:
            waiting[child] -= 1
            depth[child] = max(depth[child], depth[concept] + 1)
            min_depth[child] = min(min_depth[child], min_depth[concept] + 1)
            if not waiting[child]:
                queue.append(child)
    if len(queue) < len(parents):
        left = np.array(waiting)
        raise BadTaxonomy(f"{name}: the is-a links form a cycle: {_cycle(ids, parents, left)}; drop one of them")
    levels = np.array(depth, dtype=np.int32)
    return np.argsort(levels, kind="stable").astype(np.int32), levels, np.array(min_depth, dtype=np.int32)


def _cycle(ids: Sequence[str], parents: Rows, waiting: NDArray[Any]) -> str:
    """Walk up among the concepts that never became free until one comes again."""
    here = int(np.flatnonzero(waiting > 0)[0])
    seen: dict[int, int] = {}
    path: list[int] = []
    while here not in seen:
        seen[here] = len(path)
        path.append(here)
        here = next(int(p) for p in parents[here] if waiting[p] > 0)
    loop = [*path[seen[here] :], here]
    labels = [shown(ids[c]) for c in loop]
    if len(loop) > 12:
        labels[6:-5] = [f"... {len(loop) - 11:,} more ..."]
    return " -> ".join(labels)


def _terms(names: Sequence[Sequence[str]]) -> tuple[Strings, Rows]:
    """Distinct names, and for each concept the positions of its own in that table, preferred name first."""
    position: dict[str, int] = {}
    flat = [position.setdefault(term, len(position)) for row in names for term in row]
    starts = np.zeros(len(names) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in names], out=starts[1:])
    return Strings.of(position), Rows(starts, np.array(flat, dtype=np.int32))


def subsumer_rows(taxonomy: Taxonomy, concepts: Ints) -> Rows:
    """Subsumers of each of the concepts, itself included, one row a concept.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("pug", "dog"), ("dog", "pet")])
    >>> [pets.labels(row) for row in map(subsumer_rows(pets, pets.codes(["cat", "pug"])).__getitem__, (0, 1))]
    [['cat', 'pet'], ['pet', 'pug', 'dog']]
    """
    size = len(taxonomy)
    frontier = np.arange(len(concepts), dtype=np.int64) * size + concepts
    levels = [frontier]
    while len(frontier):
        row, here = np.divmod(frontier, size)
        above = taxonomy.parents.gather(here.astype(np.int32))
        frontier = np.unique(np.repeat(row, taxonomy.parents.sizes[here]) * size + above)
        levels.append(frontier)
    row, here = np.divmod(np.unique(np.concatenate(levels)), size)
    return Rows.from_pairs(row.astype(np.int32), here.astype(np.int32), len(concepts))


def shown(text: str) -> str:
    """A name as errors show it: quoted, and not too long."""
    return repr(text if len(text) <= 60 else text[:57] + "...")
