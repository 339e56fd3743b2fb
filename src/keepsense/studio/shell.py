"""The frame around the pages: steps on the left, the preview on the right, the bar on top.

Each tab is drawn once and then updated: a timer sees that the open table has changed, and parts that look different are
redrawn. At 390 pixels the steps lie on top and the panel is a sheet from below.
"""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui
from nicegui.element import Element

from keepsense.studio.findings import draw_findings
from keepsense.studio.pages import PAGES
from keepsense.studio.serving.desk import Desk
from keepsense.studio.session.steps import STEPS
from keepsense.studio.widgets.figures import ROWS, term
from keepsense.studio.widgets.panel import draw_panel, panel_state
from keepsense.studio.widgets.parts import box, button, empty, icon_button, named, words
from keepsense.studio.widgets.room import Room
from keepsense.studio.widgets.theme import stylesheet

_EVERY = 0.15
"""Seconds after which a tab looks whether something changed."""

_STATES = {"done": "Done", "decide": "Needs a decision", "stale": "Look again", "ahead": "Not looked at yet", "": ""}
_WITHOUT_TABLE = ("open", "catalogue", "help")


def add_pages(desk: Desk, upload_limit: int) -> None:
    """Serve the studio's pages; every address of a step shows the same room."""
    desk.upload_limit = upload_limit

    @ui.page("/")
    def first() -> None:
        Tab(desk, "open")

    @ui.page("/step/{name}")
    def step(name: str) -> None:
        Tab(desk, name if name in PAGES else "open")


