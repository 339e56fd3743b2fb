"""mu-Argus: make pairs and triples of columns safe, suppress single cells for the rest (Hundepool and Willenborg 1996).

By design it looks at combinations of few columns only, so that records may still stand alone on all columns together.
It says so each time, and its strict mode looks at all of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput, Infeasible, PrivacyWarning
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.datafly import METHOD as DATAFLY
from keepsense.methods.generalize.requirement import requirement, suppression_limit
from keepsense.methods.generalize.table_state import Flags, Longs, State
from keepsense.methods.method import Method, Relation, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import K_ANONYMITY, Fit, always
from keepsense.methods.task import Importance, promised
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import SUPPRESSED, Cells, Cuts

Combination = tuple[int, ...]


def mu_argus(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    sizes: Sequence[int] = (2, 3),
    suppression: float = 0.05,
    strict: bool = False,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Generalize columns until few records are rare in some pair or triple of columns; suppress single cells of those.

    A value, or a combination of values of `sizes` columns, is rare if fewer than k records hold it: single values
    are always looked at, since who is rare in one column stands out whatever else is known. In each step the column
    that takes part in most rare combinations, by records, is raised one level; the original leaves that choice to
    the user. When at most a share `suppression` of the records is rare, those lose the cells that take part in most
    of their rare combinations (of several the rarer value), until none is left; a suppressed cell takes part in no
    combination. A column of twice the `importance` is raised, and its cells are suppressed, as if it took part in
    half as many.

    Combinations of more columns are not checked: a `PrivacyWarning` says how many records still stand in classes below
    k, and so does `info["below_k"]`. With `strict`, records whose whole class is below k (a suppressed cell being a
    value of its own) are suppressed whole and count against the same share, so that the result is k-anonymous.

    Use it for survey data that go to known recipients, or strictly. It is about k alone. Cost: one count a combination
    and step.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> sexes = Hierarchy.of_rows([("f", "*"), ("m", "*")])
    >>> counts = Counts.of({"sex": ["f", "f", "m", "m"], "job": ["nurse", "surgeon", "clerk", "clerk"]})
    >>> cells = mu_argus(counts, {"sex": sexes, "job": jobs}, k=2)
    >>> [tuple(cells.values[j][c] for j, c in enumerate(row)) for row in cells.codes.tolist()]
    [('f', 'medic'), ('f', 'medic'), ('m', 'office')]
    """
    asked = promised(models, k)
    required = requirement(asked, 0.0, counts)
    if not all(isinstance(model, KAnonymity) for model in asked):
        raise BadInput("mu-Argus counts records only; give it k-anonymity and no other model")
    state = State(counts, hierarchies, required, "up", "levels", importance)
    limit = suppression_limit(suppression, counts.total)
    wanted = _combinations(len(counts.names), sizes)
    counted = _Counted(state, wanted)
    emit(listener, "start", 0, None, method="mu-Argus", combinations=len(wanted), levels=state.levels())
    done = 0
    while True:
        counted.renew()
        scores = counted.scores()
        column = _worst(state, scores)
        touched = counted.at_least(strict)
        if touched <= limit or column is None or wants_steps(listener):
            hidden = _suppressed_cells(counted.rare(), wanted, state, limit)[state.tuples]
            released, whole, below = _released(state, hidden, strict)
            touched = int(counts.weights[hidden.any(axis=1) | whole].sum())
            if touched <= limit and (~whole).any():
                break
        if column is None:
            raise _infeasible(state, touched, limit, strict)
        step = next(step for step in state.steps() if step.index == column)
        state.take(step, 0)
        done += 1
        emit(listener, "step", done, None, column=step.column, candidate=step.column, score=float(touched),
             rare=touched, scores=dict(zip(counts.names, scores.tolist(), strict=True)),
             scored="records in rare combinations", levels=state.levels(),
             recoding=state.recoding() if wants_steps(listener) else None)  # fmt: skip
    if below and not strict:
        warnings.warn(
            f"mu-Argus checked combinations of at most {max(map(len, wanted))} columns only: {below:,} of "
            f"{counts.total:,} records are in classes below k = {required.k}. Use strict=True to protect them too.",
            PrivacyWarning,
            stacklevel=2,
        )
    info = {
        "algorithm": "mu-Argus",
        "category": "TR",
        "steps": done,
        "levels": state.levels(),
        "strict": strict,
        "checked": tuple(sorted({len(c) for c in wanted})) if not strict else "all",
        "suppressed_cells": int((hidden & ~whole[:, None]).sum(axis=1) @ counts.weights),
        "suppressed": int(counts.weights[whole].sum()),
        "below_k": below,
        "k_anonymous": below == 0,
    }
    emit(listener, "done", done, done, suppressed=info["suppressed"], levels=state.levels())
    n = len(counts)
    values, codes = released
    return Cells(counts.names, values, np.arange(n), codes, counts.weights, whole, info).bound(counts)


