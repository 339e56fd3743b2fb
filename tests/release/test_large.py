"""Tables that outgrow memory: what is released, found and told is the same as with all combinations at hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from keepsense.counts_out_of_core import LargeCounts
from keepsense.engines import memory_limits
from keepsense.engines.duckdb import count as counting
from keepsense.engines.duckdb.engine import DuckDBEngine
from keepsense.engines.partitioned_count import CodedRows
from keepsense.errors import TooLarge, TooSlow
from keepsense.methods.method import METHODS
from keepsense.project.project_file import Project
from keepsense.release.run import Outcome, run
from keepsense.sample_people import people

KINDS = {"age": "numeric", "postcode": "code"}
DIVERSE = {"model": "l-diversity", "l": 2, "column": "diagnosis"}


def project(*names: str, **changes: Any) -> Project:
    columns = {
        **{name: {"role": "identifier"} for name in ("id", "interests", "hobby", "workplace", "place", "postcode")},
        "diagnosis": {"role": "sensitive"},
        **{name: {"role": "quasi-identifier", "kind": KINDS.get(name, "nominal")} for name in names},
    }
    columns |= {name: {"role": "identifier"} for name in ("sex", "age", "occupation") if name not in names}
    given: dict[str, Any] = {
        "privacy": [{"model": "k-anonymity", "k": 4}, DIVERSE],
        "method": {"name": "optimal"},
        "release": {"suppression": 0.05},
        "columns": columns,
    }
    return Project.model_validate({**given, **changes})


def small(monkeypatch: pytest.MonkeyPatch, room: int) -> list[LargeCounts]:
    """Let every table outgrow memory; what was counted so."""
    made: list[LargeCounts] = []

    def outgrown(_: Any, table: Any, columns: Sequence[str], *, histograms: Iterable[str] = ()) -> LargeCounts:
        found = counting.recounted(table, tuple(columns), tuple(histograms))
        assert found is not None
        assert isinstance(found.table, CodedRows)
        made.append(LargeCounts(replace(found.table, room=room, most=700, threads=2), tuple(histograms)))
        return made[-1]

    monkeypatch.setattr(DuckDBEngine, "outgrown", outgrown)
    return made


CASES: list[tuple[tuple[str, ...], dict[str, Any]]] = [
    (("sex", "age", "postcode", "place"), {}),
    (("sex", "age", "occupation", "hobby"), {}),
    (("sex", "age", "occupation", "place"), {"privacy": [{"model": "k-anonymity", "k": 10}]}),
    (("sex", "age", "place"), {"release": {"suppression": 0.0}}),
    (("sex", "age", "place"), {"release": {"suppression": 0.2, "suppressed": "drop"}}),
    (("sex", "age"), {"privacy": [{"model": "t-closeness", "t": 0.3, "column": "diagnosis"}]}),
    (("age", "place"), {"method": {"name": "optimal", "parameters": {"metric": "geometric loss"}}}),
]


@pytest.mark.parametrize("room", [60_000, 10**7])
@pytest.mark.parametrize(("names", "changes"), CASES, ids=range(len(CASES)))
def test_releases_are_the_same(
    names: tuple[str, ...], changes: dict[str, Any], room: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, data = project(*names, **changes), people(3000, 5)
    whole = run(asked, data=data, folder=tmp_path, into=tmp_path / "whole", rng=3)
    made = small(monkeypatch, room)
    apart = run(asked, data=data, folder=tmp_path, into=tmp_path / "apart", rng=3)
    assert len(made) == 1
    assert apart.counts is made[0]
    assert whole.description == apart.description  # the digest of the file is among it
    assert whole.findings == apart.findings
    assert whole.file.read_bytes() == apart.file.read_bytes()
    assert recodings(whole) == recodings(apart)
    assert (len(whole.counts), whole.counts.total) == (len(apart.counts), apart.counts.total)


def recodings(done: Outcome) -> Any:
    """What lies beside a release, without how much work it was."""
    file = next(done.file.parent.rglob("recoding.json"))
    return json.loads(file.read_text(encoding="utf-8")), [
        {key: value for key, value in rule.info.items() if key != "lattice"} for rule in done.recodings
    ]


def test_what_needs_all_combinations_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = small(monkeypatch, 10**7)
    done = run(project("sex", "age"), data=people(300, 5), folder=tmp_path, into=tmp_path / "apart", rng=3)
    assert made
    for asked in (lambda: done.counts.codes, lambda: done.counts.weights, lambda: done.counts.project(["sex"])):
        with pytest.raises(TooLarge, match="combinations of 2 columns are more than memory may hold"):
            asked()


def test_other_methods_are_refused_with_what_would_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (counting, memory_limits):
        monkeypatch.setattr(module, "needed", lambda *_: 10**15)
    asked = project("sex", "age", method={"name": "datafly"})
    with pytest.raises(TooLarge, match=r"takes about .* GB.*or let 'optimal' decide.* takes about 0\.4 GB"):
        run(asked, data=people(300, 5), folder=tmp_path, into=tmp_path / "out")
    asked = project("sex", "age", source={"path": "people.parquet", "sampling_fraction": 0.5})
    with pytest.raises(TooLarge, match=r"or release a sample of the rows$"):
        run(asked, data=people(300, 5), folder=tmp_path, into=tmp_path / "out")


def test_tables_that_fit_are_held(tmp_path: Path) -> None:
    done = run(project("sex", "age"), data=people(300, 5), folder=tmp_path, into=tmp_path / "out", rng=3)
    assert not isinstance(done.counts, LargeCounts)


def test_what_would_take_hours_is_refused_unless_the_project_is_patient(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(vars(METHODS["datafly"]), "reach", 3)
    told: dict[str, Any] = {
        "columns": {"job": {"role": "quasi-identifier"}},
        "privacy": [{"model": "k-anonymity", "k": 2}],
        "method": {"name": "datafly"},
    }
    table = {"job": ["nurse", "clerk", "baker", "pilot"] * 3}
    with pytest.raises(
        TooSlow, match=r"4 different records would take 'datafly' .* such as 'mondrian'.*patient = true"
    ):
        run(Project.model_validate(told), data=table, folder=tmp_path, into=tmp_path / "first")
    assert not (tmp_path / "first").exists() or not list((tmp_path / "first").glob("*.csv"))
    patient = Project.model_validate({**told, "engine": {"patient": True}})
    assert run(patient, data=table, folder=tmp_path, into=tmp_path / "second").verification.ok
