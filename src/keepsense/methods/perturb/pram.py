"""Post-randomization (PRAM): every value is redrawn from its row of a published transition matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method import Method, Relation, Shown, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Edge, Flowchart, Node
from keepsense.methods.records import cells_of, deal, records_of
from keepsense.methods.suitability import PROMISES_NOTHING, Fit
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cells, Draws
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute

_A_DRAW = 16
"""Values whose numbers are drawn together in the time of a draw by itself, with what comes before it."""


def post_randomization(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    keep: float = 0.8,
    near: float = 0.2,
    invariant: bool = False,
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Redraw every value of some columns from a matrix that favours near meanings (`pram`), and tell the matrices.

    With `invariant` they are made so that counts need no correction. They are in `info["matrices"]`, to be published.
    Nothing is promised about single records, so `models` are not looked at.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 90]})
    >>> cells = post_randomization(counts, [Ordered.of(counts, "age")], keep=0.5, rng=1)
    >>> cells.info["matrices"][0].probabilities[0].round(2).tolist()
    [0.5, 0.49, 0.01]
    """
    matrices = [pram(counts, column, keep=keep, near=near) for column in columns]
    if invariant:
        matrices = [made_invariant(matrix, counts) for matrix in matrices]
    # drawn here, not by the engine: what is measured and promised is what is released
    cells = draw(counts, matrices, rng=rng, listener=listener)
    return replace(cells, info={**cells.info, "matrices": tuple(matrices)})


def pram(
    counts: Counts, column: Attribute | str, matrix: NDArray[Any] | None = None, *, keep: float = 0.8, near: float = 0.2
) -> Draws:
    """The Post Randomization Method (Kooiman, Willenborg and Gouweleeuw 1997) with a given or a semantic matrix.

    A given matrix has one row for each value of the column, in the order of its dictionary; each row sums to 1. Without
    one, a matrix is built from the column's distances: a value stays with chance `keep`, else it becomes another, the
    likelier the nearer: proportional to exp(-distance / `near`), so the thesis' difficulty of finding a matrix that
    changes little is met by meaning. The matrix is meant to be published with the data, and `estimate` undoes its
    effect on counts. It is applied by drawing, see `draw`. O(distinct values squared).

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 30, 90]})
    >>> pram(counts, Ordered.of(counts, "age"), keep=0.5).probabilities[0].round(2).tolist()
    [0.5, 0.49, 0.01]
    """
    name = column if isinstance(column, str) else column.name
    values = counts.values_of(name)
    if matrix is not None:
        table = np.array(matrix, dtype=np.float64)
        if table.shape != (len(values), len(values)):
            raise BadInput(f"column {name!r} has {len(values)} distinct values; a matrix of {table.shape} does not fit")
        return Draws(name, values, values, table, {"method": "PRAM", "publish": True, "own_values": True})
    if isinstance(column, str):
        raise BadInput(f"column {name!r}: give a transition matrix, or the column with its distances to build one")
    if not 0 <= keep < 1 or not near > 0:
        raise BadInput(f"keep = {keep!r}, near = {near!r}: keep lies in 0..1 (1 excluded), near above 0")
    if len(values) < 2:
        raise BadInput(f"column {name!r} holds one value only; there is nothing it could become")
    away = column.matrix / near
    np.fill_diagonal(away, np.inf)
    # Taking the nearest off first keeps the largest term at 1, so that no row underflows.
    chance = np.exp(-(away - away.min(axis=1, keepdims=True)))
    table = (1 - keep) * chance / chance.sum(axis=1, keepdims=True)
    np.fill_diagonal(table, keep)
    info = {"method": "PRAM, semantic matrix", "keep": keep, "near": near, "publish": True, "own_values": True}
    return Draws(name, values, values, table, info)


def made_invariant(draws: Draws, counts: Counts) -> Draws:
    """The same matrix made invariant: expected counts of the release are those of the table (two-stage PRAM).

    The released value is drawn once more with the chances of where it may have come from, so that users may count
    without correction. The matrix then depends on the column's counts.

    >>> counts = Counts.of({"x": ["a", "a", "b"]})
    >>> even = made_invariant(pram(counts, "x", np.array([[0.8, 0.2], [0.2, 0.8]])), counts)
    >>> (counts.marginal("x") @ even.probabilities).round(9).tolist()
    [2.0, 1.0]
    """
    if draws.inputs != draws.outputs or draws.inputs != counts.values_of(draws.name):
        raise BadInput(
            f"column {draws.name!r}: only a square matrix over the column's own values can be made invariant"
        )
    joint = counts.marginal(draws.name)[:, None] * draws.probabilities
    released = joint.sum(axis=0)
    back = np.divide(joint.T, released[:, None], out=np.eye(len(released)), where=released[:, None] > 0)
    table = draws.probabilities @ back
    table /= table.sum(axis=1, keepdims=True)
    return Draws(draws.name, draws.inputs, draws.outputs, table, {**draws.info, "invariant": True})


