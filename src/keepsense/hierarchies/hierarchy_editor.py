"""Edit a hierarchy: move, merge, split, rename, insert or drop a level, add or remove a leaf; with undo.

Each operation is a function from a valid hierarchy to a new valid one; what would contradict itself is refused and the
old hierarchy stays as it was. Hierarchies never change in place, so undoing is keeping the old one: `Editor` does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadHierarchy, did_you_mean
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy, assemble
from keepsense.hierarchies.hierarchy_checks import check, require


def move(hierarchy: Hierarchy, level: int, label: Value, to: Value) -> Hierarchy:
    """Put a label, with all below it, under another parent one level up; a parent left without children disappears.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*"), ("pilot", "office", "*")])
    >>> move(jobs, 0, "pilot", "medic").rows()[2]
    ('pilot', 'medic', '*')
    """
    code = hierarchy.code(level, label)
    if level == hierarchy.height:
        raise BadHierarchy(f"{hierarchy.name}: {label!r} is at the top and has no parent to move to; insert a level")
    target = hierarchy.code(level + 1, to)
    if hierarchy.parents[level][code] == target:
        raise BadHierarchy(f"{hierarchy.name}: {_shown(level, label)} is under {to!r} already; nothing to move")
    codes = hierarchy.codes.copy()
    model = codes[codes[:, level + 1] == target][0]
    codes[codes[:, level] == code, level + 1 :] = model[level + 1 :]
    return _made(hierarchy, codes, hierarchy.labels, _concepts(hierarchy))


def merge(
    hierarchy: Hierarchy, level: int, labels: Sequence[Value], into: Value, *, concept: int | None = None
) -> Hierarchy:
    """Make several labels of one level, all under one parent, into one.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")])
    >>> merge(jobs, 1, ["medic", "office"], "worker").rows()[0]
    ('nurse', 'worker', '*')
    """
    _inner(hierarchy, level, "merged")
    found = [hierarchy.code(level, label) for label in labels]
    if len(set(found)) < 2:
        raise BadHierarchy(f"{hierarchy.name}: merging needs at least two different labels")
    if level < hierarchy.height and len({int(hierarchy.parents[level][c]) for c in found}) > 1:
        raise BadHierarchy(
            f"{hierarchy.name}: the labels to merge at level {level} stand under different parents; move them under one"
        )
    if into not in labels:
        _free(hierarchy, level, into)
    table, known = [list(row) for row in hierarchy.labels], _concepts(hierarchy)
    keep = hierarchy.code(level, into) if into in labels else found[0]
    _set(
        table,
        known,
        level,
        keep,
        into,
        concept if concept is not None or into not in labels else int(known[level][keep]),
    )
    codes = hierarchy.codes.copy()
    codes[np.isin(codes[:, level], found), level] = keep
    return _made(hierarchy, codes, table, known)


def split(
    hierarchy: Hierarchy,
    level: int,
    label: Value,
    groups: Mapping[Value, Sequence[Value]],
    *,
    concepts: Mapping[Value, int] | None = None,
) -> Hierarchy:
    """Make one label into several, each over some of its children; together they hold each child once.

    >>> jobs = Hierarchy.of_rows([("nurse", "worker", "*"), ("clerk", "worker", "*")])
    >>> split(jobs, 1, "worker", {"medic": ["nurse"], "office": ["clerk"]}).labels[1]
    ('medic', 'office')
    """
    _inner(hierarchy, level, "split")
    code = hierarchy.code(level, label)
    children = {hierarchy.labels[level - 1][c] for c in np.flatnonzero(hierarchy.parents[level - 1] == code).tolist()}
    named = Counter(child for group in groups.values() for child in group)
    strange, twice, left = set(named) - children, [c for c, n in named.items() if n > 1], children - set(named)
    if strange or twice or left or not all(groups.values()) or len(groups) < 2:
        raise BadHierarchy(
            f"{hierarchy.name}: splitting {label!r} needs two or more groups that hold each of its {len(children)} "
            f"children once; {len(left)} are in none, {len(twice)} in several, {len(strange)} are not its children"
        )
    table, known = [list(row) for row in hierarchy.labels], _concepts(hierarchy)
    codes = hierarchy.codes.copy()
    for new, group in groups.items():
        if new != label:
            _free(hierarchy, level, new)
        below = [hierarchy.code(level - 1, child) for child in group]
        fresh = len(table[level])
        table[level].append(new)
        concept = (concepts or {}).get(new, int(known[level][code]) if new == label else UNKNOWN)
        known[level] = np.append(known[level], np.int32(concept))
        codes[np.isin(codes[:, level - 1], below), level] = fresh
    return _made(hierarchy, codes, table, known)


def rename(hierarchy: Hierarchy, level: int, label: Value, to: Value, *, concept: int | None = None) -> Hierarchy:
    """Give a label of a level another name, and the concept that goes with it (unknown where none is given).

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*")])
    >>> rename(jobs, 1, "medic", "health worker").rows()
    [('nurse', 'health worker', '*')]
    """
    _inner(hierarchy, level, "renamed")
    code = hierarchy.code(level, label)
    if to != label:
        _free(hierarchy, level, to)
    table, known = [list(row) for row in hierarchy.labels], _concepts(hierarchy)
    _set(table, known, level, code, to, concept)
    return _made(hierarchy, hierarchy.codes, table, known)


def insert_level(
    hierarchy: Hierarchy,
    above: int,
    groups: Mapping[Value, Sequence[Value]],
    *,
    concepts: Mapping[Value, int] | None = None,
) -> Hierarchy:
    """Put a new level above a given one: named groups of its labels; labels in no group repeat.

    >>> jobs = Hierarchy.of_rows([("nurse", "*"), ("surgeon", "*"), ("clerk", "*")])
    >>> insert_level(jobs, 0, {"medic": ["nurse", "surgeon"]}).rows()[2]
    ('clerk', 'clerk', '*')
    """
    hierarchy.check_level(above)
    own = hierarchy.labels[above]
    table = list(own)
    known = _concepts(hierarchy)
    fresh = known[above].copy()
    group_of = np.arange(len(own), dtype=np.int32)
    taken: set[int] = set()
    for new, group in groups.items():
        members = [hierarchy.code(above, label) for label in group]
        if not members or taken & set(members) or len(set(members)) != len(members):
            raise BadHierarchy(
                f"{hierarchy.name}: the groups of a new level hold each label at most once and are not empty"
            )
        if above < hierarchy.height and len({int(hierarchy.parents[above][c]) for c in members}) > 1:
            raise BadHierarchy(
                f"{hierarchy.name}: the group {new!r} takes labels from different parents at level {above + 1}; "
                "move them under one parent first"
            )
        taken |= set(members)
        group_of[members] = len(table)
        table.append(new)
        fresh = np.append(fresh, np.int32((concepts or {}).get(new, UNKNOWN)))
    column = group_of[hierarchy.codes[:, above]]
    codes = np.insert(hierarchy.codes, above + 1, column, axis=1)
    labels = [*hierarchy.labels[: above + 1], table, *hierarchy.labels[above + 1 :]]
    return _made(hierarchy, codes, labels, [*known[: above + 1], fresh, *known[above + 1 :]])


def drop_level(hierarchy: Hierarchy, level: int) -> Hierarchy:
    """Take a level out; neither the leaves nor a top that would leave several roots.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")])
    >>> drop_level(jobs, 1).rows()[0]
    ('nurse', '*')
    """
    hierarchy.check_level(level)
    if level == 0:
        raise BadHierarchy(f"{hierarchy.name}: level 0 holds the column's values and cannot be dropped")
    if level == hierarchy.height and len(hierarchy.labels[level - 1]) > len(hierarchy.labels[level]):
        raise BadHierarchy(
            f"{hierarchy.name}: without its top the hierarchy would have {len(hierarchy.labels[level - 1])} roots; "
            "merge them first"
        )
    known = _concepts(hierarchy)
    return _made(
        hierarchy,
        np.delete(hierarchy.codes, level, axis=1),
        [row for i, row in enumerate(hierarchy.labels) if i != level],
        [row for i, row in enumerate(known) if i != level],
    )


def add_leaf(hierarchy: Hierarchy, value: Value, under: Value, *, concept: int | None = None) -> Hierarchy:
    """Add a value the hierarchy misses under a label of level 1.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*")])
    >>> add_leaf(jobs, "surgeon", "medic").leaves
    ('nurse', 'surgeon')
    """
    if hierarchy.height == 0:
        raise BadHierarchy(f"{hierarchy.name}: the hierarchy has no level above its leaves; insert one first")
    if value in hierarchy.leaves:
        raise BadHierarchy(f"{hierarchy.name}: that value is a leaf already")
    parent = hierarchy.code(1, under)
    known = _concepts(hierarchy)
    row = hierarchy.codes[hierarchy.codes[:, 1] == parent][0].copy()
    row[0] = len(hierarchy.leaves)
    known[0] = np.append(known[0], np.int32(UNKNOWN if concept is None else concept))
    labels = [(*hierarchy.leaves, value), *hierarchy.labels[1:]]
    return _made(hierarchy, np.vstack([hierarchy.codes, row]), labels, known)


def remove_leaf(hierarchy: Hierarchy, value: Value) -> Hierarchy:
    """Take a value out that the column does not hold any more; labels left without leaves disappear.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")])
    >>> remove_leaf(jobs, "clerk").labels[1]
    ('medic',)
    """
    code = hierarchy.code(0, value)
    if len(hierarchy.leaves) == 1:
        raise BadHierarchy(f"{hierarchy.name}: the last leaf cannot be removed; a hierarchy has at least one")
    kept = hierarchy.codes[:, 0] != code
    return _made(hierarchy, hierarchy.codes[kept], hierarchy.labels, _concepts(hierarchy))


OPERATIONS: Mapping[str, Callable[..., Hierarchy]] = MappingProxyType(
    {
        "move": move,
        "merge": merge,
        "split": split,
        "rename": rename,
        "insert_level": insert_level,
        "drop_level": drop_level,
        "add_leaf": add_leaf,
        "remove_leaf": remove_leaf,
    }
)
"""Every editing operation by name."""


@dataclass(frozen=True, eq=False)
class Step:
    """One edit that was made: what, with which arguments, and the hierarchies before and after it.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*")])
    >>> step = edit(jobs, "rename", level=1, label="medic", to="health worker")
    >>> step.before is jobs, step.after.labels[1]
    (True, ('health worker',))
    """

    operation: str
    arguments: Mapping[str, Any]
    before: Hierarchy
    after: Hierarchy


def edit(hierarchy: Hierarchy, operation: str, **arguments: Any) -> Step:
    """Apply an operation by name; the step keeps the hierarchy before it, which undoes it."""
    function = OPERATIONS.get(operation)
    if function is None:
        hint = did_you_mean(operation, OPERATIONS)
        raise BadHierarchy(f"no editing operation {operation!r}; there are {', '.join(OPERATIONS)}.{hint}")
    try:
        after = function(hierarchy, **arguments)
    except TypeError as error:
        raise BadHierarchy(f"{operation}: {str(error).partition('() ')[2] or error}") from None
    return Step(operation, MappingProxyType(dict(arguments)), hierarchy, after)


class Editor:
    """A hierarchy being edited, with undo and redo.

    >>> editor = Editor(Hierarchy.of_rows([("nurse", "medic", "*"), ("clerk", "office", "*")]))
    >>> editor.do("merge", level=1, labels=["medic", "office"], into="worker").labels[1]
    ('worker',)
    >>> editor.undo().labels[1], editor.redo().labels[1]
    (('medic', 'office'), ('worker',))
    """

    def __init__(self, hierarchy: Hierarchy) -> None:
        self._first = hierarchy
        self._done: list[Step] = []
        self._undone: list[Step] = []

    @property
    def hierarchy(self) -> Hierarchy:
        """The hierarchy as it stands now."""
        return self._done[-1].after if self._done else self._first

    @property
    def steps(self) -> tuple[Step, ...]:
        """Steps made and not undone, oldest first."""
        return tuple(self._done)

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to undo."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an undone step to make again."""
        return bool(self._undone)

    def do(self, operation: str, **arguments: Any) -> Hierarchy:
        """Make a step; steps undone before it can no longer be made again."""
        self._done.append(edit(self.hierarchy, operation, **arguments))
        self._undone.clear()
        return self.hierarchy

    def undo(self) -> Hierarchy:
        """Take the last step back."""
        if not self._done:
            raise BadHierarchy(f"{self._first.name}: there is nothing to undo")
        self._undone.append(self._done.pop())
        return self.hierarchy

    def redo(self) -> Hierarchy:
        """Make the last undone step again."""
        if not self._undone:
            raise BadHierarchy(f"{self._first.name}: there is nothing to redo")
        self._done.append(self._undone.pop())
        return self.hierarchy


