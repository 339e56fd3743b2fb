"""Sampling: release some records only, unchanged (Rodríguez-García 2017, Sec. 2.3.1)."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import LEFT_OUT, Method, Relation, Shown, registered
from keepsense.methods.method_call import call
from keepsense.methods.method_flowchart import Flowchart
from keepsense.methods.suitability import GOES_BEFORE, Fit
from keepsense.methods.task import Task
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, Recoding
from keepsense.secure_random import generator


def sampling(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    models: Sequence[Model] = (),
    *,
    share: float | None = None,
    size: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> Cells:
    """Draw records at random without replacement; the others are suppressed.

    Give either the `share` of the records to keep or their number (`size`). Whoever is sought may not be in the sample,
    so that a match proves less; but a record that is unique in the sample and known to be in it is as exposed as
    before, above all where columns hold numbers: sampling promises no model by itself, and looks at
    neither hierarchies nor models. Every sample of the size is
    equally likely. Cost: one draw over the distinct tuples.

    >>> cells = sampling(Counts.of({"job": ["nurse", "nurse", "clerk", "clerk"]}), size=3, rng=1)
    >>> int(cells.multiplicity[~cells.suppressed].sum())
    3
    """
    if (share is None) == (size is None):
        raise BadInput("sampling: give either the share of records to keep or their number")
    total = counts.total
    if size is None:
        if not 0 < float(share or 0) <= 1:
            raise BadInput("sampling: the share of records to keep must be above 0 and at most 1")
        size = round(float(share or 0) * total)
    if isinstance(size, bool) or not isinstance(size, int | np.integer) or not 1 <= size <= total:
        raise BadInput(f"sampling: the table has {total:,} rows; a sample must hold between 1 and all of them")
    drawn = generator(rng).multivariate_hypergeometric(counts.weights, int(size), method="marginals")
    left = counts.weights - drawn
    kept, gone = np.flatnonzero(drawn), np.flatnonzero(left)
    values: list[tuple[Value, ...]] = []
    stars = []
    for labels in counts.values:
        stars.append(labels.index(SUPPRESSED) if SUPPRESSED in labels else len(labels))
        values.append(labels if stars[-1] < len(labels) else (*labels, SUPPRESSED))
    blank = np.broadcast_to(np.array(stars, dtype=np.int32), (len(gone), len(stars)))
    return Cells(
        counts.names,
        tuple(values),
        np.concatenate((kept, gone)),
        np.concatenate((counts.codes[kept], blank)),
        np.concatenate((drawn[kept], left[gone])),
        np.repeat([False, True], [len(kept), len(gone)]),
        {"algorithm": "sampling", "kept": int(size), "suppressed": total - int(size)},
    ).bound(counts)


def _rows_of(method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    """Draw rows of a table, or people with all their rows: one column marks what is not drawn, and only for a moment.

    The rows of a value are dealt at random, so that every sample of the size is as likely as any other.
    """
    if task.quasi_identifiers:
        raise BadInput("sampling draws rows and changes no column; leave `columns` out of the step")
    if task.person is not None:
        name, counts = task.person, task.count([task.person])
        people = Counts(counts.names, counts.values, counts.codes, (counts.weights > 0).astype(np.int64))
        drawn = call(sampling, parameters, people, rng=task.rng)
        share = counts.weights[drawn.source]
    else:
        name, counts = _markable(task)
        drawn = call(sampling, parameters, counts, rng=task.rng)
        share = drawn.multiplicity
    mark = _mark(counts.values_of(name))
    gone = np.flatnonzero(drawn.suppressed)
    codes = counts.codes[drawn.source].copy()
    codes[gone] = len(counts.values[0])
    left = {**drawn.info, LEFT_OUT: {name: mark}} if len(gone) else dict(drawn.info)
    return [Cells((name,), ((*counts.values[0], mark),), drawn.source, codes, share, info=left).bound(counts)]


def _markable(task: Task) -> tuple[str, Counts]:
    """A column whose type has room for one more value, counted."""
    for name in dict.fromkeys((*task.every_quasi_identifier, *task.released)):
        counts = task.count([name])
        if _mark(counts.values_of(name)) is not None:
            return name, counts
    raise BadInput("sampling needs a column of text, numbers or dates by which the rows that are not drawn are marked")


def _mark(values: Sequence[Value]) -> Value:
    """A value that a column does not hold, of the type that it has; None where there is none."""
    held = {type(value) for value in values if value is not None}
    if held <= {str}:
        mark = SUPPRESSED
        while mark in values:
            mark += SUPPRESSED
        return mark
    known: list[Any] = [value for value in values if value is not None]
    if held == {int}:
        return int(max(known)) + 1
    following: Value = max(known) + datetime.timedelta(days=1) if held == {datetime.date} else None
    return following


METHOD = registered(
    Method(
        name="sampling",
        title="Sampling",
        function=sampling,
        step=_rows_of,
        place=8,
        short="release some of the records",
        intent="Release a random part of the records, so that nobody knows whether a person is in it.",
        use=("the table is large, and a part of it serves the purpose", "columns are categories"),
        avoid=("numbers with many digits are released: they stay unique in the sample and in any other list",),
        inputs=("the share of records to release",),
        guarantee="None by itself; it lowers the journalist's risk, which is measured with a population table.",
        cost="One pass over the rows.",
        paper="Willenborg and de Waal 2001; Rodríguez-García 2017, Sec. 2.3.1.",
        example="Every twentieth form of a census is released.",
        truthful=True,
        unweighed="it draws records, and leaves columns as they are",
        steps=Flowchart.line(
            "The table and a share",
            "Draw that share of the records at random",
            "Protect what was drawn as any other table",
            end="A smaller table",
        ),
        combines=(
            Relation("generalization", "the sample is generalized like any table"),
            Relation("swapping", "the sample is swapped like any table"),
        ),
        fit=Fit(unfit=(GOES_BEFORE,)),
        shown=Shown(why_not="it draws rows and changes none of them"),
    )
)
