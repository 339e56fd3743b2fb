"""Differential privacy: the bound itself, computed from the odds that are drawn; budgets; OpenDP noise."""

from __future__ import annotations

import dataclasses
import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.counts import Counts
from keepsense.errors import BadInput, BudgetExceeded, MissingExtra
from keepsense.methods.perturb import dp_words as module
from keepsense.methods.perturb.dp_numbers import noisy_count, noisy_histogram, noisy_means, release_numbers
from keepsense.methods.perturb.dp_words import exponential_matrix, release_categories, release_words, response_matrix
from keepsense.methods.perturb.naive_baselines import distort_by_frequency
from keepsense.methods.perturb.pram import estimate
from keepsense.methods.perturb.privacy_budget import Budget
from keepsense.recoding import Draws
from keepsense.secure_random import generator
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import pair_distances

FEW = settings(max_examples=40, deadline=None)


def _loss(table: np.ndarray) -> float:
    logs = np.log(table)
    return float((logs.max(0) - logs.min(0)).max())


@FEW
@given(taxonomies(), st.floats(0.01, 12.0), st.sampled_from(["wu-palmer", "path", "lin", "feature"]))
def test_any_two_values_are_told_apart_by_at_most_epsilon(taxonomy: Taxonomy, epsilon: float, name: str) -> None:
    if len(taxonomy) < 2:
        return
    measure = distance(name, taxonomy)
    for cells in (1 << 22, 0):  # exactly calibrated, and by the usual bound
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(module, "_EXACT_CELLS", cells)
            sharp = module._sharpness(measure, np.arange(len(taxonomy), dtype=np.int32), epsilon)
        # The odds that are drawn are whole numbers; the bound is theirs.
        odds = [module._odds(row, sharp).tolist() for row in measure.matrix(range(len(taxonomy)))]
        sums = [sum(row) for row in odds]
        logs = np.array([[math.log(x) - math.log(total) for x in row] for row, total in zip(odds, sums, strict=True)])
        loss = float((logs.max(0) - logs.min(0)).max())
        assert loss <= epsilon + 1e-12
        if cells and np.ptp(measure.matrix(range(len(taxonomy)))) > 0:
            assert loss > 0.4 * epsilon
        assert max(sums) <= 2**62


def test_calibration_spends_all_of_epsilon_on_a_small_domain() -> None:
    taxonomy = from_edges(
        [(f"{a}.{b}", f"{a}") for a in range(4) for b in range(4)] + [(f"{a}", "t") for a in range(4)]
    )
    leaves = [taxonomy.ids[c] for c in taxonomy.leaves()]
    rule = exponential_matrix("x", distance("wu-palmer", taxonomy), 1.5, leaves)
    assert _loss(rule.probabilities) == pytest.approx(1.5, rel=1e-6)
    assert rule.inputs == rule.outputs == tuple(leaves)


@FEW
@given(st.integers(2, 30), st.floats(0.001, 20))
def test_randomized_response_loses_exactly_epsilon(size: int, epsilon: float) -> None:
    rule = response_matrix("x", list(range(size)), epsilon)
    assert _loss(rule.probabilities) == pytest.approx(epsilon, rel=1e-6)
    assert np.allclose(rule.probabilities.sum(1), 1)


def test_words_follow_the_published_matrix_and_stay_nearer_with_a_larger_epsilon() -> None:
    taxonomy = from_edges(
        [(f"{a}.{b}", f"{a}") for a in range(4) for b in range(4)] + [(f"{a}", "top") for a in range(4)]
    )
    measure = distance("wu-palmer", taxonomy)
    counts = Counts.of({"x": ["0.0"] * 20_000 + ["3.1"] * 20_000})
    column = Nominal.of(counts, "x", measure)
    cells = release_words(counts, [column], 4.0, Budget(4.0), rng=1, spelling="id")
    cells.check(counts)
    rule = exponential_matrix("x", measure, 4.0)
    for value, row in enumerate(rule.probabilities[taxonomy.codes(["0.0", "3.1"])]):
        drawn = np.zeros(len(taxonomy))
        mine = cells.source == value
        np.add.at(drawn, cells.codes[mine, 0], cells.multiplicity[mine])
        assert np.abs(drawn / 20_000 - row).max() < 0.015
    assert cells.values[0] == tuple(taxonomy.ids)
    errors = []
    for epsilon in (0.5, 4.0, 16.0):
        cells = release_words(counts, [column], epsilon, Budget(20), rng=2)
        away = pair_distances(measure, column.concepts[counts.codes[cells.source, 0]], cells.codes[:, 0])  # type: ignore[index]
        errors.append(float(away @ cells.multiplicity) / counts.total)
    assert errors[0] > errors[1] > errors[2]


