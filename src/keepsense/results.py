"""What the front door returns: a release with its frame, columns, figures and report; comparisons of several."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, overload

from keepsense.display import Shown, Summary, percent
from keepsense.errors import BadInput, Finding

if TYPE_CHECKING:
    from keepsense.draft.inspection import Inspection
    from keepsense.recoding import Recoding
    from keepsense.release.run import Outcome
    from keepsense.verification.check_result import Verification

F = TypeVar("F")
G = TypeVar("G")


class ArrowTable(Protocol):
    """What a release of a file is read into: a `pyarrow.Table`, by what most programs ask of one.

    >>> import pyarrow
    >>> table: ArrowTable = pyarrow.table({"job": ["nurse", "clerk"]})
    >>> table.num_rows, table.column_names
    (2, ['job'])
    """

    @property
    def num_rows(self) -> int:
        """Number of rows."""

    @property
    def column_names(self) -> list[str]:
        """Names of the columns, in order."""

    def to_pydict(self) -> dict[str, list[object]]:
        """The columns as lists."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """How other libraries take the rows over."""


@dataclass(frozen=True)
class ReleasedColumn:
    """One column of the table that came in: its role and why, and what became of it.

    `guessed` says that nobody gave the role. `before` and `after` are numbers of different values, `lost` the share of
    the column's detail that is gone; both are None where a column was not recoded, or is gone.

    >>> ReleasedColumn("id", "identifier", "nominal", "its name says id", True, False).released
    False
    """

    name: str
    role: str
    kind: str
    reason: str
    guessed: bool
    released: bool
    how: str = ""
    before: int | None = None
    after: int | None = None
    lost: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Release(Shown, Generic[F]):
    """A verified release: `frame` is of the kind that came in.

    >>> import keepsense as ks
    >>> release = ks.anonymize({"age": [31, 34, 38, 52, 55, 58] * 5}, k=5, quasi_identifiers=["age"])
    >>> release
    <Release: verified, 30 records in 6 classes, 0 suppressed>
    >>> release.columns[0].role, release.columns[0].lost
    ('quasi-identifier', 0.0)
    """

    outcome: Outcome
    inspection: Inspection | None = None
    _like: object = None
    _again: Callable[[object, Path], Release[Any]] | None = None

    @cached_property
    def frame(self) -> F:
        """The released rows, read back from the file that the verifier checked."""
        from keepsense.engines.protocol import started

        job = self.outcome.job
        if self.outcome.table is not None:
            raise BadInput("the release is a table of a database; read it there")
        from keepsense.release.folder.place import read_released

        with started(job.engine.name) as rows:
            rows_read = read_released(job, self.outcome.file, rows)
            frame: F = rows.frame(rows_read, self._like, recoded=(*job.every_quasi_identifier, *job.coarse))
        return frame

    @cached_property
    def columns(self) -> tuple[ReleasedColumn, ...]:
        """Every column that came in: its role and why, and what became of it."""
        from keepsense.draft.inspection import SAID
        from keepsense.release.changes import changes, how_released

        job = self.outcome.job
        seen = {} if self.inspection is None else {column.name: column for column in self.inspection.columns}
        reasons = {
            name: seen[name].reason if name in seen else "as the project file says" for name in job.columns.names
        }
        recoded = {change.column: change for change in changes(self.outcome)}
        columns = []
        for name in job.columns.names:
            said, change = job.project.columns.get(name), recoded.get(name)
            columns.append(
                ReleasedColumn(
                    name,
                    "insensitive" if said is None else said.role,
                    "nominal" if said is None else said.kind,
                    reasons[name],
                    name in seen and reasons[name] != SAID,
                    name in job.released,
                    change.how if change else how_released(self.outcome, name),
                    change.values if change else None,
                    change.released if change else None,
                    change.lost if change else None,
                )
            )
        return tuple(columns)

    @property
    def verification(self) -> Verification:
        """What the independent verifier found when it read the release back."""
        return self.outcome.verification

    @property
    def description(self) -> Mapping[str, object]:
        """The public description that goes with the data: promises, method, figures; no seed, no value of a person."""
        return self.outcome.description

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What to look at, though nothing forbade the release."""
        return tuple(self.outcome.findings)

    @property
    def risk(self) -> Mapping[str, Mapping[str, float]]:
        """Risk of being recognized `before` and `after`, by attack."""
        figures: Mapping[str, Mapping[str, float]] = self.outcome.description["risk"]
        return figures

    @property
    def utility(self) -> Mapping[str, float]:
        """What was lost, by every cheap metric that applies."""
        figures: Mapping[str, float] = self.outcome.description["utility"]
        return figures

    @property
    def recoding(self) -> tuple[Recoding, ...]:
        """What became of which value, as data. It belongs to the publisher: with it, changes can be undone."""
        return (*self.outcome.recodings, *self.outcome.set_recodings)

    def report(self, path: str | PathLike[str], audience: Literal["internal", "public"] = "internal") -> Path:
        """Write the report as one HTML page that needs no network; the internal one shows original distributions."""
        from keepsense.report.report import write_report

        return write_report(self.outcome, Path(path), audience)

    def apply(self, data: G) -> Release[G]:
        """Recode another table, next month's say, by the same rules; refused where the promise would break."""
        if self._again is None:
            raise BadInput("this release was made from a project file; use run(project, reuse=...) for another table")
        return self._again(data, self.outcome.file.parent / "private" / "recoding.json")

    def save(self, folder: str | PathLike[str]) -> Path:
        """Copy the release with its description and, in `private`, its recoding into a new folder; gives the file."""
        target = Path(folder)
        if target.exists() and any(target.iterdir()):
            raise BadInput(f"{target.name}: the folder is not empty; name a new one")
        shutil.copytree(self.outcome.file.parent, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
        (target / "private").chmod(0o700)
        return target / self.outcome.file.name

    def summary(self) -> Summary:
        """The verdict, and what became of each column."""
        told = self.outcome.description
        verdict = "verified" if self.verification.ok else "NOT verified"
        rows = [(c.name, c.role + (" (guessed)" if c.guessed else ""), c.how, percent(c.lost)) for c in self.columns]
        return Summary(
            f"{verdict}, {told['records']:,} records in {told['classes']:,} classes, "
            f"{told['suppressed records']:,} suppressed",
            ("column", "role", "released", "lost"),
            rows,
            [*told["in words"], *(str(finding) for finding in self.findings)],
        )


@dataclass(frozen=True)
class Trial:
    """One way to release a table: its figures, or why it could not be done.

    >>> Trial("optimal", problem="k = 5 cannot be met").ok
    False
    """

    name: str
    problem: str = ""
    seconds: float = 0.0
    description: Mapping[str, object] | None = None

    @property
    def ok(self) -> bool:
        """Whether it would be released."""
        return self.description is not None

    def figure(self, *keys: str) -> float | None:
        """A figure of the description, such as `figure("utility", "certainty penalty")`; None where there is none."""
        figure: object = self.description
        for key in keys:
            figure = figure.get(key) if isinstance(figure, Mapping) else None
        return float(figure) if isinstance(figure, int | float) else None


@dataclass(frozen=True, repr=False)
class Comparison(Shown, Sequence[Trial]):
    """Several ways to release a table, side by side; nothing was released.

    >>> Comparison((Trial("optimal", problem="k = 5 cannot be met"),))
    <Comparison: 0 of 1 can be released>
    """

    trials: tuple[Trial, ...]

    @overload
    def __getitem__(self, index: int) -> Trial: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Trial, ...]: ...
    def __getitem__(self, index: int | slice) -> Trial | tuple[Trial, ...]:
        return self.trials[index]

    def __len__(self) -> int:
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        return iter(self.trials)

    def summary(self) -> Summary:
        """How many can be released, and a line for each."""
        rows = [
            (
                t.name,
                "yes" if t.ok else t.problem,
                percent(t.figure("utility", "certainty penalty")),
                percent(t.figure("risk", "after", "prosecutor, highest")),
                f"{t.seconds:.1f} s",
            )
            for t in self.trials
        ]
        done = sum(t.ok for t in self.trials)
        return Summary(
            f"{done} of {len(self.trials)} can be released",
            ("what", "can be released", "certainty lost", "highest risk", "time"),
            rows,
        )
