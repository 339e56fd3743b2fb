"""A full run without a release: its progress, the time left, and a way to stop it."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from keepsense.studio.session.plain import but_for
from keepsense.studio.session.runs import Run
from keepsense.studio.widgets.figures import GROUPS, LEFT_OUT, RELEASED, SECONDS, TIME_LEFT, Told, counted, term, told
from keepsense.studio.widgets.parts import box, button, named, words
from keepsense.studio.widgets.room import Room


class FullRun:
    """A rehearsal of the whole: how far it is, how long it still takes, and a way to stop it."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._place = box("stack wide")
        self._bar: Any = None
        self._line: Any = None
        self._shown: object = None
        self._show()
        room.on_change(self._show)
        self._timer = ui.timer(0.3, self._move)

    def _last(self) -> Run | None:
        runs = self._room.session.runs
        return runs[-1] if runs else None

    def _show(self) -> None:
        run = self._last()
        state = None if run is None else (run.number, run.state, run.text == self._room.session.text)
        if self._shown == (state,) or self._place.is_deleted:
            return
        self._shown = (state,)
        self._place.clear()
        with self._place:
            if run is not None and not run.ended:
                self._going(run)
            else:
                if run is not None:
                    self._ended(run)
                with box("line"):
                    button("Try it on the whole table", self._start, icon="play_arrow")

    def _start(self) -> None:
        self._room.session.start()
        self._show()

    def _going(self, run: Run) -> None:
        with box("line"):
            with box("grow").props("role=status"):
                self._line = term("", *TIME_LEFT, "")
            button("Stopping …" if run.state == "stopping" else "Stop", self._stop, look="danger", icon="stop")
        self._bar = ui.linear_progress(run.fraction, show_value=False)
        named(self._bar, "How much of the run is done")
        self._move()

    def _stop(self) -> None:
        run = self._last()
        if run is not None:
            run.cancel()
        self._show()

    def _move(self) -> None:
        run = self._last()
        if run is None or run.ended or self._bar is None or self._bar.is_deleted:
            return
        self._bar.value = run.fraction
        left = "" if run.left is None else f", about {_time(run.left)} left"
        self._line.text = f"{run.stage[:1].upper()}{run.stage[1:]}: {run.fraction:.0%}{left}"

    def _ended(self, run: Run) -> None:
        if run.state == "done":
            with box("kept"):
                told(
                    "It can be released: every promise holds, checked in ",
                    Told(_time(run.seconds), SECONDS),
                    ".",
                    classes="strong",
                )
                told(
                    Told(counted(run.figure("records"), "record"), RELEASED),
                    " in ",
                    Told(counted(run.figure("classes"), "group"), GROUPS),
                    ", ",
                    Told(f"{run.figure('suppressed records'):,} left out", LEFT_OUT),
                    ".",
                    classes="small",
                )
                if run.text != self._room.session.text:
                    words("p", "Something has changed since: try it again.", "small muted")
        else:
            with box("stop" if run.state == "refused" else "note").props("role=alert"):
                words("p", "It cannot be released like this." if run.state == "refused" else "Stopped.", "strong")
                words("p", but_for(run.problem, run.remedies), "prose")
                for remedy in run.remedies:
                    words("p", f"You could {remedy}.", "small prose")


def _time(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 90:
        return f"{whole} second{'' if whole == 1 else 's'}"
    return f"{round(whole / 60)} minutes"
