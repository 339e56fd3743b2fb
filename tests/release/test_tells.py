"""What a release must not tell: columns released as they are, and how they are made coarser."""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import keepsense as ks
from keepsense.counts import Counts
from keepsense.engines.protocol import engine
from keepsense.errors import BadInput, Infeasible
from keepsense.project.coarse_columns import bands, fitting_width
from keepsense.project.project_file import Project, read_project
from keepsense.release.figures import alternatives
from keepsense.release.figures.measure import measured_for_report, measured_risk
from keepsense.release.figures.tells import _guessed, _pairs, _unseen
from keepsense.release.folder.place import digest_of, place_of
from keepsense.release.job.job import Job
from keepsense.release.run import run
from keepsense.release.verify import verify_file
from keepsense.report.report import render
from keepsense.secure_random import generator
from keepsense.utility.recoded_table import Pairs


def released(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(folder: Path, columns: Mapping[str, list[Any]]) -> None:
    rows = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (folder / "people.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def asking(columns: dict[str, dict[str, Any]], k: int = 5, **sections: Any) -> Project:
    return Project.model_validate(
        {
            "source": {"path": "people.csv"},
            "columns": columns,
            "privacy": [{"model": "k-anonymity", "k": k}],
            **sections,
        }
    )


def paid(rows: int = 200) -> dict[str, list[Any]]:
    rng = np.random.default_rng(3)
    pay = [f"{value:.2f}" for value in rng.uniform(18_000, 79_000, rows - 1)]
    return {"sex": ["f", "m"] * (rows // 2), "pay": [*pay, "9412377"]}


# ---- in bands --------------------------------------------------------------------------------------------------------


def test_a_sensitive_number_is_released_in_open_ended_bands_that_tell_no_extreme(tmp_path: Path) -> None:
    write(tmp_path, paid())
    columns = {"sex": {"role": "quasi-identifier"}, "pay": {"role": "sensitive", "kind": "numeric", "width": 10_000}}
    asked = asking(columns, privacy=[{"model": "l-diversity", "l": 3, "column": "pay"}])
    done = run(asked, folder=tmp_path, rng=1)
    labels = Counter(row["pay"] for row in released(done.file))
    assert set(labels) == {
        "under 20000",
        *(f"{start} to under {start + 10_000}" for start in range(20_000, 70_000, 10_000)),
        "70000 or more",
    }
    assert min(labels["under 20000"], labels["70000 or more"]) >= 5
    assert done.description["columns"]["pay"]["width"] == 10_000
    assert "9412377" not in (done.file.parent / "release.json").read_text()
    assert verify_file(asked, done.file, folder=tmp_path)[0].ok


def test_a_column_that_is_no_quasi_identifier_is_released_at_a_level_of_its_hierarchy(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f", "m"] * 10, "seen": [f"2024-{1 + i % 3:02}-{1 + i:02}" for i in range(20)]})
    columns = {"sex": {"role": "quasi-identifier"}, "seen": {"kind": "date", "level": 1}}
    rows = released(run(asking(columns), folder=tmp_path, rng=1).file)
    assert {row["seen"] for row in rows} == {"2024-01", "2024-02", "2024-03"}


def test_a_level_that_the_hierarchy_does_not_have_is_refused(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f", "m"] * 10, "seen": ["2024-01-05", "2024-02-05"] * 10})
    columns = {"sex": {"role": "quasi-identifier"}, "seen": {"kind": "date", "level": 9}}
    with pytest.raises(BadInput, match="at level 9 of its hierarchy"):
        run(asking(columns), folder=tmp_path)


@pytest.mark.parametrize(
    ("column", "complaint"),
    [
        ({"role": "quasi-identifier", "kind": "numeric", "width": 10}, "not for the role quasi-identifier"),
        ({"role": "identifier", "level": 1}, "not for the role identifier"),
        ({"role": "sensitive", "level": 1, "width": 10}, "not both"),
    ],
)
def test_bands_are_for_columns_that_are_released_as_they_are_otherwise(column: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        asking({"pay": column})


def test_words_have_no_bands(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f", "m"] * 10, "pay": ["much", "little"] * 10})
    columns = {"sex": {"role": "quasi-identifier"}, "pay": {"role": "sensitive", "width": 10}}
    with pytest.raises(BadInput, match="holds a value that is no number"):
        run(asking(columns), folder=tmp_path)


@given(
    st.dictionaries(st.integers(-100_000, 100_000), st.integers(1, 4), min_size=1, max_size=20),
    st.sampled_from([0.05, 0.3, 1, 2.5, 100]),
    st.integers(1, 6),
)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_every_band_holds_its_numbers_and_enough_rows(hundredths: dict[int, int], width: float, least: int) -> None:
    rows: dict[Any, int] = {f"{number / 100:.2f}": times for number, times in hundredths.items()}
    held: Counter[object] = Counter()
    for value, label in bands(rows, width, least=least).items():
        number, text = float(str(value)), str(label)
        ends = re.findall(r"-?\d+(?:\.\d+)?", text)
        if text.startswith("under"):
            assert number < float(ends[0])
        elif text.endswith("or more") or text.startswith("at least"):
            assert number >= float(ends[0])
        elif " to " in text:
            low, high = map(float, ends)
            whole = "under" not in text
            assert low <= number <= high if whole else low <= number < high
            assert (high + whole - low) / width == pytest.approx(round((high + whole - low) / width))
        else:
            assert text == "*" or (width == 1 and number == float(text))
        held[text] += rows[value]
    assert set(held) == {"*"} or all(number >= least for number in held.values())


def test_a_proposed_width_is_round_and_looks_past_extremes() -> None:
    pay = dict.fromkeys(range(20_000, 60_000, 100), 1) | {9_412_377: 1}
    assert fitting_width(pay) == 5_000
    assert fitting_width({0.01 * i: 1 for i in range(100)}) == 0.1


# ---- columns that identify by themselves -----------------------------------------------------------------------------

SEX = {"role": "quasi-identifier"}


def test_a_nearly_unique_column_stops_the_run_before_anything_is_written(tmp_path: Path) -> None:
    write(tmp_path, paid())
    with pytest.raises(Infeasible, match="E401 pay: whoever knows its value finds 100% of the people") as stopped:
        run(asking({"sex": SEX, "pay": {"role": "sensitive", "kind": "numeric"}}), folder=tmp_path)
    assert "width" in stopped.value.relax[0]
    assert not (tmp_path / "release").exists()
    assert "9412377" not in str(stopped.value)


def test_what_the_project_file_accepts_is_released_with_its_figure(tmp_path: Path) -> None:
    write(tmp_path, paid())
    columns = {"sex": SEX, "pay": {"role": "sensitive", "kind": "numeric", "accept": "identifying"}}
    done = run(asking(columns), folder=tmp_path, rng=1)
    assert [finding.where for finding in done.findings if finding.code == "W409"] == ["pay"]
    assert done.description["columns"]["pay"]["found by it alone"] == 1.0
    assert "people found by it alone" in render(done, "public")


def test_a_column_that_finds_more_than_half_of_the_people_stops_the_run(tmp_path: Path) -> None:
    """Pairs share each value, which finds half of the people; where some are alone it finds more."""
    columns = {"sex": SEX, "seen": {"role": "insensitive"}}
    write(tmp_path, {"sex": ["f", "m"] * 60, "seen": [f"d{i // 2}" for i in range(120)]})
    assert run(asking(columns), folder=tmp_path, rng=1).description["columns"]["seen"]["found by it alone"] == 0.5
    write(tmp_path, {"sex": ["f", "m"] * 60, "seen": [f"d{max(i // 2, i - 50)}" for i in range(120)]})
    with pytest.raises(Infeasible, match=r"E401 seen: whoever knows its value finds 58\.3% of the people"):
        run(asking(columns), folder=tmp_path)


def test_people_are_counted_not_rows_where_they_have_several(tmp_path: Path) -> None:
    """Four rows with each value are of one person: that person is found."""
    write(tmp_path, {"who": [f"p{i // 4}" for i in range(80)], "sex": ["f"] * 80, "ward": [i // 4 for i in range(80)]})
    columns = {"who": {"role": "person"}, "sex": SEX, "ward": {}}
    promise = [{"model": "(X,Y)-anonymity", "k": 3, "person": "who"}]
    with pytest.raises(Infeasible, match="E401 ward: whoever knows its value finds 100% of the people"):
        run(asking(columns, privacy=promise), folder=tmp_path)


def by_occupation(noise: int) -> dict[str, list[Any]]:
    """Pay by occupation, with `noise` of a hundred people paid as another one is."""
    jobs = ["nurse", "surgeon", "clerk", "baker"]
    rows = [(jobs[i % 4], 1000 * (1 + (i + (i // 4 % 100 < noise)) % 4)) for i in range(400)]
    return {"job": [job for job, _ in rows], "pay": [pay for _, pay in rows]}


def hiding(folder: Path) -> dict[str, Any]:
    pairs = {"nurse": "a", "surgeon": "a", "clerk": "b", "baker": "b"}
    (folder / "jobs.csv").write_text("".join(f"{job};{kind};*\n" for job, kind in pairs.items()))
    return {"role": "quasi-identifier", "hierarchy": "jobs.csv"}


def test_a_column_that_tells_a_hidden_quasi_identifier_stops_the_run(tmp_path: Path) -> None:
    write(tmp_path, by_occupation(noise=10))
    columns = {"job": hiding(tmp_path), "pay": {"role": "sensitive", "kind": "numeric"}}
    with pytest.raises(Infeasible, match="E402 pay: it tells 90% of the values of job that were hidden, where 50%"):
        run(asking(columns, k=150), folder=tmp_path)
    assert not (tmp_path / "release").exists()
    columns["pay"]["accept"] = "identifying"
    done = run(asking(columns, k=150), folder=tmp_path, rng=1)
    assert done.description["columns"]["pay"]["tells"] == {"job": 0.9}
    assert "W410" in {finding.code for finding in done.findings}


def test_a_column_that_tells_little_or_of_what_is_shown_anyway_goes_through(tmp_path: Path) -> None:
    write(tmp_path, by_occupation(noise=50))
    columns = {"job": hiding(tmp_path), "pay": {"role": "sensitive", "kind": "numeric"}}
    assert run(asking(columns, k=150), folder=tmp_path, rng=1).verification.ok
    write(tmp_path, by_occupation(noise=0))
    assert run(asking(columns, k=5), folder=tmp_path, rng=1).verification.ok  # no job is hidden


def test_the_front_door_stops_too_and_takes_bands_or_acceptance() -> None:
    table = {**paid(), "seen": [f"at {i}" for i in range(200)]}
    told: dict[str, Any] = {
        "k": 5,
        "quasi_identifiers": ["sex"],
        "sensitive": ["pay"],
        "insensitive": ["seen"],
        "kinds": {"pay": "numeric"},
    }
    with pytest.raises(Infeasible, match="E401 seen"):
        ks.anonymize(table, **told, columns={"pay": {"width": 10_000}})
    columns = {"pay": {"width": 10_000}, "seen": {"accept": "identifying"}}
    banded = ks.anonymize(table, **told, columns=columns)
    assert "70000 or more" in set(banded.frame["pay"])
    assert next(column.how for column in banded.columns if column.name == "pay") == "in bands of 10000"
    assert [finding.where for finding in banded.findings if finding.code == "W409"] == ["seen"]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.booleans()), min_size=1, max_size=40))
def test_guesses_of_hidden_values_agree_with_plain_counting(rows: list[tuple[int, int, bool]]) -> None:
    """Each hidden row is guessed by the most frequent value of all other rows with the same other value, ties half."""
    counts = Counts.of({"job": [job for job, _, _ in rows], "pay": [pay for _, pay, _ in rows]})
    hides = {job for job, _, hidden in rows if hidden} or {rows[0][0]}
    hidden = {job: float(sum(row[0] == job for row in rows)) for job in hides}
    right = 0.0
    for i, (job, pay, _) in enumerate(rows):
        others = Counter(row[0] for j, row in enumerate(rows) if j != i and row[1] == pay)
        best = [value for value, number in others.items() if number == max(others.values())]
        if job in hides and job in best:
            right += 1 / min(len(best), 2)
    assert _guessed(counts, hidden) == pytest.approx(right / sum(hidden.values()))


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from(["0", "1", "x", "*"]), st.integers(1, 5)), max_size=12))
def test_hidden_values_and_the_best_guess_agree_with_plain_counting(rows: list[tuple[int, str, int]]) -> None:
    originals, labels = (0, 1, 2, 3), ("0", "1", "x", "*")
    original = np.array([value for value, _, _ in rows], dtype=np.int64)
    released = np.array([labels.index(label) for _, label, _ in rows], dtype=np.int64)
    weights = np.array([weight for _, _, weight in rows], dtype=np.int64)
    suppressed = np.zeros(len(rows), dtype=np.bool_)
    hidden = Counter({(v, label): 0 for v in originals for label in labels})
    for value, label, weight in rows:
        hidden[value, label] += weight * (str(value) != label)
    unseen, likeliest = _unseen(Pairs("age", originals, labels, original, released, suppressed, weights))
    assert unseen.tolist() == [sum(hidden[value, label] for label in labels) for value in originals]
    assert likeliest == sum(max(hidden[value, label] for value in originals) for label in labels)


# ---- people, not rows ------------------------------------------------------------------------------------------------


def visits() -> dict[str, list[Any]]:
    """Three towns with two patients of ten visits each."""
    rows = [(f"{town}{patient}", town, visit) for town in "abc" for patient in "xy" for visit in range(10)]
    return {"who": [who for who, _, _ in rows], "town": [t for _, t, _ in rows], "ill": ["flu", "cold"] * 30}


PATIENTS: dict[str, dict[str, Any]] = {"who": {"role": "person"}, "town": SEX, "ill": {"role": "sensitive"}}
TWO_PEOPLE = {"model": "(X,Y)-anonymity", "k": 2, "person": "who"}


def test_risk_counts_people_where_a_column_tells_them_apart(tmp_path: Path) -> None:
    write(tmp_path, visits())
    done = run(asking(PATIENTS, privacy=[TWO_PEOPLE]), folder=tmp_path, rng=1)
    for when in ("before", "after"):
        figures = done.description["risk"][when]
        assert [figures[name] for name in ("prosecutor, highest", "prosecutor, average", "marketer")] == [0.5] * 3
    found = measured_for_report(done.job, done.recodings)
    assert [found.linkage[when].risk for when in ("before", "after")] == [0.5, 0.5]
    assert alternatives.measured(done.job, "optimal", done.recodings[0]).risk == 0.5  # type: ignore[arg-type]


def test_a_person_with_several_values_counts_once_in_the_class_they_form(tmp_path: Path) -> None:
    """Everybody was in all three towns: one class of two people, not of six."""
    write(tmp_path, {"who": ["x", "y"] * 30, "town": ["a", "a", "b", "b", "c", "c"] * 10})
    (tmp_path / "towns.csv").write_text("a;all;*\nb;all;*\nc;all;*\n")
    columns = {"who": PATIENTS["who"], "town": {"role": "quasi-identifier", "hierarchy": "towns.csv"}}
    done = run(asking(columns, privacy=[TWO_PEOPLE, {"model": "k-anonymity", "k": 25}]), folder=tmp_path, rng=1)
    assert done.description["classes"] == 1
    assert done.description["risk"]["after"]["prosecutor, highest"] == 0.5
    assert alternatives.measured(done.job, "optimal", done.recodings[0]).risk == 0.5  # type: ignore[arg-type]


def test_unique_people_are_found_behind_many_rows(tmp_path: Path) -> None:
    write(tmp_path, {"who": [f"p{i // 10}" for i in range(60)], "town": [f"t{i // 10}" for i in range(60)]})
    job = Job(asking({"who": {"role": "person"}, "town": SEX}, k=2), tmp_path, engine(), generator(1))
    assert measured_risk(job, job.own_counts)["before"]["unique records"] == 1.0


def test_assess_and_verify_count_people_by_a_column_of_the_tables(tmp_path: Path) -> None:
    table = visits()
    counted = ks.assess(table, table, ["town"], person="who")
    assert (counted.k, counted.risk["after"]["prosecutor, highest"]) == (2, 0.5)
    in_order = ks.assess(table, {key: table[key] for key in ("town", "ill")}, ["town"], person="who")
    assert in_order.k == 2
    shuffled = {key: table[key][::-1] for key in ("town", "ill")}
    with pytest.raises(BadInput, match="nobody can tell whose they are"):
        ks.assess(table, shuffled, ["town"], person="who")
    assert ks.assess(table, table, ["town"]).k == 20
    assert ks.verify(table, k=2, quasi_identifiers=["town"], person="who").ok
    assert not ks.verify(table, k=3, quasi_identifiers=["town"], person="who").ok
    assert ks.verify(table, k=3, quasi_identifiers=["town"]).ok
    write(tmp_path, table)
    for k, holds in ((2, True), (3, False)):
        asked = asking(PATIENTS, k=k)
        assert verify_file(asked, tmp_path / "people.csv", folder=tmp_path, person="who")[0].ok is holds


# ---- data and description switch together ----------------------------------------------------------------------------

KILLED = """
import os, sys
from pathlib import Path
from keepsense.release.folder import describe, place
from keepsense.release.folder.place import digest_of, place_of
from keepsense.release.run import run

where, then = sys.argv[1:]
owner, name = {"publish": (place._File, "publish"), "describe": (describe, "write_description")}[where.split()[-1]]
whole = getattr(owner, name)

def cut(*given):
    if where.startswith("after"):
        whole(*given)
    os.kill(os.getpid(), 9)

setattr(owner, name, cut)
run(Path(then) / "keepsense.toml", rng=2)
"""


@pytest.mark.parametrize("where", ["before describe", "after describe", "before publish", "after publish"])
@pytest.mark.parametrize("earlier", [True, False])
def test_a_kill_between_data_and_description_is_mended_at_the_next_start(
    tmp_path: Path, where: str, earlier: bool
) -> None:
    asked = """
        source.path = "people.csv"
        columns.sex.role = "quasi-identifier"
        privacy = [{ model = "k-anonymity", k = 5 }]
    """
    (tmp_path / "keepsense.toml").write_text(asked)
    folder = tmp_path / "release"
    files = (folder / "people.csv", folder / "release.json", folder / "private" / "recoding.json")
    if earlier:
        write(tmp_path, {"sex": ["f", "m"] * 10})
        run(tmp_path / "keepsense.toml", rng=1)
        old = [file.read_bytes() for file in files]
    write(tmp_path, {"sex": ["f", "m", "d"] * 10})
    program = [sys.executable, "-c", KILLED, where, str(tmp_path)]
    assert subprocess.run(program, check=False).returncode == -9
    job = Job(read_project(tmp_path / "keepsense.toml"), tmp_path, engine(), generator(1))
    with place_of(job).draft(job):
        pass  # the start of a run, and no more of it
    if where == "after publish":
        assert json.loads(files[1].read_text())["sha256"] == digest_of(files[0])
        assert json.loads(files[1].read_text())["records"] == 30
    elif earlier:
        assert [file.read_bytes() for file in files] == old
    else:
        assert not any(file.exists() for file in files)
    assert not [path for path in folder.rglob("*") if path.name.startswith((".unverified", "before"))]


# ---- sensitive cells -------------------------------------------------------------------------------------------------


def test_empty_sensitive_cells_are_warned_of_and_a_key_says_that_they_are_no_value(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f", "m"] * 20, "ill": ["flu", "flu", "", "", "flu", "cold", "flu", "cold"] * 5})
    columns = {"sex": SEX, "ill": {"role": "sensitive"}}
    two: dict[str, Any] = {"model": "l-diversity", "l": 2, "column": "ill"}
    done = run(asking(columns, privacy=[two]), folder=tmp_path, rng=1)
    assert [(f.where, f.message.split(" empty")[0]) for f in done.findings if f.code == "W411"] == [("ill", "10")]
    unknown = {**two, "missing": "unknown"}
    assert "missing" not in done.description["promises"][0]
    done = run(asking(columns, privacy=[unknown]), folder=tmp_path, rng=1)
    assert done.description["classes"] == 1  # all women have the flu, or nobody knows
    assert done.description["promises"] == [{**unknown, "form": "distinct"}]
    assert "W411" not in {finding.code for finding in done.findings}


def test_several_sensitive_columns_are_warned_of(tmp_path: Path) -> None:
    write(tmp_path, {"sex": ["f"] * 40, "s": ["flu", "flu", "hiv", "hiv"] * 10, "v": ["x", "x", "y", "y"] * 10})
    columns = {"sex": SEX, "s": {"role": "sensitive"}, "v": {"role": "sensitive"}}
    both = [{"model": "l-diversity", "l": 2, "column": name} for name in ("s", "v")]
    codes = [
        [f.where for f in run(asking(columns, privacy=some), folder=tmp_path).findings if f.code == "W412"]
        for some in (both, both[:1])
    ]
    assert codes == [["s, v"], []]


def test_pairs_from_what_was_counted_for_the_promises_are_those_of_the_rows(tmp_path: Path) -> None:
    chance = np.random.default_rng(5)
    table = {
        "job": chance.choice(["nurse", "clerk", "baker"], 90).tolist(),
        "sex": chance.choice(["f", "m"], 90).tolist(),
        "illness": chance.choice(["flu", "cold", "gout", "burn"], 90).tolist(),
    }
    columns = {"job": {"role": "quasi-identifier"}, "sex": {"role": "quasi-identifier"}}
    project = asking({**columns, "illness": {"role": "sensitive"}}).model_copy(
        update={"privacy": [{"model": "l-diversity", "l": 2, "column": "illness"}]}
    )
    with engine() as duck:
        job = Job(Project.model_validate(project.model_dump()), tmp_path, duck, generator(1), table)
        assert "illness" in job.own_counts.histograms
        for name in ("job", "sex"):
            pairs, rows = _pairs(job, name, "illness"), job.count((name, "illness"))
            spelled = [
                {
                    tuple(counts.values[j][code] for j, code in enumerate(codes)): weight
                    for codes, weight in zip(counts.codes.tolist(), counts.weights.tolist(), strict=True)
                }
                for counts in (pairs, rows)
            ]
            assert spelled[0] == spelled[1] == dict(Counter(zip(table[name], table["illness"], strict=True)))
