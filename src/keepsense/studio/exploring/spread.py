"""Distributions of values in the table and in the last run, and the chance of being recognized in both."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from keepsense.display import percent
from keepsense.metrics import METRICS
from keepsense.studio.exploring.runs import RISKS
from keepsense.studio.session.distributions import Spread, before_and_after
from keepsense.studio.session.runs import Run
from keepsense.studio.widgets.figures import About, Told, counted, meaning_of, term, told
from keepsense.studio.widgets.parts import bar, box, empty, words
from keepsense.studio.widgets.room import Room

_VALUES = About("How many different values the column shows.", "Different values are counted, each once.")
_SHARE = About(
    "Share of the records that have this value.",
    "Records with the value divided by all records, in the table or in what would be released.",
)


def draw_distributions(room: Room) -> None:
    """How the values of a column are spread in the table and in the last run; the risk of both."""
    run = next((run for run in reversed(room.session.runs) if run.state == "done"), None)
    if run is None or run.outcome is None:
        empty("Nothing to compare yet", "Try it on the whole table first: the button is further up.", "bar_chart")
        return
    _risk(run)
    names = [name for name in run.outcome.counts.names if name in run.outcome.after.names]
    which = ui.select(names, value=names[0], label="Column").props("dense outlined options-dense").classes("kind")
    place = box("two")

    def show() -> None:
        both = before_and_after(run, str(which.value))
        place.clear()
        if both is not None:
            with place:
                _spread("Before", both[0], "before")
                _spread("After", both[1], "")

    which.on_value_change(show)
    show()


def _spread(title: str, spread: Spread, look: Any) -> None:
    with box("stack"):
        with box("line tight"):
            words("h3", title)
            term(counted(spread.values, "value"), *_VALUES, "small muted")
        for value, share in spread.shares:
            with box("line tight"):
                words("span", value, "grow small breaks data")
                term(percent(share), *_SHARE, "small number")
            bar(share, f"{value}: {percent(share)}", look)
        if spread.rest > 1e-9:
            told("All others together: ", Told(percent(spread.rest), _SHARE), classes="small muted")


def _risk(run: Run) -> None:
    """The chance of being recognized before and after, as bars."""
    words("h3", "The chance of being recognized")
    for name in RISKS:
        before, after = (run.figure("risk", when, name) for when in ("before", "after"))
        if before is None:
            continue
        with box("line"):
            term(f"{METRICS[name].label[:1].upper()}{METRICS[name].label[1:]}", *meaning_of(name), "small strong")
        for when, share, look in (("before", before, "before"), ("after", after, "")):
            if share is not None:
                with box("line tight"):
                    words("span", when, "small muted").style("width: 3.5rem")
                    with box("grow"):
                        bar(share, f"{name} {when}: {percent(share)}", look)  # type: ignore[arg-type]
                    term(percent(share), *meaning_of(name), "small number")
