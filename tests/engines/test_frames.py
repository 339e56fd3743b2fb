"""Frames of other libraries come in and go out as they were: the kind of frame, and the types of untouched columns."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Iterator
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from tests.spark import EVERY_ENGINE, started

from keepsense.errors import BadInput
from keepsense.recoding import Cut, Cuts

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

DAY, NOON = dt.date(2024, 2, 29), dt.datetime(2024, 2, 29, 12, 30)
PANDAS = {
    "job": pd.Series(["nurse", None, "clerk"]),
    "sex": pd.Categorical(["f", None, "m"], categories=["x", "m", "f"], ordered=True),
    "age": pd.array([31, None, 2**62 + 1], dtype="Int64"),
    "small": np.array([1, 2, 3], dtype=np.int8),
    "share": np.array([0.5, np.nan, 1.0], dtype=np.float32),
    "whole": np.array([1.0, 2.0, np.nan]),
    "flag": np.array([True, False, True]),
    "maybe": pd.array([True, None, False], dtype="boolean"),
    "text": pd.array(["a", None, ""], dtype="string"),
    "day": pd.Series([DAY, None, DAY], dtype=object),
    "moment": pd.to_datetime(pd.Series([NOON, None, NOON])),
    "zoned": pd.to_datetime(pd.Series([NOON, None, NOON])).dt.tz_localize("Europe/Berlin"),
    "stay": pd.to_timedelta(pd.Series([90, None, 10**6]), unit="s"),
    "arrow": pd.Series(["a", "b", None], dtype=pd.ArrowDtype(pa.large_string())),
}
POLARS = {
    "job": pl.Series(["nurse", None, "clerk"], dtype=pl.String),
    "sex": pl.Series(["f", None, "m"], dtype=pl.Categorical),
    "kind": pl.Series(["b", "a", "b"], dtype=pl.Enum(["a", "b", "c"])),
    "age": pl.Series([31, None, 52], dtype=pl.UInt8),
    "big": pl.Series([2**63, None, 1], dtype=pl.UInt64),
    "share": pl.Series([0.5, None, 1.0], dtype=pl.Float32),
    "flag": pl.Series([True, None, False]),
    "money": pl.Series([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")], dtype=pl.Decimal(9, 2)),
    "day": pl.Series([DAY, None, DAY]),
    "moment": pl.Series([NOON, None, NOON], dtype=pl.Datetime("ms")),
    "zoned": pl.Series([NOON, None, NOON], dtype=pl.Datetime("us", "Europe/Berlin")),
    "clock": pl.Series([dt.time(1, 2, 3), None, dt.time(4)]),
    "stay": pl.Series([dt.timedelta(seconds=90), None, dt.timedelta(days=3)], dtype=pl.Duration("ms")),
    "likes": pl.Series([["tea"], None, []], dtype=pl.List(pl.String)),
    "nothing": pl.Series([None, None, None], dtype=pl.Null),
}
ARROW = pa.table(
    {
        "job": pa.array(["nurse", None, "clerk"], pa.large_string()),
        "sex": pa.array(["f", None, "m"]).dictionary_encode(),
        "age": pa.array([31, None, 52], pa.uint16()),
        "share": pa.array([0.5, None, 1.0], pa.float32()),
        "money": pa.array([decimal.Decimal("1.50"), None, None], pa.decimal128(9, 2)),
        "day": pa.array([DAY, None, DAY], pa.date32()),
        "zoned": pa.array([NOON, None, NOON], pa.timestamp("ms", "Europe/Berlin")),
        "raw": pa.array([b"\0a", None, b""], pa.binary()),
        "likes": pa.array([["tea"], None, []], pa.large_list(pa.string())),
        "home": pa.array([{"town": "Ulm", "number": 3}, None, None]),
        "stay": pa.array([90, None, 10**6], pa.duration("s")),
        "nothing": pa.nulls(3),
    }
)


@pytest.fixture(params=EVERY_ENGINE)
def running(request: pytest.FixtureRequest) -> Iterator[Any]:
    with started(request.param) as running:
        yield running


def there_and_back(running: Any, frame: Any) -> Any:
    return running.frame(running.read(frame), frame)


def test_pandas_comes_back_with_its_types(running: Any) -> None:
    frame = pd.DataFrame(PANDAS)
    pd.testing.assert_frame_equal(there_and_back(running, frame), frame)


def test_an_index_of_pandas_stays_behind(running: Any) -> None:
    """It would tell which row a person had."""
    frame = pd.DataFrame({"job": ["nurse", "clerk"]}, index=["Ann", "Bo"])
    table = running.read(frame)
    assert table.columns == ("job",)
    assert running.frame(table, frame).index.tolist() == [0, 1]


def test_names_of_columns_that_are_no_texts_come_back(running: Any) -> None:
    frame = pd.DataFrame({0: ["nurse"], 1: [31]})
    assert list(there_and_back(running, frame).columns) == [0, 1]


def test_polars_comes_back_with_its_types(running: Any) -> None:
    frame = pl.DataFrame(POLARS)
    again = there_and_back(running, frame)
    assert again.schema == frame.schema
    assert again.equals(frame)


def test_a_lazy_frame_comes_back_lazy(running: Any) -> None:
    frame = pl.DataFrame(POLARS).lazy()
    again = there_and_back(running, frame)
    assert isinstance(again, pl.LazyFrame)
    assert again.collect().equals(frame.collect())


def test_arrow_comes_back_with_its_types(running: Any) -> None:
    assert there_and_back(running, ARROW).equals(ARROW)
    batch = ARROW.to_batches()[0]
    assert there_and_back(running, batch).equals(ARROW)


def test_a_stream_comes_back_as_a_stream(running: Any) -> None:
    stream = ARROW.to_reader()
    again = there_and_back(running, stream)
    assert isinstance(again, pa.RecordBatchReader)
    assert again.read_all().equals(ARROW)


def test_a_relation_of_duckdb_comes_back_with_its_types(running: Any) -> None:
    relation = duckdb.sql("SELECT 'nurse' AS job, 31::UTINYINT AS age, 'f'::ENUM('f', 'm') AS sex, [1, 2] AS likes")
    again = there_and_back(running, relation)
    assert isinstance(again, duckdb.DuckDBPyRelation)
    assert (again.columns, list(map(str, again.types))) == (relation.columns, list(map(str, relation.types)))
    assert again.fetchall() == relation.fetchall()


def test_columns_in_memory_come_back_as_columns(running: Any) -> None:
    columns = {"job": ["nurse", None], "age": np.array([31, 40], dtype=np.uint8), "likes": [["tea"], []]}
    again = there_and_back(running, columns)
    assert list(again) == list(columns)
    assert again["job"] == columns["job"]
    assert again["likes"] == columns["likes"]
    assert again["age"].dtype == np.uint8
    assert again["age"].tolist() == [31, 40]


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "columns", "duckdb"])
def test_a_generalized_column_is_text_and_others_are_untouched(running: Any, kind: str) -> None:
    columns = pa.table(
        {"sex": pa.array(["f", "m", "f"]).dictionary_encode(), "age": pa.array([31, 38, 40], pa.uint8())}
    )
    frame = {
        "pandas": columns.to_pandas,
        "polars": lambda: pl.from_arrow(columns),
        "arrow": lambda: columns,
        "columns": columns.to_pydict,
        "duckdb": lambda: duckdb.from_arrow(columns),
    }[kind]()
    rule = Cuts((Cut("age", (31, 38, 40), ("30-39", "30-39", "40-49")), Cut("sex", ("f", "m"), ("*", "*"))))
    released = running.recode(running.read(frame), [rule])
    again = running.frame(released, frame, recoded=["age", "sex"])
    assert type(again) is type(frame)
    assert running.frame(running.read(again)).to_pydict() == {"sex": ["*"] * 3, "age": ["30-39", "30-39", "40-49"]}
    half = running.recode(running.read(frame), [Cuts(rule.cuts[:1])])
    again = running.read(running.frame(half, frame, recoded=["age"]))
    assert running.frame(again).to_pydict() == {"sex": ["f", "m", "f"], "age": ["30-39", "30-39", "40-49"]}


def test_columns_that_were_removed_do_not_matter(running: Any) -> None:
    frame = pd.DataFrame(PANDAS)
    fewer = running.frame(running.recode(running.read(frame), [], drop=["job", "age"]), frame)
    pd.testing.assert_frame_equal(fewer, frame.drop(columns=["job", "age"]))


def test_a_column_of_mixed_types_is_refused(running: Any) -> None:
    for frame in (pd.DataFrame({"mixed": [1, "a", b"x"]}), {"mixed": [1, "a"]}):
        with pytest.raises(BadInput, match="a column mixes types"):
            running.read(frame)
