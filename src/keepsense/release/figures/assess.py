"""Assess an anonymized table of any tool: its utility and its risk, compared with the original."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.display import Shown, Summary, percent
from keepsense.engines.protocol import Engine, Reading, Table, started
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import Figure, by_name, figures
from keepsense.privacy.beta_likeness import OfConcepts
from keepsense.privacy.earth_movers_distance import Tree
from keepsense.privacy.k_map import POPULATION
from keepsense.privacy.privacy_model import needed_columns
from keepsense.privacy.reference_distributions import AgainstWhole, Concepts
from keepsense.privacy.t_closeness import TCloseness
from keepsense.recoding import SUPPRESSED, suppressed_tuples
from keepsense.release.figures.asked import (
    Asked,
    Kept,
    Populated,
    fitting_people,
    kept_promises,
    populated,
    with_people,
)
from keepsense.release.figures.worth import count_together, paired, utility_of_rows, utility_of_tables
from keepsense.release.job.people import counted_people
from keepsense.risk.attribute_disclosure import Sensitive, disclosed, number_pairs
from keepsense.risk.equivalence_classes import class_sizes, classes
from keepsense.risk.reidentification import Risk
from keepsense.risk.risk_metrics import Exposed
from keepsense.utility.associations import Association, association
from keepsense.utility.column_changes import Change, change, entropy

MOST_PAIRS = 45
"""Most pairs of columns whose association is compared."""

MOST_VALUES = 500
"""Most distinct values of a column whose association with others is looked at."""

NO_RISK = "no released record has any value of a quasi-identifier, so there is no risk to measure"

Marginals = Mapping[str, tuple[dict[Value, int], dict[Value, int]]]
"""For each column how many rows have each value, before and after."""


@dataclass(frozen=True, eq=False, repr=False)
class Assessment(Shown):
    """Original and release compared.

    >>> before = {"job": ["nurse", "surgeon", "clerk", "clerk"]}
    >>> after = {"job": ["medic", "medic", "clerk", "clerk"]}
    >>> found = assess(before, after, ["job"])
    >>> found.k, found.risk_before.prosecutor_maximum, found.risk_after.prosecutor_maximum
    (2, 1.0, 0.5)
    """

    rows_before: int
    rows_after: int
    suppressed: int
    classes_before: int
    classes_after: int
    k: int
    risk_before: Risk
    risk_after: Risk | None
    sizes: Mapping[int, int]
    columns: tuple[Change, ...]
    sensitive: tuple[Sensitive, ...] = ()
    associations: tuple[Association, ...] = ()
    aligned: bool = False
    removed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    risk: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Every metric of risk by name, "before" and "after"; where single cells are hidden, in both readings."""
    hidden_cells: Mapping[str, int] = field(default_factory=dict)
    """Cells of each quasi-identifier that are empty or suppressed in records that are not suppressed altogether."""
    k_wildcard: int = 0
    """k where such a cell fits any value; in `k` it is a value of its own, which others may not have."""
    promises: tuple[Kept, ...] = ()
    """Promises that were asked about, in both readings."""
    population: Populated | None = None
    """How the release lies in the population, where one is given."""
    utility: tuple[Figure, ...] = ()
    """Metrics of utility of the quasi-identifiers; most of them need rows in the same order."""

    def summary(self) -> Summary:
        """The smallest class and the highest risk, and how much each column changed."""
        rows = [(c.column, f"{c.values_before:,}", f"{c.values_after:,}", percent(c.distance)) for c in self.columns]
        highest = None if self.risk_after is None else self.risk_after.prosecutor_maximum
        return Summary(
            f"k = {self.k}, {self.rows_after:,} of {self.rows_before:,} records, "
            f"highest risk {percent(self.risk_before.prosecutor_maximum)} before, {percent(highest) or 'none'} after",
            ("column", "values before", "after", "distance"),
            rows,
            self.notes,
        )

    @property
    def association_error(self) -> float | None:
        """Mean absolute change of the association of columns, or None where none was measured."""
        if not self.associations:
            return None
        return float(np.mean([abs(a.before - a.after) for a in self.associations]))


