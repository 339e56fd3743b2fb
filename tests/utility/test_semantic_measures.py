"""Meaning lost: SemILoss, Semantic SSE and RMSE against their equations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadHierarchy, BadInput, UnknownConcept
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import Cells, Cut, Cuts
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.utility.semantic_loss import root_mean_square_error, semantic_loss, semantic_sse
from keepsense.utility.value_distances import value_concepts, value_distances

PETS = from_edges(
    [("cat", "feline"), ("lynx", "feline"), ("dog", "canine"), ("feline", "mammal"), ("canine", "mammal"),
     ("carp", "fish"), ("mammal", "animal"), ("fish", "animal")]
)  # fmt: skip
KEPT = Hierarchy.of_rows([("cat", "feline", "*"), ("lynx", "feline", "*"), ("dog", "beast", "*")], name="pet")
rows = st.lists(st.tuples(st.sampled_from(["cat", "lynx", "dog"]), st.integers(0, 2)), min_size=1, max_size=15)


@given(rows, st.integers(0, 10_000))
@settings(max_examples=40, deadline=None)
def test_equations_11_and_12_record_by_record(data, seed):
    rng = np.random.default_rng(seed)
    counts = Counts.of({"pet": [r[0] for r in data], "n": [r[1] for r in data]})
    values = (("a", "b", "*"), ("x", "y"))
    cells = Cells(
        ("pet", "n"), values, np.arange(len(counts)),
        np.stack([rng.integers(0, 3, len(counts)), rng.integers(0, 2, len(counts))], axis=1), counts.weights,
    )  # fmt: skip
    far = {name: rng.random((len(values[j]), len(counts.values_of(name)))) for j, name in enumerate(("pet", "n"))}
    per_record = [
        [far[name][cells.codes[i, j], counts.codes[i, j]] for j, name in enumerate(("pet", "n"))]
        for i in range(len(counts))
        for _ in range(counts.weights[i])
    ]
    table = np.array(per_record)
    assert semantic_loss(counts, cells, far) == pytest.approx(table.sum() / table.size)
    assert semantic_sse(counts, cells, far) == pytest.approx((table.mean(axis=1) ** 2).sum())
    errors = root_mean_square_error(counts, cells, far)
    assert [errors["pet"], errors["n"]] == pytest.approx(np.sqrt((table**2).mean(axis=0)))


def test_concepts_of_labels():
    found = value_concepts(KEPT, PETS)
    named = {label: PETS.label(code) for label, code in found.items()}
    assert named == {"cat": "cat", "lynx": "lynx", "dog": "dog", "feline": "feline", "beast": "dog", "*": "animal"}
    tops = tuple(np.full(len(labels), -1, dtype=np.int32) for labels in KEPT.labels)
    tops[0][:] = PETS.codes(KEPT.leaves)
    tops[2][:] = PETS.code("mammal")
    known = Hierarchy(KEPT.name, KEPT.labels, KEPT.codes, concepts=tops)
    assert PETS.label(value_concepts(known, PETS)["*"]) == "mammal", "a top with a concept keeps it"


@pytest.mark.parametrize("measure", ["wu-palmer", "leacock-chodorow", "path", "lin", "log-feature"])
def test_distances_are_those_of_the_concepts_over_their_maximum(measure):
    far = distance(measure, PETS)
    released, originals = ("feline", "beast", "*", "cat"), ("cat", "lynx", "dog")
    concepts = value_concepts(KEPT, PETS)
    found = value_distances(far, released, originals, concepts)
    for i, r in enumerate(released):
        for j, o in enumerate(originals):
            expected = 0.0 if r == o else far.pair(concepts[r], concepts[o]) / far.maximum
            assert found[i, j] == pytest.approx(expected)


def test_suppressed_records_stand_at_the_root():
    counts = Counts.of({"pet": ["cat", "dog"]})
    rule = Cuts((Cut("pet", ("cat", "dog"), ("cat", "dog")),), suppress=frozenset({("dog",)}))
    far = distance("wu-palmer", PETS)
    matrix = value_distances(far, rule.cells(counts).values[0], counts.values_of("pet"))
    expected = far.pair("dog", "animal") / far.maximum
    assert semantic_loss(counts, rule, {"pet": matrix}) == pytest.approx(expected / 2)
    assert semantic_sse(counts, rule, {"pet": matrix}) == pytest.approx(expected**2)


def test_what_is_missing_is_named():
    counts = Counts.of({"pet": ["cat"]})
    rule = Cuts((Cut("pet", ("cat",), ("feline",)),))
    for measure in (semantic_loss, semantic_sse, root_mean_square_error):
        with pytest.raises(BadInput, match="1 x 1 matrix of distances for column 'pet'"):
            measure(counts, rule, {})
    with pytest.raises(BadInput, match="1 of 2 values have no concept"):
        value_distances(distance("path", PETS), ["cat", "yeti"], ["cat"], {"cat": "cat"})
    with pytest.raises(UnknownConcept):
        value_distances(distance("path", PETS), ["yeti"], ["cat"])
    for measure in (semantic_loss, semantic_sse):
        with pytest.raises(BadInput, match="changes no column"):
            measure(counts, Cells((), (), np.array([0]), np.empty((1, 0)), np.array([1])), {})


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_distances_of_leaves_from_their_labels(seed: int) -> None:
    """Known leaves by the distance of concepts; strangers 0 while alone and 1 in company; by a slow walk."""
    from keepsense.utility.value_distances import leaf_distances

    rng = np.random.default_rng(seed)
    life = from_edges(
        [("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("cow", "animal"), ("oak", "life"), ("animal", "life")]
    )
    words = ["cat", "dog", "cow", "oak", "robot", None]
    kept = [w for w in words if rng.random() < 0.8] or ["cat"]
    group = {w: f"g{int(rng.integers(3))}" for w in kept}
    tree = Hierarchy.of_rows([(w, group[w], "*") for w in kept])
    measure = distance("path", life)
    if not any(w in ("cat", "dog", "cow", "oak") for w in kept):
        with pytest.raises(BadHierarchy):
            leaf_distances(tree, measure)
        return
    levels, hidden = leaf_distances(tree, measure)
    concepts = value_concepts(tree, life)
    assert levels[0].tolist() == [0.0] * len(kept)
    for i, word in enumerate(kept):
        for level, label in ((1, group[word]), (2, "*")):
            below = [w for w in kept if level == 2 or group[w] == label]
            if word in concepts:
                expected = measure.pair(concepts[label], concepts[word]) / measure.maximum
            else:
                expected = 0.0 if len(below) == 1 else 1.0
            assert levels[level][i] == pytest.approx(expected), (word, label)
        assert hidden[i] == pytest.approx(
            measure.pair(concepts["*"], concepts[word]) / measure.maximum if word in concepts else 1.0
        )
