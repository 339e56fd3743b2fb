"""On the right, always: what this release would look like, worked out again after every change."""

from __future__ import annotations

from nicegui import ui

from keepsense.studio.desk import Desk
from keepsense.studio.parts import box, words
from keepsense.studio.room import Room


def panel_state(desk: Desk) -> object:
    """What the panel shows: it is drawn anew when this changes."""
    live = desk.live
    return None if live is None else (id(live.preview), live.problem, live.waiting)


def draw_panel(desk: Desk, room: Room) -> None:
    """Draw the panel."""
    words("h2", "What this release would look like", "narrow-hidden")
    live = desk.live
    if live is None:
        words(
            "p", "Open a table, and you see here what its release would look like, whatever you change.", "small muted"
        )
        return
    if live.waiting:
        with box("line tight").props("role=status"):
            ui.spinner(size="1rem").classes("accent")
            words("span", "Working it out …", "small muted")
