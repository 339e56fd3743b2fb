"""Records from counts, and recodings from records: perturbation draws by record, recodings hold distinct tuples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints
from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput, InternalError
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute


def records_of(counts: Counts) -> Ints:
    """Distinct tuple of each record.

    >>> records_of(Counts.of({"x": ["a", "b", "b"]})).tolist()
    [0, 1, 1]
    """
    return np.repeat(np.arange(len(counts), dtype=np.int32), counts.weights)


def deal(
    codes: Ints, source: Ints, released: Ints, rng: np.random.Generator, dealt: NDArray[np.int64] | None = None
) -> Ints:
    """Hand a perturbed column back to the table's records: records with equal values are exchangeable.

    `codes` are the values of the table's records; `source` and `released` say what became of records of each value.
    Where wanted, `dealt` is filled with the table's record that each of those is.

    >>> import numpy as np
    >>> deal(np.array([1, 0, 1]), np.array([0, 1, 1]), np.array([1, 0, 1]), np.random.default_rng(0)).tolist()[1]
    1
    """
    mixed = rng.permutation(len(codes))
    mine = mixed[np.argsort(codes[mixed], kind="stable")]
    theirs = np.argsort(source, kind="stable")
    if (codes[mine] != source[theirs]).any():
        raise InternalError("a perturbed column does not hold the table's values")
    out = np.empty(len(codes), dtype=np.int32)
    out[mine] = released[theirs]
    if dealt is not None:
        dealt[theirs] = mine
    return out


def cells_of(
    names: Sequence[str],
    values: Sequence[tuple[Value, ...]],
    source: NDArray[Any],
    codes: Sequence[NDArray[Any]] | NDArray[Any],
    info: Mapping[str, Any],
    groups: NDArray[Any] | None = None,
) -> Cells:
    """Allocations from what each record gets: `codes` one column per name, `groups` (likewise) kept in the info.

    >>> import numpy as np
    >>> cells_of(["x"], [("a", "b")], np.array([0, 0, 0]), [np.array([1, 1, 0])], {}).multiplicity.tolist()
    [2, 1]
    """
    columns = [np.asarray(column) for column in (codes.T if isinstance(codes, np.ndarray) else codes)]
    marks = [] if groups is None else list(groups.T)
    table = np.stack([np.asarray(source), *columns, *marks], axis=1).astype(np.int32)
    distinct, where = distinct_rows(table)
    width = 1 + len(columns)
    facts = dict(info)
    if groups is not None:
        facts["groups"] = distinct[:, width:]
    return Cells(
        tuple(names),
        tuple(values),
        distinct[:, 0].astype(np.int64),
        distinct[:, 1:width],
        np.bincount(where, minlength=len(distinct)).astype(np.int64),
        info=facts,
    )


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


def joined(counts: Counts, columns: Sequence[Attribute], parts: Sequence[Cells], rng: np.random.Generator) -> Cells:
    """Join, with the columns in the order they were given.

    >>> from keepsense.semantics.attribute import Ordered
    >>> counts = Counts.of({"x": [1, 2]})
    >>> same = cells_of(["x"], [(1, 2)], np.arange(2), [np.arange(2)], {})
    >>> joined(counts, [Ordered.of(counts, "x")], [same], np.random.default_rng(1)).names
    ('x',)
    """
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