def assess(  # noqa: PLR0913
    original: object,
    released: object,
    quasi_identifiers: Sequence[str],
    *,
    sensitive: Sequence[str] = (),
    person: str | None = None,
    original_reading: Reading | None = None,
    released_reading: Reading | None = None,
    threshold: float = 0.2,
    suppressed: str | Sequence[str] = SUPPRESSED,
    missing: Sequence[str] = (),
    sampling_fraction: float | None = None,
    household: str | None = None,
    associations: bool = True,
    asked: Asked | None = None,
    engine: str | Engine | None = None,
) -> Assessment:
    """Compare a release with its original: class sizes, risk, k, l and t reached, what became of every column.

    Tables are files or frames; the release may come from any tool. Rows are not matched one by one: columns are
    compared by how often each value occurs. Only where both have as many rows, and a column that no one changed shows
    that they are in the same order, the share of changed cells is counted as well.

    `person` is a column of both tables that tells which rows belong to one person: classes, k and risk then count
    people. A release that does not have it takes it from the original where the rows are in the same order.

    `sampling_fraction` is the share of the population that is in the table: population uniqueness and individual risk
    are then estimated, too. `household` is a column of the original that tells who lives together: the risk that
    anybody of a household is found is added for the original, and for a release whose rows are in the same order.

    Other tools suppress single cells: `suppressed` are the texts that stand there, `missing` those that mean in both
    tables that nothing is known, as an empty cell does. Whether such a cell is a value of its own or fits any is for
    the reader to say, so that k and risk are worked out both ways; it tells nothing, so that no column has more
    information after than before. l and t are worked out both ways, too. `utility` tells how well a model tells the
    tables apart (pMSE) and, where rows are in the same order, all that metrics of utility can tell.

    `asked` are promises to look at, hierarchies (of sensitive columns for t, of quasi-identifiers for what labels
    of other tools stand for) and a population.

    >>> table = {"job": ["nurse", "nurse", "clerk"], "disease": ["flu", "cold", "flu"]}
    >>> found = assess(table, table, ["job"], sensitive=["disease"])
    >>> found.k, found.sensitive[0].distinct, found.columns[0].distance
    (1, 1, 0.0)
    """
    if not quasi_identifiers:
        raise BadInput("name the quasi-identifiers: the columns by which people could be recognized")
    asked = asked or Asked()
    _refuse_unknown(asked, quasi_identifiers, sensitive)
    marks = (suppressed,) if isinstance(suppressed, str) else tuple(suppressed)
    with started(engine) as running:
        before = running.read(original, _with_marks(original_reading, missing))
        after = running.read(released, _with_marks(released_reading, missing))
        _require(before.columns, [*quasi_identifiers, *sensitive], "original")
        _require(after.columns, [*quasi_identifiers, *sensitive], "release")
        names = [name for name in before.columns if name in after.columns]
        counts = running.count(before, quasi_identifiers)
        wanted = dict.fromkeys([*sensitive, *(n for n in needed_columns(asked.models) if n != POPULATION)])
        now = running.count(after, quasi_identifiers, histograms=wanted)
        everybody = _everybody(running, asked, quasi_identifiers, missing)
        marginals = {n: (running.count(before, [n]).rows_of(n), running.count(after, [n]).rows_of(n)) for n in names}
        aligned = _same_order(running, before, after, marginals)
        changed = running.differing(before, after, names) if aligned else {}
        people = _people(running, before, after, tuple(quasi_identifiers), person, aligned) or (counts, now)
        pairs = _associations(running, before, after, marginals) if associations else ()
        side_by_side = count_together(running, before, after, quasi_identifiers) if aligned else None
        together = _households(running, before, after, tuple(quasi_identifiers), household, aligned)
    now, people = _one_mark(now, marks), (people[0], _one_mark(people[1], marks))
    gone = suppressed_tuples(now)
    trees = {name: tree for name, tree in asked.hierarchies.items() if name in quasi_identifiers}
    original_table, released_table = (
        Exposed(counted, threshold=threshold, fraction=sampling_fraction, households=homes, hierarchies=trees)
        for counted, homes in zip(people, together, strict=True)
    )
    if side_by_side is not None:
        told = number_pairs(*paired(side_by_side, quasi_identifiers, marks), quasi_identifiers)
        released_table = replace(released_table, numbers=told)
    shown = people[1].weights[~suppressed_tuples(people[1])]
    nobody = not shown.sum()
    hidden, fitting = hidden_cells(now), _fitting(people[1])
    loose = _fitting(now, every=True) if hidden else None
    fit = None if everybody is None else fitting_people(now, everybody, asked.hierarchies)
    fitting_table = Exposed(fitting, threshold=threshold, missing="wildcard", fraction=sampling_fraction)
    sizes, number = np.unique(shown, return_counts=True)
    return Assessment(
        rows_before=counts.total,
        rows_after=now.total,
        suppressed=int(now.weights[gone].sum()) + max(0, counts.total - now.total),
        classes_before=len(counts),
        classes_after=int((~gone).sum()),
        # suppressed records are a class, too: who finds no record that fits knows that theirs is one of them
        k=0 if nobody else int(people[1].weights[people[1].weights > 0].min()),
        risk_before=original_table.risk,
        risk_after=None if nobody else released_table.risk,
        sizes=dict(zip(sizes.tolist(), number.tolist(), strict=True)),
        columns=tuple(change(name, *marginals[name], marks, changed.get(name)) for name in names),
        sensitive=tuple(_told(name, now, loose, marginals[name][0], asked.hierarchies.get(name)) for name in sensitive),
        promises=_promises(asked, now, loose, fit, marginals),
        population=None if fit is None else populated(now, fit, ~gone),
        associations=pairs,
        aligned=aligned,
        removed=tuple(name for name in before.columns if name not in after.columns),
        added=tuple(name for name in after.columns if name not in before.columns),
        notes=(NO_RISK,) if nobody else (),
        risk={
            "before": by_name(figures("risk", original_table)),
            "after": {} if nobody else by_name(figures("risk", released_table)),
            **({FITTING: by_name(figures("risk", fitting_table))} if hidden and not nobody else {}),
        },
        hidden_cells=hidden,
        k_wildcard=int(class_sizes(fitting, "wildcard").min()) if len(fitting) else 0,
        utility=tuple(
            utility_of_tables(counts, now, asked.hierarchies)
            if side_by_side is None
            else utility_of_rows(side_by_side, quasi_identifiers, marks, asked.hierarchies)
        ),
    )


