"""The hierarchy of a column in a project: from its file, or built for its kind and its own values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies import Hierarchy, build_hierarchy, read_hierarchy
from keepsense.hierarchies.build import with_missing

if TYPE_CHECKING:
    from keepsense.release.job import Job

_WORDS = ("nominal", "set")


def hierarchy_of(job: Job, name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """Hierarchy of one column over exactly the values it has (a missing cell is a value of its own).

    >>> from keepsense.release.example import example_job
    >>> hierarchy_of(example_job(), "age", {"20": 2, "21": 3, "24": 2, "26": 2}).rows()[0]
    ('20', '[20, 21]', '*')
    """
    column = job.column(name)
    if column.hierarchy not in (None, "auto"):
        if not any(value is not None for value in rows):
            raise BadInput(f"column {name!r} is empty; drop it or give it another role")
        return with_missing(read_hierarchy(job.folder / str(column.hierarchy), name), rows, column.missing)
    words = column.taxonomy is not None and column.kind in _WORDS
    return build_hierarchy(
        rows,
        column.kind,
        name=name,
        order=column.order,
        taxonomy=job.taxonomy(name) if words else None,
        mapping=job.mapping(name, rows) if words else None,
        distance=column.distance,
        missing=column.missing,
    )
