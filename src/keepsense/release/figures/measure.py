"""Measure a release: the metrics of `utility` and `risk`, computed for a job.

Those of every run go into its description; the others are for reports. Every one of these is bounded: what would take
too long is measured on a sample, and said so, or left out, and said so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, KeepsenseError
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.group_widths import positions
from keepsense.hierarchies.intervals import parse_interval
from keepsense.metrics import SEED, Figure, Note, by_name, figures, sampled_share
from keepsense.privacy.population_uniqueness import OF_FRACTION
from keepsense.privacy.risk_thresholds import LinkageRisk
from keepsense.recoding import Cells, Draws, Recoding
from keepsense.release.figures.households import own_households, released_households
from keepsense.release.job.job import Job
from keepsense.release.job.people import linked_people, own_people
from keepsense.risk.attribute_disclosure import NumberPairs, number_pairs
from keepsense.risk.record_linkage import FEWEST_TRIED, Linkage, linkage_before_and_after, record_linkage, some_records
from keepsense.risk.risk_metrics import Exposed, weighted_classes
from keepsense.semantics.distance import distance
from keepsense.utility import overall_distance
from keepsense.utility.associations import Association, associations, dependence, one_label_each
from keepsense.utility.column_changes import Moves, set_moves, table_moves
from keepsense.utility.generalization_losses import certainty_penalties, certainty_penalty
from keepsense.utility.recoded_table import Recoded, aligned, inputs_of, shown, whole_table
from keepsense.utility.set_losses import KnownItems, SetFigures
from keepsense.utility.value_distances import Scale, column_distances

MOST_COMPARED = 2_000_000_000
"""Pairs of distinct released and original records up to which linkage is tried for all; beyond, a sample is."""
MOST_RECORDS = 5_000
"""Most records whose sets are compared one by one."""
PEOPLE = 500
"""People whose records an attacker who knows some items is made to look for."""
KNOWN = (1, 2, 3)


# ---- what metrics look at --------------------------------------------------------------------------------------------


def scale_of(job: Job, name: str) -> Scale:
    """How values of a column are compared, as the project file says.

    >>> from keepsense.release.example import example_job
    >>> scale_of(example_job(), "age").kind
    'numeric'
    """
    column = job.column(name)
    judge = None if column.taxonomy is None else distance(column.distance, job.taxonomy(name))
    return Scale(
        name,
        column.kind,
        hierarchy=job.hierarchies.get(name) if job.truthful else None,
        order=None if column.order is None else tuple(column.order),
        distance=judge,
        concepts=lambda rows: job.mapping(name, job.own_counts.rows_of(name) if rows is None else rows).concepts,
        items=(lambda cells: job.items(name, cells).sets()) if job.holds_sets(name) else None,
    )


def of_sets(job: Job, rules: Sequence[Recoding]) -> list[Recoding]:
    """The recodings of set-valued columns alone, which are applied after the others.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> of_sets(done.job, done.recodings)
    []
    """
    return [rule for rule in rules if set(rule.names) <= set(job.set_columns)]


def recoded(
    job: Job, rules: Sequence[Recoding], released: Counts | None = None, *, truthful: bool | None = None
) -> Recoded:
    """A job's table and what recodings, those of sets included, made of it; `truthful` like its method unless given.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> recoded(done.job, done.recodings).cells[1].values[1]
    ('accountant', 'clerk', 'nurse', 'surgeon')
    """
    generalized = job.truthful if truthful is None else truthful
    numbers = [name for name in job.quasi_identifiers if KINDS[job.column(name).kind].numbers]
    target = next((name for name in job.project.having("target") if name in job.own_counts.histograms), None)
    return Recoded(
        job.own_counts,
        rules,
        job.hierarchies if generalized else {},
        of_sets(job, rules),
        truthful=generalized,
        numbers=frozenset(numbers),
        ranges={name: span for name in job.quasi_identifiers if (span := _range_of(job, name)) is not None},
        importance={name: job.column(name).weight for name in job.every_quasi_identifier},
        scale_of=cache(lambda name: scale_of(job, name)),
        released=released,
        target=target,
    )


def common_range(rows: Mapping[Value, int], k: int) -> tuple[float, float]:
    """The numbers at or beyond which k records lie on either side; so nobody's extreme can be told from a width.

    >>> common_range({"20": 3, "21": 5, "60": 2, "117": 1}, 3)
    (20.0, 60.0)
    """
    spans = {value: parse_interval(value) for value in rows if value is not None}
    lows, highs = ([(span[end], rows[value]) for value, span in spans.items() if span] for end in (0, 1))
    return _kth(lows, k), max(_kth(lows, k), -_kth([(-high, n) for high, n in highs], k))


def _kth(numbers: list[tuple[float, int]], k: int) -> float:
    """The number that only k - 1 records lie before; 0 where there are fewer."""
    held = 0
    for number, records in sorted(numbers):
        held += records
        if held >= k:
            return number
    return 0.0


def _range_of(job: Job, name: str) -> tuple[float, float] | None:
    """The range within which widths of a column's values are told; None where no value of a person stretches it."""
    column, rows = job.column(name), job.own_counts.rows_of(name)
    kind, tree = KINDS[column.kind], job.hierarchies.get(name) if job.truthful else None
    if kind.numbers:
        return common_range(rows, job.hidden_among)
    if not kind.ordered or column.order is not None or tree is None:
        return None
    places = dict(zip(tree.leaves, positions(tree).tolist(), strict=True))
    days = [(places.get(value, math.nan), records) for value, records in rows.items()]
    days = [(day, records) for day, records in days if math.isfinite(day)]
    first = _kth(days, job.hidden_among)
    return first, max(first, -_kth([(-day, records) for day, records in days], job.hidden_among))


