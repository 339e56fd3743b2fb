"""Median Mondrian: halve groups in their widest dimension (LeFevre et al. 2006)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy
from keepsense.methods.generalize.dimension import dimensions
from keepsense.methods.generalize.multidim import divide, median
from keepsense.privacy import KAnonymity, Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.taxonomy import Concept, Taxonomy


def mondrian(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    k: int | None = None,
    *,
    models: Sequence[Model] = (),
    numbers: Sequence[str] = (),
    taxonomies: Mapping[str, tuple[Taxonomy, Sequence[Concept]]] | None = None,
    order: Literal["widest", "given"] = "widest",
    relaxed: bool = False,
    listener: Listener | None = None,
) -> Cells:
    """Divide the table at medians as long as both halves keep the promise, and release each part as its span.

    Numbers are released as ranges, words as the least common ancestor in their hierarchy or taxonomy. `order` says
    which dimension a group is cut in: `widest` is the original algorithm's choice; `given` cuts in the first column
    until nothing can be cut there, then in the next, as Ben Fredj et al. (2015) tell it. `relaxed` divides records of
    the median value between both halves, so that groups come out even; it keeps promises about k alone.

    Use it for numeric columns and for general purposes: classes come out near k to 2k. Cost: about log2(rows / k)
    sorts a column.

    >>> from keepsense.counts import Counts
    >>> cells = mondrian(Counts.of({"age": [31, 35, 40, 44]}), k=2)
    >>> sorted(set(cells.values[0]))
    ['31-35', '40-44']
    """
    promised = [*([] if k is None else [KAnonymity(k)]), *models]
    space = dimensions(counts, hierarchies or {}, numbers, taxonomies)
    return divide(
        counts, space, promised, score=median, order=order, relaxed=relaxed, method="median Mondrian", listener=listener
    )
