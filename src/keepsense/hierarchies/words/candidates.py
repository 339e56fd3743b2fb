"""Many candidate hierarchies of one column, different in structure, from one base hierarchy.

Ayala-Rivera et al. (AIKA, Sec. 3.2): the base hierarchy goes through the four adjustments, alone and together, and
duplicates are filtered out by structure (the same nodes linked alike are one candidate, in whatever order branches
come). No candidate is best for everything: `evaluate` and `choose` rank them for a purpose.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any, Unpack

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.tree import Policy
from keepsense.hierarchies.words.adjust import (
    RENAMES,
    LeafLosses,
    keep_levels,
    reduce_abstractness,
    reduce_outliers,
    remove_levels,
)
from keepsense.hierarchies.words.base import RULES, base_hierarchy
from keepsense.hierarchies.words.concepts import Namer, SenseOptions, senses_of
from keepsense.hierarchies.words.facets import Facets, diversify
from keepsense.semantics import distance as make_distance
from keepsense.semantics.base import Distance
from keepsense.taxonomy.core import Taxonomy

OUTLIER_SIZES = (2, 5, 10, 25, 50, 100)
"""Numbers of rows below which branches are grouped, unless others are asked for."""

OUTLIER_SHARES = (0.025, 0.05, 0.1)
"""The same as shares of the rows: in a large table no branch may be small in absolute numbers."""

_SHARES = (0.1, 0.25, 0.5, 1.0)
_FRUITLESS = 60


def candidates(  # noqa: PLR0913
    values: Sequence[Value],
    taxonomy: Taxonomy,
    counts: Sequence[int] | None = None,
    *,
    wanted: int = 100,
    distance: Distance | None = None,
    k: int | Sequence[int] | None = None,
    boundary: float = 0.2,
    relations: Sequence[str] | None = None,
    policy: Policy = "leaf",
    name: str = "column",
    rng: np.random.Generator | int | None = None,
    **meaning: Unpack[SenseOptions],
) -> list[Hierarchy]:
    """Candidates of a column from its distinct values and their numbers of rows; `info["made"]` tells how.

    In turn: the base hierarchy by each rule for parents; its abstractness reduced; outliers reduced for each k (by
    default from 2 rows to a tenth of all) under parents, promoted outliers and the root (only with `counts`); levels
    removed to each height; single and pairs of levels removed; ancestors replaced by facets within the boundary, at
    random. Fewer than `wanted` come back where the taxonomy has no more to give. The distance is Wu-Palmer's unless
    given.

    Costs about a millisecond a candidate for a hundred values.

    >>> from keepsense.taxonomy.embedded import wordnet
    >>> made = candidates(["nurse", "surgeon", "pilot", "clerk"], wordnet(), [5, 4, 3, 2], wanted=30, rng=1)
    >>> len(made), made[0].info["made"]
    (30, 'base (deepest parents)')
    """
    if wanted < 1:
        raise BadInput(f"{name}: at least 1 candidate must be wanted, not {wanted}")
    senses = senses_of(values, taxonomy, counts=counts, name=name, **meaning)
    measure = distance or make_distance("wu-palmer", taxonomy)
    namer = Namer(taxonomy, dict(zip(senses.values, senses.concepts.tolist(), strict=True)))
    bases = [
        base_hierarchy(senses.values, taxonomy, senses=senses, parents=rule, policy=policy, name=name, namer=namer)
        for rule in RULES
    ]
    reduced = [_made(reduce_abstractness(base), "abstractness reduced") for base in bases]
    sizes = (k,) if isinstance(k, int) else _sizes(counts) if k is None else tuple(k)
    draw = np.random.default_rng(rng)
    facets = Facets(measure, boundary=boundary, relations=relations)
    kept = _Distinct(wanted)
    for hierarchy in (*bases, *reduced):
        kept.add(hierarchy)
    sources = [
        _heights(reduced),
        _outliers(reduced, counts, sizes, LeafLosses(measure, senses.concepts)),
        _fewer(reduced),
        _facets(kept, reduced, facets, namer, draw),
    ]
    while sources and not kept.full:
        for source in tuple(sources):
            made = next(source, None)
            if made is None:
                sources.remove(source)
            else:
                kept.add(made)
            if kept.full:
                break
    return kept.all


class _Distinct:
    """Candidates kept so far, none twice. Leaves of one column come in one order, so codes and labels say it all."""

    def __init__(self, wanted: int) -> None:
        self.all: list[Hierarchy] = []
        self._seen: set[Any] = set()
        self._wanted = wanted

    @property
    def full(self) -> bool:
        return len(self.all) >= self._wanted

    def add(self, hierarchy: Hierarchy) -> bool:
        key = (hierarchy.labels, hierarchy.codes.tobytes())
        if key in self._seen or self.full or hierarchy.height < 1:
            return False
        self._seen.add(key)
        self.all.append(hierarchy)
        return True


def _made(hierarchy: Hierarchy, how: str) -> Hierarchy:
    return hierarchy.with_info(made=f"{hierarchy.info['made']}, {how}")


def _sizes(counts: Sequence[int] | None) -> tuple[int, ...]:
    rows = 0 if counts is None else int(np.sum(counts))
    return tuple(sorted({*OUTLIER_SIZES, *(max(2, round(share * rows)) for share in OUTLIER_SHARES)}))


def _heights(bases: Sequence[Hierarchy]) -> Iterator[Hierarchy]:
    for base in bases:
        for height in range(base.height - 1, 0, -1):
            yield _made(remove_levels(base, height), f"levels removed to height {height}")


def _outliers(
    bases: Sequence[Hierarchy], counts: Sequence[int] | None, sizes: Sequence[int], losses: LeafLosses
) -> Iterator[Hierarchy]:
    """Outliers reduced, first at full height, then in lower hierarchies too."""
    if counts is None:
        return
    grouped = []
    for base in bases[:1]:
        for k in sizes:
            for under in RENAMES:
                found = reduce_outliers(base, counts, k, under=under, distance=losses)
                if found is not base:
                    grouped.append(_made(found, f"outliers below {k} under {under}"))
                    yield grouped[-1]
    for step in range(1, max((h.height for h in grouped), default=1)):
        for hierarchy in grouped:
            if hierarchy.height - step >= 1:
                lower = remove_levels(hierarchy, hierarchy.height - step)
                yield _made(lower, f"levels removed to height {lower.height}")


def _fewer(bases: Sequence[Hierarchy]) -> Iterator[Hierarchy]:
    """Every single level removed, then every two."""
    for gone in (1, 2):
        for base in bases:
            inner = range(1, base.height)
            for dropped in combinations(inner, gone):
                kept = [level for level in range(1, base.height + 1) if level not in dropped]
                yield _made(keep_levels(base, kept), f"without level{'s' * (gone > 1)} {', '.join(map(str, dropped))}")


def _facets(
    kept: _Distinct, bases: Sequence[Hierarchy], facets: Facets, namer: Namer, draw: np.random.Generator
) -> Iterator[Hierarchy]:
    """Other perspectives on what was kept so far, until too many tries bring nothing new."""
    fruitless = 0
    turn = 0
    while fruitless < _FRUITLESS:
        pool = kept.all if turn % 2 else bases
        origin = pool[int(draw.integers(len(pool)))]
        share = _SHARES[turn % len(_SHARES)]
        before = len(kept.all)
        turn += 1
        found = diversify(origin, facets, namer, share=share, rng=draw)
        if found is origin:
            fruitless += 1
            continue
        yield _made(found, f"facets for {share:.0%} of ancestors")
        fruitless = 0 if len(kept.all) > before else fruitless + 1
