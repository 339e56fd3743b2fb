"""Mend a hierarchy while its score falls: the paper's future work (Ayala-Rivera et al. 2017, Sec. 7)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.explanation import Fix, explain
from keepsense.hierarchies.scoring import HowToScore
from keepsense.progress import Listener, emit
from keepsense.semantics.base import Distance

_SLACK = 1e-9


@dataclass(frozen=True, eq=False)
class Improvement:
    """A mended hierarchy, the fixes in the order they were made, and the score before and after.

    >>> Improvement(Hierarchy.of_rows([("a", "*")]), (), 0.4, 0.4).gain
    0.0
    """

    hierarchy: Hierarchy
    fixes: tuple[Fix, ...]
    before: float
    after: float

    @property
    def gain(self) -> float:
        """How far the score fell."""
        return self.before - self.after


def improve(
    hierarchy: Hierarchy,
    distance: Distance,
    *,
    at_most: int = 100,
    listener: Listener | None = None,
    **how: Unpack[HowToScore],
) -> Improvement:
    """Apply the fix that lowers the score most, again and again, until none does; then put labels in order.

    The leaves, and the number of roots, stay. A greedy search: each round tries every fix `explain` suggests, about a
    millisecond each. Swaps of labels that stand in the wrong order are made last, where they do not raise the score.
    So the score never rises, and it stops after `at_most` fixes.

    >>> from keepsense.hierarchies.words.concepts import with_concepts
    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy.embedded import wordnet
    >>> rows = [("surgeon", "medical practitioner", "doctor", "person"), ("pianist", "musician", "performer", "person")]
    >>> jobs = with_concepts(Hierarchy.of_rows(rows, name="job"), wordnet())
    >>> [fix.text for fix in improve(jobs, distance("wu-palmer", wordnet())).fixes]
    ["swap 'medical practitioner' and 'doctor'"]
    """
    if at_most < 0:
        raise BadInput(f"{hierarchy.name}: the number of fixes must be at least 0, not {at_most}")
    fixes: list[Fix] = []
    here = hierarchy
    state = explain(here, distance, worst=0, **how)
    before = state.gsl.total
    while len(fixes) < at_most:
        now = state.gsl.total
        options = [problem.fixes[0] for problem in state.problems if problem.fixes]
        options = [fix for fix in options if fix.total < now - _SLACK] or [
            problem.fixes[0]
            for problem in state.problems
            if problem.fault == "labels out of order" and problem.fixes and problem.fixes[0].total <= now + _SLACK
        ]
        if not options:
            break
        best = min(options, key=lambda fix: fix.total)
        here = best.apply(here)
        fixes.append(best)
        state = explain(here, distance, worst=0, **how)
        emit(listener, "fix", len(fixes), at_most, text=best.text, score=state.gsl.total)
    return Improvement(here, tuple(fixes), before, state.gsl.total)
