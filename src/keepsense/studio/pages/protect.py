"""The fourth step: what is promised, by which method, and what that does to the rows, at once after every change."""

from __future__ import annotations

from collections.abc import Mapping
from math import log2
from typing import Any

from nicegui import ui
from nicegui.elements.mixins.value_element import ValueElement

from keepsense.errors import KeepsenseError
from keepsense.guide.advise import Advice, advise
from keepsense.guide.answers import from_project
from keepsense.methods.registry import method as find_method
from keepsense.methods.registry import methods
from keepsense.privacy import KMap, model
from keepsense.privacy.registry import PRIVACY
from keepsense.shown import percent
from keepsense.studio.following import following, when_settled
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.parameters import Field, of_method, of_promise
from keepsense.studio.parts import box, button, complaint, head, hint, icon_button, named, pill, words
from keepsense.studio.room import Room
from keepsense.studio.runs import Run
from keepsense.studio.side_by_side import draw_rows, preview_of
from keepsense.studio.trees import tree_columns

_LARGEST_K = 50
_MOST_SUPPRESSED = 20


def draw(room: Room) -> None:
    """Promises, the method, weights, the rows, and the full run."""
    head(
        "Protect",
        "Say how well people must be hidden, and how. The rows below and the figures on the right follow every change.",
    )
    _Promises(room)
    _Method(room)
    _Weights(room)
    with box("card"):
        words("h2", "Twenty rows before and after")
        draw_rows(room)
    with box("card"):
        words("h2", "The whole table")
        words(
            "p",
            "Goes all the way, and checks the result by reading it back, but releases nothing: that is the last step.",
            "small muted prose",
        )
        _FullRun(room)
    with box("line"):
        button("Go on to Explore", lambda: _go_on(room), look="primary", icon="arrow_forward")


def _go_on(room: Room) -> None:
    room.session.confirm("protect")
    room.go("explore")


# ---- promises --------------------------------------------------------------------------------------------------------


