"""The data dictionary beside the data, and a release opened by who receives it."""

from __future__ import annotations

import datetime
import json
import math
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.release.tables import project

import keepsense as ks
from keepsense.errors import BadInput
from keepsense.hierarchies.intervals import date_span, number_span
from keepsense.release.folder.recipient import _explained
from keepsense.release.run import Outcome, run
from keepsense.report.report import render

JOBS = [*["nurse"] * 30, *["surgeon"] * 28, *["dentist"] * 2, *["carpenter"] * 31, *["plumber"] * 29]


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    """People by age, job, birth and town; dentists are two, and nobody may learn of them."""
    folder = tmp_path_factory.mktemp("people")
    tree = {"nurse": "medic", "surgeon": "medic", "dentist": "medic", "carpenter": "maker", "plumber": "maker"}
    (folder / "jobs.csv").write_text("\n".join(f"{job};{kind};*" for job, kind in tree.items()), encoding="utf-8")
    columns = {
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
        "born": {"role": "quasi-identifier", "kind": "date"},
        "pay": {"role": "insensitive", "kind": "numeric", "width": 1000},
        "illness": {"role": "sensitive"},
    }
    data = {
        "age": [20 + 7 * i % 20 for i in range(120)],
        "job": JOBS,
        "born": [f"{1980 + i % 2}-0{1 + i % 2}-{11 + i % 3}" for i in range(120)],
        "pay": [1000 + 37 * (i * 43 % 120) for i in range(120)],
        "illness": [("flu", "cold")[i % 2] for i in range(120)],
    }
    job = project(
        columns=columns,
        method={"name": "optimal"},
        privacy=[{"model": "k-anonymity", "k": 8}],
        release={"suppression": 0.0, "file": "people.csv"},
    )
    return run(job, data=data, folder=folder, rng=1)


def test_every_released_column_is_explained(released: Outcome) -> None:
    told: dict[str, Any] = json.loads((released.file.parent / "release.json").read_text(encoding="utf-8"))["dictionary"]
    header = released.file.read_text(encoding="utf-8").splitlines()[0].split(",")
    assert list(told) == header
    assert told["pay"]["done"] == "in bands of 1000"
    assert told["illness"]["done"] == "as it was"
    for name in ("age", "job", "born"):
        after = {str(value) for value in released.after.values_of(name)}
        explained = {*told[name].get("labels", {}), *told[name].get("marks", {})}
        assert after <= explained or told[name]["done"] == "as it was", name


def test_a_label_tells_only_values_that_k_people_hold(released: Outcome) -> None:
    labels = released.description["dictionary"]["job"].get("labels", {})
    assert labels["medic"] == {"stands for": ["nurse", "surgeon"], "and others": True}
    assert labels["maker"] == {"stands for": ["carpenter", "plumber"], "and others": False}
    everything = [path for path in released.file.parent.iterdir() if path.is_file()]
    assert all("dentist" not in path.read_text(encoding="utf-8") for path in everything)


def test_the_public_report_shows_it(released: Outcome) -> None:
    page = render(released, "public")
    assert "What the columns mean" in page
    assert "stands for nurse, surgeon and others" in page
    assert "dentist" not in page


@pytest.mark.parametrize("library", ["pyarrow", "pandas", "polars", None])
def test_a_release_can_be_computed_with(released: Outcome, library: Any) -> None:
    rows = ks.read_release(released.file.parent, library)
    module = type(rows).__module__.split(".")[0]
    assert module == {None: "pandas"}.get(library, library)
    columns = {name: list(rows[name].to_pylist() if library == "pyarrow" else rows[name]) for name in _names(rows)}
    for label, low, high in zip(columns["age"], columns["age lower"], columns["age upper"], strict=True):
        assert number_span(label) == (_number(low), _number(high))
    assert {str(day)[:4] for day in columns["born lower"]} <= {"1980", "1981"}


def _number(end: float | None) -> float | None:
    return None if end is None or math.isnan(end) else end


def _names(rows: Any) -> list[str]:
    return list(rows.column_names if hasattr(rows, "column_names") else rows.columns)


