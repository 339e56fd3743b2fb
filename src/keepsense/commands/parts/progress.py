"""A bar with the time left while something runs: on a terminal, on standard error, and nowhere else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

    from keepsense.progress import Event, Listener

# how often the bar may move: a method can tell of a hundred thousand nodes a second
_PAUSE = 0.1
# told once, at the end of a stage: nothing to count
_ONCE = ("counted", "decided", "verified", "start", "done", "chosen")


@contextmanager
def progress(*, quiet: bool, what: str = "working") -> Iterator[Listener | None]:
    """A listener that draws a bar, or None where nobody would see it."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=30),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield _Listener(bar, what)


class _Listener:
    """Turns events into bars: one for the stages of the whole, one for what the stage at hand counts."""

    def __init__(self, bar: Progress, what: str) -> None:
        import time

        self._clock = time.monotonic
        self._bar = bar
        self._whole = bar.add_task(what, total=None)
        self._inner: TaskID | None = None
        self._seen = 0.0

    def __call__(self, event: Event) -> None:
        if event.name == "stage":
            self._drop()
            stage = str(event.details.get("stage", "working"))
            self._bar.update(self._whole, description=stage, completed=event.done, total=event.total)
            return
        now = self._clock()
        if event.total is None or event.name in _ONCE or now - self._seen < _PAUSE:
            return
        self._seen = now
        about = f"  {_plural(event.name)}"
        if self._inner is None:
            self._inner = self._bar.add_task(about)
        self._bar.update(self._inner, description=about, completed=event.done, total=event.total)

    def _drop(self) -> None:
        if self._inner is not None:
            self._bar.remove_task(self._inner)
            self._inner = None


def _plural(name: str) -> str:
    return name if name.endswith("s") else f"{name}s"
