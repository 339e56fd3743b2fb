"""`init` and `run`, untouched, on samples of real tables in the formats and types that people keep them in."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from tests.pins.terminal import keepsense

from keepsense.engines import engine

pytestmark = pytest.mark.more

ROWS = 600
TABLES = {
    "titanic": "titanic/titanic.csv",
    "adult": "adult/adult.csv",
    "insurance": "insurance/insurance_act_original_occ_original_10000.csv",
}


def sample(folder: Path, name: str) -> dict[str, list[Any]]:
    """The first rows, every cell as text or None."""
    with engine() as running:
        rows: dict[str, list[Any]] = running.frame(running.read(str(folder / TABLES[name]))).slice(0, ROWS).to_pydict()
    return rows


def typed(columns: dict[str, list[Any]]) -> Any:
    """The same with the types of its cells; a day, a decimal and columns without a value beside them."""
    import pyarrow as pa

    def of(cells: list[Any]) -> Any:
        present = {cell for cell in cells if cell is not None}
        if present and present <= {"True", "False"}:
            return pa.array([None if cell is None else cell == "True" for cell in cells])
        try:
            return pa.array([None if cell is None else float(cell) for cell in cells])
        except ValueError:
            texts = pa.array(cells, pa.string())
            return texts.dictionary_encode() if len(present) < 20 else texts

    arrays = {name: of(cells) for name, cells in columns.items()}
    rows = len(next(iter(columns.values())))
    arrays["admitted"] = pa.array([dt.date(2020, 1 + i % 12, 1 + i % 28) for i in range(rows)])
    arrays["deposit"] = pa.array([Decimal(i % 40) / 4 for i in range(rows)], pa.decimal128(7, 2))
    arrays["remark"] = pa.nulls(rows)
    arrays["score"] = pa.nulls(rows, pa.float64())
    return pa.table(arrays)


@pytest.mark.parametrize("ending", ["parquet", "xlsx", "jsonl", "sqlite"])
@pytest.mark.parametrize("name", TABLES)
def test_a_draft_of_a_real_table_runs_in_every_format(
    tmp_path: Path, shared_data: Path, name: str, ending: str
) -> None:
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    with engine() as running:
        running.write(running.read(typed(sample(shared_data, name))), tmp_path / f"people.{ending}")
    drafted = keepsense("init", f"people.{ending}", "--json", folder=tmp_path)
    assert drafted.code == 0, drafted.err
    made = keepsense("run", "--seed", "1", "--json", folder=tmp_path)
    assert made.code == 0, made.err
    about = json.loads(made.out)
    assert about["verified"] is True
    assert about["suppressed records"] <= 0.05 * ROWS
