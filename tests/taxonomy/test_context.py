"""Senses by context: probabilities as a slow reference has them, one mapping everywhere, and what happens in doubt."""

from __future__ import annotations

import csv
import json
import math
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies
from typer.testing import CliRunner

from keepsense.arrays import Rows
from keepsense.cli import app
from keepsense.counts import Counts
from keepsense.errors import BadInput, UnknownConcept
from keepsense.methods.perturb.dp_words import release_words
from keepsense.methods.perturb.privacy_budget import Budget
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column
from keepsense.semantics.attribute import nominal
from keepsense.taxonomy import sense_disambiguation
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.sense_disambiguation import Evidence, likeliest, probabilities, shared
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges
from keepsense.taxonomy.value_mapping import Mapping

TOOLS = ["gun", "knife", "shovel", "screwdriver", "hatchet", "rock", "machete", "hammer"]
DOUBTED = ["surgery"]
"""A word with four senses that were never met; alone, none of them is likely enough."""


def rows_of(options: list[list[int]]) -> Rows:
    owner = [i for i, row in enumerate(options) for _ in row]
    return Rows.from_pairs(owner, [c for row in options for c in row], len(options))


# ---- the probabilities -----------------------------------------------------------------------------------------------


def slowly(taxonomy: Taxonomy, options: list[list[int]], met: list[list[int]], guessed: list[bool]) -> list[float]:
    """The docstring of `probabilities` word by word, without a column's name."""
    counts_as = [sense_disambiguation._GUESSED if guess else 1.0 for guess in guessed]
    total = max(1e-9, sum(counts_as) - 1.0)
    above = {c: set(taxonomy.subsumers(c).tolist()) for row in options for c in row}
    chance = {
        a: (int(taxonomy.hyponym_counts[a]) + 1) / sense_disambiguation._SIZE for row in above.values() for a in row
    }
    prior = []
    for times in met:
        weights = [n + sense_disambiguation._UNSEEN * sense_disambiguation._FADE**rank for rank, n in enumerate(times)]
        prior.append([w / sum(weights) for w in weights])
    now = prior
    for _ in range(sense_disambiguation._ROUNDS):
        after = []
        for i, row in enumerate(options):
            odds = []
            for position, sense in enumerate(row):
                lifts = []
                for kind in above[sense]:
                    others = sum(
                        counts_as[j] * sum(p for c, p in zip(other, now[j], strict=True) if kind in above[c])
                        for j, other in enumerate(options)
                        if j != i
                    )
                    lifts.append(math.log((others + chance[kind]) / ((total + 1.0) * chance[kind])))
                odds.append((prior[i][position] * math.exp(max(lifts))) ** sense_disambiguation._TEMPER)
            after.append([o / sum(odds) for o in odds])
        now = after
    return [p for row in now for p in row]


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_probabilities_are_those_of_the_slow_reference(data: st.DataObject) -> None:
    taxonomy = data.draw(taxonomies())
    sense = st.integers(0, len(taxonomy) - 1)
    options = data.draw(st.lists(st.lists(sense, min_size=1, max_size=4, unique=True), min_size=1, max_size=6))
    met = [data.draw(st.lists(st.integers(0, 30), min_size=len(row), max_size=len(row))) for row in options]
    guessed = data.draw(st.lists(st.booleans(), min_size=len(options), max_size=len(options)))
    evidence = Evidence(np.array([n for row in met for n in row], dtype=float), np.array(guessed))
    assert probabilities(taxonomy, rows_of(options), evidence) == pytest.approx(slowly(taxonomy, options, met, guessed))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_what_is_shared_is_the_least_common_subsumer_of_plausible_senses(data: st.DataObject) -> None:
    taxonomy = data.draw(taxonomies())
    sense = st.integers(0, len(taxonomy) - 1)
    options = data.draw(st.lists(st.lists(sense, min_size=1, max_size=4, unique=True), min_size=1, max_size=6))
    chances = np.array([data.draw(st.sampled_from([0.05, 0.2, 0.3])) for row in options for _ in row])
    rows = rows_of(options)
    for i, concept in enumerate(shared(taxonomy, rows, chances).tolist()):
        plausible = rows[i][chances[rows.starts[i] : rows.starts[i + 1]] >= sense_disambiguation._PLAUSIBLE].tolist()
        assert concept == (taxonomy.lcs(*plausible) if plausible else -1)


