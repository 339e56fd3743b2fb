"""The promises of the project in words, with their numbers as sliders and fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from nicegui import ui

from keepsense.errors import KeepsenseError
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.privacy.privacy_model import PRIVACY, UNTOLD, model
from keepsense.project.project_file import Project
from keepsense.studio.session.parameters import Field, of_promise
from keepsense.studio.widgets.figures import About, term
from keepsense.studio.widgets.figures import promise as shown_promise
from keepsense.studio.widgets.following import following, when_settled
from keepsense.studio.widgets.parts import box, button, complaint, hint, icon_button, named, pill, words
from keepsense.studio.widgets.room import Room
from keepsense.studio.widgets.side_by_side import preview_of

_LARGEST_K = 50
_MOST_SUPPRESSED = 20
_K = About(
    "Everybody looks like at least so many people, themselves among them: the larger, the safer and the vaguer.",
    "Released records are grouped by all quasi-identifiers; no group may be smaller, and whoever would be alone is "
    "left out or made vaguer.",
)
_MAY_GO = About(
    "Records that stand alone whatever is done may be left out, up to this share; the others stay more exact for it.",
    "The records that are hidden or missing in the release, divided by all records of the table.",
)


class Promises:
    """The promises in words, with their numbers; how large groups are and how much may be left out as sliders."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._shown: tuple[int, float] | None = None
        with named(box("card").props("role=group"), "Promises"):
            words("h2", "What is promised")
            self._wrong = complaint()
            with box("setting"):
                with box("line"):
                    words("span", "Hidden among at least", "strong")
                    self._said = term("", *_K, "big accent")
                    words("span", "people", "strong")
                self._k = ui.slider(min=2, max=_LARGEST_K, step=1, value=self._now()).props("label snap")
                named(self._k, "k: among how many people everybody is hidden")
                self._k.on_value_change(lambda event: setattr(self._said, "text", str(event.value)))
                when_settled(self._k, self._choose_k)
                words(
                    "p",
                    "The papers call it k. Five is usual among people you know, eleven or more for the public.",
                    "small muted prose",
                )
            with box("setting"):
                with box("line"):
                    words("span", "Up to", "strong")
                    self._share = term("", *_MAY_GO, "big accent")
                    words("span", "of the records may be left out", "strong")
                self._out = ui.slider(min=0, max=_MOST_SUPPRESSED, step=0.5, value=self._suppression()).props("snap")
                named(self._out, "Share of the records that may be left out, in percent")
                self._out.on_value_change(lambda event: setattr(self._share, "text", f"{event.value:g}%"))
                when_settled(self._out, self._choose_suppression)
            following(room, lambda: (repr(room.session.project.privacy), _kept(room)), self._list)
            self._add()
        self._show()
        room.on_change(self._show)

    def _now(self) -> int:
        sizes = [int(p["k"]) for p in self._room.session.project.privacy if isinstance(p.get("k"), int)]
        return sizes[0] if sizes else 2

    def _suppression(self) -> float:
        return round(100 * self._room.session.project.release.suppression, 1)

    def _show(self) -> None:
        k, share = self._now(), self._suppression()
        if k > _LARGEST_K:
            self._k.props(f"max={k}")
        if self._shown != (k, share):  # else somebody may be moving them just now
            self._shown = (k, share)
            self._k.value, self._said.text = k, str(k)
            self._out.value, self._share.text = min(share, _MOST_SUPPRESSED), f"{share:g}%"

    def _choose_k(self, value: float) -> None:
        self._wrong.text = ""
        if int(value) != self._now():
            self._room.do(self._room.session.set_k, int(value), complain=self._complain)

    def _choose_suppression(self, value: float) -> None:
        self._wrong.text = ""
        if float(value) != self._suppression():
            self._room.do(self._room.session.set_suppression, float(value) / 100, complain=self._complain)

    def _complain(self, text: str) -> None:
        self._wrong.text = text

    def _list(self) -> None:
        session, kept = self._room.session, _kept(self._room)
        for number, promise in enumerate(session.project.privacy):
            entry = PRIVACY[str(promise["model"])]
            with box("promise"):
                with box("line top-aligned"):
                    holds = kept[number] if number < len(kept) else None
                    pill(*_STATES[holds])
                    with box("stack grow"):
                        shown_promise(_described(promise), entry.name, "breaks")
                        term(entry.name, f"{entry.promises[:1].upper()}{entry.promises[1:]}.", "", "small muted")
                    if len(session.project.privacy) > 1:
                        icon_button("close", f"Take back: {entry.name}", lambda n=number: self._drop(n))
                with box("line"):
                    for field in of_promise(promise):
                        if field.name != "k":
                            self._field(number, field)

    def _field(self, number: int, field: Field) -> None:
        step = 1 if field.kind == "whole" else 0.01
        shown = ui.number(field.label, value=field.usual, min=field.least, max=field.most, step=step)
        hint(shown.props("dense outlined").classes("figure-field"), field.about)
        wrong = complaint()

        def choose() -> None:
            wrong.text = ""
            promises = [dict(promise) for promise in self._room.session.project.privacy]
            if shown.value is None or number >= len(promises) or promises[number].get(field.name) == shown.value:
                return
            promises[number][field.name] = int(shown.value) if field.kind == "whole" else float(shown.value)
            self._room.do(
                self._room.session.set_promises,
                promises,
                f"{field.name} is {shown.value:g}",
                complain=lambda text: setattr(wrong, "text", text),
            )

        shown.on("change", choose)

    def _drop(self, number: int) -> None:
        promises = [dict(p) for i, p in enumerate(self._room.session.project.privacy) if i != number]
        self._room.do(self._room.session.set_promises, promises, "one promise less", complain=self._complain)

    def _add(self) -> None:
        """A further promise: its name, and the column that it is about."""
        secret = list(self._room.session.project.having("sensitive"))
        every = sorted(PRIVACY.values(), key=lambda entry: entry.rank)
        offered = {entry.name: f"{entry.name}: {entry.promises}" for entry in every}
        with box("line further-promise"):
            which = ui.select(offered, label="One more promise", with_input=True).props("dense outlined options-dense")
            which.classes("grow")
            about = ui.select(secret, label="about", value=secret[0] if secret else None)
            about.props("dense outlined options-dense").classes("kind")

            def add() -> None:
                if which.value is None:
                    self._complain("Choose a promise first.")
                    return
                section = _section(self._room.session.project, which.value, self._now(), about.value)
                lacking = [name for name, value in section.items() if value == UNTOLD]
                if lacking:
                    self._complain(f"{which.value} needs {_LACKING.get(lacking[0], lacking[0])}.")
                    return
                promises = [*self._room.session.project.privacy, section]
                name = f"{which.value} is promised"
                if self._room.do(self._room.session.set_promises, promises, name, complain=self._complain):
                    self._wrong.text, which.value = "", None

            button("Promise it", add)