def test_the_semantic_mechanism_beats_randomized_response_in_distance() -> None:
    taxonomy = from_edges(
        [(f"{a}.{b}", f"{a}") for a in range(10) for b in range(10)] + [(f"{a}", "t") for a in range(10)]
    )
    measure = distance("wu-palmer", taxonomy)
    leaves = [taxonomy.ids[c] for c in taxonomy.leaves()]
    rng = np.random.default_rng(1)
    counts = Counts.of({"x": [leaves[i] for i in rng.integers(0, 100, 4000)]})
    column = Nominal.of(counts, "x", measure)
    epsilon = 2.0
    meant = release_words(counts, [column], epsilon, Budget(2), domains={"x": leaves}, rng=1, spelling="id")
    blind = release_categories(counts, [response_matrix("x", leaves, epsilon)], Budget(2), rng=1)
    errors = []
    for cells in (meant, blind):
        after = taxonomy.codes(cells.values[0])[cells.codes[:, 0]]  # type: ignore[arg-type]
        away = pair_distances(measure, column.concepts[counts.codes[cells.source, 0]], after)  # type: ignore[index]
        errors.append(float(away @ cells.multiplicity) / counts.total)
    assert errors[0] < errors[1]
    assert set(meant.values[0]) == set(leaves)


def test_released_dictionaries_do_not_tell_which_values_occurred() -> None:
    taxonomy = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog")], names={"cat": ["cat", "kitty"]})
    measure = distance("wu-palmer", taxonomy)
    outputs = set()
    for word in ("kitty", "cat", "pug"):
        counts = Counts.of({"x": [word] * 3})
        outputs.add(release_words(counts, [Nominal.of(counts, "x", measure)], 1.0, Budget(1), rng=1).values)
    assert outputs == {(("cat", "pet", "dog", "pug"),)} or len(outputs) == 1
    info = release_words(counts, [Nominal.of(counts, "x", measure)], 1.0, Budget(1), rng=1).info
    assert "unchanged" not in info


def test_draws_have_exactly_the_odds() -> None:
    drawn = module._draw_exactly(np.array([1, 0, 2, 1], dtype=np.int64), 40_000, generator(3))
    share = np.bincount(drawn, minlength=4) / 40_000
    assert share[1] == 0
    assert np.abs(share - [0.25, 0, 0.5, 0.25]).max() < 0.02


def test_seeded_draws_differ_between_values() -> None:
    counts = Counts.of({"x": ["a"] * 50 + ["b"] * 50})
    cells = release_categories(counts, [response_matrix("x", ["a", "b"], 0.01)], Budget(1), rng=3)
    kept = [int(cells.multiplicity[(cells.source == i) & (cells.codes[:, 0] == i)].sum()) for i in (0, 1)]
    again = release_categories(counts, [response_matrix("x", ["a", "b"], 0.01)], Budget(1), rng=3)
    assert (cells.multiplicity == again.multiplicity).all()
    assert 10 < kept[0] < 40
    assert 10 < kept[1] < 40


# ---- budgets ------------------------------------------------------------------------------------------------------


