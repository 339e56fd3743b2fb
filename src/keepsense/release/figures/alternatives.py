"""What else could have been released: other nodes of the lattice, other methods on the same counts, with bounded work.

The result is figures only. They compare the chosen recoding with others that keep the same promise.
Searches are bounded by steps, never by seconds: a slow machine writes the same report as a fast one.
"""

from __future__ import annotations

import inspect
import warnings
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from keepsense.errors import KeepsenseError
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.method import Method, methods
from keepsense.methods.method_call import call
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Event, Listener
from keepsense.recoding import Cells, Cuts, Recoding
from keepsense.release.figures.measure import penalty
from keepsense.release.job.job import Job
from keepsense.release.job.people import released_people
from keepsense.risk.reidentification import risk
from keepsense.utility.recoded_table import inputs_of

MOST_NODES = 200_000
"""Largest lattice all of whose nodes are judged."""
MOST_TUPLES = 200_000
"""Most distinct combinations on which other methods are tried."""
MOST_VISITS = 300_000_000
"""Most combinations that a search may look at, over all its steps: some seconds."""
_AROUND = 150
_SHOWN = 8
_CHECKED = 400


@dataclass(frozen=True)
class Node:
    """One level for each column: what it would lose, and how many records it would suppress.

    >>> Node((1, 0), 0.2, 3, True).levels
    (1, 0)
    """

    levels: tuple[int, ...]
    loss: float
    suppressed: int
    chosen: bool


@dataclass(frozen=True)
class Lattice:
    """All choices of one level a column, by height: (height, safe, unsafe), and the best of the safe ones.

    >>> Lattice(("job",), (2,), ((0, 0, 1), (1, 1, 0)), ()).safe
    1
    """

    columns: tuple[str, ...]
    tops: tuple[int, ...]
    heights: tuple[tuple[int, int, int], ...]
    best: tuple[Node, ...]

    @property
    def size(self) -> int:
        """Number of nodes."""
        return sum(safe + unsafe for _, safe, unsafe in self.heights)

    @property
    def safe(self) -> int:
        """Number of nodes that keep the promise."""
        return sum(safe for _, safe, _ in self.heights)


@dataclass(frozen=True)
class Tried:
    """Another method on the same counts with the same promise, or why it did not do.

    >>> Tried("optimal", problem="k = 5 cannot be met").penalty is None
    True
    """

    method: str
    penalty: float | None = None
    risk: float | None = None
    classes: int = 0
    suppressed: int = 0
    problem: str = ""


class _TooMuchWork(KeepsenseError):
    """A search was stopped, because nobody waits that long for a comparison."""


def bounded(tuples: int, models: Sequence[Model], also: Listener | None = None) -> Listener:
    """A listener that ends a search over nodes after a number of them that depends on the table alone.

    Another listener hears of every step as well, and may end the search sooner.

    >>> listen = bounded(MOST_VISITS // 2, [KAnonymity(5)])
    >>> listen(Event("node"))
    >>> listen(Event("node"))
    Traceback (most recent call last):
    ...
    keepsense.release.figures.alternatives._TooMuchWork: it would take too many steps for a comparison
    """
    # models that look at more than the sizes of classes are asked one node at a time
    cost = (tuples + 5_000) * (1 if all(isinstance(model, KAnonymity) for model in models) else 10)
    left = MOST_VISITS

    def listen(event: Event) -> None:
        nonlocal left
        if also is not None:
            also(event)
        left -= cost if event.name == "node" else 0
        if left < 0:
            raise _TooMuchWork("it would take too many steps for a comparison")

    return listen


@dataclass(frozen=True)
class Judged:
    """Every node of a lattice as (levels, safe, loss before suppression), and the chosen one.

    >>> Judged(("job",), (2,), (((0,), False, 0.0), ((1,), True, 0.4)), (1,)).chosen
    (1,)
    """

    columns: tuple[str, ...]
    tops: tuple[int, ...]
    nodes: tuple[tuple[tuple[int, ...], bool, float], ...]
    chosen: tuple[int, ...]


