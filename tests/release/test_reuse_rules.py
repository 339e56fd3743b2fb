"""Rules of an earlier release cover values they have not seen."""

from __future__ import annotations

import csv
import datetime
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.release.tables import project

from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import MissingValues
from keepsense.project.project_file import Column
from keepsense.recoding import Cut
from keepsense.release.again.drift import covering
from keepsense.release.run import Outcome, run
from keepsense.taxonomy.embedded_taxonomies import wordnet


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "fresh", "expected"),
    [
        ("numeric", (24, 31, 61), ("under 30", "30 to 39", "40 or more"), (3, 95), ("under 30", "40 or more")),
        ("numeric", ("24.5", "31.5"), ("20 to under 30", "30 or more"), ("29.9",), ("20 to under 30",)),
        ("numeric", (24, 61), ("20 to 29", "60 to 69"), (45, 95, 3), ("30 to 59", "70 or more", "under 20")),
        ("numeric", (4.5, 6.5), ("4 to under 5", "6 to under 7"), (5.5, 6.9), ("5 to under 6", "6 to under 7")),
        ("numeric", (24.5, 61.5), ("under 30", "60 or more"), (45.5,), ("30 to under 60",)),
        ("numeric", (0, 1), ("0", "1"), (2,), ("2 or more",)),
        ("numeric", (24, 61), ("*", "*"), (95,), ("*",)),
        ("numeric", (24, 61), (24, 61), (95,), (95,)),
        ("date", ("2008-09-22",), ("2008-09",), ("2026-01-31",), ("2026-01",)),
        ("date", ("2008-09-22",), ("2008 Q3",), ("2026-01-31",), ("2026 Q1",)),
        ("date", ("2008-09-22", "1909-01-01"), ("2000s", "before 1940"), ("1921-05-05",), ("before 1940",)),
        ("code", ("81667", "01069"), ("816**", "010**"), ("99425",), ("994**",)),
        ("code", ("A40", "A410"), ("A40*", "A41*"), ("B2", "C3499"), ("B2**", "C34*")),
        ("code", ("0001", "1301"), ("***1", "***1"), ("0987",), ("***7",)),
        ("nominal", ("nurse", "clerk"), ("*", "*"), ("pilot",), ("*",)),
        ("nominal", ("nurse", "clerk"), ("nurse", "clerk"), ("pilot",), ("pilot",)),
        ("ordinal", ("low", "high"), ("low to high", "low to high"), ("medium",), ("low to high",)),
    ],
)  # fmt: skip
def test_values_never_seen_are_told_by_the_rule(kind, inputs, outputs, fresh, expected) -> None:  # type: ignore[no-untyped-def]
    cut = Cut("column", inputs, outputs, 0 if inputs == outputs else 1)
    order = ["low", "medium", "high"] if kind == "ordinal" else None
    wider = covering(cut, (*inputs, *fresh), Column(kind=kind, order=order))
    assert wider.cut.outputs == (*outputs, *expected)
    assert wider.unknown == ()


def test_what_no_rule_tells_stays_unknown() -> None:
    ages = Cut("age", (24, 61), ("20 to 29", "30 or more"), 1)
    assert covering(ages, (29.5,), Column(kind="numeric")).unknown == (29.5,)
    assert covering(Cut("job", ("nurse",), ("medic",), 1), ("clerk",), Column()).unknown == ("clerk",)
    places = Cut("code", ("81667", "01069"), ("south", "east"), 1)
    assert covering(places, ("99425",), Column(kind="code")).unknown == ("99425",)


@pytest.mark.parametrize(
    ("level", "missing", "outputs", "expected"),
    [
        (1, "category", ("20 to 29",), None),
        (1, "wildcard", ("20 to 29",), None),
        (0, "category", (24,), None),
        (2, "category", ("*",), "*"),
    ],
)
def test_an_empty_cell_that_is_new(level: int, missing: Any, outputs: tuple[Any, ...], expected: str | None) -> None:
    wider = covering(Cut("age", (24,), outputs, level), (24, None), Column(kind="numeric", missing=missing))
    assert wider.cut.outputs == (*outputs, expected)


