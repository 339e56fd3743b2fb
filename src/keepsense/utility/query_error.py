"""Errors of counting questions on the released table: range-count queries (LeFevre et al. 2006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import NORMAL, SEED, Estimate, metric, sampled_mean
from keepsense.utility.recoded_table import (
    MOST_DISTANCES,
    Generalized,
    Hierarchies,
    Recoded,
    column_pairs,
    cut_levels,
    hierarchy_of,
    leaf_sets,
    some_columns,
)

QUESTIONS = 200
"""Most questions that a report asks."""


@dataclass(frozen=True, eq=False)
class Query:
    """How many records have, in each named column, one of these values?

    >>> Query({"job": frozenset({"nurse"})}).conditions["job"]
    frozenset({'nurse'})
    """

    conditions: Mapping[str, frozenset[Value]]


@dataclass(frozen=True, eq=False)
class QueryError:
    """Relative errors of all queries, and their mean and median.

    >>> QueryError(np.array([0.0, 0.5])).mean
    0.25
    """

    errors: NDArray[np.float64]

    @property
    def mean(self) -> float:
        """Mean relative error."""
        return float(self.errors.mean())

    @property
    def median(self) -> float:
        """Median relative error."""
        return float(np.median(self.errors))

    @property
    def estimates(self) -> tuple[Estimate, Estimate]:
        """Mean and median with 95% confidence, the queries being a sample of all that could be asked.

        The interval of the median lies between two of the errors in their order (Conover 1999, Sec. 3.2).
        """
        low, high = sampled_mean(self.errors.tolist()).interval
        ordered, n = np.sort(self.errors), len(self.errors)
        reach = NORMAL * n**0.5 / 2
        ends = ordered[max(0, int(n / 2 - reach))], ordered[min(n - 1, int(np.ceil(n / 2 + reach)))]
        return Estimate(self.mean, max(0.0, low), high), Estimate(self.median, float(ends[0]), float(ends[1]))


def random_queries(
    hierarchies: Hierarchies,
    *,
    number: int = 1000,
    columns: int = 2,
    selectivity: float = 0.1,
    rng: np.random.Generator | int | None = None,
) -> list[Query]:
    """Random ranges over some columns at once, each as wide as needed to ask about a share of all combinations.

    Numbers are ranged by size, other values in the order of the hierarchy's leaves, so that a range keeps neighbours
    together. With evenly spread values a query counts about the share `selectivity` of the records.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")], name="job")
    >>> len(random_queries({"job": jobs}, number=3, columns=1, rng=1))
    3
    """
    names = list(hierarchies)
    if not 1 <= columns <= len(names):
        raise BadInput(f"queries over {columns} columns need as many hierarchies; there are {len(names)}")
    if not 0 < selectivity <= 1 or number < 1:
        raise BadInput("queries need a selectivity above 0 and up to 1, and a number of at least 1")
    draw = np.random.default_rng(rng)
    ordered = {name: _in_order(hierarchies[name]) for name in names}
    queries = []
    for _ in range(number):
        conditions = {}
        for at in draw.choice(len(names), columns, replace=False).tolist():
            values = ordered[names[at]]
            width = max(1, round(len(values) * selectivity ** (1 / columns)))
            start = int(draw.integers(0, len(values) - width + 1))
            conditions[names[at]] = frozenset(values[start : start + width])
        queries.append(Query(conditions))
    return queries


def _in_order(hierarchy: Hierarchy) -> Sequence[Value]:
    if KINDS[hierarchy.kind].numbers:
        return sorted(hierarchy.leaves, key=lambda v: float("-inf") if v is None else float(v))  # type: ignore[arg-type]
    steps = tuple(hierarchy.codes[:, level] for level in range(hierarchy.height + 1))
    return [hierarchy.leaves[i] for i in np.lexsort(steps)]


def query_error(
    counts: Counts,
    recoding: Generalized,
    hierarchies: Hierarchies,
    queries: Sequence[Query],
    *,
    sanity: float = 0.001,
) -> QueryError:
    """Relative errors of counting queries answered from the release.

    A released record counts in part: the share of the leaves its value may stand for that the query asks about,
    multiplied over columns (a suppressed one is spread over all leaves). The error is relative to the true count, or to
    the share `sanity` of all records where that is larger, so that rare answers do not dominate.

    >>> from keepsense.recoding import Cuts
    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")], name="job")
    >>> counts = Counts.of({"job": ["nurse", "nurse", "nurse", "surgeon"]})
    >>> query_error(counts, Cuts((jobs.cut(1),)), {"job": jobs}, [Query({"job": frozenset({"surgeon"})})]).mean
    1.0
    """
    if not queries:
        raise BadInput("the query error needs at least one query; `random_queries` makes some")
    cells = recoding.cells(counts)
    fixed = cut_levels(recoding)
    sets, places = {}, {}
    for name, column in column_pairs(counts, recoding).items():
        hierarchy = hierarchy_of(hierarchies, name)
        leaves_of = leaf_sets(column, hierarchy, fixed.get(name))
        sets[name] = leaves_of / np.maximum(leaves_of.sum(axis=1), 1)[:, None]
        places[name] = {value: i for i, value in enumerate(hierarchy.leaves)}
    total = counts.total
    released, group = distinct_rows(cells.codes)
    records = np.bincount(group, cells.multiplicity, len(released))
    errors = np.empty(len(queries))
    for i, query in enumerate(queries):
        answer = records
        for name, wanted in query.conditions.items():
            if name not in sets:
                raise BadInput(f"a query asks about column {name!r}, which the recoding does not hold")
            leaves = [places[name][value] for value in wanted if value in places[name]]
            share = sets[name][:, leaves].sum(axis=1)
            answer = answer * share[released[:, cells.names.index(name)]]
        count = matching(counts, query)
        errors[i] = abs(float(answer.sum()) - count) / max(count, sanity * total)
    return QueryError(errors)


def matching(counts: Counts, query: Query) -> float:
    """Records of a table that a query counts.

    >>> matching(Counts.of({"job": ["nurse", "nurse", "clerk"]}), Query({"job": frozenset({"nurse"})}))
    2.0
    """
    records = counts.weights.astype(np.float64)
    for name, wanted in query.conditions.items():
        inside = np.array([value in wanted for value in counts.values_of(name)], dtype=np.float64)
        records = records * inside[counts.column(name)]
    return float(records.sum())


def _questions(recoded: Recoded) -> QueryError | None:
    """Errors of counting questions about two columns at a time."""
    counts, cells = recoded.cells
    names = [name for name in cells.names if recoded.scale_of(name).items is None]
    small = [n for n in names if len(cells.values[cells.names.index(n)]) * len(counts.values_of(n)) <= MOST_DISTANCES]
    if len(small) < len(names):
        recoded.note("utility", "Counting questions leave out columns with very many released values.")
    if not small:
        return None
    cells = some_columns(cells, small)
    trees = {
        name: hierarchy_of(recoded.hierarchies, name) if recoded.truthful else _flat(recoded, counts, name)
        for name in small
    }
    number = max(20, min(QUESTIONS, 40_000_000 // max(1, len(counts))))
    queries = random_queries(trees, number=number, columns=min(2, len(small)), rng=SEED)
    if recoded.truthful:
        return query_error(counts, cells, trees, queries)
    after = cells.apply(counts)
    answers = [(matching(counts, query), matching(after, query)) for query in queries]
    return QueryError(np.array([abs(now - was) / max(was, 0.001 * counts.total) for was, now in answers]))


def _flat(recoded: Recoded, counts: Counts, name: str) -> Hierarchy:
    """All values of a column below one top, in the order of numbers where they are such."""
    values = counts.values_of(name)
    numbers = name in recoded.numbers and None not in values
    rows = [(value, "*") for value in values]
    return Hierarchy.of_rows(rows, name=name, kind="numeric" if numbers else "nominal")


@metric("query error, mean", "error of counting questions, mean", span=(0.0, None), rank=30)
def _mean_query_error(recoded: Recoded) -> float | None:
    """How wrong the count is when random questions about two columns are answered from the release.

    Computed: mean of difference of answer and truth / max(truth, a thousandth of the table) (LeFevre et al. 2006).
    """
    errors = recoded.once(_questions)
    return None if errors is None else errors.estimates[0]


@metric("query error, median", "error of counting questions, median", span=(0.0, None), rank=31)
def _median_query_error(recoded: Recoded) -> float | None:
    """Half of the questions are answered better.

    Computed: median of difference of answer and truth / max(truth, a thousandth of the table) (LeFevre et al.
    2006).
    """
    errors = recoded.once(_questions)
    return None if errors is None else errors.estimates[1]