FITTING = "after, hidden cells fit any"
"""The second reading of the risk after, where single cells are hidden."""


def _with_marks(reading: Reading | None, missing: Sequence[str]) -> Reading:
    how = reading or Reading()
    return replace(how, empty=(*how.empty, *missing))


def _one_mark(counts: Counts, marks: Sequence[str]) -> Counts:
    """The same counts with one mark for suppressed cells, however many words other tools have for them."""
    if set(marks) <= {SUPPRESSED}:
        return counts
    values, codes = list(counts.values), counts.codes.copy()
    for j, column in enumerate(counts.values):
        hidden = [i for i, value in enumerate(column) if value in marks]
        if hidden:
            codes[np.isin(codes[:, j], hidden), j] = hidden[0]
            values[j] = tuple(SUPPRESSED if i == hidden[0] else value for i, value in enumerate(column))
    # tuples that read alike now are one
    return replace(counts, values=tuple(values), codes=codes).project(counts.names)


def hidden_cells(counts: Counts) -> dict[str, int]:
    """Cells of each column that are empty or suppressed, in records that show something in another.

    A column that shows nothing at all was generalized to the top: none of its cells was hidden by itself.

    >>> hidden_cells(Counts.of({"sex": ["f", None, "*"], "age": ["30", "40", "*"]}))
    {'sex': 1}
    """
    shown = ~suppressed_tuples(counts)
    cells = {}
    for name, column in zip(counts.names, counts.values, strict=True):
        nothing = np.array([value is None or value in (SUPPRESSED, (SUPPRESSED,)) for value in column], np.bool_)
        cells[name] = int(counts.weights[shown & nothing[counts.column(name)]].sum())
    whole = int(counts.weights[shown].sum())
    return {name: number for name, number in cells.items() if 0 < number < whole}


def _fitting(counts: Counts, *, every: bool = False) -> Counts:
    """The records that show something (or `every` one), with hidden cells empty, so that they can fit any value."""
    shown = np.ones(len(counts), dtype=np.bool_) if every else ~suppressed_tuples(counts)
    values = tuple(
        tuple(None if value in (SUPPRESSED, (SUPPRESSED,)) else value for value in column) for column in counts.values
    )
    codes = counts.codes[shown].copy()
    for j, column in enumerate(values):
        empty = [i for i, value in enumerate(column) if value is None]
        codes[np.isin(codes[:, j], empty), j] = empty[0] if empty else 0
    further = counts.histograms if every else {}
    return Counts(counts.names, values, codes, counts.weights[shown], further).project(counts.names)


# ---- promises and the population ----------------------------------------------------------------------------------


def _refuse_unknown(asked: Asked, quasi_identifiers: Sequence[str], sensitive: Sequence[str]) -> None:
    """Refuse what cannot be looked at in two files: promises about mechanisms, and hierarchies of other columns."""
    for name in asked.hierarchies:
        if name not in (*quasi_identifiers, *sensitive):
            raise BadInput(f"there is a hierarchy of {name!r}, which is neither a quasi-identifier nor sensitive")
    for model in asked.models:
        if model.about == "mechanism":
            raise BadInput(f"{model.name} is a promise about how a release is made; no file tells whether it holds")
        if POPULATION in model.columns and asked.population is None:
            raise BadInput(f"{model.name} compares with the population; say where that table is with --population")


def _everybody(running: Engine, asked: Asked, names: Sequence[str], missing: Sequence[str]) -> Counts | None:
    if asked.population is None:
        return None
    table = running.read(asked.population, _with_marks(asked.reading, missing))
    _require(table.columns, names, "population")
    return running.count(table, names)


