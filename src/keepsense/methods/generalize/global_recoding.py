"""Global recoding: each chosen column at a level, or at labels, that the publisher names (Hundepool 2012)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import Method, Relation, Shown, registered
from keepsense.methods.method_call import call
from keepsense.methods.method_flowchart import Flowchart
from keepsense.methods.suitability import GOES_BEFORE, Fit
from keepsense.methods.task import Task
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cut, Cuts, Recoding


def global_recoding(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    level: Annotated[int, Field(ge=1)] | None = None,
    labels: list[str] | None = None,
) -> Cuts:
    """Release every column of the counts at one `level` of its hierarchy, or one column at some of its `labels`.

    With `labels` each value becomes the one of them that lies on its way up; values below none of them stay as they
    are. One of them may not lie below another. Use it where the publisher knows which detail readers can do without,
    before a method decides on the rest: it promises no model by itself, and models are not looked at. Global recoding
    is as old as disclosure control (Hundepool et al. 2012, "Statistical Disclosure Control", Sec. 3.2.1; `globalRecode`
    of sdcMicro). Cost: one pass over the values.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> counts = Counts.of({"job": ["nurse", "surgeon", "clerk"]})
    >>> global_recoding(counts, {"job": jobs}, labels=["medic"]).cuts[0].outputs
    ('medic', 'medic', 'clerk')
    """
    if (level is None) == (labels is None):
        raise BadInput("global recoding: give either the level of the columns or the labels of one")
    if labels is not None and len(counts.names) != 1:
        raise BadInput("global recoding: labels are those of one column; give each column a step of its own")
    cuts = []
    for name in counts.names:
        tree, values = hierarchies[name], counts.values_of(name)
        if level is not None:
            outputs = _at_level(name, tree, level)
        else:
            outputs = _at_labels(name, tree, labels or [])
        cuts.append(Cut(name, values, tuple(None if v is None else outputs.get(v, v) for v in values), level))
    return Cuts(tuple(cuts), info={"algorithm": "global recoding"})


def _at_level(name: str, tree: Hierarchy, level: int) -> dict[Value, Value]:
    if not 1 <= level < tree.height:
        raise BadInput(
            f"column {name!r} is to be recoded to level {level} of its hierarchy, whose levels below the top are 1 to "
            f"{tree.height - 1}; choose one of them, or make the column an identifier, which is left out"
        )
    return {row[0]: row[level] for row in tree.rows()}


def _at_labels(name: str, tree: Hierarchy, labels: Sequence[str]) -> dict[Value, Value]:
    """The listed label above each value; every label must be one of the hierarchy, and none may lie below another."""
    above = {str(label): label for row in tree.labels[1:] for label in row}
    for label in labels:
        if label not in above:
            hint = did_you_mean(label, list(above))
            raise BadInput(f"column {name!r}: the hierarchy has no label {label!r} above its values.{hint}")
    outputs = {}
    for row in tree.rows():
        way = list(dict.fromkeys(str(label) for label in row[1:] if str(label) in labels))
        if len(way) > 1:
            raise BadInput(f"column {name!r}: {way[0]!r} lies below {way[1]!r}; name one of them")
        if way:
            outputs[row[0]] = above[way[0]]
    return outputs


def _columns_of(method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    """The columns of a step, each by its own hierarchy."""
    if not task.quasi_identifiers:
        raise BadInput("global recoding: name the columns to recode in `columns` of the step")
    if parameters.get("labels") is not None and len(task.quasi_identifiers) != 1:
        raise BadInput("global recoding: labels are those of one column; give each column a step of its own")
    return [
        call(global_recoding, parameters, task.count([name]), {name: task.hierarchies[name]}, ())
        for name in task.quasi_identifiers
    ]


METHOD = registered(
    Method(
        name="global recoding",
        title="Global recoding by hand",
        function=global_recoding,
        step=_columns_of,
        whole_values=True,
        place=7,
        short="levels or labels that you choose yourself",
        intent="Release a column at a level of its hierarchy, or at labels of it, that the publisher chooses.",
        use=("you know which detail readers can do without", "a rule asks for it, such as three digits of a postcode"),
        avoid=("you do not know what a promise will cost: a method finds the levels that it takes",),
        inputs=("columns with hierarchies", "a level, or the labels at which values come out"),
        guarantee="None by itself; the promise is checked on what the next method makes of it.",
        cost="One pass over the values.",
        paper="Willenborg and de Waal 2001; Hundepool et al. 2012, Sec. 3.2.1.",
        example="Towns become counties, whatever the promise is.",
        truthful=True,
        unweighed="the publisher chooses its levels",
        steps=Flowchart.line(
            "Columns and their hierarchies",
            "Choose a level, or labels, of each",
            "Replace every value by its label there",
            end="The same table, less exact where you said so",
        ),
        combines=(Relation("generalization", "a method generalizes further where the promise asks for it"),),
        fit=Fit(unfit=(GOES_BEFORE,)),
        shown=Shown(why_not="it has one step: values become the labels that were named"),
    )
)
