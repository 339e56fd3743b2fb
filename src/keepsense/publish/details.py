"""What a release is worth and what risk it leaves, in full: measures too dear for every run, made for reports.

Every measure is bounded: what would take too long is measured on a sample, and said so, or left out, and said so. The
random choices in here (which records are tried, which questions are asked) have nothing to do with those of a release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from keepsense.publish.became import table_cells
from keepsense.publish.figures import SEED, Association, Note
from keepsense.publish.linked import Linked, sampled_linkage
from keepsense.publish.measures import column_moves
from keepsense.publish.plan import Plan
from keepsense.publish.set_details import SetDetails, set_details
from keepsense.publish.together import associations, dependence, one_label_each, shown
from keepsense.publish.usefulness import usefulness
from keepsense.recoding import Draws, Recoding


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


def details_of(plan: Plan, rules: Sequence[Recoding]) -> Details:
    """Measure a release by everything that applies to it.

    >>> from keepsense.publish.example import example_release
    >>> done = example_release()
    >>> plan, rules = done.plan, done.recodings
    >>> found = details_of(plan, rules)
    >>> round(found.linkage["after"].risk, 4), found.dependence[0].first, found.dependence[0].second
    (0.2, 'age', 'job')
    """
    notes: list[Note] = []
    found = table_cells(plan, rules, SEED)
    columns = _columns(plan, rules)
    sets = tuple(set_details(plan, rules))
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
    utility = usefulness(plan, counts, cells, notes)
    after = shown(counts, cells)
    return Details(
        linkage=sampled_linkage(plan, counts, cells, notes),
        utility=utility,
        columns=columns,
        associations=associations(counts, after) if one_label_each(plan, cells, counts) else (),
        dependence=dependence(plan, counts, after, notes),
        sets=sets,
        notes=tuple(notes),
    )


def _columns(plan: Plan, rules: Sequence[Recoding]) -> dict[str, dict[str, float]]:
    """Share of changed cells and mean distance of each column whose values were changed, not generalized."""
    found: dict[str, dict[str, float]] = {}
    for rule in rules:
        if plan.truthful and not set(rule.names) <= set(plan.set_columns):
            continue
        for name, (changed, far) in column_moves(plan, rule).items():
            found[name] = {"changed": changed, **({} if far is None else {"distance": far})}
    return found