def _told(
    name: str, now: Counts, loose: Counts | None, reference: Mapping[Value, int], hierarchy: Hierarchy | None
) -> Sensitive:
    """What classes tell about a sensitive column, in both readings, and by the distances of a hierarchy."""
    strict = disclosed(name, now.histograms[name], now.weights > 0, reference)
    if hierarchy is not None:
        values = now.histograms[name]
        whole = np.array([reference.get(value, 0) for value in values.values], dtype=np.int64)
        strict = replace(strict, t_hierarchical=float(Tree(hierarchy).distances(values, whole).max(initial=0.0)))
    if loose is None:
        return strict
    _, histograms = classes(loose, "wildcard")
    found = disclosed(name, histograms[name], loose.weights > 0, reference)
    return replace(strict, fitting=(found.distinct, found.entropy, found.t))


def _promises(
    asked: Asked, now: Counts, loose: Counts | None, fit: NDArray[np.int64] | None, marginals: Marginals
) -> tuple[Kept, ...]:
    """The promises in both readings; those that compare with the whole table compare with the original."""
    models = []
    for model in asked.models:
        tree = asked.hierarchies.get(getattr(model, "column", ""))
        if isinstance(model, TCloseness) and tree is not None:
            model = replace(model, ground=tree)
        if isinstance(model, OfConcepts) and tree is not None:
            model = model.meant(Concepts.of_hierarchy(tree))
        if isinstance(model, AgainstWhole):
            model = model.compared_with(marginals[model.column][0])
        models.append(model)
    of_people = [model for model in models if POPULATION in model.columns]
    rest = [model for model in models if POPULATION not in model.columns]
    # a suppressed cell fits everybody of the population in either reading
    both = kept_promises(of_people, with_people(now, fit), None) if fit is not None else ()
    return (*kept_promises(rest, now, loose), *both)


def _people(
    running: Engine, before: Table, after: Table, names: tuple[str, ...], person: str | None, aligned: bool
) -> tuple[Counts, Counts] | None:
    """People in the classes of both tables; None where every row is a person."""
    if person is None:
        return None
    _require(before.columns, [person], "original")
    if person not in after.columns:
        if not aligned:
            raise BadInput(
                f"the release has no column {person!r}, and its rows are in another order than those of the original, "
                "so nobody can tell whose they are; add the column to the copy that you assess, or name the "
                "quasi-identifiers alone to count rows"
            )
        rows = running.frame(after).append_column(person, running.frame(before)[person])
        after = running.read(rows)
    return counted_people(running, before, names, person), counted_people(running, after, names, person)


def _households(
    running: Engine, before: Table, after: Table, names: tuple[str, ...], household: str | None, aligned: bool
) -> tuple[Counts | None, Counts | None]:
    """Combinations of quasi-identifiers of both tables with the household of each record, the last column."""
    if household is None:
        return None, None
    _require(before.columns, [household], "original")
    if household in names:
        raise BadInput(f"column {household!r} tells who lives together, so it is no quasi-identifier; name it once")
    first = running.count(before, [*names, household])
    if household not in after.columns:
        if not aligned:
            return first, None
        after = running.read(running.frame(after).append_column(household, running.frame(before)[household]))
    return first, running.count(after, [*names, household])


def _require(there: Sequence[str], wanted: Sequence[str], which: str) -> None:
    for name in wanted:
        if name not in there:
            raise BadInput(f"the {which} has no column {name!r}; it has {', '.join(there)}.{did_you_mean(name, there)}")


# ---- rows ------------------------------------------------------------------------------------------------------------


def _same_order(running: Engine, before: Table, after: Table, marginals: Marginals) -> bool:
    """Whether the rows are in the same order: some column of many values reads the same in both, row by row."""
    if before.rows != after.rows:
        return False
    unchanged = [n for n, (was, now) in marginals.items() if len(was) > 1 and _texts(was) == _texts(now)]
    if not unchanged:
        return False
    # the column that is least likely to agree by chance
    best = max(unchanged, key=lambda name: entropy(marginals[name][0].values()))
    return running.differing(before, after, [best])[best] == 0


def _texts(marginal: Mapping[Value, int]) -> dict[str | None, int]:
    return {None if value is None else str(value): rows for value, rows in marginal.items()}


def _associations(running: Engine, before: Table, after: Table, marginals: Marginals) -> tuple[Association, ...]:
    """Associations of the columns with few enough values for a table of pairs to mean something."""
    small = [n for n, (was, now) in marginals.items() if 1 < len(was) <= MOST_VALUES and len(now) <= MOST_VALUES]
    return tuple(
        Association(*pair, *(association(running.count(table, pair)) for table in (before, after)))
        for pair in list(combinations(small, 2))[:MOST_PAIRS]
    )
