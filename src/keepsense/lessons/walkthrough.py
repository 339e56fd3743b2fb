"""Run a method step by step: what it chose, by which score, and the table after each step.

A method is run as a release runs it, with a recorder as its listener. Every step that is shown is an event of the
method; where chance decides, the draws that the steps show make the release.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import keepsense.lessons.generalization_steps
import keepsense.lessons.microaggregation_steps
import keepsense.lessons.perturbation_steps  # noqa: F401  (they say which events they understand)
from keepsense.errors import BadInput, PrivacyWarning, did_you_mean
from keepsense.explain.task import LessonTask
from keepsense.guide.catalogue import catalogue, entry
from keepsense.lessons.lesson import Lesson, example, example_sets, example_words
from keepsense.lessons.recorder import Step, Story, alike, as_text, dealt
from keepsense.methods.method import WORDS, Method
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.recoding import Recoding
from keepsense.secure_random import Random, generator

_SEED = 7
"""The made-up people meet the same chances each time, so that a course can be prepared."""
_SECONDS = 300.0
"""Small tables are done at once; on a machine that never ran a method, compiling takes some of its time."""


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run: the table before, every step, and what is released.

    `settings` are those that were used, `verdict` says what the release promises. `beside` are columns that the method
    looks at and does not change.

    >>> trace = explain("datafly", k=2)
    >>> trace.steps[0].chosen, len(trace.steps), trace.final.safe
    ('age', 4, True)
    """

    method: Method
    lesson: Lesson
    columns: tuple[str, ...]
    k: int
    before: Step
    steps: tuple[Step, ...]
    final: Step
    suppressed: tuple[bool, ...]
    recoding: Recoding = field(repr=False)
    beside: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    verdict: str = ""

    @property
    def by_rows(self) -> bool:
        """Whether steps are about single rows, so that these should be numbered."""
        return bool(self.before.marks)

    @property
    def further(self) -> tuple[str, ...]:
        """Columns shown beside those that are changed: what the method looks at, or may be for."""
        return self.beside if self.by_rows else self.lesson.targets

    def head(self, step: Step) -> tuple[str, ...]:
        """Names above the table of a step: the columns, and what is said of each row."""
        about = ("what happens",) if any(step.marks) else () if step.marks else ("group of",)
        return (*(("row",) if self.by_rows else ()), *self.columns, *self.further, *about)

    @property
    def where(self) -> str:
        """On which table, and with which settings."""
        own = {"k": self.k} if "k" in _parameters(self.method) else {}
        spelled = {n: str(v).lower() if isinstance(v, bool) else v for n, v in {**own, **self.settings}.items()}
        settings = ", ".join(f"{name} = {value}" for name, value in spelled.items())
        return f"{self.lesson.title}; {settings}" if settings else self.lesson.title


def explainable() -> list[str]:
    """Names of the methods whose steps can be shown.

    >>> "datafly" in explainable(), "sampling" in explainable()
    (True, False)
    """
    return [found.name for found in catalogue().values() if isinstance(found, Method) and not found.shown.why_not]


def lesson_for(name: str) -> Lesson:
    """The made-up people a method is shown on.

    >>> lesson_for("correlated noise").quasi_identifiers
    ('education', 'job')
    """
    method = _method(name)
    if method.sets == "only":
        return example_sets()
    return example_words() if method.shown.kinds == WORDS else example()


def about_sets(name: str) -> bool:
    """Whether a method is for a column of sets.

    >>> about_sets("apriori sets"), about_sets("datafly")
    (True, False)
    """
    return _method(name).sets == "only"


def explain(
    name: str,
    lesson: Lesson | None = None,
    *,
    k: int = 2,
    most: int = 100,
    settings: Mapping[str, Any] | None = None,
    rng: Random = None,
) -> Trace:
    """Run a method on a small table and keep every step; `most` bounds how many, `settings` changes other parameters.

    >>> [step.title for step in explain("datafly", k=2).steps][:3]
    ['Raise age to level 1', 'Raise education to level 1', 'Raise age to level 2']
    """
    method, table = _method(name), lesson or lesson_for(name)
    example = method.shown.example if lesson is None else {}
    parameters = {**method.shown.settings, **method.settings, **example, **(settings or {})}
    story = Story(table, _columns(method, table, k), k)
    random = generator(_SEED if lesson is None and rng is None else rng)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PrivacyWarning)
        recoding = _run(method, LessonTask(table, story, [KAnonymity(k)], random), parameters)
    notes = [*table.notes, *(str(warning.message) for warning in caught)]
    by_rows = not method.truthful or table.sets  # generalization makes groups, all else is about single rows
    final, hidden, verdict = _ended(story, recoding, method, by_rows)
    steps = story.steps
    if len(steps) > most:
        notes.append(f"{len(steps) - most} more steps are not shown")
    steps = steps[:most]
    if any(hidden) and steps and steps[-1].table != final.table:
        steps.append(replace(final, title="Suppress the rows that still stand alone"))
    return Trace(
        method, table, story.names, k, _before(table, story, by_rows), tuple(steps), final, hidden, recoding,
        beside=story.beside, notes=tuple(notes), verdict=verdict,
        settings={setting: value for setting, value in parameters.items() if value is not None},
    )  # fmt: skip


