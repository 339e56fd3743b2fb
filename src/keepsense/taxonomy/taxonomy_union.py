"""Join several taxonomies into one, for terms that a single ontology lacks.

Ayala-Rivera et al. (2017), Batet et al. (2014) and Rodríguez-García (2017) all name several knowledge bases together as
the way to cover values that one lacks. Concepts that mean the same become one concept with the names and parents of
both; what the others have besides hangs where they have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows, Strings
from keepsense.errors import BadInput, BadTaxonomy, UnknownConcept
from keepsense.taxonomy.taxonomy import PER_CONCEPT, Taxonomy
from keepsense.taxonomy.taxonomy_builder import VIRTUAL_ROOT, closing_links, from_arrays, listed
from keepsense.taxonomy.word_forms import normalise

Match = Literal["label", "id", "none"]
_NOT_UNIQUE = -2


def join(
    taxonomies: Sequence[Taxonomy],
    *,
    match: Match = "label",
    mapping: Mapping[str, str | None] | None = None,
    attach: str | Mapping[str, str] | None = None,
    parents: Literal["union", "first"] = "union",
    on_cycle: Literal["refuse", "drop"] = "refuse",
    root_label: str = VIRTUAL_ROOT,
    name: str | None = None,
) -> Taxonomy:
    """Join taxonomies into one; the first keeps its codes and ids, the others are fitted in one after the other.

    A concept of a later taxonomy is the same as an earlier one if `mapping` says so (later concept to earlier concept,
    `None` to keep it apart), else if `match` finds it: by "label" (its preferred name, normalised, is the preferred
    name or, failing that, a synonym of exactly one earlier concept, and of one later concept only), by "id", or "none".
    What several concepts could match is left unmatched and counted in `info`, with the first few named.

    Concepts that are the same get the names of both and, with `parents="union"`, the parents of both; `parents="first"`
    leaves the earlier taxonomy's links as they are, so that distances inside it do not change as long as its root stays
    the root. Unmatched roots hang below the concept `attach` names (one concept for every later root, or later concept
    to earlier concept), else they are put beside the first root under a virtual one. An id that is taken gets its
    taxonomy's name in front. Two taxonomies that contradict each other make a cycle, which is refused by name, or
    broken with `on_cycle="drop"` by giving up the later taxonomy's link. Costs one pass over all names and links.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> sports = from_edges([("water sports", "sports"), ("swimming", "water sports")], name="sports")
    >>> newer = from_edges([("kitesurfing", "Water Sports"), ("parasailing", "Water Sports")], name="newer")
    >>> both = join([sports, newer])
    >>> len(both), both.label(both.lcs("kitesurfing", "swimming"))
    (5, 'water sports')
    """
    _check(taxonomies, match, parents, on_cycle)
    state = _Joined()
    used: set[str] = set()
    for taxonomy in taxonomies:
        if not state.places:
            place = np.arange(len(taxonomy), dtype=np.int32)
            state.add(taxonomy, place, keep_links=np.zeros(len(taxonomy), dtype=np.bool_))
            continue
        same = state.match(taxonomy, match, mapping or {}, used)
        below = state.attachments(taxonomy, attach, same, used)
        place = np.where(same >= 0, same, 0).astype(np.int32)
        place[same < 0] = np.arange(len(state.ids), len(state.ids) + int((same < 0).sum()))
        state.add(taxonomy, place, keep_links=(same >= 0) & (parents == "first"))
        state.links += [(int(place[low]), high) for low, high in below]
        state.sources += [taxonomy.name] * len(below)
    asked = {*(mapping or {}), *(attach if isinstance(attach, Mapping) else ())}
    if unknown := sorted(asked - used):
        raise UnknownConcept(f"mapping, attach: no later taxonomy has the concept {unknown[0][:80]!r}")
    return state.taxonomy(name or " + ".join(t.name for t in taxonomies), on_cycle, root_label)


def _check(taxonomies: Sequence[Taxonomy], match: str, parents: str, on_cycle: str) -> None:
    if isinstance(taxonomies, Taxonomy) or len(taxonomies) < 2:
        raise BadInput("taxonomies: joining needs a list of at least two")
    for given in taxonomies:
        if not isinstance(given, Taxonomy):
            raise BadInput(f"taxonomies: a {type(given).__name__} is no taxonomy; load it first")
    for option, value, allowed in (
        ("match", match, ("label", "id", "none")),
        ("parents", parents, ("union", "first")),
        ("on_cycle", on_cycle, ("refuse", "drop")),
    ):
        if value not in allowed:
            raise BadInput(f"{option}: {value!r} is not one of {', '.join(map(repr, allowed))}")


@dataclass
class _Joined:
    """What has been put together so far, in the order it came."""

    ids: list[str] = field(default_factory=list)
    code: dict[str, int] = field(default_factory=dict)
    names: list[list[str]] = field(default_factory=list)
    links: list[tuple[int, int]] = field(default_factory=list)
    sources: list[str] = field(default_factory=list)
    relations: dict[str, list[tuple[Ints, Ints]]] = field(default_factory=dict)
    taxonomies: list[Taxonomy] = field(default_factory=list)
    places: list[Ints] = field(default_factory=list)
    matched: int = 0
    unsure: list[str] = field(default_factory=list)

    # ---- which concepts are the same -----------------------------------------------------------------------------

    def match(self, later: Taxonomy, match: Match, mapping: Mapping[str, str | None], used: set[str]) -> Ints:
        """For each concept of the later taxonomy the code it is the same as, -1 where it is new."""
        same = np.full(len(later), -1, dtype=np.int32)
        apart = np.zeros(len(later), dtype=np.bool_)
        for key, target in mapping.items():
            low = later.get(key)
            if low is None:
                continue
            used.add(key)
            apart[low] = target is None
            same[low] = -1 if target is None else self.find(target, "mapping")
        open_codes = [c for c in range(len(later)) if same[c] < 0 and not apart[c]]
        if match == "id":
            for c in open_codes:
                same[c] = self.code.get(later.ids[c], -1)
        elif match == "label":
            self._match_labels(later, open_codes, same)
        self.matched += int((same >= 0).sum())
        return same

    def _match_labels(self, later: Taxonomy, open_codes: Sequence[int], same: Ints) -> None:
        preferred: dict[str, int] = {}
        others: dict[str, int] = {}
        for code, names in enumerate(self.names):
            for i, text in enumerate(names):
                index, key = (others if i else preferred), normalise(text)
                if index.setdefault(key, code) != code:
                    index[key] = _NOT_UNIQUE
        keys = {c: normalise(later.label(c)) for c in open_codes}
        often = Counter(keys.values())
        taken = set(same[same >= 0].tolist())
        # Preferred names have the first say; a synonym only finds what they left free.
        for index in (preferred, others):
            found: dict[int, int] = {}
            for c, key in list(keys.items()):
                target = index.get(key) if key else None
                if target is None:
                    continue
                if target == _NOT_UNIQUE or often[key] > 1 or target in taken:
                    self.unsure.append(later.label(c))
                else:
                    found[c] = target
                del keys[c]
            for c, target in found.items():
                if target in taken:
                    self.unsure.append(later.label(c))
                else:
                    same[c] = target
                    taken.add(target)

    def find(self, concept: str, option: str) -> int:
        """Code of an earlier concept by id, or by any way its own taxonomy knows it."""
        if concept in self.code:
            return self.code[concept]
        for taxonomy, place in zip(self.taxonomies, self.places, strict=True):
            found = taxonomy.get(concept)
            if found is not None:
                return int(place[found])
        raise UnknownConcept(f"{option}: no earlier taxonomy has the concept {concept[:80]!r}")

    def attachments(
        self, later: Taxonomy, attach: str | Mapping[str, str] | None, same: Ints, used: set[str]
    ) -> list[tuple[int, int]]:
        """Links from later concepts to the earlier concepts they are to hang below."""
        wanted: list[tuple[int, str]] = []
        if isinstance(attach, str):
            wanted = [(later.root, attach)] if same[later.root] < 0 else []
        for key, target in attach.items() if isinstance(attach, Mapping) else ():
            low = later.get(key)
            if low is None:
                continue
            used.add(key)
            if same[low] >= 0:
                raise BadInput(
                    f"attach: {later.name}'s concept {later.label(low)!r} is the same as {self.names[same[low]][0]!r}"
                    " and hangs where that does; keep them apart with a mapping to None, or do not attach it"
                )
            wanted.append((low, target))
        return [(low, self.find(target, "attach")) for low, target in wanted]

    # ---- putting together ----------------------------------------------------------------------------------------

    def add(self, taxonomy: Taxonomy, place: Ints, *, keep_links: NDArray[np.bool_]) -> None:
        """Take a taxonomy in at the given codes; concepts marked in `keep_links` get no new parents."""
        first_new = len(self.ids)
        for c, code in enumerate(place.tolist()):
            names = taxonomy.synonyms(c)
            if code < first_new:
                self.names[code] = list(dict.fromkeys([*self.names[code], *names]))
                continue
            key = self._free_id(taxonomy, c)
            self.code[key] = code
            self.ids.append(key)
            self.names.append(names)
        child = taxonomy.parents.row_of()
        kept = ~keep_links[child]
        low, high = place[child[kept]], place[taxonomy.parents.indices[kept]]
        new = low != high  # a concept and its parent may have become one
        self.links += zip(low[new].tolist(), high[new].tolist(), strict=True)
        self.sources += [taxonomy.name] * int(new.sum())
        for kind, rows in taxonomy.relations.items():
            self.relations.setdefault(kind, []).append((place[rows.row_of()], place[rows.indices]))
        self.taxonomies.append(taxonomy)
        self.places.append(place)

    def _free_id(self, taxonomy: Taxonomy, concept: int) -> str:
        key = taxonomy.ids[concept]
        number = 1
        while key in self.code:
            mark = f"{taxonomy.name}:" if number == 1 else f"{taxonomy.name}:{number}:"
            key, number = mark + taxonomy.ids[concept], number + 1
        return key

    def taxonomy(self, name: str, on_cycle: str, root_label: str) -> Taxonomy:
        """Everything put together."""
        links = np.array(self.links, dtype=np.int64).reshape(-1, 2)
        closing = closing_links(len(self.ids), links[:, 0], links[:, 1])
        given_up = [self._says(i) for i in np.flatnonzero(closing).tolist()]
        if given_up and on_cycle == "refuse":
            raise BadTaxonomy(
                f"{name}: the taxonomies contradict each other: {given_up[0]}, but with the links before it the second"
                " lies below the first. Keep one of them apart with a mapping to None, or give such links up with"
                " on_cycle='drop'"
            )
        links = links[~closing]
        roots = np.setdiff1d(np.arange(len(self.ids)), links[:, 0])
        top = self.code.get(root_label)
        if len(roots) > 1 and top in roots:
            below = roots[roots != top]
            links = np.concatenate([links, np.stack([below, np.full(len(below), top)], axis=1)])
        joined = from_arrays(
            self.ids,
            self.names,
            links[:, 0],
            links[:, 1],
            relations={kind: _distinct(pairs) for kind, pairs in self.relations.items()},
            join_roots=True,
            root_label=root_label,
            name=name,
            info={
                **self.taxonomies[0].info,
                "joined": " + ".join(t.name for t in self.taxonomies),
                "concepts matched": f"{self.matched}",
                "concepts left apart as not unique": listed(self.unsure) or "0",
                "links given up to break cycles": listed(given_up) or "0",
            },
        )
        return _with_senses(joined, self.taxonomies, self.places)

    def _says(self, link: int) -> str:
        low, high = self.links[link]
        return f"{self.sources[link]} has {self.names[low][0]!r} below {self.names[high][0]!r}"


def _distinct(pairs: Sequence[tuple[Ints, Ints]]) -> tuple[Ints, Ints]:
    both = np.stack([np.concatenate([a for a, _ in pairs]), np.concatenate([b for _, b in pairs])], axis=1)
    _, first = np.unique(both, axis=0, return_index=True)
    kept = both[np.sort(first)]
    return kept[:, 0], kept[:, 1]


# ---- what a source tells about names and concepts besides -----------------------------------------------------------


def _with_senses(joined: Taxonomy, taxonomies: Sequence[Taxonomy], places: Sequence[Ints]) -> Taxonomy:
    """Keep sense order and counts (earlier taxonomies' senses first), and the glosses of the first that has some."""
    parts: dict[str, Any] = {}
    if any(t.senses is not None for t in taxonomies):
        # A term may name senses without being anyone's listed name (WordNet's lower-case spellings): keep those too.
        terms = list(dict.fromkeys([*joined.terms, *(term for t in taxonomies for term in t.terms)]))
        at = {term: i for i, term in enumerate(terms)}
        pairs: list[NDArray[Any]] = []
        for t, place in zip(taxonomies, places, strict=True):
            senses = t._senses
            term = np.array([at[text] for text in t.terms], dtype=np.int32)[senses.row_of()]
            counts = np.zeros(len(term), np.int32) if t.sense_counts is None else t.sense_counts
            pairs.append(np.stack([term, place[senses.indices], counts], axis=1))
        own = joined.names.indices[joined.names.row_of() >= int(max(p.max() for p in places)) + 1]
        root = np.full(len(own), len(joined) - 1, dtype=np.int32)
        pairs.append(np.stack([own, root, np.zeros(len(own), np.int32)], axis=1))
        every = np.concatenate(pairs)
        _, first = np.unique(every[:, :2], axis=0, return_index=True)
        every = every[np.sort(first)]
        every = every[np.argsort(every[:, 0], kind="stable")]
        parts["terms"] = Strings.of(terms)
        parts["senses"] = Rows.from_pairs(every[:, 0], every[:, 1], len(terms))
        if any(t.sense_counts is not None for t in taxonomies):
            parts["sense_counts"] = every[:, 2].astype(np.int32)
    for t, place in zip(taxonomies, places, strict=True):
        if t.tables or t.extra:
            parts["tables"], parts["extra"] = _described(t, place, len(joined))
            break
    return replace(joined, **parts) if parts else joined


def _described(source: Taxonomy, place: Ints, n: int) -> tuple[dict[str, Strings], dict[str, NDArray[Any]]]:
    """A source's tables and arrays at the joined codes; concepts it does not have get nothing."""
    origin = np.full(n, -1, dtype=np.int32)
    origin[place[::-1]] = np.arange(len(source) - 1, -1, -1, dtype=np.int32)
    known = np.flatnonzero(origin >= 0)
    tables: dict[str, Strings] = {}
    for key, table in source.tables.items():
        tables[key] = Strings.of(table[int(c)] if c >= 0 else "" for c in origin) if key in PER_CONCEPT else table
    extra: dict[str, NDArray[Any]] = {}
    for key, array in source.extra.items():
        stem, _, kind = key.rpartition(" ")
        sizes = source.extra.get(f"{stem} sizes")
        if kind == "words" and sizes is not None:
            starts = np.zeros(len(sizes) + 1, dtype=np.int32)
            np.cumsum(sizes, out=starts[1:])
            extra[key] = Rows(starts, array).gather(origin[known])
        elif len(array) == len(source):
            spread = np.zeros(n, dtype=array.dtype)
            spread[known] = array[origin[known]]
            extra[key] = spread
    return tables, extra
