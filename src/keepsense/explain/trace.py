"""Watch a method work: what it chose, by which score, and the table as it stands after each step.

Most methods tell their steps as events. Multidimensional and local recoding ask the privacy models about every group
they would make, so a model that promises nothing and remembers what it was asked sees all of them.
Where chance decides, the same drawing that the steps show makes the release.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from keepsense.errors import BadInput, PrivacyWarning, did_you_mean
from keepsense.explain.iteration import Iteration
from keepsense.explain.lesson import Lesson, example, example_sets, example_words
from keepsense.explain.set_steps import SetWatch
from keepsense.explain.steps import SHOWN
from keepsense.guide.catalogue import catalogue, entry, function
from keepsense.guide.pattern import Entry

_SEED = 7
"""The made-up people meet the same chances each time, so that a course can be prepared."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run: the table before, every step, and what is released.

    `settings` are those that were used, `verdict` says what the release promises.

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
    recoding: Any = field(repr=False)
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    verdict: str = ""

    @property
    def by_rows(self) -> bool:
        """Whether steps are about single rows, so that these should be numbered."""
        return any(step.marks for step in self.iterations)

    @property
    def further(self) -> tuple[str, ...]:
        """Columns shown beside those that are changed: what the method looks at, or may be for."""
        others = tuple(name for name in self.lesson.columns if name not in self.lesson.quasi_identifiers)
        if not self.by_rows:
            return others
        seen = self.lesson.sensitive or self.lesson.category or self.lesson.amount
        return (seen,) if seen is not None and self.entry.name == "t-close microaggregation" else ()

    @property
    def told_settings(self) -> str:
        """The settings in a line."""
        shown = {
            name: str(value).lower() if isinstance(value, bool) else value for name, value in self.settings.items()
        }
        own = {} if "epsilon" in shown or "alpha" in shown or "keep" in shown else {"k": self.k}
        return ", ".join(f"{name} = {value}" for name, value in (own | shown).items())


def explainable() -> list[str]:
    """Names of the methods whose steps can be shown.

    >>> "datafly" in explainable()
    True
    """
    return [found.name for found in catalogue().values() if _shown(found)]


def about_sets(name: str) -> bool:
    """Whether a method is for a column of sets.

    >>> about_sets("apriori sets"), about_sets("datafly")
    (True, False)
    """
    made = SHOWN.get(entry(name).name)
    return isinstance(made, type) and issubclass(made, SetWatch)


def lesson_for(name: str) -> Lesson:
    """The made-up people a method is shown on.

    >>> lesson_for("correlated noise").title
    'ten made-up people and their jobs'
    """
    if about_sets(name):
        return example_sets()
    return example_words() if entry(name).name in ("noise", "correlated noise") else example()


def _shown(found: Entry) -> bool:
    return found.runs and found.name in SHOWN


def explain(
    name: str,
    lesson: Lesson | None = None,
    *,
    k: int = 2,
    most: int = 100,
    settings: Mapping[str, Any] | None = None,
    rng: np.random.Generator | int | None = None,
) -> Trace:
    """Run a method on a small table and keep every step; `most` bounds how many, `settings` changes other parameters.

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
    table = lesson or lesson_for(found.name)
    _check(found, table, k)
    watch = SHOWN[found.name](table, k)
    used = watch.set(settings or {})
    random = np.random.default_rng(_SEED if lesson is None and rng is None else rng)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        result = watch.run(function(found), used, random)
    notes = [str(one.message) for one in caught]
    final, hidden, verdict = watch.end(result)
    iterations = watch.iterations
    if len(iterations) > most:
        notes.append(f"{len(iterations) - most} more steps are not shown")
    kept = iterations[:most]
    if any(hidden) and kept and kept[-1].table != final.table:
        kept.append(replace(final, title="Suppress the rows that still stand alone"))
    return Trace(found, table, k, watch.before, tuple(kept), final, hidden, result, tuple(notes), used, verdict)


def _check(found: Entry, table: Lesson, k: int) -> None:
    if k < 2:
        raise BadInput(f"k = {k}: people must be hidden among at least 2")
    if k > table.rows:
        raise BadInput(f"k = {k}, but the table has {table.rows} rows only; give a smaller k")
    if about_sets(found.name) != (table.baskets is not None):
        what = (
            "for a column of sets" if table.baskets is None else "for columns of one value a cell, and these are sets"
        )
        raise BadInput(f"{found.title} is {what}")
    if found.name == "lsd mondrian" and table.amount is None:
        raise BadInput(f"{found.title} needs a column of numbers that is to be predicted; name it with --target")
    if found.name == "infogain mondrian" and table.category is None:
        raise BadInput(f"{found.title} needs a column of categories that is to be predicted; name it with --target")
