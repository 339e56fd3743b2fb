"""How well a taxonomy covers a column: the share named exactly, and how closely it lies below one concept.

A dictionary knows nearly every word, so that it knows the words of a column says little: *Masters*, *Bachelors* and
*Preschool* are in WordNet, and mean rulers, men and buildings there. What tells is whether the words lie together.
`fit_of` looks for the one concept below which nearly all of them lie in some sense, as the shortest description of the
column: a word below the concept costs the bits that tell it from all else there, one outside costs those of the whole
taxonomy and a fine. Then it asks how likely random words, each with as many senses, would lie so, the many concepts
that could have been chosen taken into account. What is left are bits of evidence that the column is about that concept.

In a small taxonomy most words of a language are missing, so that being named there is evidence by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.taxonomy.lookup import Found, lies_in, lookup
from keepsense.taxonomy.place_disambiguation import is_places
from keepsense.taxonomy.taxonomy import Concept, Taxonomy
from keepsense.taxonomy.value_mapping import is_missing
from keepsense.taxonomy.word_forms import EXCEPTION_FORMS, normalise

MOST_WORDS = 2_000
"""Most distinct values of a column that are looked up, the most frequent first."""

_DICTIONARY = 100_000
"""Names of a taxonomy that is a dictionary: that it knows a word says nothing."""

_FINE = 20.0
"""Bits that a word outside of the common concept costs beside its own: an exception has to be told."""

_HINT = 8.0
"""Bits that the name of a column adds where most words lie below the concept that it speaks of."""

_AGREED = 0.5
"""Share of the words below what the name speaks of; with fewer it speaks against the taxonomy: a school in Texas."""

_NEARLY = 0.85
"""Share of the words below what the name speaks of that a narrower concept must hold to be the domain."""

_FEW = 12
"""Words that are too few to say more about their domain than the name of the column does."""

_LEAST = 0.08
"""Share of the words that a further concept must hold: a single word always lies below something."""

_MOST_DOMAINS = 6
"""Most concepts that together hold a column: places of work are buildings, organizations and a forest."""

_NARROW = 0.15
"""Share of a taxonomy that a concept may hold to be called a domain; what is above says too little."""


@dataclass(frozen=True)
class Fit:
    """How a taxonomy fits a column: shares of its values and rows that are named exactly below the `domain`, if any.

    `suggested` and `suggested_rows` count what is known by its last noun alone, `outside` the values that are known but
    do not lie below the domain, `evidence` the bits beyond chance that the words belong together.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> jobs = fit_of({"nurse": 3, "surgeon": 1, "pilot": 1, "night nurse": 1, "zxcv": 4}, wordnet(), hint=["person"])
    >>> jobs.values, jobs.rows, jobs.suggested, wordnet().labels(jobs.domains)
    (0.6, 0.5, 1, ['person'])
    """

    looked_up: int
    values: float
    rows: float
    suggested: int
    suggested_rows: int
    outside: int
    domains: tuple[int, ...]
    evidence: float


def fit_of(
    values: Mapping[Value, int],
    taxonomy: Taxonomy,
    *,
    hint: Sequence[Concept] = (),
    codes: bool = False,
    within: Mapping[Value, Sequence[Sequence[int]]] | None = None,
) -> Fit:
    """How well a taxonomy fits the values of a column, given with their rows.

    `hint` are concepts that the name of the column speaks of: of an occupation, people. Words that lie below them need
    no search, and so no allowance for it; words that do not speak against the taxonomy. `codes` of a system lie
    anywhere in it: no concept is looked for. Of places that share a name those count that lie `within` the areas that
    other columns name (`place_disambiguation.beside`). Costs microseconds a value.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> together = ["oak", "elm", "maple", "birch", "beech", "willow"]
    >>> apart = ["oak", "Monday", "justice", "teaspoon", "purple", "jury"]
    >>> [fit_of(dict.fromkeys(words, 1), wordnet()).evidence > 10 for words in (together, apart)]
    [True, False]
    """
    cells = [(v, n) for v, n in values.items() if not is_missing(v)][:MOST_WORDS]
    words = [(str(v), n) for v, n in cells]
    look = lookup(taxonomy)
    matches = [(text, look.find(text)) for text, _ in words]
    found = [None if match is None or _is_initial(text, match, taxonomy) else match for text, match in matches]
    if within is not None:
        found = [_lying_in(match, within.get(v, ()), taxonomy) for (v, _), match in zip(cells, found, strict=True)]
    rows = np.array([n for _, n in words], dtype=np.float64)
    named = np.array([match is not None and match.how != "head" for match in found], dtype=np.bool_)
    by_noun = np.array([match is not None and match.how == "head" for match in found], dtype=np.bool_)
    suggested, suggested_rows = int(by_noun.sum()), int(rows[by_noun].sum())
    known = [match for match in found if match is not None and match.how != "head"]
    if not known:
        return Fit(len(words), 0.0, 0.0, suggested, suggested_rows, 0, (), 0.0)
    weight = 0.5 / len(known) + 0.5 * rows[named] / max(1.0, rows[named].sum())
    pairs = _pairs(taxonomy, known)
    domains, inside = ([], np.ones(len(known), dtype=np.bool_)) if codes else _domains(taxonomy, pairs, weight)
    evidence = _evidence(taxonomy, known, domains, inside) - len(domains) * np.log2(len(taxonomy))
    if hint and not codes:
        said = taxonomy.codes(hint).tolist()
        below = pairs.below(said)
        by_name = _evidence(taxonomy, known, said, below)
        if weight[below].sum() < _AGREED:
            evidence = min(evidence, 0.0)
        else:
            # one concept that holds nearly as much says more than the name; several, or one of few words, say less
            narrow = len(domains) == 1 and inside.sum() >= _NEARLY * below.sum()
            if (by_name > evidence and not narrow) or (len(known) < _FEW and below.sum() >= inside.sum()):
                domains, inside = said, below
            evidence = max(evidence, by_name) + _HINT
    evidence += len(known) * max(0.0, np.log2(_DICTIONARY / len(taxonomy.terms)))
    if len(domains) > 1 and is_places(taxonomy):  # several areas are no fence: what lies in a third is a place as well
        domains, inside = [], np.ones(len(known), dtype=np.bool_)
    used = np.flatnonzero(named)[inside]
    return Fit(
        len(words),
        len(used) / len(words),
        float(rows[used].sum() / max(1.0, rows.sum())),
        suggested,
        suggested_rows,
        len(known) - len(used),
        tuple(domains),
        float(evidence),
    )


def _is_initial(text: str, match: Found, taxonomy: Taxonomy) -> bool:
    """Whether a dictionary takes a code of one or two letters for a word: deck `C` is no chemical element."""
    return match.how != "given" and EXCEPTION_FORMS in taxonomy.tables and len(normalise(text)) < 3


def _lying_in(match: Found | None, areas: Sequence[Sequence[int]], taxonomy: Taxonomy) -> Found | None:
    """A match without the places that lie outside all of the areas that are named; None where none is left."""
    if match is None or not areas:
        return match
    named = {area for some in areas for area in some}
    inside = tuple(place for place in match.concepts if lies_in(taxonomy.parents, place, named))
    return match._replace(concepts=inside) if inside else None


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Words, concepts that lie above any of their senses, and the rank of the likeliest such sense; each pair once."""

    words: int
    owner: NDArray[np.int64]
    subsumer: NDArray[np.int64]
    rank: NDArray[np.int64]

    def below(self, concepts: Sequence[int]) -> NDArray[np.bool_]:
        """Which words lie below any of the concepts in some sense."""
        inside = np.zeros(self.words, dtype=np.bool_)
        inside[self.owner[np.isin(self.subsumer, np.asarray(concepts))]] = True
        return inside


