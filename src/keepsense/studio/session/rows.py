"""Rows as they are shown: text in cells, empty where a value is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from keepsense.counts import Value
from keepsense.release.job.job import Job

ROWS = 20
"""Rows that are shown before and after."""


@dataclass(frozen=True)
class Rows:
    """Some rows of a table as text, the way they are shown; an empty cell is None.

    >>> Rows(("age",), (("31",), (None,))).cells[1]
    (None,)
    """

    names: tuple[str, ...]
    cells: tuple[tuple[str | None, ...], ...]


def spelled(value: object) -> str | None:
    """A value as it is shown; the items of a set are parted by semicolons.

    >>> spelled(31.0), spelled(("tea", "chess")), spelled(None)
    ('31.0', 'tea; chess', None)
    """
    if value is None:
        return None
    return "; ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def first_values(job: Job, rows: int) -> list[dict[str, Value]]:
    """The first rows of a job's table, each value by its column, as counts hold them.

    >>> from keepsense.release.example import example_job
    >>> first_values(example_job(), 1)[0]["job"]
    'nurse'
    """
    listed: list[dict[str, Value]] = []
    with job.engine.reader(job.table, in_order=True) as reader:
        for batch in reader:
            listed += batch.slice(0, rows - len(listed)).to_pylist()
            if len(listed) >= rows:
                break
    return [{name: tuple(v) if isinstance(v, list) else v for name, v in row.items()} for row in listed]


def as_text(names: tuple[str, ...], values: Sequence[Mapping[str, Value]]) -> Rows:
    """Some columns of rows, as they are shown.

    >>> as_text(("age",), [{"age": 31, "job": "nurse"}])
    Rows(names=('age',), cells=(('31',),))
    """
    return Rows(names, tuple(tuple(spelled(row[name]) for name in names) for row in values))