def draw(counts: Counts, draws: Sequence[Draws], *, rng: Random = None, listener: Listener | None = None) -> Cells:
    """Apply transition matrices: every record draws a new value in each of the columns.

    >>> counts = Counts.of({"x": ["a", "a", "b"]})
    >>> cells = draw(counts, [pram(counts, "x", np.array([[0.0, 1.0], [1.0, 0.0]]))], rng=1)
    >>> sorted(zip(cells.source.tolist(), cells.codes[:, 0].tolist()))
    [(0, 1), (1, 0)]
    """
    rng = generator(rng)
    source = records_of(counts)
    columns: list[Ints] = []
    kept: dict[str, int] = {}
    for rule in draws:
        rows = {v: i for i, v in enumerate(rule.inputs)}
        values = counts.values_of(rule.name)
        missing = sum(v not in rows for v in values)
        if missing:
            raise BadInput(f"column {rule.name!r} has {missing} value(s) that the transition matrix does not know")
        marginal = counts.marginal(rule.name)
        came, went = [], []
        for i, value in enumerate(values):
            row = rule.probabilities[rows[value]]
            went.append(_drawn(row / row.sum(), int(marginal[i]), rng))
            came.append(np.full(marginal[i], i, dtype=np.int32))
        codes = counts.column(rule.name)[source]
        out = deal(codes, np.concatenate(came), np.concatenate(went), rng)
        columns.append(out)
        emit(listener, "drawn", len(columns), len(draws), rule=rule, source=source, codes=out)
        place = {v: i for i, v in enumerate(rule.outputs)}
        same = np.array([place.get(v, -1) for v in values])
        kept[rule.name] = int((same[codes] == out).sum())
    info = {"method": "drawn from transition matrices", "unchanged": kept}
    return cells_of([r.name for r in draws], [r.outputs for r in draws], source, columns, info)


def _drawn(chances: Floats, times: int, rng: np.random.Generator) -> NDArray[Any]:
    """So many draws by their chances, in no order that matters: one by one where they are fewer than the values."""
    if times * _A_DRAW < len(chances):
        ends = np.cumsum(chances)
        drawn: NDArray[np.int64] = np.searchsorted(ends, rng.random(times) * ends[-1], side="right")
        return np.minimum(drawn, len(chances) - 1).astype(np.int32)
    together: NDArray[Any] = np.repeat(np.arange(len(chances), dtype=np.int32), rng.multinomial(times, chances))
    return together


def estimate(draws: Draws, released: NDArray[Any]) -> Floats:
    """Unbiased estimate of the original counts from the released ones, with the published matrix.

    Solves (transposed matrix) x original = released in the sense of least squares; estimates may be negative.

    >>> rule = Draws("x", ("a", "b"), ("a", "b"), np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> estimate(rule, np.array([0.9 * 60 + 0.2 * 40, 0.1 * 60 + 0.8 * 40])).round(6).tolist()
    [60.0, 40.0]
    """
    found, *_ = np.linalg.lstsq(draws.probabilities.T, np.asarray(released, dtype=np.float64), rcond=None)
    return np.asarray(found, dtype=np.float64)


METHOD = registered(
    Method(
        name="post-randomization",
        title="Post-randomization (PRAM)",
        function=post_randomization,
        runner=by_columns,
        step=by_columns,
        place=4,
        aliases=("PRAM",),
        short="redraw values by published chances",
        intent="Redraw every value by chances that are published, so that analysts can undo the effect on counts.",
        use=("counts of categories must be estimable without bias", "no taxonomy is at hand, or any matrix is wished"),
        avoid=("every record must be true", "analysts cannot be expected to correct for the chances"),
        inputs=("a column", "how often a value shall stay, or a whole matrix of chances"),
        guarantee="None beforehand, unless the chances are those of randomized response (differential privacy).",
        cost="Distinct values squared, then one draw a row.",
        paper="Kooiman, Willenborg and Gouweleeuw 1997; semantic matrix: own.",
        example="A nurse stays a nurse in 8 of 10 cases, becomes a midwife in 1, something else in 1.",
        truthful=False,
        unweighed="it changes each column by itself",
        steps=Flowchart(
            (
                Node("begin", "The table, a column, and how often a value shall stay", "start"),
                Node("matrix", "Make a table of chances: which value becomes which, near ones more often"),
                Node("draw", "Draw every cell anew from the chances of its value"),
                Node("publish", "Publish the chances, so that analysts can correct their counts"),
                Node("end", "Redrawn values", "end"),
            ),
            (Edge("begin", "matrix"), Edge("matrix", "draw"), Edge("draw", "publish"), Edge("publish", "end")),
        ),
        combines=(Relation("differential privacy", "with the right chances it is differentially private"),),
        fit=Fit(
            purposes={
                "single columns": (4.0, "counts can be estimated without bias from the published chances"),
                "correlations": (2.0, "counts of combinations can be estimated, each column by itself"),
            },
            cautions=(PROMISES_NOTHING,),
        ),
        shown=Shown(settings={"keep": 0.8, "near": 0.2}),
    )
)
