"""Median Mondrian: halve groups in their widest dimension (LeFevre et al. 2006).

Ties: of equally wide columns the first is cut, and of equally even places the lower one. The order and width of a
column and the score `median` are in `dimension`; the compiled loop that decides ties is in `division_kernels`, its
general form in `multidimensional_template`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.dimension import dimensions, median
from keepsense.methods.generalize.multidimensional_template import divide
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import CELLS, RANGES, Fit
from keepsense.methods.task import Importance, promised
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.taxonomy.taxonomy import Concept, Taxonomy


def mondrian(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    numbers: Sequence[str] = (),
    taxonomies: Mapping[str, tuple[Taxonomy, Sequence[Concept]]] | None = None,
    order: Literal["widest", "given"] = "widest",
    relaxed: bool = False,
    cuts: Mapping[str, str] | None = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Divide the table at medians as long as both halves keep the promise, and release each part as its span.

    Numbers are released as ranges with round ends, words as the least common ancestor in their hierarchy or taxonomy.
    `order` says which dimension a group is cut in: `widest` is the original algorithm's choice; `given` cuts in the
    first column until nothing can be cut there, then in the next, as Ben Fredj et al. (2015) tell it. `relaxed` divides
    records of the median value between both halves, so that groups come out even; it keeps promises about k alone.
    A column of twice the `importance` counts as twice as wide. `cuts` says at which columns the table is cut first:
    `{"whole": "sex", "1": "age"}` cuts the whole table at sex and the first part at age, and below it goes on as usual.

    Use it for numeric columns and for general purposes: classes come out near k to 2k. Cost: about log2(rows / k)
    sorts a column.

    >>> from keepsense.counts import Counts
    >>> cells = mondrian(Counts.of({"age": [31, 35, 40, 44]}), k=2)
    >>> sorted(set(cells.values[0]))
    ['40 or more', 'under 40']
    """
    space = dimensions(counts, hierarchies or {}, numbers, taxonomies, importance=importance)
    return divide(
        counts,
        space,
        promised(models, k),
        score=median,
        order=order,
        relaxed=relaxed,
        method="median Mondrian",
        scored="width in this group",
        cuts=cuts,
        listener=listener,
    )


METHOD = registered(
    Method(
        name="mondrian",
        title="Median Mondrian",
        function=mondrian,
        runner=by_hierarchies,
        family="multidimensional recoding",
        place=1,
        nine=True,
        short="halve groups in their widest column",
        intent="Halve the group in its widest column, again and again, as long as both halves have k people.",
        use=("general purposes, numbers above all", "groups shall be of nearly equal size, from k to 2k"),
        avoid=("analysts need one level of detail a column", "one rule is to fit all of next month's file"),
        inputs=("columns and k", "hierarchies for columns of words"),
        guarantee="k-anonymity, and further models if asked; nobody is suppressed.",
        cost="About log2(rows / k) sorts of each column.",
        paper="LeFevre, DeWitt and Ramakrishnan 2006; flowchart after Ben Fredj et al. 2015 (Fig. 5).",
        example="Eight people are cut at age 41 into four and four, each four by education into two and two.",
        truthful=True,
        quick=True,
        classes="all",
        to_the_top=True,
        alternative=3,
        fillings={
            "order": Filling("widest", "its widest, compared with the whole table"),
            "score": Filling("median", "the median, so that both parts are of nearly equal size"),
            "branches": Filling(False, ""),
            "relaxed": Filling(False, "records with equal values stay together"),
            "gain": Filling(False, ""),
        },
        fit=Fit(
            points=3.5,
            reason="groups of k to 2k people, nearly equal in size, and quickly found",
            better=(
                (
                    lambda s: set(s.others) <= {"numeric", "date"},
                    1.5,
                    "numbers come out as ranges of their own group, not of a hierarchy",
                ),
            ),
            unfit=CELLS,
            cautions=(RANGES,),
        ),
    )
)
