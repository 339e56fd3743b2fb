"""Tables of very many columns: each column costs the same, however many there are."""

from __future__ import annotations

import random
import time
from dataclasses import asdict
from pathlib import Path

import pytest

from keepsense.engines.duckdb import count
from keepsense.engines.duckdb.engine import DuckDBEngine
from keepsense.engines.duckdb.table import DuckTable
from keepsense.engines.duckdb_store import Store
from keepsense.engines.formats.csv_file import _names
from keepsense.engines.protocol import SqlTable
from keepsense.errors import BadInput
from keepsense.hierarchies import ordinal_scales


def test_columns_that_are_counted_together_have_the_profiles_they_have_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(1)
    cells = [None, "", " ", "\u00a0 \u2003", "\t", "\n", "a", "A", "é", "e\u0301", "😀", "\uffff", "10", "9", "x" * 300]
    columns = {f"c{i}": [rng.choice(cells[i % 5 :]) for _ in range(40)] for i in range(30)}
    engine = DuckDBEngine()
    table = engine.read(columns)
    for limit in (1000, 3):
        alone = engine.profiles(table, limit)
        monkeypatch.setattr(count, "_FEW", 10)
        monkeypatch.setattr(count, "_TOGETHER", 7)
        together = engine.profiles(table, limit)
        monkeypatch.undo()
        assert [asdict(p) for p in together] == [asdict(p) for p in alone]
        assert [list(p.values.items()) for p in together] == [list(p.values.items()) for p in alone]


def test_names_that_occur_again_are_numbered_in_linear_time() -> None:
    start = time.process_time()
    names = _names([f"c{i % 20_000}" for i in range(40_000)])
    assert time.process_time() - start < 5
    assert len(set(names)) == 40_000


class Name(str):
    """The name of a column, which counts how often it is compared."""

    compared = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Name.compared += 1
        return str.__eq__(self, other)


def test_a_column_is_found_without_asking_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    names = tuple(Name(f"c{i}") for i in range(2_000))
    table = DuckTable(Store.__new__(Store), "t", names, ("VARCHAR",) * len(names))
    known = SqlTable("t", names)
    monkeypatch.setattr(Name, "compared", 0)
    table.require(list(map(str, names)))
    assert all(table.is_text(str(name)) for name in names)
    assert known.column("c1999") == "c1999"
    assert Name.compared < 10 * len(names)


def test_a_machine_is_not_asked_for_more_threads_than_it_can_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    for asked, used in ((1, 1), (3, 3), (10**8, 8)):
        with Store(threads=asked) as store:
            assert store.run("SELECT current_setting('threads')") == [(used,)]
    with pytest.raises(BadInput, match="as memory limit"):
        Store(memory="999999999999999TB")


def test_a_value_is_spelled_plainly_once_however_many_scales_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    values, spelled, plain = ["purple", "green", "nurse", "baker"], [], ordinal_scales._plain

    def counted(text: str) -> str:
        spelled.append(text)
        return plain(text)

    assert ordinal_scales.order_of(values) is None  # now the scales know their own steps
    monkeypatch.setattr(ordinal_scales, "_plain", counted)
    assert ordinal_scales.order_of(values) is None
    assert spelled == values


def test_thousands_of_columns_cost_little_more_than_the_same_cells_below_each_other(tmp_path: Path) -> None:
    from keepsense.draft.inspection import inspect

    def seconds(columns: int) -> float:
        path = tmp_path / f"{columns}.csv"
        lines = [",".join(f"c{i}" for i in range(columns))]
        lines += [",".join(f"v{(i * j) % 7}" for i in range(columns)) for j in range(1, 11)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        start = time.process_time()
        assert len(inspect(str(path)).columns) == columns
        return time.process_time() - start

    seconds(100)
    assert seconds(2_000) < 8 * seconds(500), "four times as many columns take no more than eight times as long"
