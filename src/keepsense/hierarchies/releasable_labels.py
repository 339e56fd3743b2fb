"""Labels that can be released: no vague concepts at the top, no sense numbers, one meaning for each label.

The tree of subsumers of a column holds much that is of no use to a reader: chains of concepts that stand for the same
values, and concepts such as *whole* or *abstraction*, which WordNet needs and no one says. `plain` takes both out and
keeps every level that groups values. `spelled` names the nodes: the top is `*`, a concept goes by its plain name, a
group without a concept lists what it holds (`midwife or nurse`), and where two labels would be equal a parent stands in
brackets (`school (building)`), or what kind of place it is (`Washington (state)`).

A value lends its name to a concept only where the taxonomy calls the concept so. A town that the gazetteer does not
know, in a state that another column names, stands at the state: it may be listed, and never stands for its neighbours.
`with_true_labels` checks what was built.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from keepsense.counts import Value
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy, assemble
from keepsense.hierarchies.hierarchy_tree import Tree, to_hierarchy, tree_of
from keepsense.recoding import SUPPRESSED
from keepsense.taxonomy.lookup import lookup, sense_name
from keepsense.taxonomy.place_disambiguation import is_places, place_type
from keepsense.taxonomy.taxonomy import Taxonomy

MOST_LISTED = 4
"""Most parts of a group that is named by listing them."""
MOST_READ = 6
"""Most names of a list, where some of these parts are lists themselves."""

Member = tuple[str, int]
"""A name in a list, and its concept, -1 for none."""

_SPELLING, _KIND, _PART = "any spelling", "any kind", "any part"
"""What is added to the one name that stands for all of a list, so that it is not taken for the value of that name."""

_UPPER, _WIDE = 4, 0.01
"""Levels of WordNet, its root the first, and share of all concepts, from which on nobody learns from a concept's name:
*matter*, *location*, *group*."""
_VAST = 0.05
"""Share of all concepts from which on that holds lower down, too: *artifact*, *instrumentality*."""
_BEINGS = "living thing"
"""Below it such concepts have names that people use: *person*, *plant*, *animal*."""
_ANY_BEING = 0.2
"""Share of all concepts beyond which that does not hold either: *organism*."""


@dataclass(eq=False)
class Nodes:
    """A tree that is still being worked on: each node's parent, concept, and the siblings that a group joins.

    Leaves come first. `parts[node]` are the nodes (or names and concepts) that a group without a concept stands for.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")])
    >>> Nodes.of(jobs).children()
    {4: [0, 1]}
    """

    leaves: tuple[Value, ...]
    parent: list[int]
    concept: list[int]
    name: list[Value] = field(default_factory=list)
    parts: dict[int, tuple[int | Member, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, hierarchy: Hierarchy) -> Nodes:
        """The tree of a hierarchy, without nodes that group nothing."""
        tree = tree_of(hierarchy)
        n = tree.n_leaves
        known = [UNKNOWN] * len(tree) if tree.concepts is None else tree.concepts.tolist()
        nodes = cls(tuple(tree.labels[:n]), tree.parent.tolist(), known, list(tree.labels))
        roots = [node for node, above in enumerate(nodes.parent) if above < 0]
        if len(roots) > 1 or roots[0] < n:
            top = nodes.add(UNKNOWN, UNKNOWN)
            for node in roots:
                nodes.parent[node] = top
        nodes._drop_chains()
        return nodes

    @property
    def root(self) -> int:
        """The node above all others."""
        return self.parent.index(UNKNOWN)

    def children(self) -> dict[int, list[int]]:
        """Children of every inner node, in order."""
        found: dict[int, list[int]] = {}
        for node, above in enumerate(self.parent):
            if above >= 0:
                found.setdefault(above, []).append(node)
        return found

    def members(self) -> dict[int, list[int]]:
        """Leaves below every node, and a leaf below itself."""
        found: dict[int, list[int]] = {}
        for leaf in range(len(self.leaves)):
            node = leaf
            while node >= 0:
                found.setdefault(node, []).append(leaf)
                node = self.parent[node]
        return found

    def add(self, parent: int, concept: int, parts: tuple[int | Member, ...] = ()) -> int:
        """A new inner node; a group of siblings is moved below it."""
        self.parent.append(parent)
        self.concept.append(concept)
        self.name.append("")
        if parts:
            self.parts[len(self.parent) - 1] = parts
        return len(self.parent) - 1

    def dissolve(self, node: int) -> None:
        """Take a node out: its children go to its parent."""
        for child, above in enumerate(self.parent):
            if above == node:
                self.parent[child] = self.parent[node]
        self.parent[node] = _GONE
        self.parts.pop(node, None)

    def _drop_chains(self) -> None:
        """Of nodes that stand for the same values only the lowest stays; a value's own repetition goes."""
        below = self.children()
        for node in sorted(below, key=lambda each: -self._depth(each)):
            only, above = below[node], self.parent[node]
            if len(only) > 1 or (above < 0 and only[0] < len(self.leaves)):
                continue
            self.parent[only[0]], self.parent[node] = above, _GONE
            if above >= 0:
                below[above][below[above].index(node)] = only[0]

    def _depth(self, node: int) -> int:
        steps = 0
        while self.parent[node] >= 0:
            node, steps = self.parent[node], steps + 1
        return steps


