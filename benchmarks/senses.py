"""Senses of words in their columns: how many are right by the gold standard, and what choosing them costs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from tests.taxonomy.gold_senses import Score, chosen_by, scored

from benchmarks._registry import Figure, benchmark, best_of
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.lookup import Lookup, lookup
from keepsense.taxonomy.mapper import map_values

_RIGHT = {False: 0.90, True: 0.85}
_UNDECIDED = 0.1


@benchmark("senses")
def senses() -> Iterator[Figure]:
    """Share of words whose sense is right, all and ambiguous ones, on both halves; against the first senses."""
    for half in ("tuning", "judging"):
        for ambiguous, least in _RIGHT.items():
            words = f"{'ambiguous' if ambiguous else 'all'}-words-{half}"
            first = scored(chosen_by("first"), half, ambiguous=ambiguous)
            ours = scored(chosen_by("context"), half, ambiguous=ambiguous)
            ratio = ours.accuracy / first.accuracy
            bar = f">= {least:.0%} of those decided"
            yield Figure(f"right-{words}", ours.accuracy, _told(ours), _told(first), ratio, bar, ours.accuracy >= least)
            for peer in ("lesk", "joint") if half == "judging" else ():
                theirs = scored(chosen_by(peer), half, ambiguous=ambiguous)
                share = ours.accuracy / theirs.accuracy
                against = f"{peer}: {_told(theirs)}"
                yield Figure(f"right-{words}-{peer}", ours.accuracy, "share", against, share, "> 1 x", share > 1)
            share = ours.undecided / (ours.right + ours.wrong + ours.undecided)
            yield Figure(f"undecided-{words}", share, "share", "all words", share, "<= 10%", share <= _UNDECIDED)
    yield from _speed()


def _told(score: Score) -> str:
    low, high = score.interval
    return f"share of {score.right + score.wrong} decided; {score.accuracy:.1%}, 95% interval {low:.1%}-{high:.1%}"


def _speed() -> Iterator[Figure]:
    """All names of WordNet with several senses as one column, and as many more that have one."""
    nouns = wordnet()
    index = best_of(lambda: Lookup(nouns).find("nothing like it"), 3)
    lookup(nouns).find("nothing like it")
    terms = list(nouns.terms)
    order = np.random.default_rng(9).permutation(len(terms))
    texts = [terms[int(i)] for i in order[:100_000]]
    plain = best_of(lambda: map_values(texts, nouns, senses="first"), 2)
    chosen = best_of(lambda: map_values(texts, nouns), 2)
    bar = "<= 5 x looking them up"
    against = f"the same without a choice ({plain:.2f} s)"
    yield Figure("context-100000-values", chosen, "s", against, chosen / plain, bar, chosen <= 5 * plain)
    tenth = best_of(lambda: map_values(texts[:10_000], nouns), 2)
    bar = "<= 20 x a tenth of them"
    against = f"10,000 values ({tenth:.2f} s; the index takes {index:.2f} s)"
    yield Figure("context-grows-with-values", chosen / tenth, "x", against, chosen / tenth, bar, chosen <= 20 * tenth)
