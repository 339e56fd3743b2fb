"""Words mapped onto WordNet: values per second, the cost of choosing senses, and how many are of the right kind."""

from __future__ import annotations

import csv
import os
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from benchmarks import _nltk
from benchmarks._registry import Figure, benchmark, best_of, missing
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.lookup import Lookup, lookup
from keepsense.taxonomy.mapper import map_values

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / (os.environ.get("KEEPSENSE_DATA") or "../shared/data")
INSURANCE = DATA / "insurance" / "insurance_act_original_occ_original_10000.csv"
_ADJECTIVES = ["new", "old", "cheap", "red", "best", "used", "small", "junior", "professional", "foreign"]
# What a column's values must be kinds of, and may not be, whichever of their senses is meant.
_KINDS = {
    "occupation": (("person#1",), ()),
    "placeOfWork": (("physical entity",), ("living thing#1",)),
    "activity": (("diversion#1", "game#1", "exercise#1"), ()),
    "placeOfActivity": (("physical entity",), ("living thing#1",)),
}


def phrases(size: int) -> list[str]:
    """Distinct texts of two to four words: most end in a noun of WordNet, some in the plural, some in nonsense."""
    rng = np.random.default_rng(7)
    terms = list(wordnet().terms)
    found: dict[str, None] = {}
    while len(found) < size:
        noun, other = terms[int(rng.integers(len(terms)))], terms[int(rng.integers(len(terms)))]
        adjective = _ADJECTIVES[int(rng.integers(len(_ADJECTIVES)))]
        shapes = (
            f"{adjective} {noun}",
            f"the {adjective} {noun}s",
            f"{noun.upper()} for {other}",
            f"{adjective} {noun}zzq",
        )
        found[shapes[int(rng.integers(len(shapes)))]] = None
    return list(found)


@benchmark("mapping")
def mapping() -> Iterator[Figure]:
    """100,000 phrases, against looking the same texts up in a dictionary; plurals, against NLTK."""
    nouns, texts = wordnet(), phrases(100_000)
    terms = {term: i for i, term in enumerate(nouns.terms)}
    unit = best_of(lambda: [terms.get(text.lower()) for text in texts], 5)
    index = best_of(lambda: Lookup(nouns).find("nothing like it"), 3)
    lookup(nouns).find("nothing like it")
    seconds = best_of(lambda: map_values(texts, nouns), 2)
    yield Figure(
        "map-100000-phrases",
        len(texts) / seconds,
        "values/s",
        f"a dictionary look-up of each ({len(texts) / unit:,.0f}/s)",
        seconds / unit,
        "<= 1,000 look-ups a value",
        seconds <= 1000 * unit,
    )
    yield from _against_nltk()
    yield from _senses(index)


def _against_nltk() -> Iterator[Figure]:
    nouns = wordnet()
    rng = np.random.default_rng(8)
    single = [t for t in nouns.terms if t.isalpha() and t.islower()]
    plurals = list(dict.fromkeys(single[int(i)] + "s" for i in rng.integers(len(single), size=20_000)))
    names, bars = ("map-plurals-once", "map-plurals-again"), (">= 2 x NLTK", ">= 0.2 x NLTK")
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns that other languages are not there
        peer = _nltk.reader(Path(folder))
        if peer is None:
            for name, bar in zip(names, bars, strict=True):
                yield missing(name, "nltk synsets, or WordNet's database files", bar)
            return
        # It reads each synset from its file once and keeps it; we index all names once and keep that.
        theirs = [best_of(lambda: [peer.synsets(word, "n") for word in plurals], 1) for _ in range(3)]
    fresh = replace(nouns)
    ours = [best_of(lambda: map_values(plurals, fresh), 1) for _ in range(3)]
    for name, bar, us, them, least in zip(
        names, bars, (ours[0], min(ours)), (theirs[0], min(theirs)), (2, 0.2), strict=True
    ):
        against = f"nltk synsets ({len(plurals) / them:,.0f}/s)"
        yield Figure(name, len(plurals) / us, "values/s", against, them / us, bar, them / us >= least)


def _senses(index: float) -> Iterator[Figure]:
    nouns = wordnet()
    rng = np.random.default_rng(9)
    several = [t for t in nouns.terms if len(nouns.senses_of(t)) > 1]
    words = [several[int(i)] for i in rng.choice(len(several), 2_000, replace=False)]
    against = f"indexing WordNet's names ({index:.2f} s)"
    for strategy, most in (("lesk", 20), ("joint", 40)):
        seconds = best_of(lambda strategy=strategy: map_values(words, nouns, senses=strategy), 2)  # type: ignore[misc]
        bar = f"<= {most} times"
        name = f"{strategy}-2000-ambiguous-words"
        yield Figure(name, seconds, "s", against, seconds / index, bar, seconds <= most * index)
    if not INSURANCE.exists():
        for strategy in ("lesk", "joint"):
            yield missing(f"{strategy}-senses-of-the-right-kind", "the insurance data", "more than first senses")
        return
    right = {strategy: _right_kind(strategy) for strategy in ("first", "lesk", "joint")}
    for strategy in ("lesk", "joint"):
        good, ambiguous = right[strategy]
        first = right["first"][0]
        name = f"{strategy}-senses-of-the-right-kind"
        against = f"first senses ({first} of {ambiguous})"
        yield Figure(name, good, f"of {ambiguous}", against, good / first, "more than first senses", good > first)


def _right_kind(strategy: str) -> tuple[int, int]:
    """Ambiguous values whose chosen sense is a kind of what the column holds, and all ambiguous values."""
    nouns = wordnet()
    with INSURANCE.open(encoding="utf-8") as file:
        table = list(csv.DictReader(file))
    good = ambiguous = 0
    for column, (kinds, not_kinds) in _KINDS.items():
        mapped = map_values(Counter(row[column] for row in table), nouns, senses=strategy)
        right = set(nouns.closure(nouns.codes(kinds), nouns.children).tolist())
        right -= set(nouns.closure(nouns.codes(not_kinds), nouns.children).tolist())
        several = mapped.codes[mapped.candidates.sizes > 1].tolist()
        good += sum(code in right for code in several)
        ambiguous += len(several)
    return good, ambiguous