_STATES: Mapping[bool | None, tuple[str, str]] = {
    True: ("kept", "green"),
    False: ("broken", "red"),
    None: ("to be seen", "grey"),
}


_LACKING = {
    "column": "a sensitive column, and there is none: give one that role",
    "person": "a column that tells whose row it is, and there is none: give one the role person",
    "fraction": "the share of the population that is in the table: sampling_fraction in [source] of the project file",
}


def _section(project: Project, name: str, k: int, column: str | None) -> dict[str, Any]:
    """A promise to begin with, from what the project knows."""
    entry = PRIVACY[name]
    sets = next((c for c in project.quasi_identifiers if KINDS[project.columns[c].kind].sets), None)
    told = {
        "k": k,
        "column": sets if entry.model.of_sets else column,
        "person": next(iter(project.having("person")), None),
        "fraction": None if project.source is None else project.source.sampling_fraction,
    }
    return entry.section(**{key: value for key, value in told.items() if value is not None})


def _kept(room: Room) -> tuple[bool | None, ...]:
    """Whether each promise would be kept, as far as the newest preview tells."""
    shown = preview_of(room)
    return () if shown is None else tuple(promise.kept for promise in shown.promises)


def _described(promise: Mapping[str, Any]) -> str:
    try:
        return model(str(promise["model"]), **{k: v for k, v in promise.items() if k != "model"}).describe()
    except KeepsenseError as error:
        return str(error)
