"""Output of commands: JSON for scripts, tables and a progress bar for people, nothing with `--quiet`."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from keepsense.display import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from keepsense.progress import Event, Listener


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object, for scripts.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")]


def show(result: dict[str, Any], render: Callable[[Console], None], *, as_json: bool, quiet: bool) -> None:
    """Print a command's result: as JSON, or as `render` draws it, or not at all."""
    if as_json:
        sys.stdout.write(json.dumps(result, ensure_ascii=False, indent=2) + "\n")
    elif not quiet:
        render(console())


def safe(text: object) -> str:
    """Text of the data inside a styled line: neither markup nor control characters of it have an effect."""
    from rich.markup import escape

    return escape(visible(text))


def console() -> Console:
    """Where tables go: as wide as the terminal, or wide enough to be searched where they are piped."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() or "COLUMNS" in os.environ else 160)


def table(title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], caption: str | None = None) -> Table:
    """A table in the one style of the project: numbers flush right, the last column in several lines if need be."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        title=Text(visible(title)), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, pad_edge=False
    )
    if caption:
        drawn.caption, drawn.caption_justify = Text(visible(caption)), "left"
    for j, name in enumerate(columns):
        numbers = bool(rows) and all(isinstance(row[j], int | float) or str(row[j]).endswith("%") for row in rows)
        last = j == len(columns) - 1 and not numbers
        justify: Literal["left", "right"] = "right" if numbers else "left"
        drawn.add_column(Text(visible(name)), justify=justify, header_style="cyan", no_wrap=not last)
    for row in rows:
        *cells, last_cell = (Text(visible(_cell(v)), _style(v), no_wrap=True, overflow="ellipsis") for v in row)
        last_cell.no_wrap = False
        drawn.add_row(*cells, last_cell)
    return drawn


class Share(float):
    """A number from 0 to 1 that is shown the fainter the larger it is: near things stand out."""


def _style(value: object) -> str:
    if not isinstance(value, Share):
        return ""
    return (
        ""
        if value <= 0
        else "bold green"
        if value < 0.35
        else "green"
        if value < 0.5
        else ""
        if value < 0.7
        else "bright_black"
    )


def _cell(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: ""}[value]
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


# A progress bar with the time left: only on a terminal, on standard error

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
