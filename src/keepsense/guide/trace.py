"""Watch an algorithm work: what it chose, by which score, and the table as it stands after each step.

Table and lattice recoding tell their steps as events. Multidimensional and local recoding ask the privacy models about
every group they would make, so a model that promises nothing and remembers what it was asked sees all of them.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass, field, replace
from typing import Any

from keepsense.errors import BadInput, PrivacyWarning, did_you_mean
from keepsense.guide.catalogue import catalogue, entry, function
from keepsense.guide.iteration import Cell, Iteration, grouped
from keepsense.guide.lesson import Lesson, example
from keepsense.guide.pattern import Entry
from keepsense.guide.steps import SHOWN
from keepsense.privacy import KAnonymity
from keepsense.recoding import Cells, Cuts


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run: the table before, every step, and what is released.

    >>> trace = explain("datafly", k=2)
    >>> trace.iterations[0].chosen, len(trace.iterations), trace.final.safe
    ('age', 4, True)
    """

    entry: Entry
    lesson: Lesson
    k: int
    before: Iteration
    iterations: tuple[Iteration, ...]
    final: Iteration
    suppressed: tuple[bool, ...]
    recoding: Cuts | Cells = field(repr=False)
    notes: tuple[str, ...] = ()


def explainable() -> list[str]:
    """Names of the algorithms whose steps can be shown.

    >>> "datafly" in explainable()
    True
    """
    return [found.name for found in catalogue().values() if _shown(found)]


def _shown(found: Entry) -> bool:
    return found.kind == "algorithm" and found.runs and found.name in SHOWN


def explain(name: str, lesson: Lesson | None = None, *, k: int = 2, most: int = 100) -> Trace:
    """Run an algorithm on a small table and keep every step; `most` bounds how many.

    >>> [step.title for step in explain("datafly", k=2).iterations][:3]
    ['Raise age to level 1', 'Raise education to level 1', 'Raise age to level 2']
    """
    found = entry(name)
    if not _shown(found):
        listed = explainable()
        raise BadInput(
            f"the steps of {found.title} cannot be shown; those of these can: {', '.join(listed)}."
            f"{did_you_mean(name, listed)}"
        )
    table = lesson or example()
    _check(found, table, k)
    watch = SHOWN[found.name](table, k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        result = _run(found, table, k, watch)
    notes = [str(one.message) for one in caught]
    iterations = watch.iterations
    if len(iterations) > most:
        notes.append(f"{len(iterations) - most} more steps are not shown")
    final, hidden = released(table, result, k)
    kept = iterations[:most]
    if any(hidden) and kept and kept[-1].table != final.table:
        kept.append(replace(final, title="Suppress the rows that still stand alone"))
    return Trace(found, table, k, watch.before, tuple(kept), final, hidden, result, tuple(notes))


def _check(found: Entry, table: Lesson, k: int) -> None:
    if k < 2:
        raise BadInput(f"k = {k}: people must be hidden among at least 2")
    if k > table.rows:
        raise BadInput(f"k = {k}, but the table has {table.rows} rows only; give a smaller k")
    if found.name == "lsd mondrian" and table.amount is None:
        raise BadInput(f"{found.title} needs a column of numbers that is to be predicted; name it with --target")
    if found.name == "infogain mondrian" and table.category is None:
        raise BadInput(f"{found.title} needs a column of categories that is to be predicted; name it with --target")


def _run(found: Entry, table: Lesson, k: int, watch: Any) -> Cuts | Cells:
    """Call the algorithm itself with what it takes of what there is."""
    method = function(found)
    takes = inspect.signature(method).parameters
    offered: dict[str, Any] = {
        "models": [KAnonymity(k), *watch.models],
        "numbers": table.numbers,
        "listener": watch.hear,
        "target": table.amount if found.name == "lsd mondrian" else table.category,
    }
    given = {name: value for name, value in offered.items() if name in takes and value is not None}
    result: Cuts | Cells = method(watch.counts, table.hierarchies, **given)
    return result


def released(lesson: Lesson, recoding: Cuts | Cells, k: int) -> tuple[Iteration, tuple[bool, ...]]:
    """The table as it is released, and which rows are suppressed.

    >>> released.__name__
    'released'
    """
    cells = recoding.cells(lesson.counts)
    by_tuple: dict[int, tuple[Cell, bool]] = {}
    for r, source in enumerate(cells.source.tolist()):
        row = tuple(cells.values[j][c] for j, c in enumerate(cells.codes[r].tolist()))
        by_tuple[source] = row, bool(cells.suppressed is not None and cells.suppressed[r])
    table = [by_tuple[t][0] for t in lesson.tuple_of]
    hidden = tuple(by_tuple[t][1] for t in lesson.tuple_of)
    groups = grouped(table)
    kept = [groups.count(g) for g, gone in zip(groups, hidden, strict=True) if not gone]
    facts = [("groups", str(len({g for g, gone in zip(groups, hidden, strict=True) if not gone})))]
    facts.append(("smallest group", str(min(kept)) if kept else "none"))
    facts.append(("suppressed", str(sum(hidden))))
    safe = bool(kept) and min(kept) >= k
    return Iteration("The released table", tuple(facts), tuple(table), groups, k, safe=safe), hidden
