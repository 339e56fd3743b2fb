"""Local suppression: blank single cells until at least k records are equal (Rodríguez-García 2017, Sec. 2.3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.local_recoding import local_recoding
from keepsense.methods.generalize.objective import LossTables
from keepsense.methods.method import Method, Relation, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Flowchart
from keepsense.methods.suitability import Fit
from keepsense.methods.task import Importance, importances, least_size, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells

_MOST_COLUMNS = 12


def local_suppression(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Replace single cells by `*`, few of them, until every record shares its values with enough others.

    It is local recoding over hierarchies of two levels, the value and `*`; hierarchies that are given are not looked
    at. It is a heuristic: it looks for few cells, and fewer could suffice, since the fewest are hard to find
    (Meyerson and Williams 2004). How far it may be from the fewest is told: the recoding's `info` has what the
    suppressed cells cost, what they must cost at least
    (`keepsense.methods.generalize.local_suppression.at_least`), and the gap between both as a share. `importance` says
    how much the loss of a cell in each column counts (1 by default): cells of important columns are kept longer. A
    suppressed cell is a value of its own for the promise. Use it for columns of words with few rare combinations;
    numbers are better generalized. Cost: as local recoding, on a lattice of 2 to the number of columns.

    >>> counts = Counts.of({"sex": ["f", "f", "f", "m"], "job": ["nurse", "nurse", "clerk", "clerk"]})
    >>> cells = local_suppression(counts, k=2)
    >>> [tuple(cells.values[j][c] for j, c in enumerate(row)) for row in cells.codes.tolist()]
    [('f', 'nurse'), ('*', 'clerk'), ('*', 'clerk')]
    """
    for name, values in zip(counts.names, counts.values, strict=True):
        if SUPPRESSED in values:
            raise BadInput(f"column {name!r} holds {SUPPRESSED!r} already; suppressed cells could not be told apart")
    flat = {
        name: Hierarchy.of_rows([(value, SUPPRESSED) for value in values], name=name)
        for name, values in zip(counts.names, counts.values, strict=True)
        if values
    }
    models = promised(models, k)
    cells = local_recoding(
        counts,
        flat,
        models,
        metric=LossTables("suppressed cells", dict.fromkeys(flat, (0.0, 1.0)), dict.fromkeys(flat, 1.0)),
        importance=importance,
        listener=listener,
    )
    marks = [np.array([value == SUPPRESSED for value in values]) for values in cells.values]
    blank = np.stack([mark[codes] for mark, codes in zip(marks, cells.codes.T, strict=True)], axis=1)
    whole: NDArray[np.bool_] = np.asarray(blank.all(axis=1), dtype=np.bool_)
    info = {
        "algorithm": "local suppression",
        "category": "local",
        "classes": cells.info["classes"],
        "suppressed_cells": int(blank.sum(axis=1) @ counts.weights),
        "suppressed": int(counts.weights[whole].sum()),
        **gap_told(
            float(counts.weights @ (blank @ importances(counts.names, importance))),
            at_least(counts, least_size(models) or 1, importance),
        ),
    }
    return replace(cells, suppressed=whole, info=info)


def gap_told(cost: float, bound: float) -> dict[str, float]:
    """What suppressed cells cost, what they must cost at least, and the share by which the two may differ.

    >>> gap_told(8.0, 6.0)["gap"]
    0.25
    """
    return {"cost": cost, "cost at least": bound, "gap": (cost - bound) / cost if cost else 0.0}


METHOD = registered(
    Method(
        name="local suppression",
        title="Local suppression",
        function=local_suppression,
        runner=by_hierarchies,
        replaces=("optimal local suppression",),
        place=10,
        short="blank out what makes records rare",
        intent="Blank out single cells, or whole records, that make somebody stand out.",
        use=("few records are rare, and all others shall keep their detail",),
        avoid=("many records are rare: generalize first", "rare cases are what the data is wanted for"),
        inputs=("columns and k", "the share of records or cells that may be blanked out"),
        guarantee="k-anonymity, if everything rare may be blanked out; with few blanks, not always the fewest.",
        cost="A few counts.",
        paper="Samarati 2001; Rodríguez-García 2017, Sec. 2.3.1.",
        example="The only surgeon in the village has her job blanked out.",
        truthful=True,
        classes="all",
        steps=Flowchart.line(
            "The table, the columns and k",
            "Count how often every combination of values occurs",
            "Blank out, in each rare one, the cell that makes it rare",
            "Count again, until nothing is rare",
            end="The table with a few blanks",
        ),
        conflicts=(Relation("noise addition", "blanks in noisy columns tell which records were rare"),),
        combines=(Relation("generalization", "the usual pair: generalize a little, suppress a little"),),
        fit=Fit(points=1.2, reason="needs no hierarchies: it blanks out what makes records rare"),
    )
)


def at_least(counts: Counts, k: int, importance: Mapping[str, float] | None = None) -> float:
    """A bound below the cost of any local suppression that keeps k-anonymity: no partition does better.

    A record that keeps the cells of some columns shares them with at least k records of the table. So each record costs
    at least the cheapest set of columns without which k records are like it, and the bound adds that up over all of
    them. It looks at every subset of up to 12 columns, with one count each; with more columns it is zero.

    >>> at_least(Counts.of({"sex": ["f", "f", "f", "m"], "job": ["nurse", "nurse", "clerk", "clerk"]}), 2)
    2.0
    """
    names = counts.names
    if len(names) > _MOST_COLUMNS or counts.total < k:
        return 0.0
    price = [float((importance or {}).get(name, 1.0)) for name in names]
    least = np.full(len(counts), sum(price))
    for size in range(len(names) + 1):
        for kept in combinations(range(len(names)), size):
            lost = sum(cost for j, cost in enumerate(price) if j not in kept)
            if not kept:
                continue  # with nothing left all records are alike
            _, group = distinct_rows(np.ascontiguousarray(counts.codes[:, list(kept)]))
            shared = np.bincount(group, counts.weights)[group] >= k
            least[shared] = np.minimum(least[shared], lost)
    return float(least @ counts.weights)
