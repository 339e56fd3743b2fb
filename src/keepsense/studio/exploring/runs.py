"""The runs, next to each other."""

from __future__ import annotations

from typing import Any

from keepsense.display import percent
from keepsense.metrics import METRICS
from keepsense.studio.session.runs import Run
from keepsense.studio.widgets.figures import GROUPS, LEFT_OUT, SECONDS, TIME_LEFT, About, meaning_of, term
from keepsense.studio.widgets.parts import box, button, words
from keepsense.studio.widgets.room import Room

RISKS = ("prosecutor, highest", "prosecutor, average", "marketer")
"""The risks that are compared, by their names among the metrics."""


def runs_state(room: Room) -> list[tuple[int, str]]:
    """What the runs side by side depend on."""
    return [(run.number, run.state) for run in room.session.runs]


def done(room: Room) -> int:
    """How many runs went well."""
    return sum(run.state == "done" for run in room.session.runs)


def draw_runs(room: Room) -> None:
    """The runs that were made, one beside the other, and a button for one more."""
    runs = [run for run in room.session.runs if run.state in ("done", "refused")]
    going = room.session.running

    def start() -> None:
        room.session.start()
        room.desk.changed()

    if not runs:
        words(
            "p",
            "Try it on the whole table, change something, and try it again: the figures stand side by side here.",
            "small muted prose",
        )
    else:
        with box("scroll").props("tabindex=0 role=region aria-label='Runs side by side'"), box("plain runs", "table"):
            with box(tag="thead"), box(tag="tr"):
                words("td", "")
                for run in runs:
                    words("th", f"{run.number}. {run.name}", "data").props("scope=col")
            with box(tag="tbody"):
                _line("outcome", [_state(run, room) for run in runs])
                _line("detail lost", [percent(_mean_loss(run)) for run in runs], meaning_of("certainty penalty"))
                for name in RISKS:
                    figures = [run.figure("risk", "after", name) for run in runs]
                    shown = [percent(figure) if figure is not None else "–" for figure in figures]
                    _line(f"risk: {METRICS[name].label}", shown, meaning_of(name))
                _line("records left out", [_number(run.figure("suppressed records")) for run in runs], LEFT_OUT)
                _line("groups", [_number(run.figure("classes")) for run in runs], GROUPS)
                _line("seconds", [f"{run.seconds:.1f}" for run in runs], SECONDS)
                for column in room.session.project.quasi_identifiers:
                    figures = [run.figure("columns", column, "lost") for run in runs]
                    shown = [percent(figure) if figure is not None else "–" for figure in figures]
                    _line(f"{column} loses", shown, meaning_of("certainty penalty"))
    with box("line"):
        if going is None:
            button("Try it on the whole table", start, icon="play_arrow")
        else:
            with box().props("role=status"):
                term(f"A run is under way: {going.fraction:.0%}", *TIME_LEFT, "muted")
            button("Stop", going.cancel, look="danger")


def _line(name: str, cells: list[str], about: About | None = None) -> None:
    """A row of the table of runs: what it tells, and the figure of each run; both explain themselves."""
    with box(tag="tr"):
        with box(tag="th").props("scope=row"):
            if about:
                term(name, *about)
            else:
                words("span", name)
        for cell in cells:
            with box(tag="td"):
                if about:
                    term(cell, *about, "number")
                else:
                    words("span", cell)


def _state(run: Run, room: Room) -> str:
    now = " (as it stands now)" if run.text == room.session.text else ""
    return ("could be released" if run.state == "done" else "cannot be released") + now


def _mean_loss(run: Run) -> float | None:
    columns = run.figure("columns") or {}
    lost = [column["lost"] for column in columns.values() if "lost" in column]
    return sum(lost) / len(lost) if lost else None


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:,}"