_GONE = -2
"""Parent of a node that was taken out."""


def plain(hierarchy: Hierarchy, taxonomy: Taxonomy) -> Nodes:
    """The tree of a hierarchy of subsumers without chains and without concepts that say nothing.

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> nodes = plain(base_hierarchy(["nurse", "surgeon", "hospital"], wordnet()), wordnet())
    >>> spelled(nodes, wordnet(), name="where").rows()[0]
    ('nurse', 'health professional', '*')
    """
    nodes = Nodes.of(hierarchy)
    silent = says_nothing(taxonomy)
    root = nodes.root
    for node in range(len(nodes.leaves), len(nodes.parent)):
        if node != root and nodes.parent[node] != _GONE and nodes.concept[node] in silent:
            nodes.dissolve(node)
    return nodes


@lru_cache(maxsize=8)
def says_nothing(taxonomy: Taxonomy) -> frozenset[int]:
    """Concepts near the root of a wordnet, and those that hold so much of it, that nothing is learned from their names.

    Other taxonomies were made with labels to be read, so that all of theirs say something.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> net = wordnet()
    >>> {name: net.code(name) in says_nothing(net) for name in ("location", "artifact", "person", "building")}
    {'location': True, 'artifact': True, 'person': False, 'building': False}
    """
    whole = taxonomy.whole or taxonomy
    if whole.label(whole.root) != "entity":
        return frozenset()
    share = whole.hyponym_counts / len(whole)
    silent = (share >= _VAST) | ((share >= _WIDE) & (whole.depth <= _UPPER))
    beings = whole.descendants(whole.code(_BEINGS))
    silent[beings] = share[beings] >= _ANY_BEING
    ids = {whole.id(code) for code in np.flatnonzero(silent).tolist()}
    return frozenset(code for code, known in enumerate(taxonomy.ids) if known in ids)


def spelled(
    nodes: Nodes, taxonomy: Taxonomy | None, *, name: str, info: Mapping[str, object] | None = None
) -> Hierarchy:
    """A hierarchy with the labels that readers see; groups that are listed have no concept.

    >>> listing(["nurse", "midwife", "surgeon"])
    'nurse, midwife or surgeon'
    """
    labels = _labels(nodes, taxonomy)
    n = len(nodes.leaves)
    standing = [*range(n), *(node for node in range(n, len(nodes.parent)) if nodes.parent[node] != _GONE)]
    place = {node: i for i, node in enumerate(standing)}
    parent = [place[nodes.parent[node]] if nodes.parent[node] >= 0 else UNKNOWN for node in standing]
    concepts = np.array([nodes.concept[node] for node in standing], dtype=np.int32)
    tree = Tree(tuple(labels[node] for node in standing), np.array(parent, dtype=np.int32), n, concepts)
    return with_true_labels(to_hierarchy(tree, name=name).with_info(**(info or {})), taxonomy)


def with_true_labels(hierarchy: Hierarchy, taxonomy: Taxonomy | None) -> Hierarchy:
    """Replace every label that is not true of all its values by its parent's; `info["replaced"]` counts them.

    A label is true of a value that it lists, and of a value that lies below a concept that it names.

    >>> from keepsense.hierarchies.word_concepts import with_concepts
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("ant", "animal")])
    >>> tree = with_concepts(Hierarchy.of_rows([("cat", "pet", "*"), ("ant", "pet", "*"), ("dog", "dog", "*")]), pets)
    >>> with_true_labels(tree, pets).rows(), with_true_labels(tree, pets).info["replaced"]
    ([('cat', '*', '*'), ('ant', '*', '*'), ('dog', 'dog', '*')], 1)
    """
    if taxonomy is None or hierarchy.height < 2:
        return hierarchy
    codes, replaced = hierarchy.codes.copy(), 0
    labels, concepts = list(hierarchy.labels), [hierarchy.concept_codes(i) for i in range(hierarchy.height + 1)]
    names = _names_of_leaves(hierarchy, taxonomy)
    for level in range(hierarchy.height - 1, 0, -1):
        n, texts = len(labels[level]), [str(label) for label in labels[level]]
        false = {
            code
            for code, own in zip(hierarchy.codes[:, level].tolist(), names, strict=True)
            if texts[code].casefold() not in own and texts[code] != SUPPRESSED and not _says(texts[code], own)
        }
        replaced += len(false)
        if false:
            wrong = np.isin(codes[:, level], list(false))
            codes[:, level] = np.where(wrong, n + codes[:, level + 1], codes[:, level])
            labels[level] = (*labels[level], *labels[level + 1])
            concepts[level] = np.concatenate([concepts[level], concepts[level + 1]])
    if not replaced:
        return hierarchy
    info = {**hierarchy.info, "replaced": replaced}
    return assemble(hierarchy.name, codes, labels, kind=hierarchy.kind, concepts=concepts, info=info)


