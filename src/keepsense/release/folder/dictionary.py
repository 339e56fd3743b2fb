"""The data dictionary of a release: what its columns, labels, intervals and codes for missing values mean.

It reveals nothing that the file does not show, except the meaning of labels: their ends, their definitions in a
taxonomy, and those values of a hierarchy that at least k people hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from keepsense.counts import Counts, Value
from keepsense.engines.formats.table_formats import format_of
from keepsense.engines.protocol import written_as
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_builder import MISSING
from keepsense.privacy.dp_promises import differentially_private
from keepsense.recoding import SUPPRESSED, Cuts, Recoding
from keepsense.release.job.job import Job

DICTIONARY = "dictionary"
"""Key of the description under which it lies."""

_CHANGED = "values were changed: they are not what each record had"
_MOST = 500
"""Labels of a column that are explained one by one."""


def data_dictionary(
    job: Job, rules: Sequence[Recoding], after: Counts, lost: Mapping[str, float | None]
) -> dict[str, dict[str, Any]]:
    """Each released column: what it is, what was done to it, what its labels and marks mean.

    >>> from keepsense.release.example import example_release
    >>> told = example_release().description["dictionary"]
    >>> told["age"]["labels"]["30 to 39"], told["age"]["done"], told["illness"]
    ({'lower': 30.0, 'upper': 39.0}, 'level 1 of 3', {'role': 'sensitive', 'kind': 'nominal', 'done': 'as it was'})
    """
    return {name: _column(job, rules, after, name, lost.get(name)) for name in job.released}


def _column(job: Job, rules: Sequence[Recoding], after: Counts, name: str, lost: float | None) -> dict[str, Any]:
    column = job.project.columns.get(name)
    recoded = name in after.names
    about: dict[str, Any] = {
        "role": "insensitive" if column is None else column.role,
        "kind": "nominal" if column is None else column.kind,
        "done": how_recoded(job, rules, name, lost) if recoded else how_unrecoded(job, name),
    }
    if name in job.changed_by_steps:
        about["truth"] = _CHANGED
    if not recoded or column is None:
        return about
    values = after.values_of(name)
    # under differential privacy nothing beside the rows may differ between neighbours, be it what the draws came to
    marks = {} if differentially_private(job.models) else _marks(job, name, values)
    if marks:
        about["marks"] = marks
    if not job.truthful or job.holds_sets(name):
        about["truth"] = _CHANGED
        return about
    labels = _labels(job, rules, name, [value for value in values if value is not None and str(value) not in marks])
    if labels:
        about["labels"] = labels
    if name in job.distances:
        about["taxonomy"] = job.taxonomy(name).name
    return about


def _marks(job: Job, name: str, values: Sequence[Value]) -> dict[str, str]:
    """What stands in cells that tell no value."""
    marks = {}
    if SUPPRESSED in values or (SUPPRESSED,) in values:
        marks[SUPPRESSED] = "hidden: it may be any value"
    if MISSING in values:
        marks[MISSING] = "nothing is known: the cell was empty"
    if None in values:
        fits = job.column(name).missing == "wildcard"
        marks[""] = "empty: nothing is known" + (", and it was counted as if it fitted any value" if fits else "")
    return marks


def _labels(job: Job, rules: Sequence[Recoding], name: str, values: Sequence[Value]) -> dict[str, dict[str, Any]]:
    """What each label that stands in the release means; labels that are plain values explain themselves."""
    kind, hierarchy = KINDS[job.project.columns[name].kind], job.hierarchies.get(name)
    cuts = [cut for rule in rules if isinstance(rule, Cuts) for cut in rule.cuts]
    levels = {cut.name: cut.level for cut in cuts}
    if levels.get(name) == 0 or len(values) > _MOST:
        return {}
    private = differentially_private(job.models)
    common = {} if private else {v: n for v, n in job.own_counts.rows_of(name).items() if n >= job.hidden_among}
    labels: dict[str, dict[str, Any]] = {}
    in_text = job.project.release.database is None and format_of(job.released_name).is_text
    form = job.column(name).format if in_text else None
    for value in values:
        meaning: dict[str, Any] = {}
        if kind.span is not None and (ends := kind.span(value)) is not None:
            lower, upper = ends
            meaning = {"lower": _plain(lower), "upper": _plain(upper)}
        elif hierarchy is not None:
            meaning = _of_hierarchy(job, name, hierarchy, value, common)
        if meaning:
            labels[written_as(str(value), form)] = meaning
    return labels


def _plain(end: Any) -> Any:
    return end if end is None or isinstance(end, float) else end.isoformat()


def _of_hierarchy(
    job: Job, name: str, hierarchy: Hierarchy, label: Value, common: Mapping[Value, int]
) -> dict[str, Any]:
    level = next((lv for lv in range(1, hierarchy.height + 1) if label in hierarchy.labels[lv]), None)
    if level is None:
        return {}
    code = hierarchy.code(level, label)
    meaning: dict[str, Any] = {}
    concept = int(hierarchy.concept_codes(level)[code])
    if concept >= 0 and name in job.distances:
        taxonomy = job.taxonomy(name)
        meaning = {"concept": taxonomy.id(concept), "meaning": taxonomy.describe(concept)}
    below = [leaf for leaf, at in zip(hierarchy.leaves, hierarchy.codes[:, level].tolist(), strict=True) if at == code]
    shown = [str(leaf) for leaf in below if leaf in common and leaf != label]
    return {**meaning, **({"stands for": shown, "and others": len(shown) < len(below)} if shown else {})}


# ---- what was done ------------------------------------------------------------------------------------------------


def how_recoded(job: Job, rules: Sequence[Recoding], name: str, lost: float | None) -> str:
    """How a quasi-identifier is released.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> how_recoded(done.job, done.recodings, "age", 0.2)
    'level 1 of 3'
    """
    by_steps = _by_steps(job, name)
    how = _by_method(job, rules, name, lost)
    if not by_steps:
        return how
    return by_steps if how == "as it was" else f"{by_steps}; then {how}"


def _by_steps(job: Job, name: str) -> str:
    """What the steps of the project did to a column, in words; empty where they left it alone."""
    return ", then ".join(f"{step.name} by a step" for step in job.project.steps if name in step.columns)


def _by_method(job: Job, rules: Sequence[Recoding], name: str, lost: float | None) -> str:
    if name in job.set_columns:
        return "sets that groups of records share"
    cuts = (cut for rule in rules if isinstance(rule, Cuts) for cut in rule.cuts)
    cut = next((cut for cut in cuts if cut.name == name), None)
    if cut is None:
        return "as it was" if lost == 0 else "differs from record to record"
    if cut.level is None:
        return "branches of its hierarchy at several levels"
    height = job.hierarchies[name].height
    words = {0: "as it was", height: "hidden altogether"}
    return words.get(cut.level, f"level {cut.level} of {height}")


def how_unrecoded(job: Job, name: str) -> str:
    """How a column is released that is no quasi-identifier.

    >>> from keepsense.release.example import example_job
    >>> how_unrecoded(example_job(), "illness"), how_unrecoded(example_job(), "id")
    ('as it was', 'removed')
    """
    if name not in job.released:
        return "removed"
    if name not in job.coarse:
        return _by_steps(job, name) or "as it was"
    column = job.column(name)
    return f"in bands of {column.width:g}" if column.width is not None else f"level {column.level} of its hierarchy"