def _pairs(taxonomy: Taxonomy, known: Sequence[Found]) -> _Pairs:
    size, most = len(taxonomy), max(len(match.concepts) for match in known)
    sizes = [len(match.concepts) for match in known]
    owner = np.repeat(np.arange(len(known), dtype=np.int64), sizes)
    rank = np.concatenate([np.arange(n, dtype=np.int64) for n in sizes])
    concept = np.array([c for match in known for c in match.concepts], dtype=np.int64)
    frontier = (owner * size + concept) * most + rank
    levels = [frontier]
    while len(frontier):
        pair, rank = np.divmod(frontier, most)
        row, here = np.divmod(pair, size)
        times = taxonomy.parents.sizes[here]
        above = taxonomy.parents.gather(here.astype(np.int32))
        frontier = np.unique((np.repeat(row, times) * size + above) * most + np.repeat(rank, times))
        levels.append(frontier)
    pair, rank = np.divmod(np.unique(np.concatenate(levels)), most)
    first = np.r_[True, pair[1:] != pair[:-1]]  # of several senses below a concept the likeliest comes first
    row, here = np.divmod(pair[first], size)
    return _Pairs(len(known), row, here, rank[first])


def _domains(taxonomy: Taxonomy, pairs: _Pairs, weight: Floats) -> tuple[list[int], NDArray[np.bool_]]:
    """The few concepts that describe the words most shortly, and which words lie below them; none where too wide.

    A word costs the bits that tell it from all else below them, and those of its sense's rank: a common sense is worth
    more than a rare one. A concept is added to those before as long as naming it costs less than it saves.
    """
    size, words = len(taxonomy), len(weight)
    extent = taxonomy.hyponym_counts + 1.0
    lone = np.log2(size) + _FINE
    chosen: list[int] = []
    covered = np.zeros(words, dtype=np.bool_)
    held, ranks, best_cost = 0.0, 0.0, words * lone
    rare = np.log2(1.0 + pairs.rank)
    for _ in range(_MOST_DOMAINS):
        open_pairs = ~covered[pairs.owner]
        subsumer, each = pairs.subsumer[open_pairs], weight[pairs.owner[open_pairs]]
        gain = np.bincount(subsumer, each, size)
        dear = ranks + np.bincount(subsumer, each * rare[open_pairs], size)
        concepts = np.flatnonzero((gain > 0) & (extent <= _NARROW * size))
        concepts = concepts[gain[concepts] >= (_LEAST if chosen else 0.0)]
        if words > 1 and EXCEPTION_FORMS not in taxonomy.tables:  # but for a dictionary, a word alone is no domain
            concepts = concepts[np.bincount(subsumer, minlength=size)[concepts] > 1]
        if not len(concepts):
            break
        share = weight[covered].sum() + gain[concepts]
        bits = np.log2(np.minimum(held + extent[concepts], size))
        cost = (len(chosen) + 1) * np.log2(size) + words * (share * bits + dear[concepts] + (1.0 - share) * lone)
        at = np.lexsort((-taxonomy.specificity[concepts], np.round(cost, 9)))[0]
        if cost[at] >= best_cost:
            break
        best_cost = cost[at]
        chosen.append(int(concepts[at]))
        ranks = float(dear[concepts[at]])
        covered |= pairs.below(chosen[-1:])
        held += extent[concepts[at]]
    return (chosen, covered) if chosen else ([], np.ones(words, dtype=np.bool_))


def _evidence(taxonomy: Taxonomy, known: Sequence[Found], domains: Sequence[int], inside: NDArray[np.bool_]) -> float:
    """Bits by which so many words below the domains are more than random words with as many senses would be."""
    if not domains:
        return 0.0
    q = min(1.0, float((taxonomy.hyponym_counts[list(domains)] + 1.0).sum()) / len(taxonomy))
    senses: NDArray[Any] = np.array([len(f.concepts) for f in known], dtype=np.float64)
    chance = 1.0 - (1.0 - q) ** senses
    # log-likelihood ratio of what is seen against chance
    seen = float(inside.mean())
    bits = np.where(inside, np.log2(max(seen, 1e-9) / chance), np.log2(max(1.0 - seen, 1e-9) / (1.0 - chance)))
    return float(bits.sum())