def with_draws(job: Job, table: Recoded) -> Recoded:
    """The same where values are drawn by published matrices: with a draw of its own, on which linkage is measured.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> with_draws(done.job, recoded(done.job, done.recodings)).drawn is None
    True
    """
    drawn = [rule for rule in table.rules if isinstance(rule, Draws)]
    if not drawn or {rule.name for rule in drawn} != set(job.quasi_identifiers):
        return table
    from keepsense.methods.perturb.pram import draw

    return replace(table, drawn=draw(table.counts, drawn, rng=SEED))


# ---- every run -------------------------------------------------------------------------------------------------------


def measured_utility(job: Job, rules: Sequence[Recoding], after: Counts | None = None) -> dict[str, float]:
    """Losses of the quasi-identifiers by every cheap metric that applies; `after` counts the release.

    Generalized values are measured by what they hide, changed ones by how many changed and how far they moved.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> found = measured_utility(job, rules)
    >>> found["average class size"], round(found["loss"], 4)
    (5.0, 0.0714)
    """
    return by_name(figures("utility", recoded(job, rules, after), every_run=True))


def column_penalties(job: Job, rules: Sequence[Recoding]) -> dict[str, float]:
    """Share of each quasi-identifier's certainty that is gone; nothing where it cannot be told.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> {name: round(lost, 4) for name, lost in column_penalties(done.job, done.recodings).items()}
    {'age': 0.23, 'job': 0.0}
    """
    try:
        return certainty_penalties(recoded(job, rules))
    except KeepsenseError:
        return {}


def penalty(job: Job, rule: Recoding) -> float | None:
    """Certainty lost by one recoding that generalizes, whatever the job's own method does; None if it cannot be told.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> round(penalty(done.job, done.recodings[0]), 4)
    0.115
    """
    try:
        return certainty_penalty(recoded(job, [rule], truthful=True))
    except KeepsenseError:
        return None


def measured_risk(
    job: Job, after: Counts, population: Counts | None = None, rules: Sequence[Recoding] = ()
) -> dict[str, dict[str, float]]:
    """Risk of re-identification before and after; a journalist's too where a population or sampling weights are given.

    Where people may have several rows, people are counted: `after` holds people, too, then. With the recodings,
    sampling weights are added up by released class as well, and so are households. Where values were changed and no
    class is promised, who stands alone in the release tells nothing about anybody, and there is no figure for after;
    `linkage` measures that.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> found = measured_risk(job, rules[0].apply(job.own_counts))
    >>> [found[when]["prosecutor, highest"] for when in ("before", "after")]
    [0.5, 0.2]
    """
    people = own_people(job, job.every_quasi_identifier)
    source = job.project.source
    # the source or a promise may tell which share of the population the table is
    fraction = None if source is None else source.sampling_fraction
    fraction = next((float(model.fraction) for model in job.models if isinstance(model, OF_FRACTION)), fraction)
    counted = job.every_count if people is None else people
    before = Exposed(counted, job.population_counts, job.missing, fraction=fraction)
    release = Exposed(after, population, job.missing, fraction=fraction)
    for weight in job.project.having("weight"):
        counts = job.own_counts
        before = replace(before, people=(counts.weights, counts.sums[weight]))
        for rule in whole_table(rules, job.quasi_identifiers) if job.truthful else ():
            release = replace(release, people=weighted_classes(counts, aligned(counts, rule), counts.sums[weight]))
    homes = own_households(job, job.own_counts.names)
    if homes is not None:
        before = replace(before, households=homes)
        for rule in whole_table(rules, job.quasi_identifiers) if job.truthful else ():
            told = released_households(job.own_counts, homes, aligned(job.own_counts, rule))
            release = replace(release, households=told)
    measured = {
        when: by_name(figures("risk", table, every_run=True))
        for when, table in (("before", before), ("after", release))
        if when == "before" or job.about_classes
    }
    return {when: values for when, values in measured.items() if values}


