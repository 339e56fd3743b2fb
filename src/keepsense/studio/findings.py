"""Findings below the page, each with the click that resolves it."""

from __future__ import annotations

from collections.abc import Callable

from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from keepsense.studio.pages import PAGES
from keepsense.studio.serving.desk import Desk
from keepsense.studio.session.advice import Advice
from keepsense.studio.session.plain import as_sentence
from keepsense.studio.session.remedies import Remedy
from keepsense.studio.widgets.figures import of_finding, said
from keepsense.studio.widgets.parts import box, button, complaint, words
from keepsense.studio.widgets.room import Room

_FIRST = 4
"""Findings that are shown before somebody asks for the others."""


def draw_findings(desk: Desk, room: Room, again: Callable[[object, Callable[[], None]], None]) -> None:
    """Draw the findings where they changed; `again` draws them into their place."""
    session, live = desk.session, desk.live
    if session is None or live is None:
        again(None, lambda: None)
        return
    conflict = session.conflict
    # questions about roles stand on top of the first step, with their answers
    listed = [advice for advice in live.advice if not any(remedy.agrees for remedy in advice.remedies)]
    here = room.page
    listed.sort(key=lambda advice: (not advice.code.startswith("E"), advice.step != here))
    state = (conflict, here, tuple((advice.code, advice.where, advice.message) for advice in listed))
    again(state, lambda: _draw(room, conflict, listed))


def _draw(room: Room, conflict: str, listed: list[Advice]) -> None:
    if conflict:
        with box("stop").props("role=alert"):
            words("p", conflict, "strong")
            wrong = complaint()
            with box("line"):
                button("Take theirs", lambda: _settle(room, room.session.reload, wrong))
                button("Keep mine", lambda: _settle(room, lambda: room.session.save(force=True), wrong))
    if not listed:
        return
    words("h2", "To look at")
    for advice in listed[:_FIRST]:
        _finding(room, advice)
    rest = listed[_FIRST:]
    if rest:
        more = box("stack wide")
        with more:
            button(f"{len(rest)} more", lambda: _show(room, more, rest), look="quiet")


def _show(room: Room, place: Element, rest: list[Advice]) -> None:
    place.clear()
    with place:
        for advice in rest:
            _finding(room, advice)


def _finding(room: Room, advice: Advice) -> None:
    with box("note stack finding" + (" edge-red" if advice.code.startswith("E") else "")):
        text = as_sentence(advice.where, advice.message)
        said(text, of_finding(advice.code), "small breaks", heading="What to do")
        wrong = complaint()
        if advice.remedies or (advice.step != room.page and advice.step in PAGES):
            with box("line tight"):
                for remedy in advice.remedies:
                    button(
                        remedy.text,
                        lambda r=remedy: settle(room, r, wrong),
                        look="quiet" if remedy.notes else "outlined",
                    )
                if not advice.remedies:
                    button(f"Go to {PAGES[advice.step].title}", lambda: room.go(advice.step), look="quiet")


def settle(room: Room, remedy: Remedy, wrong: TextElement) -> None:
    """Do what a click on a remedy does: change the project, or go to the field where somebody has to decide."""
    if remedy.step:
        room.go_to(remedy.step, remedy.field)
    else:
        _settle(room, lambda: room.session.settle(remedy), wrong)


def _settle(room: Room, settle: Callable[[], None], wrong: TextElement) -> None:
    if room.do(settle, complain=lambda text: setattr(wrong, "text", text)):
        room.desk.changed()
        room.refresh()