def _method(name: str) -> Method:
    found = entry(name)
    if isinstance(found, Method) and not found.shown.why_not:
        return found
    reason = f" ({found.shown.why_not})" if isinstance(found, Method) else ""
    listed = explainable()
    raise BadInput(
        f"the steps of {found.title} cannot be shown{reason}; those of these can: {', '.join(listed)}."
        f"{did_you_mean(name, listed)}"
    )


def _parameters(method: Method) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(method.function).parameters


def _run(method: Method, task: LessonTask, settings: Mapping[str, Any]) -> Recoding:
    """Run the method as a release does."""
    table = task.lesson
    parameters = {**({method.time_limit: _SECONDS} if method.time_limit else {}), **settings}
    if "target" in method.needs and not table.targets and "target" not in parameters:
        raise BadInput(f"{method.title} needs a column that is to be predicted; name it with --target")
    if "sensitive" in _parameters(method) and "sensitive" not in parameters:
        column = table.sensitive or next(iter(table.targets), None)
        if column is None:
            raise BadInput(f"{method.title} looks at a sensitive column; name it with --target")
        parameters["sensitive"] = column
    if method.sets == "only":
        sets = {"k": task.story.k, **parameters}
        return method.run_on_sets(task, task.quasi_identifiers[0], task.counts, sets, task.story)
    return method.run(task, parameters, task.story)[0]


def _columns(method: Method, table: Lesson, k: int) -> tuple[str, ...]:
    """The columns the method is for."""
    if k < 2:
        raise BadInput(f"k = {k}: people must be hidden among at least 2")
    if k > table.rows:
        raise BadInput(f"k = {k}, but the table has {table.rows} rows only; give a smaller k")
    if (method.sets == "only") != table.sets:
        what = "for columns of one value a cell, and these are sets" if table.sets else "for a column of sets"
        raise BadInput(f"{method.title} is {what}")
    kinds = method.shown.kinds
    names = tuple(name for name in table.quasi_identifiers if not kinds or table.column(name).kind in kinds)
    if not names:
        what = "words with a meaning" if kinds == WORDS else "numbers or an order"
        raise BadInput(f"{method.title} is for columns of {what}, and the table has none; name others with --column")
    return names


def _before(table: Lesson, story: Story, by_rows: bool) -> Step:
    start = Story(table, story.names, story.k)
    if by_rows:
        start.remark("The table before", {}, {})
    else:
        start.show("The table before", {})
    return start.steps[0]


def _ended(story: Story, recoding: Recoding, method: Method, by_rows: bool) -> tuple[Step, tuple[bool, ...], str]:
    """The table as it is released, which rows are suppressed, and what that promises."""
    table, hidden = dealt(story, recoding)
    rows = range(len(table))
    in_groups = story.heard.get("groups")
    groups = tuple(in_groups) if in_groups is not None else alike(table)
    sizes = [groups.count(groups[row]) for row in rows if not hidden[row]]
    counted: dict[str, object] = {
        "groups": len({groups[row] for row in rows if not hidden[row]}),
        "smallest group": min(sizes) if sizes else "none",
    }
    title, cells = "The released table", tuple(table)
    if by_rows and in_groups is None:
        same = [row == before for row, before in zip(table, story.original, strict=True)]
        marks = tuple("as it was" if unchanged else "changed" for unchanged in same)
        final = Step(title, as_text({"rows as they were": sum(same)}), cells, tuple(rows), 2, marks=marks)
        return final, tuple(hidden), method.guarantee
    safe = bool(sizes) and min(sizes) >= story.k
    if by_rows:
        return Step(title, as_text(counted), cells, groups, 2, safe=safe), tuple(hidden), method.guarantee
    counted["suppressed"] = sum(hidden)
    final = Step(title, as_text(counted), cells, groups, story.k, safe=safe)
    if safe:
        return final, tuple(hidden), f"Every group that is released has at least {story.k} rows."
    if all(hidden):
        return final, tuple(hidden), "Every row had to be suppressed."
    return final, tuple(hidden), "The release is not k-anonymous over all columns together."
