"""The panel on the right: the preview of the release, computed again after every change."""

from __future__ import annotations

from nicegui import ui

from keepsense.studio.serving.desk import Desk
from keepsense.studio.session.plain import but_for
from keepsense.studio.session.preview import Kept, Preview
from keepsense.studio.session.rows import Rows
from keepsense.studio.widgets.figures import LEFT_OUT, WORKED_OUT, Told, figure, loss, promise, said, told
from keepsense.studio.widgets.parts import box, rows, words
from keepsense.studio.widgets.room import Room

_ROWS = 5


def panel_state(desk: Desk) -> object:
    """What the panel shows: it is drawn anew when this changes."""
    live = desk.live
    return None if live is None else (id(live.preview), live.problem, live.waiting, live.aged)


def draw_panel(desk: Desk, room: Room) -> None:
    """Draw the panel."""
    words("h2", "What this release would look like", "narrow-hidden")
    live = desk.live
    if live is None:
        words("p", "Open a table, and see here what its release would look like, whatever you change.", "small muted")
        return
    with box("line tight status").props("role=status"):
        if live.waiting:
            ui.spinner(size="1rem").classes("accent")
            early = live.preview.note if live.preview is not None and not live.aged else ""
            said(
                f"{early} Working out the rest …" if early else "Working it out …",
                WORKED_OUT,
                "small muted grow",
                "span",
            )
        elif live.preview is not None:
            said(live.preview.note or "Worked out on all rows.", WORKED_OUT, "small muted", "span")
    if live.problem:
        _problem(live.problem, ())
    if live.preview is not None:
        with box("stack wide" + (" aged" if live.aged else "")):
            _preview(live.preview)


def _preview(seen: Preview) -> None:
    if seen.problem:
        _problem(seen.problem, seen.remedies)
    with box("pair"):
        figure(
            f"{seen.at_risk:,}",
            "at risk now",
            f"Records that fewer than {seen.k} people share: somebody who knows a few facts could pick them out.",
            f"Records are grouped by all quasi-identifiers as they are in the table; those in groups of fewer than "
            f"{seen.k} are counted, of {seen.records:,} in all.",
        )
        figure(
            "–" if seen.at_risk_after is None or seen.problem else f"{seen.at_risk_after:,}",
            "at risk after",
            "The same, counted in the release as it would be now.",
            "Records are grouped by all quasi-identifiers as they would be released, and counted in the same way. "
            "Suppressed records are not in the release, and so at no risk.",
        )
    if seen.lost:
        with box("stack wide"):
            words("h3", "Detail lost, column by column")
            for name, share in seen.lost.items():
                loss(name, share)
            if seen.suppressed:
                left_out = Told(f"{seen.suppressed:,} of {seen.records:,} records", LEFT_OUT)
                told(left_out, " would be left out.", classes="small muted")
    if seen.promises:
        with box("stack"):
            words("h3", "Promises")
            for kept in seen.promises:
                _promise(kept)
    _rows(seen)


def _promise(kept: Kept) -> None:
    marks = {True: ("✓", "good", "kept"), False: ("✗", "bad", "not kept"), None: ("?", "muted", "not known yet")}
    mark, look, word = marks[kept.kept]
    with box("line tight top-aligned"):
        words("span", mark, f"strong {look}").props("aria-hidden=true")
        promise(kept.promise, kept.model, "small grow breaks")
        words("span", word, f"small {look} nowrap")


def _rows(seen: Preview) -> None:
    """Five rows before and after, of the columns that change."""
    names = [name for name in seen.before.names if name in seen.lost] or list(seen.before.names[:4])
    before = _columns(seen.before, names)
    with box("stack"):
        words("h3", "Five rows, before and after" if seen.after.cells else "Five rows, as they are")
        if seen.after.cells:
            rows(names, _columns(seen.after, names), before=before, about="Five rows before and after")
        else:
            rows(names, before, about="Five rows as they are")


def _columns(table: Rows, names: list[str]) -> list[list[str | None]]:
    places = [table.names.index(name) if name in table.names else None for name in names]
    return [[None if i is None else cells[i] for i in places] for cells in table.cells[:_ROWS]]


def _problem(problem: str, remedies: tuple[str, ...]) -> None:
    with box("stop").props("role=alert"):
        words("p", "Nothing could be released like this", "strong")
        words("p", but_for(problem, remedies), "small breaks")
        for remedy in remedies:
            words("p", f"You could {remedy}.", "small breaks")