def test_a_folder_that_holds_no_release_is_refused(tmp_path: Path, released: Outcome) -> None:
    with pytest.raises(BadInput, match="name a release folder"):
        ks.read_release(tmp_path)
    (tmp_path / "release.json").write_text("[1]", encoding="utf-8")
    with pytest.raises(BadInput, match="not the description of a release"):
        ks.read_release(tmp_path)
    shutil.copy(released.file.with_name("release.json"), tmp_path)
    with pytest.raises(BadInput, match="not in the folder"):
        ks.read_release(tmp_path)
    shutil.copy(released.file, tmp_path / "people.csv")
    assert len(ks.read_release(tmp_path, "pyarrow")) == len(ks.read_release(released.file.parent, "pyarrow"))
    with (tmp_path / "people.csv").open("a", encoding="utf-8") as file:
        file.write("\n")
    with pytest.raises(BadInput, match=r"not the file that release\.json describes"):
        ks.read_release(tmp_path)
    with pytest.raises(BadInput, match="not 'excel'"):
        ks.read_release(released.file.parent, "excel")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (("dictionary",), ["age"]),
        (("dictionary", "age"), 3),
        (("dictionary", "age", "kind"), ["numeric"]),
        (("dictionary", "age", "labels"), [["20 to 29"]]),
        (("dictionary", "age", "labels", "under 30"), None),
        (("dictionary", "age", "labels", "under 30"), {"concept": {"a": 1}}),
        (("dictionary", "age", "labels", "under 30"), {"lower": 10**400}),
        (("records",), 10**400),
        (("release",), "../secret.csv"),
        (("release",), "x" * 5000 + ".csv"),
        (("release",), "people\0.csv"),
        (("release",), 3),
        (("sha256",), {"a": 1}),
    ],
)
def test_a_description_by_somebody_else_is_refused_and_never_followed_out_of_the_folder(
    tmp_path: Path, released: Outcome, place: tuple[str, ...], value: Any
) -> None:
    shutil.copytree(released.file.parent, tmp_path / "received")
    shutil.copy(released.file, tmp_path / "secret.csv")
    path = tmp_path / "received" / "release.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    part = whole
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    path.write_text(json.dumps(whole), encoding="utf-8")
    with pytest.raises(BadInput, match=r"release\.json"):
        ks.read_release(tmp_path / "received", "pyarrow")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"dictionary": ' * 100_000, '{"release": ' + "9" * 10_000 + "}", "\\"]
)
def test_a_description_without_end_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "release.json").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match="not the description of a release"):
        ks.read_release(tmp_path)


def test_ends_that_no_calendar_has_and_lists_are_no_ends(tmp_path: Path, released: Outcome) -> None:
    import pyarrow as pa

    cells = {"born": ["9999-W52", "0000", None], "age": [[1], [2, 3], None], "born lower": ["a", "b", "c"]}
    dictionary = {
        name: {"role": "insensitive", "kind": kind, "done": "", "labels": {"x": {}}}
        for name, kind in (("born", "date"), ("age", "numeric"))
    }
    assert _explained(pa.table(cells), dictionary).to_pydict() == cells


def test_concepts_have_their_ids(tmp_path: Path) -> None:
    columns = {"job": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person"}}
    job = project(columns=columns, method={"name": "datafly"}, privacy=[{"model": "k-anonymity", "k": 40}])
    done = run(job, data={"job": JOBS}, folder=tmp_path, rng=1)
    rows = ks.read_release(done.file.parent, "pyarrow").to_pydict()
    words = ks.wordnet()
    told = done.description["dictionary"]["job"]
    assert told["taxonomy"] == done.job.taxonomy("job").name
    for label, concept in zip(rows["job"], rows["job concept"], strict=True):
        assert words.label(concept) == label.split("#")[0]


@pytest.mark.parametrize(
    ("label", "ends"),
    [
        ("2000s (century)", (datetime.date(2000, 1, 1), datetime.date(2099, 12, 31))),
        ("1960 to 1979", (datetime.date(1960, 1, 1), datetime.date(1979, 12, 31))),
        ("2010 or later", (datetime.date(2010, 1, 1), None)),
        ("2008-13", None),
        ("medic", None),
        (None, None),
    ],
)
def test_ends_of_calendar_spans(label: Any, ends: Any) -> None:
    assert date_span(label) == ends


def test_ends_of_bands() -> None:
    assert number_span("under 20") == (None, 20.0)
    assert number_span(float("nan")) is None
