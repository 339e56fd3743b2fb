"""The catalogue page: every method with its flowchart, and lessons that play an algorithm step by step."""

from __future__ import annotations

from nicegui import ui
from nicegui.element import Element

from keepsense.guide.catalogue import catalogue, children, entry, flowchart
from keepsense.guide.flowchart_drawing import draw_svg
from keepsense.lessons.recorder import Step
from keepsense.lessons.walkthrough import Trace, explain, explainable
from keepsense.methods.method import Described, Relation
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.widgets.figures import About, said
from keepsense.studio.widgets.parts import box, button, complaint, head, named, pill, words
from keepsense.studio.widgets.room import Room

_COLOURS = 8
_FACT = About(
    "What the algorithm found at this step, and by what it decides what comes next.",
    "It is taken from a run on the small table: the method itself tells what it does, and nothing is made up for the "
    "lesson.",
)


def draw(room: Room) -> None:
    """List the techniques; one that is chosen takes the list's place."""
    head(
        "Catalogue",
        "Every technique there is here: what it does, when to use it, and how it works, played step by step on ten "
        "made-up people.",
    )
    place = box("stack wide")
    with place:
        _list(room, place)


def _list(room: Room, place: Element) -> None:
    shown = set(explainable())
    for family in (found for found in catalogue().values() if found.family is None):
        with box("stack wide"):
            words("h2", family.title)
            words("p", family.intent, "muted prose")
            with box("tiles manual"):
                for found in listed(family):
                    with box("card tile", "button").props("type=button") as tile:
                        words("span", found.title, "strong")
                        words("span", f"{found.short[:1].upper()}{found.short[1:]}.", "small muted")
                        if found.name in shown:
                            pill("with a lesson", "green")
                    tile.on("click", lambda f=found: _turn_to(room, place, f))


def listed(family: Described) -> list[Described]:
    """What is shown of a family: itself where it is a technique or has nothing below it, and all techniques below it.

    >>> [found.title for found in listed(entry("sampling"))], [found.name for found in listed(entry("disassociation"))]
    (['Sampling'], ['disassociation', 'semantic disassociation'])
    """
    below: list[Described] = []
    for child in children(family.name):
        below += [child] if child.runs else listed(child)
    return [family, *below] if family.runs or not below else below


def _turn_to(room: Room, place: Element, found: Described) -> None:
    place.clear()
    with place:
        with box("line"):
            button("All techniques", lambda: room.go("catalogue"), look="quiet", icon="arrow_back")
        with box("stack"):
            words("h2", found.title)
            words("p", found.intent, "prose")
        if found.name in explainable():
            _lesson(room, found.name)
        with box("columns manual"):
            with box("card"):
                _facts(found)
            with box("card"):
                words("h3", "What the algorithm does, step by step")
                # drawn from our own words about methods; nothing of the table is in it
                ui.html(draw_svg(flowchart(found.name), found.title), sanitize=False)


def _facts(found: Described) -> None:
    for title, sentences in (
        ("Use it when", found.use),
        ("Rather not when", found.avoid),
        ("It needs", found.inputs),
        ("It guarantees", (found.guarantee,)),
        ("For example", (found.example,)),
        ("Cost", (found.cost,)),
        ("Goes well with", _related(found.combines)),
        ("Does not go with", _related(found.conflicts)),
        ("Paper", (found.paper,)),
    ):
        if sentences:
            with box("stack"):
                words("h3", title)
                for sentence in sentences:
                    words("p", sentence, "small")


def _related(relations: tuple[Relation, ...]) -> tuple[str, ...]:
    return tuple(f"{entry(relation.name).title}: {relation.why}" for relation in relations)


# ---- lessons ---------------------------------------------------------------------------------------------------------


def _lesson(room: Room, name: str) -> None:
    with box("card lesson"):
        words("h3", "The lesson")
        words(
            "p",
            "Watch it work on a small table: what it chose, why, and what the table is like after each step.",
            "small muted",
        )
        wrong = complaint()
        place = box("stack wide")
        with place:
            start = button("Play the lesson", look="primary", icon="play_arrow")

    async def play() -> None:
        start.disable()
        trace = await room.work(explain, name, complain=lambda text: setattr(wrong, "text", text))
        if trace is not None and not place.is_deleted:
            place.clear()
            with place:
                _Player(trace)

    start.on_click(play)


