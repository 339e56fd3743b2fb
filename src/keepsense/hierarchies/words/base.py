"""The base hierarchy of a column: the smallest part of the is-a graph that holds all its values and one root.

Ayala-Rivera et al. (AIKA, Sec. 3.2, step 2) take the hypernym tree of each value and merge the trees. Where a concept
has several parents a tree can keep one. Parents below the least common subsumer of all values come before others, so
that the branches meet there and no higher; among them a rule decides, which is a parameter:

- `deepest` (the default): the parent on the longest path from the root, so that the hierarchy keeps most levels and
  each step loses least; then the parent above most of the column's values, with fewer descendants, of lower code;
- `shared`: the parent above most of the column's values, so that branches meet as low as they can; then as above.

Two values of one concept meet in that concept, and a value that lies above another is a leaf below itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, Unpack

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import UNKNOWN, Hierarchy
from keepsense.hierarchies.tree import Policy, Tree, to_hierarchy
from keepsense.hierarchies.words.concepts import Ancestry, Namer, SenseOptions, senses_of
from keepsense.taxonomy.core import Taxonomy

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

    >>> from keepsense.taxonomy.embedded import wordnet
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

    >>> from keepsense.taxonomy import from_edges
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
