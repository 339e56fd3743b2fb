"""Mixes of candidates that the paper's text allows, and how well each aspect foretells its measure in them.

The text names the adjustments (levels removed, outliers grouped, facets) and that about 100 candidates a column are
used for all k; not how many come from each, nor the boundary of facets. So pools of candidates are made, one for each
adjustment (outliers grouped, and then levels removed as well), anonymized once for all k, and every way to share 100
candidates among the pools in quarters is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from experiments.gsl.columns import Column
from experiments.gsl.correlate import SUPPRESSION
from experiments.gsl.one_column import OneColumn, Tables
from keepsense.hierarchies.aika_adjustments import (
    RENAMES,
    Facets,
    diversify,
    keep_levels,
    reduce_abstractness,
    reduce_outliers,
)
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_candidates import OUTLIER_SIZES
from keepsense.hierarchies.hierarchy_scores import interval_size, privacy_vulnerability, scores, weight_sets
from keepsense.hierarchies.hierarchy_tree import tree_of
from keepsense.hierarchies.word_concepts import RULES, Namer, base_hierarchy
from keepsense.semantics.distance import Distance
from keepsense.taxonomy.embedded_taxonomies import wordnet

Floats = NDArray[np.float64]
WANTED = 100
POOLS = ("levels", "outliers", "facets", "facets after the others")
BOUNDARIES = (0.2, 0.5, 0.8)
READINGS = ("per k", "averaged first")
ENOUGH = 0.6
HEAVY = [weights for weights in weight_sets() if max(weights) >= 0.75]
_SHARES = (0.1, 0.25, 0.5, 1.0)
_TRIES = 12 * WANTED


@dataclass(frozen=True, eq=False)
class Judged:
    """Candidates of one pool: what the evaluator says of each and what Datafly makes of it, for every k.

    `fixed` are the three aspects that know no k (candidates x 3: semantic quality, privacy vulnerability, interval
    size), `distortion` the fourth (k x candidates), `outcomes` the measures by suppression (k x candidates x 4).
    """

    fixed: Floats
    distortion: Floats
    outcomes: Mapping[str, Floats]

    def taken(self, some: Sequence[int]) -> Judged:
        """Some of the candidates."""
        outcomes = {rule: table[:, some] for rule, table in self.outcomes.items()}
        return Judged(self.fixed[some], self.distortion[:, some], outcomes)

    @classmethod
    def joined(cls, parts: Sequence[Judged]) -> Judged:
        """Candidates of several pools."""
        outcomes = {rule: np.concatenate([part.outcomes[rule] for part in parts], axis=1) for rule in SUPPRESSION}
        return cls(
            np.concatenate([part.fixed for part in parts]),
            np.concatenate([part.distortion for part in parts], axis=1),
            outcomes,
        )


def judged(column: Column, hierarchies: Sequence[Hierarchy], wup: Distance) -> Judged:
    """Score and anonymize with every candidate and every k."""
    trees = [tree_of(hierarchy) for hierarchy in hierarchies]
    fixed = np.stack(
        [scores(hierarchies, wup), [privacy_vulnerability(t) for t in trees], [interval_size(t) for t in trees]],
        axis=1,
    )
    distortion, measured = [], {rule: [] for rule in SUPPRESSION}  # type: ignore[var-annotated]
    for hierarchy in hierarchies:
        one = OneColumn(column, hierarchy)
        losses, linked = Tables.of(hierarchy, wup), one.linked(wup)
        distortion.append(one.datafly(suppress=False) / hierarchy.height)
        for rule in SUPPRESSION:
            levels = one.datafly(suppress=rule != "none")
            found = (
                one.lost(losses, levels, 2),
                one.lost(linked, levels) / one.total,
                one.lost(one.shares, levels) / one.total,
                one.class_sizes(levels),
            )
            measured[rule].append(np.stack(found, axis=1))
    outcomes = {rule: np.stack(tables, axis=1) for rule, tables in measured.items()}
    return Judged(fixed, np.stack(distortion, axis=1), outcomes)


def pools(column: Column, wup: Distance, boundary: float, seed: int) -> dict[str, list[Hierarchy]]:
    """Up to 100 candidates by each adjustment alone, and by facets after the others; none twice in a pool."""
    values, rows = list(column.counts), list(column.counts.values())
    rng = np.random.default_rng(seed)
    namer = Namer(wordnet(), dict(zip(column.senses.values, column.senses.concepts.tolist(), strict=True)))
    bases = [
        reduce_abstractness(
            base_hierarchy(values, wordnet(), senses=column.senses, parents=rule, name=column.name, namer=namer)
        )
        for rule in RULES
    ]
    levels = _distinct(bases, _fewer_levels(bases, rng))
    grouped = [
        reduce_outliers(base, rows, k, under=under, distance=wup)
        for base, k, under in product(bases, OUTLIER_SIZES, RENAMES)
    ]
    outliers = _distinct([*bases, *grouped], _fewer_levels(grouped, rng))
    facets = Facets(wup, boundary=boundary)
    found = {POOLS[0]: levels, POOLS[1]: outliers}
    found[POOLS[2]] = _distinct(bases, _diversified(bases, facets, namer, rng))
    found[POOLS[3]] = _distinct([], _diversified([*levels, *outliers], facets, namer, rng))
    return found


def _fewer_levels(bases: Sequence[Hierarchy], rng: np.random.Generator) -> Iterator[Hierarchy]:
    """Any of the inner levels removed, at random."""
    for turn in range(_TRIES):
        base = bases[turn % len(bases)]
        inner = np.arange(1, base.height)
        kept = np.sort(rng.permutation(inner)[: int(rng.integers(0, len(inner) + 1))]) if len(inner) else inner
        yield keep_levels(base, [*kept.tolist(), base.height])


def _diversified(
    origins: Sequence[Hierarchy], facets: Facets, namer: Namer, rng: np.random.Generator
) -> Iterator[Hierarchy]:
    for turn in range(_TRIES):
        origin = origins[int(rng.integers(len(origins)))]
        yield diversify(origin, facets, namer, share=_SHARES[turn % len(_SHARES)], rng=rng)


def _distinct(first: Sequence[Hierarchy], rest: Iterator[Hierarchy]) -> list[Hierarchy]:
    seen: dict[tuple[object, bytes], Hierarchy] = {}
    for hierarchy in first:
        seen.setdefault((hierarchy.labels, hierarchy.codes.tobytes()), hierarchy)
    while len(seen) < WANTED and (made := next(rest, None)) is not None:
        seen.setdefault((made.labels, made.codes.tobytes()), made)
    return list(seen.values())


def shares() -> list[tuple[float, ...]]:
    """Every way to share the candidates among the four pools in quarters.

    >>> len(shares()), shares()[0]
    (35, (1.0, 0.0, 0.0, 0.0))
    """
    return list(weight_sets())


def mixed(parts: Mapping[str, Judged], share: Sequence[float]) -> Judged | None:
    """Candidates in these shares, evenly from each pool; None where one that is asked for has less than two."""
    chosen = []
    for name, part in zip(POOLS, share, strict=True):
        here = parts[name]
        if part and len(here.fixed) < 2:
            return None
        if part:
            some = np.unique(
                np.linspace(0, len(here.fixed) - 1, min(len(here.fixed), round(part * WANTED))).astype(int)
            )
            chosen.append(here.taken(some.tolist()))
    return Judged.joined(chosen)


Weighted = dict[tuple[int, float], float]
"""Mean coefficient by aspect and weight of it; left out where the candidates do not differ."""


def foretold(here: Judged, rule: str, reading: str, sets: Sequence[Sequence[float]] | None = None) -> Weighted:
    """How well each aspect foretells its measure, by its weight: mean Spearman over k and sets of weights."""
    outcomes, distortion = here.outcomes[rule], here.distortion
    if reading == READINGS[1]:
        outcomes, distortion = outcomes.mean(axis=0)[None], distortion.mean(axis=0)[None]
    table = np.empty((len(distortion), len(here.fixed), 4))
    for at, column in ((0, 0), (1, 1), (3, 2)):
        table[:, :, at] = rankdata(-np.round(here.fixed[:, column], 12))
    table[:, :, 2] = rankdata(-np.round(distortion, 12), axis=1)
    weights = np.array(weight_sets() if sets is None else sets)
    # k x weight set x candidate; the higher the reward the lower the loss should be
    ranks = rankdata(np.round(-(table @ weights.T), 9).transpose(0, 2, 1), axis=2)
    found: Weighted = {}
    for aspect in range(4):
        differ = (np.ptp(table[:, :, aspect], axis=1) > 0) & (np.ptp(outcomes[:, :, aspect], axis=1) > 1e-9)
        if not differ.any():
            continue  # nothing to foretell, or nothing to foretell it by
        measured = rankdata(outcomes[differ][:, :, aspect], axis=1)[:, None, :]
        with np.errstate(invalid="ignore"):  # a set of weights may leave all candidates equal
            figures = _spearman(ranks[differ], measured)
        for weight in np.unique(weights[:, aspect]).tolist():
            mine = figures[:, weights[:, aspect] == weight]
            if np.isfinite(mine).any():
                found[aspect, weight] = float(np.nanmean(mine))
    return found


def _spearman(first: Floats, second: Floats) -> Floats:
    a, b = (table - table.mean(axis=-1, keepdims=True) for table in (first, second))
    found: Floats = (a * b).sum(axis=-1) / np.sqrt((a * a).sum(axis=-1) * (b * b).sum(axis=-1))
    return found


def heavy(here: Judged, rule: str, reading: str) -> list[float | None]:
    """The four coefficients where an aspect has 75% or 100% of the weight, as the paper claims them."""
    found = foretold(here, rule, reading, HEAVY)
    return [
        None if (aspect, 1.0) not in found else float(np.mean([found[aspect, w] for w in (0.75, 1.0)]))
        for aspect in range(4)
    ]


def reached(figures: Sequence[float | None]) -> int:
    """How many of the four reach 0.60.

    >>> reached([0.7, None, 0.6, 0.2])
    2
    """
    return sum(figure is not None and figure >= ENOUGH for figure in figures)
