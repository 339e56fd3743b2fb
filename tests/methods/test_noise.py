"""Noise: replacements against the rule written out, what noise keeps, streams, numbers, and what is refused."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.strategies import taxonomies

from keepsense.counts import Counts
from keepsense.errors import BadInput, UnknownConcept
from keepsense.methods.perturb import noise_on_words
from keepsense.methods.perturb.noise import correlated_noise, noise
from keepsense.methods.perturb.noise_on_numbers import noise_on_numbers
from keepsense.methods.perturb.noise_on_streams import NoiseStream
from keepsense.methods.perturb.noise_on_words import (
    Candidates,
    correlated_errors,
    replace_by_partner,
    replace_by_reference,
)
from keepsense.semantics.attribute import Nominal, Ordered
from keepsense.semantics.distance import distance
from keepsense.semantics.distance_correlation import distance_correlation
from keepsense.semantics.semantic_operators import semantic_mean, semantic_variance
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import rmse

FEW = settings(max_examples=40, deadline=None)


def _tree(width: int = 4, depth: int = 4) -> Taxonomy:
    edges, level = [], ["r"]
    for _ in range(depth):
        below = [f"{node}.{i}" for node in level for i in range(width)]
        edges += [(child, child.rpartition(".")[0]) for child in below]
        level = below
    return from_edges(edges)


def _correlated(rows: int = 800, profiles: int = 12) -> tuple[Counts, list[Nominal]]:
    taxonomy = _tree()
    leaves = [taxonomy.ids[c] for c in taxonomy.leaves()]
    rng = np.random.default_rng(1)
    centres = np.stack([rng.permutation(len(leaves))[:profiles] for _ in range(2)], axis=1)
    chosen = centres[rng.integers(0, profiles, rows)] // 2 * 2 + rng.integers(0, 2, (rows, 2))
    counts = Counts.of({name: [leaves[i] for i in chosen[:, j]] for j, name in enumerate("ab")})
    measure = distance("wu-palmer", taxonomy)
    return counts, [Nominal.of(counts, name, measure) for name in "ab"]


def _allowed(
    matrix: NDArray[np.float64], value: int, reference: int, error: float, free: bool
) -> tuple[set[int], bool, bool]:
    """Concepts the rule of Sec. 6.3 allows for one record, and whether it was not far enough or lost its sign."""
    away = matrix[:, reference]
    if error == 0:
        return {value}, False, False
    if free and value == reference:
        side = list(range(len(matrix)))
    elif error > 0:
        side = [c for c in range(len(matrix)) if away[c] > away[value] + 1e-12]
    else:
        side = [c for c in range(len(matrix)) if away[c] < away[value] - 1e-12]
    unsided = not side
    if unsided:
        side = list(range(len(matrix)))
    far = [c for c in side if matrix[c, value] >= abs(error) - 1e-12]
    if far:
        best = min(matrix[c, value] for c in far)
        return {c for c in far if matrix[c, value] <= best + 1e-12}, False, unsided
    best = max(matrix[c, value] for c in side)
    return {c for c in side if matrix[c, value] >= best - 1e-12}, True, unsided


@FEW
@given(taxonomies(), st.sampled_from(["wu-palmer", "log-feature", "path"]), st.integers(0, 2**32 - 1), st.booleans())
def test_replacements_by_a_fixed_reference_follow_the_rule(
    taxonomy: Taxonomy, name: str, seed: int, free: bool
) -> None:
    rng = np.random.default_rng(seed)
    measure = distance(name, taxonomy)
    counts = Counts.of({"x": [taxonomy.ids[int(c)] for c in rng.integers(0, len(taxonomy), 20)]})
    column = Nominal.of(counts, "x", measure)
    matrix = measure.matrix(range(len(taxonomy)))
    codes = np.repeat(counts.column("x"), counts.weights)
    errors = rng.normal(0, 0.4 * max(0.1, matrix.max()), len(codes))
    errors[0] = 0.0
    reference = int(rng.integers(len(taxonomy)))
    found = replace_by_reference(column, codes, errors, reference, free_at_reference=free, rng=rng)
    rules = [
        _allowed(matrix, int(column.concepts[c]), reference, e, free)  # type: ignore[index]
        for c, e in zip(codes, errors, strict=True)
    ]
    for concept, (allowed, _, _) in zip(found.concepts.tolist(), rules, strict=True):
        assert concept in allowed
    assert found.short == sum(short for _, short, _ in rules)
    assert found.unsided == sum(unsided for _, _, unsided in rules)


@FEW
@given(taxonomies(), st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_replacements_beside_a_partner_follow_the_rule(taxonomy: Taxonomy, block: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    measure = distance("wu-palmer", taxonomy)
    words = [[taxonomy.ids[int(c)] for c in rng.integers(0, len(taxonomy), 20)] for _ in "ab"]
    counts = Counts.of({"a": words[0], "b": words[1]})
    a, b = (Nominal.of(counts, name, measure) for name in "ab")
    matrix = measure.matrix(range(len(taxonomy)))
    codes = [np.repeat(counts.column(name), counts.weights) for name in "ab"]
    errors = rng.normal(0, 0.4, counts.total)
    errors[0] = 0.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise_on_words, "_PARTNER_BYTES", 4 * len(taxonomy) * block)
        found = replace_by_partner(a, b, codes[0], codes[1], errors, rng=rng)
    rules = [
        _allowed(matrix, int(a.concepts[x]), int(b.concepts[y]), e, False)  # type: ignore[index]
        for x, y, e in zip(codes[0], codes[1], errors, strict=True)
    ]
    for concept, (allowed, _, _) in zip(found.concepts.tolist(), rules, strict=True):
        assert concept in allowed
    assert (found.short, found.unsided) == (sum(r[1] for r in rules), sum(r[2] for r in rules))


def test_long_walks_beside_a_partner_find_the_same_concepts() -> None:
    # One near concept on the right side behind thousands on the wrong one: the walk gives way to a list.
    edges = [("left", "top"), ("right", "top")] + [(f"l{i}", "left") for i in range(5000)]
    edges += [(f"r{i}", "right") for i in range(3)] + [("deep", "r0")]
    taxonomy = from_edges(edges)
    measure = distance("wu-palmer", taxonomy)
    counts = Counts.of({"a": ["l0", "l1"] * 30, "b": ["deep", "r1"] * 30})
    a, b = (Nominal.of(counts, name, measure) for name in "ab")
    codes = np.repeat(counts.codes, counts.weights, axis=0)
    rng = np.random.default_rng(1)
    errors = np.where(rng.random(60) < 0.5, -0.2, -0.75)
    found = replace_by_partner(a, b, codes[:, 0], codes[:, 1], errors, rng=rng)
    matrix = measure.matrix(range(len(taxonomy)))
    for i, concept in enumerate(found.concepts.tolist()):
        value, reference = int(a.concepts[codes[i, 0]]), int(b.concepts[codes[i, 1]])  # type: ignore[index]
        assert concept in _allowed(matrix, value, reference, errors[i], False)[0]


@pytest.mark.parametrize("kind", ["reference", "partner"])
def test_ties_are_drawn_uniformly(kind: str) -> None:
    taxonomy = from_edges(
        [("a", "top"), ("b", "top")] + [(f"a{i}", "a") for i in range(12)] + [("b1", "b"), ("b2", "b1")]
    )
    counts = Counts.of({"x": ["a0", "b1"] * 3000, "y": ["b2", "b2"] * 3000})
    measure = distance("wu-palmer", taxonomy)
    x, y = (Nominal.of(counts, name, measure) for name in "xy")
    codes = np.repeat(counts.codes, counts.weights, axis=0)
    errors = np.full(6000, 0.3)
    if kind == "reference":
        found = replace_by_reference(
            x, codes[:, 0], -errors, taxonomy.code("a1"), free_at_reference=True, rng=np.random.default_rng(1)
        )
        assert set(found.concepts[codes[:, 0] == 0].tolist()) == {taxonomy.code("a1")}
        found = replace_by_reference(
            x, codes[:, 0], errors, taxonomy.code("a0"), free_at_reference=True, rng=np.random.default_rng(1)
        )
    else:
        found = replace_by_partner(y, x, codes[:, 1], codes[:, 0], errors * 0 - 0.9, rng=np.random.default_rng(1))
        seen = Counter(found.concepts[codes[:, 0] == 0].tolist())
        nearer = [c for c in range(len(taxonomy)) if measure.pair(c, "a0") < measure.pair("b2", "a0")]
        far = max(measure.pair(c, "b2") for c in nearer)
        ties = [c for c in nearer if measure.pair(c, "b2") >= far - 1e-12]
        assert set(seen) == set(ties)
        assert len(ties) == 12
        assert max(abs(n - 3000 / 12) for n in seen.values()) < 5 * np.sqrt(250)
        return
    seen = Counter(found.concepts[codes[:, 0] == 0].tolist())
    assert set(seen) == {taxonomy.code(f"a{i}") for i in range(1, 12)}
    assert max(abs(n - 3000 / 11) for n in seen.values()) < 5 * np.sqrt(3000 / 11)


# ---- what noise does to meaning -----------------------------------------------------------------------------------


def test_error_grows_with_alpha_and_meets_its_target() -> None:
    counts, columns = _correlated()
    for method, reference in ((noise, "mean"), (noise, "root"), (correlated_noise, "partner")):
        cells = [method(counts, columns, alpha, reference=reference, rng=2) for alpha in (0.1, 0.3, 0.5, 1)]  # type: ignore[operator]
        errors = [rmse(counts, c, columns[0]) for c in cells]
        assert errors == sorted(errors)
        # A concept at least as far as the error: the actual error is not below the target until the domain ends.
        assert errors[0] >= cells[0].info["target_rmse"]["a"]
        assert cells[0].info["not_far_enough"]["a"] <= cells[3].info["not_far_enough"]["a"]


def test_correlated_noise_keeps_the_distance_correlation_better() -> None:
    counts, columns = _correlated()
    original = distance_correlation(counts, *columns)

    def kept(method: object, reference: str, alpha: float) -> float:
        found = []
        for seed in range(3):
            released = method(counts, columns, alpha, reference=reference, rng=seed).apply(counts)  # type: ignore[operator]
            found.append(distance_correlation(released, *(c.reweighted(released) for c in columns)))
        return float(np.mean(found))

    for alpha in (0.3, 1):
        apart = kept(noise, "mean", alpha)
        for reference in ("mean", "partner", "root"):
            assert apart < kept(correlated_noise, reference, alpha) < original


def test_uncorrelated_noise_has_the_variance_asked_for() -> None:
    counts, columns = _correlated()
    variance = semantic_variance(columns[0], semantic_mean(columns[0], over="domain"))
    for distribution in ("normal", "laplace"):
        cells = noise(counts, columns[:1], alpha=0.25, distribution=distribution, rng=4)  # type: ignore[arg-type]
        assert cells.info["target_rmse"]["a"] == pytest.approx(np.sqrt(0.25 * variance), rel=0.12)
    flat = noise(counts, columns[:1], alpha=0.25, distribution=lambda rng, shape: np.zeros(shape), rng=4)
    assert flat.info["unchanged"]["a"] == counts.total
    assert rmse(counts, flat, columns[0]) == 0


def test_laplace_errors_have_their_covariance_and_heavier_tails() -> None:
    covariance = np.array([[0.4, 0.1], [0.1, 0.2]])
    rng = np.random.default_rng(1)
    normal = correlated_errors("normal", rng, 60_000, covariance)
    laplace = correlated_errors("laplace", rng, 60_000, covariance)
    assert np.allclose(np.cov(normal.T), covariance, atol=0.01)
    assert np.allclose(np.cov(laplace.T), covariance, atol=0.02)
    assert (np.abs(laplace[:, 0]) > 2).mean() > 2 * (np.abs(normal[:, 0]) > 2).mean()


def test_noise_on_many_columns_works_by_mean_root_and_disjoint_pairs() -> None:
    counts, (a, _) = _correlated(200)
    wide = Counts(
        ("a", "b", "c", "d"), counts.values * 2, np.tile(counts.codes, (1, 2)).astype(np.int32), counts.weights
    )
    columns = [Nominal.of(wide, name, a.distance) for name in "abcd"]  # type: ignore[arg-type]
    for options in ({"reference": "mean"}, {"reference": "root"}, {"reference": "partner"}):
        cells = correlated_noise(wide, columns, alpha=0.3, rng=1, **options)  # type: ignore[arg-type]
        cells.check(wide)
        assert cells.names == ("a", "b", "c", "d")
    crossed = correlated_noise(wide, columns, alpha=0.3, reference="partner", pairs=[("a", "d"), ("c", "b")], rng=1)
    crossed.check(wide)
    assert np.linalg.eigvalsh(np.array(crossed.info["covariance"])).min() > -1e-9


def test_noise_repeats_with_a_seed_and_says_nothing_of_it() -> None:
    counts, columns = _correlated(100)
    first, second = (noise(counts, columns, alpha=0.3, rng=918273) for _ in range(2))
    assert (first.codes == second.codes).all()
    assert "918273" not in repr(first.info)
    assert "private" not in repr(first.info).lower()


# ---- streams ------------------------------------------------------------------------------------------------------


def test_a_stream_has_the_distribution_of_the_whole_table() -> None:
    counts, columns = _correlated(400)
    words = [counts.values_of("a")[c] for c in np.repeat(counts.column("a"), counts.weights)]
    word = words[0]
    stream = NoiseStream(counts, columns[0], 0.3, rng=1, remember=3)
    batches = stream.batches([word] * 50 + words[:5] for _ in range(80))
    streamed: Counter[object] = Counter()
    for batch in batches:
        streamed.update(batch[:50])
    whole: Counter[object] = Counter()
    at = counts.values_of("a").index(word)
    for seed in range(400):
        if sum(whole.values()) >= 4000:
            break
        cells = noise(counts, columns[:1], alpha=0.3, rng=seed)
        mine = counts.column("a")[cells.source] == at
        for code, times in zip(cells.codes[mine, 0], cells.multiplicity[mine], strict=True):
            whole[cells.values[0][code]] += int(times)
    scale = sum(streamed.values()) / sum(whole.values())
    for value in set(streamed) | set(whole):
        expected = whole[value] * scale
        assert abs(streamed[value] - expected) < 6 * np.sqrt(streamed[value] + expected + 5)
    assert len(stream._known) <= 3


def test_a_stream_refuses_what_it_cannot_place() -> None:
    counts, columns = _correlated(50)
    stream = NoiseStream(counts, columns[0], 0.3, reference="root", rng=1)
    assert stream.protect([]) == []
    with pytest.raises(UnknownConcept, match=r"1 value\(s\)") as caught:
        stream.protect(["r.0", "a secret"])
    assert "secret" not in str(caught.value)
    with pytest.raises(BadInput, match="a stream takes"):
        NoiseStream(counts, columns[0], 0.3, reference="partner")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="remember"):
        NoiseStream(counts, columns[0], 0.3, remember=0)


# ---- numbers ------------------------------------------------------------------------------------------------------


def _numbers() -> tuple[Counts, list[Ordered]]:
    rng = np.random.default_rng(2)
    x = rng.normal(50, 10, 4000)
    y = 0.8 * x + rng.normal(0, 6, 4000)
    counts = Counts.of({"x": x.round(1).tolist(), "y": y.round(1).tolist()})
    return counts, [Ordered.of(counts, name) for name in "xy"]


def _released(counts: Counts, cells: object, name: str) -> NDArray[np.float64]:
    at = cells.names.index(name)  # type: ignore[attr-defined]
    column = np.array(cells.values[at], dtype=float)[cells.codes[:, at]]  # type: ignore[attr-defined]
    return np.repeat(column, cells.multiplicity)  # type: ignore[attr-defined]


@pytest.mark.parametrize("correlated", [False, True])
def test_numbers_keep_mean_and_scaled_variance_and_correlated_noise_the_correlation(correlated: bool) -> None:
    counts, columns = _numbers()
    cells = noise_on_numbers(counts, columns, alpha=0.4, correlated=correlated, rng=3)
    cells.check(counts)
    before = np.stack([np.repeat(c.positions[counts.column(c.name)], counts.weights) for c in columns])
    after = np.stack([_released(counts, cells, c.name) for c in columns])
    assert after.mean(1) == pytest.approx(before.mean(1), rel=0.02)
    assert after.var(1) == pytest.approx(1.4 * before.var(1), rel=0.08)
    moved = np.corrcoef(after)[0, 1] - np.corrcoef(before)[0, 1]
    assert (abs(moved) < 0.03) == correlated


def test_numbers_stay_whole_and_levels_stay_levels() -> None:
    levels = ["low", "middle", "high"]
    counts = Counts.of({"age": [20, 30, 40] * 10, "risk": levels * 10})
    columns = [Ordered.of(counts, "age"), Ordered.of(counts, "risk", levels=levels)]
    cells = noise_on_numbers(counts, columns, alpha=0.5, rng=1)
    assert all(isinstance(v, int) for v in cells.values[0])
    assert set(cells.values[1]) == set(levels)
    money = Counts.of({"pay": [1.25, 3.5]})
    cells = noise_on_numbers(money, [Ordered.of(money, "pay")], alpha=0.5, decimals=2, rng=1)
    assert all(v == round(v, 2) for v in cells.values[0])  # type: ignore[call-overload]


# ---- refused ------------------------------------------------------------------------------------------------------


def test_bad_input_is_refused_by_name() -> None:
    counts, (a, b) = _correlated(40)
    for alpha in (0, -1, float("nan"), "much"):
        with pytest.raises(BadInput, match="alpha"):
            noise(counts, [a], alpha=alpha)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="reference"):
        noise(counts, [a], alpha=0.1, reference="median")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="distribution"):
        noise(counts, [a], alpha=0.1, distribution="uniform")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="finite numbers"):
        noise(counts, [a], alpha=0.1, distribution=lambda rng, shape: np.zeros(3))
    with pytest.raises(BadInput, match="at least two columns"):
        correlated_noise(counts, [a], alpha=0.1)
    with pytest.raises(BadInput, match="disjoint pairs"):
        noise(counts, [a], alpha=0.1, reference="partner")
    with pytest.raises(BadInput, match="disjoint pairs"):
        noise(counts, [a, b], alpha=0.1, reference="partner", pairs=[("a", "a")])
    with pytest.raises(BadInput, match="twice"):
        noise(counts, [a, a], alpha=0.1)
    other = Nominal.of(counts, "b", distance("wu-palmer", _tree(4, 5)))
    with pytest.raises(BadInput, match="'a' and 'b' are of different domains"):
        correlated_noise(counts, [a, other], alpha=0.1, reference="partner")
    with pytest.raises(BadInput, match="different domains"):
        noise(counts, [a, Nominal.of(counts, "b", distance("path", _tree()))], alpha=0.1, reference="partner")
    flat = Counts.of({"x": ["r.0"] * 3, "n": [1, 1, 1]})
    with pytest.raises(BadInput, match="'x' holds one value"):
        noise(flat, [Nominal.of(flat, "x", distance("path", _tree()))], alpha=0.1)
    with pytest.raises(BadInput, match="'n' holds one value"):
        noise_on_numbers(flat, [Ordered.of(flat, "n")], alpha=0.1)
    with pytest.raises(BadInput, match="alpha"):
        noise_on_numbers(counts, [Ordered.of(Counts.of({"n": [1, 2]}), "n")], alpha=0)
    matrix_only = Nominal.of(counts, "a", a.matrix)
    with pytest.raises(BadInput, match="needs a taxonomy"):
        noise(counts, [matrix_only], alpha=0.1)


# ---- ties, leaves, moments, words with numbers -----------------------------------------------------------------------


@pytest.mark.parametrize("reference", ["mean", "root"])
def test_the_first_of_equally_near_concepts_can_be_asked_for(reference: str) -> None:
    counts, columns = _correlated(300)
    once, again = (noise(counts, columns, alpha=0.3, reference=reference, ties="first", rng=7) for _ in range(2))  # type: ignore[arg-type]
    assert once.codes.tolist() == again.codes.tolist()
    column, matrix = columns[0], columns[0].bound()[0].against_all(np.arange(len(columns[0].bound()[0].taxonomy)))
    concept = int(column.bound()[1][0])
    errors = np.array([0.05, 0.3, 0.6])
    fixed = semantic_mean(column, over="domain").concept if reference == "mean" else column.bound()[0].taxonomy.root
    made = replace_by_reference(
        column,
        np.zeros(3, np.int32),
        errors,
        fixed,
        free_at_reference=False,
        rng=np.random.default_rng(1),
        ties="first",
    )
    for error, got in zip(errors, made.concepts.tolist(), strict=True):
        allowed, _, _ = _allowed(matrix, concept, fixed, float(error), False)
        assert got == min(allowed)


def test_leaves_keep_mean_and_variance_better_than_all_concepts() -> None:
    counts, columns = _correlated(1500)
    leaves = set(columns[0].bound()[0].taxonomy.leaves().tolist())
    everything, exact = (noise(counts, columns, alpha=0.3, among=among, rng=3) for among in ("all", "leaves"))  # type: ignore[arg-type]
    for name in "ab":
        reached, better = (cells.info["variance"][name] for cells in (everything, exact))
        assert reached["expected"] == pytest.approx(1.3 * reached["before"])
        assert abs(better["reached"] - better["expected"]) < abs(reached["reached"] - reached["expected"])
        assert exact.info["mean_moved"][name] <= everything.info["mean_moved"][name]
    taxonomy = columns[0].bound()[0].taxonomy
    assert {taxonomy.get(str(value)) for values in exact.values for value in values} <= leaves


def test_the_variance_reached_and_the_shift_of_the_mean_are_those_of_the_release() -> None:
    counts, columns = _correlated(400)
    cells = noise(counts, columns[:1], alpha=0.4, rng=5)
    after = Nominal.of(cells.apply(counts), "a", columns[0].bound()[0])
    mean = semantic_mean(after, over="domain")
    assert cells.info["variance"]["a"]["reached"] == pytest.approx(semantic_variance(after, mean))
    before = semantic_mean(columns[0], over="domain")
    assert cells.info["mean_moved"]["a"] == pytest.approx(columns[0].bound()[0].pair(before.concept, mean.concept))


def test_correlated_noise_keeps_what_numbers_have_to_do_with_words() -> None:
    rng = np.random.default_rng(4)
    counts, (word, _) = _correlated(1200)
    labels = [counts.values_of("a")[c] for c in np.repeat(counts.column("a"), counts.weights)]
    place = {value: i for i, value in enumerate(sorted(set(labels)))}
    ages = [10 * place[label] + int(rng.integers(0, 4)) for label in labels]
    table = Counts.of({"word": labels, "age": ages})
    columns = [Nominal.of(table, "word", word.bound()[0]), Ordered.of(table, "age")]
    before = distance_correlation(table, *columns)
    kept = []
    for method in (noise, correlated_noise):
        cells = method(table, columns, alpha=0.5, reference="root", rng=9)
        after = cells.apply(table)
        released = [Nominal.of(after, "word", word.bound()[0]), Ordered.of(after, "age")]
        kept.append(distance_correlation(after, *released))
    assert abs(before - kept[1]) < abs(before - kept[0])
    info = correlated_noise(table, columns, alpha=0.5, rng=9).info
    assert info["method"] == "semantic noise, correlated, with numbers"
    assert set(info["unchanged"]) == set(info["target_rmse"]) == {"word", "age"}
    ages_now = np.array([float(v) for v in correlated_noise(table, columns, alpha=0.5, rng=9).values[1]])
    assert np.isfinite(ages_now).all()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ties": "last"}, "ties = 'last'"),
        ({"among": "roots"}, "among = 'roots'"),
        ({"reference": "partner", "ties": "first"}, "partner"),
    ],
)
def test_other_choices_are_refused_by_name(wrong: dict[str, str], message: str) -> None:
    counts, columns = _correlated(50)
    with pytest.raises(BadInput, match=message):
        noise(counts, columns, alpha=0.3, rng=1, **wrong)  # type: ignore[arg-type]


def test_concepts_equally_far_stand_in_the_order_of_the_taxonomy_whatever_the_processor_sorts_by() -> None:
    """An unstable sort orders equals by the width of the processor's vectors, and a seed would give another release."""
    row = np.repeat([0.25, 0.5, 0.0], 400)[np.random.default_rng(1).permutation(1200)]
    line = Candidates.of(row, 0, None, row).everything
    assert line.steps.tolist() == [0.0, 0.25, 0.5]
    assert np.array_equal(line.order, np.argsort(row, kind="stable"))
    assert line.starts.tolist() == [0, 400, 800, 1200]


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_drawing_from_steps_of_distance_equals_searching_every_distance(seed: int, free: bool) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 30))
    row, away = rng.integers(0, 6, size) / 5 + rng.choice([0.0, 1e-15, 1e-3], size), rng.integers(0, 4, size) / 3
    row[0] = 0.0
    errors = rng.normal(0, 0.7, 200)
    drawn = Candidates.of(row, 0, 0 if free else None, away).draw(errors, 0, np.random.default_rng(seed))
    again, expected, short, unsided = np.random.default_rng(seed), np.zeros(200, np.int64), 0, 0
    for sign in (1, -1):
        mine = np.flatnonzero(errors * sign > 0)
        side = np.flatnonzero(sign * (away - away[0]) > 1e-12) if not free else np.arange(size)
        unsided += 0 if len(side) else len(mine)
        side = side if len(side) else np.arange(size)
        side = side[np.argsort(row[side], kind="stable")]
        for i, chance in zip(mine, again.random(len(mine)) if len(mine) else (), strict=True):
            enough = row[side] >= abs(errors[i]) - 1e-12
            short += not enough.any()
            level = row[side][enough].min() if enough.any() else row[side].max()
            near = side[np.abs(row[side] - level) <= 1e-12]
            expected[i] = near[int(chance * len(near))]
    assert np.array_equal(drawn.concepts, expected)
    assert (drawn.short, drawn.unsided) == (short, unsided)
