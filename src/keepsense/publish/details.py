"""What a release is worth and what risk it leaves, in full: measures too dear for every run, made for reports.

Every measure is bounded: what would take too long is measured on a sample, and said so, or left out, and said so. The
random choices in here (which records are tried, which questions are asked) have nothing to do with those of a release.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import KeepsenseError
from keepsense.privacy.linkage import record_linkage
from keepsense.publish.distances import gaps_between, generalizes, released_gaps
from keepsense.publish.figures import association
from keepsense.publish.measures import aligned, column_moves, inputs_of, table_rules
from keepsense.publish.plan import Plan
from keepsense.publish.set_details import SetDetails, set_details
from keepsense.recoding import SUPPRESSED, Cells, Draws, Recoding

MOST_PAIRS = 150_000_000
"""Most pairs of a released and an original combination that linkage compares; beyond, it takes a sample."""
MOST_VALUES = 100_000
"""Most different values of a column that linkage still compares."""
MOST_DISTANCES = 1 << 24
"""Most distances between values of one column that are written down."""
FEWEST_TRIED = 200
PAIRED_VALUES = 4_000
"""Most different values of a column whose distance correlation with others is measured."""
PAIRED_COLUMNS = 6
PAIRED_WORK = 400_000_000
"""Most multiplications that the distance correlation of one pair of columns may take."""
QUESTIONS = 200
LEARNED = 4_000
"""Most distinct combinations a classifier learns from."""
_SEED = 20_260_101


@dataclass(frozen=True)
class Linked:
    """How linking each record to the nearest original one fares, over the records `tried` of all `records`.

    >>> Linked(0.25, 1.0, 4.0, 100, 100).risk
    0.25
    """

    risk: float
    linked: float
    group: float
    tried: int
    records: int


@dataclass(frozen=True)
class Kept:
    """How strongly two columns hang together before and after.

    >>> Kept("job", "sex", 0.5, 0.25).before
    0.5
    """

    first: str
    second: str
    before: float
    after: float


@dataclass(frozen=True)
class Note:
    """A remark on how something was measured: about "risk", "utility" or what goes "together".

    >>> Note("risk", "on a sample").about
    'risk'
    """

    about: str
    text: str


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
    associations: tuple[Kept, ...] = ()
    dependence: tuple[Kept, ...] = ()
    sets: tuple[SetDetails, ...] = ()
    notes: tuple[Note, ...] = ()


def details_of(plan: Plan, rules: Sequence[Recoding]) -> Details:
    """Measure a release by everything that applies to it.

    >>> details_of.__name__
    'details_of'
    """
    notes: list[Note] = []
    found = table_cells(plan, rules)
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
    utility: dict[str, float] = {}
    for measure in (_meaning, _questions, _divergence, _learning):
        try:
            utility.update(measure(plan, counts, cells, notes))
        except KeepsenseError:
            continue  # a measure that does not apply is left out
    after = _shown(counts, cells)
    return Details(
        linkage=linkage(plan, counts, cells, notes),
        utility=utility,
        columns=columns,
        associations=_associations(counts, after) if _one_label_each(plan, cells, counts) else (),
        dependence=_dependence(plan, counts, after, notes),
        sets=sets,
        notes=tuple(notes),
    )


def table_cells(plan: Plan, rules: Sequence[Recoding]) -> tuple[Counts, Cells] | None:
    """What became of each combination of single values; where a matrix says so, drawn from it once more.

    >>> table_cells.__name__
    'table_cells'
    """
    whole = table_rules(plan, rules)
    if len(whole) == 1:
        if generalizes(plan):
            return aligned(plan, whole[0])
        counts = inputs_of(plan, whole[0])
        return counts, whole[0].cells(counts)
    drawn = [rule for rule in rules if isinstance(rule, Draws)]
    if drawn and {rule.name for rule in drawn} == set(plan.quasi_identifiers):
        from keepsense.methods.perturb.pram import draw

        return plan.own_counts, draw(plan.own_counts, drawn, rng=_SEED)
    return None


def _columns(plan: Plan, rules: Sequence[Recoding]) -> dict[str, dict[str, float]]:
    """Share of changed cells and mean distance of each column whose values were changed, not generalized."""
    found: dict[str, dict[str, float]] = {}
    for rule in rules:
        if generalizes(plan) and not set(rule.names) <= set(plan.set_columns):
            continue
        for name, (changed, far) in column_moves(plan, rule).items():
            found[name] = {"changed": changed, **({} if far is None else {"distance": far})}
    return found


# ---- risk ------------------------------------------------------------------------------------------------------------


def linkage(plan: Plan, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, Linked]:
    """Chance to link a record rightly by the distances of its values, in the original and in the release.

    Before, every original record is looked up among the originals; after, every released one.

    >>> linkage.__name__
    'linkage'
    """
    widest = max((len(values) for values in counts.values), default=0)
    if widest > MOST_VALUES:
        notes.append(
            Note("risk", f"Linkage was not measured: a column has more than {MOST_VALUES:,} different values.")
        )
        return {}
    same = Cells(counts.names, counts.values, np.arange(len(counts)), counts.codes, counts.weights)
    found = {}
    for when, one in (("before", same), ("after", cells)):
        some = _sampled(counts, one, max(FEWEST_TRIED, MOST_PAIRS // max(1, len(counts))), widest)
        try:
            linked = record_linkage(counts, some, released_gaps(plan, counts, some))
        except KeepsenseError:
            continue
        tried = int(some.multiplicity.sum())
        found[when] = Linked(linked.risk, linked.linked, linked.group, tried, counts.total)
    if any(one.tried < one.records for one in found.values()):
        least = min(one.tried for one in found.values())
        notes.append(
            Note("risk", f"Linkage was tried for {least:,} records drawn at random, because there are so many.")
        )
    return found


def _sampled(counts: Counts, cells: Cells, most: int, widest: int) -> Cells:
    """The recoding of at most so many records, with only the released values these have."""
    distinct = len(distinct_rows(cells.codes)[0])
    room = max(1, MOST_DISTANCES // max(1, widest))
    if distinct <= most and max(map(len, cells.values)) <= room:
        return cells
    draw = np.random.default_rng(_SEED)
    total = int(cells.multiplicity.sum())
    chosen = np.sort(draw.choice(total, min(most, room, total), replace=False))
    row, times = np.unique(np.searchsorted(np.cumsum(cells.multiplicity), chosen, side="right"), return_counts=True)
    codes, values = cells.codes[row].copy(), []
    for j in range(codes.shape[1]):
        used, codes[:, j] = np.unique(codes[:, j], return_inverse=True)
        values.append(tuple(cells.values[j][code] for code in used.tolist()))
    return Cells(cells.names, tuple(values), cells.source[row], codes, times)


# ---- usefulness ------------------------------------------------------------------------------------------------------


def _meaning(plan: Plan, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """Distance between what was and what is released, over the columns of words with a taxonomy."""
    from keepsense.utility import root_mean_square_error, semantic_loss, semantic_sse

    names = [n for n in cells.names if plan.column(n).taxonomy is not None and plan.column(n).kind == "nominal"]
    one = _only(cells, names)
    if not names or max(map(len, one.values)) * max(len(counts.values_of(n)) for n in names) > MOST_DISTANCES:
        return {}
    gaps = released_gaps(plan, counts, one)
    squares = root_mean_square_error(counts, one, gaps)
    return {
        "semantic loss": semantic_loss(counts, one, gaps),
        "semantic sum of squared errors": semantic_sse(counts, one, gaps),
        **{f"root mean square distance, {name}": value for name, value in squares.items()},
    }


def _only(cells: Cells, names: Sequence[str]) -> Cells:
    """The recoding of some columns."""
    at = [cells.names.index(name) for name in names]
    values = tuple(cells.values[j] for j in at)
    return replace(cells, names=tuple(names), values=values, codes=cells.codes[:, at], inputs=None)


def _questions(plan: Plan, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """Mean and median relative error of counting questions about two columns at a time."""
    from keepsense.hierarchies import Hierarchy
    from keepsense.utility import query_error, random_queries

    names = [name for name in cells.names if plan.column(name).kind != "set"]
    small = [n for n in names if len(cells.values[cells.names.index(n)]) * len(counts.values_of(n)) <= MOST_DISTANCES]
    if len(small) < len(names):
        notes.append(Note("utility", "Counting questions leave out columns with very many released values."))
    names = small
    if not names:
        return {}
    cells = _only(cells, names)
    if generalizes(plan):
        trees = {name: plan.hierarchies[name] for name in names}
    else:
        trees = {}
        for name in names:
            numbers = plan.column(name).kind == "numeric" and None not in counts.values_of(name)
            rows = [(value, "*") for value in counts.values_of(name)]
            trees[name] = Hierarchy.of_rows(rows, name=name, kind="numeric" if numbers else "nominal")
    number = max(20, min(QUESTIONS, 40_000_000 // max(1, len(counts))))
    queries = random_queries(trees, number=number, columns=min(2, len(names)), rng=_SEED)
    if generalizes(plan):
        errors = query_error(counts, cells, trees, queries).errors
    else:
        after = cells.apply(counts)
        asked = [(_count(counts, query), _count(after, query)) for query in queries]
        errors = np.array([abs(now - was) / max(was, 0.001 * counts.total) for was, now in asked])
    return {"query error, mean": float(errors.mean()), "query error, median": float(np.median(errors))}


def _count(counts: Counts, query: Any) -> float:
    true = counts.weights.astype(np.float64)
    for name, wanted in query.conditions.items():
        there = np.array([value in wanted for value in counts.values_of(name)], dtype=np.float64)
        true = true * there[counts.column(name)]
    return float(true.sum())


def _divergence(plan: Plan, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """How far the table a reader would reconstruct is from the original, in bits."""
    from keepsense.utility import kl_divergence

    if not generalizes(plan):
        return {}
    if len(counts) * len(distinct_rows(cells.codes)[0]) > MOST_PAIRS:
        notes.append(
            Note("utility", "The divergence of the whole table was not measured: it has too many combinations.")
        )
        return {}
    return {"divergence": kl_divergence(counts, cells, plan.hierarchies)}


def _learning(plan: Plan, counts: Counts, cells: Cells, notes: list[Note]) -> dict[str, float]:
    """Accuracy of predicting a target column before and after, where there is one and scikit-learn is installed."""
    from importlib.util import find_spec

    targets = [name for name in plan.project.having("target") if name in counts.histograms]
    if not targets:
        return {}
    if find_spec("sklearn") is None:
        notes.append(
            Note("utility", "How well the target can be predicted was not measured: scikit-learn is not installed.")
        )
        return {}
    from keepsense.utility import classification_accuracy

    if len(counts) > LEARNED:
        notes.append(
            Note(
                "utility", f"The classifier learned from {LEARNED:,} of {len(counts):,} combinations, drawn at random."
            )
        )
        counts, cells = _some(counts, cells, LEARNED)
    target = targets[0]
    found = classification_accuracy(counts, cells, target, folds=3, rng=_SEED)
    return {
        f"accuracy for {target}, before": found.before,
        f"accuracy for {target}, after": found.after,
        f"accuracy for {target}, always the commonest": found.commonest,
    }


def _some(counts: Counts, cells: Cells, most: int) -> tuple[Counts, Cells]:
    """Counts and recoding of some combinations, the frequent ones likelier."""
    from keepsense.arrays import Rows
    from keepsense.counts import Histogram

    draw = np.random.default_rng(_SEED)
    share = counts.weights / counts.weights.sum()
    chosen = np.sort(draw.choice(len(counts), min(most, int((share > 0).sum())), replace=False, p=share))
    histograms = {}
    for name, h in counts.histograms.items():
        each = Rows(h.rows.starts, np.arange(len(h.counts), dtype=np.int32)).gather(chosen.astype(np.int32))
        starts = np.concatenate(([0], np.cumsum(h.rows.sizes[chosen]))).astype(np.int32)
        histograms[name] = Histogram(h.values, Rows(starts, h.rows.indices[each]), h.counts[each])
    place = np.full(len(counts), -1)
    place[chosen] = np.arange(len(chosen))
    kept = place[cells.source] >= 0
    hidden = None if cells.suppressed is None else cells.suppressed[kept]
    return (
        Counts(counts.names, counts.values, counts.codes[chosen], counts.weights[chosen], histograms),
        Cells(
            cells.names, cells.values, place[cells.source[kept]], cells.codes[kept], cells.multiplicity[kept], hidden
        ),
    )


# ---- what goes together ----------------------------------------------------------------------------------------------


def _shown(counts: Counts, cells: Cells) -> Counts:
    """Counts of the release without the suppressed records."""
    if cells.suppressed is None or cells.suppressed.all():
        return cells.apply(counts)
    kept = ~cells.suppressed
    part = Cells(cells.names, cells.values, cells.source[kept], cells.codes[kept], cells.multiplicity[kept])
    return part.apply(counts)


def _one_label_each(plan: Plan, cells: Cells, counts: Counts) -> bool:
    """Whether values have one label everywhere: where every class has labels of its own, these go together anyway."""
    from keepsense.utility.basis import pairs

    if not generalizes(plan):
        return True
    shown = replace(cells, suppressed=None, inputs=None)
    for name in cells.names:
        found = pairs(counts, shown, name)
        labels = np.array([label != SUPPRESSED for label in found.values])[found.released]
        if (np.bincount(found.original[labels]) > 1).any():
            return False
    return True


def _associations(before: Counts, after: Counts) -> tuple[Kept, ...]:
    """Cramér's V of the first columns, pair by pair."""
    found = []
    for first, second in combinations(after.names[:PAIRED_COLUMNS], 2):
        was, now = (association(counts.project((first, second))) for counts in (before, after))
        found.append(Kept(first, second, was, now))
    return tuple(found)


