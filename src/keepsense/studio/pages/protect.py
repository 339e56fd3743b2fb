"""Step four: the promises, the method, and their effect on the rows after every change."""

from __future__ import annotations

from keepsense.studio.pages import PAGES, Page
from keepsense.studio.protecting.full_run import FullRun
from keepsense.studio.protecting.method import Method
from keepsense.studio.protecting.promises import Promises
from keepsense.studio.protecting.weights import Weights
from keepsense.studio.widgets.parts import box, button, head, words
from keepsense.studio.widgets.room import Room
from keepsense.studio.widgets.side_by_side import draw_rows


def draw(room: Room) -> None:
    """Promises, the method, weights, the rows, and the full run."""
    head(
        "Protect",
        "Say how well people must be hidden, and how. The rows below and what the release would look like follow every "
        "change.",
    )
    Promises(room)
    Method(room)
    Weights(room)
    with box("card"):
        words("h2", "Twenty rows before and after")
        draw_rows(room)
    with box("card"):
        words("h2", "The whole table")
        words(
            "p",
            "Goes all the way, and checks the result by reading it back, but releases nothing: that is the last step.",
            "small muted prose",
        )
        FullRun(room)
    with box("line"):
        button("Go on to Explore", lambda: _go_on(room), look="primary", icon="arrow_forward")


def _go_on(room: Room) -> None:
    room.session.confirm("protect")
    room.go("explore")


PAGES.add("protect", Page("Protect", "Say how well people must be hidden, and see what that does.", "shield", draw))
