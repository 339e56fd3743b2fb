"""Blocks of similar records, for methods that compare every record with every other.

Swapping of tuples and microaggregation look for the records nearest to each record, so their cost grows with the square
of what is distinct; methods that change each column by itself cost what its values do, so that a column is cut only
where it has very many. Records under one subtree of a taxonomy, or in one stretch of an order, are near each other: a
table is cut there until no block holds more than so many distinct records, and the method runs on each block
separately, wherever the engine lets it.

Blocks follow from the counts alone and each has a generator of its own, so that one seed gives one result however the
work is spread. What that costs in loss is measured by `python -m benchmarks run blocks`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Sized
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.records import cells_of, deal, records_of
from keepsense.methods.task import Task
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute, Nominal, Ordered

MOST = 100_000
"""Distinct records up to which a method takes the whole table, unless it is asked for blocks."""
USUAL = 20_000
"""Distinct records of a block at most, where the number is not given."""
_MOST_VALUES = 4_096
"""Most distinct values of a column without a taxonomy that are put side by side by their distances."""
_MIDDLE = 0.25
"""A cut leaves at least this share of the records on either side, where one can be found."""


@dataclass(frozen=True, eq=False)
class Block:
    """Some of the distinct records of a table, and the key of the cipher that draws for them.

    >>> Block(np.arange(2), Counts.of({"age": [20, 30]}), 7).counts.total
    2
    """

    at: NDArray[np.int64]
    counts: Counts
    key: int


def size_of_blocks(records: Sized, asked: Any) -> int | None:
    """Distinct records of a block at most: as asked for, as usual where there are too many, or None for no blocks.

    >>> size_of_blocks(Counts.of({"age": [20, 30]}), None) is None
    True
    """
    if asked is None:
        return USUAL if len(records) > MOST else None
    if isinstance(asked, bool) or not isinstance(asked, int) or asked < 2:
        raise BadInput("the method's parameter 'block' must be a whole number of at least 2: distinct records a block")
    return asked if len(records) > asked else None


def blocks_of(
    counts: Counts, columns: Sequence[Attribute] | Line, most: int, *, least: int = 1, rng: Random = None
) -> list[Block]:
    """Cut a table where its values lie farthest apart until no block has more than `most` distinct records.

    A column of words is cut between two subtrees of its taxonomy, as high up as the middle of the block allows, an
    ordered one between two values. In place of columns the records may be put on a line as they are. Every block has at
    least `least` rows; one that cannot be cut stays as it is.

    >>> ages = Counts.of({"age": [20, 21, 22, 60, 61, 62]})
    >>> blocks = blocks_of(ages, [Ordered.of(ages, "age")], 3, rng=1)
    >>> [block.counts.values_of("age") for block in blocks]
    [(20, 21, 22), (60, 61, 62)]
    """
    random = generator(rng)
    lines = [] if isinstance(columns, Line) else [_line(column) for column in columns]
    waiting, done = [np.arange(len(counts), dtype=np.int64)], []
    while waiting:
        at = waiting.pop()
        if len(at) <= most:
            parts = None
        elif isinstance(columns, Line):
            parts = _cut_line(columns, columns.place[at], counts.weights[at], at, least)
        else:
            parts = _cut(counts, columns, lines, at, least)
        if parts is None:
            done.append(at)
        else:
            waiting += parts[::-1]
    return [Block(at, counts.some(at), int.from_bytes(random.bytes(16), "little")) for at in done]


def part_of(column: Attribute, counts: Counts) -> Attribute:
    """A column as it stands in a block: its own values, the distances and the scale of the whole.

    >>> ages = Counts.of({"age": [20, 21, 60]})
    >>> part_of(Ordered.of(ages, "age"), ages.some([0, 1])).row(0).tolist()
    [0.0, 0.025]
    """
    values, weights = counts.values_of(column.name), counts.marginal(column.name)
    place = {value: i for i, value in enumerate(column.values)}
    at = np.array([place[value] for value in values], dtype=np.int64)
    if isinstance(column, Ordered):
        return replace(column, values=values, weights=weights, positions=column.positions[at])
    if isinstance(column, Nominal):
        concepts = None if column.concepts is None else column.concepts[at]
        given = None if column.given is None else column.given[np.ix_(at, at)]
        return replace(column, values=values, weights=weights, concepts=concepts, given=given)
    return _Part(column, at, values, weights)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some values of a column of another kind, by the distances that it tells."""

    whole: Attribute
    at: NDArray[np.int64]
    values: tuple[Value, ...]
    weights: NDArray[np.int64]

    @property
    def name(self) -> str:
        return self.whole.name

    @property
    def matrix(self) -> Any:
        return np.stack([self.row(i) for i in range(len(self.values))])

    def row(self, value: int) -> Any:
        return self.whole.row(int(self.at[value]))[self.at]

    def order(self, value: int) -> Ints:
        return np.argsort(self.row(value), kind="stable").astype(np.int32)

    def totals(self) -> Any:
        return np.array([float(self.row(i) @ self.weights) for i in range(len(self.values))])


