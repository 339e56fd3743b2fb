"""What makes a hierarchy score badly, and fixes: worst transitions, levels out of order, misplaced labels.

Ayala-Rivera et al. 2017 (Sec. 3.4, Example 2) read such faults off the scores by hand: "doctor" above "medical
practitioner", opticians under doctors, teachers under the object "education". Here each gets the fixes that an editor
would try; `improve` applies them while the score falls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

import numpy as np

from keepsense.arrays import Ints
from keepsense.counts import Value
from keepsense.errors import BadHierarchy, BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_editor import edit
from keepsense.hierarchies.hierarchy_scores import Gsl, HowToScore, ancestors, score, score_all
from keepsense.hierarchies.word_concepts import Ancestry, Namer, choose_parents
from keepsense.progress import Listener, emit
from keepsense.semantics.distance import Distance

Fault = Literal["level out of order", "labels out of order", "wrong parent", "wrong label"]
_SLACK = 1e-9


@dataclass(frozen=True)
class Transition:
    """One leaf at one level: what it becomes and loses, and how much of that another label could have saved.

    >>> Transition("optician", 1, "doctor", 0.33, 0.2).level
    1
    """

    leaf: Value
    level: int
    label: Value
    loss: float
    avoidable: float = 0.0


@dataclass(frozen=True)
class Fix:
    """A way to mend a fault: editing steps, and the score the hierarchy would have after them.

    >>> Fix("drop level 2", (("drop_level", {"level": 2}),)).text
    'drop level 2'
    """

    text: str
    steps: tuple[tuple[str, Mapping[str, Any]], ...]
    total: float = float("nan")

    def apply(self, hierarchy: Hierarchy) -> Hierarchy:
        """The hierarchy after the steps; refuses steps that no longer fit."""
        for operation, arguments in self.steps:
            hierarchy = edit(hierarchy, operation, **arguments).after
        return hierarchy


@dataclass(frozen=True)
class Problem:
    """A fault of a hierarchy, where it is, and the fixes to try, best first.

    >>> Problem("wrong parent", 0, "optician", "an optician is no doctor").fixes
    ()
    """

    fault: Fault
    level: int
    label: Value
    message: str
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, eq=False)
class Explanation:
    """Scores of a hierarchy, its worst transitions and its problems.

    >>> from keepsense.hierarchies.kinds.numeric_kind import equal_width
    >>> str(explain(equal_width(range(17, 91), name="age"))).startswith("age: GSL ")
    True
    """

    gsl: Gsl
    worst: tuple[Transition, ...]
    problems: tuple[Problem, ...] = field(default=())

    def __str__(self) -> str:
        lines = [f"{self.gsl.name}: GSL {self.gsl.total:.4f} ({self.gsl.grade})"]
        lines += [f"  level {i}: {loss:.4f}" for i, loss in enumerate(self.gsl.levels.tolist(), 1)]
        for problem in self.problems:
            lines.append(f"- {problem.message}")
            lines += [f"    fix: {fix.text} (GSL {fix.total:.4f})" for fix in problem.fixes[:1]]
        return "\n".join(lines)


def explain(
    hierarchy: Hierarchy,
    distance: Distance | None = None,
    *,
    worst: int = 10,
    **how: Unpack[HowToScore],
) -> Explanation:
    """Explain the score of a hierarchy.

    Each fault comes with fixes and the score after each, found by trying them: about a millisecond a try. A swap of two
    labels leaves the score as it is where levels have uniform weights, and still mends the order.

    >>> from keepsense.hierarchies.word_concepts import with_concepts
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> rows = [("surgeon", "medical practitioner", "doctor", "person"), ("pianist", "musician", "performer", "person")]
    >>> jobs = with_concepts(Hierarchy.of_rows(rows, name="job"), wordnet())
    >>> [problem.message for problem in explain(jobs, distance("wu-palmer", wordnet())).problems]
    ["'doctor' stands above 'medical practitioner' and is a kind of it"]
    """
    result = score(hierarchy, distance, **how)
    if not KINDS[hierarchy.kind].words or distance is None:
        return Explanation(result, _worst(hierarchy, result, None, worst))
    ancestry = Ancestry(distance.taxonomy)
    concepts = ancestors(hierarchy, ancestry)
    problems = [
        *_order(hierarchy, concepts, ancestry),
        *_placed(hierarchy, concepts, ancestry),
        *_levels(hierarchy, result),
    ]
    tried = _tried(hierarchy, [fix for p in problems for fix in p.fixes], distance, how)
    mended = []
    for problem in problems:
        fitting = [tried[id(fix)] for fix in problem.fixes if id(fix) in tried]
        best = tuple(sorted(fitting, key=lambda fix: fix.total))
        mended.append(Problem(problem.fault, problem.level, problem.label, problem.message, best))
    mended.sort(key=lambda p: p.fixes[0].total if p.fixes else np.inf)
    saved = _savable(hierarchy, concepts, ancestry, distance, result)
    return Explanation(result, _worst(hierarchy, result, saved, worst), tuple(mended))


def _worst(hierarchy: Hierarchy, result: Gsl, savable: Any, number: int) -> tuple[Transition, ...]:
    """Transitions with the most avoidable loss, then the most loss; the top only where it could have been better."""
    known = np.arange(len(hierarchy.leaves))
    if result.left_out:
        known = np.flatnonzero(hierarchy.concept_codes(0)[hierarchy.codes[:, 0]] >= 0)
    found = []
    for row, leaf in enumerate(known.tolist()):
        for level in range(1, hierarchy.height + 1):
            loss = float(result.transitions[row, level - 1])
            avoidable = 0.0 if savable is None else float(savable[row, level - 1])
            if level < hierarchy.height or avoidable > _SLACK or hierarchy.height == 1:
                label = hierarchy.labels[level][hierarchy.codes[leaf, level]]
                found.append(Transition(hierarchy.leaves[leaf], level, label, loss, max(0.0, avoidable)))
    found.sort(key=lambda t: (-round(t.avoidable, 9), -round(t.loss, 9)))
    return tuple(found[:number])


def _savable(
    hierarchy: Hierarchy, concepts: list[Ints], ancestry: Ancestry, distance: Distance, result: Gsl
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Loss of each transition beyond what its group would lose under the least common subsumer of its leaves."""
    leaves = concepts[0][hierarchy.codes[:, 0]]
    known = leaves >= 0
    ideal = np.empty((int(known.sum()), hierarchy.height), dtype=np.int32)
    for level in range(1, hierarchy.height + 1):
        for code in range(len(hierarchy.labels[level])):
            rows = (hierarchy.codes[:, level] == code) & known
            ideal[rows[known], level - 1] = ancestry.lcs(leaves[rows].tolist())
    row_set, column_set = np.unique(leaves[known]), np.unique(ideal)
    matrix = distance.normalised().matrix(row_set, column_set)
    least = matrix[np.searchsorted(row_set, leaves[known])[:, None], np.searchsorted(column_set, ideal)]
    return np.asarray(result.transitions - least)


