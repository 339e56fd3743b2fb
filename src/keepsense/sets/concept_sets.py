"""Sets of concepts from sets of texts, and the terms behind each concept."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, frozen, once, used_codes
from keepsense.counts import Value
from keepsense.errors import BadInput, Finding
from keepsense.semantics.distance import Distance
from keepsense.sets.item_distances import MEMORY, ItemDistances
from keepsense.sets.item_sets import ItemSets
from keepsense.sets.noun_phrases import Chunker, noun_phrases
from keepsense.taxonomy.mapper import Suggestions, Table, map_values
from keepsense.taxonomy.sense_disambiguation import DEFAULT
from keepsense.taxonomy.taxonomy import Concept, Taxonomy
from keepsense.taxonomy.value_mapping import Mapping as ColumnMapping
from keepsense.taxonomy.word_forms import LONGEST, normalise


@dataclass(frozen=True, eq=False)
class ConceptSets:
    """Records as sets of things: first concepts of a taxonomy, then opaque terms, last *nothing*.

    Things are numbered 0 to `size` - 1. Thing i stands for concept `concepts[i]` while i < `semantic`; after those come
    the terms found in no taxonomy (spellings that differ only in case, hyphens and the like are one), and thing
    `nothing` is what an empty set holds. `rows` holds each record's things, sorted, never none. `terms` are the
    distinct terms (items, or their noun phrases), `thing_of[t]` the thing term t stands for, `term_rows` each record's
    terms. Made by `map_sets`.

    >>> from keepsense.sets.item_sets import from_delimited
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> food = from_edges([("milk", "drink"), ("tea", "drink"), ("drink", "food"), ("bread", "food")])
    >>> sets = map_sets(from_delimited(["Milk;bread", "milk;zzz", ""], delimiter=";"), food)
    >>> [sets.labels(sets.rows[i]) for i in range(3)], sets.semantic
    ([['milk', 'bread'], ['milk', 'zzz'], ['(nothing)']], 2)
    """

    source: ItemSets
    taxonomy: Taxonomy | None
    concepts: Ints
    opaque: tuple[str, ...]
    rows: Rows
    terms: tuple[Value, ...]
    thing_of: Ints
    term_rows: Rows
    mapping: ColumnMapping | None = None

    def __post_init__(self) -> None:
        frozen(self.concepts)
        frozen(self.thing_of)

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return (
            f"ConceptSets({self.column!r}: {len(self):,} records, {self.semantic:,} concepts, "
            f"{len(self.opaque):,} opaque terms)"
        )

    def taken(self, positions: NDArray[Any]) -> ConceptSets:
        """Other records made of these: one for each position, so that equal cells need be looked up once only.

        >>> from keepsense.sets.item_sets import from_lists
        >>> sets = map_sets(from_lists([["tea", "milk"], ["jazz"]]), None).taken(np.array([1, 0, 1]))
        >>> [sets.labels(sets.rows[i]) for i in range(3)], dict(zip(sets.terms, sets.occurrences.tolist()))
        ([['jazz'], ['milk', 'tea'], ['jazz']], {'jazz': 2, 'milk': 1, 'tea': 1})
        """
        return _Taken(self, positions)

    @property
    def column(self) -> str:
        """Name of the column."""
        return self.source.column

    def cell(self, terms: Sequence[Value]) -> Value:
        """Some terms as a cell of the column."""
        return self.source.cell(terms)

    @property
    def semantic(self) -> int:
        """Number of things that are concepts."""
        return len(self.concepts)

    @property
    def nothing(self) -> int:
        """What an empty set holds."""
        return self.semantic + len(self.opaque)

    @property
    def size(self) -> int:
        """Number of things: concepts, opaque terms, and nothing."""
        return self.nothing + 1

    def label(self, thing: int) -> str:
        """Name of a thing: the concept's label, or the opaque term as it is spelled most simply."""
        if thing < self.semantic:
            assert self.taxonomy is not None
            return self.taxonomy.label(int(self.concepts[thing]))
        return "(nothing)" if thing == self.nothing else self.opaque[thing - self.semantic]

    def labels(self, things: Iterable[int]) -> list[str]:
        """Names of several things."""
        return [self.label(int(thing)) for thing in things]

    def distances(self, distance: Distance | None, *, memory: int = MEMORY) -> ItemDistances:
        """Distances between the things over the taxonomy.

        Without a distance things are compared by equality alone. To ignore meaning as Batet et al. 2014 (Eq. 9) do,
        where terms are compared as strings, map the sets without a taxonomy.
        """
        if distance is None:
            return ItemDistances(None, None, self.size)
        if self.taxonomy is None or distance.taxonomy is not self.taxonomy:
            raise BadInput(f"column {self.column!r} is mapped onto another taxonomy than the distance's")
        return ItemDistances(distance, self.concepts, self.size - self.semantic, memory=memory)

    @cached_property
    def distinct(self) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
        """Distinct records, how often each occurs, and which of them each record is.

        Their order (by size, then by things) does not depend on that of the records, so neither do the groups.
        """
        return distinct_sets(self.rows)

    @cached_property
    def occurrences(self) -> NDArray[np.int64]:
        """Number of records that hold each term."""
        return np.bincount(self.term_rows.indices, minlength=len(self.terms)).astype(np.int64)

    @cached_property
    def terms_of(self) -> Rows:
        """Terms behind each thing."""
        return Rows.from_pairs(self.thing_of, np.arange(len(self.terms), dtype=np.int32), self.size)

    def findings(self) -> list[Finding]:
        """What a person should look at, in counts: of the column and of its mapping."""
        found = list(self.source.findings())
        if self.mapping is not None:
            found += self.mapping.findings()
        terms = int((self.thing_of >= self.semantic).sum())
        if terms and self.taxonomy is not None:
            share = float(self.occurrences[self.thing_of >= self.semantic].sum() / max(1, self.occurrences.sum()))
            found.append(
                Finding(
                    "W305",
                    self.column,
                    f"{terms:,} of {len(self.terms):,} terms ({share:.1%} of occurrences) are in no taxonomy and kept "
                    "as opaque: 1 away from everything else",
                )
            )
        return found


