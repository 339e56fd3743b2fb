"""The space of solutions: a lattice of levels with its safe nodes, or the division of the table."""

from __future__ import annotations

from typing import Any

from nicegui import ui

from keepsense.display import percent
from keepsense.studio.exploring.division import Division, draw_undivided
from keepsense.studio.session import solutions
from keepsense.studio.session.division import Group
from keepsense.studio.session.solutions import Solution, Solutions
from keepsense.studio.widgets.figures import About, Told, loss, term, told
from keepsense.studio.widgets.parts import box, button, complaint, named, pill, words
from keepsense.studio.widgets.room import Room

_BEST = 6
_WAYS = About(
    "In how many ways every column can be given one of its levels.",
    "The numbers of levels of all columns, the values themselves among them, multiplied.",
)
_SAFE = About(
    "Ways that keep every promise, with no more records left out than allowed.",
    "For each way the groups are counted, and every promise is judged on them.",
)
_NEAREST = About(
    "There are too many ways to look at all of them.",
    "Beginning at the levels that would be released, columns are taken a step up or down, first one, then two and so "
    "on. Use other levels, and what lies around these is looked at.",
)
_DRAWN = About(
    "More points than these could not be told apart.",
    "The safe ways that lose least, and those that are one step away from the best of them.",
)
_LEVELS = About(
    "Which level each column would be released at: 0 is as it is, the highest level is hidden.",
    "Levels are those of the column's tree, counted from the values up; see the step Hierarchies.",
)
_NODE_LOSS = About(
    "Share of the detail that is lost with these levels, over all columns; records that are left out come on top.",
    "For every value, how much of its column one no longer knows: the share of the other values that could be meant as "
    "well. Averaged over all columns and records.",
)


def draw_space(room: Room, lattice: Solutions | None, division: Group | None) -> None:
    """The lattice where the method chooses levels, the division where it parts the table; else a line that says so."""
    if lattice is not None:
        Lattice(room, lattice)
    elif division is not None:
        Division(room, division)
    else:
        draw_undivided(room)


class Lattice:
    """Every choice of one level a column as a point: safe or not, how much it loses, and the one that was chosen."""

    def __init__(self, room: Room, found: Solutions) -> None:
        self._room, self._found = room, found
        told(
            "Each point is one level for each column: ",
            Told(f"{found.size:,} ways", _WAYS),
            *self._counted(),
            " Further up is vaguer; further right loses more. Press a point to see what it would lose.",
            classes="small muted prose",
        )
        with box("line tight"):
            pill("keeps every promise", "green")
            pill("breaks one", "red")
            pill("chosen", "blue")
        chart = ui.echart(self._options(), on_point_click=lambda event: self._pressed(event.data))
        named(chart.classes("lattice").props("role=img"), f"{found.safe:,} of {found.judged:,} solutions are safe")
        self._wrong = complaint()
        own = solutions.own_levels(room.session)
        if own:
            with box("line"):
                words("span", f"You chose these levels: {own}.", "grow breaks data")
                button(
                    "Let the search choose",
                    lambda: room.do(solutions.leave_to_search, room.session, complain=self._complain),
                )
        self._tried = box("stack")
        best = sorted((node for node in found.nodes if node.safe), key=lambda node: node.loss)[:_BEST]
        words("h3", "The best that are safe")
        for node in best:
            with box("line"):
                term(self._levels(node), *_LEVELS, "grow breaks small sentence")
                term(f"loses {percent(node.loss)}", *_NODE_LOSS, "small number")
                if node.chosen:
                    pill("chosen", "blue")
                else:
                    named(button("Try it", lambda n=node: self._try(n), look="quiet"), f"Try {self._levels(node)}")

    def _counted(self) -> tuple[str | Told, ...]:
        """How many ways keep every promise, and which of them are shown."""
        found = self._found
        safe = Told(f"{found.safe:,}", _SAFE)
        if found.judged < found.size:
            near = Told(f"{found.judged:,} nearest", _NEAREST)
            return (", of which the ", near, " to the chosen one were looked at: ", safe, " keep every promise.")
        if found.whole:
            return (", of which ", safe, " keep every promise.")
        best = Told(f"{len(found.nodes):,} most promising", _DRAWN)
        return (", of which ", safe, " keep every promise. The ", best, " are shown.")

    def _levels(self, node: Solution) -> str:
        return ", ".join(f"{name} {level}" for name, level in zip(self._found.columns, node.levels, strict=True))

    def _options(self) -> dict[str, Any]:
        def points(nodes: list[Solution]) -> list[dict[str, Any]]:
            return [
                {
                    "value": [round(node.loss, 4), node.height],
                    "name": str(places[node.levels]),
                    "tooltip": {"formatter": f"{self._levels(node)}\nloses {percent(node.loss)}"},
                }
                for node in nodes
            ]

        places = {node.levels: i for i, node in enumerate(self._found.nodes)}
        groups = (
            ("keeps every promise", "#2b8a3e", "circle", 9, [n for n in self._found.nodes if n.safe and not n.chosen]),
            ("breaks one", "#c0453c", "diamond", 8, [n for n in self._found.nodes if not n.safe]),
            ("chosen", "#1f6fb8", "pin", 26, [n for n in self._found.nodes if n.chosen]),
        )
        axis = {"axisLabel": {"color": "#7b8f8f"}, "nameTextStyle": {"color": "#7b8f8f"}, "nameLocation": "middle"}
        # where only some are shown, the axes begin where these do
        line = {"scale": not self._found.whole, "splitLine": {"lineStyle": {"color": "#8884"}}}
        return {
            "animation": False,
            # drawn as text on the canvas: names of columns never become HTML
            "tooltip": {"renderMode": "richText", "confine": True},
            "grid": {"left": 56, "right": 18, "top": 14, "bottom": 44},
            "xAxis": {"type": "value", "name": "loss", "nameGap": 28, **axis, **line},
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
        lost = await self._room.work(
            solutions.attempt, self._room.session, node, self._found.columns, complain=self._complain
        )
        if lost is None or self._tried.is_deleted:
            return
        self._tried.clear()
        with self._tried, box("note stack"):
            with box("line"):
                words("h3", self._levels(node), "grow breaks data")
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
            complain=self._complain,
        )

    def _complain(self, text: str) -> None:
        self._wrong.text = text
