"""Compare releases of a set-valued column with the original: utility, and what an attacker still finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Ints, Rows
from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.secure_random import generator
from keepsense.semantics.distance import Distance
from keepsense.sets.concept_sets import ConceptSets
from keepsense.sets.item_distances import ItemDistances
from keepsense.taxonomy.taxonomy import Concept, Taxonomy
from keepsense.utility.set_losses import (
    FrequencyError,
    KnownItems,
    SetLoss,
    item_error,
    known_items_risk,
    pair_error,
    profile_accuracy,
    set_loss,
)


@dataclass(frozen=True)
class SetComparison:
    """Measures of one release; see `keepsense.utility.set_losses` for each.

    >>> from keepsense.sets.concept_sets import map_sets
    >>> from keepsense.sets.item_sets import from_lists
    >>> found = compare_sets(map_sets(from_lists([["a"], ["a"]]), None), [["a"], ["a"]], None)
    >>> found.loss.total, found.items.relative, found.linkage[0].risk
    (0.0, 0.0, 0.5)
    """

    loss: SetLoss
    items: FrequencyError
    pairs: FrequencyError
    linkage: tuple[KnownItems, ...]
    profile: float | None


def compare_sets(  # noqa: PLR0913
    sets: ConceptSets,
    released: Sequence[Sequence[Value]],
    item_distance: Distance | None,
    *,
    covers: Mapping[Value, Sequence[Value]] | None = None,
    concepts: Mapping[Value, Concept] | None = None,
    known: Sequence[int] = (1, 2, 3),
    people: int = 2_000,
    depth: int = 2,
    top: int = 3,
    frequent_pairs: int = 1_000,
    rng: np.random.Generator | int | None = None,
) -> SetComparison:
    """Measure a release, synthetic or generalized, against the original sets.

    `released` are the released sets, a record each in the original's order. A released term means what the original's
    term means, else the concept of that name in the taxonomy (or given in `concepts`), else something 1 away from all.
    `covers` says which terms a generalized label may stand for (`GeneralizedSets.covers`): it counts as a fraction of
    each, and an attacker who knows one of them finds it. Profiles are taken over the ancestors at `depth` (the root's
    children have depth 2). The loss compares meaning by the average distance over `item_distance`.

    >>> from keepsense.sets.concept_sets import map_sets
    >>> from keepsense.sets.item_sets import from_lists
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> food = from_edges([("ham", "meat"), ("beef", "meat"), ("meat", "food"), ("tea", "food")])
    >>> sets = map_sets(from_lists([["ham"], ["beef"], ["tea"]]), food)
    >>> away = compare_sets(sets, [["meat"], ["meat"], ["tea"]], distance("feature", food),
    ...                     covers={"meat": ["ham", "beef"]}, known=[1])
    >>> round(away.loss.total, 4), away.items.relative, round(away.linkage[0].risk, 4)
    (0.2222, 0.0, 0.6667)
    """
    if len(released) != len(sets):
        raise BadInput(f"column {sets.source.column!r}: {len(released):,} released sets for {len(sets):,} records")
    rng = generator(rng)
    place = _numbered(sets, released)
    joint = _joint(sets, released, concepts, place)
    between = _between(joint, item_distance)
    stands, seen_as = _stands(sets, covers, place)
    terms = sets.term_rows
    return SetComparison(
        set_loss(joint.before, joint.after, between.pairs),
        item_error(terms, joint.labels, len(place), stands),
        pair_error(terms, joint.labels, len(place), stands, top=frequent_pairs),
        tuple(known_items_risk(terms, joint.labels, m, seen_as=seen_as, people=people, rng=rng) for m in known),
        _profile(joint, sets.taxonomy, depth, top),
    )


@dataclass(frozen=True, eq=False)
class _Joint:
    """Sets before and after over one vocabulary: concepts, then opaque things, nothing, and what nobody knows."""

    before: Rows
    after: Rows
    labels: Rows
    concepts: Ints
    size: int


def _joint(
    sets: ConceptSets,
    released: Sequence[Sequence[Value]],
    concepts: Mapping[Value, Concept] | None,
    place: dict[Value, int],
) -> _Joint:
    thing = dict(zip(sets.terms, sets.thing_of.tolist(), strict=True))
    used = {term for record in released for term in record}
    own = {int(c): i for i, c in enumerate(sets.concepts)}
    fresh: dict[int, int] = {}
    found: dict[Value, tuple[str, int]] = {}
    unknown = 0
    for term in (t for t in place if t in used):
        code = _code(term, sets.taxonomy, concepts)
        if term in thing and (concepts is None or term not in concepts):
            found[term] = ("thing", thing[term])
        elif code is not None and code in own:
            found[term] = ("thing", own[code])
        elif code is not None:
            found[term] = ("concept", fresh.setdefault(code, len(fresh)))
        else:
            found[term] = ("unknown", unknown)
            unknown += 1
    more = len(fresh)
    # concepts of the original, concepts only the release has, then everything opaque
    renumber = np.arange(sets.size, dtype=np.int64)
    renumber[sets.semantic :] += more
    offset = {"concept": sets.semantic, "unknown": sets.size + more}
    number = {t: int(renumber[i]) if kind == "thing" else offset[kind] + i for t, (kind, i) in found.items()}
    nothing = int(renumber[sets.nothing])
    after = [sorted({number[term] for term in record}) or [nothing] for record in released]
    labels = [sorted({place[term] for term in record}) for record in released]
    before = Rows(sets.rows.starts, renumber[sets.rows.indices].astype(np.int32))
    all_concepts = np.concatenate([sets.concepts, np.fromiter(fresh, np.int32, more)]).astype(np.int32)
    return _Joint(before, _rows(after), _rows(labels), all_concepts, sets.size + more + unknown)


def _numbered(sets: ConceptSets, released: Sequence[Sequence[Value]]) -> dict[Value, int]:
    """Numbers of all terms: first the original's, then those only the release has."""
    place: dict[Value, int] = {term: i for i, term in enumerate(sets.terms)}
    for term in sorted({t for record in released for t in record if t not in place}, key=lambda t: (str(t), repr(t))):
        place[term] = len(place)
    return place