def _made(hierarchy: Hierarchy, codes: Any, labels: Sequence[Sequence[Value]], concepts: Sequence[Any]) -> Hierarchy:
    known = concepts if hierarchy.concepts is not None or any((c != UNKNOWN).any() for c in concepts) else None
    made = assemble(hierarchy.name, codes, labels, kind=hierarchy.kind, concepts=known, info=hierarchy.info)
    require(check(made))
    if len(made.labels[-1]) > len(hierarchy.labels[-1]):
        raise BadHierarchy(
            f"{hierarchy.name}: the hierarchy would have {len(made.labels[-1])} roots; insert a level above first"
        )
    return made


def _concepts(hierarchy: Hierarchy) -> list[Any]:
    return [hierarchy.concept_codes(level) for level in range(hierarchy.height + 1)]


def _set(table: list[list[Value]], known: list[Any], level: int, code: int, label: Value, concept: int | None) -> None:
    table[level][code] = label
    known[level] = known[level].copy()
    known[level][code] = UNKNOWN if concept is None else concept


def _inner(hierarchy: Hierarchy, level: int, done: str) -> None:
    hierarchy.check_level(level)
    if level == 0:
        raise BadHierarchy(f"{hierarchy.name}: level 0 holds the column's values, which cannot be {done}")


def _free(hierarchy: Hierarchy, level: int, label: Value) -> None:
    if label in hierarchy.labels[level]:
        raise BadHierarchy(
            f"{hierarchy.name}: level {level} has a label {label!r} already; merge the two, or choose another name"
        )


def _shown(level: int, label: Value) -> str:
    return repr(label) if level else "that value"
