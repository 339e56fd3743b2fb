"""A hierarchy as a tree that opens branch by branch: labels are dragged, renamed, moved, merged and grouped."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial
from typing import NamedTuple

import numpy as np
from nicegui import ui
from nicegui.element import Element

from keepsense.counts import Value
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_faults import Fix, Problem
from keepsense.studio.widgets.figures import About, counted, term
from keepsense.studio.widgets.parts import box, button, complaint, icon_button, named, words

Change = Callable[..., Awaitable[str]]
"""Changes the tree; comes back with what is wrong with the change, or with nothing where it was made."""
Mend = Callable[[Fix], Awaitable[None]]

VALUES = About(
    "Different values of the column that stand below the label: each becomes it when the column is made that vague.",
    "The values at the ends of its branches are counted, each once.",
)
RECORDS = About(
    "Rows of the table that would show the label, if nothing vaguer were needed.",
    "The rows of all values below it are added up, over the whole table.",
)

_SHOWN = 40
"""Children of a label that are drawn at once; more on demand, so that large trees stay quick."""
_OPEN = 12
"""Branches that are open at first, as long as there are not many labels."""


def _item(text: str, press: Callable[[], object]) -> None:
    """A line of a menu, which screen readers know as one."""
    ui.menu_item(text, press).props("role=menuitem")


class Place(NamedTuple):
    """A label of a level."""

    level: int
    code: int


class TreeView:
    """The tree: only branches that are open are drawn, so that thousands of labels stay quick."""

    def __init__(
        self,
        hierarchy: Hierarchy,
        rows: Mapping[str | None, int],
        faults: Iterable[Problem],
        change: Change,
        mend: Mend,
    ) -> None:
        self._tree, self._rows, self._change, self._mend = hierarchy, rows, change, mend
        self._faults = {(fault.level, str(fault.label)): fault for fault in faults}
        self._dragged: Place | None = None
        self._wrong = complaint()
        with named(box("tree").props("role=tree"), f"Hierarchy of {hierarchy.name}"):
            top = hierarchy.height
            for code in range(len(hierarchy.labels[top])):
                self._branch(Place(top, code), opened=True)

    # ---- what is there -----------------------------------------------------------------------------------------------

    def _label(self, place: Place) -> Value:
        return self._tree.labels[place.level][place.code]

    def _children(self, place: Place) -> list[Place]:
        """Labels one level down; where the only one has the same name, what is below that."""
        while place.level > 0:
            codes = np.flatnonzero(self._tree.parents[place.level - 1] == place.code).tolist()
            below = [Place(place.level - 1, code) for code in codes]
            if len(below) == 1 and self._label(below[0]) == self._label(place):
                place = below[0]
                continue
            return below
        return []

    def _records(self, place: Place) -> int:
        leaves = np.flatnonzero(self._tree.codes[:, place.level] == place.code).tolist()
        values = (self._tree.leaves[leaf] for leaf in leaves)
        return sum(self._rows.get(None if value is None else str(value), 0) for value in values)

    def _values(self, place: Place) -> int:
        return int(self._tree.leaf_counts[place.level][place.code])

    # ---- drawing -----------------------------------------------------------------------------------------------------

    def _branch(self, place: Place, *, opened: bool = False) -> None:
        children = self._children(place)
        line = box("node").props("role=treeitem")
        inside = box("branch").props("role=group") if children else None
        state = {"drawn": False}

        def toggle(_: object = None) -> None:
            if inside is None:
                return
            if not state["drawn"]:
                state["drawn"] = True
                with inside:
                    self._several(children, 0)
            else:
                inside.set_visibility(not inside.visible)
            shown = inside.visible
            arrow.props(f"icon={'expand_more' if shown else 'chevron_right'}")
            line.props(f"aria-expanded={'true' if shown else 'false'}")

        with line:
            if children:
                arrow = icon_button("chevron_right", f"Open or close {self._shown(place)}", toggle)
            else:
                ui.icon("remove").classes("muted").props("aria-hidden=true")
            words("span", self._shown(place), "label data strong" if children else "label data")
            if children:
                values = self._values(place)
                self._number(counted(values, "value"), VALUES, "small muted nowrap")
            box("spread")
            self._number(counted(self._records(place), "row"), RECORDS, "small muted number nowrap narrow-hidden")
            fault = self._faults.get((place.level, str(self._label(place))))
            if fault is not None:
                line.classes("faulty")
                self._fault(place, fault)
            if place.level < self._tree.height or children:
                with box("narrow-hidden"):
                    self._menu(place, children)
        self._draggable(line, place, has_children=bool(children))
        if opened:
            toggle()

    def _number(self, text: str, about: About, classes: str) -> None:
        """A figure of a label; the keyboard finds what it means above the tree, not at every label again."""
        term(text, *about, classes).props("tabindex=-1")

    def _fault(self, place: Place, fault: Problem) -> None:
        """What is wrong with a label, on the label itself, each way to mend it one click away."""
        made = icon_button("warning_amber", f"What is wrong with {self._shown(place)}").classes("doubt")
        with made, ui.menu():
            with box("fault"):
                words("p", f"{fault.message[:1].upper()}{fault.message[1:]}.", "small")
            for fix in fault.fixes[:2]:
                _item(f"{fix.text[:1].upper()}{fix.text[1:]}", partial(self._mend, fix))

    def _several(self, places: list[Place], start: int) -> None:
        """Some children, and a button for the rest."""
        few = sum(map(len, self._tree.labels)) <= 60
        for place in places[start : start + _SHOWN]:
            self._branch(place, opened=few and place.level > 1 and len(places) <= _OPEN)
        rest = len(places) - start - _SHOWN
        if rest > 0:
            holder = box("stack")

            def more() -> None:
                holder.clear()
                with holder:
                    self._several(places, start + _SHOWN)

            with holder:
                button(f"{rest:,} more", more, look="quiet")

    def _shown(self, place: Place) -> str:
        label = self._label(place)
        return "(empty)" if label is None else "anything" if str(label) == "*" else str(label)

    # ---- dragging ----------------------------------------------------------------------------------------------------

    def _draggable(self, line: Element, place: Place, *, has_children: bool) -> None:
        if place.level < self._tree.height:
            line.props("draggable=true")
            line.on("dragstart", lambda: setattr(self, "_dragged", place))
        if has_children:
            line.on("dragover", js_handler="(event) => event.preventDefault()")
            line.on("dragenter", lambda: line.classes(add="over"))
            line.on("dragleave", lambda: line.classes(remove="over"))
            line.on("drop.prevent", lambda: self._drop(line, place))

    async def _drop(self, line: Element, onto: Place) -> None:
        line.classes(remove="over")
        dragged, self._dragged = self._dragged, None
        if dragged is None or dragged == onto:
            return
        to = self._parent_for(dragged, onto)
        self._wrong.text = await self._change("move", level=dragged.level, label=self._label(dragged), to=to)

    async def _drop_level(self, level: int) -> None:
        self._wrong.text = await self._change("drop_level", level=level)

    def _parent_for(self, dragged: Place, onto: Place) -> Value:
        """The label one level above what is dragged that stands for where it was dropped."""
        level = dragged.level + 1
        leaf = int(np.flatnonzero(self._tree.codes[:, onto.level] == onto.code)[0])
        return self._tree.labels[level][int(self._tree.codes[leaf, level])]

    # ---- the menu ----------------------------------------------------------------------------------------------------

    def _menu(self, place: Place, children: list[Place]) -> None:
        made = icon_button("more_vert", f"Change {self._shown(place)}")
        with made, ui.menu():
            if place.level > 0:
                _item("Rename …", lambda: self._rename(place))
            if place.level < self._tree.height:
                _item("Move under …", lambda: self._move(place))
            if 0 < place.level < self._tree.height:
                _item("Merge with …", lambda: self._merge(place))
            if len(children) > 2:
                _item("Group some below it …", lambda: self._group(children))
            if 0 < place.level < self._tree.height:
                _item(f"Remove the whole level {place.level}", lambda: self._drop_level(place.level))

    def _ask(self, title: str, about: str, fields: Callable[[], Callable[[], Awaitable[str]]]) -> None:
        """A dialog with some fields; what they make of an answer is a complaint, or nothing where it was done."""
        with ui.dialog() as dialog, ui.card().classes("card"):
            words("h2", title)
            words("p", about, "small muted prose")
            answer = fields()
            wrong = complaint()

            async def done() -> None:
                wrong.text = await answer()
                if not wrong.text:
                    dialog.close()

            with box("line"):
                button("Do it", done, look="primary")
                button("Cancel", dialog.close)
        dialog.on("hide", dialog.delete)
        dialog.open()

    def _rename(self, place: Place) -> None:
        def fields() -> Callable[[], Awaitable[str]]:
            name = ui.input("New name", value=self._shown(place)).props("outlined dense autofocus")

            async def answer() -> str:
                if not str(name.value or "").strip():
                    return "Write a name."
                to = str(name.value).strip()
                return await self._change("rename", level=place.level, label=self._label(place), to=to)

            return answer

        self._ask(f"Rename {self._shown(place)}", "Released rows will carry the new name.", fields)

    def _options(self, level: int, but: Value) -> dict[int, str]:
        return {
            code: self._shown(Place(level, code)) for code, label in enumerate(self._tree.labels[level]) if label != but
        }

    def _move(self, place: Place) -> None:
        parent = self._tree.labels[place.level + 1][int(self._tree.parents[place.level][place.code])]

        def fields() -> Callable[[], Awaitable[str]]:
            options = self._options(place.level + 1, parent)
            to = ui.select(options, label="New parent", with_input=True).props("outlined dense")

            async def answer() -> str:
                if to.value is None:
                    return "Choose where it goes."
                target = self._tree.labels[place.level + 1][int(to.value)]
                return await self._change("move", level=place.level, label=self._label(place), to=target)

            return answer

        self._ask(f"Move {self._shown(place)}", "Everything below it goes along.", fields)

    def _merge(self, place: Place) -> None:
        parent = int(self._tree.parents[place.level][place.code])
        beside = np.flatnonzero(self._tree.parents[place.level] == parent).tolist()

        def fields() -> Callable[[], Awaitable[str]]:
            options = {code: self._shown(Place(place.level, code)) for code in beside if code != place.code}
            others = ui.select(options, label="With", multiple=True).props("outlined dense use-chips")
            name = ui.input("Name of the whole", value=self._shown(place)).props("outlined dense")

            async def answer() -> str:
                if not others.value:
                    return "Choose at least one other label under the same parent."
                labels = [self._label(place), *(self._tree.labels[place.level][int(code)] for code in others.value)]
                return await self._change("merge", level=place.level, labels=labels, into=str(name.value).strip())

            return answer

        self._ask(f"Merge {self._shown(place)}", "Labels under one parent become one.", fields)

    def _group(self, children: list[Place]) -> None:
        level = children[0].level

        def fields() -> Callable[[], Awaitable[str]]:
            options = {child.code: self._shown(child) for child in children}
            members = ui.select(options, label="Which", multiple=True, with_input=True).props(
                "outlined dense use-chips"
            )
            name = ui.input("Name of the group").props("outlined dense")

            async def answer() -> str:
                if not members.value or not str(name.value or "").strip():
                    return "Choose some, and give the group a name."
                group = [self._tree.labels[level][int(code)] for code in members.value]
                return await self._change("insert_level", above=level, groups={str(name.value).strip(): group})

            return answer

        self._ask("Group some", "A level is put in between; what is in no group stays as it is there.", fields)
