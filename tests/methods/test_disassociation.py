"""Sets taken apart keep k^m-anonymity of pieces: by its definition, by the model and by the verifier."""

from __future__ import annotations

import csv
from collections import Counter
from itertools import combinations, permutations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.methods.sets.disassociation import Cluster, disassociation, semantic_disassociation, taken_apart
from keepsense.privacy.km_anonymity import PiecesOfSets, broken_clusters
from keepsense.project.project_file import check_project
from keepsense.release.run import run
from keepsense.semantics.distance import distance
from keepsense.sets.concept_sets import map_sets
from keepsense.sets.item_sets import from_lists, read_cells
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.verification.verifier import verify_sets

FOOD = from_edges(
    [
        *((item, "drink") for item in ("tea", "rum", "milk")),
        *((item, "meat") for item in ("ham", "beef", "veal")),
        ("drink", "food"),
        ("meat", "food"),
    ]
)
ITEMS = ("tea", "rum", "milk", "ham", "beef", "veal")
SETS = st.lists(st.sets(st.sampled_from(ITEMS), min_size=1, max_size=4), min_size=4, max_size=24)


def released(sets: list[list[str]], k: int, m: int, *, meaning: bool = False, **options: Any) -> list[set[str]]:
    counts = Counts.of({"basket": [";".join(items) for items in sets]})
    read = map_sets(read_cells(counts.values_of("basket"), delimiter=";", column="basket"), FOOD if meaning else None)
    if meaning:
        options["item_distance"] = distance("wu-palmer", FOOD)
    cells = (semantic_disassociation if meaning else disassociation)(counts, [read], k=k, m=m, rng=5, **options)
    after = cells.apply(counts).rows_of("basket")
    return [set(str(cell).split(";")) for cell, times in after.items() for _ in range(times)]


def untagged(held: set[str]) -> list[str]:
    return [item.partition(" ")[2] for item in held if not item.startswith("#")]


