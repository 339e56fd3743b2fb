"""Choosing senses: adapted Lesk against a plain reference, the joint choice against exhaustive search."""

from __future__ import annotations

import csv
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.arrays import Ints, Rows
from keepsense.errors import BadInput
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.glosses import gloss_words, pack_glosses
from keepsense.taxonomy.lookup import lookup
from keepsense.taxonomy.sense_disambiguation import (
    _columns,
    _phrase_vectors,
    _settle,
    choose,
    first_sense,
    has_glosses,
    joint,
    lesk,
    spread,
)
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_arrays, from_edges

WORDS = ["apple", "bird", "cat", "dog", "egg", "fish", "goat", "horse"]


def rows_of(options: list[list[int]]) -> Rows:
    return Rows.from_pairs([i for i, o in enumerate(options) for _ in o], [c for o in options for c in o], len(options))


@st.composite
def glossed(draw: st.DrawFn) -> Taxonomy:
    """A random taxonomy whose glosses share words and phrases."""
    plain = draw(taxonomies(14))
    glosses = [" ".join(draw(st.lists(st.sampled_from(WORDS), max_size=7))) for _ in plain]
    extra, tables = pack_glosses(glosses)
    return from_arrays(
        list(plain.ids),
        [plain.synonyms(c) for c in plain],
        plain.parents.row_of(),
        plain.parents.indices,
        relations={k: (r.row_of(), r.indices) for k, r in plain.relations.items()},
        extra=extra,
        tables=tables,
    )


@st.composite
def choices(draw: st.DrawFn, taxonomy: Taxonomy, max_words: int = 5) -> list[list[int]]:
    """Words with candidate concepts, no two words with the same."""
    row = st.lists(st.integers(0, len(taxonomy) - 1), min_size=1, max_size=3, unique=True)
    return draw(st.lists(row, min_size=1, max_size=max_words, unique_by=tuple))


# ---- adapted Lesk ----------------------------------------------------------------------------------------------------


def phrases(texts: list[list[int]]) -> set[tuple[int, ...]]:
    """Phrases of up to four words in any of the texts."""
    return {tuple(t[i : i + n]) for t in texts for n in range(1, 5) for i in range(len(t) - n + 1)}


def texts_of(taxonomy: Taxonomy, concept: int) -> list[set[tuple[int, ...]]]:
    parts = [
        c for kind in ("part", "member", "substance") for c in taxonomy.relations.get(kind, {concept: []})[concept]
    ]
    groups = [[concept], taxonomy.parents[concept], taxonomy.children[concept], parts]
    return [phrases([gloss_words(taxonomy, int(c)).tolist() for c in group]) for group in groups]


def overlap(taxonomy: Taxonomy, first: int, second: int) -> int:
    """Every text of the one against every text of the other; single words once, phrases twice."""
    pairs = product(texts_of(taxonomy, first), texts_of(taxonomy, second))
    return sum(1 if len(phrase) == 1 else 2 for a, b in pairs for phrase in a & b)


def lesk_reference(taxonomy: Taxonomy, options: list[list[int]]) -> list[list[float]]:
    """Score of every candidate: mean overlap with the candidates of each other word, added up."""
    return [
        [
            sum(
                float(np.mean([overlap(taxonomy, mine, other) for other in theirs]))
                for j, theirs in enumerate(options)
                if j != i
            )
            for mine in row
        ]
        for i, row in enumerate(options)
    ]


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_lesk_picks_a_candidate_of_the_highest_score(data: st.DataObject) -> None:
    taxonomy = data.draw(glossed())
    options = data.draw(choices(taxonomy))
    picked = lesk(taxonomy, rows_of(options))
    for scores, chosen in zip(lesk_reference(taxonomy, options), picked, strict=True):
        assert scores[chosen] == pytest.approx(max(scores), abs=1e-6)
        assert all(score < scores[chosen] - 1e-9 for score in scores[:chosen])


@settings(max_examples=25, deadline=None)
@given(glossed())
def test_overlaps_of_all_pairs_are_one_product(taxonomy: Taxonomy) -> None:
    vectors = _phrase_vectors(taxonomy, np.arange(len(taxonomy), dtype=np.int32)).toarray()
    expected = [[overlap(taxonomy, a, b) for b in taxonomy] for a in taxonomy]
    np.testing.assert_allclose(vectors @ vectors.T, expected, atol=1e-3)


def longest_overlaps(first: list[str], second: list[str]) -> int:
    """Banerjee and Pedersen's own count: take the longest shared phrase out of both, square its length, go on."""
    score = 0
    while True:
        best: tuple[int, int, int] = (0, 0, 0)
        for i, j in product(range(len(first)), range(len(second))):
            n = 0
            while i + n < len(first) and j + n < len(second) and first[i + n] == second[j + n] is not None:
                n += 1
            best = max(best, (n, -i, -j))
        n, i, j = best[0], -best[1], -best[2]
        if not n:
            return score
        score += n * n
        first = [*first[:i], "<", *first[i + n :]]
        second = [*second[:j], ">", *second[j + n :]]


