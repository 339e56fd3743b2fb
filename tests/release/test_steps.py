"""Steps before the method: recoding by hand, coding of extremes, noise and sampling, with one promise at the end."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from rich.console import Console

from keepsense.commands.run_command import render
from keepsense.engines.protocol import engine
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_builder import coarser
from keepsense.methods.method import methods
from keepsense.project.project_file import Project, check_project, json_schema
from keepsense.release.reopen import reopen
from keepsense.release.run import run
from keepsense.release.verify import verify_file
from keepsense.report.report import write_report

TOWNS = {"Oslo": "Norway", "Bergen": "Norway", "Paris": "France", "Lyon": "France", "Cairo": "Egypt", "Giza": "Egypt"}
AREAS = {"Norway": "Europe", "France": "Europe", "Egypt": "Africa"}
SAMPLE = {"name": "sampling", "parameters": {"share": 0.5}}
CODED = {"name": "top and bottom coding", "columns": ["age"], "parameters": {"top": 60}}
BY_HAND = {"name": "global recoding", "columns": ["town"], "parameters": {"level": 1}}
NOISE = {"name": "noise on numbers", "columns": ["pay"], "parameters": {"alpha": 0.3, "correlated": False}}


@pytest.fixture
def room(tmp_path: Path) -> Path:
    rng = np.random.default_rng(7)
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["who", "age", "town", "pay", "illness"])
        for i in range(200):
            town = list(TOWNS)[int(rng.integers(6))]
            pay = 1000 + 100 * int(rng.integers(12))
            table.writerow([f"p{i // 2}", 20 + int(rng.integers(60)), town, pay, ("flu", "cold", "gout")[i % 3]])
    tree = "\n".join(f"{town};{land};{AREAS[land]};*" for town, land in TOWNS.items())
    (tmp_path / "towns.csv").write_text(tree + "\n", encoding="utf-8")
    return tmp_path


def project(**changes: Any) -> Project:
    data: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "columns": {
            "who": {"role": "identifier"},
            "age": {"role": "quasi-identifier", "kind": "numeric"},
            "town": {"role": "quasi-identifier", "hierarchy": "towns.csv"},
            "pay": {"role": "insensitive", "kind": "numeric"},
            "illness": {"role": "sensitive"},
        },
        "privacy": [{"model": "k-anonymity", "k": 5}],
        "release": {"suppression": 0.05},
    }
    return check_project({**data, **changes})


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_recoding_by_hand_then_optimal_then_noise_keep_one_promise(room: Path) -> None:
    done = run(project(steps=[CODED, BY_HAND, NOISE]), folder=room, rng=3)
    rows = rows_of(done.file)
    classes = Counter((row["age"], row["town"]) for row in rows)
    assert done.verification.ok
    assert min(classes.values()) >= 5
    assert {row["town"] for row in rows} <= {*AREAS, *AREAS.values(), "*"}
    before = Counter(row["pay"] for row in rows_of(room / "people.csv"))
    assert Counter(row["pay"] for row in rows) != before
    assert len(rows) >= 190


def test_a_run_shows_the_steps_and_from_where_figures_count(room: Path) -> None:
    done = run(project(steps=[CODED, NOISE]), folder=room, rng=3)
    text = io.StringIO()
    render(Console(file=text, width=120), done)
    shown = text.getvalue()
    lines = [line.split() for line in shown.splitlines()]
    assert ["noise", "on", "numbers", "pay", "200"] in lines
    assert any(
        line[:6] == ["top", "and", "bottom", "coding", "age", "200"] and line[-1].endswith("%") for line in lines
    )
    assert (
        shown.index("Steps before the method") < shown.index("Before means after these steps") < shown.index("Risk of")
    )
    plain = io.StringIO()
    render(Console(file=plain, width=120), run(project(release={"folder": "plain"}), folder=room, rng=3))
    assert "Steps before" not in plain.getvalue()


def test_the_description_the_dictionary_and_the_report_tell_the_steps(room: Path) -> None:
    done = run(project(steps=[CODED, BY_HAND, NOISE]), folder=room, rng=3)
    told = json.loads((done.file.parent / "release.json").read_text(encoding="utf-8"))
    assert [step["name"] for step in told["steps"]] == ["top and bottom coding", "global recoding", "noise on numbers"]
    rows = rows_of(room / "people.csv")
    # every town becomes one of two of its land: each row loses (2 - 1) / (6 - 1)
    assert told["steps"][1]["lost"] == {"town": 0.2}
    old = [int(row["age"]) for row in rows if int(row["age"]) >= 60]
    assert told["steps"][0]["lost"]["age"] == round(
        len(old) * (len(set(old)) - 1) / (200 * (len({row["age"] for row in rows}) - 1)), 3
    )
    assert told["dictionary"]["pay"]["done"] == "noise on numbers by a step"
    assert "not what each record had" in told["dictionary"]["pay"]["truth"]
    assert told["dictionary"]["town"]["done"].startswith("global recoding by a step")
    page = write_report(done, room / "report.html", alternatives=False).read_text(encoding="utf-8")
    assert "step before the method" in page
    assert "noise on numbers on pay" in page


def test_values_above_the_top_stay_together_and_are_true(room: Path) -> None:
    done = run(project(steps=[CODED]), folder=room, rng=3)
    truth = Counter(row["illness"] for row in rows_of(room / "people.csv"))
    assert sum(Counter(row["illness"] for row in rows_of(done.file)).values()) <= sum(truth.values())
    ages = {row["age"] for row in rows_of(done.file)}
    assert not any(label.isdigit() and int(label) >= 60 for label in ages)


def test_a_sample_is_drawn_before_anything_is_counted(room: Path) -> None:
    done = run(project(steps=[SAMPLE]), folder=room, rng=3)
    rows = rows_of(done.file)
    assert 90 <= len(rows) <= 100
    assert done.description["steps"][0]["rows"] == 100
    assert done.description["suppressed records"] <= 5
    source = Counter((row["pay"], row["illness"]) for row in rows_of(room / "people.csv"))
    assert not Counter((row["pay"], row["illness"]) for row in rows) - source


def test_every_row_is_as_likely_to_be_drawn(room: Path) -> None:
    from keepsense.release.job.job import Job

    drawn: Counter[str] = Counter()
    with engine() as rows:
        for seed in range(60):
            job = Job(project(steps=[SAMPLE]), room, rows, np.random.default_rng(seed))
            drawn.update(job.count(["pay"]).rows_of("pay"))
    rows_before = Counter(row["pay"] for row in rows_of(room / "people.csv"))
    for pay, number in rows_before.items():
        # a share of one half of each value; 60 draws of `number` rows vary by less than six deviations
        assert abs(drawn[pay] - 30 * number) < 6 * (60 * number / 4) ** 0.5


def test_people_are_drawn_with_all_their_rows(room: Path) -> None:
    columns = {**project().model_dump()["columns"], "who": {"role": "person"}}
    job = project(columns=columns, steps=[SAMPLE], privacy=[{"model": "(X,Y)-anonymity", "k": 2, "person": "who"}])
    from keepsense.release.job.job import Job

    with engine() as rows:
        counts = Job(job, room, rows, np.random.default_rng(1)).count(["who"])
    assert len(counts) == 50
    assert set(counts.weights.tolist()) == {2}


def test_typed_columns_keep_their_types(room: Path) -> None:
    people = pl.read_csv(room / "people.csv").drop("town")
    columns = {name: column for name, column in project().model_dump()["columns"].items() if name != "town"}
    job = project(columns=columns, steps=[SAMPLE], release={"file": "out.parquet", "suppression": 0.2}, source=None)
    done = run(job, data=people, folder=room, rng=2)
    assert pl.read_parquet(done.file).schema["pay"] == pl.Int64


def test_a_release_with_steps_that_draw_can_be_verified_again(room: Path) -> None:
    job = project(steps=[SAMPLE, CODED, BY_HAND, NOISE])
    done = run(job, folder=room, rng=3)
    assert verify_file(job, done.file, folder=room)[0].ok
    rows = rows_of(done.file)
    rows[0]["illness"] = "plague"
    with (room / "forged.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    assert not verify_file(job, room / "forged.csv", folder=room)[0].ok
    with pytest.raises(BadInput, match="draws anew"):
        reopen(job, folder=room)


def test_a_release_with_steps_that_do_not_draw_can_be_opened_again(room: Path) -> None:
    job = project(steps=[CODED, BY_HAND])
    done = run(job, folder=room, rng=3)
    assert reopen(job, folder=room).description["steps"] == json.loads(json.dumps(done.description["steps"]))


def test_a_promise_that_noise_breaks_stops_the_release(room: Path) -> None:
    close = {"model": "l-diversity", "form": "distinct", "l": 2, "column": "pay"}
    same = {"name": "individual ranking", "columns": ["pay"], "parameters": {"k": 200}}
    columns = {**project().model_dump()["columns"]}
    columns["pay"] = {**columns["pay"], "role": "sensitive"}
    with pytest.raises(Infeasible):
        run(project(columns=columns, privacy=[close], steps=[same]), folder=room, rng=1)


@pytest.mark.parametrize(
    ("steps", "changes", "message"),
    [
        ([{"name": "optimal"}], {}, "step 1: 'optimal' is no step"),
        ([SAMPLE, {**NOISE, "columns": ["age"]}], {}, "step 2: noise on numbers changes values"),
        ([{**NOISE, "columns": ["payy"]}], {}, "Did you mean pay"),
        ([{**CODED, "columns": ["who"]}], {}, "role identifier"),
        ([{**CODED, "columns": []}], {}, "name the columns"),
        ([{**SAMPLE, "columns": ["pay"]}], {}, "changes no column"),
        ([{**BY_HAND, "parameters": {"level": 3}}], {}, "levels below the top are 1 to 2"),
        ([{**BY_HAND, "parameters": {"labels": ["Norwy"]}}], {}, "Did you mean Norway"),
        ([{**BY_HAND, "parameters": {"labels": ["Norway", "Europe"]}}], {}, "'Norway' lies below 'Europe'"),
        ([{**BY_HAND, "parameters": {}}], {}, "either the level"),
        ([BY_HAND], {"population": {"path": "people.csv"}}, "population"),
        ([SAMPLE], {"privacy": [{"model": "differential privacy", "epsilon": 1.0}]}, "no budget accounts for them"),
    ],
)
def test_steps_that_make_no_sense_are_refused(room: Path, steps: Any, changes: Any, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        run(project(steps=steps, **changes), folder=room)


def test_a_sample_of_weighted_rows_is_refused(room: Path) -> None:
    columns = {**project().model_dump()["columns"], "pay": {"role": "weight"}}
    with pytest.raises(BadInput, match="how many people each row stands for"):
        run(project(columns=columns, steps=[SAMPLE]), folder=room)


def test_labels_of_a_column_are_a_cut_of_its_hierarchy(room: Path) -> None:
    step = {**BY_HAND, "parameters": {"labels": ["Africa", "Norway"]}}
    done = run(project(steps=[step], privacy=[{"model": "k-anonymity", "k": 2}]), folder=room, rng=1)
    towns = set(done.job.counts.values_of("town"))
    assert towns == {"Africa", "Norway", "Paris", "Lyon"}
    assert done.job.hierarchies["town"].rows() == [
        ("Norway", "Norway", "Europe", "*"),
        ("Paris", "France", "Europe", "*"),
        ("Lyon", "France", "Europe", "*"),
        ("Africa", "Africa", "Africa", "*"),
    ]


def test_what_lies_above_a_label_is_true_of_all_it_stands_for() -> None:
    """Against the definition: at each level the label of the lowest level that all values behind a label share."""
    rng = np.random.default_rng(11)
    for _ in range(30):
        codes = [(f"v{i}", f"a{i // 2}", f"b{i // 4}", f"c{i // 8}", "*") for i in range(16)]
        tree = Hierarchy.of_rows(codes)
        outputs = {leaf: f"g{rng.integers(6)}" for leaf in tree.leaves}
        made = {row[0]: row for row in coarser(tree, outputs).rows()}
        for name, row in made.items():
            behind = [way for way in codes if outputs[way[0]] == name]
            for label in row[1:]:
                assert all(label in way for way in behind)
            lowest = next(level for level in range(1, 5) if len({way[level] for way in behind}) == 1)
            assert row[1] == behind[0][lowest]


def test_the_schema_proposes_the_steps_that_there_are() -> None:
    names = json_schema()["$defs"]["Step"]["properties"]["name"]["anyOf"][0]["enum"]
    assert names == sorted(found.name for found in methods() if found.as_step)
    assert {"sampling", "global recoding", "top and bottom coding", "noise on numbers"} <= set(names)
    assert "optimal" not in names
    with pytest.raises(BadInput, match="Did you mean columns"):
        check_project({"steps": [{"name": "sampling", "colums": []}], "privacy": [{"model": "k-anonymity", "k": 2}]})


@pytest.mark.parametrize("method", ["optimal", "mondrian", "microaggregation of records"])
def test_typed_numbers_that_a_step_made_coarser_go_through_methods(room: Path, method: str) -> None:
    people = pl.read_csv(room / "people.csv").drop("town")
    columns = {name: column for name, column in project().model_dump()["columns"].items() if name != "town"}
    release = {"file": "out.parquet", "suppression": 0.1}
    job = project(columns=columns, steps=[CODED], release=release, source=None, method={"name": method})
    done = run(job, data=people, folder=room, rng=2)
    assert done.verification.ok
    assert done.job.column("age").kind == "ordinal"
    assert done.job.hierarchies["age"].leaves[-1] == "60 or more"


def test_a_step_may_be_done_in_blocks(room: Path) -> None:
    """As a method may: whoever runs the blocks, each value comes out in k rows at least."""
    averaged = {"name": "microaggregation of records", "columns": ["pay"], "parameters": {"k": 3, "block": 6}}
    done = run(project(steps=[averaged]), folder=room, rng=1)
    pays = Counter(row["pay"] for row in rows_of(done.file))
    before = Counter(row["pay"] for row in rows_of(room / "people.csv"))
    assert done.verification.ok
    assert min(pays.values()) >= 3
    assert set(pays) != set(before)
