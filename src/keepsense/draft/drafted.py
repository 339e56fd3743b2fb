"""A project for a table that has no project file: as `keepsense init` would draft it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from keepsense.draft.write import draft
from keepsense.errors import BadInput, did_you_mean
from keepsense.project.file import Project, check_project
from keepsense.project.inspection.inspect import inspect


def drafted(
    file: Path, *, target: str | None = None, sensitive: str | None = None, engine: str | None = None
) -> Project:
    """The draft of a project for a file, with the columns that are to be predicted and protected as given here.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> project = drafted(job.folder / "people.csv", target="illness")
    >>> project.quasi_identifiers, project.having("target")
    (('age', 'job', 'likes'), ('illness',))
    """
    data = tomllib.loads(draft(inspect(str(file), engine=engine), source={"path": file.name}))
    columns: dict[str, dict[str, Any]] = data["columns"]
    for role, name in (("target", target), ("sensitive", sensitive)):
        if name is None:
            continue
        if name not in columns:
            raise BadInput(f"{file.name}: there is no column {name!r}.{did_you_mean(name, list(columns))}")
        columns[name]["role"] = role
    return check_project(data, file.name)