@pytest.mark.parametrize(
    ("first", "second", "score"),
    [
        ("apple bird cat", "horse apple bird cat dog", 9),
        ("apple bird cat dog", "apple bird cat dog", 16),
        ("apple bird egg cat", "cat goat apple bird", 5),
        ("apple egg bird", "bird dog apple", 2),
        ("apple", "bird", 0),
    ],
)
def test_phrases_count_the_square_of_their_length(first: str, second: str, score: int) -> None:
    extra, tables = pack_glosses([first, second, ""])
    taxonomy = from_arrays(
        ["a", "b", "r"], [["a"], ["b"], ["r"]], np.array([0, 1]), np.array([2, 2]), extra=extra, tables=tables
    )
    assert longest_overlaps(first.split(), second.split()) == score
    # The root reads both glosses as those of its children, so only the own texts of a and b face each other here.
    shared = phrases([gloss_words(taxonomy, 0).tolist()]) & phrases([gloss_words(taxonomy, 1).tolist()])
    assert sum(1 if len(p) == 1 else 2 for p in shared) == score == overlap(taxonomy, 0, 1)


def test_lesk_without_glosses_compares_names() -> None:
    names = {
        "bank": ["bank"],
        "shore": ["shore of a river", "bank"],
        "money": ["money house"],
        "ferry": ["river boat"],
        "canoe": ["small river boat"],
        "thing": ["thing"],
    }
    taxonomy = from_edges(
        [("bank", "money"), ("money", "thing"), ("shore", "thing"), ("ferry", "thing"), ("canoe", "ferry")], names=names
    )
    assert not has_glosses(taxonomy)
    rows = rows_of([[int(c) for c in taxonomy.senses_of(w)] for w in ("bank", "river boat", "small river boat")])
    assert taxonomy.id(int(rows[0][lesk(taxonomy, rows)[0]])) == "shore"


# ---- joint -----------------------------------------------------------------------------------------------------------


def pairwise(taxonomy: Taxonomy, first: int, second: int) -> float:
    lcs = taxonomy.depth[taxonomy.lcs(first, second)]
    return 1 - 2 * float(lcs) / float(taxonomy.depth[first] + taxonomy.depth[second])


def total(taxonomy: Taxonomy, concepts: list[int], weights: list[int]) -> float:
    words = range(len(concepts))
    return sum(weights[i] * weights[j] * pairwise(taxonomy, concepts[i], concepts[j]) for i in words for j in words)


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_the_joint_choice_is_a_local_optimum_and_never_worse_than_first_senses(data: st.DataObject) -> None:
    taxonomy = data.draw(taxonomies())
    options = data.draw(choices(taxonomy))
    weights = data.draw(st.lists(st.integers(1, 9), min_size=len(options), max_size=len(options)))
    picked = joint(taxonomy, rows_of(options), np.array(weights))
    chosen = [row[p] for row, p in zip(options, picked, strict=True)]
    value = total(taxonomy, chosen, weights)
    best = min(total(taxonomy, list(way), weights) for way in product(*options))
    assert best - 1e-6 <= value <= total(taxonomy, [row[0] for row in options], weights) + 1e-6
    for i, row in enumerate(options):
        for other in row:
            changed = [*chosen[:i], other, *chosen[i + 1 :]]
            assert value <= total(taxonomy, changed, weights) + 1e-5
    weight = np.array(weights)
    measured = spread(taxonomy, np.array(chosen, dtype=np.int32), weight)
    assert measured == pytest.approx(value / weight.sum() ** 2, abs=1e-6)


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_the_order_of_words_does_not_matter(data: st.DataObject) -> None:
    taxonomy = data.draw(glossed())
    options = data.draw(choices(taxonomy))
    weights = np.array(data.draw(st.lists(st.integers(0, 9), min_size=len(options), max_size=len(options))))
    order = data.draw(st.permutations(range(len(options))))
    for strategy in ("first", "lesk", "joint"):
        straight = choose(strategy, taxonomy, rows_of(options), weights)
        shuffled = choose(strategy, taxonomy, rows_of([options[i] for i in order]), weights[list(order)])
        assert [int(straight[i]) for i in order] == shuffled.tolist()


