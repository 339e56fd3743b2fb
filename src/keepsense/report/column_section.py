"""Section: each quasi-identifier, with values before and after, and its hierarchy as it was released."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

from keepsense.counts import Value
from keepsense.draft.taxonomy_choice import taxonomy_fit
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import number, percent
from keepsense.recoding import SUPPRESSED, Cuts
from keepsense.report import html_page
from keepsense.report.html_page import Branch, Row
from keepsense.report.report_subject import Subject

# The taxonomy of a column and why it was taken: for the publisher alone


def taken(subject: Subject, name: str) -> str:
    """Which taxonomy a column's words were looked up in, and how well it fits them, in figures; nothing in public.

    Nothing either where the column has no words, no taxonomy, or a hierarchy that somebody made.

    >>> from dataclasses import replace
    >>> from keepsense.release.example import example_job, example_release
    >>> columns = {name: {"role": "insensitive"} for name in ("id", "age", "illness", "likes")}
    >>> columns["job"] = {"role": "quasi-identifier", "taxonomy": "wordnet"}
    >>> subject = Subject(replace(example_release(), job=example_job(columns=columns)))
    >>> "Taken because it names 100% of the values exactly" in taken(subject, "job")
    True
    """
    column = subject.job.column(name)
    made = column.hierarchy not in (None, "auto")
    if subject.public or made or column.taxonomy is None or not KINDS[column.kind].words:
        return ""
    matched = taxonomy_fit(subject.job.meaning, name, subject.marginal(subject.before, name))
    reason = f"it {matched.known.reason}" if matched.known is not None else ""
    because = f"Taken because {reason}." if reason else f"Taken because the project file says so; {matched.why_not}."
    return html_page.paragraph(f"Meaning from {subject.job.taxonomy(name).name}. {because}", "note")


# Values and hierarchies

_TOP = 8
_NODES = 60
_BINS = 24


def columns(subject: Subject) -> str:
    """Every quasi-identifier, one after the other.

    >>> from keepsense.release.example import example_release
    >>> from keepsense.report.report_subject import Subject
    >>> "30 to 39" in columns(Subject(example_release()))
    True
    """
    text = "Bars show how many records have a value." + (
        "" if subject.public else " Left: the original. Right: the release." if subject.truthful else ""
    )
    parts = [html_page.paragraph(text)]
    for name in subject.columns:
        parts.append(f"<h3>{escape(name)}</h3>{_facts(subject, name)}{_distribution(subject, name)}")
        parts.append(taken(subject, name) + _hierarchy(subject, name))
    return "".join(parts)


def _facts(subject: Subject, name: str) -> str:
    """One line on what became of the column."""
    kind = subject.job.column(name).kind
    after = subject.values_released(name)
    what = "items" if KINDS[kind].sets else "values"
    values = f"{number(after)} different {what} in the release"
    if not subject.public:
        values = f"{number(len(subject.marginal(subject.before, name)))} different {what} before, {number(after)} after"
    lost = subject.told["columns"].get(name, {}).get("lost")
    parts = [values, _how(subject, name), "" if lost is None else f"{percent(lost)} of its certainty lost"]
    return html_page.paragraph("; ".join(part for part in parts if part) + ".", "facts") + _flag(subject, name)


def _flag(subject: Subject, name: str) -> str:
    """That next to nothing is left of the column, and, for the publisher, what would win it back."""
    flag = subject.told["columns"].get(name, {}).get("flag")
    if flag is None:
        return ""
    remedy = "" if subject.public else subject.remedies.get(name, "")
    said = remedy or f"{flag[0].upper()}{flag[1:]}"
    return html_page.paragraph(f"{said.rstrip('.')}.", "warn")


def _how(subject: Subject, name: str) -> str:
    rules = subject.outcome.recodings
    cut = next((c for rule in rules if isinstance(rule, Cuts) for c in rule.cuts if c.name == name), None)
    if cut is None or subject.public:
        return ""
    height = subject.job.hierarchies[name].height
    if cut.level is None:
        return "branches of its hierarchy at several levels"
    if cut.level == 0:
        return "released as it was"
    return "hidden altogether" if cut.level == height else f"released at level {cut.level} of {height}"


# ---- distributions ---------------------------------------------------------------------------------------------------


def _distribution(subject: Subject, name: str) -> str:
    after = subject.marginal(subject.after, name)
    before = None if subject.public else subject.marginal(subject.before, name)
    if KINDS[subject.job.column(name).kind].numbers:
        drawn = _numbers(name, before, after)
        if drawn:
            return drawn
    if before is None:
        return html_page.legend({"after": "records in the release"}) + _panel(after, "after", f"{name} as released")
    if (subject.truthful and name not in subject.job.set_columns) or _mostly_new(before, after):
        left = f"<h4>before</h4>{_panel(before, 'before', f'{name} before')}"
        right = f"<h4>as released</h4>{_panel(after, 'after', f'{name} as released')}"
        return f'<div class="sides"><div>{left}</div><div>{right}</div></div>'
    return _paired(name, before, after)


def _mostly_new(before: Mapping[Value, int], after: Mapping[Value, int]) -> bool:
    known = {html_page.show(value) for value in before}
    fresh = sum(rows for value, rows in after.items() if html_page.show(value) not in known)
    return 2 * fresh > sum(after.values())


def _panel(values: Mapping[Value, int], kind: str, title: str) -> str:
    """The most frequent values, and how many records have others."""
    listed = list(values.items())
    rows = [Row(_short(value), (float(rows),), (number(rows),)) for value, rows in listed[:_TOP]]
    rest = listed[_TOP:]
    if len(rest) == 1:
        rows.append(Row(_short(rest[0][0]), (float(rest[0][1]),), (number(rest[0][1]),)))
        rest = []
    drawn = html_page.bars(rows, (kind,), title)
    if rest:
        drawn += html_page.paragraph(f"and {len(rest):,} others in {sum(n for _, n in rest):,} records", "note")
    return drawn


def _paired(name: str, before: Mapping[Value, int], after: Mapping[Value, int]) -> str:
    """The most frequent original values, before and after."""
    texts = {html_page.show(value): rows for value, rows in after.items()}
    rows = []
    for value, was in list(before.items())[: _TOP + 4]:
        now = texts.get(html_page.show(value), 0)
        rows.append(Row(_short(value), (float(was), float(now)), (number(was), number(now))))
    known = {html_page.show(value) for value in before}
    fresh = sum(rows for value, rows in texts.items() if value not in known)
    total = sum(after.values()) or 1
    note = f"The most frequent of {len(before):,}." if len(before) > len(rows) else ""
    if fresh:
        note += f" {percent(fresh / total)} of what is released does not occur in the original column."
    key = html_page.legend({"before": "records before", "after": "records in the release"})
    drawn = html_page.bars(rows, ("before", "after"), f"{name} before and after")
    return key + drawn + (html_page.paragraph(note.strip(), "note") if note else "")


def _numbers(name: str, before: Mapping[Value, int] | None, after: Mapping[Value, int]) -> str:
    """Numbers as a distribution over equal bins; a released range is spread evenly over it."""
    was = [] if before is None else _ranges(before)
    now = _ranges(after, was)
    if not now or (before is not None and not was):
        return ""
    ends = (min(r[0] for r in (*was, *now)), max(r[1] for r in (*was, *now)))
    if ends[0] == ends[1]:
        return ""
    whole = all(float(x).is_integer() for r in (*was, *now) for x in r[:2])
    bins = int(min(_BINS, ends[1] - ends[0] + 1)) if whole else _BINS
    # a whole number stands for the unit around it, so that ranges 20-29 and 30-39 meet
    half = 0.5 if whole else 0.0
    wide = (ends[0] - half, ends[1] + half)
    new = html_page.binned([(low - half, high + half, n) for low, high, n in now], wide, bins)
    old = (
        None if before is None else html_page.binned([(low - half, high + half, n) for low, high, n in was], wide, bins)
    )
    hidden = sum(rows for value, rows in after.items() if parse_interval(value) is None)
    drawn = html_page.histogram(old, new, ends, f"Distribution of {name}")
    key = {"after": "release (a line; ranges spread evenly)"}
    text = "" if not hidden else f"{hidden:,} records without a number or a range are not drawn."
    return (
        html_page.legend(key if old is None else {"before": "before", **key})
        + drawn
        + (html_page.paragraph(text, "note") if text else "")
    )


def _ranges(
    values: Mapping[Value, int], known: Sequence[tuple[float, float, float]] = ()
) -> list[tuple[float, float, float]]:
    """Ranges and their rows; an open one reaches as far as what is known, else as far as the others are wide."""
    parsed = [(ends, float(rows)) for value, rows in values.items() if (ends := parse_interval(value)) is not None]
    inner = [end for ends, _ in parsed for end in ends if np.isfinite(end)]
    if not inner:
        return []
    wide = float(np.median([high - low for (low, high), _ in parsed if np.isfinite(high - low)] or [0.0]))
    least = min((low for low, _, _ in known), default=min(inner) - wide)
    most = max((high for _, high, _ in known), default=max(inner) + wide)
    return [
        (min(least, high) if low == -np.inf else low, max(most, low) if high == np.inf else high, rows)
        for (low, high), rows in parsed
    ]


def _short(value: Value, most: int = 48) -> str:
    text = html_page.show(value)
    if text == SUPPRESSED:
        return "* (hidden)"
    return text if len(text) <= most else text[: most - 1] + "…"


# ---- hierarchies -----------------------------------------------------------------------------------------------------


def _hierarchy(subject: Subject, name: str) -> str:
    """The hierarchy as a tree with the released labels marked; in public from what the description shows."""
    marks = html_page.legend({"cutkey": "in the release"})
    if subject.public:
        rows = subject.told.get("hierarchies", {}).get(name, [])
        if not rows:
            return ""
        root = pruned(_public_tree(rows))
        drawn = html_page.tree(root, f"Hierarchy of {name} above the released values")
        return f"<details><summary>What the released values belong to</summary>{marks}{drawn}</details>"
    if not subject.truthful or name not in subject.job.hierarchies:
        return ""
    tree = subject.job.hierarchies[name]
    if tree.height < 1 or (tree.height == 1 and len(tree.labels[1]) == 1 and len(tree.leaves) <= 2):
        return ""
    now = {html_page.show(value): rows for value, rows in subject.marginal(subject.after, name).items()}
    known = {html_page.show(label) for labels in tree.labels for label in labels}
    if 2 * len(known.intersection(now)) < len(now):
        return html_page.paragraph("Ranges were chosen for each class by itself, not from a hierarchy.", "note")
    drawn = html_page.tree(_tree(tree, now), f"Hierarchy of {name} with the released values marked")
    levels = _levels(subject, tree, name)
    text = html_page.paragraph(
        "From the most general word down to the values themselves. What is marked stands in the release, with the "
        "number of records; below it are examples of what it replaces."
    )
    return f"<details><summary>How its values generalize</summary>{text}{marks}{drawn}{levels}</details>"


def _tree(tree: Hierarchy, released: Mapping[str, int]) -> Branch:
    """The tree from its top down; of much alike, only some."""

    def grow(level: int, leaves: Sequence[int]) -> Branch:
        label = html_page.show(tree.labels[level][tree.codes[leaves[0], level]])
        groups: dict[int, list[int]] = {}
        while level > 0:  # a label that only repeats itself on the way down is drawn once
            groups = {}
            for leaf in leaves:
                groups.setdefault(int(tree.codes[leaf, level - 1]), []).append(leaf)
            level -= 1
            if [html_page.show(tree.labels[level][code]) for code in groups] != [label]:
                break
            groups = {}
        rows = released.get(label, 0)
        note = f"{number(rows)} records" if rows else f"{len(leaves):,} values" if groups else ""
        order = sorted(groups.values(), key=len, reverse=True)
        return Branch(label, bool(rows), note, tuple(grow(level, members) for members in order))

    return pruned(grow(tree.height, range(len(tree.leaves))))


def pruned(root: Branch, most: int = _NODES) -> Branch:
    """A tree with about so many nodes, the upper ones first; what was left out is counted where it was.

    >>> pruned(Branch("top", False, "", tuple(Branch(str(i), False) for i in range(90))), 10).more
    80
    """
    chosen: dict[int, int] = {}
    queue, left = [root], most
    for node in queue:
        # what lies below a released label is only an example of what it replaces
        room = 3 if node.released else len(node.children)
        fits = len(node.children) if len(node.children) <= room + 1 else room
        fits = min(fits, left)
        left -= fits
        chosen[id(node)] = fits
        queue.extend(node.children[:fits])

    def cut(node: Branch) -> Branch:
        fits = chosen[id(node)]
        children = tuple(cut(child) for child in node.children[:fits])
        return Branch(node.label, node.released, node.note, children, len(node.children) - fits)

    return cut(root)


def _public_tree(rows: Sequence[Sequence[Value]]) -> Branch:
    """The released labels under what the description says is above them."""

    def grow(paths: list[tuple[str, ...]]) -> tuple[Branch, ...]:
        groups: dict[str, list[tuple[str, ...]]] = {}
        for path in paths:
            groups.setdefault(path[0], []).append(path[1:])
        branches = []
        for label, below in groups.items():
            deeper = [path for path in below if path]
            branches.append(Branch(label, any(not path for path in below), "", grow(deeper)))
        return tuple(branches)

    paths = [_without_repeats([html_page.show(label) for label in reversed(row)]) for row in rows]
    top = grow(paths)
    return top[0] if len(top) == 1 else Branch("all", False, "", top)


def _without_repeats(path: Sequence[str]) -> tuple[str, ...]:
    return tuple(label for i, label in enumerate(path) if i == 0 or label != path[i - 1])


def _levels(subject: Subject, tree: Hierarchy, name: str) -> str:
    """Loss of meaning by level (GSL): what going up to each level costs on average."""
    from keepsense.errors import KeepsenseError
    from keepsense.hierarchies.hierarchy_scores import score
    from keepsense.semantics.distance import distance

    column = subject.job.column(name)
    try:
        if KINDS[tree.kind].words:
            if column.taxonomy is None:
                return ""
            scores = score(tree, distance(column.distance, subject.job.taxonomy(name)), unknown="list")
        else:
            scores = score(tree)
    except KeepsenseError:
        return ""
    cuts = [c for rule in subject.outcome.recodings if isinstance(rule, Cuts) for c in rule.cuts if c.name == name]
    chosen = cuts[0].level if cuts else None
    rows = [
        Row(
            f"level {i + 1}" + (" (released)" if chosen == i + 1 else ""),
            (float(loss),),
            (f"{loss:.2f}",),
            f"{len(tree.labels[i + 1]):,} label{'' if len(tree.labels[i + 1]) == 1 else 's'}",
            strong=chosen == i + 1,
        )
        for i, loss in enumerate(scores.levels)
    ]
    text = (
        f"What a value loses on average by going up to each level: 0 nothing, 1 everything. Over all levels the score "
        f"(GSL) is {scores.total:.2f}, which is {scores.grade}."
    )
    return f"<h4>Loss by level</h4>{html_page.paragraph(text)}" + html_page.bars(
        rows, ("after",), f"Loss of {name} by level", most=1.0
    )
