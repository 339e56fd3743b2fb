"""Step three: candidate hierarchies with their cost, levels, and a tree that can be edited."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from keepsense.display import percent
from keepsense.hierarchies.hierarchy_faults import Explanation, Fix, Problem
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.session import trees
from keepsense.studio.session.columns import rows_by_value
from keepsense.studio.shaping.candidates import GSL, LABELS, CandidateList, Ranking
from keepsense.studio.widgets.figures import About, counted, said, term
from keepsense.studio.widgets.following import worked_out
from keepsense.studio.widgets.parts import bar, box, button, complaint, empty, head, hint, named, words
from keepsense.studio.widgets.room import Room
from keepsense.studio.widgets.tree_view import TreeView

_LEVEL = About(
    "A column is released at one level, or at different ones in different groups: the higher, the vaguer.",
    "Levels are counted from the values up: at level 1 every value is replaced by what stands above it, and so on.",
)
_FAULT = About(
    "Something in the tree that contradicts the taxonomy, or says less than it could.",
    "Every label is compared with what the taxonomy says is above and below it.",
)


def draw(room: Room) -> None:
    """The columns, and for the chosen one everything about its hierarchy."""
    head(
        "Hierarchies",
        "A hierarchy says what a value becomes when it must be vaguer: surgeon, then doctor, then health worker. Each "
        "column has one; choose among candidates, or shape the tree yourself.",
    )
    columns = trees.tree_columns(room.session)
    if not columns:
        empty(
            "No column is made vaguer",
            "Only quasi-identifiers have hierarchies: columns that others may know. Give such columns that role first.",
            "account_tree",
        )
        return
    _Work(room, columns)

    def changed() -> None:
        if trees.tree_columns(room.session) != columns:
            room.refresh()

    room.on_change(changed)


class _Work:
    """The page: which column is worked on, its tree, faults and candidates."""

    def __init__(self, room: Room, columns: tuple[str, ...]) -> None:
        self._room, self._columns = room, columns
        self._ranking = Ranking()
        wanted = getattr(room.desk, "hierarchy_column", columns[0])
        self._column = wanted if wanted in columns else columns[0]
        with box("line"):
            tabs = ui.toggle(list(columns), value=self._column, on_change=lambda event: self._choose(event.value))
            named(tabs.props("no-caps unelevated toggle-color=primary").classes("columns-toggle"), "Column to work on")
        self._place = box("stack wide")
        self._draw()
        with box("line"):
            button("Go on to Protect", self._go_on, look="primary", icon="arrow_forward")

    def _go_on(self) -> None:
        self._room.session.confirm("hierarchies")
        self._room.go("protect")

    def _choose(self, column: str) -> None:
        self._column = column
        self._room.desk.hierarchy_column = column  # type: ignore[attr-defined]
        self._place.clear()
        self._draw()

    def _state(self) -> Callable[[], object]:
        """What the hierarchy of the column depends on; not on k, for which the others are looked at."""
        room, column = self._room, self._column

        def state() -> object:
            said = room.session.project.columns.get(column)
            return None if said is None else repr(said.model_dump(exclude={"weight"}))

        return state

    def _draw(self) -> None:
        room, column = self._room, self._column
        with self._place:
            with box("card"):
                with box("line"):
                    words("h2", f"The tree of {column}", "grow breaks")
                    button("From a file", self._from_file, look="quiet", about="Use a hierarchy file of your own.")
                    if room.session.project.columns[column].hierarchy not in (None, "auto"):
                        button("Back to automatic", self._automatic, look="quiet", about="Let it be built again.")
                self._wrong = complaint()
                worked_out(
                    room,
                    self._state(),
                    lambda: (
                        trees.current(room.session, column),
                        trees.losses(room.session, column),
                        trees.explained(room.session, column),
                    ),
                    lambda made: self._tree(*made),
                    "Building the hierarchies …",
                )
            with box("card"):
                words("h2", "Candidates")
                worked_out(
                    room,
                    lambda: (self._state()(), repr(room.session.project.privacy)),
                    lambda: trees.candidates(room.session, column),
                    CandidateList(room, column, self._ranking, self._complain).draw,
                    "Trying other hierarchies …",
                )

    def _complain(self, text: str) -> None:
        self._wrong.text = text

    # ---- the tree ----------------------------------------------------------------------------------------------------

    def _tree(self, hierarchy: Any, losses: tuple[float, ...], told: Explanation | None) -> None:
        room, column = self._room, self._column
        faults = () if told is None else told.problems
        self._levels(hierarchy, losses)
        if faults:
            self._faults(faults)
        words(
            "p",
            "Drag a label onto another one to move it there; the menu beside each label does the same and more. Undo "
            "is on top.",
            "small muted prose narrow-hidden",
        )

        async def change(operation: str, **arguments: Any) -> str:
            wrong: list[str] = []
            await room.work(lambda: trees.change(room.session, column, operation, **arguments), complain=wrong.append)
            return wrong[0] if wrong else ""

        TreeView(hierarchy, rows_by_value(room.session.inspected(column)), faults, change, self._mend)

    def _levels(self, hierarchy: Any, losses: tuple[float, ...]) -> None:
        """How much meaning each level loses, as a chart, with what can be done to the level."""
        with box("levels"):
            for level in range(hierarchy.height, -1, -1):
                name = "values" if level == 0 else f"level {level}"
                labels = len(hierarchy.labels[level])
                term(name, *_LEVEL, "small strong nowrap")
                if level and losses:
                    loss = losses[level - 1]
                    bar(loss, f"{name} loses {percent(loss)} of the meaning")
                    about = f"Generalized to {name}, values lose {percent(loss)} of their meaning (the papers' GSL)."
                    term(percent(loss), about, GSL, "small number")
                else:
                    words("span", "the values themselves" if level == 0 else "", "small muted")
                    words("span", "", "small")
                term(counted(labels, "label"), *LABELS, "small muted number nowrap")

    def _faults(self, faults: tuple[Problem, ...]) -> None:
        for fault in faults[:5]:
            with box("ask stack"):
                said(f"{fault.message[:1].upper()}{fault.message[1:]}.", _FAULT, "prose")
                with box("line"):
                    for fix in fault.fixes[:2]:
                        mend = button(f"{fix.text[:1].upper()}{fix.text[1:]}", lambda f=fix: self._mend(f))
                        hint(mend, f"The loss of meaning (GSL) would be {fix.total:.3f} then.")
        if len(faults) > 5:
            term(f"And {len(faults) - 5} more.", *_FAULT, "small muted")

    async def _mend(self, fix: Fix) -> None:
        self._wrong.text = ""
        await self._room.work(trees.mend, self._room.session, self._column, fix, complain=self._complain)

    def _automatic(self) -> None:
        if self._room.do(self._room.session.set_hierarchy, self._column, None, complain=self._complain):
            self._choose(self._column)

    def _from_file(self) -> None:
        with ui.dialog() as dialog, ui.card().classes("card"):
            words("h2", f"A hierarchy for {self._column}")
            words(
                "p", "A CSV file as ARX writes it, JSON or XML: every value with what stands above it.", "small muted"
            )
            field = ui.input("Path of the file").props("outlined dense").classes("path")
            wrong = complaint()

            async def use() -> None:
                wrong.text = ""
                made: list[bool] = []

                def work() -> None:
                    trees.use_file(self._room.session, self._column, str(field.value or "").strip())
                    made.append(True)

                await self._room.work(work, complain=lambda text: setattr(wrong, "text", text))
                if made:
                    dialog.close()
                    self._choose(self._column)

            with box("line"):
                button("Use it", use, look="primary")
                button("Cancel", dialog.close)
        dialog.on("hide", dialog.delete)
        dialog.open()


PAGES.add("hierarchies", Page("Hierarchies", "See and shape what values become.", "account_tree", draw))
