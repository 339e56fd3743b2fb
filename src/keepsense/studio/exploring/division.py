"""The division of a table, as a tree: a click on a group shows other cuts of it, and their loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from nicegui import ui
from nicegui.element import Element

from keepsense.display import percent
from keepsense.methods.generalize.user_cuts import WHOLE, in_words
from keepsense.methods.method import METHODS
from keepsense.studio.session import division
from keepsense.studio.session.division import GATHERED, Cut, Group
from keepsense.studio.session.document import Outdated
from keepsense.studio.widgets.figures import About, counted, lost_of, meaning_of, said, term
from keepsense.studio.widgets.parts import bar, box, button, complaint, icon_button, named, pill, words
from keepsense.studio.widgets.room import Room

_GROUP = About(
    "Records that are in the group, after the cuts above it.",
    "Records are counted whose values lie inside the group; where only some combinations are shown, among these.",
)
_CHOSEN = About(
    "Cuts that you chose: they are made first, and below them the method goes on by itself.",
    "They stand in the project file as cuts: the whole table is called whole, its two parts are 1 and 2, the second "
    "part of the first is 12, and so on. The cuts above a part that you chose stand there, too.",
)
_MEAN = About(
    "Share of the detail that all columns of the table lose on average if the group is cut here.",
    "The cut is made where the method would make it in this column, everything below is divided as usual, and what "
    f"each column loses is measured. {meaning_of('certainty penalty').how}",
)
_MORE = About(
    "How much more, or less, the columns of the whole table lose on average than now.",
    "What they lose with this cut, minus what they lose as it is now. Cuts that are chosen, and those above them, keep "
    "records apart for good: none is exchanged across them in the end.",
)
_NOW = About("What the column loses as it is now.", meaning_of("certainty penalty").how)
_WHY = About(
    "What stands in the way of cutting the group at this column.",
    "The place is looked for where the method would cut in this column; each of the two parts must keep every promise.",
)
_ALIKE = 5e-4
"""Difference of two losses below which they are shown as equal."""


class Division:
    """The groups from the whole table down to classes; each can be opened, and pressed for what else it could be."""

    def __init__(self, room: Room, tree: Group) -> None:
        self._room, self._whole = room, tree.records
        self._own = division.own_cuts(room.session)
        self._names = tuple(tree.values)
        self._pressed: tuple[Element, Element] | None = None
        words("p", _ABOUT + (_PRESS if tree.part else _why_not(room, tree)), "small muted prose")
        self._wrong = complaint()
        draw_own_cuts(room, self._complain)
        self._group(division.pruned(tree), {}, opened=2)

    def _group(self, group: Group, above: Mapping[str, str], opened: int) -> None:
        """A group, and what is inside it where it is open; `above` tells at which columns those around it are cut."""
        size = counted(group.records, "record")
        arrow = None
        with box("group"):
            row, panel = box("line tight"), box("stack")
            with row:
                if group.parts:
                    arrow = icon_button("chevron_right", f"Open or close: {size}")
                term(size, *_GROUP, "small nowrap" if group.parts else "small nowrap strong leaf")
                self._handle(group, above, panel, size)
                if group.parts:
                    with box("grow share"):
                        bar(group.records / max(1, self._whole), f"{size} of {self._whole:,}")
                else:
                    words("span", _values(group), "small muted breaks data grow")
            inside = box("branch")
        inside.set_visibility(False)
        if arrow is None:
            return

        def toggle() -> None:
            inside.set_visibility(not inside.visible)
            if inside.visible and not inside.default_slot.children:
                with inside:
                    for part in group.parts:
                        self._group(part, {**above, group.part: group.column}, opened - 1)
            arrow.props(f"icon={'expand_more' if inside.visible else 'chevron_right'}")
            arrow.props(f"aria-expanded={'true' if inside.visible else 'false'}")

        arrow.props("aria-expanded=false").on_click(toggle)
        if opened > 0:
            toggle()

    def _handle(self, group: Group, above: Mapping[str, str], panel: Element, size: str) -> None:
        """What is pressed to see what else could be done with a group."""
        if not group.part:
            return
        text = f"cut by {group.column}" if group.column else "not cut"
        press = button(text, lambda: self._press(group, above, panel, press), look="quiet", icon="content_cut")
        press.classes("cut data").props("aria-expanded=false")
        named(press, f"What else could be done with {size}, {text}")
        if group.part in self._own:
            pill("your cut", "blue")

    async def _press(self, group: Group, above: Mapping[str, str], panel: Element, press: Element) -> None:
        """Show what else a group could be cut at, one column after the other as it is worked out."""
        again = self._pressed == (panel, press)
        if self._pressed is not None:
            self._pressed[0].clear()
            self._pressed[1].props("aria-expanded=false")
        self._pressed = None if again else (panel, press)
        if again:
            return
        press.props("aria-expanded=true")
        with panel, box("note stack wide"):
            with box("told prose", "p"):
                term(counted(group.records, "record"), *_GROUP, "")
                words("span", ", cut by " if group.column else ", not cut any further")
                words("span", group.column, "data")
                words("span", " now. What else they could be cut by, and what all columns would lose on average then:")
            lines = {name: Line(self, group, above, name) for name in self._names}
            if group.part in self._own:
                leave = button("Let the method choose here", lambda: self._leave(group.part))
                leave.classes("start")
        # the cut that is made now needs no work: it stands there while the others are worked out
        for name, line in sorted(lines.items(), key=lambda each: each[0] != group.column):
            try:
                cut = await self._room.work(self._look(group, above, name), complain=self._complain)
            except Outdated:
                return
            if panel.is_deleted or self._pressed != (panel, press):
                return
            if cut is not None:
                line.fill(cut)

    def _look(self, group: Group, above: Mapping[str, str], column: str) -> Callable[[], Cut]:
        session = self._room.session
        if column == group.column:
            return lambda: division.as_it_is(session, column)
        return lambda: division.attempt(session, group.part, above, column)

    async def use(self, group: Group, above: Mapping[str, str], column: str) -> None:
        """Let the release be cut so."""
        self._wrong.text = ""
        await self._room.work(division.cut_here, self._room.session, group.part, above, column, complain=self._complain)

    def _leave(self, part: str) -> None:
        self._room.do(division.leave_to_method, self._room.session, part, complain=self._complain)

    def _complain(self, text: str) -> None:
        self._wrong.text = text


class Line:
    """A column that a group could be cut at: whether it can, what would be lost, and the click that does it."""

    def __init__(self, tree: Division, group: Group, above: Mapping[str, str], column: str) -> None:
        self._tree, self._group, self._above, self._column = tree, group, above, column
        self._now = group.column == column
        with box("stack other-cut"):
            with box("line tight") as self._line:
                words("span", column, "grow strong breaks data")
                self._spinner = ui.spinner(size="1rem").classes("accent")
            self._figures, self._details = box("line tight"), box("stack")

    def fill(self, cut: Cut) -> None:
        """Show what was worked out."""
        self._spinner.delete()
        with self._figures:
            if not cut.safe:
                pill("cannot be cut", "red")
                said(f"{cut.why[:1].upper()}{cut.why[1:]}.", _WHY, "small muted prose")
                return
            pill("made now" if self._now else "keeps every promise", "blue" if self._now else "green")
            term(f"loses {percent(cut.mean)}", *_MEAN, "small number nowrap")
            if not self._now:
                term(_difference(cut.more), *_MORE, "small muted number nowrap")
        if not self._now:
            with self._line:
                show = button("Compare", lambda: self._compare(cut), look="quiet").classes("cut")
            named(show, f"Compare what each column loses if it is cut by {self._column}")

    def _compare(self, cut: Cut) -> None:
        """Open or close what each column would lose, beside what it loses now."""
        if self._details.default_slot.children:
            self._details.clear()
            return
        with self._details:
            with box("other-losses"):
                for name, share in cut.lost.items():
                    words("span", name, "small breaks data")
                    lost_of(name, share)
                    term(f"now {percent(cut.now.get(name)) or '–'}", *_NOW, "small muted number nowrap")
                    with box("stack"):
                        bar(share, f"{name}: {percent(share)} of its detail is lost", "bad" if share > 0.9 else "")
                        bar(cut.now.get(name, 0.0), f"{name}: {percent(cut.now.get(name))} now", "before")
            said(cut.note, _MEAN, "small muted prose")
            with box("line"):
                button(
                    f"Cut here by {self._column}",
                    lambda: self._tree.use(self._group, self._above, self._column),
                    look="primary",
                )
                words("span", "The preview, the rows and the next run follow; undo is on top.", "small muted grow")


_ABOUT = (
    "From the whole table down to groups in which nobody can be told apart. Shown on some of the rows where there are "
    "many. "
)
_PRESS = "Press what a group is cut by to see what else it could be cut by, and what that would lose."


def _why_not(room: Room, tree: Group) -> str:
    """Why no cut can be chosen."""
    title = METHODS[room.session.project.method.name].title
    if tree.column == GATHERED:
        return f"{title} gathers records into groups and cuts nothing, so there is no cut to choose."
    return f"{title} takes no cuts that somebody chose."


def draw_own_cuts(room: Room, complain: Callable[[str], None] | None = None) -> None:
    """The cuts that somebody chose, and the click that leaves them to the method again."""
    own = division.own_cuts(room.session)
    if not own:
        return
    listed = ", ".join(f"{in_words(part)} by {column}" for part, column in own.items())
    with box("line"):
        said(f"You chose these cuts: {listed}.", _CHOSEN, "grow breaks data", "span")
        button(
            "Let the method choose",
            lambda: room.do(division.leave_to_method, room.session, WHOLE, complain=complain),
        )


def draw_undivided(room: Room) -> None:
    """Why there is neither a lattice nor a division to show."""
    if division.own_cuts(room.session):
        words("p", "With these cuts the table cannot be divided; the panel says why.", "small muted prose")
        draw_own_cuts(room)
        return
    live = room.desk.live
    if live is not None and live.preview is not None and live.preview.problem:
        words("p", "Nothing can be released as things stand, so there is nothing to show; the panel says why.", "small")
        return
    words(
        "p",
        "This method changes values one by one: there is no lattice of levels and no division to show.",
        "small muted prose",
    )


def _values(group: Group) -> str:
    return ", ".join(f"{name}: {value}" for name, value in group.values.items() if value not in ("*", "None"))


def _difference(more: float) -> str:
    """How much more or less is lost, in words.

    >>> _difference(0.012), _difference(-0.2), _difference(0.0001)
    ('1.2% more', '20.0% less', 'as now')
    """
    if abs(more) < _ALIKE:
        return "as now"
    return f"{percent(abs(more))} {'more' if more > 0 else 'less'}"
