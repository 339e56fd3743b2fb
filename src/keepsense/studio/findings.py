"""Below the work: what should be looked at, each with the click that settles it."""

from __future__ import annotations

from collections.abc import Callable

from keepsense.studio.desk import Desk
from keepsense.studio.parts import box, button, words
from keepsense.studio.room import Room


def draw_findings(desk: Desk, room: Room, again: Callable[[object, Callable[[], None]], None]) -> None:
    """Draw the findings where they changed; `again` draws them into their place."""
    session = desk.session
    if session is None:
        again(None, lambda: None)
        return
    conflict = session.conflict

    def draw() -> None:
        if conflict:
            with box("stop").props("role=alert"):
                words("p", conflict, "strong")
                with box("line"):
                    button("Take theirs", lambda: _settle(room, session.reload))
                    button("Keep mine", lambda: _settle(room, lambda: session.save(force=True)))

    again(conflict, draw)


def _settle(room: Room, settle: Callable[[], None]) -> None:
    if room.do(settle):
        room.desk.changed()
        room.refresh()