def _names_of_leaves(hierarchy: Hierarchy, taxonomy: Taxonomy) -> list[set[str]]:
    """What each leaf may be called: in its spellings, and by the concepts above it and the values that name these."""
    members = [(str(leaf), int(c)) for leaf, c in zip(hierarchy.leaves, hierarchy.concept_codes(0), strict=True)]
    spellings: dict[tuple[str, int], set[str]] = {}
    called: dict[int, set[str]] = {}
    for name, concept in members:
        for word in _words(name):
            spellings.setdefault((word, concept), set()).add(_plain(name))
        if _calls(taxonomy, name, concept):
            called.setdefault(concept, {_plain(taxonomy.label(concept))}).add(_plain(name))
    found = []
    for name, concept in members:
        names = set[str]().union(*(spellings[word, concept] for word in _words(name)))
        for above in taxonomy.above(concept) if concept >= 0 else ():
            names |= called.setdefault(above, {_plain(taxonomy.label(above))})
        found.append(names)
    return found


def _says(label: str, names: set[str]) -> bool:
    """Whether a label is one of some names or lists it; what stands in brackets may belong to the name or not."""
    texts = [f", {_plain(text)}, " for text in (label, re.sub(r" \([^()]*\)|#\d+\b", "", label))]
    return any(f", {name}, " in text for name in names for text in texts)


def _plain(text: str) -> str:
    """A text in small letters with its list written with commas: Oregon is the value `or` in `nc, or or wi`."""
    return re.sub(r"(?<!,) or ", ", ", text).casefold()


def _calls(taxonomy: Taxonomy, name: str, concept: int) -> bool:
    """Whether a taxonomy knows a concept by this name: not by its last word, nor because a person or a column said so.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> jobs = from_edges([("nurse", "job"), ("cook", "job")])
    >>> [_calls(jobs, name, jobs.code("nurse")) for name in ("Nurses", "night nurse", "cook")]
    [True, False, False]
    """
    found = lookup(taxonomy).find(name) if concept >= 0 else None
    return found is not None and found.how != "head" and concept in found.concepts


def listing(names: Sequence[Value]) -> str:
    """Some names as one reads them out.

    >>> listing(["midwife", "nurse"])
    'midwife or nurse'
    """
    first, last = [str(each) for each in names[:-1]], str(names[-1])
    return f"{', '.join(first)} or {last}" if first else last


def tidy(members: Sequence[Member], taxonomy: Taxonomy | None) -> tuple[Member, ...]:
    """The members that a list needs: spellings of one word are said once, what another member subsumes is not said.

    Of a place all names are spellings.

    >>> tidy([("pensioners", -1), ("pensioner", -1), ("Nurse", -1), ("nurse", -1)], None)
    (('pensioner', -1), ('nurse', -1))
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> tidy([("cat", pets.code("cat")), ("pet", pets.code("pet"))], pets)
    (('pet', 1),)
    """
    said = _one_each(members, taxonomy)
    if taxonomy is None:
        return said
    return tuple(each for each in said if not any(_above(other[1], each[1], taxonomy) for other in said))


def _one_each(members: Sequence[Member], taxonomy: Taxonomy | None) -> tuple[Member, ...]:
    """Of members that are spellings of one word with one meaning the plainest; of a place all names are spellings."""
    places = taxonomy is not None and is_places(taxonomy)
    spellings: dict[tuple[str, int], list[Member]] = {}
    for name, concept in sorted(members, key=lambda each: len(each[0])):  # the singular before the plural
        words = [(word, concept) for word in ([""] if places and concept >= 0 else _words(name))]
        same = next((word for word in words if word in spellings), words[0])
        spellings.setdefault(same, []).append((name, concept))

    def plainness(member: Member) -> tuple[bool, int, int]:
        """A place by its own name; a word short, and in small letters."""
        name, concept = member
        own = places and concept >= 0 and taxonomy is not None and name == taxonomy.label(concept)
        return not own, len(name), -sum(map(str.islower, name))

    plainest = {min(alike, key=plainness) for alike in spellings.values()}
    return tuple(each for each in members if each in plainest)