def mean_distance_from_truth(job: Job, rules: Sequence[Recoding]) -> float | None:
    """How far what a release lets suppose lies from the truth, by one metric for methods of all kinds.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> round(mean_distance_from_truth(done.job, done.recodings), 3)
    0.042
    """
    return overall_distance.mean_distance_from_truth(recoded(job, rules), job.every_quasi_identifier)


def number_pairs_of(job: Job, rules: Sequence[Recoding]) -> dict[str, NumberPairs]:
    """Original and released numbers of the columns that are released as numbers, drawn where chance decides.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> number_pairs_of(done.job, done.recodings)  # it releases ranges
    {}
    """
    table = with_draws(job, recoded(job, rules))
    try:
        counts, cells = table.cells
    except BadInput:  # no single recoding says what became of all columns
        return {}
    return number_pairs(counts, cells, [name for name in cells.names if name in table.numbers])


# ---- linkage as a promise --------------------------------------------------------------------------------------------


def promises_linkage(job: Job) -> bool:
    """Whether a project promises that linking mostly fails.

    >>> from keepsense.release.example import example_job
    >>> promises_linkage(example_job())
    False
    """
    return any(isinstance(model, LinkageRisk) for model in job.models)


def linkage_kept(job: Job, rules: Sequence[Recoding], measured: Linkage | None = None) -> tuple[str, ...]:
    """The name of the promise where it is made and holds; nothing where it does not, or cannot be measured.

    `measured` is what `linkage` found, where that is at hand.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.methods.method import method
    >>> job = example_job(privacy=[{"model": "linkage risk", "threshold": 0.5}])
    >>> linkage_kept(job, method("rank swapping").run(job, {"k": 8}, None))
    ('linkage risk',)
    """
    limits = [model.threshold for model in job.models if isinstance(model, LinkageRisk)]
    if not limits:
        return ()
    attack = linkage(job, rules) if measured is None else measured
    return (LinkageRisk.name,) if attack is not None and attack.at_most <= min(limits) + 1e-12 else ()