def merged(counts: Counts, names: Sequence[str], parts: Sequence[tuple[Block, Cells | None]]) -> Cells:
    """One recoding of the recodings of blocks; a column that one of them leaves out stays as it is there.

    >>> ages = Counts.of({"age": [20, 60]})
    >>> blocks = blocks_of(ages, [Ordered.of(ages, "age")], 1, rng=1)
    >>> younger = Cells(("age",), ((19,),), np.array([0]), np.array([[0]]), np.array([1]), info={"groups": 1})
    >>> cells = merged(ages, ["age"], [(blocks[0], younger), (blocks[1], None)])
    >>> cells.apply(ages).rows_of("age"), cells.info["groups"], cells.info["blocks"]
    ({19: 1, 60: 1}, 1, 2)
    """
    source, amount, codes = [], [], []
    place: list[dict[tuple[type, Value], int]] = [{} for _ in names]
    for block, cells in parts:
        own = np.arange(len(block.counts)) if cells is None else cells.source
        source.append(block.at[own])
        amount.append(block.counts.weights if cells is None else cells.multiplicity)
        columns = []
        for j, name in enumerate(names):
            if cells is not None and name in cells.names:
                i = cells.names.index(name)
                values, held = cells.values[i], cells.codes[:, i]
            else:
                values, held = block.counts.values_of(name), block.counts.column(name)[own]
            known = place[j]
            renamed = np.array([known.setdefault((type(v), v), len(known)) for v in values], dtype=np.int32)
            columns.append(renamed[held])
        codes.append(np.stack(columns, axis=1))
    info = {**_added([cells.info for _, cells in parts if cells is not None]), "blocks": len(parts)}
    groups = _groups(names, parts)
    if groups is not None:
        info["groups"] = groups
    dictionaries = tuple(tuple(value for _, value in known) for known in place)
    found = Cells(
        tuple(names), dictionaries, np.concatenate(source), np.concatenate(codes), np.concatenate(amount), info=info
    )
    return _counting_what_stayed(counts, found)


def _groups(names: Sequence[str], parts: Sequence[tuple[Block, Cells | None]]) -> NDArray[np.int32] | None:
    """The groups that each output is in, column by column, where methods tell them: no group is in two blocks."""
    told = [None if cells is None else cells.info.get("groups") for _, cells in parts]
    if not any(isinstance(groups, np.ndarray) for groups in told):
        return None
    marks, first = [], 0
    for (block, cells), groups in zip(parts, told, strict=True):
        if cells is None:  # alike in all columns, so all of them are one group
            own = np.zeros((len(block.counts), len(names)), dtype=np.int32)
        else:  # a column that was left out holds one value there, however its records are grouped
            at = [cells.names.index(name) if name in cells.names else 0 for name in names]
            own = np.asarray(groups, dtype=np.int32)[:, at]
        marks.append(own + first)
        first += int(own.max()) + 1
    return np.concatenate(marks)


def _counting_what_stayed(counts: Counts, cells: Cells) -> Cells:
    """Cells whose information counts the rows that stayed as they were, where methods count these, in all blocks."""
    if "unchanged" not in cells.info:
        return cells
    same = np.stack(
        [
            _places(counts.values_of(name), cells.values[j])[counts.column(name)[cells.source]] == cells.codes[:, j]
            for j, name in enumerate(cells.names)
        ],
        axis=1,
    )
    stayed = {name: int(cells.multiplicity[same[:, j]].sum()) for j, name in enumerate(cells.names)}
    rows = int(cells.multiplicity[same.all(axis=1)].sum())
    return replace(cells, info={**cells.info, "unchanged": stayed, "unchanged_rows": rows})


def _places(values: Sequence[Value], dictionary: Sequence[Value]) -> NDArray[np.int64]:
    """Code of each value in a dictionary, or -1."""
    place = {(type(value), value): code for code, value in enumerate(dictionary)}
    return np.array([place.get((type(value), value), -1) for value in values], dtype=np.int64)