class _Promises:
    """The promises in words, with their numbers; how large groups are and how much may be left out as sliders."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._shown: tuple[int, float] | None = None
        with box("card"):
            words("h2", "What is promised")
            self._wrong = complaint()
            with box("setting"):
                with box("line"):
                    words("span", "Hidden among at least", "strong")
                    self._said = words("span", "", "big accent")
                    words("span", "people", "strong")
                self._k = ui.slider(min=2, max=_LARGEST_K, step=1, value=self._now()).props("label snap")
                named(self._k, "k: among how many people everybody is hidden")
                self._k.on_value_change(lambda event: setattr(self._said, "text", str(event.value)))
                when_settled(self._k, self._choose_k)
                words(
                    "p",
                    "The papers call it k. 5 is usual among people you know, 11 or more for the public.",
                    "small muted prose",
                )
            with box("setting"):
                with box("line"):
                    words("span", "Up to", "strong")
                    self._share = words("span", "", "big accent")
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
                        words("p", _described(promise), "breaks")
                        hint(
                            words("span", entry.name, "small muted"),
                            f"{entry.promises[:1].upper()}{entry.promises[1:]}.",
                        )
                    if len(session.project.privacy) > 1:
                        icon_button("close", f"Take back: {entry.name}", lambda n=number: self._drop(n))
                with box("line"):
                    for field in of_promise(promise):
                        if field.name != "k":
                            self._field(number, field)

    def _field(self, number: int, field: Field) -> None:
        step = 1 if field.kind == "whole" else 0.01
        shown = ui.number(field.name, value=field.usual, min=field.least, max=field.most, step=step)
        shown.props("dense outlined").classes("figure-field")
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
        offered = {
            name: f"{name}: {entry.promises}" for name, entry in PRIVACY.items() if entry.rank or name == KMap.name
        }
        with box("line"):
            which = ui.select(offered, label="One more promise", with_input=True).props("dense outlined options-dense")
            which.classes("grow")
            about = ui.select(secret, label="about", value=secret[0] if secret else None)
            about.props("dense outlined options-dense").classes("kind")

            def add() -> None:
                if which.value is None:
                    self._complain("Choose a promise first.")
                    return
                try:
                    section = PRIVACY[which.value].section(k=self._now(), column=about.value)
                except KeyError as lacking:
                    self._complain(f"{which.value} needs {lacking}, which is set in the project file.")
                    return
                if section.get("column", "") is None:
                    self._complain(f"{which.value} is about a sensitive column, and there is none: give one that role.")
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


def _kept(room: Room) -> tuple[bool | None, ...]:
    """Whether each promise would be kept, as far as the newest preview tells."""
    shown = preview_of(room)
    return () if shown is None else tuple(promise.kept for promise in shown.promises)


def _described(promise: Mapping[str, Any]) -> str:
    try:
        return model(str(promise["model"]), **{k: v for k, v in promise.items() if k != "model"}).describe()
    except KeepsenseError as error:
        return str(error)


# ---- the method ------------------------------------------------------------------------------------------------------


class _Method:
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
            words("p", used.short, "prose")
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
                    pill("fits best", "blue")
            for reason in advice.reasons[:3]:
                words("p", f"{reason[:1].upper()}{reason[1:]}.", "small prose")
            for warning in advice.warnings[:1]:
                words("p", f"But: {warning}", "small muted prose")
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
            shown = ui.switch(field.name, value=bool(now))
        elif field.kind == "choice":
            shown = ui.select(list(field.options), label=field.name, value=now if now in field.options else None)
            shown.props("dense outlined options-dense").classes("kind")
        else:
            shown = ui.number(
                field.name, value=now, min=field.least, max=field.most, step=1 if field.kind == "whole" else 0.05
            )
            shown.props("dense outlined clearable" if field.optional else "dense outlined").classes("figure-field")
            if field.optional and now is None:
                shown.props('placeholder="as it sees fit"')

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


# ---- weights ---------------------------------------------------------------------------------------------------------


class _Weights:
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
            with box("weights"):
                for name in columns:
                    self._draw(name)
        self._show()
        room.on_change(self._show)

    def _draw(self, name: str) -> None:
        words("span", name, "small breaks")
        slider = ui.slider(min=-2, max=2, step=0.5, value=0).props("snap")
        named(slider, f"Weight of {name}, as a power of two")
        when_settled(slider, lambda place: self._choose(name, place))
        weight = words("span", "", "small number")
        loss = hint(words("span", "", "small muted number"), "Share of its detail that it would lose.")
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
            loss.text = "" if lost is None else f"loses {percent(lost)}"


def _power(weight: float) -> float:
    """Where a weight stands on its slider: the nearest half power of two."""
    return max(-2.0, min(2.0, round(2 * log2(weight)) / 2))


# ---- the full run ----------------------------------------------------------------------------------------------------


class _FullRun:
    """A rehearsal of the whole: how far it is, how long it still takes, and a way to stop it."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._place = box("stack wide")
        self._bar: Any = None
        self._line: Any = None
        self._shown: object = None
        self._show()
        room.on_change(self._show)
        self._timer = ui.timer(0.3, self._move)

    def _last(self) -> Run | None:
        runs = self._room.session.runs
        return runs[-1] if runs else None

    def _show(self) -> None:
        run = self._last()
        state = None if run is None else (run.number, run.state, run.text == self._room.session.text)
        if self._shown == (state,) or self._place.is_deleted:
            return
        self._shown = (state,)
        self._place.clear()
        with self._place:
            if run is not None and not run.ended:
                self._going(run)
            else:
                if run is not None:
                    self._ended(run)
                with box("line"):
                    button("Try it on the whole table", self._start, icon="play_arrow")

    def _start(self) -> None:
        self._room.session.start()
        self._show()

    def _going(self, run: Run) -> None:
        with box("line"):
            self._line = words("span", "", "grow").props("role=status")
            button("Stopping …" if run.state == "stopping" else "Stop", self._stop, look="danger", icon="stop")
        self._bar = ui.linear_progress(run.fraction, show_value=False)
        named(self._bar, "How much of the run is done")
        self._move()

    def _stop(self) -> None:
        run = self._last()
        if run is not None:
            run.cancel()
        self._show()

    def _move(self) -> None:
        run = self._last()
        if run is None or run.ended or self._bar is None or self._bar.is_deleted:
            return
        self._bar.value = run.fraction
        left = "" if run.left is None else f", about {_time(run.left)} left"
        self._line.text = f"{run.stage[:1].upper()}{run.stage[1:]}: {run.fraction:.0%}{left}"

    def _ended(self, run: Run) -> None:
        if run.state == "done":
            with box("kept"):
                words("p", f"It can be released: every promise holds, checked in {_time(run.seconds)}.", "strong")
                figures = f"{run.figure('records'):,} records in {run.figure('classes'):,} groups, "
                words("p", f"{figures}{run.figure('suppressed records'):,} left out.", "small")
                if run.text != self._room.session.text:
                    words("p", "Something has changed since: try it again.", "small muted")
        else:
            with box("stop" if run.state == "refused" else "note").props("role=alert"):
                words("p", "It cannot be released like this." if run.state == "refused" else "Stopped.", "strong")
                words("p", run.problem, "prose")
                for remedy in run.remedies:
                    words("p", f"You could {remedy}.", "small prose")


def _time(seconds: float) -> str:
    whole = max(1, round(seconds))
    if whole < 90:
        return f"{whole} second{'' if whole == 1 else 's'}"
    return f"{round(whole / 60)} minutes"


PAGES.add("protect", Page("Protect", "Say how well people must be hidden, and see what that does.", "shield", draw))
