"""What a release is worth and what risk it leaves: against plain counting, row by row."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.clocks import tick

from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import Estimate, Note, by_name, figures
from keepsense.project.project_file import Project
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.release.example import example_job
from keepsense.release.figures import alternatives, measure
from keepsense.release.figures.alternatives import lattice, other_methods
from keepsense.release.figures.measure import (
    measured_for_report,
    measured_risk,
    measured_utility,
    recoded,
    scale_of,
    set_figures,
)
from keepsense.release.job.sets import recode_sets
from keepsense.release.run import Outcome, run
from keepsense.risk import record_linkage
from keepsense.utility.generalization_losses import loss
from keepsense.utility.recoded_table import Recoded
from keepsense.utility.value_distances import column_distances, covered, mutual_distances, released_distances

JOBS = ("nurse", "surgeon", "dentist", "clerk", "baker", "farmer")


def _run(folder: Path, method: str = "optimal", rows: int = 60, **changes: Any) -> Outcome:
    lines = ["age,job,illness,worth"]
    lines += [f"{20 + i % 11},{JOBS[i % 6]},{('flu', 'cold')[i % 2]},{1 + i % 3}" for i in range(rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    columns: dict[str, Any] = {
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "job": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person"},
        "illness": {"role": "sensitive"},
        "worth": {"role": "insensitive"},
    }
    data: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "columns": columns | changes.pop("columns", {}),
        "privacy": [{"model": "k-anonymity", "k": 4}],
        "method": {"name": method, "parameters": changes.pop("parameters", {})},
        **changes,
    }
    return run(Project.model_validate(data), folder=folder, rng=5)


def _cells(done: Outcome) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """Original and released values of every record, as the recoding has it."""
    rule = done.recodings[0]
    assert isinstance(rule, Cuts | Cells)
    counts = done.job.own_counts if isinstance(rule, Cuts) or rule.inputs is None else rule.inputs
    cells = rule.cells(counts)
    found = []
    for source, codes, times in zip(cells.source, cells.codes.tolist(), cells.multiplicity.tolist(), strict=True):
        old = {n: counts.values_of(n)[counts.column(n)[source]] for n in cells.names}
        new = {n: cells.values[j][code] for j, (n, code) in enumerate(zip(cells.names, codes, strict=True))}
        found += [(old, new)] * times
    return found


# ---- usefulness ------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 4)), min_size=1, max_size=20))
def test_detail_hidden_by_ranges_is_that_of_counting(rows: list[tuple[int, int]]) -> None:
    ages = [age for age, _ in rows]
    leaves = sorted(set(ages))
    tree = Hierarchy.of_rows([(age, "*") for age in leaves], name="age", kind="numeric")
    wide = dict(rows)
    label = {age: f"{age}-{age + wide[age]}" for age in leaves}
    rule = Cuts((Cut("age", tuple(leaves), tuple(label[age] for age in leaves)),))
    found = loss(Counts.of({"age": ages}), rule, {"age": tree})
    inside = [sum(age <= leaf <= age + wide[age] for leaf in leaves) - 1 for age in ages]
    assert found == pytest.approx(np.mean(inside) / max(1, len(leaves) - 1))


def test_mondrian_has_a_loss_too(tmp_path: Path) -> None:
    done = _run(tmp_path, "semantic mondrian")
    assert 0 < done.description["utility"]["loss"] < 1
    with pytest.raises(BadInput, match="do not stand above"):
        loss(Counts.of({"a": ["x"]}), Cuts((Cut("a", ("x",), ("strange",)),)), {"a": _flat("x")})


def _flat(*values: str) -> Hierarchy:
    return Hierarchy.of_rows([(value, "*") for value in values], name="a")


def test_changed_cells_and_distances_are_those_of_the_records(tmp_path: Path) -> None:
    done = _run(
        tmp_path,
        "rank swapping",
        parameters={"k": 4},
        privacy=[{"model": "average risk", "threshold": 1.0}],
    )
    found = measured_utility(done.job, done.recodings)
    rows = _cells(done)
    changed = np.mean([old[n] != new[n] for old, new in rows for n in old])
    assert found["changed share"] == pytest.approx(changed)
    ages = [float(old["age"]) for old, _ in rows]
    moved = np.mean([abs(float(old["age"]) - float(new["age"])) for old, new in rows]) / (max(ages) - min(ages))
    changed, distance = measured_for_report(done.job, done.recodings).columns["age"]
    assert distance == pytest.approx(moved)
    assert changed == pytest.approx(np.mean([old["age"] != new["age"] for old, new in rows]))


def test_questions_are_answered_by_counting(tmp_path: Path) -> None:
    done = _run(tmp_path, "rank swapping", parameters={"k": 4}, privacy=[{"model": "average risk", "threshold": 1.0}])
    same = Counts.of({"age": [20, 30], "job": ["nurse", "clerk"]})
    cells = Cells(same.names, same.values, np.arange(2), same.codes, same.weights)
    assert by_name(figures("utility", Recoded(same, [cells], truthful=False)))["query error, mean"] == 0.0
    assert by_name(measured_for_report(done.job, done.recodings).utility)["query error, mean"] >= 0


def test_what_goes_together_is_kept_where_nothing_changes(tmp_path: Path) -> None:
    done = _run(tmp_path, "datafly", privacy=[{"model": "k-anonymity", "k": 1}])
    found = measured_for_report(done.job, done.recodings)
    for one in (*found.dependence, *found.associations):
        assert one.before == pytest.approx(one.after)
    assert found.linkage["before"].risk == pytest.approx(found.linkage["after"].risk)


def test_what_goes_together_is_not_told_where_classes_have_labels_of_their_own(tmp_path: Path) -> None:
    """Such labels go together whatever the people do: Cramér's V would praise a release for its recoding."""
    alike = _run(tmp_path, "datafly")
    apart = _run(tmp_path, "mondrian")
    labels: dict[tuple[str, Any], set[Any]] = defaultdict(set)
    for old, new in _cells(apart):
        for name in old:
            labels[name, old[name]].add(new[name])
    assert max(map(len, labels.values())) > 1
    assert measured_for_report(alike.job, alike.recodings).associations
    assert measured_for_report(apart.job, apart.recodings).associations == ()