def test_a_budget_refuses_before_anything_is_drawn() -> None:
    taxonomy = from_edges([("cat", "pet"), ("dog", "pet")])
    counts = Counts.of({"x": ["cat", "dog"], "y": ["cat", "cat"]})
    columns = [Nominal.of(counts, name, distance("path", taxonomy)) for name in "xy"]
    budget = Budget(1.0)
    with pytest.raises(BudgetExceeded, match=r"needs epsilon = 1\.2"):
        release_words(counts, columns, 0.6, budget, rng=1)
    assert budget.ledger == ()
    release_words(counts, columns, {"x": 0.3, "y": 0.3}, budget, rng=1)
    assert budget.spent == pytest.approx(0.6)
    assert budget.ledger[0][0] == "words of x, words of y"
    with pytest.raises(BudgetExceeded):
        noisy_count(3, 0.5, budget)
    with pytest.raises(BudgetExceeded):
        release_numbers(Counts.of({"a": [1], "b": [2]}), {"a": (0, 9), "b": (0, 9)}, 0.3, budget)
    assert budget.spent == pytest.approx(0.6)
    for _ in range(4):
        budget.spend(0.1, "tenth")
    with pytest.raises(BudgetExceeded):
        budget.spend(0.001, "more")


def test_matrices_cost_what_they_lose_whatever_they_claim() -> None:
    counts = Counts.of({"x": ["a", "b"]})
    liar = Draws("x", ("a", "b"), ("a", "b"), np.array([[0.9, 0.1], [0.1, 0.9]]), {"epsilon": 0.001})
    budget = Budget(3.0)
    release_categories(counts, [liar], budget, rng=1)
    assert budget.spent == pytest.approx(math.log(9))
    with pytest.raises(BadInput, match="impossible transitions"):
        release_categories(counts, [Draws("x", ("a", "b"), ("a", "b"), np.eye(2))], Budget(5))


@pytest.mark.parametrize("epsilon", [0, -1, float("inf"), float("nan"), "1", True])
def test_bad_epsilons_are_refused_by_name(epsilon: float) -> None:
    counts = Counts.of({"x": ["cat", "dog"], "n": [1, 2]})
    column = Nominal.of(counts, "x", distance("path", from_edges([("cat", "pet"), ("dog", "pet")])))
    for call in (
        lambda: Budget(epsilon),
        lambda: release_words(counts, [column], epsilon, Budget(1)),
        lambda: response_matrix("x", ["cat", "dog"], epsilon),
        lambda: noisy_count(3, epsilon, Budget(1)),
        lambda: noisy_histogram(
            counts, list({"x": ["cat", "dog"]}), domains={"x": ["cat", "dog"]}, epsilon=epsilon, budget=Budget(1)
        ),
        lambda: noisy_means(counts, "n", (0, 9), 1, epsilon, Budget(1)),
        lambda: release_numbers(counts, {"n": (0, 9)}, epsilon, Budget(1)),
    ):
        with pytest.raises(BadInput, match="epsilon"):
            call()


def test_other_bad_input_is_refused_by_name() -> None:
    taxonomy = from_edges([("cat", "pet"), ("dog", "pet")])
    counts = Counts.of({"x": ["cat", "dog"]})
    column = Nominal.of(counts, "x", distance("path", taxonomy))
    with pytest.raises(BadInput, match="cannot be drawn exactly"):
        release_words(counts, [column], 1e-12, Budget(1))
    with pytest.raises(BadInput, match="cannot be drawn exactly"):
        release_words(counts, [column], 200, Budget(500))
    with pytest.raises(BadInput, match="at least two concepts"):
        release_words(counts, [column], 1, Budget(1), domains={"x": ["cat"]})
    with pytest.raises(BadInput, match="not released"):
        release_words(counts, [column], 1, Budget(1), domains={"z": ["cat", "dog"]})
    with pytest.raises(BadInput, match="values outside the declared domain"):
        release_words(counts, [column], 1, Budget(1), domains={"x": ["cat", "pet"]})
    with pytest.raises(BadInput, match="epsilon is given for"):
        release_words(counts, [column], {"y": 1}, Budget(1))
    with pytest.raises(BadInput, match="at least two values"):
        response_matrix("x", ["cat", "cat"], 1)
    with pytest.raises(BadInput, match="values outside"):
        release_categories(counts, [response_matrix("x", ["cat", "cow"], 1)], Budget(1))


# ---- counts and numbers, through OpenDP ---------------------------------------------------------------------------


