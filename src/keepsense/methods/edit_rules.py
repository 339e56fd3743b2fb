"""Edit rules: impossible combinations of values, and how a perturbed table that holds one is fixed (Sec. 2.4)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.records import cells_of
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator

Condition = Collection[Value] | Callable[[Value], bool]
"""The values a rule speaks of, listed or told by a function."""
_ROUNDS = 400


@dataclass(frozen=True, eq=False)
class Edit:
    """A combination that cannot be: a record in which every listed column meets its condition is impossible.

    >>> rule = Edit("no prostate cancer in women", {"sex": {"f"}, "diagnosis": {"prostate cancer"}})
    >>> counts = Counts.of({"sex": ["f", "m"], "diagnosis": ["flu", "prostate cancer"]})
    >>> broken([rule], counts).tolist()
    [False, False]
    """

    name: str
    conditions: Mapping[str, Condition]

    def matches(self, column: str, values: Sequence[Value]) -> NDArray[np.bool_]:
        """Which values of a column the rule speaks of."""
        condition = self.conditions[column]
        meets = condition if callable(condition) else condition.__contains__
        return np.fromiter((bool(meets(v)) for v in values), dtype=np.bool_, count=len(values))


def broken(edits: Sequence[Edit], counts: Counts) -> NDArray[np.bool_]:
    """Which distinct tuples break a rule.

    >>> counts = Counts.of({"sex": ["f", "m"], "diagnosis": ["gout", "gout"]})
    >>> broken([Edit("no gout in women", {"sex": {"f"}, "diagnosis": {"gout"}})], counts).tolist()
    [True, False]
    """
    return _Rules(edits, counts, None).check(np.arange(len(counts)), None)


def mend(counts: Counts, cells: Cells, edits: Sequence[Edit], *, rng: Random = None) -> Cells:
    """Exchange released values between records until no record breaks a rule.

    A record that holds an impossible combination changes places, in one of the perturbed columns the rule names, with
    one drawn at random, provided that both are possible afterwards; records of a grouped swap only within their group.
    Columns keep their released values and counts. The choice looks at released values only (and at columns that are
    released as they are), so a differentially private release stays one. Two promises do weaken: a published transition
    matrix is right on average only, and somebody who knows the rules can exclude some permutations of a group.
    `info["mended"]` counts the records that broke a rule. Raises `Infeasible` where no exchange helps.

    >>> import numpy as np
    >>> counts = Counts.of({"sex": ["f", "m"], "diagnosis": ["flu", "gout"]})
    >>> swapped = Cells(("diagnosis",), (("flu", "gout"),), np.array([0, 1]), np.array([[1], [0]]), np.ones(2))
    >>> fixed = mend(counts, swapped, [Edit("no gout in women", {"sex": {"f"}, "diagnosis": {"gout"}})], rng=1)
    >>> fixed.codes[:, 0].tolist(), fixed.info["mended"]
    ([0, 1], 1)
    """
    rng = generator(rng)
    rules = _Rules(edits, counts, cells)
    source = np.repeat(cells.source, cells.multiplicity)
    out = np.repeat(cells.codes, cells.multiplicity, axis=0)
    grouped = cells.info.get("groups")  # of a grouped swap; other methods say how many groups they made
    groups = np.repeat(grouped, cells.multiplicity, axis=0) if isinstance(grouped, np.ndarray) else None
    bad = np.flatnonzero(rules.check(source, out))
    first, touched = len(bad), np.zeros(len(source), dtype=np.bool_)
    for _ in range(_ROUNDS):
        if not len(bad):
            break
        j = rules.columns[int(rng.integers(len(rules.columns)))]
        wronged, other = _partners(bad, None if groups is None else groups[:, j], len(source), rng)
        trial = out[np.concatenate([wronged, other])]
        trial[: len(wronged), j], trial[len(wronged) :, j] = out[other, j], out[wronged, j]
        wrong = rules.check(source[np.concatenate([wronged, other])], trial)
        good = ~(wrong[: len(wronged)] | wrong[len(wronged) :])
        wronged, other = wronged[good], other[good]
        out[wronged, j], out[other, j] = out[other, j], out[wronged, j]
        touched[wronged] = touched[other] = True
        bad = bad[rules.check(source[bad], out[bad])]
    if len(bad):
        raise Infeasible(
            f"{len(bad)} of {len(source)} records break an edit rule ({', '.join(e.name for e in edits)}) and no "
            "exchange of released values mends them",
            relax=("check the rules against the original table", "use a larger k, or perturb the columns together"),
        )
    info = {**cells.info, "mended": first, "mended_touched": int(touched.sum())}
    return cells_of(cells.names, cells.values, source, out, info, groups)


class _Rules:
    """The rules over the codes of a table and, where given, of its release."""

    def __init__(self, edits: Sequence[Edit], counts: Counts, cells: Cells | None) -> None:
        self.counts = counts
        self.tables: list[list[tuple[int | None, str, NDArray[np.bool_]]]] = []
        named: set[int] = set()
        for edit in edits:
            parts = []
            for column in edit.conditions:
                at = cells.names.index(column) if cells is not None and column in cells.names else None
                counts.index(column)
                values = counts.values_of(column) if at is None or cells is None else cells.values[at]
                parts.append((at, column, edit.matches(column, values)))
                if at is not None:
                    named.add(at)
            self.tables.append(parts)
        self.columns = sorted(named)
        if cells is not None and not self.columns:
            raise BadInput("no edit rule names a perturbed column; there is nothing to mend")

    def check(self, source: NDArray[np.int64], out: NDArray[np.int32] | None) -> NDArray[np.bool_]:
        """Which records break any rule; `out` holds their released codes."""
        bad = np.zeros(len(source), dtype=np.bool_)
        for parts in self.tables:
            hit = np.ones(len(source), dtype=np.bool_)
            for at, column, flags in parts:
                codes = self.counts.column(column)[source] if at is None or out is None else out[:, at]
                hit &= flags[codes]
            bad |= hit
        return bad


def _partners(
    bad: NDArray[np.int64], group: Ints | None, n: int, rng: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Each bad record with one drawn partner; a record takes part in one pair only."""
    if group is None:
        other = rng.integers(0, n, len(bad))
    else:
        order = np.argsort(group, kind="stable")
        starts = np.searchsorted(group[order], group[bad])
        ends = np.searchsorted(group[order], group[bad], side="right")
        other = order[starts + (rng.random(len(bad)) * (ends - starts)).astype(np.int64)]
    # Half of them in a round, so that two bad records may also mend each other.
    mixed = rng.permutation(len(bad))[: (len(bad) + 1) // 2]
    wronged, other = bad[mixed], other[mixed]
    _, first = np.unique(other, return_index=True)
    wronged, other = wronged[first], other[first]
    free = ~np.isin(other, wronged)
    return wronged[free], other[free]
