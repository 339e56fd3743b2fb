"""The semantic operators against their definitions written out row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.strategies import taxonomies

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible, UnknownConcept
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal, Ordered, nominal
from keepsense.semantics.distance import distance
from keepsense.semantics.distance_correlation import (
    centred,
    covariance_matrix,
    dependence,
    distance_correlation,
    distance_variance,
    nearest_semidefinite,
)
from keepsense.semantics.semantic_operators import (
    closeness_ranks,
    most_distant_from,
    most_distant_tuple,
    most_distant_value,
    semantic_mean,
    semantic_variance,
    tuple_distances,
)
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import pair_distances, rmse

FEW = settings(max_examples=40, deadline=None)


@st.composite
def tables(draw: st.DrawFn, columns: int = 2, least: int = 3) -> tuple[Taxonomy, Counts, list[Nominal]]:
    taxonomy = draw(taxonomies())
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(least, 30))
    names = list("abcdef"[:columns])
    table = {name: [taxonomy.ids[int(c)] for c in rng.integers(0, len(taxonomy), n)] for name in names}
    counts = Counts.of(table)
    measure = distance("wu-palmer", taxonomy)
    return taxonomy, counts, [Nominal.of(counts, name, measure) for name in names]


def _rows(counts: Counts, name: str) -> NDArray[np.int32]:
    return np.repeat(counts.column(name), counts.weights)


@FEW
@given(tables(columns=1, least=1), st.sampled_from(["attribute", "domain"]))
def test_mean_is_the_least_distant_concept_and_reports_every_tie(case: tuple, over: str) -> None:
    taxonomy, counts, (column,) = case
    measure = column.distance
    rows = [str(column.values[v]) for v in _rows(counts, "a")]
    inside = set(taxonomy.descendants(taxonomy.lcs(*set(rows))).tolist()) if over == "attribute" else set(taxonomy)
    totals = {c: sum(measure.pair(c, r) for r in rows) for c in sorted(inside)}
    least = min(totals.values())
    ties = tuple(c for c, total in totals.items() if total <= least + 1e-9)
    found = semantic_mean(column, over=over)  # type: ignore[arg-type]
    assert found.ties == ties
    assert found.concept == ties[0]
    assert found.total == pytest.approx(least)
    variance = sum(measure.pair(found.concept, r) ** 2 for r in rows) / len(rows)
    assert semantic_variance(column, found) == pytest.approx(variance)


def test_mean_need_not_occur_and_a_matrix_has_its_own_values_as_candidates() -> None:
    edges = [("a1", "a"), ("a2", "a"), ("a3", "a"), ("a4", "a"), ("a", "top"), ("b", "top")]
    assert semantic_mean(nominal(Counts.of({"x": ["a1", "a2", "a3"]}), "x", from_edges(edges))).label == "a1"
    counts = Counts.of({"x": ["a1", "a2", "a3", "a4"]})
    assert semantic_mean(nominal(counts, "x", from_edges(edges))).label == "a"
    matrix = np.array([[0, 1, 3], [1, 0, 1], [3, 1, 0]], dtype=float)
    column = Nominal.of(Counts.of({"x": ["a1", "a2", "a3"]}), "x", matrix)
    assert semantic_mean(column).label == "a2"
    assert semantic_variance(column) == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def dcor() -> Any:
    """The package, imported by the one worker that needs it: it compiles when imported, and two at once spoil it."""
    import dcor

    return dcor


@FEW
@given(case=tables())
def test_distance_correlation_equals_the_package_on_the_same_matrices(dcor: Any, case: tuple) -> None:
    _, counts, (a, b) = case
    first = a.matrix[np.ix_(_rows(counts, "a"), _rows(counts, "a"))]
    second = b.matrix[np.ix_(_rows(counts, "b"), _rows(counts, "b"))]
    one, other = dcor.double_centered(first), dcor.double_centered(second)
    squared = dcor.mean_product(one, other)
    scale = np.sqrt(dcor.mean_product(one, one) * dcor.mean_product(other, other))
    found = dependence(counts, a, b)
    assert found.covariance**2 == pytest.approx(max(0.0, squared), abs=1e-12)
    assert found.first_variance == pytest.approx(np.sqrt(dcor.mean_product(one, one)), abs=1e-9)
    expected = np.sqrt(max(0.0, squared) / scale) if scale > 1e-15 else 0.0
    if squared > 1e-15 or squared < -1e-15:
        assert found.correlation == pytest.approx(expected, abs=1e-9)
    assert found.clipped == (squared < -1e-12)


def test_distance_correlation_equals_the_package_on_numbers(dcor: Any) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(0, 12, 300)
    y = x // 2 + rng.integers(0, 4, 300)
    counts = Counts.of({"x": x.tolist(), "y": y.tolist()})
    found = distance_correlation(counts, Ordered.of(counts, "x"), Ordered.of(counts, "y"))
    assert found == pytest.approx(dcor.distance_correlation(x.astype(float), y.astype(float)), abs=1e-9)


def test_a_distance_not_of_negative_type_is_clipped_at_zero() -> None:
    # The graph distance of K(3,3) is not of negative type: against its two sides the double sum comes out negative.
    graph = np.array([[0 if i == j else (1 if (i < 3) != (j < 3) else 2) for j in range(6)] for i in range(6)], float)
    counts = Counts.of({"a": list("uvwxyz"), "b": list("lllrrr")})
    sides = Nominal.of(counts, "b", np.array([[0.0, 1.0], [1.0, 0.0]]))
    found = dependence(counts, Nominal.of(counts, "a", graph), sides)
    assert found.clipped
    assert found.covariance == 0.0
    assert found.correlation == 0.0


def test_centred_rows_average_to_zero_under_the_weights() -> None:
    matrix = np.array([[0, 2, 5], [2, 0, 4], [5, 4, 0]], float)
    weights = np.array([3, 1, 2])
    assert np.allclose(centred(matrix, weights) @ weights, 0)


def test_correlation_is_zero_where_a_column_does_not_vary() -> None:
    counts = Counts.of({"a": ["x", "x"], "b": ["y", "z"]})
    a = Nominal.of(counts, "a", np.zeros((1, 1)))
    b = Nominal.of(counts, "b", np.array([[0.0, 1.0], [1.0, 0.0]]))
    assert distance_correlation(counts, a, b) == 0.0
    assert distance_variance(a) == 0.0


@FEW
@given(tables(columns=4))
def test_covariance_matrix_is_positive_semidefinite(case: tuple) -> None:
    _, counts, columns = case
    table, _ = covariance_matrix(counts, columns)
    assert np.linalg.eigvalsh(table).min() >= -1e-9
    assert np.allclose(table, table.T)


def test_nearest_semidefinite_leaves_good_matrices_alone() -> None:
    good = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert nearest_semidefinite(good) == (good, False) or nearest_semidefinite(good)[0] is good
    mended, changed = nearest_semidefinite(np.array([[1, 0.9, 0], [0.9, 1, 0.9], [0, 0.9, 1.0]]))
    assert changed
    assert np.linalg.eigvalsh(mended).min() >= -1e-12


@FEW
@given(tables())
def test_order_and_most_distant_agree_with_their_definitions(case: tuple) -> None:
    _, counts, (a, b) = case
    matrix = a.matrix
    reference = 0
    ranks = closeness_ranks(a, reference)
    for i in range(len(matrix)):
        for j in range(len(matrix)):
            near, far = matrix[i, reference], matrix[j, reference]
            assert (ranks[i] < ranks[j]) == (near < far - 1e-9)
    sums = matrix @ a.weights
    assert set(most_distant_value(a)) == set(np.flatnonzero(sums >= sums.max() - 1e-9))
    assert set(most_distant_from(a, 0)) == set(np.flatnonzero(matrix[0] >= matrix[0].max() - 1e-9))
    pairs = np.array(
        [
            [(matrix[x[0], y[0]] + b.matrix[x[1], y[1]]) / 2 for y in counts.codes.tolist()]
            for x in counts.codes.tolist()
        ]
    )
    assert np.allclose(tuple_distances(counts, [a, b], 0), pairs[0])
    sums = pairs @ counts.weights
    assert set(most_distant_tuple(counts, [a, b])) == set(
        np.flatnonzero(sums >= sums.max() - 1e-9 * max(1, sums.max()))
    )
    assert set(most_distant_tuple(counts, [a, b], 0)) == set(np.flatnonzero(pairs[0] >= pairs[0].max() - 1e-9))


def test_totals_agree_however_they_are_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    counts = Counts.of({"x": rng.integers(0, 50, 200).tolist()})
    column = Ordered.of(counts, "x")
    assert np.allclose(column.totals(), column.matrix @ column.weights)
    taxonomy = from_edges([(f"c{i}", f"c{i // 2}") for i in range(1, 60)])
    words = Counts.of({"x": [f"c{i}" for i in rng.integers(0, 60, 200)]})
    nouns = Nominal.of(words, "x", distance("wu-palmer", taxonomy))
    whole, row, order = nouns.totals(), nouns.row(4), nouns.order(4)
    monkeypatch.setattr("keepsense.semantics.attribute.MATRIX_CELLS", 0)
    fresh = Nominal.of(words, "x", distance("wu-palmer", taxonomy))
    assert np.allclose(fresh.totals(), whole)
    assert np.allclose(fresh.row(4), row)
    assert (fresh.order(4) == order).all()
    assert "matrix" not in vars(fresh)


@FEW
@given(tables(columns=1))
def test_pair_distances_and_rmse(case: tuple) -> None:
    taxonomy, counts, (column,) = case
    rng = np.random.default_rng(0)
    measure = column.distance
    first, second = (rng.integers(0, len(taxonomy), 12).astype(np.int32) for _ in range(2))
    expected = [measure.pair(int(i), int(j)) for i, j in zip(first, second, strict=True)]
    assert np.allclose(pair_distances(measure, first, second), expected)
    target = rng.integers(0, len(taxonomy), len(counts))
    cells = Cells(
        ("a",), (tuple(taxonomy.ids),), np.arange(len(counts)), target[:, None].astype(np.int32), counts.weights
    )
    squares = [
        w * measure.pair(str(counts.values[0][c]), int(t)) ** 2
        for c, t, w in zip(counts.codes[:, 0], target, counts.weights, strict=True)
    ]
    assert rmse(counts, cells, column) == pytest.approx(np.sqrt(sum(squares) / counts.total))


def test_new_concepts_are_spelled_so_that_they_lead_back() -> None:
    taxonomy = from_edges(
        [("1", "0"), ("2", "0"), ("3", "0")], names={"0": ["top"], "1": ["bank"], "2": ["bank"], "3": ["shore"]}
    )
    measure = distance("path", taxonomy)
    by_name = Nominal.of(Counts.of({"x": ["shore", "top"]}), "x", measure)
    spelled = by_name.spell([taxonomy.code(i) for i in ("1", "2", "3")])
    assert [taxonomy.code(str(s)) for s in spelled] == [taxonomy.code(i) for i in ("1", "2", "3")]
    assert spelled[2] == "shore"
    by_id = Nominal.of(Counts.of({"x": ["3", "0"]}), "x", measure)
    assert by_id.spell([taxonomy.code("2")]) == ("2",)


def test_bad_columns_are_refused_by_name() -> None:
    taxonomy = from_edges([("cat", "pet"), ("dog", "pet")])
    counts = Counts.of({"pet": ["cat", "unicorn"], "age": [1, 2]})
    with pytest.raises(UnknownConcept, match="'pet': 1 of its 2") as caught:
        nominal(counts, "pet", taxonomy)
    assert "unicorn" not in str(caught.value)
    with pytest.raises(BadInput, match="does not fit"):
        Nominal.of(counts, "pet", np.zeros((3, 3)))
    with pytest.raises(BadInput, match="symmetric"):
        Nominal.of(counts, "pet", np.array([[0.0, 1.0], [2.0, 0.0]]))
    with pytest.raises(BadInput, match="not numbers"):
        Ordered.of(counts, "pet")
    with pytest.raises(BadInput, match="levels"):
        Ordered.of(counts, "pet", levels=["cat", "dog"])
    with pytest.raises(BadInput, match="missing"):
        Ordered.of(Counts.of({"age": [1, None]}), "age")
    other = Counts.of({"age": [5, 6]})
    with pytest.raises(BadInput, match="another table"):
        distance_correlation(counts, Ordered.of(other, "age"), Ordered.of(counts, "age"))
    with pytest.raises(BadInput, match="needs a taxonomy"):
        Nominal.of(counts, "pet", np.zeros((2, 2))).bound()


def test_too_many_values_for_a_matrix_are_refused_before_memory_is_taken() -> None:
    counts = Counts.of({"x": list(range(20_000))})
    with pytest.raises(Infeasible, match="20,000"):
        _ = Ordered.of(counts, "x").matrix
