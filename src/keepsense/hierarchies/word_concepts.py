"""Senses of a column's words, and its base hierarchy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, Unpack

import numpy as np

from keepsense.arrays import Ints
from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy, MissingValues
from keepsense.hierarchies.hierarchy_tree import Policy, Tree, to_hierarchy
from keepsense.taxonomy.lookup import lookup, sense_name
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.sense_disambiguation import DEFAULT
from keepsense.taxonomy.taxonomy import Concept, Taxonomy
from keepsense.taxonomy.value_mapping import Mapping as Mapped
from keepsense.taxonomy.value_mapping import is_missing

Unknowns = Literal["refuse", "list"]


@dataclass(frozen=True)
class Senses:
    """Concept of each value of a column (-1 where none was found) and the values that are in no taxonomy.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> senses_of(["cat", "yeti"], from_edges([("cat", "pet")]), unknown="list").unknown
    ('yeti',)
    """

    values: tuple[Value, ...]
    concepts: Ints
    unknown: tuple[Value, ...]


class SenseOptions(TypedDict, total=False):
    """How the concepts of values are found: `senses` given, else names and a `strategy` within a `domain`."""

    senses: Mapping[Value, Concept] | Mapped | Senses | None
    strategy: str
    domain: Concept | Sequence[Concept] | None
    unknown: Unknowns


def senses_of(
    values: Sequence[Value],
    taxonomy: Taxonomy,
    *,
    counts: Sequence[int] | None = None,
    name: str = "column",
    **options: Unpack[SenseOptions],
) -> Senses:
    """Find the concept each value means, as `map_values` does: given senses first, then names and the strategy.

    Values found in no taxonomy are refused, counted, with all of them in the error's `values`; `unknown="list"` lets
    them stay without a concept and lists them. A missing cell (None) has no concept and is no such value. Strategies
    are `context`, `first`, `lesk` (step 1 of AIKA) and `joint`.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> found = senses_of(["nurse", "surgeon"], wordnet())
    >>> wordnet().labels(found.concepts)
    ['nurse', 'surgeon']
    """
    senses, unknown = options.get("senses"), options.get("unknown", "refuse")
    if isinstance(senses, Senses):
        return senses
    if unknown not in ("refuse", "list"):
        raise BadInput(f"{name}: unknown must be 'refuse' or 'list', not {unknown!r}")
    distinct = tuple(values)
    if len(set(distinct)) != len(distinct):
        raise BadInput(f"{name}: each value may be given once, with its number of rows in `counts`")
    if not isinstance(senses, Mapped):
        chosen, domain = options.get("strategy", DEFAULT), options.get("domain")
        senses = map_values(distinct, taxonomy, table=senses, senses=chosen, weights=counts, domain=domain, column=name)
    codes = senses.codes_of(distinct)
    missing = tuple(v for v, c in zip(distinct, codes.tolist(), strict=True) if c < 0 and not is_missing(v))
    if missing and unknown == "refuse":
        raise MissingValues(
            f"{name}: {len(missing):,} of {len(distinct):,} values are in no taxonomy, or their sense is in doubt; "
            'give their senses, map them to concepts, or keep them apart with unknown="list" (the error\'s `values` '
            "lists them)",
            missing,
        )
    return Senses(distinct, codes, missing)


def with_concepts(
    hierarchy: Hierarchy,
    taxonomy: Taxonomy,
    *,
    senses: Mapping[Value, Concept] | None = None,
    strategy: str = DEFAULT,
    inner: Literal["labels", "subsumers"] = "labels",
    unknown: Unknowns = "refuse",
) -> Hierarchy:
    """A hierarchy from a file with the concepts of its labels filled in, ready to be scored.

    Leaves are looked up together, as a column. Inner labels are looked up by name (the first sense), or left to the
    least common subsumer of their leaves with `inner="subsumers"`; `senses` decides for both (`education#4`).

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> jobs = with_concepts(Hierarchy.of_rows([("nurse", "adult#1", "*"), ("pilot", "worker", "*")]), wordnet())
    >>> jobs.concepts[1].tolist() == wordnet().codes(["adult", "worker"]).tolist(), jobs.concepts[2].tolist()
    (True, [-1])
    """
    if inner not in ("labels", "subsumers"):
        raise BadInput(f"inner must be 'labels' or 'subsumers', not {inner!r}")
    leaves = senses_of(
        hierarchy.leaves, taxonomy, senses=senses, strategy=strategy, unknown=unknown, name=hierarchy.name
    )
    own = dict(zip(hierarchy.leaves, leaves.concepts.tolist(), strict=True))
    given = dict(senses or {})
    finder = lookup(taxonomy)
    levels = [leaves.concepts]
    for level in range(1, hierarchy.height + 1):
        single = hierarchy.leaf_counts[level] == 1
        first = np.zeros(len(hierarchy.labels[level]), dtype=np.int64)
        first[hierarchy.codes[::-1, level]] = np.arange(len(hierarchy.leaves))[::-1]
        found = []
        for code, label in enumerate(hierarchy.labels[level]):
            if label in given:
                found.append(taxonomy.code(given[label]))
            elif single[code] and hierarchy.leaves[hierarchy.codes[first[code], 0]] == label:
                found.append(own[label])  # a repeated leaf keeps its own sense
            elif inner == "labels" and (hit := finder.find(str(label))) is not None and hit.how != "head":
                found.append(hit.concepts[0])
            else:
                found.append(UNKNOWN)
        levels.append(np.array(found, dtype=np.int32))
    return replace(hierarchy, concepts=tuple(levels))


class Ancestry:
    """Subsumers of the concepts of one column, as building and scoring its hierarchies ask for them.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> ancestry = Ancestry(pets)
    >>> pets.label(ancestry.lcs(pets.codes(["cat", "dog"])))
    'pet'
    """

    def __init__(self, taxonomy: Taxonomy) -> None:
        self.taxonomy = taxonomy

    def above(self, concept: int) -> frozenset[int]:
        """The concept and everything that subsumes it."""
        return self.taxonomy.above(concept)

    def lcs(self, concepts: Iterable[int]) -> int:
        """Least common subsumer of some concepts, by the taxonomy's own rule; the root for none."""
        some = {int(c) for c in concepts}
        return self.taxonomy.lcs(*some) if some else self.taxonomy.root