class _Taken(ConceptSets):
    """Records made of others. What each of very many holds is put together only where somebody asks for it."""

    def __init__(self, others: ConceptSets, positions: NDArray[Any]) -> None:
        gathered = ("source", "rows", "term_rows", "distinct", "occurrences")
        vars(self).update({name: known for name, known in vars(others).items() if name not in gathered})
        vars(self).update(_others=others, _positions=positions)

    _others: ConceptSets
    _positions: NDArray[Any]

    def __len__(self) -> int:
        return len(self._positions)

    @property
    def column(self) -> str:
        return self._others.column

    def cell(self, terms: Sequence[Value]) -> Value:
        return self._others.cell(terms)

    @cached_property
    def source(self) -> ItemSets:
        return self._others.source.taken(self._positions)

    @cached_property
    def rows(self) -> Rows:
        return self._others.rows.taken(self._positions)

    @cached_property
    def term_rows(self) -> Rows:
        return self._others.term_rows.taken(self._positions)

    @cached_property
    def distinct(self) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
        rows, _, which = self._others.distinct
        used, place = used_codes(which[self._positions])
        times = np.bincount(place, minlength=len(used)).astype(np.int64)
        return rows.taken(used), times, place.astype(np.int64, copy=False)

    @cached_property
    def occurrences(self) -> NDArray[np.int64]:
        times, held = np.bincount(self._positions, minlength=len(self._others)), self._others.term_rows
        return np.bincount(held.indices, times[held.row_of()], len(self.terms)).astype(np.int64)


def map_sets(
    sets: ItemSets,
    taxonomy: Taxonomy | None,
    *,
    phrases: Chunker | bool = False,
    table: Table | None = None,
    senses: str = DEFAULT,
    domain: Concept | Sequence[Concept] | None = None,
    distance: Callable[[Ints, Ints], NDArray[Any]] | None = None,
    suggestions: Suggestions = "accept",
) -> ConceptSets:
    """Map a set-valued column onto concepts (Batet et al. 2014, Sec. 3.1.1).

    Each item is one term, or with `phrases` a text: `True` takes the embedded chunker, or give one
    (`keepsense.sets.noun_phrases`). A text then becomes its noun phrases, each a term. Terms are looked up by
    `keepsense.taxonomy.mapper.map_values`, left-stripping included unless `suggestions="ask"`, with its `table`,
    `senses` and
    `domain`. Terms in no taxonomy stay as opaque things; without a taxonomy all are. A record is a set: terms with one
    concept count once.

    >>> from keepsense.sets.item_sets import from_lists
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> log = map_sets(from_lists([["cheap hotels in Paris", "a new qwertz"]]), wordnet(), phrases=True)
    >>> log.labels(log.rows[0])
    ['hotel', 'Paris', 'new qwertz']
    """
    terms, term_rows = _terms(sets, taxonomy, phrases)
    users = np.bincount(term_rows.indices, minlength=len(terms))
    mapping = None
    codes = np.full(len(terms), -1, dtype=np.int32)
    if taxonomy is not None:
        counted = dict(zip(terms, users.tolist(), strict=True))
        mapping = map_values(
            counted,
            taxonomy,
            table=table,
            senses=senses,
            domain=domain,
            distance=distance,
            column=sets.column,
            suggestions=suggestions,
        )
        codes = mapping.codes_of(terms)
    concepts = np.unique(codes[codes >= 0]).astype(np.int32)
    keys = [None if code >= 0 else _opaque_key(term) for term, code in zip(terms, codes.tolist(), strict=True)]
    opaque = tuple(sorted({key for key in keys if key is not None}))
    place = {key: len(concepts) + i for i, key in enumerate(opaque)}
    thing_of = np.searchsorted(concepts, codes).astype(np.int32)
    for i, key in enumerate(keys):
        if key is not None:
            thing_of[i] = place[key]
    rows = _as_sets(term_rows, thing_of, len(concepts) + len(opaque))
    return ConceptSets(sets, taxonomy, concepts, opaque, rows, terms, thing_of, term_rows, mapping)


