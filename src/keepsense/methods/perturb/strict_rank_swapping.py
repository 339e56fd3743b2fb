"""Strict rank swapping, which keeps a promise: groups of k to 2k - 1 records are permuted uniformly inside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.method import Blocks, Method, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.clusters import EXTREME, SWAP_INPUTS, ClusterWalk, check_swap, to_cells
from keepsense.methods.records import deal, records_of
from keepsense.methods.suitability import PROBABILISTIC, UNKNOWN_NEARNESS, Fit
from keepsense.methods.task import Importance, Task, group_size
from keepsense.privacy.k_anonymity import ProbabilisticKAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit, wants_steps
from keepsense.recoding import Cells, Recoding
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute, Ordered


def strict_rank_swapping(
    counts: Counts,
    columns: Sequence[Attribute],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    together: bool | None = None,
    rng: Random = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cells:
    """Partition the rows into groups of k to 2k - 1 near ones and permute the values uniformly inside each.

    Groups are built like the clusters of SRS-2 and SRS-3, at opposite ends, but of rows not yet in a group, so that
    none overlap. Every permutation of a group being equally likely, a released value belongs to a given member with
    chance 1 / (size of its group), at most 1 / k: probabilistic k-anonymity, which the printed algorithms aim at but do
    not enforce. `together` makes groups of tuples, near by the `importance` of their columns, in which each is permuted
    by itself; otherwise every column gets groups of its own. It is taken where probabilistic k-anonymity is among the
    models, unless it is given. The groups are kept in `info["groups"]`, and `check_groups` verifies them before
    anything is returned. Columns of numbers are cut along their order. O(rows / k x distinct tuples).

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"age": [20, 21, 60, 61, 62]})
    >>> cells = strict_rank_swapping(counts, [Ordered.of(counts, "age")], k=2, rng=1)
    >>> check_groups(counts, cells, 2)
    0.5
    """
    k = group_size(models, k)
    check_swap(counts, columns, k)
    together = _together(models, together)
    rng = generator(rng)
    if together:
        codes = np.stack([counts.column(a.name) for a in columns], axis=1)
        source, group = _groups(ClusterWalk(columns, codes, counts.weights, importance), int(k), rng, listener)
        out = np.stack([_permuted(codes[source, j], group, rng) for j in range(len(columns))], axis=1)
        groups = np.repeat(group[:, None], len(columns), axis=1)
        _tell(listener, columns, source, codes[source], group, out)
    else:
        source = records_of(counts)
        released, marks = [], []
        for attribute in columns:
            codes = counts.column(attribute.name)[source]
            if isinstance(attribute, Ordered):
                group = _consecutive(attribute.positions[codes], int(k), rng)
            else:
                alone = np.arange(len(attribute.values), dtype=np.int32)[:, None]
                theirs, found = _groups(ClusterWalk([attribute], alone, attribute.weights), int(k), rng, listener)
                group = deal(codes, theirs, found, rng)
            marks.append(group)
            released.append(_permuted(codes, group, rng))
            _tell(listener, [attribute], source, codes[:, None], group, released[-1][:, None])
        out, groups = np.stack(released, axis=1), np.stack(marks, axis=1)
    info = {"method": "swapping in groups", "k": int(k), "together": together}
    cells = to_cells(counts, columns, source, out, info, groups)
    check_groups(counts, cells, int(k))
    return cells


def _together(models: Sequence[Model], asked: bool | None) -> bool:
    """Whether groups are of tuples: as asked for, or where somebody must be hidden among k people in all columns."""
    return any(isinstance(model, ProbabilisticKAnonymity) for model in models) if asked is None else asked


def _blocks(models: Sequence[Model], parameters: Mapping[str, Any]) -> Blocks:
    """How a large table is cut: into records where groups are of tuples, and otherwise every column by itself.

    Blocks keep the promise. Each record is in one block and each group in one block, so the groups of all blocks are a
    partition of the table into groups of at least k, and every permutation of each is equally likely, drawn for it
    alone: that is all the promise follows from. Who knows the blocks, or the groups, knows no more than it allows for.
    """
    return "varying columns" if _together(models, parameters.get("together")) else "single columns"


def _tell(
    listener: Listener | None,
    attributes: Sequence[Attribute],
    source: Ints,
    codes: Ints,
    group: Ints,
    released: Ints,
) -> None:
    """Tell a listener that wants every step which groups were permuted, how wide each is, and what came out."""
    if not wants_steps(listener):
        return
    widest = []
    for g in range(int(group.max()) + 1):
        mine = codes[group == g]
        far = [np.stack([a.row(int(x))[mine[:, j]] for x in mine[:, j]]) for j, a in enumerate(attributes)]
        widest.append(float(np.mean(far, axis=0).max()))
    values = {a.name: [a.values[int(c)] for c in released[:, j]] for j, a in enumerate(attributes)}
    emit(listener, "permuted", source=source, group=group.tolist(), widest=widest, released=values)


def check_groups(counts: Counts, cells: Cells, k: int) -> float:
    """Verify on the recoding what a grouped swap promises, and return the greatest chance of linking a value.

    In every group of every column the released values must be the original ones, as often, and there must be at least k
    records. Raises `BadInput` otherwise.

    >>> counts = Counts.of({"age": [20, 21, 60, 61]})
    >>> cells = strict_rank_swapping(counts, [Ordered.of(counts, "age")], k=2, rng=1)
    >>> check_groups(counts, cells, 2)
    0.5
    >>> check_groups(counts, cells, 3)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: column 'age': a group has 2 records; at least 3 were promised
    """
    groups = cells.info.get("groups")
    if groups is None:
        raise BadInput("the recoding holds no groups; only a swap in groups bounds the chance of linking")
    cells.check(counts)
    worst = 0.0
    for j, name in enumerate(cells.names):
        place = {value: code for code, value in enumerate(cells.values[j])}
        known = np.array([place.get(value, len(place)) for value in counts.values_of(name)], dtype=np.int64)
        group, before = np.asarray(groups)[:, j], known[counts.column(name)[cells.source]]
        size = np.bincount(group, cells.multiplicity)
        least = int(size[size > 0].min())
        if least < k:
            raise BadInput(f"column {name!r}: a group has {least} records; at least {k} were promised")
        keys = [group.astype(np.int64) * (len(place) + 1) + codes for codes in (before, cells.codes[:, j])]
        _, where = np.unique(np.concatenate(keys), return_inverse=True)
        balance = np.bincount(where, np.concatenate([cells.multiplicity, -cells.multiplicity]))
        if balance.any():
            raise BadInput(f"column {name!r}: a group does not release the values it holds")
        worst = max(worst, 1.0 / least)
    return worst


def _groups(
    walk: ClusterWalk, k: int, rng: np.random.Generator, listener: Listener | None
) -> tuple[Ints, NDArray[np.int32]]:
    from keepsense.methods.perturb.cluster_kernels import Views, group_step, group_steps

    group = np.full(len(walk.state.owner), -1, dtype=np.int32)

    def step(ref: int, rows: Floats, orders: Ints, tol: float) -> int:
        remaining = int(walk.state.tally[0])
        size = k if remaining >= 2 * k else remaining
        return int(group_step(rng, ref, size, tol, rows, orders, walk.state, group))

    def steps(ref: int, most: int, views: Views) -> int:
        return int(group_steps(rng, ref, k, most, walk.state, views, group))

    walk.go(rng, step, steps, listener)
    return walk.source(), group


def _consecutive(positions: Floats, k: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """Groups of k along the order, the last of up to 2k - 1; equal positions fall on either side at random."""
    n = len(positions)
    mixed = rng.permutation(n)
    ranked = mixed[np.argsort(positions[mixed], kind="stable")]
    group = np.empty(n, dtype=np.int32)
    group[ranked] = np.minimum(np.arange(n) // k, n // k - 1)
    return group


def _permuted(codes: Ints, group: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
    """Values permuted uniformly inside each group."""
    plain = np.argsort(group, kind="stable")
    mixed = rng.permutation(len(codes))
    shuffled = mixed[np.argsort(group[mixed], kind="stable")]
    out = np.empty(len(codes), dtype=np.int32)
    out[plain] = codes[shuffled]
    return out


def groups_kept(task: Task, rules: Sequence[Recoding]) -> tuple[str, ...]:
    """Probabilistic k-anonymity holds where the same groups of k were permuted in all columns and keep their values."""
    k = max((model.k for model in task.models if isinstance(model, ProbabilisticKAnonymity)), default=0)
    for rule in rules:
        if not isinstance(rule, Cells) or rule.inputs is None or set(rule.names) != set(task.every_quasi_identifier):
            return ()
        check_groups(rule.inputs, rule, k)
        groups = np.asarray(rule.info["groups"])
        # one column's groups hide that column only; and whoever knows the edits can exclude some permutations
        if (groups != groups[:, :1]).any() or rule.info.get("mended_touched"):
            return ()
    return (ProbabilisticKAnonymity.name,) if k else ()


METHOD = registered(
    Method(
        name="strict rank swapping",
        title="Strict rank swapping",
        function=strict_rank_swapping,
        runner=by_columns,
        family="swapping",
        place=4,
        short="permute inside groups of k: a promise",
        intent="Put similar records into groups of at least k, and mix the values inside each group thoroughly.",
        use=("statistics on single columns must come out exactly and re-identification must be bounded by 1/k",),
        avoid=("every record must be true",),
        inputs=SWAP_INPUTS,
        guarantee="Probabilistic k-anonymity: a released value belongs to a given member with a chance of at most 1/k.",
        cost="Rows / k x distinct records.",
        paper=(
            "Own method; the promise is that of Rodríguez-García 2017, Sec. 2.5.2 "
            "(Soria-Comas and Domingo-Ferrer 2012)."
        ),
        example="Five nurses, midwives and orderlies form a group; who had which job is mixed.",
        truthful=False,
        blocks=_blocks,
        promises=(PROBABILISTIC,),
        keeps=groups_kept,
        sets="together",
        fillings={
            "reference": EXTREME,
            "cluster": Filling("groups", "its k nearest records among those in no group"),
            "exchange": Filling("permutation", "Mix their values, every order being equally likely"),
        },
        fit=Fit(
            purposes={
                "single columns": (9.0, "every column keeps its values exactly, and nobody is linked above 1/k"),
                "correlations": (7.0, "mixed inside groups alike in all columns, and nobody is linked above 1/k"),
            },
            unfit=(UNKNOWN_NEARNESS,),
            start=lambda s: {"k": s.k, "together": True} if s.purpose == "correlations" else {"k": s.k},
        ),
    )
)
