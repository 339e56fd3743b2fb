"""Scores, explanations, improvements, the four aspects, and choosing."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.golden.test_gsl_table3 import ROWS, SENSES
from tests.hierarchies.test_construct import columns
from tests.hierarchies.trees import hierarchies, trees

from keepsense.counts import Counts
from keepsense.errors import BadHierarchy, BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy, MissingValues
from keepsense.hierarchies.hierarchy_builder import guess_kind, hierarchies_for
from keepsense.hierarchies.hierarchy_candidates import candidates
from keepsense.hierarchies.hierarchy_checks import check
from keepsense.hierarchies.hierarchy_choice import Steps, Times, a_posteriori, a_priori, by_gsl, choose, ranked_sets
from keepsense.hierarchies.hierarchy_faults import explain, improve
from keepsense.hierarchies.hierarchy_scores import (
    Evaluation,
    evaluate,
    grade,
    interval_size,
    level_weights,
    minimal_distortion,
    privacy_vulnerability,
    reward,
    score,
    score_all,
    scores,
    set_score,
    sweep,
    weight_sets,
)
from keepsense.hierarchies.hierarchy_tree import POLICIES, Tree, to_hierarchy, tree_of
from keepsense.hierarchies.kinds.code_kind import masked
from keepsense.hierarchies.kinds.numeric_kind import equal_width, numeric_candidates
from keepsense.hierarchies.word_concepts import base_hierarchy, with_concepts
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

PETS = from_edges([("cat", "feline"), ("lion", "feline"), ("feline", "animal"), ("dog", "animal")])


@pytest.fixture(scope="module")
def occupation() -> Hierarchy:
    return with_concepts(Hierarchy.of_rows(ROWS, name="occupation"), wordnet(), senses=SENSES)


# ---- GSL ----


@pytest.mark.parametrize("measure", ["wu-palmer", "leacock-chodorow", "path", "feature", "lin"])
@settings(max_examples=20, deadline=None)
@given(column=columns())
def test_scores_agree_with_the_definition(measure: str, column: tuple[Taxonomy, list[str]]) -> None:
    taxonomy, values = column
    hierarchy = base_hierarchy(values, taxonomy)
    if hierarchy.height < 1:
        return
    how_far = distance(measure, taxonomy)
    most = how_far.maximum or 1.0
    result = score(hierarchy, how_far)
    for leaf, level in itertools.product(range(len(values)), range(1, hierarchy.height + 1)):
        ancestor = int(hierarchy.concept_codes(level)[hierarchy.codes[leaf, level]])
        expected = how_far.pair(values[leaf], ancestor) / most
        assert result.transitions[leaf, level - 1] == pytest.approx(expected, abs=1e-9)
    assert result.levels == pytest.approx(result.transitions.mean(axis=0))
    assert result.total == pytest.approx(result.levels.mean())
    assert -1e-9 <= result.total <= 1 + 1e-9


def test_many_candidates_score_as_one_by_one() -> None:
    made = candidates(["nurse", "surgeon", "pianist", "pilot"], wordnet(), [5, 4, 3, 2], wanted=30, rng=1)
    measure = distance("wu-palmer", wordnet())
    assert scores(made, measure) == pytest.approx([score(h, measure).total for h in made])


def test_aggregations_and_weights(occupation: Hierarchy) -> None:
    measure = distance("wu-palmer", wordnet(), convention="depth")
    average = score(occupation, measure)
    assert score(occupation, measure, weights="level").total == pytest.approx(average.levels @ [3 / 6, 2 / 6, 1 / 6])
    assert score(occupation, measure, weights=[0.2, 0.3, 0.5]).total == pytest.approx(average.levels @ [0.2, 0.3, 0.5])
    highest = score(occupation, measure, aggregate="maximum")
    assert highest.levels == pytest.approx(average.transitions.max(axis=0))
    middle = score(occupation, measure, aggregate=lambda x: float(np.median(x)))
    assert middle.levels == pytest.approx(np.median(average.transitions, axis=0))


@pytest.mark.parametrize(
    "weights", [[0.5, 0.6, 0.1], [1.2, -0.1, -0.1], [0.5, 0.5], "linear", [float("nan"), 0.5, 0.5]]
)
def test_bad_level_weights_are_refused(occupation: Hierarchy, weights: object) -> None:
    with pytest.raises(BadInput, match="weight"):
        score(occupation, distance("wu-palmer", wordnet()), weights=weights)  # type: ignore[arg-type]


def test_level_weights_sum_to_one() -> None:
    for height, scheme in itertools.product(range(1, 12), ("uniform", "level")):
        assert level_weights(height, scheme).sum() == pytest.approx(1)  # type: ignore[arg-type]


def test_an_ancestor_without_a_concept_scores_as_the_subsumer_of_its_leaves() -> None:
    rows = [("cat", "group one", "*"), ("lion", "group one", "*"), ("dog", "group two", "*")]
    made = with_concepts(Hierarchy.of_rows(rows), PETS)
    measure = distance("wu-palmer", PETS)
    expected = [
        [measure.pair(a, b) for b in (c, "animal")] for a, c in (("cat", "feline"), ("lion", "feline"), ("dog", "dog"))
    ]
    assert score(made, measure).transitions == pytest.approx(np.array(expected))


def test_leaves_without_a_concept_are_refused_counted_or_left_out() -> None:
    made = with_concepts(Hierarchy.of_rows([("cat", "*"), ("secret", "*")], name="pet"), PETS, unknown="list")
    measure = distance("wu-palmer", PETS)
    with pytest.raises(MissingValues, match="pet: 1 of 2 leaves have no concept") as caught:
        score(made, measure)
    assert "secret" not in str(caught.value)
    result = score(made, measure, unknown="list")
    assert result.left_out == 1
    assert result.transitions.shape == (1, 1)
    with pytest.raises(MissingValues):
        score(Hierarchy.of_rows([("secret", "*")]), measure, unknown="list")


def test_scoring_without_what_it_needs_is_refused() -> None:
    with pytest.raises(BadInput, match="with a distance"):
        score(base_hierarchy(["cat"], PETS))
    with pytest.raises(BadHierarchy, match="no level above"):
        score(Hierarchy.of_rows([("cat",)]), distance("path", PETS))
    with pytest.raises(BadInput, match="no aggregation"):
        score(base_hierarchy(["cat"], PETS), distance("path", PETS), aggregate="sum")  # type: ignore[arg-type]


def test_mixed_kinds_are_scored_in_one_go() -> None:
    measure = distance("wu-palmer", PETS)
    found = score_all([equal_width(range(9)), base_hierarchy(["cat", "dog"], PETS), masked(["11", "12"])], measure)
    assert [one.name for one in found] == ["numbers", "column", "codes"]
    assert all(0 <= one.total <= 1 for one in found)


def test_sets_weigh_columns_by_proportion() -> None:
    totals = {"a": 0.2, "b": 0.4}
    assert set_score(totals) == pytest.approx(0.3)
    assert (
        set_score(totals, {"a": 30, "b": 10})
        == pytest.approx(set_score(totals, {"a": 3, "b": 1}))
        == pytest.approx(0.25)
    )
    assert set_score(totals, {"a": 0, "b": 1}) == pytest.approx(0.4)
    for bad in ({"a": -1, "b": 1}, {"a": 0, "b": 0}, {"a": 1}, {"a": 1, "b": 1, "c": 1}, {"a": math.inf, "b": 1}):
        with pytest.raises(BadInput, match="preferences"):
            set_score(totals, bad)
    with pytest.raises(BadInput, match="at least one column"):
        set_score({})


def test_grades() -> None:
    assert [grade(x) for x in (0.0491, 0.1810, 0.2027, 0.3583, 0.4397, 0.6856)] == [
        "good",
        "good",
        "moderate",
        "moderate",
        "poor",
        "poor",
    ]


# ---- explanations and improvements ----


def test_the_faults_of_table_3_are_found_and_mended(occupation: Hierarchy) -> None:
    measure = distance("wu-palmer", wordnet(), convention="depth")
    found = explain(occupation, measure)
    by_message = {problem.message: problem for problem in found.problems}
    order = by_message["'doctor' stands above 'medical practitioner' and is a kind of it"]
    assert order.fixes[0].text == "swap 'medical practitioner' and 'doctor'"
    label = by_message["nothing under 'education' at level 2 is a kind of it"]
    assert label.fixes[0].text == "rename 'education' at level 2 to 'educator'"
    assert "'optician' stands under 'medical practitioner' at level 1 and is no kind of it" in by_message
    assert "'optometrist' stands under 'medical practitioner' at level 1 and is no kind of it" in by_message
    assert {t.leaf for t in found.worst[:2]} == {"math teacher", "music teacher"}
    assert found.worst[0].label == "education"
    assert "GSL 0.4173 (moderate)" in str(found)
    better = improve(occupation, measure)
    assert better.before == pytest.approx(0.4173, abs=5e-5)
    assert better.after < 0.14
    assert [problem for problem in explain(better.hierarchy, measure).problems if problem.fault != "wrong parent"] == []
    assert better.hierarchy.leaves == occupation.leaves
    rows = {row[0]: row[1:] for row in better.hierarchy.rows()}
    assert rows["surgeon"] == ("doctor", "medical practitioner", "person")


def test_a_level_that_loses_more_than_the_one_above_is_told() -> None:
    rows = [("cat", "dog", "feline", "animal"), ("lion", "dog", "feline", "animal")]
    made = with_concepts(Hierarchy.of_rows(rows), PETS)
    found = explain(made, distance("wu-palmer", PETS))
    low, high = found.gsl.levels[:2]
    assert low > high
    assert f"- level 1 loses more ({low:.4f}) than level 2 above it ({high:.4f})" in str(found)
    faults = {(p.fault, p.level) for p in found.problems}
    assert ("level out of order", 1) in faults
    assert ("wrong label", 1) in faults
    assert improve(made, distance("wu-palmer", PETS)).after < found.gsl.total


@settings(max_examples=25, deadline=None)
@given(column=columns(), data=st.data())
def test_improving_never_raises_the_score_and_keeps_it_valid(
    column: tuple[Taxonomy, list[str]], data: st.DataObject
) -> None:
    taxonomy, values = column
    size = len(values)
    groups = [f"c{data.draw(st.integers(0, len(taxonomy) - 1))}" for _ in range(size)]
    parent = {g: f"c{data.draw(st.integers(0, len(taxonomy) - 1))}" for g in groups}
    rows = [(value, f"g {group}", f"h {parent[group]}", "*") for value, group in zip(values, groups, strict=True)]
    plain = Hierarchy.of_rows(rows, name="x")
    senses = {f"g {g}": g for g in groups} | {f"h {p}": p for p in parent.values()}
    made = with_concepts(plain, taxonomy, senses=senses, inner="labels")
    measure = distance("wu-palmer", taxonomy)
    result = improve(made, measure, at_most=20)
    assert result.after <= result.before + 1e-9
    assert result.after == pytest.approx(score(result.hierarchy, measure).total)
    assert [f for f in check(result.hierarchy) if f.is_error] == []
    assert result.hierarchy.leaves == plain.leaves
    assert len(result.hierarchy.labels[-1]) == 1


def test_the_base_hierarchy_has_no_problems() -> None:
    made = base_hierarchy(["nurse", "surgeon", "pianist", "pilot"], wordnet())
    measure = distance("wu-palmer", wordnet())
    assert explain(made, measure).problems == ()
    assert improve(made, measure).fixes == ()


def test_of_words_without_a_concept_nothing_is_said() -> None:
    rows = [("nurse", "health professional", "professional", "*"), ("qwertyzz", "qwertyzz", "qwertyzz", "*")]
    made = with_concepts(Hierarchy.of_rows(rows), wordnet(), unknown="list")
    told = explain(made, distance("wu-palmer", wordnet()), unknown="list").problems
    assert [problem.message for problem in told if "qwertyzz" in problem.message] == []


def test_numeric_hierarchies_are_explained_by_their_widest_intervals() -> None:
    found = explain(equal_width([1, 2, 3, 100], groups=4))
    assert found.problems == ()
    assert found.worst[0].loss == max(t.loss for t in found.worst)


def test_explaining_with_own_weights_keeps_to_fixes_of_the_same_height(occupation: Hierarchy) -> None:
    measure = distance("wu-palmer", wordnet(), convention="depth")
    found = explain(occupation, measure, weights=[0.5, 0.3, 0.2])
    assert found.problems[0].fixes
    with pytest.raises(BadInput, match="at least 0"):
        improve(occupation, measure, at_most=-1)


# ---- the four aspects ----


def test_privacy_vulnerability_by_hand() -> None:
    # root, two inner nodes with 2 nodes on their path, three leaves with 3.
    tree = tree_of(Hierarchy.of_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*")]))
    expected = (0 + 2 * math.log2(1 + 1 / 2) ** 2 + 3 * math.log2(1 + 2 / 3) ** 2) / 6
    assert privacy_vulnerability(tree) == pytest.approx(expected)


@settings(max_examples=40, deadline=None)
@given(trees())
def test_privacy_vulnerability_is_the_log_feature_distance_in_the_own_tree(tree: Tree) -> None:
    labels = [str(label) for label in tree.labels]
    links = [(labels[i], labels[p]) for i, p in enumerate(tree.parent.tolist()) if p >= 0]
    own = from_edges(links)
    measure = distance("log-feature", own)
    expected = np.mean([measure.pair(label, own.root) ** 2 for label in labels])
    assert privacy_vulnerability(tree) == pytest.approx(expected)


@pytest.mark.parametrize("policy", POLICIES)
@settings(max_examples=30, deadline=None)
@given(tree=trees())
def test_padding_changes_neither_interval_size_nor_vulnerability(policy: str, tree: Tree) -> None:
    padded = to_hierarchy(tree, policy=policy)  # type: ignore[arg-type]
    assert interval_size(padded) == pytest.approx(interval_size(tree))
    assert privacy_vulnerability(padded) == pytest.approx(privacy_vulnerability(tree))


def test_minimal_distortion_by_hand() -> None:
    jobs = Hierarchy.of_rows([("a", "x", "*"), ("b", "x", "*"), ("c", "y", "*"), ("d", "y", "*")])
    assert minimal_distortion(jobs, [3, 3, 3, 3], 3) == 0
    assert minimal_distortion(jobs, [1, 3, 3, 3], 3) == 0.5
    assert minimal_distortion(jobs, [1, 1, 3, 3], 3) == 1
    assert minimal_distortion(jobs, [0, 3, 3, 3], 3) == 0  # a label without rows is in nobody's way
    with pytest.raises(Infeasible, match="not even the top"):
        minimal_distortion(jobs, [1, 0, 0, 0], 3)
    with pytest.raises(BadInput, match="k must be"):
        minimal_distortion(jobs, [1, 1, 1, 1], 0)


@settings(max_examples=40, deadline=None)
@given(hierarchies(), st.data())
def test_minimal_distortion_is_the_lowest_level_that_holds(hierarchy: Hierarchy, data: st.DataObject) -> None:
    n = len(hierarchy.leaves)
    counts = data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    k = data.draw(st.integers(1, sum(counts)))
    rows = hierarchy.rows()
    for level in range(hierarchy.height + 1):
        sizes: dict[object, int] = {}
        for row, count in zip(rows, counts, strict=True):
            sizes[row[level]] = sizes.get(row[level], 0) + count
        if min(sizes.values()) >= k:
            assert minimal_distortion(hierarchy, counts, k) == level / hierarchy.height
            return


def test_rewards_are_fair_and_the_best_wins() -> None:
    assert reward(np.array([0.5, 0.5, 0.1])).tolist() == [1.5, 1.5, 3.0]
    table = Evaluation(np.array([[1.0, 9, 9, 9], [2, 1, 1, 1], [3, 5, 5, 5]]), np.array([1.0, 0, 0, 0]))
    assert table.best == 0
    assert table.ranking.tolist() == [0, 1, 2]
    assert table.weighted([0.25] * 4).best == 1
    assert table.values.tolist() == [3, 2, 1]


def test_thirty_five_sets_of_weights() -> None:
    sets = weight_sets()
    assert len(sets) == len(set(sets)) == 35
    assert all(sum(w) == pytest.approx(1) for w in sets)
    assert (0.75, 0.25, 0.0, 0.0) in sets
    assert len(weight_sets(0.5)) == 10
    for step in (0, 0.3, -1):
        with pytest.raises(BadInput, match="must divide 1"):
            weight_sets(step)


def test_candidates_are_evaluated_and_swept() -> None:
    values, counts = ["nurse", "surgeon", "pianist", "violinist", "pilot"], [9, 8, 7, 6, 5]
    made = candidates(values, wordnet(), counts, wanted=40, rng=2)
    measure = distance("wu-palmer", wordnet())
    judged = evaluate(made, measure, counts, 10)
    assert judged.scores.shape == (40, 4)
    assert judged.scores[:, 0] == pytest.approx(scores(made, measure))
    wins = sweep(judged)
    assert len(wins) == 35
    assert wins[(1.0, 0.0, 0.0, 0.0)] == int(np.argmin(judged.scores[:, 0]))
    assert wins[(0.0, 0.0, 0.0, 1.0)] == int(np.argmin(judged.scores[:, 3].round(12)))


@pytest.mark.parametrize("weights", [(0.5, 0.5, 0.5, 0), (1, 0, 0), (2, -1, 0, 0)])
def test_weights_of_aspects_that_do_not_sum_to_one_are_refused(weights: tuple[float, ...]) -> None:
    with pytest.raises(BadInput, match="weights"):
        evaluate([base_hierarchy(["cat"], PETS)], distance("path", PETS), [1], 1, weights=weights)


def test_candidates_of_different_columns_are_refused() -> None:
    with pytest.raises(BadInput, match="same leaves"):
        evaluate([base_hierarchy(["cat"], PETS), base_hierarchy(["dog"], PETS)], distance("path", PETS), [1], 1)
    with pytest.raises(BadInput, match="no candidates"):
        evaluate([], None, [], 1)


# ---- choosing ----


def heights(found: list[Hierarchy]) -> np.ndarray:
    return np.array([float(h.height) for h in found])


def test_the_best_of_each_column_is_chosen_before_anonymizing() -> None:
    ages = numeric_candidates(range(17, 91), name="age")
    pets = candidates(["cat", "dog", "lion"], PETS, [3, 2, 1], wanted=10, name="pet")
    measure = distance("wu-palmer", PETS)
    chosen = choose({"age": ages, "pet": pets}, {"pet": measure}, preferences={"age": 1, "pet": 3})
    best = {"age": scores(ages).min(), "pet": scores(pets, measure).min()}
    assert chosen.total == pytest.approx(set_score(best, {"age": 1, "pet": 3}))
    assert chosen.hierarchies["pet"] is pets[chosen.positions["pet"]]
    assert chosen.times.scoring > 0
    assert choose({"age": ages}, heights).hierarchies["age"].height == min(h.height for h in ages)  # type: ignore[arg-type]


def test_both_ways_run_the_same_steps_and_are_timed() -> None:
    ages = numeric_candidates(range(17, 91), name="age")
    calls: list[str] = []

    def step(name: str, result: object) -> object:
        calls.append(name)
        return result

    steps = Steps(
        read=lambda: step("read", "table"),
        anonymize=lambda table, chosen: step("anonymize", (table, chosen["age"].height)),
        write=lambda result: step("write", None),
        loss=lambda result: float(step("loss", result[1])),  # type: ignore[arg-type]
    )
    before = a_priori({"age": ages}, steps)
    assert calls == ["read", "anonymize", "write", "loss"]
    assert before.result == ("table", before.hierarchies["age"].height)
    calls.clear()
    after = a_posteriori([{"age": h} for h in ages], steps)
    assert calls.count("read") == 1
    assert calls.count("anonymize") == calls.count("loss") == calls.count("write") == len(ages)
    assert after.loss == min(h.height for h in ages)
    assert after.losses is not None
    assert after.losses.tolist() == [h.height for h in ages]
    calls.clear()
    a_posteriori([{"age": h} for h in ages[:3]], steps, read_once=False)
    assert calls.count("read") == 3
    assert after.times.total == pytest.approx(
        after.times.reading + after.times.anonymizing + after.times.writing + after.times.measuring
    )
    assert after.times.scoring == 0


def test_sets_that_cannot_meet_the_goal_are_passed_over() -> None:
    ages = numeric_candidates(range(17, 91), name="age")

    def anonymize(table: object, chosen: dict[str, Hierarchy]) -> int:
        if chosen["age"].height > 3:
            raise Infeasible("k cannot be met")
        return chosen["age"].height

    steps = Steps(anonymize, float)  # type: ignore[arg-type]
    found = a_posteriori([{"age": h} for h in ages], steps)
    assert found.loss is not None
    assert found.loss <= 3
    assert found.losses is not None
    assert np.isinf(found.losses).any()
    with pytest.raises(Infeasible, match="none of the"):
        a_posteriori([{"age": h} for h in ages if h.height > 3], steps)


def test_sets_by_rank() -> None:
    ages = numeric_candidates(range(17, 91), name="age")
    judged = {"age": scores(ages)}
    first, last = ranked_sets({"age": ages}, judged, (1, len(ages)))
    assert score(first["age"]).total == judged["age"].min()
    assert score(last["age"]).total == judged["age"].max()
    with pytest.raises(BadInput, match="no rank 1000"):
        ranked_sets({"age": ages}, judged, (1000,))


def test_choosing_from_nothing_is_refused() -> None:
    with pytest.raises(BadInput, match="at least one candidate"):
        choose({"age": []})
    with pytest.raises(BadInput, match="no hierarchies to try"):
        a_posteriori([], Steps(lambda t, h: None, lambda r: 0.0))
    with pytest.raises(BadInput, match="finite number"):
        choose({"age": numeric_candidates(range(9))}, lambda found: np.array([math.nan]))
    assert by_gsl()([]).tolist() == []
    assert Times(1, 2, 3, 4, 5).total == 15


# ---- whole tables ----


def test_a_whole_table_gets_hierarchies_in_one_call() -> None:
    counts = Counts.of(
        {
            "job": ["nurse", "pilot", "nurse", "surgeon"],
            "age": [31, 45, 62, 31],
            "zip": ["81667", "81675", "01069", "01069"],
            "born": ["1980-01-02", "1970-05-05", "1960-10-10", "1980-01-02"],
            "risk": ["low", "high", "medium", "low"],
        }
    )
    made = hierarchies_for(counts, wordnet(), orders={"risk": ["low", "medium", "high"]}, wanted=30, rng=1)
    assert {n: h.kind for n, h in made.best.items()} == {
        "job": "nominal",
        "age": "numeric",
        "zip": "code",
        "born": "date",
        "risk": "ordinal",
    }
    assert len(made.candidates["job"]) == 30
    for name in counts.names:
        for hierarchy in made.candidates[name]:
            assert [f for f in check(hierarchy, counts.values_of(name)) if f.is_error] == []
    assert 0 <= (made.choice.total or 0) <= 1


def test_values_in_no_taxonomy_stop_a_table_or_are_listed() -> None:
    table = {"job": {"nurse": 5, "xyzzyx": 2}}
    with pytest.raises(MissingValues, match="job: 1 of 2 values"):
        hierarchies_for(table, wordnet())
    made = hierarchies_for(table, wordnet(), unknown="list", wanted=5, rng=1)
    assert made.best["job"].info["unknown"] == ("xyzzyx",)


def test_kinds_are_guessed() -> None:
    assert guess_kind([1, np.int64(2), None]) == "numeric"
    assert guess_kind([True, False]) == "nominal"
    assert guess_kind(["2020-01-01", "2021-13-01"]) == "nominal"
    assert guess_kind(["123", "456"]) == "nominal"
    assert guess_kind([None]) == "nominal"


@pytest.mark.parametrize(
    ("columns_", "options", "message"),
    [
        ({}, {}, "no columns"),
        ({"a": []}, {}, "a: the column is empty"),
        ({"a": ["nurse"]}, {}, "give a taxonomy"),
        ({"a": [1]}, {"kinds": {"b": "numeric"}}, "no column 'b'"),
        ({"a": ["x"]}, {"kinds": {"a": "ordinal"}}, "needs its order"),
        ({"a": ["x"]}, {"orders": {"a": ["y"]}}, "1 values of the column are missing"),
        ({"a": [1]}, {"preferences": {"a": -1}}, "preferences"),
    ],
)
def test_bad_tables_are_refused(columns_: dict, options: dict, message: str) -> None:
    with pytest.raises(BadInput, match=message):
        hierarchies_for(columns_, **options)
