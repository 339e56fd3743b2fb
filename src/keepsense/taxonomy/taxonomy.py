"""A taxonomy: an immutable is-a graph of concepts in arrays.

A concept is an integer code (its position in the source). Several parents are normal. Depths count nodes on the longest
path from the root, so a root has depth 1 (Rodríguez-García 2017, Eq. 4.5 and 4.6).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, Strings, frozen
from keepsense.errors import BadInput, BadTaxonomy, UnknownConcept, did_you_mean
from keepsense.taxonomy import taxonomy_file

# Arrays of a taxonomy: checked links, joined roots, levels; and a part of them on some concepts

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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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


# Identity: name, version and fingerprint, so that ids in a file keep their meaning
#
# A part of a taxonomy (`Taxonomy.below`) has the identity of the whole.


@dataclass(frozen=True, slots=True)
class Identity:
    """Name, version (empty where the source tells none) and fingerprint of a taxonomy.

    >>> Identity("jobs", "2024", "sha256:ab").plain()
    {'name': 'jobs', 'version': '2024', 'fingerprint': 'sha256:ab'}
    """

    name: str
    version: str = ""
    fingerprint: str = ""

    def plain(self) -> dict[str, str]:
        """As JSON holds it."""
        return {"name": self.name, "version": self.version, "fingerprint": self.fingerprint}

    @classmethod
    def of_plain(cls, written: Any) -> Identity | None:
        """The identity that a file states, or None where what is written is none.

        >>> Identity.of_plain({"name": "jobs", "fingerprint": "sha256:ab"}).name, Identity.of_plain([1])
        ('jobs', None)
        """
        if not isinstance(written, Mapping):
            return None
        texts = [written.get(key, "") for key in ("name", "version", "fingerprint")]
        return cls(*texts) if all(isinstance(text, str) for text in texts) and texts[0] else None

    def __str__(self) -> str:
        version = f", version {self.version}" if self.version and self.version not in self.name else ""
        return f"{self.name!r}{version}"


def identity(taxonomy: Taxonomy) -> Identity:
    """Identity of a taxonomy, or of the whole that it is a part of.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("tabby", "cat")], name="pets")
    >>> identity(pets) == identity(pets.below("cat")), identity(pets) == identity(from_edges([("cat", "pet")]))
    (True, False)
    """
    whole = taxonomy if taxonomy.whole is None else taxonomy.whole
    return Identity(whole.name, whole.info.get("version", ""), whole.fingerprint)


def check_same(file: str, stated: Identity, taxonomy: Taxonomy, remedy: str) -> bool:
    """Whether a file was made with this very taxonomy; one of another name is refused, with the remedy.

    False says that the name is the same and the content has changed since.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet")], name="pets")
    >>> check_same("jobs.json", Identity("jobs", "", "sha256:ab"), pets, "build it again")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: jobs.json: made with the taxonomy 'jobs', not with 'pets'; build it again
    """
    own = identity(taxonomy)
    if stated.fingerprint == own.fingerprint:
        return True
    part = not stated.fingerprint and stated.name.startswith(f"{own.name}: ")  # as files were written that had none
    if stated.name != own.name and not part:
        raise BadInput(f"{file}: made with the taxonomy {stated}, not with {own}; {remedy}")
    return False


def fingerprint(taxonomy: Taxonomy) -> str:
    """Digest of what ids, names, senses and is-a links there are; the same however the taxonomy is stored.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> fingerprint(from_edges([("cat", "pet")]))[:10]
    'sha256:ec3'
    """
    digest = hashlib.sha256()
    texts = (taxonomy.ids.block, taxonomy.terms.block)
    rows = (taxonomy.names, taxonomy.parents, taxonomy._senses)
    numbers = [array.astype("<i4", copy=False) for r in rows for array in (r.starts, r.indices)]
    for array in (*texts, *numbers):
        raw = np.ascontiguousarray(array)
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw.data if raw.size else b"")
    return f"sha256:{digest.hexdigest()[:32]}"


# The taxonomy

Concept = int | str
"""A concept as people and code name it: a code, an external id, a label, or a label with its sense (`coach#1`)."""


_REMEMBERED, _FEW = 20_000, 100
"""Concepts whose subsumers are remembered at most, and how many of these they may have: tens of megabytes."""
MOST_CLIMBED = 1_000_000_000
"""Links that may be climbed to count what lies below concepts: seconds. SNOMED CT takes some ten million."""


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """An is-a graph: concepts with ids, names, parents and children, and the relations its source has besides.

    Build one with `from_edges`, a loader of `keepsense.taxonomy`, or `Taxonomy.load`.

    `senses` holds for each term its concepts, the likeliest first, and `sense_counts` how often each was seen, where
    the source tells. `tables` are strings: one a concept where the name is in `PER_CONCEPT`, else a vocabulary. `extra`
    are arrays: one entry a concept, or ragged rows as a pair `NAME sizes` and `NAME words`. `whole` is the taxonomy
    that this one is a part of (see `below`): senses are numbered as there, so `coach#2` means the same in both.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> sports = from_edges([("swimming", "water sports"), ("windsurfing", "water sports"), ("water sports", "sports")])
    >>> len(sports), sports.label(sports.lcs("swimming", "windsurfing"))
    (4, 'water sports')
    >>> sports.labels(sports.subsumers("swimming")), sports.labels(sports.leaves())
    (['swimming', 'water sports', 'sports'], ['swimming', 'windsurfing'])
    >>> sports.labels(sports.path("swimming", "windsurfing")), sports.is_a("swimming", "sports")
    (['swimming', 'water sports', 'windsurfing'], True)
    >>> int(sports.depth[sports.code("swimming")]), int(sports.hyponym_counts[sports.root]), len(sports.below(1))
    (3, 3, 3)
    >>> sports.describe("swimming")
    'swimming, a kind of water sports'
    """

    name: str
    ids: Strings
    terms: Strings
    names: Rows
    parents: Rows
    children: Rows
    order: Ints
    depth: Ints
    min_depth: Ints
    relations: Mapping[str, Rows] = field(default_factory=dict)
    senses: Rows | None = None
    sense_counts: Ints | None = None
    extra: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    tables: Mapping[str, Strings] = field(default_factory=dict)
    info: Mapping[str, str] = field(default_factory=dict)
    _counts: tuple[Ints, Ints] | None = None
    whole: Taxonomy | None = None

    def __post_init__(self) -> None:
        for array in (self.order, self.depth, self.min_depth):
            frozen(array)
        for key in ("relations", "extra", "tables", "info"):
            object.__setattr__(self, key, MappingProxyType(dict(getattr(self, key))))

    def __reduce__(self) -> tuple[Any, ...]:
        # to a worker, without what was cached and without what this is a part of
        return Taxonomy, tuple(None if f.name == "whole" else getattr(self, f.name) for f in fields(self))

    def __deepcopy__(self, memo: dict[int, Any]) -> Taxonomy:
        return self  # nothing in it can change

    # ---- size and names ------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.order)

    def __repr__(self) -> str:
        return f"Taxonomy({self.name!r}: {len(self):,} concepts, {len(self.parents.indices):,} is-a links)"

    @property
    def root(self) -> int:
        """Code of the only root."""
        return int(self.order[0])

    @property
    def max_depth(self) -> int:
        """Number of nodes on the longest path from the root (Eq. 4.5)."""
        return int(self.depth.max())

    def id(self, concept: Concept) -> str:
        """External id of a concept."""
        return self.ids[self.code(concept)]

    def label(self, concept: Concept) -> str:
        """Preferred name of a concept."""
        code = self.code(concept)
        return self.terms[int(self.names.indices[self.names.starts[code]])]

    def synonyms(self, concept: Concept) -> list[str]:
        """All names of a concept, the preferred one first."""
        return [self.terms[int(t)] for t in self.names[self.code(concept)]]

    def labels(self, concepts: Iterable[Concept]) -> list[str]:
        """Preferred names of several concepts."""
        return [self.label(c) for c in self.codes(concepts).tolist()]

    # ---- finding -------------------------------------------------------------------------------------------------

    @cached_property
    def _by_id(self) -> dict[str, int]:
        return dict(zip(self.ids, range(len(self)), strict=True))

    @cached_property
    def _by_term(self) -> dict[str, int]:
        return dict(zip(self.terms, range(len(self.terms)), strict=True))

    @cached_property
    def _senses(self) -> Rows:
        """Concepts of each term, the likeliest first: as the source orders them, else preferred names first."""
        if self.senses is not None:
            return self.senses
        position = np.arange(len(self.names.indices)) - np.repeat(self.names.starts[:-1], self.names.sizes)
        row = self.names.row_of()
        order = np.lexsort((row, position > 0))
        return Rows.from_pairs(self.names.indices[order], row[order], len(self.terms))

    def senses_of(self, term: str) -> Ints:
        """Concepts that go by exactly this name, the likeliest first; empty if there is none."""
        position = self._by_term.get(term)
        return np.empty(0, dtype=np.int32) if position is None else self._senses[position]

    def code(self, concept: Concept) -> int:
        """Code of a concept given by code, id, name (its first sense) or name and sense number (`coach#1`)."""
        if isinstance(concept, int | np.integer) and not isinstance(concept, bool):
            if 0 <= concept < len(self):
                return int(concept)
            raise UnknownConcept(f"{self.name}: no concept has code {concept}; codes run from 0 to {len(self) - 1}")
        if not isinstance(concept, str):
            raise UnknownConcept(
                f"{self.name}: a concept is given by its code, id or name; this is a {type(concept).__name__}"
            )
        found = self.get(concept)
        if found is not None:
            return found
        hint = did_you_mean(concept, self.terms) if len(concept) < 200 else ""
        raise UnknownConcept(f"{self.name}: no concept has the id or name {concept[:80]!r}.{hint}")

    def get(self, concept: str) -> int | None:
        """Like `code`, but None where there is no such concept."""
        code = self._by_id.get(concept)
        if code is not None:
            return code
        likeliest = self.senses_of(concept)
        if len(likeliest):
            return int(likeliest[0])
        name, mark, number = concept.rpartition("#")
        if mark and number.isascii() and number.isdigit() and len(number) < 6:
            senses = self.numbered_senses(name)
            if 1 <= int(number) <= len(senses):
                return senses[int(number) - 1]
        return None

    def numbered_senses(self, term: str) -> list[int | None]:
        """Concepts of a name by sense number, the first being number 1; None stands for those outside this part.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> ranks = from_edges([("s", "top"), ("b", "top"), ("t", "b")], names={"s": ["cat"], "t": ["cat"]})
        >>> part = ranks.below("b")
        >>> part.numbered_senses("cat") == [None, part.code("t")], part.get("cat#2") == part.code("t")
        (True, True)
        """
        whole = self if self.whole is None else self.whole
        return [self.part_of(code) for code in whole.senses_of(term).tolist()]

    def coded(self, id: str) -> int | None:
        """Code of the concept that has exactly this id; None where there is none."""
        return self._by_id.get(id)

    @cached_property
    def fingerprint(self) -> str:
        """Digest of its ids, names, senses and links: the same for the same content, however it is stored."""
        return fingerprint(self)

    def part_of(self, code: int) -> int | None:
        """Code here of a concept that the whole has under `code`; None where it lies outside this part."""
        return code if self.whole is None else self._by_id.get(self.whole.ids[code])

    def in_whole(self, code: int) -> int:
        """Code that the whole has for a concept of this part."""
        return code if self.whole is None else self.whole._by_id[self.ids[code]]

    def codes(self, concepts: Iterable[Concept]) -> Ints:
        """Codes of several concepts.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> from_edges([("cat", "animal"), ("dog", "animal")]).codes(["dog", 0]).tolist()
        [2, 0]
        """
        if isinstance(concepts, str) or not isinstance(concepts, Iterable):
            raise BadInput(f"{self.name}: a single {type(concepts).__name__} was given as the concepts; give a list")
        if isinstance(concepts, np.ndarray) and concepts.ndim != 1:
            raise BadInput(f"{self.name}: concepts come in one row, not in an array of shape {concepts.shape}")
        if isinstance(concepts, np.ndarray) and concepts.dtype.kind in "iu":
            for outside in concepts[(concepts < 0) | (concepts >= len(self))][:1]:
                self.code(int(outside))
            return concepts.astype(np.int32)
        return np.fromiter((self.code(c) for c in concepts), dtype=np.int32)

    # ---- up and down ---------------------------------------------------------------------------------------------

    def subsumers(self, concept: Concept) -> Ints:
        """The concept and everything above it, as sorted codes (S(c) of Eq. 4.10, T(c) of Batet et al. 2014, Eq. 1)."""
        return np.array(sorted(self.above(self.code(concept))), dtype=np.int32)

    @cached_property
    def _climbed(self) -> dict[int, frozenset[int]]:
        return {}

    def above(self, code: int) -> frozenset[int]:
        """Codes of a concept, given by its code, and of everything above it; remembered, for they are asked often.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
        >>> sorted(pets.above(2))
        [1, 2]
        """
        known = self._climbed
        found = known.get(code)
        if found is None:
            seen, waiting = {code}, [code]
            while waiting:
                for parent in self.parents[waiting.pop()].tolist():
                    if parent in known:
                        seen |= known[parent]
                    elif parent not in seen:
                        seen.add(parent)
                        waiting.append(parent)
            found = frozenset(seen)
            if len(found) <= _FEW and len(known) < _REMEMBERED:
                known[code] = found
        return found

    def descendants(self, concept: Concept) -> Ints:
        """The concept and everything below it, as sorted codes (τ of Eq. 4.2 where the concept is its root)."""
        return self.closure(np.array([self.code(concept)]), self.children)

    def closure(self, concepts: NDArray[Any], along: Rows) -> Ints:
        """Everything reachable from the concepts along `parents` or `children`, the concepts included, sorted."""
        seen = np.zeros(len(self), dtype=np.bool_)
        frontier = np.unique(np.asarray(concepts, dtype=np.int32))
        while len(frontier):
            seen[frontier] = True
            step = along.gather(frontier)
            frontier = np.unique(step[~seen[step]])
        return np.flatnonzero(seen).astype(np.int32)

    def is_a(self, concept: Concept, ancestor: Concept) -> bool:
        """Whether the ancestor subsumes the concept (a concept subsumes itself)."""
        return self.code(ancestor) in self.above(self.code(concept))

    def leaves(self, concept: Concept | None = None) -> Ints:
        """Concepts without children, of the whole taxonomy or below one concept (a leaf is its own only leaf)."""
        within = np.arange(len(self), dtype=np.int32) if concept is None else self.descendants(concept)
        found: Ints = within[self.children.sizes[within] == 0]
        return found

    @cached_property
    def _below(self) -> tuple[Ints, Ints]:
        if self._counts is not None:
            return self._counts
        numbers = np.column_stack([np.ones(len(self), np.int32), self.children.sizes == 0]).astype(np.int32)
        hyponyms, leaves = (frozen(column.copy()) for column in self.sums_below(numbers).T)
        return hyponyms, leaves  # type: ignore[return-value]

    def sums_below(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Columns of numbers, a row a concept, summed over the concepts strictly below each, each counted once.

        >>> from keepsense.taxonomy.taxonomy_builder import from_edges
        >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
        >>> list(pets.ids), pets.sums_below(np.array([[1], [20], [300]])).tolist()
        (['cat', 'pet', 'dog'], [[0], [301], [0]])
        """
        from keepsense.taxonomy.taxonomy_kernels import sum_below

        below, climbed = sum_below(self.parents.starts, self.parents.indices, self.order, numbers, MOST_CLIMBED)
        if climbed > MOST_CLIMBED:
            raise BadTaxonomy(
                f"{self.name}: too many ways lead up: the concepts with several parents have more than "
                f"{MOST_CLIMBED:,} links above them, which is too much to count; drop links that others imply, or "
                "import a part of it"
            )
        return below

    @property
    def hyponym_counts(self) -> Ints:
        """Number of concepts strictly below each concept (hypo(c) of Eq. 4.15)."""
        return self._below[0]

    @property
    def leaf_counts(self) -> Ints:
        """Number of leaves strictly below each concept; a leaf has none (leaves(c) of Eq. 4.17)."""
        return self._below[1]

    # ---- common subsumers and paths ------------------------------------------------------------------------------

    @cached_property
    def specificity(self) -> Ints:
        """Rank of each concept as a least common subsumer: deeper first, then fewer descendants, then lower code.

        The highest rank among common subsumers is the deepest minimal one; ranks are all different.
        """
        order = np.lexsort((-np.arange(len(self)), -self.hyponym_counts, self.depth))
        rank = np.empty(len(self), dtype=np.int32)
        rank[order] = np.arange(len(self), dtype=np.int32)
        return frozen(rank)  # type: ignore[return-value]

    def common_subsumers(self, concepts: Iterable[Concept]) -> Ints:
        """Concepts that subsume all the given ones, S(Xᵃ) of Definition 2, as sorted codes."""
        codes = sorted(set(self.codes(concepts).tolist()))
        if not codes:
            raise UnknownConcept(f"{self.name}: common subsumers need at least one concept")
        common = self.above(codes[0])
        for code in codes[1:]:
            if len(common) == 1:
                break
            common = common & self.above(code)
        return np.array(sorted(common), dtype=np.int32)

    def lcs(self, *concepts: Concept) -> int:
        """Least common subsumer of two or more concepts, or of all values of an attribute (Definition 2).

        In a graph with several parents it need not be unique: the deepest minimal one is taken, then the one with the
        fewest descendants, then the lowest code.
        """
        common = self.common_subsumers(concepts)
        return int(common[np.argmax(self.specificity[common])])

    def up_distances(self, concept: Concept) -> tuple[Ints, Ints]:
        """Subsumers of a concept (sorted codes) and the fewest is-a links up to each."""
        links = np.full(len(self), -1, dtype=np.int32)
        frontier = np.array([self.code(concept)], dtype=np.int32)
        step = 0
        while len(frontier):
            links[frontier] = step
            above = self.parents.gather(frontier)
            frontier = np.unique(above[links[above] < 0])
            step += 1
        subsumers = np.flatnonzero(links >= 0).astype(np.int32)
        return subsumers, links[subsumers]

    def path_links(self, first: Concept, second: Concept) -> int:
        """Fewest is-a links between two concepts through a common subsumer (Eq. 4.3)."""
        above, up = self.up_distances(first)
        others, other_up = self.up_distances(second)
        _, i, j = np.intersect1d(above, others, assume_unique=True, return_indices=True)
        return int((up[i] + other_up[j]).min())

    def path(self, first: Concept, second: Concept) -> list[int]:
        """Concepts on a shortest is-a path between two concepts, both included; through the most specific turn."""
        above, up = self.up_distances(first)
        others, other_up = self.up_distances(second)
        common, i, j = np.intersect1d(above, others, assume_unique=True, return_indices=True)
        links = up[i] + other_up[j]
        best = common[links == links.min()]
        turn = int(best[np.argmax(self.specificity[best])])
        return self._climb(first, turn) + self._climb(second, turn)[-2::-1]

    def _climb(self, concept: Concept, subsumer: int) -> list[int]:
        below, links = self.up_distances(concept)
        allowed = dict(zip(below.tolist(), links.tolist(), strict=True))
        path = [subsumer]
        while path[-1] != self.code(concept):
            path.append(
                min(
                    (c for c in self.children[path[-1]].tolist() if c in allowed),
                    key=lambda c: (allowed[c], c),
                )
            )
        return path[::-1]

    # ---- parts ---------------------------------------------------------------------------------------------------

    def taxonomy_of(self, values: Iterable[Concept]) -> Taxonomy:
        """Taxonomy of an attribute: everything below the least common subsumer of its values (Definition 3)."""
        return self.below(self.lcs(*values))

    def below(self, concept: Concept) -> Taxonomy:
        """Taxonomy of a domain: one concept as root and everything below it (Sec. 6.2). Ids stay as they are."""
        if self.code(concept) == self.root:
            return self
        whole = self if self.whole is None else self.whole
        return Taxonomy(**restricted(self, self.descendants(concept)), whole=whole)

    def related(self, concept: Concept, relation: str) -> Ints:
        """Concepts linked by a relation other than is-a, such as `part` (its parts, members, substances)."""
        rows = self.relations.get(relation)
        if rows is None:
            raise BadTaxonomy(
                f"{self.name}: no relation {relation!r}; it has {', '.join(sorted(self.relations)) or 'is-a only'}"
            )
        return rows[self.code(concept)]

    # ---- files ---------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str], *, compress: bool = False) -> None:
        """Write one file that `Taxonomy.load` maps into memory."""
        taxonomy_file.save(self, path, compress=compress)

    @staticmethod
    def load(path: str | PathLike[str]) -> Taxonomy:
        """Read a file written by `save`; arrays are mapped, not copied."""
        return taxonomy_file.load(path, Taxonomy)

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self)))

    def describe(self, concept: Concept, limit: int = 4) -> str:
        """One line for people: the name, its synonyms and what it is a kind of."""
        code = self.code(concept)
        first, *others = self.synonyms(code)
        also = f" ({', '.join(others[:limit])})" if others else ""
        above: Sequence[int] = self.parents[code].tolist()
        kind = f", a kind of {' and '.join(self.label(p) for p in above[:2])}" if above else ""
        return f"{first}{also}{kind}"