def judged_nodes(job: Job, rule: Recoding, listener: Listener | None = None) -> Judged | None:
    """Judge every node, where the recoding is one; None where it is none or there are too many.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> found = judged_nodes(done.job, done.recodings[0])
    >>> len(found.nodes), found.chosen, found.nodes[0]
    (12, (1, 0), ((0, 0), False, 0.0))
    """
    known = _classified(job, rule, listener)
    if known is None:
        return None
    search, status, chosen = known
    safe = (status == 1) | (status == 2)
    base = np.asarray(search.nodes.base).reshape(status.shape)
    nodes = tuple((tuple(map(int, at)), bool(safe[at]), float(base[at])) for at in np.ndindex(status.shape))
    return Judged(search.space.names, status_tops(status), nodes, chosen)


def nodes_around(job: Job, rule: Recoding, listener: Listener | None = None, most: int = _AROUND) -> Judged | None:
    """Judge the nodes nearest to the one that a recoding is, where there are too many to judge all; None if it is none.

    Nearest are those in which fewest steps up or down are different; `most` of them are looked at, or fewer where that
    would take too long.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> found = nodes_around(done.job, done.recodings[0], most=3)
    >>> found.chosen, [(levels, safe) for levels, safe, _ in found.nodes]
    ((1, 0), [((1, 0), True), ((0, 0), False), ((2, 0), True)])
    """
    made = _search(job, rule)
    if made is None:
        return None
    search, chosen = made
    tops = tuple(job.hierarchies[name].height for name in search.space.names)
    hear = bounded(len(job.counts), job.models, listener)
    waiting, known = deque([chosen]), {chosen}
    nodes: list[tuple[tuple[int, ...], bool, float]] = []
    while waiting and len(nodes) < most:
        node = waiting.popleft()
        try:
            hear(Event("node"))
        except _TooMuchWork:
            break
        nodes.append((node, bool(search.check(node).holds), float(search.base(node))))
        for place, step in product(range(len(tops)), (-1, 1)):
            other = (*node[:place], node[place] + step, *node[place + 1 :])
            if 0 <= other[place] <= tops[place] and other not in known:
                known.add(other)
                waiting.append(other)
    return Judged(search.space.names, tops, tuple(nodes), chosen)


def lattice(job: Job, rules: Sequence[Recoding]) -> Lattice | None:
    """Judge every node, and find the best safe ones; None where the recoding is no node or there are too many.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> found = lattice(job, rules)
    >>> found.columns, found.size, found.safe, found.best[0].levels
    (('age', 'job'), 12, 9, (1, 0))
    """
    known = _classified(job, rules[0]) if len(rules) == 1 else None
    if known is None:
        return None
    search, status, chosen = known
    safe = (status == 1) | (status == 2)
    height = np.indices(status.shape).sum(axis=0)
    rows = tuple(
        (h, int((safe & (height == h)).sum()), int((~safe & (height == h)).sum())) for h in range(int(height.max()) + 1)
    )
    return Lattice(search.space.names, status_tops(status), rows, _best(search, safe, chosen))


def _classified(job: Job, rule: Recoding, listener: Listener | None = None) -> tuple[Any, Any, tuple[int, ...]] | None:
    """The search with the status of every node of its lattice, and the node that a recoding is."""
    made = _search(job, rule)
    if made is None or np.prod([job.hierarchies[name].height + 1.0 for name in made[0].space.names]) > MOST_NODES:
        return None
    from keepsense.methods.generalize.lattice_walks import classified

    search, chosen = made
    try:
        status = np.asarray(classified(search, bounded(len(job.counts), job.models, listener)))
    except KeepsenseError:
        return None
    return search, status, chosen


def _search(job: Job, rule: Recoding) -> tuple[Any, tuple[int, ...]] | None:
    """A search over the lattice of a recoding, and the node that it is; None where it is none."""
    if not isinstance(rule, Cuts) or any(level is None for level in rule.levels):
        return None
    from keepsense.methods.generalize.lattice_template import LatticeSearch

    search = LatticeSearch(
        job.counts, job.hierarchies, job.models, suppression=job.project.release.suppression, metric="loss"
    )
    levels = dict(zip(rule.names, rule.levels, strict=True))
    return search, tuple(int(levels[name] or 0) for name in search.space.names)


def status_tops(status: Any) -> tuple[int, ...]:
    """Highest level of each column.

    >>> status_tops(np.zeros((2, 3)))
    (1, 2)
    """
    return tuple(size - 1 for size in status.shape)


