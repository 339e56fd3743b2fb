"""PRAM, the baselines without meaning, and edit rules."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.edit_rules import Edit, broken, mend
from keepsense.methods.perturb.naive_baselines import distort_by_frequency, distort_naively, swap_freely
from keepsense.methods.perturb.noise import correlated_noise, noise
from keepsense.methods.perturb.pram import draw, estimate, made_invariant, pram
from keepsense.methods.perturb.rank_swapping import swap_by_clusters
from keepsense.methods.perturb.rank_swapping_of_tuples import rank_swapping_of_tuples
from keepsense.methods.perturb.strict_rank_swapping import check_groups, strict_rank_swapping
from keepsense.semantics.attribute import Nominal, Ordered
from keepsense.semantics.distance import distance
from keepsense.semantics.distance_correlation import distance_correlation
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import rmse


def _table(rows: int = 600) -> tuple[Counts, list[Nominal]]:
    edges = [(f"{a}.{b}.{c}", f"{a}.{b}") for a in range(5) for b in range(4) for c in range(4)]
    edges += [(f"{a}.{b}", f"{a}") for a in range(5) for b in range(4)] + [(f"{a}", "top") for a in range(5)]
    taxonomy = from_edges(edges)
    leaves = [taxonomy.ids[c] for c in taxonomy.leaves()]
    rng = np.random.default_rng(3)
    centres = np.stack([rng.permutation(len(leaves))[:15] for _ in range(2)], axis=1)
    chosen = centres[rng.integers(0, 15, rows)] // 2 * 2 + rng.integers(0, 2, (rows, 2))
    counts = Counts.of({name: [leaves[i] for i in chosen[:, j]] for j, name in enumerate("ab")})
    return counts, [Nominal.of(counts, name, distance("wu-palmer", taxonomy)) for name in "ab"]


def test_semantic_matrix_keeps_as_asked_and_prefers_near_values() -> None:
    counts, (column, _) = _table()
    rule = pram(counts, column, keep=0.7)
    assert np.allclose(rule.probabilities.sum(1), 1)
    assert np.allclose(rule.probabilities.diagonal(), 0.7)
    away = column.matrix[0].copy()
    others = np.delete(np.arange(len(away)), 0)
    by_distance = others[np.argsort(away[others])]
    chances = rule.probabilities[0][by_distance]
    assert (np.diff(chances) <= 1e-12).all()
    assert rule.info["publish"] is True
    tight = pram(counts, column, keep=0.7, near=1e-4)
    assert np.allclose(tight.probabilities.sum(1), 1)


def test_a_drawn_release_follows_its_matrix_and_can_be_corrected() -> None:
    counts = Counts.of({"x": ["a"] * 3000 + ["b"] * 1000})
    rule = pram(counts, "x", np.array([[0.8, 0.2], [0.4, 0.6]]))
    cells = draw(counts, [rule], rng=5)
    cells.check(counts)
    released = cells.apply(counts).marginal("x")
    expected = np.array([3000 * 0.8 + 1000 * 0.4, 3000 * 0.2 + 1000 * 0.6])
    assert np.abs(released - expected).max() < 5 * np.sqrt(900)
    assert estimate(rule, released) == pytest.approx([3000, 1000], abs=300)
    assert estimate(rule, expected) == pytest.approx([3000, 1000])


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_an_invariant_matrix_keeps_expected_counts(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = Counts.of({"x": [f"v{i}" for i in range(size)] + [f"v{i}" for i in rng.integers(0, size, 50)]})
    matrix = rng.random((size, size)) + 0.01
    rule = made_invariant(pram(counts, "x", matrix / matrix.sum(1, keepdims=True)), counts)
    assert counts.marginal("x") @ rule.probabilities == pytest.approx(counts.marginal("x"))


def test_several_columns_are_drawn_independently_of_each_other() -> None:
    counts = Counts.of({"x": ["a", "b"] * 500, "y": ["c", "d"] * 500})
    flip = np.array([[0.5, 0.5], [0.5, 0.5]])
    cells = draw(counts, [pram(counts, "x", flip), pram(counts, "y", flip)], rng=2)
    cells.check(counts)
    joint = cells.apply(counts).weights
    assert len(joint) == 4
    assert np.abs(joint - 250).max() < 80


def test_bad_matrices_are_refused() -> None:
    counts = Counts.of({"x": ["a", "b"], "y": ["c", "c"]})
    with pytest.raises(BadInput, match="does not fit"):
        pram(counts, "x", np.eye(3))
    with pytest.raises(BadInput, match="sum to 1"):
        pram(counts, "x", np.ones((2, 2)))
    with pytest.raises(BadInput, match="give a transition matrix"):
        pram(counts, "x")
    with pytest.raises(BadInput, match="keep"):
        pram(counts, Nominal.of(counts, "x", 1.0 - np.eye(2)), keep=1)
    with pytest.raises(BadInput, match="one value only"):
        pram(counts, Nominal.of(counts, "y", np.zeros((1, 1))))
    rule = pram(counts, "x", np.eye(2))
    with pytest.raises(BadInput, match="does not know"):
        draw(Counts.of({"x": ["a", "z"]}), [rule])


# ---- baselines ----------------------------------------------------------------------------------------------------


def test_baselines_do_what_they_say() -> None:
    counts, _ = _table()
    free = swap_freely(counts, ["a", "b"], rng=1)
    assert (free.apply(counts).marginal("a") == counts.marginal("a")).all()
    naive = distort_naively(counts, ["a"], rng=1)
    assert naive.info["unchanged"]["a"] == 0
    assert naive.apply(counts).marginal("a").std() < counts.marginal("a").std()
    by_frequency = distort_by_frequency(counts, ["a"], rng=1).apply(counts)
    assert np.corrcoef(by_frequency.marginal("a"), counts.marginal("a"))[0, 1] > 0.5
    for method in (swap_freely, distort_naively, distort_by_frequency):
        with pytest.raises(BadInput, match="one value only"):
            method(Counts.of({"x": ["a", "a"]}), ["x"])
        with pytest.raises(BadInput, match="no column"):
            method(counts, [])


def test_every_semantic_method_beats_its_baseline_in_error_and_correlation() -> None:
    counts, columns = _table()
    names = [c.name for c in columns]

    def scores(make: object) -> tuple[float, float]:
        errors, kept = [], []
        for seed in range(3):
            cells = make(seed)  # type: ignore[operator]
            released = cells.apply(counts)
            errors.append(rmse(counts, cells, columns[0]))
            kept.append(distance_correlation(released, *(c.reweighted(released) for c in columns)))
        return float(np.mean(errors)), float(np.mean(kept))

    free = scores(lambda s: swap_freely(counts, names, rng=s))
    for k in (2, 20, 100):
        for method in (swap_by_clusters, rank_swapping_of_tuples, strict_rank_swapping):
            error, kept = scores(lambda s, m=method, k=k: m(counts, columns, k=k, rng=s))
            assert error < free[0]
            assert kept > free[1]
    naive = scores(lambda s: distort_naively(counts, names, rng=s))
    drawn = scores(lambda s: distort_by_frequency(counts, names, rng=s))
    for alpha in (0.1, 1.0):
        for method in (noise, correlated_noise):
            error, kept = scores(lambda s, m=method, a=alpha: m(counts, columns, alpha=a, rng=s))
            assert error < min(naive[0], drawn[0])
            assert kept > max(naive[1], drawn[1])
    error, kept = scores(lambda s: draw(counts, [pram(counts, c, keep=0.6) for c in columns], rng=s))
    assert error < min(naive[0], drawn[0])
    assert kept > max(naive[1], drawn[1])


# ---- edit rules ---------------------------------------------------------------------------------------------------


def _clinic(rows: int = 400) -> tuple[Counts, Edit]:
    rng = np.random.default_rng(1)
    sex = rng.choice(["f", "m"], rows)
    illness = [
        str(rng.choice(["flu", "gout"] + (["prostatitis"] if s == "m" else ["endometriosis"]), p=[0.5, 0.3, 0.2]))
        for s in sex
    ]
    counts = Counts.of({"sex": sex.tolist(), "illness": illness, "age": rng.integers(20, 90, rows).tolist()})
    return counts, Edit("men have no prostate in women", {"sex": {"f"}, "illness": {"prostatitis"}})


def test_mending_leaves_no_broken_record_and_keeps_the_columns() -> None:
    counts, rule = _clinic()
    other = Edit("no endometriosis in men", {"sex": ["m"], "illness": lambda v: v == "endometriosis"})
    assert not broken([rule, other], counts).any()
    for cells in (
        swap_freely(counts, ["illness"], rng=2),
        swap_freely(counts, ["sex", "illness"], rng=2),
        distort_by_frequency(counts, ["sex", "illness"], rng=2),
    ):
        fixed = mend(counts, cells, [rule, other], rng=3)
        fixed.check(counts)
        assert fixed.info["mended"] > 0
        place = [fixed.names.index(n) if n in fixed.names else None for n in ("sex", "illness")]
        for r in range(len(fixed.source)):
            sex, illness = (
                fixed.values[at][fixed.codes[r, at]] if at is not None else counts.values_of(n)[counts.column(n)[s]]
                for n, at, s in zip(("sex", "illness"), place, [fixed.source[r]] * 2, strict=True)
            )
            assert (sex, illness) not in {("f", "prostatitis"), ("m", "endometriosis")}
        for name in cells.names:
            assert (fixed.apply(counts).marginal(name) == cells.apply(counts).marginal(name)).all()


def test_mending_stays_inside_groups() -> None:
    counts, rule = _clinic()
    columns = [
        Nominal.of(counts, "illness", 1.0 - np.eye(len(counts.values_of("illness")))),
        Ordered.of(counts, "age"),
    ]
    cells = strict_rank_swapping(counts, columns, k=25, together=True, rng=4)
    fixed = mend(counts, cells, [rule], rng=1)
    assert check_groups(counts, fixed, 25) <= 1 / 25


def test_what_cannot_be_mended_is_refused() -> None:
    counts = Counts.of({"sex": ["f", "f"], "illness": ["prostatitis", "flu"]})
    rule = Edit("impossible", {"sex": {"f"}, "illness": {"prostatitis"}})
    with pytest.raises(Infeasible, match="1 of 2 records"):
        mend(counts, swap_freely(counts, ["illness"], rng=1), [rule])
    with pytest.raises(BadInput, match="nothing to mend"):
        mend(counts, swap_freely(counts, ["illness"], rng=1), [Edit("none", {"sex": {"f"}})])
    with pytest.raises(BadInput, match="no column 'sexx'"):
        mend(counts, swap_freely(counts, ["illness"], rng=1), [Edit("typo", {"sexx": {"f"}})])
