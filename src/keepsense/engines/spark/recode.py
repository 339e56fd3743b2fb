"""Recode the rows of a Spark table by joins. A row for which no output is found stops the release.

Where the values of a table were counted before, the driver tells from the counts whether a recoding covers them;
otherwise Spark looks. Spark itself chooses between broadcasting what is joined and shuffling it, by its size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.engines.dictionary_encoding import cells_of, decoded, found_among, not_covered, positions, text_of, typed
from keepsense.engines.spark.count import lookup, packed, recounted
from keepsense.engines.spark.session import ROW, Room, plain, quiet
from keepsense.engines.spark.table import SparkTable
from keepsense.errors import BadInput
from keepsense.recoding import SUPPRESSED, Cells, Cuts, Draws, Recoding

# Random numbers for rows on a cluster: a keyed hash (BLAKE2b) of the row's identity
#
# So they depend neither on the task nor on how rows are spread, and a repeated task draws the same. The key travels
# inside the function, so that no plan and no event log of Spark shows it. The order of written rows changes no cell and
# needs no Python: there the hash is Spark's own (SHA-256), with the key in a small table in the staging folder.

DRAW = "draw_"
"""Column that holds a row's number."""

KEY = 16
"""Bytes of a key."""

_KEY = "key_"


def with_draws(frame: Any, key: bytes) -> Any:
    """A frame with a 64-bit number for each row."""
    from pyspark.sql import functions as F
    from pyspark.sql.types import LongType

    made: Any = F  # not all versions of PySpark declare what they have
    with quiet():
        number = made.arrow_udf(numbers(key), LongType(), made.ArrowUDFType.SCALAR)
        return frame.withColumn(DRAW, number(F.col(ROW).cast("string")))


