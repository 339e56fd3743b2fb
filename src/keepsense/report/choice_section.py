"""Section: what else could have been released: levels of a lattice, other methods, other hierarchies."""

from __future__ import annotations

from html import escape
from typing import Any

from keepsense.methods.method import methods
from keepsense.metrics import number, percent
from keepsense.release.figures.alternatives import Lattice, Tried, lattice, measured, other_methods
from keepsense.release.figures.trade import trade
from keepsense.report import html_page
from keepsense.report.report_subject import Subject
from keepsense.utility.recoded_table import whole_table

_MOST_HEIGHTS = 30


def alternatives(subject: Subject) -> str:
    """The lattice with safe and unsafe nodes, other methods tried, other weights, and hierarchies not chosen.

    Only the hierarchies unless others are to be tried: those are known, the others have to be worked out.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "semantic mondrian" in alternatives(Subject(example_release()))
    True
    """
    parts = [_lattice(subject), _methods(subject), _weights(subject)] if subject.tries_others else []
    parts.append(_hierarchies(subject))
    return "".join(part for part in parts if part)


def _lattice(subject: Subject) -> str:
    space = lattice(subject.job, subject.outcome.recodings) if subject.truthful else None
    if space is None:
        return ""
    chosen = next(node for node in space.best if node.chosen)
    where = sum(chosen.levels)
    heights = [row for row in space.heights if row[1] + row[2]]
    step = max(1, -(-len(heights) // _MOST_HEIGHTS))
    rows = []
    for start in range(0, len(heights), step):
        group = heights[start : start + step]
        low, high = group[0][0], group[-1][0]
        safe, unsafe = sum(r[1] for r in group), sum(r[2] for r in group)
        mark = low <= where <= high
        label = f"height {low}" if low == high else f"heights {low}–{high}"
        text = f"{number(safe)} of {number(safe + unsafe)}" + (", chosen here" if mark else "")
        rows.append((label, (float(safe), float(unsafe)), text, mark))
    text = (
        f"{space.size:,} ways to choose one level for each column were looked at; {space.safe:,} of them keep the "
        "promise. Height adds up the levels of all columns: the higher, the less exact."
    )
    return (
        f"<h3>Levels</h3>{html_page.paragraph(text)}"
        + html_page.legend({"safe": "keeps the promise", "unsafe": "does not"})
        + html_page.stacked(rows, ("safe", "unsafe"), "Safe and unsafe choices by height")
        + "<h4>The best of those that keep it</h4>"
        + html_page.paragraph(
            "Level of each column and how many there are (0 is as it was), detail lost, records suppressed.", "note"
        )
        + _nodes(space)
    )


def _nodes(space: Lattice) -> str:
    rows = []
    for node in space.best:
        levels = [f"{level}/{top}" for level, top in zip(node.levels, space.tops, strict=True)]
        rows.append(["chosen" if node.chosen else "", *levels, percent(node.loss), number(node.suppressed)])
    marked = [i for i, node in enumerate(space.best) if node.chosen]
    return html_page.table(["", *space.columns, "detail lost", "suppressed"], rows, marked=marked)


def _methods(subject: Subject) -> str:
    """Other methods on the same counts, and the chosen one beside them."""
    models, attempts = other_methods(subject.job)
    if not attempts:
        return _for_sets(subject)
    chosen = whole_table(subject.outcome.recodings, subject.job.quasi_identifiers) if subject.truthful else []
    own = [measured(subject.job, subject.job.project.method.name, rule) for rule in chosen]
    done = sorted(
        (attempt for attempt in attempts if not attempt.problem),
        key=lambda attempt: 2.0 if attempt.penalty is None else attempt.penalty,
    )
    rows = [_row(attempt) for attempt in (*own, *done)]
    failed = [attempt for attempt in attempts if attempt.problem]
    promised = " ".join(model.describe() for model in models)
    if subject.truthful:
        text = "Other methods on the same table with the same promise; long searches are cut short."
    else:
        text = f"What generalizing would lose and leave on the same table, if this were promised: {promised}"
    note = "".join(html_page.paragraph(f"{attempt.method}: {attempt.problem}.", "note") for attempt in failed)
    header = ["method", "certainty lost", "highest risk", "classes", "suppressed"]
    shown = html_page.table(header, rows, marked=[0] if own else []) if rows else ""
    return f"<h3>Methods</h3>{html_page.paragraph(text)}{shown}{note}"


def _for_sets(subject: Subject) -> str:
    """Methods for sets by name: none is tried here."""
    others = [found for found in methods(in_projects=True) if found.sets == "only" and found != subject.job.method]
    listed = "".join(f"<li><b>{escape(found.name)}</b>: {escape(found.short)}</li>" for found in others)
    text = "Other methods for sets, which were not tried here; keepsense compare runs project files side by side."
    return f"<h3>Methods</h3>{html_page.paragraph(text)}<ul>{listed}</ul>"


def _row(attempt: Tried) -> list[str]:
    return [
        attempt.method,
        "" if attempt.penalty is None else percent(attempt.penalty),
        "" if attempt.risk is None else percent(attempt.risk),
        number(attempt.classes),
        number(attempt.suppressed),
    ]


def _weights(subject: Subject) -> str:
    """What each column would keep if it weighed twice, and what the others would pay for it."""
    offers = trade(subject.job)
    if offers is None:
        return ""
    text = (
        "What a column would lose if its weight were doubled, and what that would cost the others on average; "
        f"{offers.measured}. Losses of a part are higher than those of the whole: the difference tells."
    )
    rows = [
        [offer.column, *map(percent, (offer.lost, offer.twice, offer.others, offer.others_then))]
        for offer in offers.offers
    ]
    header = ["column", "lost now", "lost at twice the weight", "others now", "others then"]
    return f"<h3>Weights</h3>{html_page.paragraph(text)}{html_page.table(header, rows)}"


def _hierarchies(subject: Subject) -> str:
    """Candidates that a hierarchy was chosen from by its GSL."""
    if not subject.truthful:
        return ""
    parts = []
    for name in subject.job.quasi_identifiers:
        tree = subject.job.hierarchies[name]
        considered: Any = tree.info.get("considered", ())
        if len(considered) < 2:
            continue
        rows = [[f"{made}", f"{score:.3f}"] for made, score in considered]
        text = f"{name}: the best of {tree.info['candidates']:,} hierarchies that the taxonomy gives, by their GSL."
        parts.append(
            f"<details><summary>{escape(text)}</summary>"
            + html_page.table(["how it was made", "GSL"], rows, marked=[0])
            + "</details>"
        )
    return f"<h3>Hierarchies</h3>{''.join(parts)}" if parts else ""