class Namer:
    """Labels for concepts that never stand for two things in one column: a sense number is added where they would.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat1", "pet"), ("cat2", "pet")], names={"cat1": ["cat"], "cat2": ["cat"]})
    >>> namer = Namer(pets, {"dog": -1})
    >>> [namer(pets.code(c)) for c in ("cat1", "cat2", "pet")]
    ['cat', 'cat#2', 'pet']
    """

    def __init__(self, taxonomy: Taxonomy, leaves: Mapping[Value, int]) -> None:
        self._taxonomy = taxonomy
        self._owner: dict[Value, int] = dict(leaves)
        self._label: dict[int, str] = {}

    def __call__(self, concept: int) -> str:
        """The label of a concept, always the same."""
        label = self._label.get(concept)
        if label is None:
            label = plain = self._taxonomy.label(concept)
            if self._owner.get(label, concept) != concept:
                label = sense_name(self._taxonomy, concept, plain)
            if self._owner.get(label, concept) != concept:
                label = f"{plain} ({self._taxonomy.id(concept)})"
            self._owner[label] = concept
            self._label[concept] = label
        return label


# The base hierarchy: the smallest part of the is-a graph with all values and one root (AIKA, Sec. 3.2, step 2)
#
# Where a concept has several parents, those below the least common subsumer of all values come before others; among
# them a rule decides: `deepest` (the default), the parent on the longest path from the root, so that most levels are
# kept; `shared`, the parent above most of the column's values, so that branches meet as low as they can. Two values of
# one concept meet in that concept, and a value above another is a leaf below itself.

ParentRule = Literal["deepest", "shared"]
RULES: tuple[ParentRule, ...] = ("deepest", "shared")


