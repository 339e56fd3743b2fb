"""The columns of the open table: kind and role of each, the reasons, and fields that change them."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from keepsense.hierarchies.column_kinds import KINDS
from keepsense.project.roles import ROLES
from keepsense.studio.session.columns import ColumnView
from keepsense.studio.widgets.figures import About, counted, said, term
from keepsense.studio.widgets.parts import box, complaint, hint, named, pill, words
from keepsense.studio.widgets.room import Room

_VALUES = About(
    "Different values of the column: the more there are, the better they tell people apart.",
    "Every value that stands in at least one row is counted once; empty cells are not.",
)
_EMPTY = About(
    "Rows in which the column says nothing.", "Cells that are empty, or hold a mark that the project calls missing."
)
_GUESSED = About(
    "Why the column was given this role.",
    "Its name is compared with words that such columns are called by; of its values it is looked at how many there "
    "are, how many rows each has, and how they are written.",
)
_NOTED = About("What stands out in the column's values.", "All different values are looked at, each with its rows.")


def draw_legend() -> None:
    """The roles in their colours and the kinds of values, each with what it means."""
    words("h2", "Columns")
    with box("line tight"):
        for name, role in ROLES.items():
            hint(pill(name, role.colour), f"{role.about[:1].upper()}{role.about[1:]}.")
    with box("line tight"):
        words("span", "Kinds of values:", "small muted")
        for name, kind in KINDS.items():
            term(name, f"{kind.about[:1].upper()}{kind.about[1:]}: {kind.examples}.", "", "small")


def _role_field(room: Room, column: ColumnView, complain: Callable[[str], None]) -> ui.select:
    def choose(event: object) -> None:
        now = next(c.role for c in room.session.columns if c.name == column.name)
        if field.value == now:
            return
        complain("")
        if not room.do(room.session.set_role, column.name, field.value, complain=complain):
            field.value = now

    field = ui.select(list(ROLES), value=column.role, on_change=choose).props("dense outlined options-dense")
    field.classes("role")
    named(field, f"Role of {column.name}")
    return field


class Columns:
    """The list of columns: drawn once, then kept up in place, so that nobody loses the field they are in."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._lines: dict[str, tuple[Element, ui.select, ui.select, Element, str]] = {}
        self._reasons: dict[str, str] = {}
        self._wrong: dict[str, TextElement] = {}
        with box("card column-list"):
            for column in room.session.columns:
                self._draw(column)

    def _draw(self, column: ColumnView) -> None:
        with box(f"column-line edge-{column.colour}") as card:
            with box("stack about-column"):
                words("h3", column.name, "breaks")
                reason = box("stack")
                for note in column.notes:
                    said(note, _NOTED, "small muted")
            with box("stack"):
                term(counted(column.distinct, "value"), *_VALUES, "small number nowrap")
                if column.missing:
                    term(f"{column.missing:,} empty", *_EMPTY, "small muted number nowrap")
            wrong = complaint().classes("wrong-column")
            self._wrong[column.name] = wrong
            role = _role_field(self._room, column, lambda text: setattr(wrong, "text", text))
            kind = ui.select(list(KINDS), value=column.kind).props("dense outlined options-dense").classes("kind")
            named(kind, f"Kind of values of {column.name}")
            kind.on_value_change(lambda event, name=column.name: self._choose_kind(name, event.value))
            wrong.move(card)  # below the fields that it is about
        self._lines[column.name] = (card, role, kind, reason, column.colour)
        self._reasons[column.name] = ""

    def _choose_kind(self, name: str, kind: str) -> None:
        column = self._now(name)
        if kind == column.kind:
            return
        wrong = self._wrong[name]
        wrong.text = ""
        set_kind = self._room.session.set_kind
        if not self._room.do(set_kind, name, kind, complain=lambda text: setattr(wrong, "text", text)):
            self._lines[name][2].value = column.kind

    def _now(self, name: str) -> ColumnView:
        return next(column for column in self._room.session.columns if column.name == name)

    def show(self) -> None:
        """Show roles, kinds and reasons as they are now."""
        for column in self._room.session.columns:
            card, role, kind, reason, colour = self._lines[column.name]
            role.value, kind.value = column.role, column.kind
            kind.set_enabled(ROLES[column.role].described)
            text = f"{'' if column.sure else 'Please check: '}{column.reason}"
            if self._reasons[column.name] != text:
                self._reasons[column.name] = text
                reason.clear()
                with reason:
                    said(text, _GUESSED, "small muted")
            if colour != column.colour:
                card.classes(remove=f"edge-{colour}", add=f"edge-{column.colour}")
                self._lines[column.name] = (card, role, kind, reason, column.colour)