def _dependence(plan: Plan, before: Counts, after: Counts, notes: list[Note]) -> tuple[Kept, ...]:
    """Distance correlations of the first columns, pair by pair (Rodríguez-García 2017, Eq. 4.24)."""
    from keepsense.semantics.attribute import Nominal
    from keepsense.semantics.dependence import distance_correlation

    columns: dict[str, list[Any]] = {}
    many = []
    for name in after.names[:PAIRED_COLUMNS]:
        values = [counts.values_of(name) for counts in (before, after)]
        if max(map(len, values)) > PAIRED_VALUES:
            many.append(name)
            continue
        try:
            columns[name] = [
                Nominal.of(counts, name, gaps_between(plan, name, own, values[0]))
                for counts, own in zip((before, after), values, strict=True)
            ]
        except KeepsenseError:
            continue
    if many:
        notes.append(
            Note(
                "together",
                f"Distance correlation left out {', '.join(many)}: over {PAIRED_VALUES:,} different values.",
            )
        )
    found, skipped = [], 0
    for first, second in combinations(columns, 2):
        if _work(columns[first], columns[second], before) > PAIRED_WORK:
            skipped += 1
            continue
        was, now = (
            distance_correlation(counts, columns[first][i], columns[second][i])
            for i, counts in enumerate((before, after))
        )
        found.append(Kept(first, second, was, now))
    if skipped:
        notes.append(Note("together", f"{skipped} pairs of columns were left out: they have too many combinations."))
    return tuple(found)


def _work(first: Sequence[Any], second: Sequence[Any], counts: Counts) -> int:
    """Multiplications of a sparse table of joint counts with a table of distances, about."""
    widest = [max(len(one.values) for one in column) for column in (first, second)]
    return min(len(counts), widest[0] * widest[1]) * max(widest)
