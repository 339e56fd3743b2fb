"""Step five: the space of solutions, what became of the table, and several runs next to each other."""

from __future__ import annotations

from keepsense.studio.exploring.otherwise import draw_others, draw_weighed
from keepsense.studio.exploring.runs import done, draw_runs, runs_state
from keepsense.studio.exploring.space import draw_space
from keepsense.studio.exploring.spread import draw_distributions
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.session import solutions
from keepsense.studio.session.division import division
from keepsense.studio.widgets.following import following, worked_out
from keepsense.studio.widgets.parts import box, button, head, words
from keepsense.studio.widgets.room import Room
from keepsense.studio.widgets.side_by_side import draw_rows


def draw(room: Room) -> None:
    """Solutions, runs compared, distributions, and what if a column weighed twice."""
    head(
        "Explore",
        "Look at what else could be released: other solutions of this method, other methods, other weights. Nothing "
        "here is released; what you like, you take.",
    )
    with box("card"):
        words("h2", "Other solutions")
        worked_out(
            room,
            lambda: room.session.text,
            lambda: (solutions.lattice(room.session), division(room.session)),
            lambda made: draw_space(room, *made),
            "Looking at the space of solutions …",
        )
    with box("card"):
        words("h2", "Runs side by side")
        following(room, lambda: runs_state(room), lambda: draw_runs(room))
    with box("card"):
        words("h2", "Twenty rows before and after")
        draw_rows(room)
    with box("card"):
        words("h2", "Distributions and risk")
        following(room, lambda: done(room), lambda: draw_distributions(room))
    with box("card"):
        words("h2", "What if a column weighed twice?")
        worked_out(
            room,
            lambda: room.session.text,
            lambda: (solutions.weighed_twice(room.session),),
            lambda made: draw_weighed(room, made[0]),
            "Trying it column by column …",
        )
    with box("card"):
        words("h2", "Other methods")
        worked_out(
            room,
            lambda: room.session.text,
            lambda: (solutions.others(room.session),),
            lambda made: draw_others(room, made[0]),
            "Trying other methods …",
        )
    with box("line"):
        button("Go on to Release", lambda: _go_on(room), look="primary", icon="arrow_forward")


def _go_on(room: Room) -> None:
    room.session.confirm("explore")
    room.go("release")


PAGES.add("explore", Page("Explore", "Look at other solutions, and compare.", "explore", draw))
