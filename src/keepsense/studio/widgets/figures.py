"""Figures: on hover, each says in a sentence what it means; on click, how it is computed.

A number that stands in a sentence, a line or a tile is a figure; those in tables of rows are the data themselves.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from nicegui import ui
from nicegui.element import Element
from nicegui.elements.mixins.text_element import TextElement

from keepsense.display import percent
from keepsense.errors import FINDINGS
from keepsense.metrics import METRICS
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.studio.session.plain import in_the_studio
from keepsense.studio.widgets.parts import bar, box, button, hint, named, words

_DIGIT = re.compile(r"\d")


class About(NamedTuple):
    """What a figure means, in a sentence, and how it is computed.

    >>> About("Rows of the table.", "Counted when it was opened.").meaning
    'Rows of the table.'
    """

    meaning: str
    how: str


ROWS = About("Rows of the table; in most tables, each is about one person.", "Counted when the table was opened.")
GROUPS = About(
    "Groups of records that look alike in every quasi-identifier: nobody inside can be told from the others.",
    "Released records are grouped by all quasi-identifiers together, as they are released; the papers call such a "
    "group an equivalence class.",
)
LEFT_OUT = About(
    "Records that are hidden because they would break a promise.",
    "Records whose quasi-identifiers are all hidden in the release, or that are not in it.",
)
RELEASED = About("Rows of the released file.", "Counted in the file after it was written and read back.")
SECONDS = About("How long the run took.", "From the first row read to the last promise checked, on this machine.")
TIME_LEFT = About(
    "How far the run is, and how long it still takes if it goes on like this.",
    "Each part of the run counts for as much as it took before; the time so far is divided by the share that is done.",
)
WORKED_OUT = About(
    "On what the figures rest: they are worked out ahead of the full run.",
    "The method decides on every combination of values that there is, each with its number of rows. Where that would "
    "keep you waiting it decides on some of them, and what these lose stands for all. The full run takes all of them.",
)


class Told(NamedTuple):
    """A figure inside a sentence.

    >>> Told("2,000 rows", ROWS).text
    '2,000 rows'
    """

    text: str
    about: About


def counted(number: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "value"), counted(2_000, "row")
    ('1 value', '2,000 rows')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def figure(text: str, label: str, meaning: str, how: str) -> Element:
    """A figure with its name, large."""
    with box("figure", "button").props("type=button") as made:
        words("span", text, "big")
        words("span", label, "small muted about")
    return explained(made, label, About(meaning, how))


def term(text: str, meaning: str, how: str = "", classes: str = "small") -> TextElement:
    """A word or figure in a line that explains itself; only a word needs not say how it is computed."""
    made = words("button", text, f"term {classes}").props("type=button")
    explained(made, made, About(meaning, how))
    return made


def told(*parts: str | Told, classes: str = "", tag: str = "p") -> Element:
    """A sentence with figures in it, each of which explains itself."""
    with box(f"told {classes}", tag) as made:
        for part in parts:
            if isinstance(part, str):
                words("span", part)
            else:
                term(part.text, *part.about, classes="")
    return made


def said(text: str, about: About, classes: str = "", tag: str = "p", heading: str = "How it is computed") -> Element:
    """A sentence from elsewhere: where it holds a number, the whole of it is a figure.

    >>> bool(_DIGIT.search("3 of its values are unknown")), bool(_DIGIT.search("its name says age"))
    (True, False)
    """
    if not _DIGIT.search(text):
        return words(tag, text, classes)
    made = words("button", text, f"term sentence {classes}").props("type=button")
    return explained(made, "", about, heading)


def promise(text: str, model: str = "", classes: str = "") -> Element:
    """A promise in words: what it means in general, and how it is found out whether it holds."""
    entry = PRIVACY[model] if model else None
    meaning = "What holds for every released record." if entry is None else f"{entry.name}: {entry.promises}."
    paper = "" if entry is None else f" The promise is that of {entry.paper}."
    return said(text, About(f"{meaning[:1].upper()}{meaning[1:]}", _VERIFIED + paper), classes, "span", _CHECKED)


def of_finding(code: str) -> About:
    """What a finding says in general, and what can be done about it.

    >>> of_finding("W101").how
    'Take a suggestion, or give a mapping table.'
    """
    if code not in FINDINGS:
        return About("Something that stands in the way of a release.", "The buttons beside it change the project.")
    says, remedy = FINDINGS[code].says, FINDINGS[code].remedy
    return About(_sentence(says), _sentence(in_the_studio(remedy)))


_CHECKED = "How it is checked"
_VERIFIED = (
    "While you work it is judged on the groups that the method would make. Before a file is released it is read back, "
    "and the promise is computed again from what stands in it, by a check that shares nothing with the method."
)


def explained(made: Element, title: str | TextElement, about: About, heading: str = "How it is computed") -> Element:
    """Let an element explain itself: `title` stands above, be it a text or that of an element as it is then."""
    hint(made, about.meaning)
    if about.how:
        made.props("data-figure")

    def explain() -> None:
        name = title if isinstance(title, str) else title.text
        with ui.dialog() as dialog, ui.card().classes("card"):
            if name:
                words("h2", name)
            words("p", about.meaning, "prose")
            if about.how:
                words("h3", heading)
                words("p", about.how, "prose")
            with box("line"):
                button("Close", dialog.close)
        dialog.props["aria-label"] = name or about.meaning
        dialog.on("hide", dialog.delete)
        dialog.open()

    made.on("click", explain)
    return made


def metric(name: str, value: float | None, label: str = "") -> Element:
    """A figure of the registry of metrics."""
    text = "–" if value is None else METRICS[name].text(value)
    return figure(text, label or METRICS[name].label, *meaning_of(name))


def meaning_of(name: str) -> About:
    """What a metric means in a sentence, and how it is computed.

    >>> meaning_of("certainty penalty")[0]
    'Share of certainty lost: none where every value is kept, all where all are hidden.'
    """
    entry = METRICS[name]
    return About(_sentence(entry.meaning), _sentence(entry.formula))


def loss(column: str, share: float | None) -> None:
    """A line of the chart of losses: a column, and how much of its detail is lost."""
    with box("stack"):
        with box("line tight"):
            words("span", column, "grow small breaks data")
            lost_of(column, share)
        lost = share or 0.0
        bar(lost, f"{column}: {percent(share) or 'nothing'} of its detail is lost", "bad" if lost > 0.9 else "")


def lost_of(column: str, share: float | None, text: str = "{}") -> TextElement:
    """How much of a column's detail is lost."""
    shown = text.format(percent(share) or "–")
    meaning = f"Share of the detail of {column} that is lost: none where every value is kept, all where all are hidden."
    made = term(shown, meaning, meaning_of("certainty penalty").how, "small number nowrap")
    named(made, f"{column}: {shown} of its detail is lost")
    return made


def _sentence(text: str) -> str:
    """Words of a registry as a sentence.

    >>> _sentence("share of certainty lost")
    'Share of certainty lost.'
    """
    return f"{text[:1].upper()}{text[1:].removesuffix('.')}."
