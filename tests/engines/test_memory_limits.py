"""What work may take of the machine: a limit that is kept, told before anything is read, and refused in words."""

from __future__ import annotations

from pathlib import Path

import pytest

from keepsense.engines.duckdb.engine import DuckDBEngine
from keepsense.engines.memory_limits import limit_of, needed, refuse_too_large, room
from keepsense.engines.protocol import engine
from keepsense.errors import BadInput
from keepsense.project.project_file import Project
from keepsense.release.run import run

SAID = "SELECT current_setting('memory_limit')"


def test_engine_and_verifier_share_what_the_project_allows() -> None:
    with DuckDBEngine(memory="1000MiB") as duck, duck.sql() as connection:
        assert duck.limit == 1000 * 2**20
        (engine_takes,), (verifier_takes,) = *duck.run(SAID), *connection.run(SAID)
        assert engine_takes == verifier_takes == "400.0 MiB", "two fifths each: the rest is for codes"


@pytest.mark.parametrize("said", ["much", "4 apples", "-1GB", ""])
def test_a_size_that_is_none_is_refused(said: str) -> None:
    with pytest.raises(BadInput, match="tells no size"):
        limit_of(said)


def test_tables_with_more_tuples_than_memory_holds_are_refused_with_the_estimate() -> None:
    with DuckDBEngine() as duck:
        few = duck.read({"n": [i % 10 for i in range(5000)]})
        many = duck.read({"n": list(range(5000))})
        duck.limit = 300_000
        assert duck.count(few, ["n"]).total == 5000
        with pytest.raises(BadInput, match=r"5,000 rows with about [45],\d{3} different combinations of 1 columns"):
            duck.count(many, ["n"])


def test_the_estimate_is_what_a_run_took_at_its_most_and_leaves_room_for_the_program() -> None:
    took = 2207 * 2**20  # ten million sample people, measured from outside with memory = "2GB"
    estimate = needed(10_000_000, 7, 9_005_327) + 3 * 10**9 - room(3 * 10**9)
    assert took <= estimate <= 1.1 * took
    with pytest.raises(BadInput, match=r"takes about 2.4 GB, and memory is limited to 2.0 GB"):
        refuse_too_large(10_000_000, 7, 9_005_327, 2 * 10**9)
    refuse_too_large(10_000_000, 7, 9_005_327, int(2.4e9))


def test_a_run_is_refused_with_the_estimate_before_anything_is_written(tmp_path: Path) -> None:
    table = {"n": [str(i) for i in range(5000)], "ill": ["flu", "cold"] * 2500}
    project = Project.model_validate(
        {
            "columns": {"n": {"role": "quasi-identifier"}, "ill": {"role": "sensitive"}},
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "method": {"name": "datafly"},
            "release": {"file": "people.csv"},
        }
    )
    with DuckDBEngine() as duck:
        duck.limit = 300_000
        with pytest.raises(BadInput, match="make fewer columns quasi-identifiers"):
            run(project, data=table, folder=tmp_path, engine=duck)
    assert not list(tmp_path.iterdir())


def test_a_file_that_fits_nowhere_is_refused_before_it_is_read(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("job\n" + "nurse\n" * 1000, encoding="utf-8")
    with DuckDBEngine() as duck:
        duck.limit = duck.disk = 0
        with pytest.raises(BadInput, match="let TMPDIR name a folder with more room") as refusal:
            duck.read(tmp_path / "people.csv")
        assert str(tmp_path) not in str(refusal.value)
    with engine() as duck:
        assert duck.read(tmp_path / "people.csv").rows == 1000
