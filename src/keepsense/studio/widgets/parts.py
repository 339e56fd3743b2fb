"""Headings, text, buttons, tables and bars, all of which show text as text.

Names and values of the data go through these and nothing else: never into HTML, Markdown, a string of `props`, a class
or a style. They are thin: everything that NiceGUI offers can be drawn with them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

Look = Literal["primary", "outlined", "quiet", "danger"]


def words(tag: str, text: object, classes: str = "") -> TextElement:
    """An element of HTML that holds text, and only text."""
    return TextElement(tag=tag, text=str(text)).classes(classes)


def box(classes: str = "", tag: str = "div") -> Element:
    """An element of HTML that holds others; the stylesheet knows `card`, `line`, `stack`, `columns`, `ask`, `note`."""
    return ui.element(tag).classes(classes)


def head(title: str, about: str = "") -> Element:
    """What a page begins with: its title, and in a sentence what one does there."""
    with box("stack") as made:
        words("h1", title)
        if about:
            words("p", about, "muted prose")
    return made


def named(element: Element, name: str) -> Element:
    """Give an element a name for those who do not see it; a name of the data can be in it."""
    element.props["aria-label"] = name
    return element


def hint(element: Element, sentence: str) -> Element:
    """Say in a sentence, when one points at an element, what it means."""
    with element:
        ui.tooltip(sentence).props("delay=300")
    return element


def button(
    text: str,
    press: Callable[..., Any] | None = None,
    *,
    look: Look = "outlined",
    icon: str | None = None,
    about: str | None = None,
) -> ui.button:
    """A button; `about` says more when one points at it."""
    made = ui.button(text, on_click=press, color=None, icon=icon).props("no-caps unelevated").classes(look)
    if about:
        hint(made, about)
    return made


def icon_button(icon: str, name: str, press: Callable[..., Any] | None = None) -> ui.button:
    """A button that shows a picture; `name` is what it does, for a pointer and for a screen reader."""
    made = ui.button(on_click=press, color=None, icon=icon).props("flat round dense").classes("icon-only quiet")
    named(made, name)
    hint(made, name)
    return made


def pill(text: str, colour: str) -> TextElement:
    """A short word on a colour of the stylesheet: red, yellow, purple, green, blue or grey."""
    return words("span", text, f"pill role-{colour}")


def bar(share: float, name: str, look: Literal["", "before", "bad", "doubt"] = "") -> Element:
    """A share of one as a bar; `name` says the figure to who points at it, and to those who do not see it."""
    drawn = hint(named(box("bar", "span").props("role=img"), name), name)
    with drawn:
        box(look, "span").style(f"width: {100 * min(1.0, max(0.0, float(share))):.1f}%")
    return drawn


def rows(
    names: Sequence[str],
    cells: Iterable[Sequence[object]],
    *,
    before: Sequence[Sequence[object]] = (),
    about: str = "Rows of the table",
    looks: Mapping[str, str] | None = None,
) -> Element:
    """A table of a few rows; cells that differ from those `before` show both, what was and what it becomes.

    `looks` are classes of the stylesheet for the heads of columns.
    """
    with box("scroll").props("tabindex=0 role=region") as around, box("plain", "table"):
        with box(tag="thead"), box(tag="tr"):
            for name in names:
                words("th", name, (looks or {}).get(name, "")).props("scope=col")
        with box(tag="tbody"):
            for i, row in enumerate(cells):
                with box(tag="tr"):
                    for j, value in enumerate(row):
                        _cell(value, before[i][j] if before else value)
    return named(around, about)


def _cell(value: object, was: object) -> None:
    shown = "" if value is None else str(value)
    if shown == ("" if was is None else str(was)):
        words("td", shown).props["title"] = shown
        return
    with box(tag="td") as cell:
        words("del", "" if was is None else was, "was")
        words("ins", shown, "new")
    cell.props["title"] = f"{was}, released as {shown}"


def empty(title: str, about: str, icon: str) -> None:
    """What stands where there is nothing yet, and how to change that."""
    with box("empty card"):
        ui.icon(icon).classes("accent").style("font-size: 2.25rem").props("aria-hidden=true")
        words("h2", title)
        words("p", about, "prose")


def complaint(text: str = "") -> TextElement:
    """A place for what is wrong with a field, right beside it; empty where nothing is."""
    return words("div", text, "error").props("role=alert")
