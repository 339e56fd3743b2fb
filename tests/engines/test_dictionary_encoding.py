"""Columns as codes: what is counted and looked up on them is what plain Python counts and looks up."""

from __future__ import annotations

from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.engines import dictionary_encoding
from keepsense.engines.dictionary_encoding import counted, encoded, found_among, packed, places_among
from keepsense.engines.duckdb import table as code
from keepsense.engines.formats import parquet
from keepsense.engines.protocol import Writing, engine
from keepsense.errors import BadInput
from keepsense.recoding import Cut, Cuts

CELLS = st.lists(
    st.tuples(st.sampled_from(["b", "a", None, ""]), st.integers(0, 3), st.sampled_from("xyz")), max_size=30
)


@settings(deadline=None, max_examples=60)
@given(CELLS, st.integers(1, 4), st.integers(1, 9))
def test_counts_of_codes_are_those_of_the_rows(rows: list[tuple[Any, int, str]], chunks: int, width: int) -> None:
    """However wide: columns are repeated until their keys need several words."""
    columns = {}
    for j in range(2):
        cells = [row[j] for row in rows]
        parts = [cells[i::chunks] for i in range(chunks)]
        flat = [cell for part in parts for cell in part]
        kind = pa.string() if j == 0 else pa.int64()
        columns[j] = (encoded(pa.chunked_array([pa.array(part, kind) for part in parts])), flat)
    labels = [row[2] for i in range(chunks) for row in rows[i::chunks]]
    wide = {f"{j} {i}": columns[j][0] for i in range(width) for j in range(2)}
    numbers = np.arange(len(rows), dtype=np.float64)
    counts = counted(wide, {"label": encoded(pa.array(labels, pa.string()))}, {"n": numbers})
    tuples = [(columns[0][1][i], columns[1][1][i]) * width for i in range(len(rows))]
    spelled = [tuple(counts.values[j][code] for j, code in enumerate(codes)) for codes in counts.codes.tolist()]
    expected = Counter(tuples)
    key = [tuple((cell is None, str(cell)) for cell in each) for each in spelled]
    assert key == sorted(key), "sorted, missing last"
    assert dict(zip(spelled, counts.weights.tolist(), strict=True)) == expected
    table = counts.histograms["label"].table()
    for i, each in enumerate(spelled):
        own = Counter(label for label, row in zip(labels, tuples, strict=True) if row == each)
        assert {v: n for v, n in zip(counts.histograms["label"].values, table[i].tolist(), strict=True) if n} == own
        assert counts.sums["n"][i] == sum(n for n, row in zip(numbers, tuples, strict=True) if row == each)


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.tuples(*[st.integers(0, 5)] * 2), max_size=20),
    st.lists(st.tuples(*[st.integers(0, 5)] * 2), max_size=6, unique=True),
    st.sampled_from([6, 2**30, 2**40]),
)
def test_rows_find_their_tuples_however_wide_keys_are(
    rows: list[tuple[int, int]], tuples: list[tuple[int, int]], size: int
) -> None:
    mine, theirs = (np.array(part, dtype=np.int64).reshape(-1, 2).T for part in (rows, tuples))
    found = places_among(list(mine), list(theirs), [size, size])
    assert found.tolist() == [tuples.index(row) if row in tuples else -1 for row in rows]
    assert found_among(list(mine), list(theirs), [size, size]).tolist() == [row in tuples for row in rows]
    own = sorted(set(rows))  # as they are counted from these very rows
    found = places_among(list(mine), list(np.array(own, dtype=np.int32).reshape(-1, 2).T), [size, size])
    assert found.tolist() == [own.index(row) for row in rows]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(*[st.integers(0, 2**20 - 1)] * 7), min_size=1, max_size=20))
def test_keys_of_many_bits_are_read_back(rows: list[tuple[int, ...]]) -> None:
    keys = packed(list(np.array(rows, dtype=np.int64).T), [2**20] * 7)
    assert [tuple(row) for row in keys.unpacked(keys.keys).tolist()] == rows
    order = np.argsort(keys.keys, kind="stable")
    assert [rows[i] for i in order] == sorted(rows), "keys are in the order of the codes"


PEOPLE = {
    "id": [f"p{i}" for i in range(6000)],
    "job": ["nurse", "clerk", None] * 2000,
    "age": [20 + i % 7 for i in range(6000)],
    "likes": [["tea"], ["milk", "tea"]] * 3000,
    "pay": [i / 7 for i in range(6000)],
}


