"""What untouched drafts keep of the meaning of real tables: `init`, then `run`, at most 5% suppressed."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks._registry import Figure, benchmark, missing
from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.release.run import Outcome

DATA = Path(os.environ.get("KEEPSENSE_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
"""Where the real tables are; they are no part of the repository."""

INSURANCE = "insurance/insurance_act_original_occ_original_10000.csv"
INSURANCE_WORDS = ("occupation", "placeOfWork", "activity", "placeOfActivity")
"""The columns of insurance that hold words, whatever a draft makes of them."""
OTHERS = {
    "adult": "adult/adult.csv",
    "diabetes130": "diabetes130/encounters.csv",
    "titanic": "titanic/titanic.csv",
    "synthea_uk": "synthea_uk/patients.csv",
    "homicide": "chicago_homicide/homicide.csv",
    "groceries": "groceries/groceries_baskets.csv",
    "german_credit": "german_credit/german.data",
}
"""Tables whose figures are only measured."""


@dataclass(frozen=True)
class Measured:
    """What the release of an untouched draft lost: each column's share of leaves, and of words their distance.

    `moved` is how far each tuple's word moved in each column of words, by Wu and Palmer's distance in all of WordNet,
    `weights` the rows of each tuple; `error` the mean error of counting questions.
    """

    lost: Mapping[str, float]
    moved: Mapping[str, Floats]
    weights: NDArray[np.int64]
    error: float | None
    seconds: float

    @property
    def distance(self) -> dict[str, float]:
        """Mean distance by which the words of each column moved."""
        return {name: float(self.weights @ away / self.weights.sum()) for name, away in self.moved.items()}

    def squares(self, names: Sequence[str]) -> float:
        """Semantic sum of squared errors of some columns of words: of each record the mean of its columns, squared."""
        return float(self.weights @ np.stack([self.moved[name] for name in names]).mean(axis=0) ** 2)


def measure(source: object, words: Sequence[str] | None = None, *, questions: bool = False) -> Measured:
    """Draft a project for a table and run it untouched; words are measured against all of WordNet."""
    from keepsense.draft.project_draft import Wishes, draft_from_arguments
    from keepsense.metrics import by_name, figures
    from keepsense.release.figures.measure import column_penalties, recoded
    from keepsense.release.run import run

    start = time.perf_counter()
    project, _, given = draft_from_arguments(source, Wishes(suppression=0.05))
    with tempfile.TemporaryDirectory() as folder:
        outcome = run(project, data=None if isinstance(source, Path) else source, given=given, folder=folder, rng=1)
        seconds = time.perf_counter() - start
        job, rules = outcome.job, outcome.recodings
        lost = column_penalties(job, rules)
        if words is None:
            words = [name for name in lost if job.column(name).taxonomy == "wordnet"]
        moved = {name: moved_by(outcome, name) for name in words}
        told = by_name(figures("utility", recoded(job, rules), every_run=False)) if questions else {}
    return Measured(lost, moved, outcome.counts.weights, told.get("query error, mean"), seconds)


def moved_by(outcome: Outcome, name: str) -> Floats:
    """How far each tuple's word moved, in all of WordNet: to the concept it is released as, or, where a label lists
    what it stands for or has no concept, to its members on average. A word without a concept is 1 from all others."""
    from keepsense.semantics.distance import distance
    from keepsense.taxonomy.embedded_taxonomies import wordnet
    from keepsense.utility.recoded_table import leaf_sets, pairs, whole_table

    job, counts = outcome.job, outcome.counts
    (rule,) = whole_table(outcome.recodings, job.quasi_identifiers)
    cells, tree, net = rule.cells(counts), job.hierarchies[name], wordnet()
    column = pairs(counts, cells, name)
    originals = column.originals
    concepts = _concepts(outcome, name, originals)
    known = np.flatnonzero(concepts >= 0)
    judge = distance("wu-palmer", net)
    apart = np.ones((len(originals), len(originals)))
    apart[np.ix_(known, known)] = judge.matrix(concepts[known], concepts[known])
    np.fill_diagonal(apart, 0.0)
    order = tree.lookup(originals)
    away = np.zeros((len(column.values), len(originals)))
    for i, covered in enumerate(leaf_sets(column, tree)):
        inside = np.flatnonzero(covered[order])
        label = column.values[i]
        if len(inside) == 1 and label == originals[inside[0]]:
            continue
        meant = concepts[np.intersect1d(inside, known)]
        if (isinstance(label, str) and " or " in label) or not len(meant):
            away[i] = apart[inside].mean(axis=0)
        else:
            away[i] = 1.0
            away[i, known] = judge.matrix([net.lcs(*meant.tolist())], concepts[known])[0]
    moved = np.zeros(len(counts))
    lost = away[cells.codes[:, cells.names.index(name)], counts.column(name)[cells.source]]
    np.add.at(moved, cells.source, lost * cells.multiplicity)
    return moved / np.maximum(counts.weights, 1)


def _concepts(outcome: Outcome, name: str, originals: Sequence[Value]) -> NDArray[np.int64]:
    """What each word means in WordNet: as the project has it, or by itself where that knows none; -1 for no concept."""
    from keepsense.taxonomy.embedded_taxonomies import wordnet
    from keepsense.taxonomy.mapper import map_values

    job, net, rows = outcome.job, wordnet(), outcome.counts.rows_of(name)
    own = map_values(rows, net, column=name, senses="first", suggestions="accept").concepts
    codes = {value: net.code(concept) for value, concept in own.items()}
    if job.column(name).taxonomy == "wordnet":
        known = job.mapping(name, rows).concepts
        codes |= {value: net.code(job.taxonomy(name).id(concept)) for value, concept in known.items()}
    return np.array([codes.get(value, -1) for value in originals], dtype=np.int64)


@benchmark("meaning")
def meaning() -> Iterable[Figure]:
    """What untouched drafts of insurance and of the sample people lose, at k = 5, beside the bars set for them."""
    from keepsense.sample_people import people

    place = DATA / INSURANCE
    if place.exists():
        found = measure(place, ("semAge", *INSURANCE_WORDS))
        words = [found.lost[name] for name in INSURANCE_WORDS]
        yield from _columns("insurance", found)
        yield _at_most("insurance, most lost of any column", max(found.lost.values()), 0.60)
        yield _at_most("insurance, mean lost of the columns of words", float(np.mean(words)), 0.40)
        squares = found.squares(("semAge", *INSURANCE_WORDS))
        yield _at_most("insurance, semantic SSE of the columns of words and semAge", squares, 190, "squares")
        squares = found.squares(INSURANCE_WORDS)
        alone = "insurance, semantic SSE of the four columns of words alone"
        yield Figure(alone, squares, "squares", "the lowest GSL (400)", squares / 400, "measured", None)
    else:
        yield missing("insurance", "Insurance data", "<= 0.6")
    found = measure(people(10_000, seed=1), questions=True)
    yield from _columns("people", found)
    named = [found.lost[name] for name in found.distance]
    yield _at_most("people, most lost of any column of words", max(named), 0.55)
    if found.error is not None:
        yield _at_most("people, error of counting questions", found.error, 0.18)


@benchmark("meaning-tables")
def tables() -> Iterable[Figure]:
    """The same of further real tables; no bars, and what cannot be drafted untouched is told."""
    from keepsense.errors import KeepsenseError

    for table, path in OTHERS.items():
        if not (DATA / path).exists():
            yield missing(table, "real data", "measured")
            continue
        try:
            yield from _columns(table, measure(DATA / path))
        except KeepsenseError as error:
            yield Figure(f"{table}: {error}", None, "", "an untouched draft", None, "measured", None)


def _columns(table: str, found: Measured) -> Iterable[Figure]:
    for name, share in found.lost.items():
        yield Figure(f"{table}, {name} lost", share, "share of leaves", "all hidden", share, "measured", None)
    for name, away in found.distance.items():
        yield Figure(f"{table}, {name} moved", away, "distance", "all of WordNet", away, "measured", None)
    yield Figure(f"{table}, draft and run", found.seconds, "s", "", None, "measured", None)


def _at_most(name: str, figure: float, bar: float, unit: str = "share") -> Figure:
    return Figure(name, figure, unit, "bar", figure / bar, f"<= {bar:g}", figure <= bar)
