"""Steps of generalization: columns raised, branches merged or opened, lattice nodes checked, groups cut and joined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from keepsense.counts import Value
from keepsense.lessons.recorder import Cell, Story, dealt, tells
from keepsense.recoding import Cuts

_UNSEEN = "·"
"""What stands in a column that a search has not looked at yet."""

_NOT_CHECKED = {
    "safe": "coarser than a safe choice",
    "unsafe": "finer than an unsafe choice",
    "ruled_out": "one of its columns, or two, are not safe by themselves",
}
"""Why a search passes over choices of levels."""


@tells("start")
def begin(story: Story, details: Mapping[str, Any]) -> None:
    """Table recoding that goes down begins with the most general table."""
    story.heard["down"] = details.get("direction") == "down"
    if story.heard["down"] and "recoding" in details:
        story.table, _ = dealt(story, details["recoding"])
        story.show("Start with everything at its most general", {})


@tells("step")
def table_step(story: Story, details: Mapping[str, Any]) -> None:
    """Table recoding raised a column, merged the values of a branch, or opened one."""
    column, label = str(details["column"]), details["candidate"]
    before = story.column(column)
    story.table, _ = dealt(story, details["recoding"])
    after = story.column(column)
    pairs = list(zip(before, after, strict=True))
    if label == column:
        title = f"Raise {column} to level {details['levels'][column]}"
    elif story.heard.get("down"):
        title = f"Open {label} in {column}: {_listed(new for old, new in pairs if old == label)}"
    else:
        title = f"Merge {_listed(old for old, new in pairs if new == label)} in {column} into {label}"
    score: float | None = float(details["score"])
    facts: dict[str, object] = {"score": score}
    if not details.get("helps", True):
        score, facts = None, {"score": "no step helps the smallest group yet; this one loses least"}
    if "rare" in details:
        facts = {"rows that would lose cells before": details["rare"]}
    if details["scored"] != "score":
        facts = {details["scored"]: details["scores"], **facts}
    story.show(title, facts, chosen=column, score=score)


@tells("height")
def height(story: Story, details: Mapping[str, Any]) -> None:
    """Samarati's search turns to another height: why it does, and which choices there are passed over, goes on top."""
    low, high = details["between"]
    steps = f"{details['height']} step{'' if details['height'] == 1 else 's'} up in all"
    why = [f"{steps}: the fewest that can be safe" if low == high else f"{steps}: the middle of {low} to {high}"]
    for name, reason in _NOT_CHECKED.items():
        if details[name]:
            choices = " / ".join(_spelled(_levels(story, {"node": node})) for node in details[name])
            why.append(f"Not checked: {choices} ({reason})")
    story.heard.setdefault("why", []).append(". ".join(why))


@tells("node", "chosen")
def lattice_node(story: Story, details: Mapping[str, Any]) -> None:
    """A choice of levels was judged, or is the one that is released."""
    levels = _levels(story, details)
    if not levels:
        return
    final = "holds" not in details
    title = f"{'Choose' if final else 'Check'} {_spelled(levels)}"
    if story.steps and story.steps[-1].title == title:  # what was judged before is not judged again
        return
    story.table = _at(story, levels)
    loss = None if details.get("loss") is None else float(details["loss"])
    why = story.heard.pop("why", None)
    facts: dict[str, object] = {"why": ". ".join(why)} if why else {}
    story.show(title, {**facts, "loss": loss}, score=loss, safe=final or bool(details["holds"]))


@tells("better", "bound")
def anytime(story: Story, details: Mapping[str, Any]) -> None:
    """A better choice of levels, or a higher bound, was found."""
    levels, loss, bound = _levels(story, details), float(details["loss"]), float(details["bound"])
    better = loss != story.heard.get("best loss")
    story.heard["best loss"] = loss
    title = (
        f"Found something better: {_spelled(levels)}"
        if better
        else f"No choice of levels can lose less than {bound:.4g}"
    )
    story.table = _at(story, levels)
    facts = {"loss of the best so far": loss, "no choice loses less than": bound}
    story.show(title, facts, score=loss, safe=True)


def _levels(story: Story, details: Mapping[str, Any]) -> dict[str, int]:
    node = details["node"]
    levels = dict(node) if isinstance(node, Mapping) else dict(zip(story.names, node, strict=True))
    return {name: levels[name] for name in story.names if name in levels}


def _at(story: Story, levels: Mapping[str, int]) -> list[Cell]:
    """The table at some levels; what a search has not looked at is not shown."""
    whole = dict.fromkeys(story.names, 0) | dict(levels)
    table, _ = dealt(
        story, Cuts(tuple(story.lesson.hierarchies[name].named(name).cut(level) for name, level in whole.items()))
    )
    return [tuple(v if n in levels else _UNSEEN for n, v in zip(story.names, row, strict=True)) for row in table]


@tells("whole")
def everybody(story: Story, details: Mapping[str, Any]) -> None:
    """Multidimensional recoding begins with one group."""
    _release(story, details["part"])
    story.show("Put everybody into one group", {})


@tells("cut")
def cut(story: Story, details: Mapping[str, Any]) -> None:
    """A group was cut in two."""
    column = str(details["column"])
    sizes = [len(_release(story, part)) for part in details["parts"]]
    low, high = (values[story.names.index(column)] for _, values in details["parts"])
    scores = details["scores"]
    if details["order"] == "widest":
        scores = {name: f"{share:.0%}" for name, share in scores.items()}
    facts: dict[str, object] = {"parts": " and ".join(map(str, sizes)) + " rows"}
    if details["order"] != "given":
        facts = {details["scored"]: scores, **facts}
    title = f"Cut the group of {sum(sizes)} in {column}: {low} | {high}"
    story.show(title, facts, chosen=column, score=float(details["score"]))


@tells("settle")
def settled(story: Story, details: Mapping[str, Any]) -> None:
    """Local recoding found records that keep the promise together."""
    _placed(story, "Settle", details["part"])


@tells("join")
def joined(story: Story, details: Mapping[str, Any]) -> None:
    """Records for whom there is no group joined one."""
    _release(story, details["part"])
    story.show(f"Join a group: {_called(details['part'])}", _waiting(story))


@tells("improve")
def improved(story: Story, details: Mapping[str, Any]) -> None:
    """Groups were dissolved, or members moved, to lose less."""
    for part in details["parts"]:
        _release(story, part)
    story.show(f"Improve: {details['changed']} change(s) that lower the loss", _waiting(story))


def _placed(story: Story, verb: str, part: tuple[Sequence[int], Cell]) -> None:
    rows = _release(story, part)
    story.show(f"{verb} a group of {len(rows)}: {_called(part)}", _waiting(story))


def _release(story: Story, part: tuple[Sequence[int], Cell]) -> list[int]:
    """Write what a group is released as into its rows; returns them."""
    tuples, values = part
    rows = story.rows_of(tuples)
    for row in rows:
        story.table[row] = values
        story.group[row] = rows[0]
    return rows


def _waiting(story: Story) -> dict[str, object]:
    return {"rows that still wait": len(story.table) - len(story.group)}


def _called(part: tuple[Sequence[int], Cell]) -> str:
    return " / ".join(str(value) for value in part[1])


def _spelled(levels: Mapping[str, int]) -> str:
    return ", ".join(f"{name} at level {level}" for name, level in levels.items())


def _listed(values: Iterable[Value]) -> str:
    names = sorted({str(value) for value in values})
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