TEXT_TO_NUMBERS, NUMBERS_TO_TEXT = ("text", "numbers"), ("numbers", "text")


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "now", "expected", "retyped"),
    [
        ("numeric", ("24", "61"), ("20 to 29", "30 or more"), (24, 95), ("20 to 29", "30 or more"), TEXT_TO_NUMBERS),
        ("numeric", (24, 61), ("20 to 29", "30 or more"), ("24", "95"), ("20 to 29", "30 or more"), NUMBERS_TO_TEXT),
        ("code", ("81667", "01069"), ("816**", "010**"), (1069, 99425), ("010**", "994**"), TEXT_TO_NUMBERS),
        ("nominal", ("1", "2"), ("low", "high"), (1,), ("low",), TEXT_TO_NUMBERS),
        ("date", (datetime.date(2008, 9, 22),), ("2008",), ("2009-01-01",), ("2009",), ("dates", "text")),
    ],
)  # fmt: skip
def test_a_type_that_changed_is_named_and_values_are_matched(kind, inputs, outputs, now, expected, retyped) -> None:  # type: ignore[no-untyped-def]
    wider = covering(Cut("column", inputs, outputs, 1), now, Column(kind=kind))
    assert wider.retyped == retyped
    assert (wider.cut.inputs, wider.cut.outputs) == (now, expected)


# ---- whole releases -----------------------------------------------------------------------------------------------


def _write(folder: Path, rows: list[list[Any]]) -> None:
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _labels(outcome: Outcome, name: str) -> set[str]:
    with outcome.file.open(encoding="utf-8", newline="") as file:
        return {row[name] for row in csv.DictReader(file)}


def _recoding(outcome: Outcome, folder: Path) -> Path:
    return Path(shutil.copy(outcome.file.parent / "private" / "recoding.json", folder / "january.json"))


def test_an_age_of_95_next_month(tmp_path: Path) -> None:
    columns = {"age": {"role": "quasi-identifier", "kind": "numeric"}, "illness": {"role": "insensitive"}}
    job = project(columns=columns, method={"name": "optimal"}, privacy=[{"model": "k-anonymity", "k": 10}])
    people: list[list[Any]] = [["age", "illness"], *([20 + i % 41, "flu"] for i in range(200))]
    _write(tmp_path, people)
    january = _recoding(run(job, folder=tmp_path, rng=1), tmp_path)
    _write(tmp_path, [*people, [95, "flu"], [12, "flu"]])
    again = run(job, folder=tmp_path, rng=1, reuse=january)
    assert again.verification.ok
    assert [finding.code for finding in again.findings if finding.code.startswith("W42")] == ["W422"]
    assert any(label.startswith("under ") for label in _labels(again, "age"))
    assert any(label.endswith(" or more") for label in _labels(again, "age"))


JOBS = ("nurse", "surgeon", "dentist", "carpenter", "plumber", "baker")


