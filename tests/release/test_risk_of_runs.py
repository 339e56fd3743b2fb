"""Who lives together, and which share of everybody is in the table: risks that these tell, before and after."""

from __future__ import annotations

import csv
import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.release.tables import project

from keepsense.errors import BadInput
from keepsense.project.project_file import check_project
from keepsense.release.figures.assess import assess
from keepsense.release.run import run

COLUMNS: dict[str, Any] = {
    "row": {"role": "insensitive", "kind": "numeric", "accept": "identifying"},
    "home": {"role": "household"},
    "age": {"role": "quasi-identifier", "kind": "numeric"},
    "job": {"role": "quasi-identifier"},
    "illness": {"role": "sensitive"},
}
HIGHEST, AVERAGE = "household risk, highest", "household risk, average"


def write_people(folder: Path) -> list[dict[str, str]]:
    rng = np.random.default_rng(3)
    rows = [
        {
            "row": str(i),
            "home": f"h{int(rng.integers(25))}",
            "age": str(20 + int(rng.integers(8))),
            "job": ("nurse", "clerk", "baker")[int(rng.integers(3))],
            "illness": ("flu", "cold", "gout")[i % 3],
        }
        for i in range(90)
    ]
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return rows


def by_counting(rows: list[dict[str, str]], home_of: dict[str, str]) -> tuple[float, float]:
    """Of every household one minus the chance that nobody is found, each being one of those who look alike."""
    alike = Counter((row["age"], row["job"]) for row in rows)
    nobody: dict[str, float] = defaultdict(lambda: 1.0)
    for row in rows:
        nobody[home_of[row["row"]]] *= 1 - 1 / alike[row["age"], row["job"]]
    found = [1 - nobody[home_of[row["row"]]] for row in rows]
    return max(found), sum(found) / len(found)


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("method", ["optimal", "mondrian", "local recoding"])
def test_households_are_measured_before_and_after(tmp_path: Path, method: str) -> None:
    before = write_people(tmp_path)
    home_of = {row["row"]: row["home"] for row in before}
    done = run(
        project(columns=COLUMNS, privacy=[{"model": "k-anonymity", "k": 4}], method={"name": method}),
        folder=tmp_path,
        rng=1,
    )
    told = json.loads((done.file.parent / "release.json").read_text(encoding="utf-8"))["risk"]
    released = rows_of(done.file)
    assert "home" not in released[0]
    for when, rows in (("before", before), ("after", released)):
        highest, average = by_counting(rows, home_of)
        assert (told[when][HIGHEST], told[when][AVERAGE]) == pytest.approx((highest, average), rel=1e-6)
    assert told["after"][AVERAGE] < told["before"][AVERAGE]
    # to be found with one's household is at least as likely as to be found alone
    assert told["after"][AVERAGE] > told["after"]["prosecutor, average"]


def test_people_of_several_rows_are_one_of_their_household(tmp_path: Path) -> None:
    """Twenty people with their own job; each alone, and twice in the table: nobody is found twice."""
    lines = ["who,home,job"]
    for i in range(20):
        lines += [f"p{i},h{i // 2},job {i % 4}"] * 2
    (tmp_path / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns = {"who": {"role": "person"}, "home": {"role": "household"}, "job": {"role": "quasi-identifier"}}
    promise = {"model": "(X,Y)-anonymity", "k": 5, "person": "who"}
    done = run(project(columns=columns, privacy=[promise]), folder=tmp_path, rng=1)
    told = done.description["risk"]["after"]
    assert (told[HIGHEST], told[AVERAGE]) == pytest.approx((1 - (1 - 1 / 5) ** 2,) * 2)


def test_without_the_role_nothing_is_told_of_households(tmp_path: Path) -> None:
    write_people(tmp_path)
    columns = {**COLUMNS, "home": {"role": "identifier"}}
    done = run(project(columns=columns, privacy=[{"model": "k-anonymity", "k": 4}]), folder=tmp_path, rng=1)
    assert not {HIGHEST, AVERAGE} & {*done.description["risk"]["before"], *done.description["risk"]["after"]}


def test_a_sampling_fraction_tells_the_risks_that_assess_tells(tmp_path: Path) -> None:
    """By every estimate, without a column of weights; a promise that names a fraction goes before."""
    write_people(tmp_path)
    source = {"path": "people.csv", "sampling_fraction": 0.2}
    promise = {"model": "k-anonymity", "k": 4}
    done = run(project(columns=COLUMNS, source=source, privacy=[promise]), folder=tmp_path, rng=1)
    expected = assess(tmp_path / "people.csv", done.file, ["age", "job"], sampling_fraction=0.2).risk
    estimates = [name for name in expected["before"] if name.startswith(("unique in the population, ", "individual"))]
    assert len(estimates) == 6
    for when in ("before", "after"):
        for name in estimates:
            assert done.description["risk"][when][name] == pytest.approx(expected[when][name], rel=1e-6), name
    rare = {"model": "population uniqueness", "threshold": 0.9, "fraction": 0.5}
    other = run(project(columns=COLUMNS, source=source, privacy=[promise, rare]), folder=tmp_path, rng=1)
    risks = [outcome.description["risk"]["before"]["individual risk, average"] for outcome in (done, other)]
    assert risks[0] < risks[1]


def test_the_population_is_no_sample_of_itself() -> None:
    data = {"population": {"path": "all.csv", "sampling_fraction": 0.5}, "privacy": [{"model": "k-anonymity", "k": 4}]}
    with pytest.raises(BadInput, match=r"put it into \[source\]"):
        check_project(data)
    with pytest.raises(BadInput, match="sampling_fraction"):
        check_project({"source": {"path": "people.csv", "sampling_fraction": 1.5}, "privacy": data["privacy"]})


def test_a_table_has_one_column_of_households() -> None:
    columns = {**COLUMNS, "row": {"role": "household"}}
    with pytest.raises(BadInput, match="only one column can have the role household"):
        check_project({"columns": columns, "privacy": [{"model": "k-anonymity", "k": 4}]})