def _opaque_key(term: Value) -> str:
    text = str(term)
    return (normalise(text) if len(text) <= LONGEST else "") or text


def _terms(sets: ItemSets, taxonomy: Taxonomy | None, phrases: Chunker | bool) -> tuple[tuple[Value, ...], Rows]:
    """The distinct terms and each record's terms: its items, or the phrases in them."""
    if phrases is False:
        return sets.items, sets.rows
    texts = [str(item) for item in sets.items]
    chunks = noun_phrases(texts, taxonomy) if phrases is True else phrases(texts)
    if len(chunks) != len(texts):
        raise BadInput(f"column {sets.column!r}: the chunker gave {len(chunks):,} results for {len(texts):,} texts")
    terms = sorted({phrase for found in chunks for phrase in found})
    place = {phrase: i for i, phrase in enumerate(terms)}
    of_item = Rows.from_pairs(
        np.repeat(np.arange(len(texts)), [len(found) for found in chunks]),
        [place[phrase] for found in chunks for phrase in found],
        len(texts),
    )
    record = np.repeat(sets.rows.row_of(), of_item.sizes[sets.rows.indices])
    pairs = once(record.astype(np.int64) * max(1, len(terms)) + of_item.gather(sets.rows.indices))
    width = max(1, len(terms))
    return tuple(terms), Rows.from_pairs(pairs // width, pairs % width, len(sets))


def _as_sets(term_rows: Rows, thing_of: Ints, nothing: int) -> Rows:
    """Each record's things, each once and sorted; a record without any holds nothing."""
    width = nothing + 1
    record = term_rows.row_of().astype(np.int64)
    empty = np.flatnonzero(term_rows.sizes == 0).astype(np.int64)
    pairs = np.concatenate([record * width + thing_of[term_rows.indices], empty * width + nothing])
    pairs = once(pairs)
    return Rows.from_pairs(pairs // width, pairs % width, len(term_rows))


def distinct_sets(rows: Rows) -> tuple[Rows, NDArray[np.int64], NDArray[np.int64]]:
    """Distinct rows by size, then entries; how often each occurs; and which of them each row is.

    >>> found, counts, which = distinct_sets(Rows.from_pairs([0, 0, 1, 2, 2], [1, 2, 3, 1, 2], 3))
    >>> [found[i].tolist() for i in range(2)], counts.tolist(), which.tolist()
    ([[3], [1, 2]], [1, 2], [1, 0, 1])
    """
    sizes = rows.sizes
    which = np.empty(len(rows), dtype=np.int64)
    chosen: list[NDArray[np.int64]] = []
    found = 0
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        mine = np.flatnonzero(sizes == size)
        entries = rows.indices[rows.starts[mine][:, None] + np.arange(size)]
        order = np.lexsort(entries.T[::-1]) if size else np.arange(len(mine))
        entries = entries[order]
        first = np.append(True, (entries[1:] != entries[:-1]).any(axis=1))
        which[mine[order]] = found + np.cumsum(first) - 1
        chosen.append(mine[order[first]])
        found += int(first.sum())
    every = np.concatenate([np.empty(0, np.int64), *chosen])
    return rows.taken(every.astype(np.int32)), np.bincount(which, minlength=found).astype(np.int64), which
