"""Empty cells in every kind of column: every method takes them, as a value of their own or as one that fits any."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.release.tables import project
from tests.release.test_methods_by_name import CHANGES, PARAMETERS, PROMISES, SAFE

from keepsense.engines.protocol import engine
from keepsense.methods.method import methods
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.release.run import run
from keepsense.report.report import render

ROWS = 40
K = 3
JOBS = ("nurse", "surgeon", "baker", "clerk")
SIZES = ("small", "middle", "large")
LIKES = ("cat;dog", "dog;milk", "milk", "cat")


def typed_people() -> pa.Table:
    """A column of each kind and type, every one with empty cells, in rows of their own and together."""
    rng = np.random.default_rng(7)

    def gappy(cells: list[Any], first: int) -> list[Any]:
        return [None if i % 10 in (first, 9) else cell for i, cell in enumerate(cells)]

    ages = [20.0 + int(x) for x in rng.integers(0, 20, ROWS)]
    return pa.table(
        {
            "age": pa.array(gappy(ages, 0), pa.float64()),
            "born": pa.array(gappy([dt.date(1950 + i % 30, 3, 1 + i % 3) for i in range(ROWS)], 1), pa.date32()),
            "job": gappy([JOBS[i % 4] for i in range(ROWS)], 2),
            "size": gappy([SIZES[i % 3] for i in range(ROWS)], 3),
            "zip": gappy([str(70100 + 10 * (i % 5)) for i in range(ROWS)], 4),
            "likes": gappy([LIKES[i % 4] for i in range(ROWS)], 5),
            "illness": gappy([("flu", "cold", "asthma")[i % 3] for i in range(ROWS)], 6),
            "pay": pa.array(gappy([float(i % 9) for i in range(ROWS)], 7), pa.float64()),
        }
    )


COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "kind": "numeric"},
    "born": {"role": "quasi-identifier", "kind": "date"},
    "job": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person", "hierarchy": "auto"},
    "size": {"role": "quasi-identifier", "kind": "ordinal", "order": list(SIZES)},
    "zip": {"role": "quasi-identifier", "kind": "code"},
    "likes": {"role": "quasi-identifier", "kind": "set", "taxonomy": "wordnet"},
    "illness": {"role": "target"},
    "pay": {"role": "insensitive", "kind": "numeric"},
}


DRAWN_FROM_DECLARED = {"size": [*SIZES, ""]}  # as the error says: an empty text stands for empty cells
OPTIONS: dict[str, Any] = {
    "differential privacy": {"domains": DRAWN_FROM_DECLARED},
    "randomized response": {"domains": DRAWN_FROM_DECLARED},
    "mu-argus": {"strict": True},
}
FOR_SETS = {entry.name for entry in methods(in_projects=True) if entry.sets == "only"}
NOTHING_KNOWN = {None, "", "*"}


def columns_for(method: str, missing: str) -> dict[str, Any]:
    columns = {**COLUMNS, **CHANGES.get(method, {})}
    if method in FOR_SETS:
        columns |= {name: {"role": "insensitive"} for name in ("born", "zip")}
    if PROMISES.get(method, {}).get("model") == "differential privacy" or method == SAFE:
        columns |= {name: {"role": "identifier"} for name in ("born", "zip")}
    if "noise" in method or method in ("rank swapping of numbers", "optimal univariate microaggregation"):
        columns["zip"] = {"role": "insensitive"}  # nothing says how far codes are apart
    return {name: {**column, **further(column["role"], missing)} for name, column in columns.items()}


def further(role: str, missing: str) -> dict[str, Any]:
    """What is asked of a column here besides; what so few rows tell by themselves is accepted."""
    if role == "quasi-identifier":
        return {"missing": missing}
    return {} if role in ("identifier", "person") else {"accept": "identifying"}


def outcome(folder: Path, method: str, missing: str, name: str = "people.parquet") -> Any:
    job = project(
        source={"path": name},
        columns=columns_for(method, missing),
        privacy=[PROMISES.get(method, {"model": "k-anonymity", "k": K})],
        method={"name": method, "parameters": {**PARAMETERS.get(method, {}), **OPTIONS.get(method, {})}},
        release={"suppression": 0.5, "shuffle": method == SAFE},  # which refuses the order of the rows
    )
    return run(job, folder=folder, rng=1)


@pytest.mark.filterwarnings("ignore:.* protects each column by itself")
@pytest.mark.parametrize("missing", ["category", "wildcard"])
@pytest.mark.parametrize("method", sorted(entry.name for entry in methods(in_projects=True)))
def test_every_method_takes_empty_cells_of_every_kind(tmp_path: Path, method: str, missing: str) -> None:
    people = typed_people()
    pq.write_table(people, tmp_path / "people.parquet")
    (tmp_path / "sizes.csv").write_text("".join(f"{size};*\n" for size in SIZES), encoding="utf-8")
    done = outcome(tmp_path, method, missing)
    assert done.verification.ok
    released = pq.read_table(done.file)
    asked = [name for name in released.column_names if done.job.column(name).role == "quasi-identifier"]
    cells = {name: released.column(name).to_pylist() for name in asked}
    assert not {"nan", "none", "nat", "<na>"} & {str(cell).casefold() for column in cells.values() for cell in column
                                               if cell is not None}  # fmt: skip
    if done.job.method.truthful and method != SAFE and len(released) == ROWS:
        for name in [name for name in asked if done.job.column(name).kind != "set"]:
            # nothing is said of a cell that nobody knows but what holds for everybody
            known = NOTHING_KNOWN | set(done.job.hierarchies[name].labels[-1])
            was = people.column(name).to_pylist()
            assert {now for before, now in zip(was, cells[name], strict=True) if before is None} <= known
    if done.job.project.privacy[0]["model"] == "k-anonymity" and missing == "category":
        classes = Counter(zip(*cells.values(), strict=True))
        classes.pop(("*",) * len(asked), 0)
        assert min(classes.values(), default=K) >= K


# ---- models, formats, hierarchy files, measures ----------------------------------------------------------------------

ILL = {"column": "illness"}
MODELS: dict[str, list[dict[str, Any]]] = {
    "k-anonymity": [{"k": 3}],
    "l-diversity": [{"l": 2, "form": form, **more, **ILL} for form, more in
                    (("distinct", {}), ("entropy", {}), ("recursive", {"c": 3.0}))],
    "t-closeness": [{"t": 0.6, **ILL}, {"t": 0.6, "column": "pay"}],
    "(X,Y)-anonymity": [{"k": 2, "person": "who"}],
    "k-map": [{"k": 3}],
    "delta-presence": [{"lower": 0.0, "upper": 0.9}],
    "maximum risk": [{"threshold": 0.4}],
    "average risk": [{"threshold": 0.4}],
    "strict-average risk": [{"threshold": 0.4, "k": 2}],
    "estimated k-map": [{"k": 3, "fraction": 0.5}],
    "population uniqueness": [{"threshold": 0.5, "fraction": 0.5}],
    "beta-likeness": [{"beta": 9.0, "form": form, **ILL} for form in ("basic", "enhanced")],
    "delta-disclosure": [{"delta": 9.0, **ILL}],
    "(alpha,k)-anonymity": [{"alpha": 0.9, "k": 2, **ILL}],
}  # fmt: skip
OF_MECHANISMS = {
    "probabilistic k-anonymity", "k^m-anonymity", "k^m-anonymity of pieces", "differential privacy",
    "approximate differential privacy", "linkage risk",
}  # fmt: skip
"""Promises that the methods above are made for: every one of them is kept there, gaps or not."""
PLAIN = {name: column for name, column in COLUMNS.items() if name not in ("likes", "job", "pay", "illness")}
CASES = [{"model": name, **options} for name, forms in MODELS.items() for options in forms]


def test_every_model_is_tried_on_empty_cells() -> None:
    assert {*MODELS, *OF_MECHANISMS} == set(PRIVACY)
    assert {promise["model"] for promise in PROMISES.values()} >= OF_MECHANISMS


@pytest.mark.parametrize("missing", ["category", "wildcard"])
@pytest.mark.parametrize("promise", CASES, ids=lambda promise: "-".join(map(str, promise.values())))
def test_every_model_counts_empty_cells(tmp_path: Path, promise: dict[str, Any], missing: str) -> None:
    people = typed_people()
    people = people.append_column("who", pa.array([f"p{i % 25}" for i in range(ROWS)]))
    pq.write_table(people, tmp_path / "people.parquet")
    pq.write_table(pa.concat_tables([people, people]), tmp_path / "everybody.parquet")
    columns: dict[str, Any] = {name: {**column, "missing": missing} for name, column in PLAIN.items()}
    columns |= {"who": {"role": "person"}, "illness": {"role": "sensitive"}}
    columns |= {"pay": {"role": "sensitive", "kind": "numeric"}}
    if promise["model"] != "(X,Y)-anonymity":
        columns["who"] = {"role": "identifier"}
    job = project(
        source={"path": "people.parquet"},
        population={"path": "everybody.parquet"},
        columns=columns,
        unlisted="drop",
        privacy=[{"model": "k-anonymity", "k": 2}, promise] if promise["model"] != "k-anonymity" else [promise],
        method={"name": "optimal"},
        release={"suppression": 0.5},
    )
    done = run(job, folder=tmp_path, rng=1)
    assert done.verification.ok
    assert all(np.isfinite(figure) for figure in done.description["utility"].values() if isinstance(figure, float))


@pytest.mark.parametrize("ending", ["csv", "xlsx", "jsonl", "sqlite", "arrow", "parquet", "duckdb"])
@pytest.mark.parametrize("method", ["semantic mondrian", "local recoding", "anytime"])
def test_empty_cells_come_from_every_format(tmp_path: Path, method: str, ending: str) -> None:
    if ending == "xlsx":
        pytest.importorskip("openpyxl")
    name = f"people.{ending}"
    with engine() as running:
        running.write(running.read(typed_people()), tmp_path / name)
    done = outcome(tmp_path, method, "category", name)
    assert done.verification.ok


def test_a_hierarchy_file_needs_no_line_for_empty_cells(tmp_path: Path) -> None:
    pq.write_table(typed_people(), tmp_path / "people.parquet")
    (tmp_path / "jobs.csv").write_text("".join(f"{job};{job[0]};*\n" for job in JOBS), encoding="utf-8")
    for missing in ("category", "wildcard"):
        job = project(
            source={"path": "people.parquet"},
            columns={"job": {"role": "quasi-identifier", "hierarchy": "jobs.csv", "missing": missing}},
            unlisted="drop",
            method={"name": "optimal"},
        )
        done = run(job, folder=tmp_path, rng=1)
        cells = pq.read_table(done.file).column("job").to_pylist()
        assert {cell for cell in cells if cell not in JOBS} == {None}  # at the lowest level an empty cell stays empty


def test_every_measure_takes_a_table_with_empty_cells(tmp_path: Path) -> None:
    pq.write_table(typed_people(), tmp_path / "people.parquet")
    done = outcome(tmp_path, "semantic mondrian", "wildcard")
    page = render(done, alternatives=False)
    assert ">nan<" not in page.lower()
