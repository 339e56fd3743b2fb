"""What a report says, section by section, from the outcome of a run."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy
from keepsense.publish import Outcome
from keepsense.recoding import SUPPRESSED, Cells, Cuts
from keepsense.report import charts, page

_TOP = 12
_PLAIN = {
    "prosecutor, highest": "person most at risk",
    "prosecutor, average": "average person",
    "marketer": "share found if all are tried",
    "unique records": "people alone in their class",
}


def released_counts(outcome: Outcome) -> Counts:
    """Counts of the released quasi-identifiers.

    >>> released_counts.__name__
    'released_counts'
    """
    rule = outcome.recodings[0]
    return rule.apply(outcome.counts) if isinstance(rule, Cuts | Cells) else outcome.counts


def summary(outcome: Outcome) -> str:
    """The verdict, the promises in plain words, and the figures people look for first."""
    check, told = outcome.verification, outcome.description
    kind = "verdict" if check.ok else "verdict no"
    promised = "".join(f"<li>{escape(words)}</li>" for words in told["in words"])
    verdict = "Verified: every promise below holds for the released file." if check.ok else "Not verified."
    risk = told["risk"].get("after", {})
    items = [
        (f"{check.records:,}", "records released"),
        (f"{check.classes:,}", "equivalence classes"),
        (f"{check.suppressed:,}", "records suppressed"),
    ]
    if "prosecutor, highest" in risk:
        items.append((f"{risk['prosecutor, highest']:.1%}", "highest risk of any person"))
    if "loss" in told["utility"]:
        items.append((f"{told['utility']['loss']:.1%}", "of the detail is lost"))
    return f'<div class="{kind}"><b>{verdict}</b><ul>{promised}</ul></div>{page.figures(items)}'


def warnings(outcome: Outcome) -> str:
    """What the publisher should look at."""
    seen = [f for f in outcome.findings if not f.is_error]
    return "".join(f'<p class="warn">{escape(f.message)} <small>({escape(f.code)})</small></p>' for f in seen)


def columns(outcome: Outcome, *, public: bool) -> str:
    """Each quasi-identifier: its values before and after, its hierarchy with the released cut, its loss by level."""
    after = released_counts(outcome)
    parts = ["<h2>Columns by which people could be recognized</h2>"]
    for name in outcome.plan.quasi_identifiers:
        parts.append(f"<h3>{escape(name)}</h3>")
        parts.append(_distribution(outcome.counts, after, name, public))
        hierarchy = outcome.plan.hierarchies.get(name) if "hierarchies" in outcome.plan.__dict__ else None
        if hierarchy is None:
            continue
        released = {v for v in after.values_of(name) if v != SUPPRESSED}
        drawn = charts.tree(
            _branches(hierarchy, released, public), f"Hierarchy of {name} with the released values marked"
        )
        parts.append(f"<details><summary>How its values generalize</summary>{drawn}</details>")
        if not public:
            parts.append(_levels(outcome, hierarchy, name))
    return "".join(parts)


def _distribution(before: Counts, after: Counts, name: str, public: bool) -> str:
    new = _largest(after, name)
    shown = charts.bars([(charts.show(v), (n,)) for v, n in new], ("after",), f"{name} as released")
    if public:
        return charts.legend({"after": "records as released"}) + shown
    old = _largest(before, name)
    first = charts.bars([(charts.show(v), (n,)) for v, n in old], ("before",), f"{name} before")
    more = f" The {_TOP} most frequent of {len(before.values_of(name)):,} values." if len(old) == _TOP else ""
    return (
        charts.legend({"before": "records before", "after": "records as released"})
        + (f"<p class=legend>{more}</p>" if more else "")
        + first
        + shown
    )


def _largest(counts: Counts, name: str) -> list[tuple[Any, int]]:
    rows = counts.marginal(name)
    order = np.argsort(-rows, kind="stable")[:_TOP]
    return [(counts.values_of(name)[i], int(rows[i])) for i in order]


def _branches(hierarchy: Hierarchy, released: set[Any], public: bool) -> charts.Branch:
    """The tree from the top down; in public only down to the released labels."""

    def grow(level: int, leaves: Sequence[int]) -> charts.Branch:
        label = hierarchy.labels[level][hierarchy.codes[leaves[0], level]]
        here = label in released
        if level == 0 or (public and here):
            return charts.show(label), here, ()
        groups: dict[int, list[int]] = {}
        for leaf in leaves:
            groups.setdefault(int(hierarchy.codes[leaf, level - 1]), []).append(leaf)
        below = tuple(grow(level - 1, members) for members in groups.values())
        if len(below) == 1 and below[0][0] == charts.show(label):
            return below[0]
        return charts.show(label), here, below

    return grow(hierarchy.height, range(len(hierarchy.leaves)))


def _levels(outcome: Outcome, hierarchy: Hierarchy, name: str) -> str:
    """Semantic loss of the hierarchy by level (GSL), where its words have meanings."""
    from keepsense.errors import KeepsenseError
    from keepsense.hierarchies import score
    from keepsense.semantics import distance

    if hierarchy.concepts is None:
        return ""
    try:
        column = outcome.plan.column(name)
        found = score(hierarchy, distance(column.distance, outcome.plan.taxonomy(name)))
    except KeepsenseError:
        return ""
    rows = [(f"level {i + 1}", float(loss)) for i, loss in enumerate(found.levels)]
    text = f"Semantic loss of the hierarchy by level (GSL {found.total:.3f})"
    return f"<p>{text}</p>{charts.columns(rows, text)}"


def classes(outcome: Outcome) -> str:
    """How large the equivalence classes are."""
    sizes = released_counts(outcome).weights
    edges = [1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 10_000, 10**12]
    rows = []
    for low, high in pairwise(edges):
        number = int(((sizes >= low) & (sizes < high)).sum())
        if number:
            name = f"{low}" if high == low + 1 else f"{low}–{high - 1}" if high < 10**12 else f"{low:,}+"
            rows.append((name, float(number)))
    return (
        "<h2>Equivalence classes</h2><p>People in one class cannot be told apart by the columns above. "
        f"Number of classes by size:</p>{charts.columns(rows, 'Classes by size')}"
    )


def risk(outcome: Outcome) -> str:
    """Risk of re-identification before and after."""
    told = outcome.description["risk"]
    before, after = told.get("before", {}), told.get("after", {})
    rows = [(_PLAIN.get(n, n), (100 * before[n], 100 * after[n])) for n in before if n in after]
    drawn = charts.bars(rows, ("before", "after"), "Risk before and after", " %")
    return (
        "<h2>Risk of re-identification</h2><p>Chance that somebody who knows a person's values in the columns by which "
        "people could be recognized finds that person's record (the prosecutor's risk), and the share of records that "
        "somebody who links them all would get right (the marketer's).</p>"
        + charts.legend({"before": "before", "after": "after"})
        + drawn
    )


def utility(outcome: Outcome) -> str:
    """What was lost, by every measure that applies."""
    told = outcome.description["utility"]
    if not told:
        return (
            "<h2>Usefulness</h2><p>This method changes values instead of generalizing them; see the columns above.</p>"
        )
    rows = [[name, f"{value:,.4g}"] for name, value in told.items()]
    return "<h2>Usefulness</h2>" + page.table(["measure", "value"], rows)


def association(outcome: Outcome) -> str:
    """How well the release keeps which values go together: Cramér's V of each pair of columns, before and after."""
    names = outcome.plan.quasi_identifiers[:6]
    after = released_counts(outcome)
    rows = []
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            pair = tuple(cramer(c, first, second) for c in (outcome.counts, after))
            rows.append((f"{first} × {second}", pair))
    if not rows:
        return ""
    return (
        "<h2>What goes together</h2><p>Strength of association between columns (Cramér's V, 0 to 1).</p>"
        + charts.legend({"before": "before", "after": "after"})
        + charts.bars(rows, ("before", "after"), "Association before and after")
    )


