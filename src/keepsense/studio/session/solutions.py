"""The space of solutions: the lattice of levels with its safe nodes, and alternatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from inspect import signature
from math import prod
from typing import TYPE_CHECKING

from keepsense.display import percent
from keepsense.methods.method import methods
from keepsense.recoding import Cuts
from keepsense.release.figures.alternatives import Tried, judged_nodes, nodes_around, other_methods
from keepsense.release.figures.trade import Trade, trade
from keepsense.release.job.choosing import some_tuples
from keepsense.studio.session.trees import written_tree

if TYPE_CHECKING:
    from keepsense.studio.session.session import Session

MOST_NODES = 240
"""Nodes of a lattice that are drawn; of larger ones, the best and their neighbours."""
MOST_TUPLES = 6_000
"""Combinations on which methods are compared."""


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
        heard = session.unhurried()
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

    with session.bench.lock.first():
        job = session.job()
        levels = dict(zip(columns, node.levels, strict=True))
        cuts = Cuts(tuple(job.hierarchies[name].named(name).cut(level) for name, level in levels.items()))
        return column_penalties(job, [cuts])


def choose(session: Session, node: Solution, columns: tuple[str, ...]) -> None:
    """Let the release have the levels of a node: its search is told them, and checks them; to be called in a thread.

    The trees are written down with it, so that levels mean the same in every later run.
    """
    levels = dict(zip(columns, node.levels, strict=True))
    with session.bench.lock.first():
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


def others(session: Session) -> list[Tried]:
    """Other methods on the same table with the same promises: what each would lose and risk. In a thread.

    On some of the combinations where there are many, the chosen method too, so that figures compare.
    """
    with session.bench.lock:
        job = session.job()
        counts = some_tuples(job.counts, MOST_TUPLES)
        part = job if counts is job.counts else job.narrowed(counts)
        return other_methods(part, session.unhurried())[1]


def weighed_twice(session: Session) -> Trade | None:
    """What each column would keep if it weighed twice, and what that costs the others. In a thread."""
    with session.bench.lock:
        return trade(session.job(), session.unhurried())


def in_words(node: Solution, columns: tuple[str, ...]) -> str:
    """A node in words: the level of each column, and what it loses.

    >>> in_words(Solution((1, 0), False, 0.25, False), ("age", "job"))
    'age 1, job 0: loses 25.0%, breaks a promise'
    """
    levels = ", ".join(f"{name} {level}" for name, level in zip(columns, node.levels, strict=True))
    return f"{levels}: loses {percent(node.loss)}, {'keeps every promise' if node.safe else 'breaks a promise'}"
