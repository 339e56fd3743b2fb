"""Candidate hierarchies of a column, ranked by their cost or by the papers' reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from nicegui import ui
from nicegui.events import GenericEventArguments

from keepsense.display import percent
from keepsense.hierarchies.hierarchy_scores import ASPECTS
from keepsense.studio.session import trees
from keepsense.studio.widgets.figures import About, term
from keepsense.studio.widgets.parts import box, button, hint, named, pill, words
from keepsense.studio.widgets.room import Room

_SHOWN = 6
"""Candidates that are listed before somebody asks for more."""
GSL = (
    "For each level: how far, in the taxonomy, the label of a value is from the value itself, or for numbers and dates "
    "how wide its range is beside that of the column, averaged over the different values; the figure of a tree is the "
    "weighted mean of its levels."
)
"""How the loss of meaning is computed."""
LABELS = About(
    "How many different labels a level has: the fewer, the vaguer.",
    "Labels of the level are counted, each once.",
)
_LOSS = About("The loss of meaning on the way up, averaged over levels: 0 is none, 1 is all.", GSL)
_COST = About(
    "What all columns lose together with it, measured on a sample; a dash where it was not tried, since only the "
    "likeliest are.",
    "The method is run on a sample with this tree in place of the one in use; the losses of all columns are averaged.",
)
_REWARD = About(
    "The papers' reward for the weights above: the higher, the better.",
    "Candidates are ranked in each of four aspects; the best of n earns n points, the worst one. Points are multiplied "
    "by the weights and added up.",
)
_ASPECT_WEIGHT = About(
    "How much this aspect counts in the reward, beside the others.",
    "The four weights are divided by their sum, and multiplied with the points that a candidate earns in each aspect.",
)
_MADE = About(
    "What rule built the tree.",
    "A subsumer is what the taxonomy puts above several values: a health worker subsumes nurses and surgeons. Other "
    "rules group values that are close in meaning, or cut numbers into ranges.",
)


@dataclass
class Ranking:
    """How candidates are ranked, whatever column they are of.

    >>> Ranking().by_reward
    False
    """

    by_reward: bool = False
    weights: list[float] = field(default_factory=lambda: [1.0] * len(ASPECTS))


class CandidateList:
    """The candidates of a column; `complain` says what is wrong with one that was chosen."""

    def __init__(self, room: Room, column: str, ranking: Ranking, complain: Callable[[str], None]) -> None:
        self._room, self._column, self._ranking, self._complain = room, column, ranking, complain

    def draw(self, found: trees.Candidates) -> None:
        """What else the column could have: by what it costs at this k, or by the papers' reward."""
        if len(found.all) == 1:
            words("p", "There is no other way to group these values.", "small muted")
            return
        words(
            "p",
            "Cost is what all columns lose together with it, for the promises as they are. The reward is that of the "
            "papers: give each aspect a weight, and the ranking follows.",
            "small muted prose",
        )
        with box("line"):
            order = ui.toggle({False: "by cost", True: "by reward"}, value=self._ranking.by_reward)
            named(order.props("no-caps unelevated toggle-color=primary"), "What candidates are ranked by")
        sliders = box("stack")
        listed = box("stack")

        def show() -> None:
            self._ranking.by_reward = bool(order.value)
            sliders.set_visibility(self._ranking.by_reward)
            listed.clear()
            with listed:
                self._listed(found)

        with sliders:
            for place, aspect in enumerate(ASPECTS):
                with box("weighed"):
                    hint(words("span", aspect, "small"), f"{trees.ASPECT_MEANINGS[aspect]}.")
                    slider = ui.slider(min=0, max=1, step=0.05, value=self._ranking.weights[place])
                    named(slider, f"Weight of {aspect}")
                    weight = term(f"{self._ranking.weights[place]:.2f}", *_ASPECT_WEIGHT, "small number")
                slider.on_value_change(lambda event, weight=weight: setattr(weight, "text", f"{event.value:.2f}"))

                def weigh(event: GenericEventArguments, place: int = place) -> None:
                    self._ranking.weights[place] = float(event.args)
                    show()

                slider.on("change", weigh)
        order.on_value_change(show)
        show()

    def _listed(self, found: trees.Candidates) -> None:
        rewards = dict(zip(map(id, found.all), found.rewards(self._ranking.weights), strict=True))
        ranked = found.by_reward(self._ranking.weights) if self._ranking.by_reward else found.by_cost()
        with box("candidate"):
            for name, about in (
                ("how it is made", _MADE),
                ("cost", _COST),
                ("GSL", _LOSS),
                ("reward", _REWARD),
            ):
                term(name, *about, "small muted")
            words("span", "")
        # what is in use is always there to compare with, wherever it stands
        for candidate in ranked[:_SHOWN] + [other for other in ranked[_SHOWN:] if other.chosen]:
            self._candidate(candidate, rewards[id(candidate)])

    def _candidate(self, candidate: trees.Candidate, reward: float) -> None:
        with box("candidate"):
            with box("stack"):
                words("span", candidate.made, "breaks data")
                sizes = " → ".join(map(str, candidate.sizes))
                term(f"labels on each level: {sizes}", *LABELS, "small muted")
            term("–" if candidate.cost is None else percent(candidate.cost), *_COST, "number")
            term("–" if candidate.gsl is None else f"{candidate.gsl:.3f}", *_LOSS, "number")
            term(f"{reward:.2f}", *_REWARD, "number")
            if candidate.chosen:
                pill("in use", "green")
            else:

                async def use() -> None:
                    self._complain("")
                    session, tree = self._room.session, candidate.hierarchy
                    await self._room.work(
                        trees.use, session, self._column, tree, candidate.made, complain=self._complain
                    )

                named(button("Use it", use), f"Use the hierarchy: {candidate.made}")