def _combinations(columns: int, sizes: Sequence[int]) -> list[Combination]:
    wrong = [size for size in sizes if isinstance(size, bool) or not isinstance(size, int) or size < 1]
    if wrong or not sizes:
        raise BadInput("mu-Argus: sizes must be numbers of columns from 1 up, for instance (2, 3)")
    looked_at = sorted({1, *(min(size, columns) for size in sizes)})
    return [c for size in looked_at for c in combinations(range(columns), size)]


class _Counted:
    """Which distinct tuples are rare in each combination, and how many records that are, as the table stands."""

    def __init__(self, state: State, wanted: Sequence[Combination]) -> None:
        self.state, self.wanted = state, wanted
        self.levels: list[tuple[int, ...]] = [()] * len(wanted)
        self.flags = np.zeros((len(wanted), len(state.counts)), np.bool_)
        self.records = np.zeros(len(wanted), np.int64)

    def renew(self) -> None:
        """Count those combinations again that a step changed."""
        state = self.state
        now = [int(one.level[at[0]]) for one, at in zip(state.columns, state.at, strict=True)]
        columns = np.ascontiguousarray(state.rows.T)  # a column at a time is read faster so
        for c, combination in enumerate(self.wanted):
            levels = tuple(now[j] for j in combination)
            if levels != self.levels[c]:
                small = _sizes(state, columns, state.weights, combination) < state.required.k
                self.levels[c], self.records[c] = levels, int(state.weights[small].sum())
                self.flags[c] = small[state.tuples]

    def rare(self) -> Flags:
        """For each combination and working row whether fewer than k records share it."""
        return np.stack([flags[self.state.source] for flags in self.flags])

    def scores(self) -> Floats:
        """Records in rare combinations that each column takes part in, over its importance."""
        score: Floats = np.zeros(len(self.state.columns))
        for combination, records in zip(self.wanted, self.records.tolist(), strict=True):
            score[list(combination)] += records
        return score / self.state.space.importance

    def at_least(self, strict: bool) -> int:
        """Records of which it is sure that they lose cells: those in rare combinations and, strictly, small classes.

        A small class can become equal to another that loses cells only where it reads as suppressed itself, in a
        column that not all do; such are left out here.
        """
        state = self.state
        lose: Flags = np.logical_or.reduce(self.flags, axis=0)[state.source]
        if strict:
            differs = np.array([len(np.unique(at)) > 1 for at in state.at])
            lose |= (state.weights < state.required.k) & ~(_mute(state) & differs).any(axis=1)
        return int(state.weights[lose].sum())


def _sizes(state: State, columns: NDArray[np.int32], weights: Longs, combination: Combination) -> Longs:
    """Records that share each row's values in some columns."""
    chosen = columns[list(combination)]
    if not chosen.shape[1]:
        return np.empty(0, np.int64)
    low = chosen.min(axis=1)
    width = (chosen.max(axis=1) - low + 1).tolist()
    if prod(width) > 8 * chosen.shape[1] + 1024:
        key = state.numbered(np.ascontiguousarray(chosen.T))[0]
    else:
        key = np.zeros(chosen.shape[1], np.int64)
        for codes, least, values in zip(chosen, low.tolist(), width, strict=True):
            key = key * values + (codes - least)
    total: Longs = np.bincount(key, weights).astype(np.int64)[key]
    return total


def _suppressed_cells(rare: Flags, wanted: Sequence[Combination], state: State, limit: int) -> Flags:
    """Cells to suppress so that no rare combination is left.

    A combination that was common may become rare when cells of other records are suppressed, so all are counted again
    until nothing changes or more records are touched than may be.
    """
    mute, importance = _mute(state), state.space.importance
    columns = np.ascontiguousarray(state.rows.T)
    alone = np.stack([_sizes(state, columns, state.weights, (j,)) for j in range(len(columns))], axis=1)
    hidden = _hide(rare, wanted, mute, alone, importance)
    while 0 < int(state.weights[hidden.any(axis=1)].sum()) <= limit:
        for c, combination in enumerate(wanted):
            shown = ~hidden[:, combination].any(axis=1)
            rare[c] = shown & (
                _sizes(state, columns, np.where(shown, state.weights, 0), combination) < state.required.k
            )
        if not rare.any():
            break
        hidden |= _hide(rare, wanted, mute, alone, importance)
    return hidden


def _mute(state: State) -> Flags:
    """Cells of working rows that read as suppressed already, being generalized to a top of that name."""
    found = [
        np.array([one.label(node) == SUPPRESSED for node in range(len(one.level))], dtype=np.bool_)[state.rows[:, j]]
        for j, one in enumerate(state.columns)
    ]
    return np.stack(found, axis=1)


