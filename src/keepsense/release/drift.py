"""Values that an earlier release has not seen, told by its rules: bands, calendar spans, prefixes and taxonomy cuts."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from decimal import Decimal

from keepsense.counts import Value
from keepsense.hierarchies import Hierarchy
from keepsense.hierarchies.kinds import KINDS, Rule
from keepsense.project.file import Column
from keepsense.recoding import SUPPRESSED, Cut, Cuts, Recoding
from keepsense.release.job import Job


@dataclass(frozen=True)
class Covered:
    """A cut with an output for values it had not seen, those for which its rule tells none, and a change of type.

    >>> covering(Cut("age", (24,), ("20 to 29",), 1), ("27",), Column(kind="numeric")).retyped
    ('numbers', 'text')
    """

    cut: Cut
    unknown: tuple[Value, ...] = ()
    retyped: tuple[str, str] | None = None


def covering(cut: Cut, values: Iterable[Value], column: Column, *further: Rule) -> Covered:
    """The cut with an output for values it has not seen, where its rule tells one; `further` rules are asked first.

    >>> ages = Cut("age", (24, 61), ("20 to 29", "60 or more"), level=1)
    >>> wider = covering(ages, (27, 95, 61, 45), Column(kind="numeric"))
    >>> dict(zip(wider.cut.inputs[2:], wider.cut.outputs[2:]))
    {27: '20 to 29', 95: '60 or more', 45: '30 to 59'}
    """
    known = dict(zip(cut.inputs, cut.outputs, strict=True))
    present = list(values)
    before, now = _type(cut.inputs), _type(present)
    retyped = (before, now) if before and now and before != now else None
    fresh = [value for value in present if value not in known]
    if not fresh:
        return Covered(cut, (), retyped)
    rules = [_rule(cut, column), *further] if cut.level == 0 else [*further, _rule(cut, column)]
    as_before = _as_before(cut.inputs, before, column) if retyped else lambda value: value
    added: dict[Value, Value] = {}
    for value in fresh:
        if value is None:
            added[None] = _missing(cut)
            continue
        earlier = as_before(value)
        label = value if cut.level == 0 else known.get(earlier)
        for rule in rules if label is None and earlier is not None else ():
            label = label if label is not None else rule(earlier)
        if label is not None:
            added[value] = label
    # an engine takes inputs of one type
    kept = {value: label for value, label in known.items() if retyped is None or _type([value]) == now}
    wider = replace(cut, inputs=(*kept, *added), outputs=(*kept.values(), *added.values()))
    return Covered(wider, tuple(value for value in fresh if value not in added), retyped)


def _missing(cut: Cut) -> Value:
    """What an empty cell becomes where the earlier table had none, as `with_missing` has it."""
    return SUPPRESSED if cut.level != 0 and set(cut.outputs) == {SUPPRESSED} else None


def _rule(cut: Cut, column: Column) -> Rule:
    """What the column's kind says of a value never seen: nothing, for words that no taxonomy knows."""
    if set(cut.outputs) == {SUPPRESSED}:
        return lambda value: SUPPRESSED
    kind = KINDS[column.kind]
    known = {value: label for value, label in zip(cut.inputs, cut.outputs, strict=True) if value is not None}
    rule = None if kind.rule is None else kind.rule(known, column.order)
    return (lambda value: None) if rule is None else rule


# ---- words --------------------------------------------------------------------------------------------------------


def word_rules(job: Job, cut: Cut) -> tuple[Rule, ...]:
    """What a hierarchy that somebody made, and a taxonomy, say of words never seen, under the labels of a cut.

    >>> from keepsense.release.example import example_job
    >>> rules = word_rules(example_job(), Cut("job", ("nurse",), ("medic",), 1))
    >>> [rule("surgeon") for rule in rules]
    ['medic']
    """
    column = job.column(cut.name)
    rules: list[Rule] = []
    if column.hierarchy not in (None, "auto") or cut.name in job.given.hierarchies:
        rules.append(_in_hierarchy(job.hierarchies[cut.name], cut))
    if KINDS[column.kind].words and cut.concepts and (column.taxonomy or cut.name in job.given.taxonomies):
        rules.append(_under_labels(job, cut))
    return tuple(rules)


