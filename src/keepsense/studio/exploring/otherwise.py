"""Alternatives: a column with twice its weight, or another method."""

from __future__ import annotations

from keepsense.display import percent
from keepsense.methods.method import METHODS
from keepsense.release.figures.alternatives import Tried
from keepsense.release.figures.trade import FACTOR, Trade
from keepsense.studio.widgets.figures import GROUPS, About, counted, meaning_of, said, term
from keepsense.studio.widgets.parts import box, button, complaint, named, words
from keepsense.studio.widgets.room import Room

_TRADED = About(
    "What the column would keep if its loss counted twice, and what the others would lose for it.",
    "The method runs twice, with the weight as it is and with twice as much, on the same combinations of values; the "
    "share of detail that each column loses is measured both times.",
)
_QUICK = "A quick try mostly loses more than the panel shows: what counts is how the two figures of a line differ."
_MEASURED = About("On what the offers below rest.", _TRADED.how)
_TRIED = About(
    "Why the method cannot be used for this table and these promises.",
    "It was run on the table, or on some of its combinations of values where there are many.",
)


def draw_weighed(room: Room, found: Trade | None) -> None:
    """What each column would keep if it weighed twice, with the click that does it."""
    if found is None:
        words("p", "With this method, or these columns, weights cannot be traded.", "small muted prose")
        return
    said(f"{found.measured[:1].upper()}{found.measured[1:]}. {_QUICK}", _MEASURED, "small muted prose")
    wrong = complaint()
    for offer in found.offers:
        with box("line"):
            said(f"{offer.sentence}.", _TRADED, "grow small prose", "span")
            weight = FACTOR * room.session.project.columns[offer.column].weight
            take = button(
                "Do it",
                lambda c=offer.column, w=weight: room.do(
                    room.session.set_weight, c, w, complain=lambda text: setattr(wrong, "text", text)
                ),
                look="quiet",
            )
            named(take, f"Let {offer.column} weigh twice")


def draw_others(room: Room, tried: list[Tried]) -> None:
    """What other methods lose, the best first, with the click that uses one."""
    if not tried:
        words("p", "There is no other method to compare this one with.", "small muted prose")
        return
    words(
        "p",
        "The same table and promises with other methods that make values vaguer, on some of the rows where there are "
        "many.",
        "small muted prose",
    )
    wrong = complaint()
    for one in sorted(tried, key=lambda found: (bool(found.problem), found.penalty or 1.0)):
        with box("line"):
            words("span", METHODS[one.method].title if one.method in METHODS else one.method, "strong grow")
            if one.problem:
                said(one.problem, _TRIED, "small muted", "span")
                continue
            term(f"loses {percent(one.penalty)}", *meaning_of("certainty penalty"), "small number")
            term(counted(one.classes, "group"), *GROUPS, "small muted number")
            use = button(
                "Use it",
                lambda name=one.method: room.do(
                    room.session.set_method, name, complain=lambda text: setattr(wrong, "text", text)
                ),
                look="quiet",
            )
            named(use, f"Use {one.method}")