class Tab:
    """One tab: the parts of the room, and what each showed last."""

    def __init__(self, desk: Desk, page: str) -> None:
        self.desk = desk
        self.room = Room(desk, self._show, page)
        self._version = -1
        self._session: object = desk.session
        self._shown: dict[str, object] = {}
        self._marks: dict[str, StepMark] = {}
        self._dark = ui.dark_mode(desk.dark)
        ui.add_css(stylesheet())
        ui.query("html").props("lang=en")
        words("a", "Skip to the work", "skip").props("href=#work")
        with box("room"):
            self._top = box("top", "header")
            self._steps = named(box("steps", "nav"), "Steps")
            with named(box("centre", "section").props("id=work tabindex=-1"), "Work"):
                self._centre = box("work")
                self._findings = named(box("findings", "section"), "Findings")
            with named(box("panel", "aside"), "What this release would look like") as self._panel:
                handle = box("handle", "button").props("type=button aria-expanded=false")
                with handle:
                    ui.icon("expand_less").props("aria-hidden=true")
                    words("span", "What this release would look like", "grow")
                handle.on("click", lambda: self._lift(handle))
                self._figures = box("stack wide")
        self._show(self.room.page)
        self._keep_up()
        ui.timer(_EVERY, self._keep_up)

    def _lift(self, handle: Element) -> None:
        """Raise or lower the sheet."""
        up = "up" not in self._panel.classes
        self._panel.classes(toggle="up")
        handle.props(f"aria-expanded={'true' if up else 'false'}")

    def _show(self, page: str) -> None:
        """Draw a page in the centre."""
        self._centre.clear()
        with self._centre:
            if self.desk.session is None and page not in _WITHOUT_TABLE:
                empty("No table is open yet", "Open one first: a file of yours, or the sample.", PAGES[page].icon)
                with box("line"):
                    button("Open a table", lambda: self.room.go("open"), look="primary")
            else:
                PAGES[page].draw(self.room)
        ui.navigate.history.replace(f"/step/{page}")
        self._draw_steps()
        self._draw_findings()

    def _keep_up(self) -> None:
        """Draw anew what changed since this tab looked last."""
        if self._version == self.desk.version:
            return
        self._version = self.desk.version
        if self._session is not self.desk.session:
            self._session = self.desk.session
            self._shown.clear()
            self.room.refresh()
        else:
            self.room.changed()
        self._draw_top()
        self._draw_steps()
        self._again("panel", self._figures, panel_state(self.desk), lambda: draw_panel(self.desk, self.room))
        self._draw_findings()

    def _again(self, part: str, into: Element, state: object, draw: Callable[[], None]) -> None:
        """Draw a part anew where it would look different."""
        if self._shown.get(part) == (state,):
            return
        self._shown[part] = (state,)
        into.clear()
        with into:
            draw()

    # ---- the top -------------------------------------------------------------------------------------------------

    def _draw_top(self) -> None:
        session = self.desk.session
        state = None
        if session is not None:
            state = (session.name, session.rows, session.undoes, session.redoes, session.saved, session.conflict)
        self._again("top", self._top, state, self._top_bar)

    def _top_bar(self) -> None:
        session = self.desk.session
        words("span", "Keepsense studio", "brand")
        if session is not None:
            with box("file small narrow-hidden"):
                words("span", f"{session.name} · ", "data")
                term(f"{session.rows:,} rows", *ROWS)
        box("spread")
        if session is not None:
            words("span", self._saving(), "small muted narrow-hidden").props("role=status")
            undo = icon_button("undo", f"Undo: {session.undoes}" if session.can_undo else "Nothing to undo", self._undo)
            undo.set_enabled(session.can_undo)
            redo = icon_button("redo", f"Redo: {session.redoes}" if session.can_redo else "Nothing to redo", self._redo)
            redo.set_enabled(session.can_redo)
        with box("wide-hidden"):
            icon_button("menu_book", "Catalogue", lambda: self.room.go("catalogue"))
        icon_button("contrast", "Light or dark", self._turn)
        icon_button("help_outline", "Help", lambda: self.room.go("help"))

    def _saving(self) -> str:
        session = self.desk.session
        if session is None:
            return ""
        if session.saved:
            return f"Saved to {session.file.name}"
        return "Not saved: look at the findings"

    def _undo(self) -> None:
        if self.desk.session is not None and self.room.do(self.desk.session.undo):
            self.room.refresh()

    def _redo(self) -> None:
        if self.desk.session is not None and self.room.do(self.desk.session.redo):
            self.room.refresh()

    def _turn(self) -> None:
        """From what the system says to light, to dark, and back."""
        following: dict[bool | None, bool | None] = {None: True, True: False, False: None}
        self.desk.dark = following[self.desk.dark]
        self._dark.value = self.desk.dark

    # ---- the steps -----------------------------------------------------------------------------------------------

    def _draw_steps(self) -> None:
        """Mark how far each step is; what is there stays, since a click on what is drawn anew would be lost."""
        session = self.desk.session
        states = {} if session is None else {step.name: (step.state, step.why) for step in session.steps}
        if not self._marks:
            with self._steps:
                for number, name in enumerate((name for name in STEPS if name in PAGES), start=1):
                    self._marks[name] = StepMark(name, str(number), self.room)
                with box("further"):
                    for name in PAGES:
                        if name not in STEPS:
                            self._marks[name] = StepMark(name, "?" if name == "help" else "≡", self.room)
        for name, mark in self._marks.items():
            mark.show(*states.get(name, ("", "")), here=name == self.room.page)

    # ---- below ---------------------------------------------------------------------------------------------------

    def _draw_findings(self) -> None:
        draw_findings(self.desk, self.room, self._again_findings)

    def _again_findings(self, state: object, draw: Callable[[], None]) -> None:
        self._again("findings", self._findings, state, draw)


class StepMark:
    """A step on the left: its number, its name, how far it is, and the click that leads there."""

    def __init__(self, name: str, number: str, room: Room) -> None:
        self._name, self._number = name, number
        self._shown: tuple[str, str, bool] | None = None
        with box("step", "button").props("type=button") as self._made:
            self._dot = words("span", number, "dot").props("aria-hidden=true")
            words("span", PAGES[name].title, "name")
            self._state = words("span", "", "state")
            self._hint = ui.tooltip("").classes("narrow-hidden")
            self._hint.props('delay=600 anchor="center right" self="center left"')
        self._made.props["data-step"] = name
        self._made.on("click", lambda: None if name == room.page else room.go(name))

    def show(self, state: str, why: str, *, here: bool) -> None:
        """Show how far the step is, and whether its page is the one that is shown."""
        if self._shown == (state, why, here):
            return
        self._shown = (state, why, here)
        self._made.classes(replace=f"step {state}".strip())
        if here:
            self._made.props("aria-current=page")
        else:
            self._made.props(remove="aria-current")
        self._dot.text = "✓" if state == "done" else self._number
        self._state.text = _STATES[state]
        self._state.set_visibility(bool(state))
        self._hint.text = f"{PAGES[self._name].about} {why}".strip()