@pytest.mark.parametrize("large", [False, True])
def test_columns_that_are_not_coded_stay_beside_those_that_are(
    tmp_path: Path, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cut, records left out, another order: rows stay whole, with lists, numbers and texts that are all different."""
    monkeypatch.setattr(parquet, "LARGE", 0 if large else 1 << 40)
    pq.write_table(pa.table(PEOPLE), tmp_path / "people.parquet", row_group_size=1000)
    rule = Cuts(
        (
            Cut("job", ("nurse", "clerk", None), ("medic", "office", None)),
            Cut("age", tuple(range(20, 27)), (*["20-22"] * 3, *["23-26"] * 4)),
        ),
        frozenset({("office", "20-22")}),
    )
    labels = {"nurse": "medic", "clerk": "office", None: None}
    expected = []
    for id_, job, age, likes, pay in zip(*PEOPLE.values(), strict=True):
        cells = labels[job], "20-22" if age < 23 else "23-26"  # type: ignore[index]
        expected.append((id_, *(("*", "*") if cells == ("office", "20-22") else cells), likes, pay))
    with engine() as duck:
        table = duck.read(tmp_path / "people.parquet")
        recoded = duck.recode(table, [rule])
        whole = duck.frame(recoded)
        assert list(zip(*whole.to_pydict().values(), strict=True)) == expected
        left = duck.leave_out(recoded, {"job": "*", "age": "*"})
        shown = [row for row in expected if row[1] != "*"]
        assert list(zip(*duck.frame(left).to_pydict().values(), strict=True)) == shown
        assert duck.count(left, ["job", "age"]).total == len(shown)
        orders = []
        for columns in (("id", "job", "age", "likes", "pay"), ("job", "age"), ("id",)):
            part = duck.recode(left, [], drop=[name for name in left.columns if name not in columns])
            duck.write(part, tmp_path / "shuffled.parquet", Writing(shuffle=True), rng=4)
            orders.append(list(zip(*pq.read_table(tmp_path / "shuffled.parquet").to_pydict().values(), strict=True)))
        assert sorted(orders[0]) == sorted(shown)
        assert orders[0] != shown
        assert orders[1] == [row[1:3] for row in orders[0]], "the same order for any columns"
        assert orders[2] == [row[:1] for row in orders[0]]


def test_every_order_of_rows_is_as_likely() -> None:
    """A chi-square test over the 24 orders of 4 rows; the critical value of 23 degrees of freedom at 0.0001 is 56.1."""
    seen: Counter[tuple[int, ...]] = Counter()
    with engine() as duck:
        coded = duck.recode(duck.read({"n": [0, 1, 2, 3]}), [Cuts((Cut("n", (0, 1, 2, 3), (0, 1, 2, 3)),))])
        for seed in range(480):
            seen[tuple(duck.reader(coded, writing=Writing(shuffle=True), rng=seed).read_all()["n"].to_pylist())] += 1
    assert sum((seen[order] - 20) ** 2 / 20 for order in seen) + 20 * (24 - len(seen)) < 56.1


def test_a_large_file_that_changes_while_it_is_read_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "LARGE", 0)
    file = tmp_path / "people.parquet"
    pq.write_table(pa.table({"job": ["nurse"] * 5}), file)
    with engine() as duck:
        table = duck.read(file)
        pq.write_table(pa.table({"job": ["clerk"] * 50}), file)
        with pytest.raises(BadInput, match="changed while it was read"):
            duck.count(table, ["job"])


MIXED: dict[str, list[Any]] = {
    "job": ["nurse", "clerk", None, "nurse"] * 50,
    "age": [31, None, 40, 28] * 50,
    "born": [date(1990, 1, 2), date(1970, 5, 1), None, date(1990, 1, 2)] * 50,
    "retired": [True, False, None, False] * 50,
    "name": [f"p{i:03}" for i in range(200)],
    "nothing": [None] * 200,
}


def test_columns_by_the_dictionaries_of_a_file_are_those_that_duckdb_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "LARGE", 0)
    monkeypatch.setattr(dictionary_encoding, "_TOGETHER", 64)  # dictionaries grow from part to part
    cells = {**MIXED, "pay": [i / 7 for i in range(200)], "a.b": ["x", "y"] * 100}
    types = {"nothing": pa.string()}
    table = pa.table({name: pa.array(values, types.get(name)) for name, values in cells.items()})
    pq.write_table(table, tmp_path / "people.parquet", row_group_size=70)
    with engine() as duck:
        people = duck.read(tmp_path / "people.parquet")
        by_file = code._from_file(people, list(MIXED))
        by_duckdb = code._gathered(*code._from_duckdb(people, list(MIXED)))
        assert by_file is not None
        for name, values in MIXED.items():
            for column in (by_file[name], by_duckdb[name]):
                assert [column.values[place] for place in column.codes.tolist()] == values
                assert list(column.values) == sorted(set(values) - {None}) + [None] * (None in values)
        assert code._from_file(people, ["job", "pay"]) is None, "not a type that both read alike"
        assert code._from_file(people, ["a.b"]) is None, "Arrow takes dots for parts of records"
        assert duck.count(people, ["a.b"]).weights.tolist() == [100, 100]


def test_a_file_that_is_damaged_behind_its_schema_is_refused_in_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet, "LARGE", 0)
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table(MIXED).select(["job", "age"]), path, compression="none")
    data = bytearray(path.read_bytes())
    data[4:60] = b"\xff" * 56
    path.write_bytes(bytes(data))
    with engine() as duck, pytest.raises(BadInput, match="cannot be read"):
        duck.count(duck.read(path), ["job", "age"])


def test_what_is_written_from_dictionaries_is_what_duckdb_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    schemas, rows = [], []
    for many in (1, 1 << 40):
        monkeypatch.setattr(parquet, "MANY", many)
        with engine() as duck:
            people = duck.read({name: MIXED[name] for name in ("job", "age", "born", "retired")})
            rule = Cuts((Cut("job", ("nurse", "clerk", None), ("medic", "office", None)),))
            duck.write(duck.recode(people, [rule]), tmp_path / "out.parquet", Writing(shuffle=True), rng=4)
        file = pq.ParquetFile(tmp_path / "out.parquet")
        schemas.append(file.schema_arrow)
        rows.append(file.read().to_pylist())
        assert file.metadata.metadata is None or b"ARROW:schema" not in file.metadata.metadata
    assert schemas[0] == schemas[1]
    assert rows[0] == rows[1]
    assert rows[0] != [{**row, "job": row["job"]} for row in sorted(rows[0], key=str)]


def test_a_disk_that_is_full_is_told_whoever_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "MANY", 1)

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with engine() as duck:
        people = duck.read({"job": ["nurse", "clerk"]})
        rule = Cuts((Cut("job", ("nurse", "clerk"), ("medic", "office")),))
        with pytest.raises(BadInput, match="the disk is not full"):
            duck.write(duck.recode(people, [rule]), tmp_path / "out.parquet", Writing(shuffle=True), rng=4)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("chunks", [[3], [1, 2], [0, 3]])
def test_a_column_of_no_type_has_one_value_in_however_many_chunks(chunks: list[int]) -> None:
    column = pa.chunked_array([pa.nulls(length) for length in chunks])
    values, codes = dictionary_encoding.dictionary_of(column)
    assert (values, codes.tolist()) == ((None,), [0, 0, 0])
    gathering = dictionary_encoding.Gathering(pa.null())
    for chunk in column.chunks:
        gathering.add(chunk)
    for coded in (dictionary_encoding.encoded(column), gathering.coded()):
        assert (coded.values, coded.codes.tolist()) == ((None,), [0, 0, 0])


@pytest.mark.parametrize("rows_together", [3, 1000])
@pytest.mark.parametrize("from_part", [0, 1, 6])
def test_very_many_texts_get_the_codes_that_a_few_get(
    monkeypatch: pytest.MonkeyPatch, rows_together: int, from_part: int
) -> None:
    """Arrow looks them up from some part of a column on; gaps, letters beyond ASCII and repeated values included."""
    parts = [["b", None, "a"], ["ä", "a", "z"], [None], ["\U0001f600", "\ufb00", "b", "", "a;b"], ["a", "c"]]
    monkeypatch.setattr(dictionary_encoding, "_TOGETHER", rows_together)
    plain, quick = dictionary_encoding.Gathering(pa.string()), dictionary_encoding.Gathering(pa.string())
    for number, cells in enumerate(parts):
        monkeypatch.setattr(dictionary_encoding, "_MANY_TEXTS", 1_000_000)
        plain.add(pa.array(cells, pa.string()))
        monkeypatch.setattr(dictionary_encoding, "_MANY_TEXTS", 0 if number >= from_part else 1_000_000)
        quick.add(pa.array(cells, pa.string()))
    one, other = plain.coded(), quick.coded()
    assert other.values == one.values
    assert other.codes.tolist() == one.codes.tolist()
    assert [other.values[code] for code in other.codes.tolist()] == [cell for cells in parts for cell in cells]


@pytest.mark.parametrize("values", [["b", "a", "c"], ["b", "a", "b"], ["b", None, "a"]])
def test_texts_that_come_with_a_dictionary_of_their_own_get_one_code_each(
    monkeypatch: pytest.MonkeyPatch, values: list[str | None]
) -> None:
    """Arrow's dictionaries may hold a value twice, or a gap."""
    monkeypatch.setattr(dictionary_encoding, "_MANY_TEXTS", 0)
    gathering = dictionary_encoding.Gathering(pa.string())
    indices = pa.array([2, 0, None, 1, 0], pa.int32())
    gathering.add(pa.DictionaryArray.from_arrays(indices, pa.array(values, pa.string())))
    coded = gathering.coded()
    assert [coded.values[code] for code in coded.codes.tolist()] == [values[2], values[0], None, values[1], values[0]]
    assert len(set(coded.values)) == len(coded.values)