def cramer(counts: Counts, first: str, second: str) -> float:
    """Cramér's V of two columns, corrected for small samples (Bergsma 2013).

    >>> cramer(Counts.of({"a": [1, 1, 2, 2] * 50, "b": [1, 1, 2, 2] * 50}), "a", "b") > 0.98
    True
    """
    table = counts.joint(first, second).toarray().astype(float)
    table = table[table.sum(1) > 0][:, table.sum(0) > 0]
    n, (r, c) = table.sum(), table.shape
    if min(r, c) < 2 or n < 2:
        return 0.0
    expected = np.outer(table.sum(1), table.sum(0)) / n
    phi = float(((table - expected) ** 2 / expected).sum()) / n
    phi = max(0.0, phi - (r - 1) * (c - 1) / (n - 1))
    rows, cols = r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)
    return float(np.sqrt(phi / max(1e-12, min(rows, cols) - 1)))


def search(outcome: Outcome) -> str:
    """The lattice of full-domain solutions with safe and unsafe nodes, for methods that search it."""
    rule = outcome.recodings[0]
    if not isinstance(rule, Cuts) or outcome.plan.project.method.name not in ("optimal", "incognito", "samarati"):
        return ""
    heights = [outcome.plan.hierarchies[n].height for n in outcome.plan.quasi_identifiers]
    size = int(np.prod([h + 1 for h in heights], dtype=float))
    if size > 200_000:
        return f"<h2>Alternatives</h2><p>The lattice has {size:,} nodes; too many to draw.</p>"
    from keepsense.methods.generalize.optimal import optimal

    plan = outcome.plan
    found = optimal(
        plan.counts, plan.hierarchies, plan.models, suppression=plan.project.release.suppression, classify=True
    )
    status = np.asarray(found.info["status"]).ravel()
    height = np.indices([h + 1 for h in heights]).reshape(len(heights), -1).sum(axis=0)
    safe = (status == 1) | (status == 2)
    rows = [
        (int(h), int((safe & (height == h)).sum()), int((~safe & (height == h)).sum()))
        for h in range(int(height.max()) + 1)
    ]
    chosen = sum(level or 0 for level in rule.levels)
    drawn = charts.lattice(rows, chosen, "Safe and unsafe solutions by height")
    return (
        f"<h2>Alternatives considered</h2><p>{size:,} combinations of levels, {int(safe.sum()):,} of which keep the "
        "promise. Height adds up the levels of all columns.</p>"
        + charts.legend({"safe": "keeps the promise", "unsafe": "does not"})
        + drawn
    )


def timing(outcome: Outcome) -> str:
    """Seconds by step."""
    rows = [[step, f"{seconds:.2f}"] for step, seconds in outcome.seconds.items()]
    return "<h2>Time</h2>" + page.table(["step", "seconds"], rows)