def test_chances_by_known_items_have_an_interval_where_only_some_people_were_looked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sets = {"likes": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}}
    job = example_job(columns=sets, unlisted="drop", method={"name": "set microaggregation"})
    rules, _ = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    assert [type(now) for _, _, now in set_figures(job, rules)[0].risk] == [float] * 3
    monkeypatch.setattr(measure, "PEOPLE", 10)  # of 20
    for _, before, after in set_figures(job, rules)[0].risk:
        assert isinstance(before, Estimate)
        assert isinstance(after, Estimate)
        assert after.interval[0] <= after <= after.interval[1] < 1


# ---- distances -------------------------------------------------------------------------------------------------------


def test_labels_cover_what_lies_below() -> None:
    tree = Hierarchy.of_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), (None, "(missing)", "*")])
    found = covered(tree, ["x", "c", "*", "(missing)"], ["a", "b", "c", None])
    assert found.tolist() == [
        [True, True, False, False],
        [False, False, True, False],
        [True, True, True, True],
        [False, False, False, True],
    ]


def test_ranges_are_as_near_as_their_nearest_end(tmp_path: Path) -> None:
    job = _run(tmp_path, "semantic mondrian").job
    ages, scale = job.own_counts.values_of("age"), scale_of(job, "age")
    far = released_distances(scale, ["22-24", "*", "30"], ages)
    span = 10
    for j, age in enumerate(map(int, map(str, ages))):
        assert far[0, j] == pytest.approx(max(0, 22 - age, age - 24) / span)
        assert far[1, j] == 0
        assert far[2, j] == pytest.approx(abs(30 - age) / span)
    between = mutual_distances(scale, ["20-24", "26-30"], ages)
    assert between[0, 1] == pytest.approx(6 / span)


def test_words_are_compared_by_meaning(tmp_path: Path) -> None:
    job = _run(tmp_path, "rank swapping", parameters={"k": 3}, privacy=[{"model": "average risk", "threshold": 1}]).job
    far = released_distances(scale_of(job, "job"), ["nurse", "no such word"], ["nurse", "dentist", "farmer", None])
    assert far[0, 0] == 0
    assert far[0, 1] < far[0, 2] <= 1
    assert far[:, 3].tolist() == [1, 1]
    assert far[1].tolist() == [1, 1, 1, 1]


# ---- risk ------------------------------------------------------------------------------------------------------------


def test_linkage_is_that_of_comparing_all_records(tmp_path: Path) -> None:
    done = _run(tmp_path, "rank swapping", parameters={"k": 4}, privacy=[{"model": "average risk", "threshold": 1.0}])
    rule = done.recodings[0]
    assert isinstance(rule, Cells)
    counts = rule.inputs
    assert counts is not None
    gaps = column_distances(recoded(done.job, done.recodings).scale_of, counts, rule)
    rows = _cells(done)
    place = {n: {v: i for i, v in enumerate(counts.values_of(n))} for n in rule.names}
    new_place = {n: {v: i for i, v in enumerate(rule.values[j])} for j, n in enumerate(rule.names)}
    chance = 0.0
    for own, new in rows:
        away = [sum(gaps[n][new_place[n][new[n]], place[n][old[n]]] for n in rule.names) for old, _ in rows]
        best = min(away)
        near = sum(a <= best + 1e-9 for a in away)
        mine = sum(gaps[n][new_place[n][new[n]], place[n][own[n]]] for n in rule.names)
        chance += (mine <= best + 1e-9) / near
    found = measured_for_report(done.job, done.recodings).linkage
    assert found["after"].risk == pytest.approx(chance / len(rows))
    assert found["before"].risk == pytest.approx(len(counts) / counts.total)


