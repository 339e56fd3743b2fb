"""What a release is worth and what risk it leaves, in full: measures too dear for every run, made for reports.

Every measure is bounded: what would take too long is measured on a sample, and said so, or left out, and said so. The
random choices in here (which records are tried, which questions are asked) have nothing to do with those of a release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keepsense.recoding import Draws, Recoding
from keepsense.release.became import table_cells
from keepsense.release.figures import SEED, Association, Note
from keepsense.release.job import Job
from keepsense.release.linked import Linked, sampled_linkage
from keepsense.release.measures import column_moves
from keepsense.release.set_details import SetDetails, set_details
from keepsense.release.together import associations, dependence, one_label_each, shown
from keepsense.release.usefulness import usefulness


@dataclass(frozen=True, eq=False)
class Details:
    """Everything a report tells beyond the description of a release; `notes` say what was sampled or left out.

    `linkage` has "before" and "after". `columns` gives figures by column: share changed, mean and root mean square
    distance. `associations` are Cramér's V of pairs of columns, `dependence` their distance correlations.

    >>> Details().notes
    ()
    """

    linkage: Mapping[str, Linked] = field(default_factory=dict)
    utility: Mapping[str, float] = field(default_factory=dict)
    columns: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    associations: tuple[Association, ...] = ()
    dependence: tuple[Association, ...] = ()
    sets: tuple[SetDetails, ...] = ()
    notes: tuple[Note, ...] = ()


def details_of(job: Job, rules: Sequence[Recoding]) -> Details:
    """Measure a release by everything that applies to it.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> job, rules = done.job, done.recodings
    >>> found = details_of(job, rules)
    >>> round(found.linkage["after"].risk, 4), found.dependence[0].first, found.dependence[0].second
    (0.2, 'age', 'job')
    """
    notes: list[Note] = []
    found = table_cells(job, rules, SEED)
    columns = _columns(job, rules)
    sets = tuple(set_details(job, rules))
    for one in sets:
        if one.tried < one.records:
            notes.append(Note("risk", f"Sets of {one.column} were compared for {one.tried:,} records drawn at random."))
    if found is None:
        return Details(columns=columns, sets=sets, notes=tuple(notes))
    counts, cells = found
    if any(isinstance(rule, Draws) for rule in rules):
        notes.append(
            Note("risk", "Values were drawn at random; linkage is measured on another draw from the same matrices.")
        )
    utility = usefulness(job, counts, cells, notes)
    after = shown(counts, cells)
    return Details(
        linkage=sampled_linkage(job, counts, cells, notes),
        utility=utility,
        columns=columns,
        associations=associations(counts, after) if one_label_each(job, cells, counts) else (),
        dependence=dependence(job, counts, after, notes),
        sets=sets,
        notes=tuple(notes),
    )


def _columns(job: Job, rules: Sequence[Recoding]) -> dict[str, dict[str, float]]:
    """Share of changed cells and mean distance of each column whose values were changed, not generalized."""
    found: dict[str, dict[str, float]] = {}
    for rule in rules:
        if job.truthful and not set(rule.names) <= set(job.set_columns):
            continue
        for name, (changed, far) in column_moves(job, rule).items():
            found[name] = {"changed": changed, **({} if far is None else {"distance": far})}
    return found
