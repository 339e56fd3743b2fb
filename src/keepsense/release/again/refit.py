"""The classes of an earlier release filled with the rows of another table: how a recoding of records is used again.

A recoding of records (Mondrian, local recoding) has no rule a column, but its classes are rules: what stands in a class
(bands, calendar spans, prefixes, concepts) is true of some tuples and not of others. A tuple of the new table goes into
the most exact class that is true of it, one that was there before into the class it had. No class is ever widened: that
would reveal who is new. Records that fit no class, and those of classes that would break the promise by now, are
divided among themselves by the method of the project, or suppressed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import Infeasible
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods.generalize.requirement import suppression_limit
from keepsense.privacy.privacy_model import bind, decide
from keepsense.recoding import SUPPRESSED, Cells, Draws
from keepsense.release.again.drift import meanings
from keepsense.release.job.job import Job
from keepsense.release.job.retyped import as_before, changed_type

Flags = NDArray[np.bool_]
Longs = NDArray[np.int64]

_AT_ONCE = 4_096
"""Tuples that are compared with all classes at a time."""


@dataclass(frozen=True, eq=False)
class Coverage:
    """Which labels of an earlier release are true of which values of a column: `table[label, value]`.

    `earlier` are the values in the type they had then, `fresh` those that were not there, `unknown` those of which
    neither a label nor the column's kind, taxonomy or hierarchy file tells anything.
    """

    labels: tuple[Value, ...]
    table: Flags
    earlier: tuple[Value, ...]
    fresh: int
    unknown: tuple[Value, ...] = ()
    retyped: tuple[str, str] | None = None


def coverage(job: Job, rule: Cells, name: str) -> Coverage:
    """What the labels of a column tell of its values now: by members, bands, spans, prefixes, order and concepts.

    >>> from keepsense.release.example import example_job
    >>> job, then = example_job(), Counts.of({"age": ["31", "38", "61"], "job": ["nurse", "nurse", "clerk"]})
    >>> codes = np.array([[0, 0], [0, 0], [1, 1]])
    >>> labels = (("30 to 39", "40 or more"), ("medic", "*"))
    >>> rule = Cells(then.names, labels, np.arange(3), codes, np.ones(3)).bound(then)
    >>> ages = coverage(job, rule, "age")
    >>> [[age for age, covered in zip(ages.earlier, row) if covered][:3] for row in ages.table]
    [['30', '35'], ['40', '45', '50']]
    """
    column, values = job.column(name), job.counts.values_of(name)
    members = _members(rule, name)
    before = {value for held in members.values() for value in held}
    retyped = changed_type(before, values)
    earlier = tuple(map(as_before(before, retyped, column), values))
    labels = rule.values[rule.names.index(name)]
    kind = KINDS[column.kind]
    table = np.zeros((len(labels), len(values)), dtype=np.bool_)
    if kind.covers is not None:
        table |= kind.covers(labels, earlier)
    if kind.places is not None:
        table |= _between([members[label] for label in labels], earlier, kind.places, column.order)
    known = np.full(len(values), kind.covers is not None or kind.needs_order)
    for told, knows in _by_words(job, rule, name, members, earlier):
        table |= told
        known |= knows
    for row, label in zip(table, labels, strict=True):
        held = members[label]
        row |= np.array([value in held or (value is not None and value == label) for value in earlier], dtype=np.bool_)
    hidden = np.array([label == SUPPRESSED for label in labels], dtype=np.bool_)
    plain = all(label in members[label] or hide for label, hide in zip(labels, hidden.tolist(), strict=True))
    known |= table[~hidden].any(axis=0) | plain
    table[hidden] = True
    seen = [value in before for value in earlier]
    unknown = tuple(
        value for value, was, is_known in zip(values, seen, known.tolist(), strict=True)
        if value is not None and not was and not is_known
    )  # fmt: skip
    return Coverage(labels, table, earlier, len(values) - sum(seen) - len(unknown), unknown, retyped)


def _members(rule: Cells, name: str) -> dict[Value, set[Value]]:
    """The values of which each label stood in the earlier release, but for suppressed records."""
    assert rule.inputs is not None
    at = rule.names.index(name)
    members: dict[Value, set[Value]] = {label: set() for label in rule.values[at]}
    shown = np.ones(len(rule.source), dtype=np.bool_) if rule.suppressed is None else ~rule.suppressed
    values = rule.inputs.values_of(name)
    pairs = np.stack((rule.codes[shown, at], rule.inputs.column(name)[rule.source[shown]]), axis=1)
    for label, value in np.unique(pairs, axis=0).tolist():
        members[rule.values[at][label]].add(values[value])
    return members


def _between(held: Sequence[set[Value]], values: Sequence[Value], places: Any, order: Any) -> Flags:
    """Values between two of one label: on a line, labels stand for neighbours."""
    at = np.array([np.nan if place is None else place for place in places(values, order)], dtype=np.float64)
    table = np.zeros((len(held), len(values)), dtype=np.bool_)
    for row, members in zip(table, held, strict=True):
        there = [place for place in places(list(members), order) if place is not None]
        if there:
            row[:] = (min(there) <= at) & (at <= max(there))
    return table


def _by_words(
    job: Job, rule: Cells, name: str, members: Mapping[Value, set[Value]], values: Sequence[Value]
) -> list[tuple[Flags, Flags]]:
    """What a hierarchy file and a taxonomy tell: which label is true of which value, and which values they know.

    Neither is asked about a label where it says another thing of a value than that label by now.
    """
    column, labels = job.column(name), rule.values[rule.names.index(name)]
    above: list[tuple[Mapping[Value, set[Any]], Mapping[Value, set[Any]]]] = []
    if column.hierarchy not in (None, "auto") or name in job.given.hierarchies:
        above.append(({row[0]: set(row) for row in job.hierarchies[name].rows()}, {label: {label} for label in labels}))
    if KINDS[column.kind].words and (column.taxonomy or name in job.given.taxonomies):
        taxonomy = job.taxonomy(name)
        meant = job.mapping(name, job.counts.rows_of(name)).concepts
        paths = {value: set(taxonomy.subsumers(code).tolist()) for value, code in meant.items() if code >= 0}
        above.append((paths, meanings(taxonomy, rule.concepts.get(name, {}), labels)))
    told = []
    for ways, meaning in above:
        table = np.zeros((len(labels), len(values)), dtype=np.bool_)
        for row, label in zip(table, labels, strict=True):
            if label in meaning and all(meaning[label] & ways[value] for value in members[label] if value in ways):
                row[:] = [bool(meaning[label] & ways.get(value, set())) for value in values]
        told.append((table, np.array([value in ways for value in values], dtype=np.bool_)))
    return told


# ---- classes ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Refitted:
    """The recoding for the new table, the records that were divided anew, and how many classes they form."""

    cells: Cells
    anew: int
    classes: int


def refit(job: Job, rule: Cells, covered: Mapping[str, Coverage]) -> Refitted:
    """Fill the classes of an earlier release with the tuples of the job's table; what is left is divided anew.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> counts, size = job.counts, len(job.counts)
    >>> codes = np.stack((np.zeros(size), counts.column("job")), axis=1)
    >>> labels = (("*",), counts.values_of("job"))
    >>> whole = Cells(("age", "job"), labels, np.arange(size), codes, counts.weights).bound(counts)
    >>> again = refit(job, whole, {name: coverage(job, whole, name) for name in whole.names})
    >>> again.anew, again.cells.apply(job.counts).rows_of("age")
    (0, {'*': 20})
    """
    counts = job.counts
    order = [rule.names.index(name) for name in counts.names]
    shown = np.ones(len(rule.source), dtype=np.bool_) if rule.suppressed is None else ~rule.suppressed
    classes, class_of = distinct_rows(np.ascontiguousarray(rule.codes[shown][:, order]))
    columns = [covered[name] for name in counts.names]
    had = _had(counts, rule, shown, class_of, columns)
    place = np.where(had >= 0, had, _best(counts, classes, columns))
    hidden = _with_unknown(counts, columns)
    place[hidden] = -1
    fits = _keeping(job, classes, columns, place)
    anew, waiting = _divided(job, place, np.flatnonzero(~fits & ~hidden), int(counts.weights[hidden].sum()))
    fits[waiting] = False
    cells = _joined(counts, [c.labels for c in columns], np.where(fits[:, None], classes[place], -1), waiting, anew)
    _refuse_broken(job, cells)
    assert cells.suppressed is not None
    new = np.isin(cells.source, waiting) & ~cells.suppressed
    return Refitted(cells.bound(counts), int(cells.multiplicity[new].sum()), len(distinct_rows(cells.codes[new])[0]))


def _keeping(job: Job, classes: NDArray[np.int32], columns: Sequence[Coverage], place: Longs) -> Flags:
    """Tuples in classes that keep the promise with the records they have now."""
    fits = place >= 0
    settled = np.flatnonzero(fits)
    if len(settled):
        codes = np.ascontiguousarray(classes[place[settled]])
        after = job.counts.some(settled).recoded([column.labels for column in columns], codes)
        _, group = distinct_rows(codes)
        kept = decide(bind(job.models, job.counts), after.weights, after.histograms, job.counts.total).kept
        fits[settled[~kept[group]]] = False
    return fits


def _joined(
    counts: Counts, labels: Sequence[tuple[Value, ...]], codes: NDArray[Any], waiting: Longs, anew: Cells | None
) -> Cells:
    """Tuples in classes as these say (`codes`, -1 for others), others as `anew` says, the rest suppressed."""
    alone = np.setdiff1d(np.arange(len(counts)), waiting) if anew is not None else np.arange(len(counts))
    gone = codes[alone].min(axis=1) < 0
    parts = [(labels, codes[alone], gone)]
    source, multiplicity = alone, counts.weights[alone]
    if anew is not None:
        # a class that shows nothing is read as suppressed
        blank = [np.array([label == SUPPRESSED for label in shown]) for shown in anew.values]
        suppressed = np.all([flags[code] for flags, code in zip(blank, anew.codes.T, strict=True)], axis=0)
        parts.append((anew.values, anew.codes, suppressed))
        source = np.concatenate((source, waiting[anew.source]))
        multiplicity = np.concatenate((multiplicity, anew.multiplicity))
    gone = np.concatenate([hidden for _, _, hidden in parts])
    values, joined = [], np.empty((len(source), len(counts.names)), dtype=np.int32)
    for j in range(len(counts.names)):
        outputs: dict[Value, int] = {}
        columns = []
        for dictionaries, own, _ in parts:
            code = np.array([outputs.setdefault(label, len(outputs)) for label in dictionaries[j]], dtype=np.int32)
            columns.append(code[own[:, j]])
        joined[:, j] = np.concatenate(columns)
        joined[gone, j] = outputs.setdefault(SUPPRESSED, len(outputs))
        values.append(tuple(outputs))
    return Cells(counts.names, tuple(values), source, joined, multiplicity, gone, {"method": "classes again"})


def _best(counts: Counts, classes: NDArray[np.int32], columns: Sequence[Coverage]) -> Longs:
    """The most exact class that is true of each tuple, by the share of records that its labels cover; -1 for none."""
    wide = np.zeros(len(classes))
    for j, (name, column) in enumerate(zip(counts.names, columns, strict=True)):
        wide += (column.table @ counts.marginal(name).astype(np.float64))[classes[:, j]]
    exact_first = np.argsort(wide, kind="stable")
    place = np.full(len(counts), -1, dtype=np.int64)
    if not len(classes):
        return place
    # a bit a class, the most exact first: what all columns allow is found by and, and the first bit is the best
    bits = [np.packbits(c.table[classes[exact_first, j]].T, axis=1) for j, c in enumerate(columns)]
    for begin in range(0, len(counts), _AT_ONCE):
        some = counts.codes[begin : begin + _AT_ONCE]
        allowed = bits[0][some[:, 0]]
        for j in range(1, len(columns)):
            allowed = allowed & bits[j][some[:, j]]
        byte = np.argmax(allowed > 0, axis=1)
        first = allowed[np.arange(len(some)), byte].astype(np.int64)
        bit = 8 - np.frexp(np.maximum(first, 1))[1]
        best = exact_first[np.minimum(8 * byte + bit, len(classes) - 1)]
        place[begin : begin + _AT_ONCE] = np.where(first > 0, best, -1)
    return place


def _had(counts: Counts, rule: Cells, shown: Flags, class_of: NDArray[Any], columns: Sequence[Coverage]) -> Longs:
    """The class that each tuple had in the earlier release, one of them where it had several; -1 for new ones."""
    assert rule.inputs is not None
    inputs, source = rule.inputs, rule.source[shown]
    then = [np.fromiter(inputs.values_of(name), dtype=object)[inputs.column(name)] for name in counts.names]
    had = {key: int(c) for key, c in zip(zip(*(c[source] for c in then), strict=True), class_of, strict=True)}
    now = [np.fromiter(c.earlier, dtype=object)[counts.codes[:, j]] for j, c in enumerate(columns)]
    return np.array([had.get(key, -1) for key in zip(*now, strict=True)], dtype=np.int64)


def _with_unknown(counts: Counts, columns: Sequence[Coverage]) -> Flags:
    hidden = np.zeros(len(counts), dtype=np.bool_)
    for j, (dictionary, column) in enumerate(zip(counts.values, columns, strict=True)):
        strange = set(column.unknown)
        hidden |= np.array([value in strange for value in dictionary], dtype=np.bool_)[counts.codes[:, j]]
    return hidden


def _divided(job: Job, place: Longs, waiting: Longs, hidden: int) -> tuple[Cells | None, Longs]:
    """Tuples that fit no class divided among themselves, as the project's method does; None where they are suppressed.

    Where they are too many to be suppressed and too few to be divided, the smallest classes join them.
    """
    counts = job.counts
    if not len(waiting):
        return None, waiting
    limit = suppression_limit(job.project.release.suppression, counts.total) - hidden
    settled = np.setdiff1d(np.flatnonzero(place >= 0), waiting)
    sizes = np.bincount(place[settled], counts.weights[settled])
    smallest_first = [c for c in np.argsort(sizes, kind="stable").tolist() if sizes[c] > 0]
    joined = 0
    while True:
        part = job.narrowed(counts.some(waiting))
        try:
            rule = part.method.run(part, job.project.method.parameters, None)[0]
            return (None if isinstance(rule, Draws) else rule.cells(part.counts)), waiting
        except Infeasible:
            if int(counts.weights[waiting].sum()) <= limit or joined >= len(smallest_first):
                return None, waiting
        more = smallest_first[joined : 2 * joined + 1]
        waiting = np.union1d(waiting, settled[np.isin(place[settled], more)])
        joined += len(more)


def _refuse_broken(job: Job, cells: Cells) -> None:
    """Refuse where the classes do not keep the promise, or too many records are suppressed."""
    counts, gone = job.counts, cells.suppressed
    assert gone is not None
    limit = suppression_limit(job.project.release.suppression, counts.total)
    suppressed = int(cells.multiplicity[gone].sum())
    single = len(cells.source) == len(counts)
    decision = None
    if single:  # else records of one tuple were dealt to several classes, and the verifier counts them
        ordered = np.empty_like(cells.codes)
        ordered[cells.source] = cells.codes
        after = counts.recoded(cells.values, ordered)
        _, group = distinct_rows(ordered)
        hidden = np.zeros(len(after), dtype=np.bool_)
        hidden[group[cells.source[gone]]] = True
        decision = decide(bind(job.models, counts), after.weights, after.histograms, limit, hidden)
    if suppressed > limit or (decision is not None and not decision.holds):
        raise Infeasible(
            "the recoding of the earlier release does not keep the promise for this table",
            best=decision,
            relax=("allow more suppression", "make a new recoding without --reuse"),
        )