def test_nothing_to_choose_among() -> None:
    taxonomy = from_edges([("a", "r")])
    assert probabilities(taxonomy, rows_of([])).tolist() == []
    assert likeliest(rows_of([]), np.zeros(0)).tolist() == []


def test_company_frequency_and_the_columns_name_decide() -> None:
    nouns = wordnet()

    def sense(word: str, *others: str) -> str:
        return nouns.describe(map_values([word, *others], nouns).concepts[word])

    assert "a kind of lifting device" in sense("crane", "bulldozer", "tractor", "forklift")
    assert "a kind of wading bird" in sense("crane", "heron", "sparrow", "owl")
    assert "a kind of building and dwelling" in sense("house"), "frequency alone"
    candidates = rows_of([nouns.senses_of("crane").tolist()])
    for column, kind in (("birdSeen", "wading bird"), ("lifting_device", "lifting device")):
        chances = probabilities(nouns, candidates, Evidence(column=column))
        assert f"a kind of {kind}" in nouns.describe(int(candidates.indices[chances.argmax()]))


@pytest.mark.parametrize(
    ("column", "word", "words"), [("site", "Colon", "Liver Kidney Lung"), ("x", "Rock", "Hammer Axe")]
)
def test_a_capital_at_the_start_of_a_cell_says_nothing(column: str, word: str, words: str) -> None:
    nouns = wordnet()
    meant = map_values([word, *words.split()], nouns, column=column).concepts[word]
    assert nouns.is_a(meant, "physical entity")
    assert not nouns.is_a(meant, "person")
    small = map_values(["AIDS", "malaria"], nouns)
    assert len(small.candidates[0]) == 1, "capitals within a name are no initials"


# ---- one mapping everywhere ------------------------------------------------------------------------------------------


@settings(max_examples=10, deadline=None)
@given(st.randoms(use_true_random=False))
def test_neither_the_order_of_rows_nor_their_number_matters(shuffler: random.Random) -> None:
    values = list(TOOLS)
    shuffler.shuffle(values)
    straight = map_values(TOOLS, wordnet(), column="armed")
    shuffled = map_values({v: shuffler.randint(1, 99) for v in values}, wordnet(), column="armed")
    assert shuffled.concepts == straight.concepts
    place = [shuffled.values.index(v) for v in TOOLS]
    assert shuffled.confidence is not None
    assert shuffled.confidence[place].tolist() == straight.confidence.tolist()  # type: ignore[union-attr]


@pytest.mark.parametrize(("column", "domain"), [("armed", None), ("tool", "artifact"), ("occupation", "person")])
def test_projects_the_library_and_map_choose_the_same_senses(tmp_path: Path, column: str, domain: str | None) -> None:
    """What people review with `map` is what runs."""
    words = ["coach", "nurse", "judge", "pilot", "baker", "dishwasher"] if domain == "person" else TOOLS[:5]
    file = tmp_path / "table.csv"
    file.write_text("\n".join([column, *words]), encoding="utf-8")
    nouns = wordnet()
    mapped = map_values(words, nouns, domain=domain, column=column)
    ids = {value: nouns.id(code) for value, code in mapped.concepts.items()}
    options = ["--domain", domain] if domain else []
    shown = CliRunner().invoke(app, ["map", str(file), column, "--json", *options])
    assert {e["value"]: e["id"] for e in json.loads(shown.stdout)["mapped"]} == ids
    meaning = Meaning({column: Column(taxonomy="wordnet", domain=domain)})
    part = meaning.taxonomy(column)
    project = meaning.mapping(column, dict.fromkeys(words, 1))
    assert {value: part.id(code) for value, code in project.concepts.items()} == ids
    assert project.confidence == pytest.approx(mapped.confidence)
    library = nominal(Counts.of({column: words}), column, part)
    distance, concepts = library.bound()
    assert {v: distance.taxonomy.id(int(c)) for v, c in zip(library.values, concepts, strict=True)} == ids


