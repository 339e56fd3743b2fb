"""Small tables, hierarchies and obvious definitions that tests of table recoding share."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import Cells, Cuts

JOBS = Hierarchy.of_rows(
    [
        ("nurse", "medic", "health", "*"),
        ("surgeon", "medic", "health", "*"),
        ("optician", "shop", "health", "*"),
        ("clerk", "office", "desk", "*"),
        ("typist", "office", "desk", "*"),
    ],
    name="job",
)
AGES = Hierarchy.of_rows([(a, f"{a // 10}0s", "*") for a in range(20, 60)], name="age")
SEXES = Hierarchy.of_rows([("f", "*"), ("m", "*")], name="sex")
HIERARCHIES = {"job": JOBS, "age": AGES, "sex": SEXES}


@st.composite
def rows_of_tables(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    n = draw(st.integers(4, 50))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    narrow = draw(st.integers(2, 40))
    jobs = [str(JOBS.leaves[i]) for i in rng.integers(0, len(JOBS.leaves), n)]
    return list(
        zip(jobs, rng.integers(20, 20 + narrow, n).tolist(), [str(v) for v in rng.choice(["f", "m"], n)], strict=True)
    )


def counted(rows: list[tuple[Any, ...]], ill: list[str] | None = None) -> Counts:
    columns = dict(zip(("job", "age", "sex"), map(list, zip(*rows, strict=True)), strict=True))
    return Counts.of(columns, histograms=None if ill is None else {"illness": ill})


def kept(recoding: Cuts | Cells, counts: Counts) -> list[int]:
    """Sizes of the classes that are released unsuppressed."""
    cells = recoding.cells(counts)
    sizes: Counter[tuple[int, ...]] = Counter()
    hidden = np.zeros(len(counts), bool) if cells.suppressed is None else cells.suppressed
    for code, weight, gone in zip(cells.codes.tolist(), counts.weights.tolist(), hidden.tolist(), strict=True):
        if not gone:
            sizes[tuple(code)] += weight
    return list(sizes.values())


def above(hierarchy: Hierarchy, leaf: Any) -> list[Any]:
    """A leaf and its ancestors."""
    return list(hierarchy.rows()[hierarchy.leaves.index(leaf)])


def released(recoding: Cuts | Cells, counts: Counts) -> list[tuple[Any, ...]]:
    """Released values of each distinct tuple."""
    cells = recoding.cells(counts)
    return [tuple(cells.values[j][c] for j, c in enumerate(row)) for row in cells.codes.tolist()]


def assert_true_ancestors(recoding: Cuts | Cells, counts: Counts) -> None:
    """Every released value is the original, an ancestor of it, or suppressed."""
    for row, out in zip(counts.codes.tolist(), released(recoding, counts), strict=True):
        for j, name in enumerate(counts.names):
            assert out[j] in [*above(HIERARCHIES[name], counts.values[j][row[j]]), "*"]


def assert_sub_tree_cut(recoding: Cuts) -> None:
    """All leaves under a released node are released as it: no node of a cut stands above another."""
    for cut in recoding.cuts:
        hierarchy = HIERARCHIES[cut.name]
        assert cut.inputs == hierarchy.leaves
        rows = hierarchy.rows()
        for leaf, (row, out) in enumerate(zip(rows, cut.outputs, strict=True)):
            level = row.index(out)
            same = [other for other in range(len(rows)) if rows[other][level] == out]
            assert {cut.outputs[other] for other in same} == {out}, (cut.name, leaf)