def test_counts_get_noise_of_the_right_size() -> None:
    budget = Budget(1000)
    drawn = np.array([noisy_count(50, 0.5, budget) for _ in range(400)])
    assert abs(drawn.mean() - 50) < 1.0
    assert 2.0 < drawn.std() < 3.9  # discrete Laplace with scale 2 has deviation 2.8
    assert budget.spent == pytest.approx(200)


def test_histograms_cover_the_declared_domain_and_nothing_else() -> None:
    counts = Counts.of({"x": ["a"] * 400 + ["b"] * 300, "y": ["u", "v"] * 350})
    domains = {"x": ["a", "b", "c"], "y": ["u", "v"]}
    released = noisy_histogram(counts, list(domains), domains=domains, epsilon=2.0, budget=Budget(2))
    assert released.values == (("a", "b", "c"), ("u", "v"))
    assert abs(released.marginal("x")[0] - 400) < 60
    assert (released.weights > 0).all()
    # Combinations nobody has turn up as well: their absence would tell.
    empty = Counts.of({"x": ["a"]})
    seen = [
        len(
            noisy_histogram(
                empty, list({"x": [*range(200), "a"]}), domains={"x": [*range(200), "a"]}, epsilon=0.5, budget=Budget(1)
            )
        )
        for _ in range(3)
    ]
    assert min(seen) > 20
    for bad, message in (({"x": ["a"]}, "outside"), ({"x": ["a", "a", "b"]}, "twice"), ({}, "at least one")):
        with pytest.raises(BadInput, match=message):
            noisy_histogram(counts, list(bad), domains=bad, epsilon=1.0, budget=Budget(1))
    with pytest.raises(BadInput, match="combinations"):
        noisy_histogram(
            counts,
            list({"x": list(range(10_000)), "y": list(range(10_000))}),
            domains={"x": list(range(10_000)), "y": list(range(10_000))},
            epsilon=1.0,
            budget=Budget(1),
        )
    with pytest.raises(BadInput, match="neighbours"):
        noisy_histogram(counts, list(domains), domains=domains, epsilon=1.0, budget=Budget(1), neighbours="one")  # type: ignore[arg-type]


def test_numbers_stay_within_declared_bounds() -> None:
    counts = Counts.of({"age": [20, 30, 400, -5] * 50, "pay": [1.5, 2.5, 3.5, 4.5] * 50})
    budget = Budget(3)
    cells = release_numbers(counts, {"age": (0, 120), "pay": (0.0, 10.0)}, {"age": 1.0, "pay": 2.0}, budget)
    cells.check(counts)
    assert budget.remaining == 0
    assert all(isinstance(v, int) and 0 <= v <= 120 for v in cells.values[0])
    assert all(0 <= v <= 10 for v in cells.values[1])
    for bounds in ((5, 5), (9, 1), (0, float("inf"))):
        with pytest.raises(BadInput, match="bounds"):
            release_numbers(counts, {"age": bounds}, 1.0, Budget(1))


def test_means_of_groups_need_less_noise() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(50, 10, 2000).round(1).tolist()
    counts = Counts.of({"x": values})
    plain = release_numbers(counts, {"x": (0.0, 100.0)}, 1.0, Budget(1))
    before = np.sort(values)
    noisy = np.sort(np.repeat(np.array(plain.values[0])[plain.codes[:, 0]], plain.multiplicity))
    grouped = noisy_means(counts, "x", (0.0, 100.0), 50, 1.0, Budget(1))
    after = np.sort(np.repeat(np.array(grouped.values[0]), grouped.weights))
    assert grouped.total == 2000
    assert np.abs(after - before).mean() < 0.2 * np.abs(noisy - before).mean()
    for k in (0, 2001, 2.5):
        with pytest.raises(BadInput, match="k ="):
            noisy_means(counts, "x", (0.0, 100.0), k, 1.0, Budget(1))  # type: ignore[arg-type]