def _added(told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What recodings tell of themselves: what is the same once, and figures added up."""
    together: dict[str, Any] = {}
    for key in dict.fromkeys(key for info in told for key in info):
        values = [info[key] for info in told if key in info]
        if all(isinstance(value, str | bool) or key == "k" for value in values):
            together[key] = values[0]
        elif all(isinstance(value, int | float) for value in values):
            together[key] = sum(values)
        elif all(isinstance(value, Mapping) for value in values):
            together[key] = _added(values)
    return together


# ---- where to cut ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Line:
    """The values of a column side by side, near ones together: the place of each, and how deep a cut before it is.

    >>> line_of_paths([(1, 2), (3,), (1, 4)]).place.tolist()
    [0, 2, 1]
    """

    place: NDArray[np.int64]
    depth: NDArray[np.int64]


def line_of_paths(paths: Sequence[tuple[int, ...]]) -> Line:
    """Values by the ways that lead to them: a cut is the deeper, the longer the ways on both sides are the same.

    >>> line_of_paths([(1, 2), (3,), (1, 4)]).depth.tolist()
    [0, 1, 0]
    """
    order = sorted(range(len(paths)), key=lambda i: (paths[i], i))
    depth = [0, *(_shared(paths[a], paths[b]) for a, b in pairwise(order))]
    return _placed(np.array(order, dtype=np.int64), np.array(depth, dtype=np.int64))


def _placed(order: NDArray[np.int64], depth: NDArray[np.int64]) -> Line:
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return Line(place, depth)


def _line(column: Attribute) -> Line:
    if isinstance(column, Ordered):
        order = np.argsort(column.positions, kind="stable")
        depth = np.zeros(len(order), dtype=np.int64)
    elif isinstance(column, Nominal) and column.distance is not None and column.concepts is not None:
        return line_of_paths(paths_of(column.distance.taxonomy, column.concepts))
    elif len(column.values) <= _MOST_VALUES:
        order, depth = _chained(np.asarray(column.matrix))
    else:  # by distance from one that lies far out
        extreme = int(np.argmax(column.row(int(np.argmax(column.weights)))))
        order = np.argsort(column.row(extreme), kind="stable")
        depth = np.zeros(len(order), dtype=np.int64)
    return _placed(order, depth)


def _chained(matrix: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Values of which only distances are known, as the least spanning tree grows: best cut at its longest links."""
    size = len(matrix)
    order, link = [0], [0.0]
    away, left = matrix[0].copy(), np.ones(size, dtype=np.bool_)
    left[0] = False
    for _ in range(size - 1):
        nearest = int(np.argmin(np.where(left, away, np.inf)))
        order.append(nearest)
        link.append(float(away[nearest]))
        left[nearest] = False
        np.minimum(away, matrix[nearest], out=away)
    longest_first = np.unique(-np.array(link).round(9), return_inverse=True)[1].astype(np.int64)
    return np.array(order, dtype=np.int64), longest_first


def paths_of(taxonomy: Any, concepts: Ints) -> list[tuple[int, ...]]:
    """From the root to each concept, always by the first parent, so that what is under one concept stands together.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("pug", "dog"), ("dog", "pet")])
    >>> [[pets.label(step) for step in path] for path in paths_of(pets, pets.codes(["pug", "pet"]))]
    [['pet', 'dog', 'pug'], ['pet']]
    """
    known: dict[int, tuple[int, ...]] = {}

    def path(concept: int) -> tuple[int, ...]:
        climbed = []
        while concept not in known:
            climbed.append(concept)
            above = taxonomy.parents[concept]
            if not len(above):
                known[concept] = ()
                break
            concept = int(above[0])
        for lower in climbed[::-1]:
            above = taxonomy.parents[lower]
            known[lower] = (*(known[int(above[0])] if len(above) else ()), lower)
        return known[concept if not climbed else climbed[0]]

    return [path(int(concept)) for concept in concepts]


def _shared(first: tuple[int, ...], second: tuple[int, ...]) -> int:
    return next(
        (i for i, (a, b) in enumerate(zip(first, second, strict=False)) if a != b), min(len(first), len(second))
    )


def _cut(
    counts: Counts, columns: Sequence[Attribute], lines: Sequence[Line], at: NDArray[np.int64], least: int
) -> list[NDArray[np.int64]] | None:
    """Two parts of a block, cut in the column whose values lie farthest apart; None where no column can be cut."""
    weights = counts.weights[at]
    spread = []
    for column in columns:
        held = counts.column(column.name)[at]
        common = int(np.argmax(np.bincount(held, weights, len(column.values))))
        away = np.nan_to_num(column.row(common), nan=1.0)
        spread.append(float(np.square(away)[held] @ weights))
    for j in np.argsort(-np.array(spread), kind="stable").tolist():
        places = lines[j].place[counts.column(columns[j].name)[at]]
        parts = _cut_line(lines[j], places, weights, at, least)
        if parts is not None:
            return parts
    return None


def _cut_line(
    line: Line, places: NDArray[np.int64], weights: NDArray[np.int64], at: NDArray[np.int64], least: int
) -> list[NDArray[np.int64]] | None:
    """Two parts of a block, by the places that its records have on a line; None where it cannot be cut there."""
    begin = _begin(places, weights, line.depth, least)
    return None if begin is None else [at[places < begin], at[places >= begin]]


def _begin(places: NDArray[np.int64], weights: NDArray[np.int64], depth: NDArray[np.int64], least: int) -> int | None:
    """The place at which the second part begins: between the largest subtrees, near the middle of the records."""
    used, where = np.unique(places, return_inverse=True)
    if len(used) < 2:
        return None
    records = np.cumsum(np.bincount(where))[:-1]
    rows = np.cumsum(np.bincount(where, weights))[:-1]
    allowed = (rows >= least) & (weights.sum() - rows >= least)
    total = len(places)
    middle = allowed & (records >= _MIDDLE * total) & (total - records >= _MIDDLE * total)
    able = np.flatnonzero(middle if middle.any() else allowed)
    if not len(able):
        return None
    # between two values that are held here there may be others: the highest cut on the way counts
    depths = np.minimum.reduceat(depth[: used[-1] + 1], used[:-1] + 1)[able]
    best = np.lexsort((np.abs(records[able] - total / 2), depths))[0]
    return int(used[able[best] + 1])


Kernel = Callable[[Counts, Sequence[Attribute], Random], Cells]
"""A method with its settings: counts, columns and chance in, a recoding out."""


def recoded(kernel: Kernel, columns: Sequence[Attribute], varying: bool, block: Block) -> Cells | None:
    """What a method makes of one block; with `varying` it gets the columns that hold several values there.

    >>> ages = Counts.of({"age": [20, 60]})
    >>> blocks = blocks_of(ages, [Ordered.of(ages, "age")], 1, rng=1)
    >>> recoded(lambda counts, columns, rng: None, [Ordered.of(ages, "age")], True, blocks[0]) is None
    True
    """
    own = [part_of(column, block.counts) for column in columns]
    chosen = [column for column in own if not varying or len(column.values) > 1]
    return kernel(block.counts, chosen, generator(block.key)) if chosen else None


def column_by_column(
    kernel: Kernel, counts: Counts, columns: Sequence[Attribute], asked: int | None, least: int, task: Task
) -> Cells | None:
    """Blocks for a method that changes each column by itself: of the values of each; None where none has too many.

    A block holds values under one subtree. Numbers and orders are not cut: sorting them costs little. Records with the
    same value are exchangeable, so what became of the values is dealt to them at random.

    >>> from keepsense.methods.method import method
    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> kernel = lambda counts, columns, rng: method("rank swapping").function(counts, columns, k=2, rng=rng)
    >>> cells = column_by_column(kernel, job.counts, job.attributes(job.counts), 2, 4, job)
    >>> cells.info["blocks"], cells.apply(job.counts).rows_of("job") == job.counts.rows_of("job")
    (3, True)
    """
    sizes = [None if isinstance(column, Ordered) else size_of_blocks(column.values, asked) for column in columns]
    if not any(sizes):
        return None
    parts = []
    for j, (column, most) in enumerate(zip(columns, sizes, strict=True)):
        alone = counts.project([column.name])
        parts += [(j, b) for b in blocks_of(alone, [column], most or len(alone), least=least, rng=task.rng)]
    done = task.each(partial(_recoded_column, kernel, columns, [most is not None for most in sizes]), parts)
    source = records_of(counts)
    values, codes, groups, told = [], [], [], []
    for j, column in enumerate(columns):
        alone = counts.project([column.name])
        own = [(block, cells) for (i, block), cells in zip(parts, done, strict=True) if i == j]
        cells = merged(alone, [column.name], own)
        owner = np.repeat(alone.column(column.name)[cells.source], cells.multiplicity)
        at = deal(counts.column(column.name)[source], owner, np.arange(len(owner), dtype=np.int32), task.rng)
        values.append(cells.values[0])
        codes.append(np.repeat(cells.codes[:, 0], cells.multiplicity)[at])
        if "groups" in cells.info:
            groups.append(np.repeat(np.asarray(cells.info["groups"])[:, 0], cells.multiplicity)[at])
        told.append(cells.info)
    info = {key: value for key, value in _added(told).items() if key != "groups"}
    marks = np.stack(groups, axis=1) if len(groups) == len(columns) else None
    return _counting_what_stayed(counts, cells_of([c.name for c in columns], values, source, codes, info, marks))


def _recoded_column(
    kernel: Kernel, columns: Sequence[Attribute], cut: Sequence[bool], part: tuple[int, Block]
) -> Cells | None:
    """The same of one column, as it stands in a block; where that holds one value, nothing is done."""
    j, block = part
    return recoded(kernel, [columns[j]], cut[j], block)