def _in_hierarchy(hierarchy: Hierarchy, cut: Cut) -> Rule:
    """A row of a hierarchy file that came since: the released label on its way up, if the file still agrees."""
    paths = {row[0]: row for row in hierarchy.rows()}
    known = dict(zip(cut.inputs, cut.outputs, strict=True))
    at = cut.level

    def agrees(value: Value, label: Value) -> bool:
        path = paths[value]
        return label in path if at is None else at < len(path) and path[at] == label

    if not all(agrees(value, label) for value, label in known.items() if value in paths):
        return lambda value: None
    labels = set(cut.outputs)

    def rule(value: Value) -> Value:
        path = paths.get(value, ())
        if at is not None:
            return path[at] if at < len(path) else None
        return next((label for label in path if label in labels), None)

    return rule


def _under_labels(job: Job, cut: Cut) -> Rule:
    """The most exact released label whose concept subsumes what the word means; None where none does.

    A label is not used where a value that had it no longer lies below it: it means something else by now.
    """
    taxonomy = job.taxonomy(cut.name)
    meant = job.mapping(cut.name, job.counts.rows_of(cut.name)).concepts
    labels = {label: code for label, id_ in cut.concepts.items() if (code := taxonomy.get(id_)) is not None}
    above = {value: set(taxonomy.subsumers(code).tolist()) for value, code in meant.items() if code >= 0}
    for value, label in zip(cut.inputs, cut.outputs, strict=True):
        if label in labels and value in above and labels[label] not in above[value]:
            del labels[label]
    sizes = {label: (int(taxonomy.hyponym_counts[code]), str(label)) for label, code in labels.items()}

    def rule(value: Value) -> Value:
        fitting = [label for label, code in labels.items() if code in above.get(value, ())]
        return min(fitting, key=sizes.__getitem__, default=None)

    return rule


def with_concepts(job: Job, rules: list[Recoding]) -> list[Recoding]:
    """The recodings with the concepts of their labels, so that next month's words can be told under them.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> with_concepts(job, [])
    []
    """
    return [replace(rule, cuts=tuple(_meant(job, c) for c in rule.cuts)) if isinstance(rule, Cuts) else rule
            for rule in rules]  # fmt: skip


def _meant(job: Job, cut: Cut) -> Cut:
    column = job.project.columns.get(cut.name)
    named = column is not None and (column.taxonomy is not None or cut.name in job.given.taxonomies)
    if not named or cut.name not in job.quasi_identifiers or (tree := job.hierarchies[cut.name]).concepts is None:
        return cut
    taxonomy = job.taxonomy(cut.name)
    levels = range(tree.height + 1) if cut.level is None else [cut.level]
    codes: dict[Value, int] = {}
    for level in levels:
        codes |= dict(zip(tree.labels[level], tree.concept_codes(level).tolist(), strict=True))
    released = dict.fromkeys(label for label in cut.outputs if codes.get(label, -1) >= 0 and label != SUPPRESSED)
    return replace(cut, concepts={label: taxonomy.id(codes[label]) for label in released})


# ---- types --------------------------------------------------------------------------------------------------------

_TYPES: tuple[tuple[str, tuple[type, ...]], ...] = (
    ("truth values", (bool,)),
    ("numbers", (int, float, Decimal)),
    ("text", (str,)),
    ("dates", (datetime.date, datetime.time)),
)


def _type(values: Iterable[Value]) -> str:
    """What the values of a column are, in a word; empty where there are none, or of several types."""
    names = set()
    for value in values:
        if value is not None:
            names.add(next((name for name, types in _TYPES if isinstance(value, types)), type(value).__name__))
    return names.pop() if len(names) == 1 else ""


def _as_before(inputs: Iterable[Value], before: str, column: Column) -> Callable[[Value], Value]:
    """What values of another type were in the type of the earlier table; None where that cannot be told."""
    if before == "text":
        lengths = {len(text) for text in inputs if isinstance(text, str) and text.isdigit()}
        digits = all(isinstance(text, str) and text.isdigit() for text in inputs if text is not None)
        length = lengths.pop() if digits and len(lengths) == 1 else 0  # 01069 that became 1069
        numbers = {_number(text): text for text in inputs} if KINDS[column.kind].numbers else {}
        return lambda value: numbers.get(_number(value), str(value).zfill(length))
    if before == "numbers":
        known = {_number(value): value for value in inputs}
        return lambda value: None if (number := _number(value)) is None else known.get(number, number)
    if before == "dates":
        spelled = {str(value): value for value in inputs}
        return lambda value: spelled.get(str(value), value)
    return lambda value: value


def _number(value: Value) -> float | None:
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return None