def linkage(job: Job, rules: Sequence[Recoding], *, most: int = MOST_COMPARED) -> Linkage | None:
    """How a linkage attack on all quasi-identifiers fares, or None where that is not covered.

    Where all records would be compared with more than `most` others together, some of them are tried, drawn at random;
    whoever judges a promise takes `Linkage.at_most` then. What is drawn by a published matrix is measured on a draw of
    its own.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> round(linkage(done.job, done.recodings).risk, 4)
    0.2
    """
    table = with_draws(job, recoded(job, rules))
    if table.drawn is None and len(whole_table(rules, job.quasi_identifiers)) != 1:
        return None
    counts, cells = table.cells
    if set(cells.names) != set(job.every_quasi_identifier):
        return None
    counts, cells = linked_people(job, counts, cells)
    widest = max(map(len, counts.values))
    cells = some_records(cells, max(FEWEST_TRIED, most // max(1, len(counts))), widest)
    return record_linkage(counts, cells, column_distances(table.scale_of, counts, cells))


# ---- reports ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Measurements:
    """Everything a report tells beyond the description of a release; `notes` say what was sampled or left out.

    `linkage` has "before" and "after". `columns` gives the share of changed cells and the mean distance of columns
    whose values were changed. `associations` are Cramér's V of pairs of columns, `dependence` their distance
    correlations.

    >>> Measurements().notes
    ()
    """

    linkage: Mapping[str, Linkage] = field(default_factory=dict)
    utility: Sequence[Figure] = ()
    columns: Moves = field(default_factory=dict)
    associations: tuple[Association, ...] = ()
    dependence: tuple[Association, ...] = ()
    sets: Sequence[SetFigures] = ()
    notes: Sequence[Note] = ()


def measured_for_report(job: Job, rules: Sequence[Recoding]) -> Measurements:
    """Measure a release by everything that applies to it.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> found = measured_for_report(done.job, done.recodings)
    >>> round(found.linkage["after"].risk, 4), found.dependence[0].first, found.dependence[0].second
    (0.2, 'age', 'job')
    """
    sets = set_figures(job, rules)
    table = replace(with_draws(job, recoded(job, rules)), sets=sets)
    for column in sets:
        if column.tried < column.records:
            text = f"Sets of {column.column} were compared for {column.tried:,} records drawn at random."
            table.note("risk", text)
    columns = table_moves(table) | set_moves(table)
    utility = figures("utility", table, every_run=False)
    if table.drawn is None and len(whole_table(table.rules, job.quasi_identifiers)) != 1:
        return Measurements(utility=utility, columns=columns, sets=sets, notes=table.notes)
    if table.drawn is not None:
        table.note("risk", "Values were drawn at random; linkage is measured on another draw from the same matrices.")
    counts, cells = table.cells
    after = shown(counts, cells)
    return Measurements(
        linkage=linkage_before_and_after(
            *linked_people(job, counts, cells), lambda some: column_distances(table.scale_of, counts, some), table.notes
        ),
        utility=utility,
        columns=columns,
        associations=associations(counts, after) if not job.truthful or one_label_each(counts, cells) else (),
        dependence=dependence(table, counts, after),
        sets=sets,
        notes=table.notes,
    )


# ---- sets ------------------------------------------------------------------------------------------------------------


def set_figures(job: Job, rules: Sequence[Recoding]) -> list[SetFigures]:
    """Compare every set-valued column that a recoding is about: how far sets moved, what known items give away.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.release.job.sets import recode_sets
    >>> sets = {"likes": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}}
    >>> job = example_job(columns=sets, unlisted="drop", method={"name": "set microaggregation"})
    >>> rules, released = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    >>> found = set_figures(job, rules)[0]
    >>> found.column, found.records, round(found.item_error, 2)
    ('likes', 20, 0.0)
    """
    cells = [rule for rule in rules if isinstance(rule, Cells)]
    return [_compared(job, rule, name) for rule in cells for name in rule.names if job.holds_sets(name)]


def _compared(job: Job, rule: Cells, name: str) -> SetFigures:
    from keepsense.utility.set_comparison import compare_sets

    counts = inputs_of(job.own_counts, rule)
    rows = np.repeat(np.arange(len(rule.source)), rule.multiplicity)
    records = len(rows)
    if records > MOST_RECORDS:
        rows = np.sort(np.random.default_rng(SEED + 1).choice(rows, MOST_RECORDS, replace=False))
    at = rule.names.index(name)
    originals, released = counts.values_of(name), rule.values[at]
    before = job.items(name, [originals[code] for code in counts.column(name)[rule.source[rows]].tolist()])
    after = job.items(name, [released[code] for code in rule.codes[rows, at].tolist()]).sets()
    try:
        sets, covers = job.concept_sets(name, before), _covers(job, name)
        judge = None if job.column(name).taxonomy is None else distance("feature", job.taxonomy(name))
        release, original = (
            compare_sets(sets, each, judge, covers=covers, known=KNOWN, people=PEOPLE, rng=SEED + 1)
            for each in (after, before.sets())
        )
    except KeepsenseError:
        return SetFigures(name, records, len(rows))
    return SetFigures(
        name,
        records,
        len(rows),
        float(release.loss.above_floor / max(1, release.loss.records)),
        float(release.items.relative),
        float(release.pairs.relative),
        tuple(
            (then.m, _chance(then, records), _chance(now, records))
            for then, now in zip(original.linkage, release.linkage, strict=True)
        ),
    )


def _chance(known: KnownItems, records: int) -> float:
    """Chance to find a record by known items, with its interval where only some people were looked for."""
    return sampled_share(known.risk, known.people) if PEOPLE <= known.people < records else known.risk


def _covers(job: Job, name: str) -> dict[Value, list[Value]] | None:
    """Which items a generalized one may stand for, where the method generalizes them."""
    from keepsense.release.job.sets import method_for_sets

    if not method_for_sets(job).truthful:
        return None
    covers: dict[Value, list[Value]] = {}
    for row in job.hierarchies[name].rows():
        for label in dict.fromkeys(row):
            covers.setdefault(label, []).append(row[0])
    return {label: items for label, items in covers.items() if items != [label]}


def item_counts(job: Job, counts: Counts, name: str) -> dict[Value, int]:
    """Records that hold each item of a set-valued column, the most frequent first.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> item_counts(job, job.count(["likes"]), "likes")
    {'tea': 12, 'chess': 8, 'football': 8}
    """
    rows = job.item_rows(name, counts.rows_of(name))
    return dict(sorted(rows.items(), key=lambda item: (-item[1], str(item[0]))))