def test_linkage_takes_a_sample_where_there_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = _run(tmp_path, rows=300)
    counts, cells = done.job.own_counts, done.recodings[0].cells(done.job.own_counts)  # type: ignore[union-attr]
    scale = recoded(done.job, done.recodings).scale_of

    def attacked(notes: list[Note]) -> dict[str, record_linkage.Linkage]:
        return record_linkage.linkage_before_and_after(
            counts, cells, lambda some: column_distances(scale, counts, some), notes
        )

    whole = attacked([])
    monkeypatch.setattr(record_linkage, "MOST_PAIRS", 10)
    monkeypatch.setattr(record_linkage, "FEWEST_TRIED", 40)
    notes: list[Note] = []
    some = attacked(notes)
    assert some["before"].tried == 40
    assert "40 records" in notes[0].text
    assert abs(some["before"].risk - whole["before"].risk) < 0.2
    monkeypatch.setattr(record_linkage, "MOST_VALUES", 3)
    assert attacked(notes) == {}
    assert "not measured" in notes[-1].text


def test_sampling_weights_count_people_before_and_after(tmp_path: Path) -> None:
    done = _run(tmp_path, columns={"worth": {"role": "weight", "kind": "numeric"}})
    after = done.job.own_counts
    found = measured_risk(done.job, after, rules=done.recodings)
    with (tmp_path / "people.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    people: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        people[row["age"], row["job"]] += float(row["worth"])
    assert found["before"]["journalist, highest, by sampling weights"] == pytest.approx(1 / min(people.values()))
    rule = done.recodings[0]
    assert isinstance(rule, Cuts)
    become = {cut.name: {str(a): b for a, b in zip(cut.inputs, cut.outputs, strict=True)} for cut in rule.cuts}
    classes: dict[Any, float] = defaultdict(float)
    for row in rows:
        classes[become["age"][row["age"]], become["job"][row["job"]]] += float(row["worth"])
    assert found["after"]["journalist, highest, by sampling weights"] == pytest.approx(1 / min(classes.values()))
    average = len(classes) / sum(classes.values())
    assert found["after"]["journalist, average, by sampling weights"] == pytest.approx(average)
    assert found["before"]["unique in the population, estimated"] >= 0


def test_a_population_gives_a_journalists_risk_and_uniques(tmp_path: Path) -> None:
    lines = ["age,job"] + [f"{20 + i % 11},{JOBS[i % 6]}" for i in range(130)]
    (tmp_path / "all.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = _run(tmp_path, population={"path": "all.csv"})
    for when in ("before", "after"):
        found = done.description["risk"][when]
        assert 0 < found["journalist, highest"] <= found["prosecutor, highest"]
        assert found["unique in the population"] <= found["unique records"]
    fit = Counter(lines[1:])
    least = min(fit[line] for line in lines[1:61])
    assert done.description["risk"]["before"]["journalist, highest"] == pytest.approx(1 / least)


# ---- alternatives ----------------------------------------------------------------------------------------------------


def test_the_best_nodes_are_the_best_of_all(tmp_path: Path) -> None:
    from keepsense.methods.generalize.lattice_template import LatticeSearch

    done = _run(tmp_path)
    plan = done.job
    found = lattice(plan, done.recodings)
    assert found is not None
    search = LatticeSearch(plan.counts, plan.hierarchies, plan.models, suppression=0.0, metric="loss")
    verdicts = [search.check(tuple(int(x) for x in node)) for node in np.ndindex(*(top + 1 for top in found.tops))]
    assert found.size == len(verdicts)
    assert found.safe == sum(verdict.holds for verdict in verdicts)
    least = sorted(verdict.value for verdict in verdicts if verdict.holds)
    assert [node.loss for node in found.best] == pytest.approx(least[: len(found.best)])
    assert found.best[0].chosen, "optimal chooses the best"
    assert lattice(plan, []) is None


def test_other_methods_keep_the_same_promise(tmp_path: Path) -> None:
    done = _run(tmp_path)
    models, found = other_methods(done.job)
    assert [model.name for model in models] == ["k-anonymity"]
    assert "optimal" not in [one.method for one in found]
    for one in found:
        assert not one.problem, one.problem
        assert one.risk is not None
        assert one.risk <= 1 / 4
        assert one.penalty is not None


def test_searches_are_bounded_by_their_steps_and_not_by_the_clock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = _run(tmp_path, "datafly")
    quick = lattice(done.job, done.recodings), other_methods(done.job)
    tick(monkeypatch, 3600.0)
    assert (lattice(done.job, done.recodings), other_methods(done.job)) == quick
    monkeypatch.setattr(alternatives, "MOST_VISITS", 10)
    assert lattice(done.job, done.recodings) is None
    problems = {one.method: one.problem for one in other_methods(done.job)[1]}
    assert "too many steps" in problems["optimal"]
    assert problems["local recoding"] == problems["mondrian"] == ""