def _order(hierarchy: Hierarchy, concepts: list[Ints], ancestry: Ancestry) -> Iterator[Problem]:
    """A label whose parent is a kind of it; of labels above words without a concept nothing is known."""
    meant = concepts[0][hierarchy.codes[:, 0]] >= 0
    for level in range(1, hierarchy.height):
        known = set(hierarchy.codes[meant, level].tolist())
        for child, parent in enumerate(hierarchy.parents[level].tolist()):
            if child not in known:
                continue
            low, high = int(concepts[level][child]), int(concepts[level + 1][parent])
            if low != high and low in ancestry.above(high):
                below, above = hierarchy.labels[level][child], hierarchy.labels[level + 1][parent]
                swap = Fix(
                    f"swap {below!r} and {above!r}",
                    (
                        ("rename", {"level": level, "label": below, "to": above, "concept": high}),
                        ("rename", {"level": level + 1, "label": above, "to": below, "concept": low}),
                    ),
                )
                sisters = np.flatnonzero(hierarchy.parents[level] == parent).tolist()
                rest = [hierarchy.labels[level][c] for c in sisters if c != child]
                apart = _apart(hierarchy, level + 1, above, [below], rest, below, low) if rest else ()
                message = f"{above!r} stands above {below!r} and is a kind of it"
                yield Problem("labels out of order", level, below, message, (swap, *apart))


def _placed(hierarchy: Hierarchy, concepts: list[Ints], ancestry: Ancestry) -> Iterator[Problem]:
    """Labels with children that are no kinds of them: children to move or set apart, or the label to rename."""
    taxonomy = ancestry.taxonomy
    leaf_concepts = dict(zip(hierarchy.leaves, concepts[0].tolist(), strict=True))
    namer = Namer(taxonomy, leaf_concepts)
    for level in range(hierarchy.height):
        for parent in range(len(hierarchy.labels[level + 1])):
            high = int(concepts[level + 1][parent])
            children = np.flatnonzero(hierarchy.parents[level] == parent).tolist()
            known = [c for c in children if concepts[level][c] >= 0]
            over = ancestry.above(high)  # a child above its parent is out of order, which is told elsewhere
            strange = [
                c
                for c in known
                if concepts[level][c] not in over and high not in ancestry.above(int(concepts[level][c]))
            ]
            if not strange:
                continue
            label = hierarchy.labels[level + 1][parent]
            names = [hierarchy.labels[level][c] for c in strange]
            better = _name_above(hierarchy, level, known, concepts, ancestry)
            rename = _rename(hierarchy, level + 1, label, better, namer)
            if len(strange) == len(known):
                message = f"nothing under {label!r} at level {level + 1} is a kind of it"
                yield Problem("wrong label", level + 1, label, message, rename)
                continue
            own = _name_above(hierarchy, level, strange, concepts, ancestry)
            rest = [hierarchy.labels[level][c] for c in children if c not in strange]
            apart = _apart(hierarchy, level + 1, label, names, rest, namer(own), own)
            for child in strange:
                name = hierarchy.labels[level][child]
                moves = tuple(_moves(hierarchy, level, child, parent, concepts, ancestry))
                message = f"{name!r} stands under {label!r} at level {level + 1} and is no kind of it"
                yield Problem("wrong parent", level, name, message, (*moves, *apart, *rename))


