"""A whole run into every format: whatever a column holds, the verifier finds it again as it was."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from keepsense.engines.protocol import Writing, engine
from keepsense.project.project_file import Project
from keepsense.release.run import run
from keepsense.release.verify import verify_file

N = 20
COLUMNS = {
    "job": pa.array(["nurse", "clerk"] * N),
    "day": pa.array([dt.date(2024, 1, 1), dt.date(1871, 1, 18)] * N),
    "paid": pa.array([decimal.Decimal("1.50"), None] * N, pa.decimal128(7, 2)),
    "likes": pa.array([["a", "b, c", "it's"], []] * N, pa.list_(pa.string())),
    "share": pa.array([1.0, 2.0] * N),
    "single": pa.array([0.1, None] * N, pa.float32()),
    "seen": pa.array([dt.datetime(2024, 1, 1, 1, 2, 3, 456789), None] * N, pa.timestamp("us")),
    "instant": pa.array([dt.datetime(2024, 1, 1, 1, 2, 3), None] * N, pa.timestamp("us", "UTC")),
    "flag": pa.array([True, None] * N),
    "id": pa.array(range(2**53, 2**53 + 2 * N), pa.int64()),
}


def made(folder: Path, name: str, columns: dict[str, pa.Array]) -> bool:
    pq.write_table(pa.table(columns), folder / "people.parquet")
    roles = {column: {"role": "insensitive", "accept": "identifying"} for column in columns} | {
        "job": {"role": "quasi-identifier"}
    }
    project = {"source": {"path": "people.parquet"}, "columns": roles, "release": {"file": name}}
    plan = Project.model_validate(project | {"privacy": [{"model": "k-anonymity", "k": 5}]})
    return run(plan, folder=folder).verification.ok


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "arrow", "xlsx", "duckdb", "sqlite"])
def test_preserved_columns_come_through(tmp_path: Path, ending: str) -> None:
    assert made(tmp_path, f"people.{ending}", COLUMNS)


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl", "arrow", "xlsx", "duckdb", "sqlite"])
def test_empty_and_missing_texts_come_through(tmp_path: Path, ending: str) -> None:
    assert made(tmp_path, f"people.{ending}", {"job": COLUMNS["job"], "note": pa.array(["", None, "x", ""] * (N // 2))})


def test_a_workbook_of_another_tool_is_verified_whatever_its_sheet_is_called(tmp_path: Path) -> None:
    columns = {"job": ["nurse", "clerk"] * N}
    pq.write_table(pa.table(columns), tmp_path / "people.parquet")
    with engine() as running:
        running.write(running.read(columns), tmp_path / "theirs.xlsx", Writing(table="Sheet1"))
    project = {"source": {"path": "people.parquet"}, "columns": {"job": {"role": "quasi-identifier"}}}
    plan = Project.model_validate(project | {"privacy": [{"model": "k-anonymity", "k": 5}]})
    verification, _ = verify_file(plan, tmp_path / "theirs.xlsx", folder=tmp_path)
    assert verification.ok