def _words(name: str) -> list[str]:
    """A name without what spellings of one word differ in (case, marks and spaces between letters), and its singular.

    >>> [_words(name)[-1] for name in ("Post-Docs", "A+", "A-", "1.5")]
    ['postdoc', 'a+', 'a-', '1.5']
    """
    word = re.sub(r"(?<=[^\W\d])[\s_.'’–-]+(?=[^\W\d])", "", name.casefold().strip())
    words = [word]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        words.append(word[:-1])
        if word.endswith("es"):
            words += [word[:-2], f"{word[:-3]}y"] if word.endswith("ies") else [word[:-2]]
    return words


def _above(concept: int, other: int, taxonomy: Taxonomy) -> bool:
    return 0 <= concept != other >= 0 and concept in taxonomy.above(other)


def _labels(nodes: Nodes, taxonomy: Taxonomy | None) -> dict[int, Value]:
    """A label for every node, no two alike and none like a value of the column, unless it is that value."""
    n, root, members = len(nodes.leaves), nodes.root, nodes.members()
    labels: dict[int, Value] = dict(enumerate(nodes.leaves))
    # a value that its concept is not called by is only listed
    values: list[Member] = [
        (str(leaf), concept if taxonomy is None or _calls(taxonomy, str(leaf), concept) else UNKNOWN)
        for leaf, concept in zip(nodes.leaves, nodes.concept[:n], strict=True)
    ]
    inner = [node for node in range(n, len(nodes.parent)) if nodes.parent[node] != _GONE and node != root]
    named = [node for node in inner if node not in nodes.parts]
    plain_name = {node: _name(nodes, node, taxonomy) for node in named}
    # STREET and street are one word to a reader
    times = Counter(str(label).casefold() for label in (*nodes.leaves, *plain_name.values()))
    used = {str(leaf).casefold() for leaf in nodes.leaves} | {SUPPRESSED}
    listed: dict[int, tuple[Member, ...]] = {}
    for node in named:
        label = plain_name[node]
        if times[label.casefold()] > 1 or label.casefold() in used:
            label, listed[node] = _told_apart(nodes, node, taxonomy, [values[leaf] for leaf in members[node]], used)
        used.add(label.casefold())
        labels[node] = label
    for node in sorted(nodes.parts, key=lambda each: len(members[each])):
        names: list[Member] = []
        for part in nodes.parts[node]:
            if isinstance(part, int):
                names += listed.get(part) or [values[part] if part < n else (str(labels[part]), nodes.concept[part])]
            else:
                names.append(part)
        listed[node] = tidy(names, taxonomy)
        if len(listed[node]) == 1:  # of a group that is no concept, one may subsume the others by another parent
            listed[node] = tidy(names, None)
        label = _listed(listed[node], _SPELLING)
        if label.casefold() in used or len(listed[node]) > MOST_READ:  # a value of the column reads just so
            nodes.dissolve(node)
            continue
        used.add(label.casefold())
        labels[node] = label
    labels[root] = SUPPRESSED
    return labels


def _listed(members: Sequence[Member], ending: str) -> str:
    return listing([name for name, _ in members]) if len(members) > 1 else f"{members[0][0]} ({ending})"


def _name(nodes: Nodes, node: int, taxonomy: Taxonomy | None) -> str:
    concept = nodes.concept[node]
    return str(nodes.name[node]) if taxonomy is None or concept < 0 else taxonomy.label(concept)


def _told_apart(
    nodes: Nodes, node: int, taxonomy: Taxonomy | None, values: Sequence[Member], used: set[str]
) -> tuple[str, tuple[Member, ...]]:
    """Another label for a node whose name stands for something else already: its values, or its name and its type.

    Beside it the members that a longer list would have in its place; none where it goes by its label.
    """
    names, places = tidy(values, taxonomy), taxonomy is not None and is_places(taxonomy)
    if len(names) == 1 or len(values) <= MOST_LISTED:
        one = len(_one_each(values, taxonomy)) == 1
        label = _listed(names, _SPELLING if one else _PART if places else _KIND)
        if label.casefold() not in used:
            if len(names) > 1:
                nodes.concept[node] = UNKNOWN
            return label, names
    concept, label = nodes.concept[node], _name(nodes, node, taxonomy)
    if taxonomy is None or concept < 0:
        return f"{label} ({len(values)} values)", ()
    types = [place_type(taxonomy, concept)] if places else []
    for kind in (*types, *map(taxonomy.label, taxonomy.parents[concept].tolist())):
        if f"{label} ({kind})".casefold() not in used:
            return f"{label} ({kind})", ()
    return sense_name(taxonomy, concept, label), ()
