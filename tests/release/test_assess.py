"""Assessments of any pair of tables, against plain counting; comparisons of projects."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.release.tables import write_jobs, write_people

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.release.compare import compare
from keepsense.release.figures.assess import assess
from keepsense.risk.attribute_disclosure import within_classes
from keepsense.risk.reidentification import individual_risk
from keepsense.utility.associations import association
from keepsense.utility.column_changes import change

JOBS = st.sampled_from(["nurse", "clerk", "baker", "*"])
ILL = st.sampled_from(["flu", "cold", "asthma"])


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(JOBS, st.sampled_from("fm"), ILL), min_size=4, max_size=30))
def test_classes_k_l_and_t_are_those_of_plain_counting(rows: list[tuple[str, str, str]]) -> None:
    table = {"job": [r[0] for r in rows], "sex": [r[1] for r in rows], "ill": [r[2] for r in rows]}
    found = assess(table, table, ["job"], sensitive=["ill"])
    classes: dict[str, list[str]] = defaultdict(list)
    for job, _, ill in rows:
        classes[job].append(ill)
    shown = {job: people for job, people in classes.items() if job != "*"} or classes
    assert found.suppressed == len(rows) - sum(map(len, shown.values()))
    assert found.classes_after == len(shown)
    assert dict(found.sizes) == dict(Counter(map(len, shown.values())))
    assert found.k == min(map(len, classes.values()))  # suppressed records are a class that keeps k, l and t or not
    assert found.sensitive[0].distinct == min(len(set(c)) for c in classes.values())
    whole = Counter(r[2] for r in rows)
    worst = max(0.5 * sum(abs(c.count(v) / len(c) - whole[v] / len(rows)) for v in whole) for c in classes.values())
    assert found.sensitive[0].t == pytest.approx(worst)
    spread = min(
        math.exp(-sum(n / len(c) * math.log(n / len(c)) for n in Counter(c).values())) for c in classes.values()
    )
    assert found.sensitive[0].entropy == pytest.approx(spread)
    assert all(c.distance == 0 for c in found.columns)
    assert found.association_error in (None, 0.0)


def test_rows_in_the_same_order_have_every_figure_of_utility() -> None:
    before = {"id": [*range(8)], "age": [20, 25, 30, 35, 40, 45, 50, 55], "sex": ["f", "m"] * 4}
    after = {"id": [*range(8)], "age": ["20-35"] * 3 + ["."] + ["40-55"] * 4, "sex": ["f", "m"] * 4}
    assessment = assess(before, after, ["age", "sex"], suppressed=".")
    assert assessment.aligned
    utility = {each.name: each.value for each in assessment.utility}
    errors = [15**2, 10**2, 10**2, 20**2, 15**2, 10**2, 10**2, 15**2]  # the fourth is hidden, 20 to 55
    worst = [35**2, 30**2, 25**2, 20**2, 20**2, 25**2, 30**2, 35**2]
    assert utility["squared error, age"] == pytest.approx(sum(errors) / sum(worst))
    assert utility["discernibility"] == 2**2 + 1 + 1 + 2**2 + 2**2, "classes of age and sex; the hidden age is a label"
    assert 0 < utility["propensity"] < 0.25


def test_tables_in_another_order_are_told_apart_by_a_model() -> None:
    """Of 30 a 20 are released, of 50 b 20: pMSE = (30 / 36 + 50 / 100) / 80, expected 1 / 640."""
    assessment = assess({"x": ["a"] * 10 + ["b"] * 30}, {"x": ["b"] * 20 + ["a"] * 20}, ["x"])
    utility = {each.name: each.value for each in assessment.utility}
    assert set(utility) == {"propensity", "propensity, ratio"}
    assert utility["propensity"] == pytest.approx((30 / 36 + 50 / 100) / 80)
    assert utility["propensity, ratio"] == pytest.approx((30 / 36 + 50 / 100) / 80 * 640)


def test_a_generalized_table_is_told_from_its_original() -> None:
    before = {"id": [*range(8)], "age": [20, 25, 30, 35, 40, 45, 50, 55], "ill": ["flu", "cold"] * 4}
    after = {"age": ["20-35"] * 4 + ["40-55"] * 4, "ill": ["flu", "cold"] * 4, "extra": [0] * 8}
    found = assess(before, after, ["age"], sensitive=["ill"])
    assert (found.k, found.classes_before, found.classes_after) == (4, 8, 2)
    assert (found.removed, found.added) == (("id",), ("extra",))
    age, ill = found.columns
    assert (age.distance, ill.distance) == (1.0, 0.0)
    assert age.information == pytest.approx(1 / 3)
    assert age.shift is not None
    assert 0 < age.shift < 0.3
    assert found.aligned
    assert (age.changed, ill.changed) == (1.0, 0.0)
    assert found.risk_before.prosecutor_maximum == 1.0
    assert found.risk_after is not None
    assert found.risk_after.prosecutor_maximum == 0.25


def test_shuffled_rows_are_not_matched_one_by_one() -> None:
    rng = np.random.default_rng(1)
    before = {"job": ["a"] * 20, "ill": [f"i{n}" for n in range(20)]}
    order = rng.permutation(20)
    after = {"job": ["*"] * 20, "ill": [before["ill"][i] for i in order]}
    found = assess(before, after, ["job"])
    assert not found.aligned
    assert all(c.changed is None for c in found.columns)
    assert found.columns[1].distance == 0


def test_dropped_rows_count_as_suppressed() -> None:
    found = assess({"a": ["x", "x", "y"]}, {"a": ["x", "x"]}, ["a"])
    assert (found.suppressed, found.k) == (1, 2)


def test_unknown_columns_get_a_hint() -> None:
    with pytest.raises(BadInput, match="Did you mean job"):
        assess({"job": ["a"]}, {"job": ["a"]}, ["jobb"])
    with pytest.raises(BadInput, match="the release has no column 'ill'"):
        assess({"job": ["a"], "ill": ["b"]}, {"job": ["a"]}, ["job"], sensitive=["ill"])
    with pytest.raises(BadInput, match="quasi-identifiers"):
        assess({"job": ["a"]}, {"job": ["a"]}, [])


def test_figures_match_their_definitions() -> None:
    independent = Counts.of({"a": ["x", "x", "y", "y"] * 25, "b": ["p", "q"] * 50})
    assert association(independent) == 0.0
    moved = change("n", {"0": 1, "10": 1}, {"1": 1, "11": 1})
    assert moved.shift == pytest.approx(0.1)
    assert change("n", {"a": 1}, {"b": 1}).shift is None
    # a class without the values that half of the original had is half away from it, wherever they went
    classes = Counts.of({"job": ["nurse"] * 4}, histograms={"ill": ["flu"] * 4}).histograms["ill"]
    found = within_classes(classes, np.ones(1, np.bool_), {"flu": 2, "cold": 2})
    assert found.t.tolist() == pytest.approx([0.5])


# ---- compare ---------------------------------------------------------------------------------------------------------


def _file(folder: Path, name: str, k: int, method: str = "optimal") -> Path:
    path = folder / name
    path.write_text(
        f"""
        unlisted = "drop"
        source.path = "people.csv"
        privacy = [{{ model = "k-anonymity", k = {k} }}]
        method.name = "{method}"
        [columns]
        sex.role = "quasi-identifier"
        age = {{ role = "quasi-identifier", kind = "numeric" }}
        job = {{ role = "quasi-identifier", hierarchy = "jobs.csv" }}
        """,
        encoding="utf-8",
    )
    return path


def test_projects_are_compared_and_nothing_is_released(tmp_path: Path) -> None:
    write_people(tmp_path)
    write_jobs(tmp_path)
    files = [
        _file(tmp_path, "a.toml", 3),
        _file(tmp_path, "b.toml", 20),
        _file(tmp_path, "c.toml", 500),
        _file(tmp_path, "d.toml", 3, "mondrian"),
    ]
    before = sorted(p.name for p in tmp_path.iterdir())
    a, b, c, d = compare(files, rng=1)
    assert sorted(p.name for p in tmp_path.iterdir()) == before
    assert [one.ok for one in (a, b, c, d)] == [True, True, False, True]
    assert c.problem
    assert c.figure("classes") is None
    assert a.figure("classes") > b.figure("classes")
    assert a.figure("utility", "certainty penalty") < b.figure("utility", "certainty penalty")
    assert b.figure("risk", "after", "prosecutor, highest") <= 1 / 20


def test_a_mistake_names_the_project_file(tmp_path: Path) -> None:
    write_people(tmp_path)
    with pytest.raises(BadInput, match=r"a\.toml: .*jobs\.csv"):
        compare([_file(tmp_path, "a.toml", 3)])


# ---- cells that other tools suppress one by one ----------------------------------------------------------------------

PEOPLE = {
    "sex": ["f", "f", "f", "f", "m", "m", "m", "m"],
    "age": ["20", "20", "20", "30", "30", "30", "30", "40"],
}
# as sdcMicro (NA) and mu-Argus do it: the two that stand out lose one cell each
BY_CELLS = {
    "sex": ["f", "f", "f", None, "m", "m", "m", "m"],
    "age": ["20", "20", "20", "30", "30", "30", "30", None],
}


@pytest.mark.parametrize("mark", [None, "NA", "*", "."])
def test_cells_suppressed_one_by_one_are_read_in_both_ways(mark: str | None) -> None:
    after = {name: [mark if cell is None else cell for cell in cells] for name, cells in BY_CELLS.items()}
    found = assess(PEOPLE, after, ["sex", "age"], suppressed=["*", "."], missing=["NA"])
    assert found.hidden_cells == {"sex": 1, "age": 1}
    assert (found.k, found.k_wildcard) == (1, 3)  # three women of 20 fit one another; the hidden ones fit more
    assert (
        found.risk["after, hidden cells fit any"]["prosecutor, highest"] <= found.risk["before"]["prosecutor, highest"]
    )
    assert all(0 < column.information < 1 for column in found.columns)


def test_no_column_has_more_information_after_than_before() -> None:
    before = {"age": ["20"] * 7 + ["30"]}
    after = {"age": ["20", "21", "22", "23", "24", "25", "*", "NA"]}
    found = assess(before, after, ["age"], missing=["NA"])
    assert found.columns[0].information == 1.0


def test_a_table_without_hidden_cells_has_one_reading() -> None:
    found = assess(PEOPLE, PEOPLE, ["sex", "age"])
    assert not found.hidden_cells
    assert found.k == found.k_wildcard == 1
    assert set(found.risk) == {"before", "after"}
    assert [column.information for column in found.columns] == [1.0, 1.0]


def test_records_that_are_hidden_altogether_fit_nobody() -> None:
    after = {name: [*cells, "*", "*"] for name, cells in BY_CELLS.items()}
    before = {name: [*cells, cells[0], cells[0]] for name, cells in PEOPLE.items()}
    found = assess(before, after, ["sex", "age"])
    assert found.suppressed == 2
    assert found.k_wildcard == 3


def test_a_sampling_fraction_and_households_tell_more():
    """Four of ten people are one of a kind; each lives with somebody who is not."""
    table = {
        "job": ["a", "b", "c", "d", *"eeffgg"],
        "home": [str(i % 5) for i in range(10)],
    }
    plain = assess(table, table, ["job"]).risk["before"]
    assert not any("individual" in name or "household" in name or "Pitman" in name for name in plain)
    assert plain["special uniques"] == 0, "there is no smaller set of columns"
    found = assess(table, table, ["job"], sampling_fraction=0.2, household="home").risk
    assert found["before"] == found["after"]
    figures = found["before"]
    unique = 0.2 / 0.8 * np.log(5)
    assert figures["individual risk, highest"] == pytest.approx(unique)
    pair = float(individual_risk(np.array([2]), np.array([10.0]))[0])
    assert figures["individual risk, average"] == pytest.approx((4 * unique + 6 * pair) / 10)
    assert figures["household risk, highest"] == pytest.approx(1 - (1 - unique) * (1 - pair))
    homes = [1 - (1 - unique) * (1 - pair)] * 4 + [1 - (1 - pair) ** 2]
    assert figures["household risk, average"] == pytest.approx(np.mean(homes))
    for name in ("Dankar's rule", "Pitman", "slide negative binomial", "estimated"):
        assert 0 < figures[f"unique in the population, {name}"] <= 0.4
    with pytest.raises(BadInput, match="no quasi-identifier"):
        assess(table, table, ["job", "home"], household="home")
