"""Rows before and after, next to each other, from the newest preview."""

from __future__ import annotations

from keepsense.studio.session.plain import but_for
from keepsense.studio.session.preview import Preview
from keepsense.studio.widgets.figures import WORKED_OUT, said
from keepsense.studio.widgets.following import following
from keepsense.studio.widgets.parts import box, rows, words
from keepsense.studio.widgets.room import Room


def preview_of(room: Room) -> Preview | None:
    """The newest preview, if there is one."""
    live = room.desk.live
    return live.preview if live is not None and isinstance(live.preview, Preview) else None


def draw_rows(room: Room) -> None:
    """The rows, kept up with every new preview."""
    following(room, lambda: _seen(room), lambda: _rows(room))


def _seen(room: Room) -> tuple[object, ...]:
    live = room.desk.live
    return () if live is None else (id(live.preview), live.problem, live.waiting and live.preview is None)


def _rows(room: Room) -> None:
    """The rows of the newest preview: each cell as it is, and as it would be released."""
    live, shown = room.desk.live, preview_of(room)
    if shown is None:
        waiting = live is not None and live.waiting
        words("p", "Working it out …" if waiting else (live.problem if live else ""), "small muted").props(
            "role=status"
        )
        return
    if shown.problem:
        with box("stop").props("role=alert"):
            words("p", "Nothing can be released like this", "strong")
            words("p", but_for(shown.problem, shown.remedies), "prose")
            for remedy in shown.remedies:
                words("p", f"You could {remedy}.", "small prose")
    if shown.note:
        said(shown.note, WORKED_OUT, "small muted prose")
    names = shown.after.names or shown.before.names
    at = [shown.before.names.index(name) for name in names]
    before = [tuple(row[i] for i in at) for row in shown.before.cells]
    if shown.after.cells:
        words("p", "What becomes vaguer shows both: above what it was, below what is released.", "small muted prose")
        rows(names, shown.after.cells, before=before, about="Rows before and after")
    else:
        rows(names, before, about="Rows before")
