"""One call for a table with words, numbers, ordered categories and sets: each column gets what its kind needs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.perturb.clusters import check_swap
from keepsense.methods.perturb.edits import Edit, mend
from keepsense.methods.perturb.noise import add_noise
from keepsense.methods.perturb.noise_correlated import add_correlated_noise
from keepsense.methods.perturb.noise_numeric import add_noise_to_numbers
from keepsense.methods.perturb.records import cells_of, records_of
from keepsense.methods.perturb.sets import Sets, add_noise_to_sets
from keepsense.methods.perturb.strict import swap_in_groups
from keepsense.methods.perturb.swap import Random, swap_by_clusters
from keepsense.methods.perturb.swap_numeric import swap_numbers
from keepsense.methods.perturb.swap_tuples import swap_tuples
from keepsense.progress import Listener
from keepsense.random import generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Attribute, Nominal, Ordered

Method = Literal["swap", "swap together", "groups", "groups together", "noise", "correlated noise"]


def perturb(
    counts: Counts,
    columns: Sequence[Attribute],
    method: Method,
    *,
    k: int | None = None,
    alpha: float | None = None,
    edits: Sequence[Edit] = (),
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Perturb a table of mixed columns with one method; the first future work of Rodríguez-García 2017 (Sec. 8.3).

    Columns come as `Nominal` (words), `Ordered` (numbers, or categories with levels) and `Sets` (sets of words).

    | method | words and sets | numbers and ordered categories |
    |---|---|---|
    | `swap` (k) | clusters of near values, SRS-2 | rank swapping |
    | `swap together` (k) | clusters of near tuples over all columns, SRS-3 | the same clusters |
    | `groups`, `groups together` (k) | permuted in groups of near values, of near tuples | groups along the order |
    | `noise` (alpha) | semantic noise, SNA-1, on each word of a set | normal noise |
    | `correlated noise` (alpha) | SNA-1 with the words' own covariances | with the numbers' own |

    `edits` name combinations that must not come out; see `mend`. In distances between tuples every column counts the
    same, each on a scale from 0 to 1 (numbers divided by their range).

    >>> import numpy as np
    >>> counts = Counts.of({"job": ["nurse", "clerk", "nurse", "cook"], "age": [30, 40, 50, 60]})
    >>> columns = [Nominal.of(counts, "job", 1.0 - np.eye(3)), Ordered.of(counts, "age")]
    >>> cells = perturb(counts, columns, "swap together", k=2, rng=1)
    >>> cells.names, sorted(cells.apply(counts).marginal("job").tolist())
    (('job', 'age'), [1, 1, 2])
    """
    rng = generator(rng)
    if method in ("swap", "swap together", "groups", "groups together"):
        if k is None or alpha is not None:
            raise BadInput(f"the method {method!r} takes k, the number of records in a cluster or group")
        cells = _swapped(counts, columns, method, k, rng, listener)
    elif method in ("noise", "correlated noise"):
        if alpha is None or k is not None:
            raise BadInput(f"the method {method!r} takes alpha, the amount of noise")
        cells = _noisy(counts, columns, alpha, method == "correlated noise", rng, listener)
    else:
        raise BadInput(
            f"method = {method!r}: it must be swap, swap together, groups, groups together, noise or correlated noise"
        )
    return mend(counts, cells, edits, rng=rng) if edits else cells


def join(counts: Counts, parts: Sequence[Cells], *, rng: Random = None) -> Cells:
    """One recoding from several of different columns, made independently of one another for the same table.

    Records of one tuple are exchangeable, so their outputs in different columns meet at random.

    >>> import numpy as np
    >>> counts = Counts.of({"x": ["a", "a"], "y": [1, 1]})
    >>> x = Cells(("x",), (("a", "b"),), np.array([0, 0]), np.array([[0], [1]]), np.array([1, 1]))
    >>> y = Cells(("y",), ((1,),), np.array([0]), np.array([[0]]), np.array([2]))
    >>> join(counts, [x, y], rng=1).codes.tolist()
    [[0, 0], [1, 0]]
    """
    rng = generator(rng)
    names = [name for part in parts for name in part.names]
    if len(set(names)) != len(names):
        raise BadInput("a column occurs in several recodings; join recodings of different columns")
    tables: list[Any] = []
    for part in parts:
        part.check(counts)
        owner = np.repeat(part.source, part.multiplicity)
        mixed = rng.permutation(len(owner))
        tables.append(np.repeat(part.codes, part.multiplicity, axis=0)[mixed[np.argsort(owner[mixed], kind="stable")]])
    info: dict[str, Any] = {"parts": [dict(part.info) for part in parts], "unchanged": {}}
    for part in parts:
        info["unchanged"].update(part.info.get("unchanged", {}))
    values = [values for part in parts for values in part.values]
    return cells_of(names, values, records_of(counts), np.concatenate(tables, axis=1), info)


def _swapped(
    counts: Counts,
    columns: Sequence[Attribute],
    method: Method,
    k: int,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    check_swap(counts, columns, k)
    if method == "swap together":
        return swap_tuples(counts, columns, k, rng=rng, listener=listener)
    if method in ("groups", "groups together"):
        together = method == "groups together"
        return swap_in_groups(counts, columns, k, together=together, rng=rng, listener=listener)
    numbers = [c for c in columns if isinstance(c, Ordered)]
    others = [c for c in columns if not isinstance(c, Ordered)]
    parts = []
    if others:
        parts.append(swap_by_clusters(counts, others, k, rng=rng, listener=listener))
    if numbers:
        parts.append(swap_numbers(counts, numbers, k, rng=rng, listener=listener))
    return _joined(counts, columns, parts, rng)


def _noisy(
    counts: Counts,
    columns: Sequence[Attribute],
    alpha: float,
    correlated: bool,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    words = [c for c in columns if isinstance(c, Nominal)]
    numbers = [c for c in columns if isinstance(c, Ordered)]
    sets = [c for c in columns if isinstance(c, Sets)]
    if not columns or len(words) + len(numbers) + len(sets) < len(columns):
        raise BadInput("give columns of words, numbers, ordered categories or sets, at least one")
    parts = []
    if words:
        method = add_correlated_noise if correlated and len(words) > 1 else add_noise
        parts.append(method(counts, words, alpha, rng=rng, listener=listener))
    if numbers:
        together = correlated and len(numbers) > 1
        parts.append(add_noise_to_numbers(counts, numbers, alpha, correlated=together, rng=rng, listener=listener))
    for column in sets:
        parts.append(add_noise_to_sets(counts, column, alpha, rng=rng, listener=listener))
    return _joined(counts, columns, parts, rng)


def _joined(counts: Counts, columns: Sequence[Attribute], parts: Sequence[Cells], rng: np.random.Generator) -> Cells:
    """Join, with the columns in the order they were asked for."""
    if len(parts) == 1:
        return parts[0]
    cells = join(counts, parts, rng=rng)
    order = [cells.names.index(c.name) for c in columns]
    return Cells(
        tuple(cells.names[j] for j in order),
        tuple(cells.values[j] for j in order),
        cells.source,
        cells.codes[:, order],
        cells.multiplicity,
        info=cells.info,
    )