def base_hierarchy(
    values: Sequence[Value],
    taxonomy: Taxonomy,
    *,
    counts: Sequence[int] | None = None,
    parents: ParentRule = "deepest",
    policy: Policy = "leaf",
    name: str = "column",
    namer: Namer | None = None,
    **meaning: Unpack[SenseOptions],
) -> Hierarchy:
    """Build the base hierarchy of a column's distinct values, up to the taxonomy's root.

    Values in no taxonomy are refused, or put right under the root with `unknown="list"` (and listed in
    `info["unknown"]`). Costs the size of the tree: milliseconds for a hundred values.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> base_hierarchy(["nurse", "surgeon"], wordnet()).rows()[0][-5:]
    ('living thing', 'whole', 'object', 'physical entity', 'entity')
    """
    senses = senses_of(values, taxonomy, counts=counts, name=name, **meaning)
    leaves = senses.concepts.tolist()
    namer = namer or Namer(taxonomy, dict(zip(senses.values, leaves, strict=True)))
    ancestry = Ancestry(taxonomy)
    parent_of = choose_parents([c for c in leaves if c >= 0], taxonomy, parents, ancestry)
    tree = _tree(senses.values, leaves, parent_of, taxonomy.root, namer)
    made = to_hierarchy(tree, name=name, policy=policy)
    unknown = {"unknown": senses.unknown} if senses.unknown else {}
    return made.with_info(made=f"base ({parents} parents)", **unknown)


def choose_parents(
    concepts: Sequence[int], taxonomy: Taxonomy, rule: ParentRule = "deepest", ancestry: Ancestry | None = None
) -> dict[int, int]:
    """For each concept above the given ones, and for them, the one parent that a tree keeps.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> links = [("cat", "pet"), ("cat", "feline"), ("feline", "animal"), ("pet", "thing"), ("animal", "thing")]
    >>> graph = from_edges(links)
    >>> graph.label(choose_parents([graph.code("cat")], graph)[graph.code("cat")])
    'feline'
    """
    if rule not in RULES:
        raise BadInput(f"no rule {rule!r} for choosing among parents; there are {', '.join(RULES)}")
    ancestry = ancestry or Ancestry(taxonomy)
    covers: dict[int, int] = {}
    for concept in concepts:
        for above in ancestry.above(concept):
            covers[above] = covers.get(above, 0) + 1
    below = taxonomy.hyponym_counts
    top = ancestry.lcs(concepts)

    def rank(parent: int) -> tuple[bool, int, int, int, int]:
        deep, shared = int(taxonomy.depth[parent]), covers[parent]
        first = (deep, shared) if rule == "deepest" else (shared, deep)
        return (top in ancestry.above(parent), *first, -int(below[parent]), -parent)

    chosen = {}
    for concept in covers:
        parents = taxonomy.parents[concept].tolist()
        if parents:
            chosen[concept] = parents[0] if len(parents) == 1 else max(parents, key=rank)
    return chosen


def _tree(
    values: Sequence[Value], leaves: Sequence[int], parent_of: Mapping[int, int], root: int, namer: Namer
) -> Tree:
    """The chosen links as a tree with the values as leaves."""
    n = len(values)
    inner: dict[int, int] = {}  # concept -> node
    shared = {c for c, times in Counter(leaves).items() if times > 1 and c >= 0}
    above: set[int] = {root} | shared
    for concept in [*(set(leaves) - {UNKNOWN}), *shared]:
        here = parent_of.get(concept)
        while here is not None and here not in above:
            above.add(here)
            here = parent_of.get(here)
    for concept in sorted(above):
        inner[concept] = n + len(inner)
    parent = []
    for concept in leaves:
        up = root if concept < 0 else concept if concept in above else parent_of[concept]
        parent.append(inner[up])
    parent += [inner[parent_of[c]] if c != root else UNKNOWN for c in inner]
    labels = (*values, *(namer(c) for c in inner))
    concepts = np.array([*leaves, *inner], dtype=np.int32)
    return Tree(labels, np.array(parent, dtype=np.int32), n, concepts)
