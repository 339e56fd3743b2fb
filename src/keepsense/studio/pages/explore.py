"""The fifth step: the space of solutions, what was made of the table, and several ways side by side."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from keepsense.methods.registry import METHODS
from keepsense.metrics import METRICS
from keepsense.release.figures.alternatives import Tried
from keepsense.release.figures.trade import FACTOR, Trade
from keepsense.shown import percent
from keepsense.studio.pages import PAGES, Page
from keepsense.studio.session import solutions
from keepsense.studio.session.distributions import Spread, before_and_after
from keepsense.studio.session.runs import Run
from keepsense.studio.session.solutions import Group, Solution, Solutions
from keepsense.studio.widgets.following import following, worked_out
from keepsense.studio.widgets.parts import (
    bar,
    box,
    button,
    complaint,
    empty,
    head,
    loss,
    meaning_of,
    named,
    pill,
    term,
    words,
)
from keepsense.studio.widgets.room import Room
from keepsense.studio.widgets.side_by_side import draw_rows

_BEST = 6
_RISKS = ("prosecutor, highest", "prosecutor, average", "marketer")
_LEFT_OUT = (
    "Records that were hidden because they would have broken a promise.",
    "Records whose quasi-identifiers are all hidden in the release, or that are not in it.",
)
_GROUPS = (
    "Groups of records that look alike in every quasi-identifier: nobody inside can be told from the others.",
    "Released records are grouped by all quasi-identifiers together, as they are released.",
)
_SECONDS = ("How long the run took.", "From the first row read to the last promise checked, on this machine.")


def draw(room: Room) -> None:
    """Solutions, runs compared, distributions, and what if a column weighed twice."""
    head(
        "Explore",
        "Look at what else could be released: other solutions of this method, other methods, other weights. Nothing "
        "here is released; what you like, you take.",
    )
    with box("card"):
        words("h2", "Other solutions")
        worked_out(
            room,
            lambda: room.session.text,
            lambda: (solutions.lattice(room.session), solutions.division(room.session)),
            lambda made: _space(room, *made),
            "Looking at the space of solutions …",
        )
    with box("card"):
        words("h2", "Runs side by side")
        following(room, lambda: _runs(room), lambda: _compared(room))
    with box("card"):
        words("h2", "Twenty rows before and after")
        draw_rows(room)
    with box("card"):
        words("h2", "Distributions and risk")
        following(room, lambda: _done(room), lambda: _distributions(room))
    with box("card"):
        words("h2", "What if a column weighed twice?")
        worked_out(
            room,
            lambda: room.session.text,
            lambda: (solutions.weighed_twice(room.session),),
            lambda made: _weighed(room, made[0]),
            "Trying it column by column …",
        )
    with box("card"):
        words("h2", "Other methods")
        worked_out(
            room,
            lambda: room.session.text,
            lambda: (solutions.others(room.session),),
            lambda made: _others(room, made[0]),
            "Trying other methods …",
        )
    with box("line"):
        button("Go on to Release", lambda: _go_on(room), look="primary", icon="arrow_forward")


def _go_on(room: Room) -> None:
    room.session.confirm("explore")
    room.go("release")


# ---- the space of solutions ------------------------------------------------------------------------------------------


def _space(room: Room, lattice: Solutions | None, division: Group | None) -> None:
    if lattice is not None:
        _Lattice(room, lattice)
    elif division is not None:
        _division(division)
    else:
        words(
            "p",
            "This method changes values one by one: there is no lattice of levels and no division to show.",
            "small muted prose",
        )


class _Lattice:
    """Every choice of one level a column as a point: safe or not, how much it loses, and the one that was chosen."""

    def __init__(self, room: Room, found: Solutions) -> None:
        self._room, self._found = room, found
        shown = "" if found.whole else f" The {len(found.nodes):,} most promising are shown."
        words(
            "p",
            f"Each point is one level for each column: {found.size:,} ways, of which {found.safe:,} keep every promise."
            f"{shown} Further up is vaguer; further right loses more. Press a point to see what it would lose.",
            "small muted prose",
        )
        with box("line tight"):
            pill("keeps every promise", "green")
            pill("breaks one", "red")
            pill("chosen", "blue")
        chart = ui.echart(self._options(), on_point_click=lambda event: self._pressed(event.data))
        named(chart.classes("lattice").props("role=img"), f"{found.safe:,} of {found.size:,} solutions are safe")
        self._wrong = complaint()
        own = solutions.own_levels(room.session)
        if own:
            with box("line"):
                words("span", f"You chose these levels: {own}.", "grow breaks")
                button("Let the search choose", lambda: room.do(solutions.leave_to_search, room.session))
        self._tried = box("stack")
        best = sorted((node for node in found.nodes if node.safe), key=lambda node: node.loss)[:_BEST]
        words("h3", "The best that are safe")
        for node in best:
            with box("line"):
                words("span", self._levels(node), "grow breaks small")
                words("span", f"loses {percent(node.loss)}", "small number")
                if node.chosen:
                    pill("chosen", "blue")
                else:
                    named(button("Try it", lambda n=node: self._try(n), look="quiet"), f"Try {self._levels(node)}")

    def _levels(self, node: Solution) -> str:
        return ", ".join(f"{name} {level}" for name, level in zip(self._found.columns, node.levels, strict=True))

    def _options(self) -> dict[str, Any]:
        def points(nodes: list[Solution]) -> list[dict[str, Any]]:
            return [{"value": [round(node.loss, 4), node.height], "name": str(places[node.levels])} for node in nodes]

        places = {node.levels: i for i, node in enumerate(self._found.nodes)}
        groups = (
            ("keeps every promise", "#2b8a3e", "circle", 9, [n for n in self._found.nodes if n.safe and not n.chosen]),
            ("breaks one", "#c0453c", "diamond", 8, [n for n in self._found.nodes if not n.safe]),
            ("chosen", "#1f6fb8", "pin", 26, [n for n in self._found.nodes if n.chosen]),
        )
        axis = {"axisLabel": {"color": "#7b8f8f"}, "nameTextStyle": {"color": "#7b8f8f"}, "nameLocation": "middle"}
        line = {"splitLine": {"lineStyle": {"color": "#8884"}}}
        return {
            "animation": False,
            "grid": {"left": 56, "right": 18, "top": 14, "bottom": 44},
            "xAxis": {"type": "value", "name": "loss", "nameGap": 28, "min": 0, **axis, **line},
            "yAxis": {"type": "value", "name": "steps up", "nameGap": 34, "minInterval": 1, **axis, **line},
            "series": [
                {"type": "scatter", "name": name, "symbol": symbol, "symbolSize": size, "itemStyle": {"color": colour},
                 "data": points(nodes)}
                for name, colour, symbol, size, nodes in groups
            ],
        }  # fmt: skip

    async def _pressed(self, data: Any) -> None:
        if isinstance(data, dict) and str(data.get("name", "")).isdigit():
            await self._try(self._found.nodes[int(data["name"])])

    async def _try(self, node: Solution) -> None:
        """Show what a node would lose, column by column."""
        lost = await self._room.work(solutions.attempt, self._room.session, node, self._found.columns)
        if lost is None or self._tried.is_deleted:
            return
        self._tried.clear()
        with self._tried, box("note stack"):
            with box("line"):
                words("h3", self._levels(node), "grow breaks")
                pill("keeps every promise" if node.safe else "breaks a promise", "green" if node.safe else "red")
            for name in self._found.columns:
                loss(name, lost.get(name))
            if node.chosen:
                words("p", "This is what would be released now.", "small muted")
            elif node.safe:
                with box("line"):
                    take = button("Use these levels", lambda: self._use(node), look="primary")
                    named(take, f"Use the levels {self._levels(node)}")
                    words("span", "The preview, the rows and the next run follow; undo is on top.", "small muted")
            else:
                words("p", "It breaks a promise, so it cannot be chosen.", "small muted")

    async def _use(self, node: Solution) -> None:
        self._wrong.text = ""
        await self._room.work(
            solutions.choose,
            self._room.session,
            node,
            self._found.columns,
            complain=lambda text: setattr(self._wrong, "text", text),
        )


def _division(tree: Group) -> None:
    words(
        "p",
        "From the whole table down to groups in which nobody can be told apart: each cut is at one column. Shown on "
        "some of the rows where there are many.",
        "small muted prose",
    )
    _group(solutions.pruned(tree), tree.records, opened=2)


def _group(group: Group, whole: int, opened: int) -> None:
    told = ", ".join(f"{name}: {value}" for name, value in group.values.items() if value not in ("*", "None"))
    size = f"{group.records:,} records"
    if not group.parts:
        with box("line tight leaf"):
            words("span", size, "small strong nowrap")
            words("span", told, "small muted breaks")
        return
    with box("group", "details") as branch:
        if opened:
            branch.props("open")
        cut = f", parted by {group.column}" if group.column and group.column != "classes" else ""
        with box(tag="summary"), box("line tight"):
            words("span", f"{size}{cut}", "small")
            with box("grow share"):
                bar(group.records / max(1, whole), f"{size} of {whole:,}")
        for part in group.parts:
            _group(part, whole, opened - 1)


# ---- runs ------------------------------------------------------------------------------------------------------------


def _runs(room: Room) -> list[tuple[int, str]]:
    return [(run.number, run.state) for run in room.session.runs]


def _done(room: Room) -> int:
    return sum(run.state == "done" for run in room.session.runs)


def _compared(room: Room) -> None:
    """The runs that were made, one beside the other, and a button for one more."""
    runs = [run for run in room.session.runs if run.state in ("done", "refused")]
    going = room.session.running

    def start() -> None:
        room.session.start()
        room.desk.changed()

    if not runs:
        words(
            "p",
            "Try it on the whole table, change something, and try it again: the figures stand side by side here.",
            "small muted prose",
        )
    else:
        with box("scroll").props("tabindex=0 role=region aria-label='Runs side by side'"), box("plain runs", "table"):
            with box(tag="thead"), box(tag="tr"):
                words("td", "")
                for run in runs:
                    words("th", f"{run.number}. {run.name}").props("scope=col")
            with box(tag="tbody"):
                _line("outcome", [_state(run, room) for run in runs])
                _line("detail lost", [percent(_mean_loss(run)) for run in runs], meaning_of("certainty penalty"))
                for name in _RISKS:
                    figures = [run.figure("risk", "after", name) for run in runs]
                    shown = [percent(figure) if figure is not None else "–" for figure in figures]
                    _line(f"risk: {METRICS[name].label}", shown, meaning_of(name))
                _line("records left out", [_number(run.figure("suppressed records")) for run in runs], _LEFT_OUT)
                _line("groups", [_number(run.figure("classes")) for run in runs], _GROUPS)
                _line("seconds", [f"{run.seconds:.1f}" for run in runs], _SECONDS)
                for column in room.session.project.quasi_identifiers:
                    figures = [run.figure("columns", column, "lost") for run in runs]
                    shown = [percent(figure) if figure is not None else "–" for figure in figures]
                    _line(f"{column} loses", shown, meaning_of("certainty penalty"))
    with box("line"):
        if going is None:
            button("Try it on the whole table", start, icon="play_arrow")
        else:
            words("span", f"A run is under way: {going.fraction:.0%}", "muted").props("role=status")
            button("Stop", going.cancel, look="danger")


def _line(name: str, cells: list[str], about: tuple[str, str] | None = None) -> None:
    """A row of the table of runs: a figure that explains itself, and what it was in each run."""
    with box(tag="tr"):
        with box(tag="th").props("scope=row"):
            if about:
                term(name, *about)
            else:
                words("span", name)
        for cell in cells:
            words("td", cell, "number")


def _state(run: Run, room: Room) -> str:
    now = " (as it stands now)" if run.text == room.session.text else ""
    return ("could be released" if run.state == "done" else "cannot be released") + now


def _mean_loss(run: Run) -> float | None:
    columns = run.figure("columns") or {}
    lost = [column["lost"] for column in columns.values() if "lost" in column]
    return sum(lost) / len(lost) if lost else None


def _number(value: Any) -> str:
    return "–" if value is None else f"{value:,}"


# ---- distributions ---------------------------------------------------------------------------------------------------


def _distributions(room: Room) -> None:
    """How the values of a column are spread in the table and in the last run; the risk of both."""
    run = next((run for run in reversed(room.session.runs) if run.state == "done"), None)
    if run is None or run.outcome is None:
        empty("Nothing to compare yet", "Try it on the whole table first: the button is further up.", "bar_chart")
        return
    _risk(run)
    names = [name for name in run.outcome.counts.names if name in run.outcome.after.names]
    which = ui.select(names, value=names[0], label="Column").props("dense outlined options-dense").classes("kind")
    place = box("two")

    def show() -> None:
        both = before_and_after(run, str(which.value))
        place.clear()
        if both is not None:
            with place:
                _spread("Before", both[0], "before")
                _spread("After", both[1], "")

    which.on_value_change(show)
    show()


def _spread(title: str, spread: Spread, look: Any) -> None:
    with box("stack"):
        words("h3", f"{title}: {spread.values:,} values")
        for value, share in spread.shares:
            with box("line tight"):
                words("span", value, "grow small breaks")
                words("span", percent(share), "small number")
            bar(share, f"{value}: {percent(share)}", look)
        if spread.rest > 1e-9:
            words("p", f"All others together: {percent(spread.rest)}", "small muted")


def _risk(run: Run) -> None:
    """The chance of being recognized before and after, as bars."""
    words("h3", "The chance of being recognized")
    for name in _RISKS:
        before, after = (run.figure("risk", when, name) for when in ("before", "after"))
        if before is None:
            continue
        with box("line"):
            term(f"{METRICS[name].label[:1].upper()}{METRICS[name].label[1:]}", *meaning_of(name), "small strong")
        for when, share, look in (("before", before, "before"), ("after", after, "")):
            if share is not None:
                with box("line tight"):
                    words("span", when, "small muted").style("width: 3.5rem")
                    with box("grow"):
                        bar(share, f"{name} {when}: {percent(share)}", look)  # type: ignore[arg-type]
                    words("span", percent(share), "small number")


# ---- what if ---------------------------------------------------------------------------------------------------------


def _weighed(room: Room, found: Trade | None) -> None:
    if found is None:
        words("p", "With this method, or these columns, weights cannot be traded.", "small muted prose")
        return
    words("p", f"{found.measured[:1].upper()}{found.measured[1:]}.", "small muted prose")
    for offer in found.offers:
        with box("line"):
            words("span", f"{offer.sentence[:1].upper()}{offer.sentence[1:]}.", "grow small prose")
            weight = FACTOR * room.session.project.columns[offer.column].weight
            take = button(
                "Do it", lambda c=offer.column, w=weight: room.do(room.session.set_weight, c, w), look="quiet"
            )
            named(take, f"Let {offer.column} weigh twice")


def _others(room: Room, tried: list[Tried]) -> None:
    if not tried:
        words("p", "There is no other method to compare this one with.", "small muted prose")
        return
    words(
        "p",
        "The same table and promises with other methods that make values vaguer, on some of the rows where there are "
        "many.",
        "small muted prose",
    )
    wrong = complaint()
    for one in sorted(tried, key=lambda found: (bool(found.problem), found.penalty or 1.0)):
        with box("line"):
            words("span", METHODS[one.method].title if one.method in METHODS else one.method, "strong grow")
            if one.problem:
                words("span", one.problem, "small muted")
                continue
            term(f"loses {percent(one.penalty)}", *meaning_of("certainty penalty"), "small number")
            term(f"{one.classes:,} groups", *_GROUPS, "small muted number")
            use = button(
                "Use it",
                lambda name=one.method: room.do(
                    room.session.set_method, name, complain=lambda text: setattr(wrong, "text", text)
                ),
                look="quiet",
            )
            named(use, f"Use {one.method}")


PAGES.add("explore", Page("Explore", "Look at other solutions, and compare.", "explore", draw))