# ---- in doubt --------------------------------------------------------------------------------------------------------


def test_a_word_in_doubt_stands_for_nothing_and_is_listed() -> None:
    mapping = map_values(DOUBTED, wordnet())
    assert mapping.codes.tolist() == [-1]
    assert mapping.how == ("doubtful",)
    assert not mapping.ambiguous
    (word,) = mapping.doubtful
    assert word.chosen == ("", "")
    assert word.confidence is not None
    assert word.confidence < sense_disambiguation.DOUBT
    assert [label for label, _ in word.alternatives] == [f"surgery#{i}" for i in (1, 2, 3, 4)]
    (finding,) = mapping.findings()
    assert finding.code == "W111"
    assert "keepsense map" in finding.message
    assert "surgery" not in finding.message


def test_a_word_in_doubt_stands_for_what_all_its_plausible_senses_are() -> None:
    senses = [(f"crow{i}", "bird") for i in range(4)] + [("bird", "animal"), ("animal", "thing"), ("tool", "thing")]
    names = {f"crow{i}": ["crow"] for i in range(4)}
    taxonomy = from_edges(senses, names=names)
    mapping = map_values(["crow"], taxonomy)
    assert mapping.how == ("doubtful",)
    assert mapping.labels == ("bird",)
    assert mapping.doubtful[0].chosen[0] == "bird"
    assert len(mapping.doubtful[0].alternatives) == 4


def test_doubt_is_settled_in_the_file_and_asked_again_without(tmp_path: Path) -> None:
    nouns, file = wordnet(), tmp_path / "place.csv"
    map_values(DOUBTED, nouns).save(file)
    assert Mapping.read(file, nouns).how == ("doubtful",)
    again = map_values(DOUBTED, nouns, table=Mapping.read(file, nouns))
    assert again.how == ("doubtful",)
    with file.open(encoding="utf-8", newline="") as lines:
        header, line, stated = list(csv.reader(lines))
    line[header.index("label")] = "surgery#2"
    with file.open("w", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerows([header, line, stated])
    settled = map_values(DOUBTED, nouns, table=Mapping.read(file, nouns))
    assert (settled.labels, settled.how, settled.doubtful) == (("surgery#2",), ("table",), ())


def test_map_lists_what_is_in_doubt_with_the_command_that_settles_it(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text("V1\nsurgery\nqwertyzz\n", encoding="utf-8")
    shown = CliRunner().invoke(app, ["map", str(file), "V1"], env={"COLUMNS": "300"}).stdout
    assert "In doubt" in shown
    assert f"keepsense map {file} V1 --taxonomy wordnet --output" in " ".join(shown.split())
    assert "a kind of medical science" in shown
    told = json.loads(CliRunner().invoke(app, ["map", str(file), "V1", "--json"]).stdout)
    assert [e["value"] for e in told["doubtful"]] == ["surgery"]
    assert [e["value"] for e in told["unmapped"]] == ["qwertyzz"]


def test_nominal_asks_where_it_is_in_doubt() -> None:
    counts = Counts.of({"V1": DOUBTED})
    with pytest.raises(UnknownConcept, match=r"1 of its 1 distinct values have several senses.*concepts=") as caught:
        nominal(counts, "V1", wordnet())
    assert "surgery" not in str(caught.value)
    assert nominal(counts, "V1", wordnet(), concepts={"surgery": "surgery#2"}, over="domain").concepts is not None


def test_differential_privacy_refuses_senses_that_other_records_decided() -> None:
    counts = Counts.of({"armed": ["gun", "knife"]})
    column = nominal(counts, "armed", wordnet().below("artifact"), over="domain")
    with pytest.raises(BadInput, match='senses="first"'):
        release_words(counts, [column], 1.0, Budget(1.0), rng=1)
    alone = nominal(counts, "armed", wordnet().below("weapon"), over="domain", senses="first")
    assert release_words(counts, [alone], 1.0, Budget(1.0), rng=1).info["epsilon"] == {"armed": 1.0}