def with_places(frame: Any, key: bytes, room: Room) -> Any:
    """A frame with a 64-bit number for each row by which rows are put into an order that nobody can foretell."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyspark.sql import functions as F

    path = room.place().with_suffix(".parquet")
    pq.write_table(pa.table({_KEY: [key.hex()]}), path)
    with quiet():
        held = F.broadcast(frame.sparkSession.read.schema(f"{_KEY} string").parquet(path.as_uri()))
        digest = F.sha2(F.concat(_KEY, F.col(ROW).cast("string"), _KEY), 256)
        return frame.crossJoin(held).withColumn(DRAW, F.xxhash64(digest)).drop(_KEY)


def numbers(key: bytes) -> Callable[[Any], Any]:
    """A function from identities to numbers; it needs nothing of Keepsense where it runs.

    >>> import pyarrow as pa
    >>> drawn = numbers(b"0123456789abcdef")(pa.array(["1", "2", "1"])).to_pylist()
    >>> drawn[0] == drawn[2], drawn[0] == drawn[1], drawn == numbers(b"another key 1234")(pa.array(["1"])).to_pylist()
    (True, False, False)
    """

    def drawn(rows):  # type: ignore[no-untyped-def]  # types would have to be known to the executors, too
        from hashlib import blake2b

        import numpy as np
        import pyarrow as pa

        start = blake2b(digest_size=8, key=key)
        digests = bytearray()
        for row in rows.to_pylist():
            digest = start.copy()
            digest.update(row.encode("utf-8"))
            digests += digest.digest()
        return pa.array(np.frombuffer(bytes(digests), dtype="<i8"))

    return drawn


def uniform() -> Any:
    """The numbers of `with_draws` as a share between 0 and 1."""
    from pyspark.sql import functions as F

    return F.shiftrightunsigned(F.col(DRAW), 11).cast("double") * F.lit(2.0**-53)


# Recoding by joins


def recode(table: SparkTable, rule: Recoding, rng: np.random.Generator) -> SparkTable:
    """The table with the recoded columns in place; nothing is computed yet."""
    with quiet():
        if isinstance(rule, Cuts):
            return _cuts(table, rule)
        if isinstance(rule, Draws):
            return _draws(table, rule, rng.bytes(KEY))
        return _cells(table, rule, rng.bytes(KEY))


def _cuts(table: SparkTable, rule: Cuts) -> SparkTable:
    from pyspark.sql import functions as F

    # what is hidden is text, so all the column is
    texts = bool(rule.suppress)
    outputs = [_outputs(cells_of([text_of(v) for v in cut.outputs] if texts else cut.outputs)) for cut in rule.cuts]
    classes = _Classes.of(rule, outputs) if texts else None
    joined = table.frame
    for i, cut in enumerate(rule.cuts):
        columns = {f"i{i}": _typed(table, cut.name, cut.inputs), f"o{i}": outputs[i]}
        if classes is not None:
            columns[f"p{i}"] = classes.parts[i]
        known = lookup(table, columns).withColumnRenamed("k_", f"k{i}_")
        joined = joined.join(known, _same(table, cut.name, f"i{i}", cut.inputs), "left")
    uncovered = [i for i, cut in enumerate(rule.cuts) if not _knows(table, cut.name, cut.inputs)]
    _covered(joined, {rule.cuts[i].name: f"k{i}_" for i in uncovered})
    cells = {cut.name: F.col(f"o{i}") for i, cut in enumerate(rule.cuts)}
    if classes is not None:
        same = [sum((F.col(f"p{i}") for i in at), F.lit(0)) == F.col(f"h{j}") for j, at in enumerate(classes.packs)]
        hidden = lookup(table, {f"h{j}": keys for j, keys in enumerate(classes.hidden)})
        joined = joined.join(hidden, same, "left")
        gone = F.col("k_").isNotNull()
        cells = {name: F.when(gone, F.lit(SUPPRESSED)).otherwise(cell) for name, cell in cells.items()}
    changed = _having(table, joined, cells, {cut.name: outputs[i].type for i, cut in enumerate(rule.cuts)})
    return replace(changed, counted=[_cut_counts(c, rule, outputs) for c in table.counted if _holds(c, rule)])


@dataclass(frozen=True, eq=False)
class _Classes:
    """Classes as whole numbers: `parts` are what each output of each column adds to the key of a class.

    Columns of `packs` share a key, as many as one number holds; `hidden` are the keys of the suppressed classes.
    """

    packs: list[list[int]]
    parts: list[NDArray[np.int64]]
    hidden: list[NDArray[np.int64]]

    @classmethod
    def of(cls, rule: Cuts, outputs: Sequence[Any]) -> _Classes:
        dictionaries = [{text: code for code, text in enumerate(dict.fromkeys(_listed(column)))} for column in outputs]
        packs = packed([len(dictionary) for dictionary in dictionaries])
        step = [1] * len(dictionaries)
        for at in packs:
            for left, i in pairwise(at):
                step[i] = step[left] * len(dictionaries[left])
        parts = [
            np.array([dictionary[text] * step[i] for text in _listed(outputs[i])], dtype=np.int64)
            for i, dictionary in enumerate(dictionaries)
        ]
        keys = _places(rule.suppress, dictionaries) * np.array(step, dtype=np.int64)
        return cls(packs, parts, [keys[:, at].sum(axis=1) for at in packs])


def _places(classes: Iterable[Sequence[Value]], dictionaries: Sequence[Mapping[Any, int]]) -> NDArray[np.int64]:
    """Codes of classes in dictionaries of their texts; a class that no row can have is left out."""
    columns = zip(*classes, strict=True)
    codes = [[held.get(text_of(v), -1) for v in values] for held, values in zip(dictionaries, columns, strict=True)]
    table = np.array(codes, dtype=np.int64).T
    return table[(table >= 0).all(axis=1)]


def _same(table: SparkTable, column: str, name: str, values: Iterable[Value]) -> Any:
    """The condition that a column holds what a look-up table has; only where that may be missing two gaps are alike."""
    from pyspark.sql import functions as F

    cell, entry = F.col(table.column(column)), F.col(name)
    return cell.eqNullSafe(entry) if any(value is None for value in values) else cell == entry


def _holds(counts: Counts, rule: Recoding) -> bool:
    """Whether counts have all columns of a recoding, so that what becomes of their tuples is known."""
    return set(rule.names) <= set(counts.names)


def _cut_counts(counts: Counts, rule: Cuts, outputs: Sequence[Any]) -> Counts:
    """The counts of a table that is recoded so: nobody has to count it again."""
    changed = {}
    for cut, column in zip(rule.cuts, outputs, strict=True):
        place = {value: i for i, value in enumerate(cut.inputs)}
        lookup = np.array([place.get(value, 0) for value in counts.values_of(cut.name)], dtype=np.int64)
        changed[cut.name] = (_listed(column), lookup[counts.column(cut.name)])
    after = recounted(counts, changed)
    if not rule.suppress:
        return after
    at = [after.index(name) for name in rule.names]
    places = [{value: code for code, value in enumerate(after.values[j])} for j in at]
    hidden = _places(rule.suppress, places)
    gone = found_among([after.codes[:, j] for j in at], [*hidden.T], [max(1, len(place)) for place in places])
    marked = {}
    for j, name in zip(at, rule.names, strict=True):
        dictionary = (*after.values[j], SUPPRESSED)
        marked[name] = (dictionary, np.where(gone, len(dictionary) - 1, after.codes[:, j]))
    return recounted(after, marked)


def _listed(column: Any) -> list[Value]:
    return [tuple(value) if isinstance(value, list) else value for value in column.to_pylist()]


def _cells(table: SparkTable, rule: Cells, key: bytes) -> SparkTable:
    from pyspark.sql import Window
    from pyspark.sql import functions as F

    if rule.inputs is None:
        raise BadInput("the recoding does not say which tuples it is for; bind it with `cells.bound(counts)`")
    names, values, codes = rule.inputs.names, rule.inputs.values, rule.inputs.codes
    inputs = {f"i{j}": _typed(table, name, values[j]).take(positions(codes[:, j])) for j, name in enumerate(names)}
    order = np.argsort(rule.source, kind="stable")
    owner, amount = rule.source[order], rule.multiplicity[order]
    outputs = {f"o{j}": _outputs(decoded(rule.values[j], rule.codes[order, j])) for j in range(len(rule.names))}
    types = {name: outputs[f"o{j}"].type for j, name in enumerate(rule.names)}
    cells = {name: F.col(f"o{j}") for j, name in enumerate(rule.names)}
    same = [_same(table, name, f"i{j}", values[j]) for j, name in enumerate(names)]
    dealt = len(np.unique(owner)) < len(owner)
    if not dealt:  # every tuple has one output, so one join tells it
        at = positions(np.searchsorted(owner, np.arange(len(rule.inputs))).clip(max=len(owner) - 1))
        source = lookup(table, {**inputs, **{name: column.take(at) for name, column in outputs.items()}})
        joined = table.frame.join(source, same, "left")
        known = _counted(table, rule.inputs)
        if known is None:
            _covered(joined, {", ".join(names): "k_"})
        changed = _having(table, joined, cells, types)
        if known is None or not _holds(known, rule):
            return changed
        places = np.asarray(at)
        listed = {f: (_listed(outputs[f"o{j}"]), places) for j, f in enumerate(rule.names)}
        return replace(changed, counted=[recounted(known, listed)])
    several = np.bincount(owner, minlength=len(rule.inputs)) > 1
    source = lookup(table, {**inputs, "several_": several}).withColumnRenamed("k_", "tuple_")
    joined = table.frame.join(source, same, "left")
    if _counted(table, rule.inputs) is None:
        _covered(joined, {", ".join(names): "tuple_"})
    # a record of a tuple gets its place in a random order; each place has one output, so that it is found by equality
    place = F.row_number().over(Window.partitionBy("tuple_").orderBy(DRAW, "row_")) - F.lit(1)
    placed = with_draws(joined, key).withColumn("place_", F.when(F.col("several_"), place).otherwise(F.lit(0)))
    ends = np.cumsum(amount)
    first = np.concatenate(([0], ends[:-1]))
    begin = first - first[np.searchsorted(owner, owner)]
    last = begin + np.where(several[owner], amount, 1) - 1
    target = lookup(table, {"owner_": owner, "begin_": begin, "last_": last, **outputs})
    each = target.withColumn("at_", F.explode(F.sequence("begin_", "last_"))).drop("k_")
    matched = (F.col("tuple_") == F.col("owner_")) & (F.col("place_") == F.col("at_"))
    return _having(table, placed.join(each, matched, "left"), cells, types)


def _draws(table: SparkTable, rule: Draws, key: bytes) -> SparkTable:
    from pyspark.sql import functions as F

    row, column = np.nonzero(rule.probabilities)
    ends = np.cumsum(rule.probabilities[row, column])
    first = np.concatenate(([0.0], ends[:-1]))
    base = first[np.searchsorted(row, np.arange(len(rule.inputs)))]
    begin = np.clip(first - base[row], 0.0, None)
    last = np.append(row[1:] != row[:-1], True)
    end = np.where(last, 2.0, np.append(begin[1:], 2.0))  # chances that add up to a little less than 1 leave nobody out
    outputs = _outputs(decoded(rule.outputs, column.astype(np.int32)))
    source = lookup(table, {"i0": _typed(table, rule.name, rule.inputs)}).withColumnRenamed("k_", "held_")
    joined = table.frame.join(source, _same(table, rule.name, "i0", rule.inputs), "left")
    if not _knows(table, rule.name, rule.inputs):
        _covered(joined, {rule.name: "held_"})
    target = lookup(table, {"owner_": row, "begin_": begin, "end_": end, "o0": outputs}).drop("k_")
    drawn = with_draws(joined, key).withColumn("share_", uniform())
    share = F.col("share_")
    matched = (F.col("held_") == F.col("owner_")) & (share >= F.col("begin_")) & (share < F.col("end_"))
    return _having(table, drawn.join(target, matched, "left"), {rule.name: F.col("o0")}, {rule.name: outputs.type})


def _having(table: SparkTable, joined: Any, cells: dict[str, Any], types: dict[str, Any]) -> SparkTable:
    """The table with some of its columns replaced by what a join found."""
    chosen = {name: cells.get(name, table.column(name)) for name in table.columns}
    return replace(table, frame=joined).having(table.columns, chosen, types)


def _knows(table: SparkTable, name: str, inputs: Sequence[Value]) -> bool:
    """Whether the counts of a table tell that a recoding of a column covers all its values."""
    covered = set(inputs)
    return any(name in counts.names and covered.issuperset(_held(counts, name)) for counts in table.counted)


def _held(counts: Counts, name: str) -> set[Value]:
    values = counts.values_of(name)
    return {values[code] for code in np.unique(counts.column(name)).tolist()}


def _counted(table: SparkTable, inputs: Counts) -> Counts | None:
    """What was counted in the table, if its tuples are those that a recoding is for."""
    same = (
        counts
        for counts in table.counted
        if counts.names == inputs.names
        and counts.values == inputs.values
        and np.array_equal(counts.codes, inputs.codes)
        and np.array_equal(counts.weights, inputs.weights)
    )
    return next(same, None)


def _covered(joined: Any, marks: dict[str, str]) -> None:
    """Refuse rows for which a join found nothing: those where a mark is missing."""
    from pyspark.sql import functions as F

    if not marks:
        return
    (lost,) = joined.agg(*(F.count(F.when(F.col(mark).isNull(), 1)) for mark in marks.values())).collect()
    for names, number in zip(marks, lost, strict=True):
        if number:
            raise not_covered(number, [names])


def _typed(table: SparkTable, column: str, values: Sequence[Value]) -> Any:
    """Input values as an Arrow array of the type the table's column has."""
    return typed(column, values, plain(table.type_of(column)))


def _outputs(cells: Any) -> Any:
    """Output values as Spark takes them, to which nothing at all is of no type."""
    import pyarrow as pa

    return cells.cast(pa.string()) if pa.types.is_null(cells.type) else cells
