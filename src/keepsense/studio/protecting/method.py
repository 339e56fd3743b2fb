"""The method, what the guide recommends in its place, and its parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from keepsense.errors import KeepsenseError
from keepsense.guide.advice import Advice, advise
from keepsense.guide.answers import from_project
from keepsense.methods.method import method as find_method
from keepsense.methods.method import methods
from keepsense.studio.session.parameters import Field, of_method
from keepsense.studio.widgets.figures import About, said
from keepsense.studio.widgets.following import following
from keepsense.studio.widgets.parts import box, button, complaint, hint, named, pill, words
from keepsense.studio.widgets.room import Room

_GUIDED = About(
    "Why the guide recommends the method, or what speaks against it.",
    "The guide compares what is promised, the kinds of the columns and the number of rows with what each method says "
    "of itself: when it suits, and what it needs.",
)
_BY_RULES = (
    "It goes by your promises, kinds of columns and number of rows, and tries nothing: what each method loses on this "
    "table stands on Explore, under Other methods."
)


class Method:
    """The method that is used, what the guide recommends in its place, and its parameters."""

    def __init__(self, room: Room) -> None:
        self._room = room
        with box("card"):
            words("h2", "How it is done")
            self._wrong = complaint()
            following(room, self._state, self._draw)

    def _state(self) -> object:
        project = self._room.session.project
        return (project.method, repr(project.privacy), [(n, c.kind, c.taxonomy) for n, c in project.columns.items()])

    def _complain(self, text: str) -> None:
        self._wrong.text = text

    def _draw(self) -> None:
        project = self._room.session.project
        used = find_method(project.method.name)
        with box("stack"):
            words("h3", used.title)
            words("p", f"{used.short[:1].upper()}{used.short[1:]}.", "prose")
        fields = of_method(used)
        if fields:
            with box("line top-aligned"):
                for field in fields:
                    self._field(field, project.method.parameters.get(field.name))
        self._recommended(used.name)
        self._others(used.name)

    def _recommended(self, used: str) -> None:
        try:
            guidance = advise(from_project(self._room.session.project, self._room.session.rows))
        except KeepsenseError as error:
            words("p", str(error), "small muted prose")
            return
        offered = [advice for advice in guidance.advice if advice.method.in_projects and advice.part == "records"]
        if not offered:
            return
        words("h3", "What the guide recommends")
        words("p", _BY_RULES, "small muted prose")
        with box("columns"):
            for place, advice in enumerate(offered):
                self._advice(advice, first=place == 0, used=advice.name == used)

    def _advice(self, advice: Advice, *, first: bool, used: bool) -> None:
        with box("card"):
            with box("line tight"):
                words("h3", advice.method.title, "grow")
                if used:
                    pill("in use", "green")
                elif first:
                    hint(pill("first choice", "blue"), _BY_RULES)
            for reason in advice.reasons[:3]:
                said(f"{reason[:1].upper()}{reason[1:]}.", _GUIDED, "small prose")
            for warning in advice.warnings[:1]:
                said(f"But: {warning}", _GUIDED, "small muted prose")
            box("spread")
            if not used:
                with box("line"):
                    chosen = button("Use it", lambda: self._use(advice.name, advice.parameters))
                    named(chosen, f"Use {advice.method.title}")

    def _others(self, used: str) -> None:
        listed = {found.name: found.title for found in methods(in_projects=True) if found.sets != "only"}
        every = ui.select(listed, label="Any other method", value=used, with_input=True)
        every.props("dense outlined options-dense")
        every.on_value_change(lambda event: self._use(event.value, {}) if event.value not in (None, used) else None)

    def _use(self, name: str, parameters: Mapping[str, Any]) -> None:
        self._wrong.text = ""
        self._room.do(self._room.session.set_method, name, parameters, complain=self._complain)

    def _field(self, field: Field, value: Any) -> None:
        now = field.usual if value is None else value
        shown: ValueElement[Any]
        if field.kind == "switch":
            shown = ui.switch(field.label, value=bool(now))
        elif field.kind == "choice":
            shown = ui.select(list(field.options), label=field.label, value=now if now in field.options else None)
            shown.props("dense outlined options-dense").classes("kind")
        else:
            shown = ui.number(
                field.label, value=now, min=field.least, max=field.most, step=1 if field.kind == "whole" else 0.05
            )
            shown.props("dense outlined clearable" if field.optional else "dense outlined").classes("figure-field")
            if field.optional and now is None:
                shown.props('placeholder="as it sees fit"')
        if field.about:
            hint(shown, field.about)

        def choose() -> None:
            new = shown.value
            if field.kind == "whole" and isinstance(new, float):
                new = int(new)
            wanted = None if new in (None, "", field.usual) else new
            if wanted != self._room.session.project.method.parameters.get(field.name):
                self._wrong.text = ""
                self._room.do(self._room.session.set_parameter, field.name, wanted, complain=self._complain)

        if field.kind in ("switch", "choice"):
            shown.on_value_change(choose)
        else:
            shown.on("change", choose)
