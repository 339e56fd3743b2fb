"""Build a taxonomy from concepts and is-a links, refusing what is not one, by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, Strings
from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.core import PER_CONCEPT, Taxonomy

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
        raise _twice(name, ids)
    for child, parent in pairs:
        for key in (child, parent):
            if key not in code:
                if closed:
                    raise BadTaxonomy(
                        f"{name}: the is-a link {_show(child)} -> {_show(parent)} names the unknown concept "
                        f"{_show(key)}; add it to the concepts or drop the link"
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


def from_arrays(
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
    ids = list(ids)
    names = [row or [key] for key, row in zip(ids, names, strict=False)]
    n = len(ids)
    if n == 0:
        raise BadTaxonomy(f"{name}: the taxonomy is empty; it needs at least one concept")
    if len(names) != n:
        raise BadTaxonomy(f"{name}: {n:,} ids and {len(names):,} rows of names; give one row of names for each id")
    if "" in ids:
        raise BadTaxonomy(f"{name}: concept number {ids.index('')} has an empty id; give it one")
    if len(set(ids)) != n:
        raise _twice(name, ids)
    for kind, (source, target) in {"is-a": (child, parent), **(relations or {})}.items():
        _check_codes(name, kind, np.asarray(source), np.asarray(target), n)
    links = np.unique(np.stack([np.asarray(child, np.int64), np.asarray(parent, np.int64)], axis=1), axis=0)
    child, parent = links[:, 0].astype(np.int32), links[:, 1].astype(np.int32)
    loops = child[child == parent]
    if len(loops):
        raise BadTaxonomy(f"{name}: the concept {_show(ids[loops[0]])} is its own parent; drop that link")
    has_parent = np.zeros(n, dtype=np.bool_)
    has_parent[child] = True
    roots = np.flatnonzero(~has_parent).astype(np.int32)
    if len(roots) > 1:
        if not join_roots:
            shown = ", ".join(_show(ids[r]) for r in roots[:3]) + (", ..." if len(roots) > 3 else "")
            raise BadTaxonomy(
                f"{name}: there are {len(roots):,} roots ({shown}); join them under a virtual root with "
                "join_roots=True, or add the missing is-a links"
            )
        if root_label in set(ids):
            raise BadTaxonomy(f"{name}: the virtual root's id {_show(root_label)} is taken; give another root_label")
        ids.append(root_label)
        names.append([root_label])
        child = np.concatenate([child, roots])
        parent = np.concatenate([parent, np.full(len(roots), n, np.int32)])
        n += 1
    parents = Rows.from_pairs(child, parent, n)
    children = Rows.from_pairs(parent, child, n)
    order, depth, min_depth = _levels(name, ids, parents, children)
    terms, term_rows = _terms(names)
    return Taxonomy(
        name=name,
        ids=Strings.of(ids),
        terms=terms,
        names=term_rows,
        parents=parents,
        children=children,
        order=order,
        depth=depth,
        min_depth=min_depth,
        relations={kind: Rows.from_pairs(a, b, n) for kind, (a, b) in (relations or {}).items()},
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
            raise BadTaxonomy(f"{name}: an is-a link of {_show(pair[0] or pair[1])} has an empty id at its other end")


def _check_codes(name: str, kind: str, source: NDArray[Any], target: NDArray[Any], n: int) -> None:
    """The two ends of links are as many, and codes of concepts."""
    if source.shape != target.shape or source.ndim != 1:
        raise BadTaxonomy(f"{name}: the {kind} links have {source.shape} first and {target.shape} second ends")
    for codes in (source, target):
        if len(codes) and not 0 <= int(codes.min()) <= int(codes.max()) < n:
            outside = int(codes.max()) if int(codes.min()) >= 0 else int(codes.min())
            raise BadTaxonomy(f"{name}: a link ({kind}) names code {outside}; codes run from 0 to {n - 1}")


def _twice(name: str, ids: Sequence[str]) -> BadTaxonomy:
    seen: set[str] = set()
    twice = next(key for key in ids if key in seen or seen.add(key))  # type: ignore[func-returns-value]
    return BadTaxonomy(f"{name}: the concept id {_show(twice)} occurs more than once; ids must be unique")


def restrict(taxonomy: Taxonomy, concepts: Ints) -> Taxonomy:
    """The part of a taxonomy on the given sorted codes, which must hold all that lies between them and one root.

    >>> pets = from_edges([("cat", "animal"), ("dog", "animal"), ("pug", "dog")])
    >>> restrict(pets, pets.descendants("dog"))
    Taxonomy('taxonomy: dog': 2 concepts, 1 is-a links)
    """
    new = np.full(len(taxonomy), -1, dtype=np.int32)
    new[concepts] = np.arange(len(concepts), dtype=np.int32)

    def part(rows: Rows) -> tuple[Ints, Ints]:
        source = np.repeat(np.arange(len(concepts), dtype=np.int32), rows.sizes[concepts])
        target = new[rows.gather(concepts)]
        kept = target >= 0
        return source[kept], target[kept]

    ids = list(taxonomy.ids)
    child, parent = part(taxonomy.parents)
    label = taxonomy.label(int(concepts[np.argmin(taxonomy.depth[concepts])]))
    small = from_arrays(
        [ids[c] for c in concepts],
        [taxonomy.synonyms(int(c)) for c in concepts],
        child,
        parent,
        relations={kind: part(rows) for kind, rows in taxonomy.relations.items()},
        name=f"{taxonomy.name}: {label}",
        info=taxonomy.info,
        extra=_extra(taxonomy, concepts),
        tables={k: t.take(concepts) if k in PER_CONCEPT else t for k, t in taxonomy.tables.items()},
    )
    return small if taxonomy.senses is None else _with_senses(small, taxonomy, new)


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


def _with_senses(small: Taxonomy, taxonomy: Taxonomy, new: Ints) -> Taxonomy:
    """The part with the source's sense order and counts, of the senses that are left."""
    senses = taxonomy.senses
    assert senses is not None
    place = {term: i for i, term in enumerate(small.terms)}
    term = np.array([place.get(t, -1) for t in taxonomy.terms], dtype=np.int32)[senses.row_of()]
    concept = new[senses.indices]
    kept = (term >= 0) & (concept >= 0)
    rows = Rows.from_pairs(term[kept], concept[kept], len(small.terms))
    counts = taxonomy.sense_counts
    ordered = None if counts is None else counts[kept][np.argsort(term[kept], kind="stable")]
    return replace(small, senses=rows, sense_counts=ordered)


def _levels(name: str, ids: Sequence[str], parents: Rows, children: Rows) -> tuple[Ints, Ints, Ints]:
    """Topological order, longest-path depth and shortest-path depth, all in nodes; refuses a cycle by printing it."""
    n = len(parents)
    waiting = parents.sizes.astype(np.int64)
    depth = np.zeros(n, dtype=np.int32)
    frontier = np.flatnonzero(waiting == 0).astype(np.int32)
    order: list[Ints] = []
    level = 1
    while len(frontier):
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
    shown = [_show(ids[c]) for c in loop]
    if len(loop) > 12:
        shown[6:-5] = [f"... {len(loop) - 11:,} more ..."]
    return " -> ".join(shown)


def _terms(names: Sequence[Sequence[str]]) -> tuple[Strings, Rows]:
    """Distinct names, and for each concept the positions of its own in that table, preferred name first."""
    position: dict[str, int] = {}
    flat = [position.setdefault(term, len(position)) for row in names for term in row]
    starts = np.zeros(len(names) + 1, dtype=np.int32)
    np.cumsum([len(row) for row in names], out=starts[1:])
    return Strings.of(position), Rows(starts, np.array(flat, dtype=np.int32))


def _show(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
