"""What things mean: an immutable is-a graph in arrays.

A concept is an integer code (its position in the source). Several parents are normal. Depths count nodes on the longest
path from the root, so a root has depth 1 (Rodríguez-García 2017, Eq. 4.5 and 4.6).
"""

from __future__ import annotations

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
from keepsense.taxonomy import store
from keepsense.taxonomy.graph import restricted
from keepsense.taxonomy.identity import fingerprint

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

    >>> from keepsense.taxonomy import from_edges
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

        >>> from keepsense.taxonomy import from_edges
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

        >>> from keepsense.taxonomy import from_edges
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

        >>> from keepsense.taxonomy import from_edges
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

        >>> from keepsense.taxonomy import from_edges
        >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
        >>> list(pets.ids), pets.sums_below(np.array([[1], [20], [300]])).tolist()
        (['cat', 'pet', 'dog'], [[0], [301], [0]])
        """
        from keepsense.taxonomy.kernels.counting import sum_below

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
        store.save(self, path, compress=compress)

    @staticmethod
    def load(path: str | PathLike[str]) -> Taxonomy:
        """Read a file written by `save`; arrays are mapped, not copied."""
        return store.load(path, Taxonomy)

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
