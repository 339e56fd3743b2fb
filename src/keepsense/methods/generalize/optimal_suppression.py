"""Optimal local suppression: the fewest blank cells for small tables, and the gap to them for others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.local_suppression import gap_told, local_suppression
from keepsense.methods.generalize.parts.fewest_cells import Fewest, fewest_cells, suppressed_columns
from keepsense.methods.method import Method, Relation, Shown, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Flowchart
from keepsense.methods.suitability import Fit
from keepsense.methods.task import Importance, importances, least_size, promised
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells


def optimal_local_suppression(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Replace the fewest single cells by `*` that keep k-anonymity; in tables too large for that few of them.

    Small tables (about a dozen different records) with no promise but k-anonymity are searched exhaustively
    (`keepsense.methods.generalize.parts.fewest_cells`), equal records may then come out differently. Finding them is
    NP-hard (Meyerson and Williams 2004, "On the complexity of optimal k-anonymity"), so other tables get what
    `local_suppression` finds. The recoding's `info` tells how good it is: `cost` of the suppressed cells (their
    number, with every importance 1), `cost at least` that any local suppression has, and the `gap` between both as a
    share of the cost; 0 is the optimum, proven. Reports tell the same.

    >>> counts = Counts.of({"sex": ["f"] * 4 + ["m"], "job": ["nurse"] * 5})
    >>> cells = optimal_local_suppression(counts, k=2)
    >>> cells.apply(counts).rows_of("sex"), cells.info["cost"], cells.info["gap"]
    ({'f': 3, 'm': 0, '*': 2}, 2.0, 0.0)
    """
    wanted = promised(models, k)
    importances(counts.names, importance)  # refuses what makes no sense
    if any(SUPPRESSED in values for values in counts.values):
        raise BadInput(f"a column holds {SUPPRESSED!r} already; suppressed cells could not be told apart")
    size = least_size(wanted) or 1
    if 0 < counts.total < size:
        raise Infeasible(f"the table has {counts.total:,} records, fewer than k = {size}", relax=("a smaller k",))
    only_sizes = bool(wanted) and all(isinstance(model, KAnonymity) for model in wanted)
    fewest = fewest_cells(counts, size, importance) if only_sizes and len(counts) else None
    if fewest is None:
        return local_suppression(counts, hierarchies, models, k=k, importance=importance, listener=listener)
    return _of_groups(counts, fewest)


def _of_groups(counts: Counts, fewest: Fewest) -> Cells:
    """The recoding of groups whose cells are suppressed where they differ."""
    source, codes, number, hidden = [], [], [], []
    lost = 0
    stars = np.array([len(values) for values in counts.values], dtype=np.int32)
    for group in fewest.groups:
        blank = suppressed_columns(counts, group)
        for member, rows in group:
            source.append(member)
            codes.append(np.where(blank, stars, counts.codes[member]))
            number.append(rows)
            hidden.append(bool(blank.all()))
            lost += int(blank.sum()) * rows
    info = {
        "algorithm": "local suppression",
        "category": "local",
        "classes": len({tuple(row.tolist()) for row in codes}),
        "suppressed_cells": lost,
        "suppressed": sum(rows for rows, gone in zip(number, hidden, strict=True) if gone),
        **gap_told(fewest.cost, fewest.cost),
    }
    values = tuple((*listed, SUPPRESSED) for listed in counts.values)
    cells = Cells(counts.names, values, np.array(source), np.array(codes), np.array(number), np.array(hidden), info)
    return cells.bound(counts)


METHOD = registered(
    Method(
        name="optimal local suppression",
        title="Optimal local suppression",
        function=optimal_local_suppression,
        runner=by_hierarchies,
        family="local suppression",
        place=1,
        short="the fewest blanks, for small tables",
        intent="Blank out the fewest single cells that keep k-anonymity, and say how far from them a large table is.",
        use=(
            "a table of few different records shall lose as little as it can",
            "the optimum is wanted, or the gap to it",
        ),
        avoid=("many records are rare: generalize first", "other promises than k-anonymity: no optimum is looked for"),
        inputs=("columns and k",),
        guarantee="k-anonymity.",
        cost="Up to 200,000 groups of small tables are looked at; else that of local suppression.",
        paper="Meyerson and Williams 2004.",
        example="One of three nurses keeps the only clerk company; the two others keep their job.",
        truthful=True,
        classes="all",
        steps=Flowchart.line(
            "The table, the columns and k",
            "Look at all ways to form groups of k to 2k - 1 records, where there are not too many",
            "Take those whose differing cells are fewest, else what local suppression finds",
            "Blank out the cells in which a group differs",
            end="The table with the fewest blanks, or the gap to them",
        ),
        conflicts=(Relation("noise addition", "blanks in noisy columns tell which records were rare"),),
        combines=(Relation("generalization", "the usual pair: generalize a little, suppress a little"),),
        fit=Fit(points=1.1, reason="needs no hierarchies: it blanks out as little as small tables allow"),
        shown=Shown(why_not="it looks at all groups; local suppression shows how blanks are chosen"),
    )
)