def _code(term: Value, taxonomy: Taxonomy | None, concepts: Mapping[Value, Concept] | None) -> int | None:
    if taxonomy is None:
        return None
    if concepts is not None and term in concepts:
        return taxonomy.code(concepts[term])
    return taxonomy.get(term) if isinstance(term, str) else None


def _between(joint: _Joint, item_distance: Distance | None) -> ItemDistances:
    if item_distance is None:
        return ItemDistances(None, None, joint.size)
    return ItemDistances(item_distance, joint.concepts, joint.size - len(joint.concepts))


def _stands(
    sets: ConceptSets, covers: Mapping[Value, Sequence[Value]] | None, place: dict[Value, int]
) -> tuple[Rows | None, Rows | None]:
    """Original terms that each released one may stand for, and what each original term can be seen as."""
    if not covers:
        return None, None
    original = len(sets.terms)
    below: list[list[int]] = []
    for label, own in place.items():
        within = [place[t] for t in covers.get(label, ()) if place.get(t, original) < original]
        below.append(within or [own])
    stands = _rows(below)
    return stands, Rows.from_pairs(stands.indices, stands.row_of(), len(place))


def _profile(joint: _Joint, taxonomy: Taxonomy | None, depth: int, top: int) -> float | None:
    if taxonomy is None:
        return None
    category = np.full(joint.size, -1, dtype=np.int32)
    category[: len(joint.concepts)] = categories(taxonomy, joint.concepts, depth)
    return profile_accuracy(joint.before, joint.after, category, top=top)


def categories(taxonomy: Taxonomy, concepts: NDArray[Any], depth: int) -> Ints:
    """Ancestor of each concept at a depth (the root has 1), the concept itself where it lies no deeper.

    Where several ancestors have that depth, the one with the lowest code; where none has, the deepest above it.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> food = from_edges([("ham", "meat"), ("meat", "food"), ("tea", "food")])
    >>> food.labels(categories(food, food.codes(["ham", "tea"]), 2))
    ['meat', 'tea']
    """
    found = np.empty(len(concepts), dtype=np.int32)
    for i, concept in enumerate(np.asarray(concepts).tolist()):
        above = taxonomy.subsumers(concept)
        level = taxonomy.depth[above]
        fit = above[level <= depth]
        found[i] = concept if taxonomy.depth[concept] <= depth else int(fit[np.argmax(taxonomy.depth[fit])])
    return found


def _rows(records: Sequence[Sequence[int]]) -> Rows:
    row = np.repeat(np.arange(len(records), dtype=np.int32), [len(record) for record in records])
    return Rows.from_pairs(row, [item for record in records for item in record], len(records))