@pytest.mark.parametrize("meaning", [False, True])
@given(sets=SETS, k=st.integers(2, 4), m=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_the_promise_holds_by_the_model_and_by_the_verifier(
    meaning: bool, sets: list[set[str]], k: int, m: int
) -> None:
    told = released([sorted(items) for items in sets], k, m, meaning=meaning, most=2 * k)
    assert broken_clusters(Counter(tuple(sorted(held)) for held in told), k, m) == set()
    promise = {"model": "k^m-anonymity of pieces", "k": k, "m": m, "column": "basket"}
    assert verify_sets(told, [promise]).ok
    # no item is lost or invented: those in pieces occur as often as before, loose ones are there
    before = Counter(item for items in sets for item in items)
    now = Counter(item.partition(" ")[2] for held in told for item in held if "." in item.partition(" ")[0])
    loose = {item.partition(" ")[2] for held in told for item in held if item.partition(" ")[0].endswith("+")}
    assert all(now[item] <= number for item, number in before.items())
    assert all(now[item] == number or item in loose for item, number in before.items())
    assert set(now) | loose == set(before)


def tables_behind(cluster: Cluster, records: list[frozenset[int]]) -> Any:
    """Every table that the pieces of a small cluster may come from, in which nobody is without items."""
    parts = [[records[row] & frozenset(piece) for row in cluster.members] for piece in cluster.pieces]
    dealt = [sorted(set(permutations(map(tuple, map(sorted, column))))) for column in parts]
    size = len(cluster.members)
    holders = [
        [c for n in range(1, size + 1) for c in combinations(range(size), n)] for _ in cluster.loose
    ]  # a loose item is held by somebody
    for columns in product(*dealt):
        for who in product(*holders):
            table = [set().union(*(column[row] for column in columns)) for row in range(size)]
            for item, rows in zip(cluster.loose, who, strict=True):
                for row in rows:
                    table[row].add(item)
            if all(table):
                yield table


@given(sets=st.lists(st.sets(st.sampled_from(ITEMS[:4]), min_size=1, max_size=3), min_size=4, max_size=4))
@settings(max_examples=60, deadline=None)
def test_known_items_fit_k_records_of_some_table_behind_the_pieces(sets: list[set[str]]) -> None:
    """The definition of the promise, by looking at every table that the pieces of one cluster may come from."""
    k, m = 2, 2
    items = from_lists([sorted(found) for found in sets])
    records = [frozenset(items.rows[row].tolist()) for row in range(len(items))]
    (cluster,) = taken_apart(items, k, m)
    tables = list(tables_behind(cluster, records))
    for record in records:
        for size in range(1, m + 1):
            for known in combinations(sorted(record), size):
                assert max(sum(set(known) <= row for row in table) for table in tables) >= k


def test_lemma_two_is_asked_for() -> None:
    """Two pieces of two parts each, three people: if two held both, the third would be without items."""
    sets = [["ham", "tea"], ["ham"], ["tea"]]
    (cluster,) = taken_apart(from_lists(sets), 2, 2)
    assert cluster.loose  # 4 parts are fewer than 3 + 2 (2 - 1): an item becomes loose, so that anybody may hold it
    apart = [{"#1", "1.1 ham"}, {"#1", "1.1 ham"}, {"#1", "1.2 tea"}, {"#1", "1.2 tea"}]
    promise = PiecesOfSets(2, 2, "basket")
    assert not verify_sets(apart, [promise]).ok
    assert broken_clusters(Counter(tuple(sorted(held)) for held in apart), 2, 2) == {"1"}
    both = [{"#1", "1.1 ham", "1.2 tea"}, {"#1", "1.1 ham", "1.2 tea"}, {"#1", "1.1 ham"}, {"#1", "1.2 tea"}]
    assert verify_sets(both, [promise]).ok


@pytest.mark.parametrize(
    "told",
    [
        [{"tea"}, {"tea"}],  # no cluster
        [{"#1", "1.1 tea"}, {"#1", "1.1 rum"}],  # each once
        [{"#1", "1.1 tea"}, {"#2", "2.1 tea"}],  # clusters of one
        [{"#1", "#2", "1.1 tea"}, {"#1", "1.1 tea"}],  # in two clusters
        [{"#1", "2.1 tea"}, {"#1", "2.1 tea"}],  # items of another cluster
        [{"#1", "1.1 tea", "1+ rum"}, {"#1", "1.1 tea"}],  # who holds the loose item is told
        [{"#1", "1.1 tea", "1.1 rum"}, {"#1", "1.1 tea"}, {"#1", "1.1 rum"}],  # a rare pair in one piece
    ],
)
def test_the_verifier_and_the_model_find_what_is_broken(told: list[set[str]]) -> None:
    promise = PiecesOfSets(2, 2, "basket")
    assert not verify_sets(told, [promise]).ok
    assert broken_clusters(Counter(tuple(sorted(held)) for held in told), 2, 2)


@given(
    told=st.lists(
        st.sets(st.sampled_from(["1.1 a", "1.1 b", "1.2 c", "1.2 d", "1+ e", "2.1 a", "2.1 c"]), max_size=4),
        min_size=1,
        max_size=8,
    ),
    clusters=st.lists(st.sampled_from(["#1", "#2"]), min_size=8, max_size=8),
    k=st.integers(1, 3),
)
@settings(max_examples=60, deadline=None)
def test_the_verifier_and_the_model_agree_on_any_pieces(told: list[set[str]], clusters: list[str], k: int) -> None:
    sets = [held | {clusters[i]} for i, held in enumerate(told)]
    broken = broken_clusters(Counter(tuple(sorted(held)) for held in sets), k, 2)
    assert verify_sets(sets, [PiecesOfSets(k, 2, "basket")]).ok == (not broken)


def test_items_close_in_meaning_stay_together() -> None:
    """Tea is bought with ham more often than with rum, yet by meaning tea and rum make a piece."""
    sets = [["tea", "ham"]] * 3 + [["tea", "ham", "rum", "beef"]] * 2 + [["tea", "rum"], ["ham", "beef"]]

    def pieces(told: list[set[str]]) -> set[frozenset[str]]:
        tags: dict[str, set[str]] = {}
        for held in told:
            for item in held:
                tag, _, name = item.partition(" ")
                if "." in tag:
                    tags.setdefault(tag, set()).add(name)
        return {frozenset(names) for names in tags.values()}

    near = pieces(released(sets, 3, 2, meaning=True))
    plain = pieces(released(sets, 3, 2))
    assert frozenset({"tea", "rum"}) in near
    assert frozenset({"tea", "rum"}) not in plain


def test_the_order_of_records_decides_nothing() -> None:
    rng = np.random.default_rng(3)
    sets = [sorted(set(rng.choice(ITEMS, 3).tolist())) for _ in range(60)]
    shuffled = [sets[i] for i in rng.permutation(60)]

    def shape(records: list[list[str]]) -> Counter[Any]:
        items = from_lists(records)
        return Counter(
            (len(c.members), tuple(tuple(items.items[i] for i in piece) for piece in c.pieces), len(c.loose))
            for c in taken_apart(items, 3, 2, most=10)
        )

    assert shape(sets) == shape(shuffled)


def test_too_few_records_and_missing_parameters_are_refused() -> None:
    with pytest.raises(Infeasible, match="fewer than k"):
        released([["tea"]] * 2, 3, 1)
    counts = Counts.of({"basket": ["tea"]})
    read = map_sets(read_cells(("tea",), delimiter=";", column="basket"), None)
    with pytest.raises(BadInput, match="k\\^m-anonymity of pieces"):
        disassociation(counts, [read])


@pytest.mark.parametrize("method", ["disassociation", "semantic disassociation"])
def test_a_project_file_can_name_it(tmp_path: Path, method: str) -> None:
    rng = np.random.default_rng(5)
    words = ("cat", "dog", "horse", "bread", "milk", "tea")
    with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["likes", "illness"])
        for i in range(80):
            table.writerow([";".join(sorted(set(rng.choice(words, 3).tolist()))), ("flu", "cold")[i % 2]])
    job = check_project(
        {
            "source": {"path": "people.csv"},
            "columns": {
                "likes": {"role": "quasi-identifier", "kind": "set", "taxonomy": "wordnet"},
                "illness": {"role": "sensitive"},
            },
            "privacy": [{"model": "k^m-anonymity of pieces", "k": 4, "m": 2, "column": "likes"}],
            "method": {"name": method},
        }
    )
    done = run(job, folder=tmp_path, rng=1)
    assert done.verification.ok
    with done.file.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert all(row["likes"].startswith("#") for row in rows)
    assert len(rows) == 80
    assert sorted(set().union(*(untagged(set(row["likes"].split(";"))) for row in rows))) == sorted(words)
