"""The space of solutions: the lattice of levels with its safe nodes, or how the table was divided, and other ways."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from math import prod
from typing import TYPE_CHECKING, Any

from keepsense.errors import KeepsenseError
from keepsense.methods.registry import methods
from keepsense.progress import Event, Listener
from keepsense.recoding import Cuts
from keepsense.release.figures.alternatives import Tried, judged_nodes, nodes_around, other_methods
from keepsense.release.figures.trade import Trade, trade
from keepsense.release.job.choosing import some_tuples
from keepsense.release.job.job import Job
from keepsense.shown import percent
from keepsense.studio.session.trees import written_tree

if TYPE_CHECKING:
    from keepsense.studio.session.session import Session

MOST_NODES = 240
"""Nodes of a lattice that are drawn; of larger ones, the best and their neighbours."""
MOST_TUPLES = 1_500
"""Combinations on which a division is shown."""
MOST_GROUPS = 80
"""Groups of a division that are drawn."""


@dataclass(frozen=True)
class Solution:
    """A node of the lattice: one level a column, whether it keeps the promises, what it loses, whether it is chosen.

    >>> Solution((1, 0), True, 0.2, True).height
    1
    """

    levels: tuple[int, ...]
    safe: bool
    loss: float
    chosen: bool

    @property
    def height(self) -> int:
        """How many steps up it lies."""
        return sum(self.levels)


@dataclass(frozen=True)
class Solutions:
    """The lattice: its columns, how many nodes there are, were judged and are safe, and those that are shown.

    >>> Solutions(("age",), (3,), 4, 4, 2, ()).whole
    False
    """

    columns: tuple[str, ...]
    tops: tuple[int, ...]
    size: int
    judged: int
    safe: int
    nodes: tuple[Solution, ...]

    @property
    def whole(self) -> bool:
        """Whether all nodes are shown."""
        return len(self.nodes) == self.size


@dataclass
class Group:
    """A group of records on the way from the whole table to classes: how it was cut, and what became of it.

    >>> Group(20, {"age": "20 to 60"}).parts
    []
    """

    records: int
    values: dict[str, str]
    column: str = ""
    parts: list[Group] = field(default_factory=list)


def lattice(session: Session) -> Solutions | None:
    """All choices of one level a column, safe and unsafe; None where the method chooses no levels. In a thread.

    Where they are too many to judge, those around the one that would be released.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     lattice(session) is None
    True
    """
    shown = session.preview()
    if shown.found is None or len(shown.found.rules) != 1:
        return None
    rule = shown.found.rules[0]
    if not isinstance(rule, Cuts) or any(level is None for level in rule.levels):
        return None
    with session.bench.lock:
        heard = session.while_it_stands()
        judged = judged_nodes(shown.found.part, rule, heard) or nodes_around(shown.found.part, rule, heard)
    if judged is None:
        return None
    every = [Solution(levels, safe, loss, levels == judged.chosen) for levels, safe, loss in judged.nodes]
    size = prod(top + 1 for top in judged.tops)
    return Solutions(judged.columns, judged.tops, size, len(every), sum(n.safe for n in every), tuple(_drawn(every)))


def _drawn(every: list[Solution]) -> list[Solution]:
    """All nodes where they are few; else the chosen one, the best safe ones, and what lies around these."""
    if len(every) <= MOST_NODES:
        return every
    best = sorted((node for node in every if node.safe), key=lambda node: (not node.chosen, node.loss))[:30]
    near = {node.levels for node in best}
    around = [n for n in every if n.levels not in near and any(_apart(n.levels, b.levels) == 1 for b in best[:12])]
    return [*best, *around][:MOST_NODES]


def _apart(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    return sum(abs(a - b) for a, b in zip(first, second, strict=True))


def attempt(session: Session, node: Solution, columns: tuple[str, ...]) -> dict[str, float]:
    """What each column would lose at a node of the lattice; to be called in a thread."""
    from keepsense.release.figures.measure import column_penalties

    with session.bench.lock:
        job = session.job()
        levels = dict(zip(columns, node.levels, strict=True))
        cuts = Cuts(tuple(job.hierarchies[name].named(name).cut(level) for name, level in levels.items()))
        return column_penalties(job, [cuts])


def choose(session: Session, node: Solution, columns: tuple[str, ...]) -> None:
    """Let the release have the levels of a node: its search is told them, and checks them; to be called in a thread.

    The trees are written down with it, so that levels mean the same in every later run.
    """
    levels = dict(zip(columns, node.levels, strict=True))
    with session.bench.lock:
        job = session.job()
        keys: dict[tuple[str, ...], object] = {
            ("method", "parameters", key): None for key in session.project.method.parameters
        }
        keys["method", "name"] = _by_levels()
        keys["method", "parameters", "levels"] = levels
        for column in columns:
            if session.project.columns[column].hierarchy in (None, "auto"):
                keys["columns", column, "hierarchy"] = written_tree(session, job, column, job.hierarchies[column])
        session.change(keys, f"the levels are {_listed(levels)}")


def _by_levels() -> str:
    """The method that gives whole values one level, and can be told which."""
    told = (found for found in methods(in_projects=True) if "levels" in signature(found.function).parameters)
    return next(found.name for found in told if found.whole_values)


def leave_to_search(session: Session) -> None:
    """Let the method choose the levels again."""
    session.change({("method", "parameters", "levels"): None}, "the search chooses the levels")


def own_levels(session: Session) -> str:
    """The levels that somebody chose, in words; empty where the method chooses them."""
    levels = session.project.method.parameters.get("levels")
    return _listed(levels) if isinstance(levels, Mapping) else ""


def _listed(levels: Mapping[str, object]) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())


class _Watching:
    """Hears how a table is divided, and remembers it as a tree."""

    every_step = True

    def __init__(self, job: Job, also: Listener) -> None:
        self.also = also
        self.names = job.quasi_identifiers
        self.weights = job.counts.weights
        self.root: Group | None = None
        self._open: dict[frozenset[int], Group] = {}
        self.settled: list[Group] = []

    def __call__(self, event: Event) -> None:
        self.also(event)
        if event.name == "whole":
            self.root = self._group(event.details["part"])
        elif event.name == "cut":
            parts = event.details["parts"]
            key = frozenset(int(t) for tuples, _ in parts for t in tuples)
            parent = self._open.pop(key, None)
            made = [self._group(part) for part in parts]
            if parent is not None:
                parent.column, parent.parts = str(event.details["column"]), made
        elif event.name in ("settle", "grow") and "part" in event.details:
            self.settled.append(self._group(event.details["part"]))

    def _group(self, part: tuple[Any, tuple[Any, ...]]) -> Group:
        tuples, values = part
        shown = {name: str(value) for name, value in zip(self.names, values, strict=False)}
        group = Group(int(self.weights[tuples].sum()), shown)
        self._open[frozenset(int(t) for t in tuples)] = group
        return group


def division(session: Session) -> Group | None:
    """How the method divided the table into classes, or gathered it into them; None where it does neither. In a thread.

    Shown on some of the combinations where there are many.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> people = {"age": [20 + i % 40 for i in range(200)], "job": ["nurse", "clerk", "pilot", "baker"] * 50}
    >>> with tempfile.TemporaryDirectory() as folder, Session.of_frame(people, folder) as session:
    ...     session.set_method("mondrian")
    ...     tree = division(session)
    ...     tree.records, len(tree.parts)
    (200, 2)
    """
    with session.bench.lock:
        job = session.job()
        if not job.truthful or job.method.whole_values:
            return None
        counts = some_tuples(job.counts, MOST_TUPLES)
        part = job if counts is job.counts else job.narrowed(counts)
        watching = _Watching(part, session.while_it_stands())
        parameters = dict(job.project.method.parameters)
        if job.method.time_limit is not None:
            parameters.setdefault(job.method.time_limit, 2.0)
        try:
            job.method.run(part, parameters, watching)
        except KeepsenseError:
            return None
    if watching.root is not None:
        return watching.root
    if not watching.settled:
        return None
    whole = Group(sum(group.records for group in watching.settled), {}, "classes")
    whole.parts = sorted(watching.settled, key=lambda group: -group.records)
    return whole


def others(session: Session) -> list[Tried]:
    """Other methods on the same table with the same promises: what each would lose and risk. In a thread.

    On some of the combinations where there are many, the chosen method too, so that figures compare.
    """
    with session.bench.lock:
        job = session.job()
        counts = some_tuples(job.counts, 4 * MOST_TUPLES)
        part = job if counts is job.counts else job.narrowed(counts)
        return other_methods(part, session.while_it_stands())[1]


def weighed_twice(session: Session) -> Trade | None:
    """What each column would keep if it weighed twice, and what that costs the others. In a thread."""
    with session.bench.lock:
        return trade(session.job(), session.while_it_stands())


def pruned(group: Group, most: int = MOST_GROUPS) -> Group:
    """The tree with at most so many groups: the deepest cuts are left out.

    >>> tree = Group(4, {}, "age", [Group(2, {}), Group(2, {})])
    >>> pruned(tree, 1).parts
    []
    """
    kept: set[int] = set()
    row = [group]
    while row and len(kept) + len(row) <= most:
        kept |= {id(member) for member in row}
        row = [part for member in row for part in member.parts]

    def copied(member: Group) -> Group:
        return replace(member, parts=[copied(part) for part in member.parts if id(part) in kept])

    return copied(group)


def in_words(node: Solution, columns: tuple[str, ...]) -> str:
    """A node in words: the level of each column, and what it loses.

    >>> in_words(Solution((1, 0), False, 0.25, False), ("age", "job"))
    'age 1, job 0: loses 25.0%, breaks a promise'
    """
    levels = ", ".join(f"{name} {level}" for name, level in zip(columns, node.levels, strict=True))
    return f"{levels}: loses {percent(node.loss)}, {'keeps every promise' if node.safe else 'breaks a promise'}"