class _Player:
    """A lesson that is being played: the step it is at, and how to go on."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._steps: tuple[Step, ...] = (trace.before, *trace.steps, trace.final)
        self._at = 0
        about = f"On {trace.where}. Rows of one colour form a group; what a step changed is bold."
        said(about, _FACT, "small muted")
        with box("line"):
            self._back = button("Back", lambda: self._go(self._at - 1), icon="arrow_back")
            self._next = button("Next", lambda: self._go(self._at + 1), look="primary", icon="arrow_forward")
            self._timer = ui.timer(1.6, lambda: self._go(self._at + 1), active=False)
            self._run = button("Run", self._toggle, look="quiet", icon="play_arrow")
            self._count = words("span", "", "small muted number position").props("role=status")
        self._place = box("stack")
        self._go(0)

    def _toggle(self) -> None:
        self._timer.active = not self._timer.active
        if self._timer.active and self._at == len(self._steps) - 1:
            self._go(0)
        self._run.text = "Pause" if self._timer.active else "Run"

    def _go(self, at: int) -> None:
        self._at = max(0, min(at, len(self._steps) - 1))
        last = self._at == len(self._steps) - 1
        if last:
            self._timer.active = False
            self._run.text = "Run"
        self._back.set_enabled(self._at > 0)
        self._next.set_enabled(not last)
        self._count.text = f"Step {self._at} of {len(self._steps) - 1}"
        self._place.clear()
        with self._place:
            self._draw(self._steps[self._at], self._steps[self._at - 1] if self._at else None, last=last)

    def _draw(self, step: Step, before: Step | None, *, last: bool) -> None:
        with box("line"):
            words("h3", step.title, "data")
            if step.safe is not None:
                pill("safe", "green") if step.safe else pill("not safe yet", "yellow")
        with box("line"):
            for name, value in step.facts:
                said(f"{name}: {value}", _FACT, "small muted", "span")
        if last:
            said(self._trace.verdict, _FACT, "strong")
        self._table(step, before)

    def _table(self, step: Step, before: Step | None) -> None:
        trace, colours = self._trace, _colours(step)
        around = box("scroll").props("tabindex=0 role=region")
        with named(around, "The table after this step"), box("plain lesson-table", "table"):
            with box(tag="thead"), box(tag="tr"):
                names = trace.head(step)
                for place, name in enumerate(names):
                    counted = place == len(names) - 1 and not step.marks
                    words("th", name, "n" if counted else "").props("scope=col")
            with box(tag="tbody"):
                for i, row in enumerate(step.table):
                    hidden = step is trace.final and trace.suppressed[i]
                    with box("gone" if hidden else "" if colours[i] is None else f"g{colours[i]}", "tr"):
                        if trace.by_rows:
                            words("td", i + 1, "n")
                        for j, value in enumerate(row):
                            changed = before is not None and value != before.table[i][j]
                            words("td", value, "new" if changed else "")
                        for name in trace.further:
                            words("td", trace.lesson.columns[name][i])
                        if any(step.marks):
                            words("td", step.marks[i])
                        elif not step.marks:
                            words("td", "suppressed" if hidden else step.sizes[i], "n")


def _colours(step: Step) -> list[int | None]:
    """A colour for each group that is large enough; groups with a number keep theirs."""
    if step.marks:
        return [g % _COLOURS if n >= step.k else None for g, n in zip(step.groups, step.sizes, strict=True)]
    safe = dict.fromkeys(g for g, size in zip(step.groups, step.sizes, strict=True) if size >= step.k)
    number = {group: i % _COLOURS for i, group in enumerate(safe)}
    return [number.get(group) for group in step.groups]


PAGES.add("catalogue", Page("Catalogue", "Every technique, with lessons that play it step by step.", "menu_book", draw))