def _name_above(hierarchy: Hierarchy, level: int, children: list[int], concepts: list[Ints], ancestry: Ancestry) -> int:
    """A concept to name the parent of some labels: above their leaves, and above the labels that are right."""
    leaves = concepts[0][hierarchy.codes[:, 0]]
    below = {c: {int(x) for x in leaves[hierarchy.codes[:, level] == c].tolist() if x >= 0} for c in children}
    named = {int(concepts[level][c]) for c in children}
    right = {
        int(concepts[level][c]) for c in children if all(concepts[level][c] in ancestry.above(x) for x in below[c])
    }
    found = ancestry.lcs({*right, *(x for group in below.values() for x in group)})
    if found in named:
        return choose_parents([found], ancestry.taxonomy, "deepest", ancestry).get(found, found)
    return found


def _rename(hierarchy: Hierarchy, level: int, label: Value, concept: int, namer: Namer) -> tuple[Fix, ...]:
    name = namer(concept)
    if name == label or name in hierarchy.labels[level]:
        return ()
    step = ("rename", {"level": level, "label": label, "to": name, "concept": concept})
    return (Fix(f"rename {label!r} at level {level} to {name!r}", (step,)),)


def _apart(
    hierarchy: Hierarchy, level: int, label: Value, strange: list[Value], rest: list[Value], name: Value, concept: int
) -> tuple[Fix, ...]:
    """Give some children of a label a label of their own on the same level."""
    if name in hierarchy.labels[level] or level == hierarchy.height:
        return ()
    groups = {label: rest, name: strange}
    step = ("split", {"level": level, "label": label, "groups": groups, "concepts": {name: concept}})
    return (Fix(f"set {len(strange)} of {len(strange) + len(rest)} apart from {label!r} as {name!r}", (step,)),)


def _moves(
    hierarchy: Hierarchy, level: int, child: int, parent: int, concepts: list[Ints], ancestry: Ancestry
) -> Iterator[Fix]:
    """Other parents that the child is a kind of, the most specific first."""
    above = ancestry.above(int(concepts[level][child]))
    fitting = [c for c, concept in enumerate(concepts[level + 1].tolist()) if c != parent and concept in above]
    fitting.sort(key=lambda c: -int(ancestry.taxonomy.specificity[concepts[level + 1][c]]))
    for code in fitting[:1]:
        name, to = hierarchy.labels[level][child], hierarchy.labels[level + 1][code]
        yield Fix(f"move {name!r} under {to!r}", (("move", {"level": level, "label": name, "to": to}),))


def _levels(hierarchy: Hierarchy, result: Gsl) -> Iterator[Problem]:
    """Levels that lose more than the level above them."""
    for level in range(1, hierarchy.height):
        low, high = float(result.levels[level - 1]), float(result.levels[level])
        if low > high + _SLACK:
            drop = Fix(f"drop level {level}", (("drop_level", {"level": level}),))
            message = f"level {level} loses more ({low:.4f}) than level {level + 1} above it ({high:.4f})"
            yield Problem("level out of order", level, "", message, (drop,))


def _tried(hierarchy: Hierarchy, fixes: list[Fix], distance: Distance, how: HowToScore) -> dict[int, Fix]:
    """Each distinct fix applied and scored, by the identity of the fix it came from; those that do not fit left out."""
    by_text: dict[str, tuple[Fix, Hierarchy]] = {}
    for fix in fixes:
        if fix.text not in by_text:
            try:
                by_text[fix.text] = (fix, fix.apply(hierarchy))
            except BadHierarchy:
                continue
    made = list(by_text.values())
    # One's own weights fit one height only.
    any_height = isinstance(how.get("weights", "uniform"), str)
    same = [h for _, h in made if any_height or h.height == hierarchy.height]
    totals = {id(h): gsl.total for h, gsl in zip(same, score_all(same, distance, **how), strict=True)}
    scored = {fix.text: Fix(fix.text, fix.steps, totals[id(h)]) for fix, h in made if id(h) in totals}
    return {id(fix): scored[fix.text] for fix in fixes if fix.text in scored}


# Fix a hierarchy while its score falls: the paper's future work (Ayala-Rivera et al. 2017, Sec. 7)


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

    >>> from keepsense.hierarchies.word_concepts import with_concepts
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
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
