"""Values that an earlier release did not have, recoded by its rules: bands, calendar spans, prefixes, taxonomy cuts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from keepsense.counts import Value
from keepsense.hierarchies.column_kinds import KINDS, Rule
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.project.project_file import Column
from keepsense.recoding import SUPPRESSED, Cells, Cut, Cuts, Recoding
from keepsense.release.job.job import Job
from keepsense.release.job.retyped import as_before, changed_type, type_of
from keepsense.taxonomy.taxonomy import Taxonomy


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
    retyped = changed_type(cut.inputs, present)
    fresh = [value for value in present if value not in known]
    if not fresh:
        return Covered(cut, (), retyped)
    rules = [_rule(cut, column), *further] if cut.level == 0 else [*further, _rule(cut, column)]
    earlier_of = as_before(cut.inputs, retyped, column)
    added: dict[Value, Value] = {}
    for value in fresh:
        if value is None:
            added[None] = _missing(cut)
            continue
        earlier = earlier_of(value)
        label = value if cut.level == 0 else known.get(earlier)
        for rule in rules if label is None and earlier is not None else ():
            label = label if label is not None else rule(earlier)
        if label is not None:
            added[value] = label
    # an engine takes inputs of one type
    kept = {value: label for value, label in known.items() if retyped is None or type_of([value]) == retyped[1]}
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
    labels = meanings(taxonomy, cut.concepts, dict.fromkeys(cut.outputs))
    above = {value: set(taxonomy.subsumers(code).tolist()) for value, code in meant.items() if code >= 0}
    for value, label in zip(cut.inputs, cut.outputs, strict=True):
        if label in labels and value in above and not labels[label] & above[value]:
            del labels[label]
    wide = {label: sum(int(taxonomy.hyponym_counts[code]) for code in codes) for label, codes in labels.items()}

    def rule(value: Value) -> Value:
        fitting = [label for label, codes in labels.items() if codes & above.get(value, set())]
        return min(fitting, key=lambda label: (wide[label], str(label)), default=None)

    return rule


def with_concepts(job: Job, rules: list[Recoding]) -> list[Recoding]:
    """The recodings with the concepts of their labels, so that next month's words can be told under them.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> with_concepts(job, [])
    []
    """
    told: list[Recoding] = []
    for rule in rules:
        if isinstance(rule, Cuts):
            cuts = tuple(replace(cut, concepts=_meant(job, cut.name, cut.outputs, cut.level)) for cut in rule.cuts)
            told.append(replace(rule, cuts=cuts))
        elif isinstance(rule, Cells) and job.truthful:
            meant = {name: _meant(job, name, values) for name, values in zip(rule.names, rule.values, strict=True)}
            told.append(replace(rule, concepts={name: concepts for name, concepts in meant.items() if concepts}))
        else:
            told.append(rule)
    return told


def _meant(job: Job, name: str, released: Iterable[Value], level: int | None = None) -> dict[Value, str]:
    """Ids of the concepts that released labels stand for, of one level of their hierarchy or of all."""
    column = job.project.columns.get(name)
    named = column is not None and (column.taxonomy is not None or name in job.given.taxonomies)
    if not named or name not in job.quasi_identifiers or (tree := job.hierarchies[name]).concepts is None:
        return {}
    taxonomy = job.taxonomy(name)
    shown = set(released) - {SUPPRESSED, None}
    concepts: dict[Value, str] = {}
    for at in range(tree.height + 1) if level is None else [level]:
        codes = tree.concept_codes(at).tolist()
        for code, label in enumerate(tree.labels[at]):
            if label in shown and codes[code] >= 0:
                concepts[label] = taxonomy.id(codes[code])
            elif label in shown and len(parts := listed(label)) > 1:
                leaves = tree.concept_codes(0)[tree.codes[:, at] == code].tolist()
                above = {c for leaf in leaves if leaf >= 0 for c in taxonomy.subsumers(leaf).tolist()}
                deepest_last = sorted(above, key=lambda c: int(taxonomy.depth[c]))
                concepts |= {label: taxonomy.id(c) for c in deepest_last if (label := taxonomy.label(c)) in parts}
    return concepts


def listed(label: Value) -> tuple[str, ...]:
    """What a label lists, where a group has no name of its own; the label itself where it lists nothing.

    >>> listed("nurse, midwife or surgeon"), listed("medic")
    (('nurse', 'midwife', 'surgeon'), ('medic',))
    """
    return tuple(re.split(r", | or ", str(label)))


def meanings(taxonomy: Taxonomy, concepts: Mapping[Value, str], labels: Iterable[Value]) -> dict[Value, set[int]]:
    """The concepts that each label stands for, by the ids that the recoding kept: one, or those that it lists.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> jobs = from_edges([("nurse", "medic"), ("clerk", "worker"), ("medic", "worker")])
    >>> meant = meanings(jobs, {"medic": "medic", "clerk": "clerk"}, ["medic or clerk", "baker", "*"])
    >>> {label: sorted(map(jobs.label, codes)) for label, codes in meant.items()}
    {'medic or clerk': ['clerk', 'medic']}
    """
    codes = {label: code for label, id_ in concepts.items() if (code := taxonomy.get(id_)) is not None}
    meant = {
        label: {codes[p] for p in ((label,) if label in codes else listed(label)) if p in codes} for label in labels
    }
    return {label: parts for label, parts in meant.items() if parts and label != SUPPRESSED}