def _jobs(folder: Path, **column: Any) -> tuple[Any, list[list[Any]], Path]:
    """January: jobs, generalized by WordNet below the top."""
    columns = {"job": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person", **column}}
    job = project(
        columns=columns,
        method={"name": "optimal"},
        privacy=[{"model": "k-anonymity", "k": 25}],
        release={"suppression": 0.05},
    )
    people: list[list[Any]] = [["job"], *([JOBS[i % 6]] for i in range(120))]
    _write(folder, people)
    done = run(job, folder=folder, rng=1)
    assert done.recodings[0].levels[0]  # type: ignore[union-attr]
    assert _labels(done, "job") != {"*"}
    return job, people, _recoding(done, folder)


def test_new_words_are_generalized_under_the_released_cut(tmp_path: Path) -> None:
    job, people, january = _jobs(tmp_path)
    _write(tmp_path, [*people, ["cardiologist"], ["stonemason"]])
    done = run(job, folder=tmp_path, rng=1, reuse=january)
    assert done.verification.ok
    cut = done.recodings[0].cuts[0]  # type: ignore[union-attr]
    told = dict(zip(cut.inputs, cut.outputs, strict=True))
    words = wordnet()
    for fresh in ("cardiologist", "stonemason"):
        label = told[fresh]
        assert label in {told[value] for value in JOBS}, "a label of the earlier release"
        assert words.is_a(fresh, cut.concepts[label]), (fresh, label)
    assert [finding.where for finding in done.findings if finding.code == "W422"] == ["job"]


def test_words_that_nothing_knows_are_refused_or_suppressed(tmp_path: Path) -> None:
    job, people, january = _jobs(tmp_path)
    _write(tmp_path, [*people, ["zxcvb"], ["zxcvb"], ["cardiologist"]])
    with pytest.raises(MissingValues, match=r"'job' has 1 value in 2 records.*--unknown suppress") as refused:
        run(job, folder=tmp_path, rng=1, reuse=january)
    assert refused.value.values == ("zxcvb",)
    assert "zxcvb" not in str(refused.value)
    done = run(job, folder=tmp_path, rng=1, reuse=january, unknown="suppress")
    assert done.verification.ok
    assert done.description["suppressed records"] == 2
    assert "zxcvb" not in done.file.read_text(encoding="utf-8")
    assert "W423" in {finding.code for finding in done.findings}
    with pytest.raises(BadInput, match="not 'guess'"):
        run(job, folder=tmp_path, reuse=january, unknown="guess")  # type: ignore[arg-type]
    # February's own recoding does not know the word either
    february = _recoding(done, tmp_path)
    with pytest.raises(MissingValues, match="'job' has 1 value in 2 records"):
        run(job, folder=tmp_path, rng=1, reuse=february)


def test_what_is_suppressed_stays_within_the_limit(tmp_path: Path) -> None:
    job, people, january = _jobs(tmp_path)
    _write(tmp_path, [*people, *([f"zxcvb{i}"] for i in range(20))])
    with pytest.raises(Infeasible, match="does not keep the promise"):
        run(job, folder=tmp_path, rng=1, reuse=january, unknown="suppress")


def test_rows_that_a_hierarchy_file_gained(tmp_path: Path) -> None:
    columns = {"job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"}}
    job = project(columns=columns, method={"name": "optimal"}, privacy=[{"model": "k-anonymity", "k": 25}])
    rows = [f"{name};{'medic' if at < 3 else 'maker'};*" for at, name in enumerate(JOBS)]
    (tmp_path / "jobs.csv").write_text("\n".join(rows), encoding="utf-8")
    people: list[list[Any]] = [["job"], *([JOBS[i % 6]] for i in range(120))]
    _write(tmp_path, people)
    january = _recoding(run(job, folder=tmp_path, rng=1), tmp_path)
    _write(tmp_path, [*people, ["tailor"]])
    with pytest.raises(MissingValues):
        run(job, folder=tmp_path, rng=1, reuse=january)
    (tmp_path / "jobs.csv").write_text("\n".join([*rows, "tailor;maker;*"]), encoding="utf-8")
    assert _labels(run(job, folder=tmp_path, rng=1, reuse=january), "job") == {"medic", "maker"}
    # a file that says something else of the values of January is not trusted with new ones
    moved = [row.replace("baker;maker", "baker;cook") for row in rows]
    (tmp_path / "jobs.csv").write_text("\n".join([*moved, "tailor;maker;*"]), encoding="utf-8")
    with pytest.raises(MissingValues):
        run(job, folder=tmp_path, rng=1, reuse=january)


def test_text_that_became_numbers_next_month(tmp_path: Path) -> None:
    columns = {"zip": {"role": "quasi-identifier", "kind": "code"}}
    job = project(columns=columns, method={"name": "optimal"}, privacy=[{"model": "k-anonymity", "k": 25}])
    codes = ["01067", "01069", "81667", "81675"] * 15
    january = _recoding(run(job, data={"zip": codes}, folder=tmp_path, rng=1), tmp_path)
    done = run(job, data={"zip": [*map(int, codes), 81699]}, folder=tmp_path, rng=1, reuse=january)
    assert done.verification.ok
    assert sorted(done.after.values_of("zip")) == ["010**", "816**"]
    assert [(f.code, f.where) for f in done.findings if f.code == "W421"] == [("W421", "zip")]
