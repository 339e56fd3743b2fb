"""What columns would keep if they weighed twice: measured, told by the guide and by the report."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.pins.terminal import keepsense

from keepsense.engines.protocol import started
from keepsense.project.project_file import Project
from keepsense.release.figures.trade import FACTOR, Trade, trade
from keepsense.release.job.job import Job
from keepsense.release.run import run
from keepsense.report.report import write_report

TABLE: dict[str, list[Any]] = {
    name: np.random.default_rng(seed).integers(20, 80, 400).tolist()
    for seed, name in enumerate(("age", "size", "height"))
}


def _project(**weights: float) -> Project:
    columns = {
        name: {"role": "quasi-identifier", "kind": "numeric", "weight": weights.get(name, 1.0)} for name in TABLE
    }
    return Project.model_validate(
        {
            "columns": columns,
            "privacy": [{"model": "k-anonymity", "k": 10}],
            "method": {"name": "mondrian"},
            "release": {"file": "people.csv"},
        }
    )


def _trade(folder: Path) -> Trade:
    with started("duckdb") as engine:
        offered = trade(Job(_project(), folder, engine, np.random.default_rng(1), TABLE))
    assert offered is not None
    return offered


def test_what_is_offered_is_what_a_run_with_that_weight_loses(tmp_path: Path) -> None:
    offered = _trade(tmp_path)
    assert offered.tuples == offered.of
    for offer in offered.offers:
        done = run(_project(**{offer.column: FACTOR}), data=TABLE, folder=tmp_path / offer.column)
        lost = done.description["columns"][offer.column]["lost"]  # rounded there
        assert offer.twice == pytest.approx(lost, abs=1e-3)
        assert offer.twice < offer.lost
        assert offer.others_then > offer.others


def test_the_report_shows_the_trade_to_the_publisher_only(tmp_path: Path) -> None:
    done = run(_project(), data=TABLE, folder=tmp_path)
    internal = write_report(done, tmp_path / "internal.html").read_text(encoding="utf-8")
    public = write_report(done, tmp_path / "public.html", "public").read_text(encoding="utf-8")
    assert "lost at twice the weight" in internal
    assert "lost at twice the weight" not in public


def test_the_guide_tells_the_trade_where_it_tries_methods(tmp_path: Path) -> None:
    with (tmp_path / "people.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([TABLE, *zip(*TABLE.values(), strict=True)])
    asked = ("guide", "--try", "people.csv", "--limit", "1", "--seconds", "2")
    told = json.loads(keepsense(*asked, "--json", folder=tmp_path).out)
    assert {offer["column"] for offer in told["trade"]["offers"]} == set(TABLE)
    assert "If a column weighed twice" in keepsense(*asked, folder=tmp_path).out