def _hide(rare: Flags, wanted: Sequence[Combination], mute: Flags, alone: Longs, importance: Floats) -> Flags:
    """In each row the cell in most rare combinations, by its importance, first, until no rare combination is whole.

    Of several the one whose value fewest records hold (`alone`): it is what makes the others rare.

    Cells that read as suppressed already cannot hide anything: where only those are left, the whole row is hidden.
    """
    columns = mute.shape[1]
    takes_part = np.zeros((len(wanted), columns), np.int64)
    for c, combination in enumerate(wanted):
        takes_part[c, list(combination)] = 1
    hidden = np.zeros((len(mute), columns), np.bool_)
    rows = np.flatnonzero(rare.any(axis=0))
    left = rare[:, rows].T
    while len(rows):
        often = np.where(mute[rows], 0, left.astype(np.int64) @ takes_part) / importance
        most = often == often.max(axis=1, keepdims=True)
        column = np.argmin(np.where(most, alone[rows], np.iinfo(np.int64).max), axis=1)
        hidden[rows, column] = True
        left = left & ~(takes_part[:, column].T > 0)
        lost = often.max(axis=1) == 0
        hidden[rows[lost]] = True
        left[lost] = False
        still = left.any(axis=1)
        rows, left = rows[still], left[still]
    return hidden


def _released(state: State, hidden: Flags, strict: bool) -> tuple[tuple[Any, Any], Flags, int]:
    """The released cells, the records suppressed whole, and how many others stand in classes below k."""
    counts = state.counts
    cells = state.recoding().cells(counts)
    codes = np.array(cells.codes)
    values = []
    star = []
    for j, labels in enumerate(cells.values):
        mark = labels.index(SUPPRESSED) if SUPPRESSED in labels else len(labels)
        star.append(mark)
        values.append(labels if mark < len(labels) else (*labels, SUPPRESSED))
        codes[hidden[:, j], j] = mark
    distinct, owner = distinct_rows(codes)
    small: Flags = np.bincount(owner, counts.weights, len(distinct))[owner] < state.required.k
    blank: Flags = np.asarray((codes == np.array(star)).all(axis=1) & hidden.any(axis=1), dtype=np.bool_)
    whole = blank
    if strict:
        whole = blank | small
    codes[whole] = star
    return (tuple(values), codes), whole, int(counts.weights[small & ~whole].sum())


def _worst(state: State, score: Floats) -> int | None:
    """The column in most rare combinations, by records, that can still be raised; of several the one of most values."""
    open_columns = {step.index: float(step.distinct[0]) for step in state.steps()}
    if not open_columns:
        return None
    return max(open_columns, key=lambda j: (score[j], open_columns[j], -j))


def _infeasible(state: State, touched: int, limit: int, strict: bool) -> Infeasible:
    total, k = state.space.total, state.required.k
    relax = [f"k below {k}" if k <= total else f"k of at most {total:,}, the number of rows"]
    if touched < total:
        relax.append(f"allow cells of {np.ceil(touched / total * 1000) / 10:.1f}% of the records to be suppressed")
    if strict:
        relax.append("strict=False, which checks fewer combinations")
    return Infeasible(
        f"mu-Argus: at the most general levels {touched:,} of {total:,} records would still lose cells, and {limit:,} "
        f"may. Relax one of: {'; '.join(relax)}",
        best=Cuts(state.recoding().cuts, info={"algorithm": "mu-Argus", "holds": False}),
        relax=relax,
    )


METHOD = registered(
    Method(
        name="mu-argus",
        title="µ-Argus",
        function=mu_argus,
        runner=by_hierarchies,
        family="table recoding",
        place=2,
        nine=True,
        short="mend rare combinations of two or three columns",
        intent="Look for rare combinations of two or three columns only; generalize or blank out what makes them rare.",
        use=(
            "attackers can know only two or three facts about a person",
            "you want to blank out cells, not whole records",
        ),
        avoid=(
            "attackers may know more: it does not check all combinations, so k-anonymity over all columns is not "
            "promised unless you ask for the strict mode",
        ),
        inputs=("columns, hierarchies and k", "how many facts an attacker may know"),
        guarantee="Every value and every combination of a few columns occurs at least k times; of all columns only in "
        "strict mode.",
        cost="One count for each combination of two or three columns.",
        paper="Hundepool and Willenborg 1996; category after Ben Fredj et al. 2015.",
        example="A widowed surgeon occurs once: surgeon is blanked out in that record.",
        truthful=True,
        promises=(K_ANONYMITY,),
        falls_short="it counts records only, and cannot look at sensitive values",
        whole_values=True,
        fillings={
            **DATAFLY.fillings,
            "metric": Filling(
                "rare combinations", "the records in rare combinations that the column takes part in, most first"
            ),
            "suppression": Filling("cells", "Blank out single cells that still make a combination rare"),
            "stop": Filling(
                None, "Is every combination of a few columns frequent, but for cells that may be blanked out?"
            ),
        },
        conflicts=(Relation("microaggregation", "blanked-out cells cannot be averaged"),),
        fit=Fit(
            reason="blanks out single cells, and looks at pairs and triples of columns",
            cautions=((always, "It looks at pairs and triples of columns only, unless you set strict = true."),),
            start=lambda s: {"strict": True},
        ),
    )
)
