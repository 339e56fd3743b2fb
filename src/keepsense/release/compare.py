"""Compare project files: each is run without a release, verified and measured."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from keepsense.engines.protocol import Engine
from keepsense.errors import BadInput, Infeasible, KeepsenseError
from keepsense.progress import Listener, emit
from keepsense.project.project_file import read_project
from keepsense.release.run import run
from keepsense.secure_random import Random


@dataclass(frozen=True, eq=False)
class Compared:
    """What one project file would release, or why it would not.

    >>> Compared("a.toml", "optimal", [], "k = 5 cannot be met").ok
    False
    """

    project: str
    method: str
    promises: list[dict[str, Any]]
    problem: str = ""
    description: dict[str, Any] | None = None
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether it would be released."""
        return self.description is not None

    def figure(self, *keys: str) -> Any:
        """A figure of the description, or None where there is none: `figure("risk", "after", "marketer")`."""
        figure: Any = self.description
        for key in keys:
            figure = figure.get(key) if isinstance(figure, dict) else None
        return figure


def compare(
    projects: Sequence[str | Path],
    *,
    rng: Random = None,
    engine: str | Engine | None = None,
    listener: Listener | None = None,
) -> list[Compared]:
    """Run project files into temporary folders and collect what each promises, loses, risks and costs.

    A project whose goal cannot be met is reported as such, so that the others can still be compared. The ledgers stay
    as they are, and the releases are deleted.

    >>> compare([])
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: name at least one project file to compare
    """
    if not projects:
        raise BadInput("name at least one project file to compare")
    read = [(Path(path), read_project(path)) for path in projects]
    compared = []
    for number, (path, project) in enumerate(read):
        emit(listener, "stage", number, len(read), stage=path.name)
        start = time.perf_counter()
        problem, description = "", None
        with tempfile.TemporaryDirectory(prefix="keepsense-") as folder:
            try:
                description = run(project, folder=path.parent, into=folder, rng=rng, engine=engine).description
            except Infeasible as error:
                problem = str(error)
            except KeepsenseError as error:
                raise type(error)(f"{path.name}: {error}") from None
        seconds = time.perf_counter() - start
        compared.append(Compared(str(path), project.method.name, project.privacy, problem, description, seconds))
    return compared
