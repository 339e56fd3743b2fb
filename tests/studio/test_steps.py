"""Steps on the left are marked in place: a click on one is never lost because the list was drawn anew."""

from __future__ import annotations

from typing import Any

from nicegui import Client
from nicegui.page import page

from keepsense.studio.shell import StepMark


class Room:
    page = "open"

    def go(self, name: str) -> None:
        self.page = name


def test_a_step_is_marked_in_place() -> None:
    room: Any = Room()
    with Client(page("/steps"), request=None):
        mark = StepMark("protect", "4", room)
        made = mark._made
        mark.show("ahead", "Not looked at yet.", here=False)
        assert "ahead" in made.classes
        assert "aria-current" not in made.props
        mark.show("done", "Looked at.", here=True)
    assert mark._made is made
    assert made.props["aria-current"] == "page"
    assert made.classes == ["step", "done"]
    assert (mark._dot.text, mark._state.text) == ("✓", "Done")
    with made:
        mark.show("stale", "Something changed.", here=False)
    assert "aria-current" not in made.props
    assert (mark._dot.text, mark._state.text) == ("4", "Look again")
