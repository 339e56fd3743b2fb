"""Weights: how much the loss of each column counts."""

from __future__ import annotations

from math import log2
from typing import Any

from nicegui import ui

from keepsense.display import percent
from keepsense.methods.method import method as find_method
from keepsense.studio.session.trees import tree_columns
from keepsense.studio.widgets.figures import About, lost_of, term
from keepsense.studio.widgets.following import when_settled
from keepsense.studio.widgets.parts import box, complaint, named, words
from keepsense.studio.widgets.room import Room
from keepsense.studio.widgets.side_by_side import preview_of

_LOSES = "loses {}"
_WEIGHT = About(
    "How many times as much a loss of this column counts as one of a column that weighs one.",
    "Where the method compares what could become vaguer, the loss of each column is multiplied by its weight.",
)


class Weights:
    """A slider a column: how much its loss counts beside that of the others."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._sliders: dict[str, ui.slider] = {}
        self._said: dict[str, tuple[Any, Any]] = {}
        self._shown: dict[str, float] = {}
        columns = tree_columns(room.session)
        with box("card"):
            words("h2", "What counts most")
            words(
                "p",
                "Every column becomes vaguer for the sake of all. Give a column more weight, and it keeps more of its "
                "detail, at the others' expense.",
                "small muted prose",
            )
            self._wrong = complaint()
            used = find_method(room.session.project.method.name)
            if used.unweighed:
                words("p", f"{used.title} does not weigh columns: {used.unweighed}.", "small prose")
            with box("stack"):
                for name in columns:
                    with box("weighed"):
                        self._draw(name)
        self._show()
        room.on_change(self._show)

    def _draw(self, name: str) -> None:
        words("span", name, "small breaks")
        slider = ui.slider(min=-2, max=2, step=0.5, value=0).props("snap")
        named(slider, f"Weight of {name}, as a power of two")
        when_settled(slider, lambda place: self._choose(name, place))
        weight = term("", *_WEIGHT, "small number")
        loss = lost_of(name, None, _LOSES)
        slider.on_value_change(lambda event: setattr(weight, "text", f"× {2.0**event.value:.2g}"))
        self._sliders[name] = slider
        self._said[name] = (weight, loss)

    def _choose(self, name: str, place: float) -> None:
        weight = round(2.0 ** float(place), 4)
        now = self._room.session.project.columns[name].weight
        if place != _power(now) and weight != self._room.session.project.columns[name].weight:
            self._room.do(
                self._room.session.set_weight, name, weight, complain=lambda text: setattr(self._wrong, "text", text)
            )

    def _show(self) -> None:
        shown = preview_of(self._room)
        for name, slider in self._sliders.items():
            column = self._room.session.project.columns.get(name)
            if column is None:
                continue
            if self._shown.get(name) != column.weight:
                self._shown[name] = column.weight
                slider.value = _power(column.weight)
            weight, loss = self._said[name]
            weight.text = f"× {column.weight:.2g}"
            lost = None if shown is None else shown.lost.get(name)
            loss.text = "" if lost is None else _LOSES.format(percent(lost))
            named(loss, f"{name}: {loss.text or 'not known yet'}")


def _power(weight: float) -> float:
    """Where a weight stands on its slider: the nearest half power of two."""
    return max(-2.0, min(2.0, round(2 * log2(weight)) / 2))