def test_groups_of_words_or_of_several_columns_are_refused() -> None:
    counts = Counts.of({"x": [1, 2, 3], "y": ["cat", "dog", "dog"]})
    column = Nominal.of(counts, "y", distance("path", from_edges([("cat", "pet"), ("dog", "pet")])))
    for columns in (["x", "y"], column):
        with pytest.raises(BadInput, match="one column of numbers"):
            noisy_means(counts, columns, (0, 9), 2, 1.0, Budget(1.0))  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="not numbers"):
        noisy_means(counts, "y", (0, 9), 2, 1.0, Budget(1.0))


@FEW
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_sorted_means_move_by_no_more_than_the_width_over_k(k: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 30))
    table = rng.random(n)
    other = table.copy()
    other[rng.integers(n)] = rng.random()
    group = np.minimum(np.arange(n) // k, n // k - 1)
    means = [np.bincount(group, np.sort(x)) / np.bincount(group) for x in (table, other)]
    assert np.abs(means[0] - means[1]).sum() <= 1 / k + 1e-12


def test_without_opendp_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtra, match=r"keepsense\[dp\]"):
        noisy_count(3, 1.0, Budget(1))


def test_randomized_response_can_be_corrected() -> None:
    counts = Counts.of({"x": ["a"] * 6000 + ["b"] * 3000 + ["c"] * 1000})
    rule = response_matrix("x", ["a", "b", "c"], 1.0)
    released = release_categories(counts, [rule], Budget(1), rng=1).apply(counts).marginal("x")
    assert estimate(rule, released) == pytest.approx([6000, 3000, 1000], abs=500)
    assert distort_by_frequency(counts, ["x"], rng=1).info["method"] == "distortion by frequency"


# ---- nothing about the mechanism depends on the data -----------------------------------------------------------------


def project_chances(words: list[str], **column: object) -> dict[str, dict[str, float]]:
    """Chances of every word to come out as every other, in a project file that promises differential privacy."""
    from keepsense.methods.method import method
    from keepsense.progress import Event
    from keepsense.release.example import example_job

    job = example_job(
        columns={"seen": {"role": "quasi-identifier", "taxonomy": "wordnet", **column}},
        privacy=[{"model": "differential privacy", "epsilon": 1.0}],
        method={"name": "semantic exponential mechanism"},
    )
    job = dataclasses.replace(job, data={"seen": words})
    rules = []

    class Listening:
        every_step = True

        def __call__(self, event: Event) -> None:
            if event.name == "drawn":
                rules.append(event.details["rule"])

    chances = {}
    domain = ["crane", "heron", "bulldozer", "bird", "machine"]
    method("semantic exponential mechanism").run(job, {"domains": {"seen": domain}}, Listening())
    for i, word in enumerate(rules[0].inputs):
        chances[word] = dict(zip(rules[0].outputs, rules[0].probabilities[i].tolist(), strict=True))
    return chances


def test_what_a_word_means_does_not_depend_on_the_other_records() -> None:
    """Tables that differ in one record: the chances of everybody else's word must be the same."""
    birds = project_chances(["crane"] * 50 + ["heron"])
    machines = project_chances(["crane"] * 50 + ["bulldozer"])
    assert birds["crane"] == machines["crane"]


def test_chances_of_any_two_words_differ_by_no_more_than_epsilon_allows() -> None:
    chances = project_chances(["crane", "heron", "bulldozer"])
    for first in chances.values():
        for second in chances.values():
            assert max(first[word] / second[word] for word in first) <= math.exp(1.0) * (1 + 1e-9)


@pytest.mark.parametrize("senses", ["joint", "lesk"])
def test_senses_that_look_at_other_records_are_refused(senses: str) -> None:
    with pytest.raises(BadInput, match="set senses = 'first'"):
        project_chances(["crane", "heron"], senses=senses)


def test_a_taxonomy_made_of_the_columns_own_words_is_refused() -> None:
    from keepsense.semantics.attribute import nominal
    from keepsense.taxonomy.embedded_taxonomies import wordnet

    counts = Counts.of({"seen": ["crane", "heron"]})
    with pytest.raises(BadInput, match="over="):
        release_words(counts, [nominal(counts, "seen", wordnet())], 1.0, Budget(1.0))
