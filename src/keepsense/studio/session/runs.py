"""Full runs, in a thread of their own, with progress, time left and a way to stop."""

from __future__ import annotations

import tempfile
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from shutil import rmtree
from threading import Event as Flag
from threading import Thread
from typing import Any, Literal

from keepsense.errors import Finding, Infeasible, KeepsenseError
from keepsense.progress import Event
from keepsense.project.project_file import Project
from keepsense.release.run import STAGES, Outcome, run
from keepsense.verification.check_result import Verification

RunState = Literal["running", "stopping", "done", "refused", "cancelled"]

_SHARES: Mapping[str, float] = dict(zip(STAGES, (0.08, 0.6, 0.06, 0.06, 0.12, 0.08), strict=True))
"""What part of a run each stage takes, before one was made that tells."""


class Cancelled(Exception):
    """Somebody stopped a run."""


@dataclass(eq=False)
class Run:
    """A run, while it goes on and afterwards: `state`, `stage`, `fraction` and `left` (seconds) tell how far it is.

    With `rehearsed` nothing is released: the release lies in a folder of its own until the session ends, and figures
    can be compared. What was refused has its `problem` and `remedies` as sentences. `text` is the project file that was
    run.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> made = Run(1, job.project, job.folder, "", rehearsed=True).start().wait()
    >>> made.state, made.outcome.verification.ok, made.fraction, made.left
    ('done', True, 1.0, 0.0)
    """

    number: int
    project: Project
    folder: Path
    text: str
    rehearsed: bool = True
    shares: Mapping[str, float] = field(default_factory=lambda: _SHARES)
    told: Callable[[], None] = field(default=lambda: None, repr=False)
    state: RunState = "running"
    stage: str = STAGES[0]
    outcome: Outcome | None = None
    problem: str = ""
    remedies: tuple[str, ...] = ()
    verification: Verification | None = None
    seconds: float = 0.0
    name: str = ""
    _inner: float = 0.0
    _begun: float = 0.0
    _stop: Flag = field(default_factory=Flag, repr=False)
    _thread: Thread | None = field(default=None, repr=False)
    _into: str | None = field(default=None, repr=False)

    def start(self) -> Run:
        """Begin; comes back at once."""
        self._begun = time.perf_counter()
        self._thread = Thread(target=self._work, name=f"run {self.number}", daemon=True)
        self._thread.start()
        return self

    def wait(self, seconds: float | None = None) -> Run:
        """Come back when it has ended, or after so many seconds."""
        if self._thread is not None:
            self._thread.join(seconds)
        return self

    def cancel(self) -> None:
        """Stop it at its next step; nothing of it stays behind."""
        if self.state == "running":
            self.state = "stopping"
            self._stop.set()

    def discard(self) -> None:
        """Remove what a rehearsal left."""
        if self._into is not None:
            rmtree(self._into, ignore_errors=True)
            self._into = None

    @property
    def ended(self) -> bool:
        """Whether it is over, in whatever way."""
        return self.state not in ("running", "stopping")

    @property
    def fraction(self) -> float:
        """How much of it is done, from 0 to 1."""
        if self.ended:
            return 1.0
        before = sum(self.shares.get(stage, 0.0) for stage in STAGES[: STAGES.index(self.stage)])
        return min(0.99, before + self._inner * self.shares.get(self.stage, 0.0))

    @property
    def elapsed(self) -> float:
        """Seconds since it began, or that it took."""
        return self.seconds if self.ended else time.perf_counter() - self._begun

    @property
    def left(self) -> float | None:
        """Seconds that are left, guessed from what is done; None while that says nothing yet."""
        if self.ended:
            return 0.0
        return None if self.fraction < 0.02 else self.elapsed * (1 - self.fraction) / self.fraction

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What to look at, though nothing forbade the release."""
        return () if self.outcome is None else tuple(self.outcome.findings)

    def figure(self, *keys: str) -> Any:
        """A figure of the description, or None where there is none: `figure("risk", "after", "marketer")`."""
        figure: Any = None if self.outcome is None else self.outcome.description
        for key in keys:
            figure = figure.get(key) if isinstance(figure, Mapping) else None
        return figure

    def _work(self) -> None:
        if self.rehearsed:
            self._into = tempfile.mkdtemp(prefix="keepsense-studio-")  # only its owner may look into it
            weakref.finalize(self, rmtree, self._into, ignore_errors=True)
        try:
            self.outcome = run(self.project, folder=self.folder, into=self._into, listener=self._hear)
            self.verification = self.outcome.verification
            ended: RunState = "done"
        except Cancelled:
            self.problem, ended = "You stopped it; nothing was released.", "cancelled"
        except Infeasible as error:
            self.verification = error.best if isinstance(error.best, Verification) else None
            self.problem, self.remedies, ended = str(error), tuple(error.relax), "refused"
        except KeepsenseError as error:
            self.problem, self.remedies, ended = str(error), error.remedies, "refused"
        except Exception as error:  # a bug of ours ends the run, not the studio
            self.problem, ended = f"Something went wrong that is our fault ({type(error).__name__}).", "refused"
        self.seconds = time.perf_counter() - self._begun
        self.state = ended
        if self.outcome is None:
            self.discard()
        self.told()

    def _hear(self, event: Event) -> None:
        if self._stop.is_set():
            raise Cancelled
        if event.name == "stage":
            self.stage, self._inner = str(event.details["stage"]), 0.0
        elif event.fraction is not None:
            self._inner = max(self._inner, event.fraction)


def shares_of(made: Run) -> dict[str, float]:
    """What part of a run each stage took, to tell how long the next will take.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> round(sum(shares_of(Run(1, job.project, job.folder, "").start().wait()).values()), 6)
    1.0
    """
    if made.outcome is None:
        return dict(made.shares)
    whole = sum(made.outcome.seconds.values()) or 1.0
    return {stage: made.outcome.seconds.get(stage, 0.0) / whole for stage in STAGES}
