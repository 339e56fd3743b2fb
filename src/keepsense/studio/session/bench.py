"""A cache between projects that follow one another: what was read, counted, mapped and built is used again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from keepsense.counts import Value
from keepsense.engines.protocol import Engine, engine
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.dp_promises import differentially_private
from keepsense.progress import Listener, emit
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column, Project
from keepsense.release.job.job import Job
from keepsense.secure_random import generator
from keepsense.studio.session.rows import ROWS, first_values
from keepsense.studio.session.turns import Turns

_JOBS = 12
"""Projects that stay open, so that undoing and trying another k is quick."""
_SENSES = ("kind", "taxonomy", "domain", "within", "mapping", "senses", "language", "suggestions", "delimiter")
_SHAPES = (*_SENSES, "distance", "hierarchy", "choose", "order", "missing")


@dataclass(frozen=True, eq=False)
class RememberedMeaning(Meaning):
    """What values mean, with the hierarchies that were built for a column so far.

    >>> words = RememberedMeaning({"age": Column(kind="numeric")})
    >>> rows = {"20": 2, "21": 3, "24": 2, "26": 2}
    >>> words.hierarchy("age", rows) is words.hierarchy("age", rows)
    True
    """

    built: dict[tuple[Any, ...], Hierarchy] = field(default_factory=dict, repr=False)

    def hierarchy(self, name: str, rows: Mapping[Value, int], least: int | None = None) -> Hierarchy:
        """The hierarchy of a column, read or built once."""
        file = self.folder / str(self.column(name).hierarchy)
        written = file.stat().st_mtime_ns if file.is_file() else None
        key = (name, _said(self.column(name), _SHAPES), least, written, frozenset(rows.items()))
        if key not in self.built:
            self.built[key] = super().hierarchy(name, rows, least)
        return self.built[key]


class Bench:
    """An engine with the jobs of one table, each made from the last as far as they agree.

    >>> from keepsense.release.example import example_job
    >>> example = example_job()
    >>> with Bench(example.folder) as bench:
    ...     four = bench.job(example.project)
    ...     three = bench.job(example.project.model_copy(update={"privacy": [{"model": "k-anonymity", "k": 3}]}))
    ...     three.source is four.source, three.models
    (True, [KAnonymity(k=3)])
    """

    def __init__(self, folder: Path, options: Mapping[str, Any] | None = None) -> None:
        self.folder = folder
        self.lock = Turns()
        """Held by whoever computes: an engine does one thing at a time."""
        self._options = dict(options or {})
        self._engine: Engine | None = None
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._first: tuple[object, list[dict[str, Value]]] = (None, [])

    @property
    def engine(self) -> Engine:
        """The engine that holds the rows, started when first asked for."""
        if self._engine is None:
            self._engine = engine(**self._options)
        return self._engine

    def job(self, project: Project) -> Job:
        """A project, opened; one that was open before as it was."""
        key = project.model_dump_json()
        if key in self._jobs:
            self._jobs.move_to_end(key)
            return self._jobs[key]
        job = Job(project, self.folder, self.engine, generator(0))
        last = next(reversed(self._jobs.values()), None)
        meaning = self._meaning(project, job, last)
        vars(job)["meaning"] = meaning
        earlier = next((other for other in reversed(self._jobs.values()) if _reads_alike(job, other)), None)
        if earlier is not None:
            vars(job)["source"] = earlier.source
        self._jobs[key] = job
        while len(self._jobs) > _JOBS:
            self._jobs.popitem(last=False)
        return job

    def _meaning(self, project: Project, job: Job, last: Job | None) -> RememberedMeaning:
        if last is None or not isinstance(last.meaning, RememberedMeaning):
            return RememberedMeaning(project.columns, self.folder, count=job.count)
        before = last.meaning
        same = {
            name
            for name, column in project.columns.items()
            if name in before.columns and _said(column, _SENSES) == _said(before.column(name), _SENSES)
        }
        mapped = {key: value for key, value in before._mapped.items() if key[0] in same}
        return replace(before, columns=project.columns, count=job.count, _mapped=mapped)

    def first_rows(self, job: Job, rows: int = ROWS) -> list[dict[str, Value]]:
        """The first rows of the table, read once while they are read alike."""
        source, known = self._first
        if source is not job.source or len(known) < rows:
            self._first = (job.source, first_values(job, rows))
        return self._first[1][:rows]

    def with_hierarchies(self, job: Job, listener: Listener | None = None) -> Job:
        """The job with its hierarchies; the listener hears how far it is, and may end it."""
        if "hierarchies" not in vars(job):
            for number, name in enumerate(job.quasi_identifiers, start=1):
                job.hierarchy(name)
                emit(listener, "hierarchy", number, len(job.quasi_identifiers))
        return job

    def forget(self) -> None:
        """Read everything anew: a file that is read besides, a mapping or a hierarchy, was written."""
        self._jobs.clear()
        self._first = (None, [])

    def close(self) -> None:
        """End the engine and forget everything."""
        self.forget()
        if self._engine is not None:
            self._engine.close()
            self._engine = None

    def __enter__(self) -> Bench:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _said(column: Column, keys: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(repr(getattr(column, key)) for key in keys)


def _reads_alike(job: Job, other: Job) -> bool:
    """Whether two projects read the same rows in the same way, so that what is counted of one holds for the other."""
    mine, theirs = _read(job), _read(other)
    return mine == theirs


def _read(job: Job) -> list[object]:
    project = job.project
    coarse = {n: (c.width, c.level, _said(c, _SHAPES)) for n, c in project.columns.items() if c.coarse}
    return [
        project.source,
        project.population,
        project.unlisted,
        sorted(project.columns),
        {name: (column.empty, column.format, column.within) for name, column in project.columns.items()},
        sorted(project.as_text),
        coarse,  # their outermost bands hold k rows; those of an earlier k do for looking ahead
        differentially_private(job.models),
    ]