@settings(max_examples=30, deadline=None)
@given(st.data())
def test_settling_ends_where_no_single_word_can_improve(data: st.DataObject) -> None:
    taxonomy = data.draw(taxonomies())
    everything = np.arange(len(taxonomy), dtype=np.int32)
    options = data.draw(choices(taxonomy, 8))
    weight = np.array(data.draw(st.lists(st.integers(1, 9), min_size=len(options), max_size=len(options))), float)
    start = [data.draw(st.integers(0, len(row) - 1)) for row in options]
    columns = _columns(taxonomy, everything, None)
    end, value = _settle(start, [np.array(row) for row in options], weight, columns)
    concepts = [row[c] for row, c in zip(options, end, strict=True)]
    weights = weight.astype(int).tolist()
    assert value == pytest.approx(total(taxonomy, concepts, weights), abs=1e-3)
    for i, row in enumerate(options):
        for other in row:
            assert value <= total(taxonomy, [*concepts[:i], other, *concepts[i + 1 :]], weights) + 1e-3


def test_of_two_equally_good_choices_the_order_of_words_decides_nothing() -> None:
    taxonomy = from_edges([("a1", "a"), ("a2", "a"), ("b1", "b"), ("b2", "b"), ("a", "r"), ("b", "r")])
    words = [taxonomy.codes(["a1", "b1"]).tolist(), taxonomy.codes(["b2", "a2"]).tolist()]
    straight = joint(taxonomy, rows_of(words), np.ones(2)).tolist()
    assert sorted(straight) == [0, 1]
    assert joint(taxonomy, rows_of(words[::-1]), np.ones(2)).tolist() == straight[::-1]


def test_a_distance_of_the_callers_choice() -> None:
    taxonomy = from_edges([("a", "r"), ("b", "r"), ("c", "b")])
    a, b, c = taxonomy.codes(["a", "b", "c"]).tolist()

    def contrary(rows: Ints, columns: Ints) -> np.ndarray:
        """Only a and c are close."""
        near = {(a, c), (c, a)}
        return np.array([[0.0 if x == y or (x, y) in near else 1.0 for y in columns.tolist()] for x in rows.tolist()])

    rows = rows_of([[b, a], [c]])
    assert joint(taxonomy, rows, np.ones(2)).tolist() == [0, 0]
    assert joint(taxonomy, rows, np.ones(2), contrary).tolist() == [1, 0]


def test_words_without_candidates_are_left_alone() -> None:
    taxonomy = from_edges([("a", "r"), ("b", "r")])
    empty = rows_of([])
    gap = Rows.from_pairs([0, 2], [0, 1], 3)
    for strategy in ("first", "lesk", "joint"):
        assert choose(strategy, taxonomy, empty, np.ones(0)).tolist() == []
        assert choose(strategy, taxonomy, gap, np.ones(3)).tolist() == [0, 0, 0]
    assert first_sense(gap).tolist() == [0, 0, 0]
    assert joint(taxonomy, gap, np.zeros(3)).tolist() == [0, 0, 0]


def test_an_unknown_strategy_is_refused() -> None:
    with pytest.raises(BadInput, match=r"no strategy 'lask'.*first, lesk, joint.*Did you mean lesk"):
        choose("lask", from_edges([("a", "r")]), rows_of([[0]]), np.ones(1))


# ---- on WordNet ------------------------------------------------------------------------------------------------------


def test_company_decides_in_wordnet() -> None:
    nouns = wordnet()

    def sense(strategy: str, *words: str) -> str:
        rows = rows_of([[int(c) for c in nouns.senses_of(w)] for w in words])
        return nouns.id(int(rows[0][choose(strategy, nouns, rows, np.ones(len(words)))[0]]))

    vehicles, people = ("coach", "bicycle", "lorry", "taxi"), ("coach", "athlete", "referee", "goalkeeper")
    trainer = nouns.id("coach#1")
    assert sense("first", *vehicles) == sense("lesk", *people) == sense("joint", *people) == trainer
    assert nouns.is_a(sense("lesk", *vehicles), "wheeled vehicle")
    assert nouns.is_a(sense("joint", *vehicles), "conveyance#3")


@pytest.mark.data
def test_insurance_hobbies_become_sports(shared_data: Path) -> None:
    """Squash is first a plant in WordNet, chess a grass, wrestling a struggle; beside sports they are games."""
    with (shared_data / "insurance" / "insurance_act_original_occ_original_10000.csv").open(encoding="utf-8") as file:
        hobbies = sorted({row["activity"] for row in csv.DictReader(file)})
    nouns, look, kinds = wordnet(), lookup(wordnet()), ("diversion#1", "game#1")
    found = [look.find(hobby) for hobby in hobbies]
    rows = rows_of([list(hit.concepts) for hit in found if hit])
    assert len(rows) == len(hobbies) == 40
    for strategy in ("lesk", "joint"):
        picked = choose(strategy, nouns, rows, np.ones(len(hobbies)))
        for hobby in ("squash", "chess", "wrestling", "jump_rope"):
            i = hobbies.index(hobby)
            assert not any(nouns.is_a(int(rows[i][0]), kind) for kind in kinds)
            assert any(nouns.is_a(int(rows[i][picked[i]]), kind) for kind in kinds), (strategy, hobby)
