"""What an anonymized table is worth and what risk it leaves, whoever made it: original and release side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.engines import Engine, Reading, Table, started
from keepsense.errors import BadInput, did_you_mean
from keepsense.metrics import by_name, figures
from keepsense.privacy import Risk
from keepsense.privacy.disclosure import Sensitive, disclosed
from keepsense.privacy.exposed import Exposed
from keepsense.recoding import SUPPRESSED, suppressed_tuples
from keepsense.release.people import counted_people
from keepsense.shown import Shown, Summary, percent
from keepsense.utility.association import Association, association
from keepsense.utility.columns import Change, change, entropy

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
    """Every metric of risk by name, "before" and "after"."""

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
    suppressed: str = SUPPRESSED,
    associations: bool = True,
    engine: str | Engine | None = None,
) -> Assessment:
    """Compare a release with its original: class sizes, risk, k, l and t reached, what became of every column.

    Tables are files or frames; the release may come from any tool. Rows are not matched one by one: columns are
    compared by how often each value occurs. Only where both have as many rows, and a column that no one changed shows
    that they are in the same order, the share of changed cells is counted as well.

    `person` is a column of both tables that tells which rows belong to one person: classes, k and risk then count
    people. A release that does not have it takes it from the original where the rows are in the same order.

    >>> table = {"job": ["nurse", "nurse", "clerk"], "disease": ["flu", "cold", "flu"]}
    >>> found = assess(table, table, ["job"], sensitive=["disease"])
    >>> found.k, found.sensitive[0].distinct, found.columns[0].distance
    (1, 1, 0.0)
    """
    if not quasi_identifiers:
        raise BadInput("name the quasi-identifiers: the columns by which people could be recognized")
    with started(engine) as running:
        before = running.read(original, original_reading)
        after = running.read(released, released_reading)
        _require(before.columns, [*quasi_identifiers, *sensitive], "original")
        _require(after.columns, [*quasi_identifiers, *sensitive], "release")
        names = [name for name in before.columns if name in after.columns]
        counts = running.count(before, quasi_identifiers)
        now = running.count(after, quasi_identifiers, histograms=sensitive)
        marginals = {n: (running.count(before, [n]).rows_of(n), running.count(after, [n]).rows_of(n)) for n in names}
        aligned = _same_order(running, before, after, marginals)
        changed = running.differing(before, after, names) if aligned else {}
        people = _people(running, before, after, tuple(quasi_identifiers), person, aligned) or (counts, now)
        pairs = _associations(running, before, after, marginals) if associations else ()
    gone = suppressed_tuples(now, suppressed)
    original_table = Exposed(people[0], threshold=threshold)
    released_table = Exposed(people[1], threshold=threshold, suppressed=suppressed)
    shown = people[1].weights[~suppressed_tuples(people[1], suppressed)]
    nobody = not shown.sum()
    sizes, number = np.unique(shown, return_counts=True)
    return Assessment(
        rows_before=counts.total,
        rows_after=now.total,
        suppressed=int(now.weights[gone].sum()) + max(0, counts.total - now.total),
        classes_before=len(counts),
        classes_after=int((~gone).sum()),
        k=int(shown.min()) if len(shown) else 0,
        risk_before=original_table.risk,
        risk_after=None if nobody else released_table.risk,
        sizes=dict(zip(sizes.tolist(), number.tolist(), strict=True)),
        columns=tuple(change(name, *marginals[name], suppressed, changed.get(name)) for name in names),
        sensitive=tuple(disclosed(name, now.histograms[name], ~gone, marginals[name][0]) for name in sensitive),
        associations=pairs,
        aligned=aligned,
        removed=tuple(name for name in before.columns if name not in after.columns),
        added=tuple(name for name in after.columns if name not in before.columns),
        notes=(NO_RISK,) if nobody else (),
        risk={
            "before": by_name(figures("risk", original_table)),
            "after": {} if nobody else by_name(figures("risk", released_table)),
        },
    )


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