def _best(search: Any, safe: Any, chosen: tuple[int, ...]) -> tuple[Node, ...]:
    """The safe nodes of least loss, suppression counted; and the chosen one, if it is none of them."""
    base = np.asarray(search.nodes.base).reshape(safe.shape)
    places = np.argwhere(safe)
    order = np.argsort(base[safe], kind="stable")
    found: list[Node] = []
    for at in order[:_CHECKED].tolist():
        levels = tuple(int(level) for level in places[at])
        # suppression only adds to the loss, so no later node can be better once the base exceeds what is shown
        if len(found) >= _SHOWN and base[levels] >= sorted(n.loss for n in found)[_SHOWN - 1]:
            break
        verdict = search.check(levels)
        if verdict.holds:
            found.append(Node(levels, float(verdict.value), int(verdict.suppressed), levels == chosen))
    found = sorted(found, key=lambda node: (round(node.loss, 9), not node.chosen))[:_SHOWN]
    if not any(node.chosen for node in found):
        verdict = search.check(chosen)
        found.append(Node(chosen, float(verdict.value), int(verdict.suppressed), True))
    return tuple(found)


def other_methods(job: Job, listener: Listener | None = None) -> tuple[tuple[Model, ...], list[Tried]]:
    """Other methods that generalize, tried on the same counts; with the promise they were held to.

    Where the release changes values instead, there may be no promise about classes: then k-anonymity is asked for,
    with the method's own k or 5, to compare. The listener hears of every step, and may end it.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> models, found = other_methods(done.job)
    >>> models, [one.method for one in found if not one.problem]
    ((KAnonymity(k=4),), ['semantic mondrian', 'mondrian', 'local recoding', 'datafly'])
    """
    if any(job.holds_sets(name) for name in job.quasi_identifiers):
        return (), []
    models = _comparable(job)
    if len(job.counts) > MOST_TUPLES:
        return models, [Tried("other methods", problem=f"not tried on more than {MOST_TUPLES:,} combinations")]
    others = {found.alternative: found for found in methods() if found.alternative is not None}
    return models, [
        _tried(job, others[place], models, listener) for place in sorted(others) if others[place] != job.method
    ]


def _comparable(job: Job) -> tuple[Model, ...]:
    if job.truthful:
        return tuple(job.models)
    asked = [int(m.promise()["k"]) for m in job.models if int(m.promise().get("k", 0)) > 1]
    own = job.project.method.parameters.get("k")
    return (KAnonymity(max(asked) if asked else own if isinstance(own, int) and own > 1 else 5),)


def _tried(job: Job, method: Method, models: Sequence[Model], listener: Listener | None = None) -> Tried:
    counts = job.counts
    takes = inspect.signature(method.function).parameters
    options: dict[str, Any] = {
        "suppression": job.suppression,
        "numbers": [name for name in job.quasi_identifiers if KINDS[job.column(name).kind].numbers],
        "rng": 0,
        "most_nodes": max(1, MOST_VISITS // (30 * len(counts))),  # such a search gives the best it has by then
    }
    options["listener"] = listener if "most_nodes" in takes else bounded(len(counts), models, listener)
    if "distances" in takes:
        options["distances"] = job.distances
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rule = call(method.function, {}, counts, job.hierarchies, models, **options)
    except KeepsenseError as error:
        return Tried(method.name, problem=str(error).split(":")[0])
    return measured(job, method.name, rule)


def measured(job: Job, name: str, rule: Cuts | Cells) -> Tried:
    """The figures of one recoding: certainty penalty, highest risk, classes and suppressed records.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> found = measured(job, "optimal", rules[0])
    >>> round(found.penalty, 4), found.risk, found.classes
    (0.115, 0.2, 4)
    """
    counts = inputs_of(job.own_counts, rule)
    after = released_people(job, counts, rule.cells(counts))
    try:
        found = risk(after, missing=job.missing)
        highest, classes, gone = found.prosecutor_maximum, found.classes, found.suppressed
    except KeepsenseError:
        highest, classes, gone = 0.0, 0, counts.total
    return Tried(name, penalty(job, rule), highest, classes, gone)
