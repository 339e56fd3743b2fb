"""Columns as step one shows them: the guess, the choice of the publisher, and open questions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace

from keepsense.draft.inspected_column import Inspected
from keepsense.draft.inspection import Inspection
from keepsense.project.project_file import Project
from keepsense.project.roles import ROLES


@dataclass(frozen=True)
class ColumnView:
    """A column as the first step shows it: role and kind as they are now, what was guessed and why.

    `colour` stands for the role; `sure` is false where the guess should be looked at, and true once somebody chose.

    >>> from keepsense.studio.session.session import Session
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Session.sample(folder, rows=60) as session:
    ...     age = next(column for column in session.columns if column.name == "age")
    ...     age.role, age.kind, age.guessed, age.colour
    ('quasi-identifier', 'numeric', 'quasi-identifier', 'yellow')
    """

    name: str
    role: str
    kind: str
    guessed: str
    reason: str
    sure: bool
    colour: str
    distinct: int
    missing: int
    taxonomy: str | None = None
    notes: tuple[str, ...] = ()


def column_views(inspection: Inspection, project: Project, settled: Collection[str]) -> tuple[ColumnView, ...]:
    """Every column with its role, and what was guessed about it and why; `settled` are those that somebody looked at.

    >>> from keepsense.draft.inspection import inspect
    >>> from keepsense.release.example import example_job
    >>> (age,) = column_views(inspect({"age": [31, 42, 53]}), example_job().project, ())
    >>> age.role, age.colour
    ('quasi-identifier', 'yellow')
    """
    views = []
    for seen in inspection.columns:
        said = project.columns.get(seen.name)
        role, kind = (seen.role, seen.kind) if said is None else (said.role, said.kind)
        chosen = role != seen.role or seen.name in settled
        views.append(
            ColumnView(
                seen.name,
                role,
                kind if ROLES[role].described else seen.kind,
                seen.role,
                seen.reason if role == seen.role else f"you chose it; guessed was {seen.role}: {seen.reason}",
                chosen or seen.confidence != "unsure",
                ROLES[role].colour,
                seen.profile.distinct,
                seen.profile.missing,
                None if said is None else said.taxonomy,
                seen.notes,
            )
        )
    return tuple(views)


def as_it_stands(inspection: Inspection, project: Project, settled: Collection[str]) -> Inspection:
    """The inspection as if the roles that were chosen had been guessed, and surely.

    >>> from keepsense.draft.inspection import inspect
    >>> from keepsense.release.example import example_job
    >>> as_it_stands(inspect({"age": [31, 42, 53]}), example_job().project, ["age"]).columns[0].confidence
    'sure'
    """
    columns = []
    for seen in inspection.columns:
        said = project.columns.get(seen.name)
        role = seen.role if said is None else said.role
        chosen = role != seen.role or seen.name in settled
        columns.append(replace(seen, role=role, confidence="sure" if chosen else seen.confidence))
    return replace(inspection, columns=tuple(columns))


def rows_by_value(seen: Inspected) -> dict[str | None, int]:
    """How many rows hold each value of a column, as text; None is an empty cell.

    >>> import tempfile
    >>> from keepsense.studio.session.session import Session
    >>> people = {"job": ["nurse", "clerk", None] * 9}
    >>> with tempfile.TemporaryDirectory() as folder, Session.of_frame(people, folder) as session:
    ...     rows_by_value(session.inspected("job"))
    {'clerk': 9, 'nurse': 9, None: 9}
    """
    rows: dict[str | None, int] = {str(value): rows for value, rows in seen.profile.values.items()}
    return {**rows, None: seen.profile.missing} if seen.profile.missing else rows
