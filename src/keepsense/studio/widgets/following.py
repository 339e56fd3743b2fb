"""Parts of a page that follow the session: computed in a thread, redrawn where they would look different."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from nicegui import ui
from nicegui.element import Element

from keepsense.studio.session.document import Outdated
from keepsense.studio.widgets.parts import box, words
from keepsense.studio.widgets.room import Room

T = TypeVar("T")

_A_WHILE = 0.1
"""Seconds between looks whether the preview is done."""


def following(
    room: Room, state: Callable[[], object], draw: Callable[[], None], classes: str = "stack wide"
) -> Element:
    """A part that is drawn anew whenever its state is another one."""
    holder = box(classes)
    shown: list[object] = []

    def show() -> None:
        now = state()
        if shown != [now] and not holder.is_deleted:
            shown[:] = [now]
            holder.clear()
            with holder:
                draw()

    show()
    room.on_change(show)
    return holder


def worked_out(
    room: Room,
    state: Callable[[], object],
    work: Callable[[], T],
    draw: Callable[[T], None],
    waiting: str,
    classes: str = "stack wide",
) -> Element:
    """A part for which something takes a while: a line says so, then it is drawn; again whenever its state changes."""
    around = box("stack")
    with around:
        holder = box(classes)
    asked: list[object] = []

    async def fill() -> None:
        now = state()
        if asked == [now]:
            return
        asked[:] = [now]
        holder.clear()
        with holder, box("line tight").props("role=status"):
            ui.spinner(size="1rem").classes("accent")
            words("span", waiting, "small muted")
        wrong: list[str] = []
        made = await _when_free(room, work, wrong.append, lambda: holder.is_deleted or asked != [now])
        if holder.is_deleted or asked != [now]:
            return
        holder.clear()
        with holder:
            if wrong:
                words("p", wrong[0], "error").props("role=alert")
            elif made is not None:
                draw(made)

    def again() -> None:
        if not holder.is_deleted and asked != [state()]:
            with around:  # a timer inside what it clears would end itself
                ui.timer(0, fill, once=True)

    with around:
        ui.timer(0, fill, once=True)
    room.on_change(again)
    return around


async def _when_free(
    room: Room, work: Callable[[], T], complain: Callable[[str], None], left: Callable[[], bool]
) -> T | None:
    """Do long work after the preview, which goes first: where the project changes meanwhile, it is begun again."""
    while True:
        while room.desk.live is not None and room.desk.live.waiting and not left():
            await asyncio.sleep(_A_WHILE)
        if left():
            return None
        try:
            return await room.work(work, complain=complain)
        except Outdated:
            await asyncio.sleep(_A_WHILE)


def when_settled(slider: ui.slider, choose: Callable[[float], object], seconds: float = 0.3) -> None:
    """Call a function with the value of a slider once it rests, whether it was dragged or moved by keys."""
    moves = [0]

    def moved() -> None:
        moves[0] += 1
        mine = moves[0]

        def rested() -> None:
            if moves[0] == mine and not slider.is_deleted and slider.value is not None:
                choose(float(slider.value))

        with slider.parent_slot.parent if slider.parent_slot is not None else slider:
            ui.timer(seconds, rested, once=True)

    slider.on_value_change(moved)
