"""Places: which one of a name is meant, what lies around it, and which is nearest to a pair of coordinates.

Many places share a name. Which is meant is weighed as a reader would (a naive Bayes estimate): a place is the
likelier, the more of the column's other places lie in its country and are of its level (city, region, country), and the
more of its country's people live there. A name that another column of the same rows places in a region or a country is
sought there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.errors import BadInput
from keepsense.taxonomy.core import Taxonomy
from keepsense.taxonomy.lookup import lies_in, lookup
from keepsense.taxonomy.text import normalise

LEVELS = ("world", "continent", "subregion", "country", "region", "city")
"""Levels from the top; an id begins with the name of its level."""

SURE = 0.9
"""How likely a place must be to be taken; else a person is asked."""

_COUNTRY = LEVELS.index("country")
_ELSEWHERE = 1e-4  # of a place that does not lie where another column says
_OTHER_NAME = 0.1  # of a place that goes by the name besides its own
_FEW = 1_000  # people of a place of which none are known
_ANYWHERE = 1.0  # how many places of the column the world as such counts for
_ANY_LEVEL = 0.5
_TOLD = 10.0  # how many places the name of a column counts for, where it tells the level
_CALLED = (
    set[str](),
    {"continent"},
    {"subregion"},
    {"country", "countries", "nation", "land", "nationality"},
    {"state", "region", "province", "county", "territory", "prefecture"},
    {"city", "cities", "town", "municipality", "village", "hometown"},
)


def is_places(taxonomy: Taxonomy) -> bool:
    """Whether a taxonomy is one of places, or a part of it.

    >>> from keepsense.taxonomy.embedded import embedded
    >>> is_places(embedded("places")), is_places(embedded("wordnet"))
    (True, False)
    """
    return taxonomy.info.get("kind") == "places"


@dataclass(frozen=True, eq=False)
class _Facts:
    """For each place: its level, its country (-1 above them), its people, and its country's share of all people."""

    level: Ints
    country: Ints
    people: Floats
    share: Floats


@lru_cache(maxsize=4)
def _facts(taxonomy: Taxonomy) -> _Facts:
    level = np.array([LEVELS.index(key.partition("/")[0]) for key in taxonomy.ids], dtype=np.int32)
    country = np.full(len(taxonomy), -1, dtype=np.int32)
    for place in taxonomy.order.tolist():  # parents come first
        above = taxonomy.parents[place]
        country[place] = place if level[place] == _COUNTRY else country[above[0]] if len(above) else -1
    people = np.maximum(taxonomy.extra["population"].astype(np.float64), _FEW)
    everyone = float(people[level == _COUNTRY].sum()) or 1.0
    share = np.where(country >= 0, people[country] / everyone, 1.0)
    within = np.where(country >= 0, np.minimum(people / people[country], 1.0), 1.0)
    return _Facts(level, country, within, share)


def probabilities(
    taxonomy: Taxonomy,
    candidates: Rows,
    names: Sequence[str],
    within: Sequence[Sequence[int]] | None = None,
    column: str = "",
) -> Floats:
    """How likely each candidate of each name is the place that is meant; those of one name add up to one.

    Row i of `candidates` holds the places that go by `names[i]`, and `within[i]`, where given, the regions and
    countries that other columns name beside it. The column's name may tell the level: `birth_country`, `City`.

    >>> from keepsense.taxonomy.embedded import embedded
    >>> places = embedded("places")
    >>> paris = places.senses_of("Paris")
    >>> chances = probabilities(places, Rows.from_pairs([0] * len(paris), paris, 1), ["Paris"])
    >>> places.id(paris[int(chances.argmax())]), float(chances.max()) > 0.9
    ('city/2988507', True)
    """
    facts = _facts(taxonomy)
    row, place = candidates.row_of(), candidates.indices
    likely = np.ones(len(place))
    for i, name in enumerate(names):
        for j in range(int(candidates.starts[i]), int(candidates.starts[i + 1])):
            if normalise(taxonomy.label(int(place[j]))) != normalise(name):
                likely[j] = _OTHER_NAME
            if within is not None and len(within[i]) and not lies_in(taxonomy.parents, int(place[j]), within[i]):
                likely[j] *= _ELSEWHERE
    words = set(normalise(column).split())
    told = np.array([_TOLD if words & names_of else 0.0 for names_of in _CALLED], dtype=np.float64)
    chances = _scaled(likely * (candidates.sizes[row] == 1), row, len(candidates))
    for _ in range(2):  # names that are settled by the first round help to settle others
        votes = np.where(chances >= SURE, chances, 0.0)
        chances = _scaled(likely * _prior(facts, place, votes, told), row, len(candidates))
    return chances


def _prior(facts: _Facts, place: Ints, votes: Floats, told: Floats) -> Floats:
    """How likely each place is, by the countries and levels of the places that are settled, and by its people."""
    total = float(votes.sum())
    countries = np.bincount(facts.country[place] + 1, votes, minlength=len(facts.country) + 1)
    levels = np.bincount(facts.level[place], votes, minlength=len(LEVELS))
    of_country = (countries[facts.country[place] + 1] + _ANYWHERE * facts.share[place]) / (total + _ANYWHERE)
    levels = levels + told + _ANY_LEVEL
    of_level = levels[facts.level[place]] / levels.sum()
    prior: Floats = of_country * of_level * facts.people[place]
    return prior


def _scaled(weights: Floats, row: Ints, rows: int) -> Floats:
    total = np.bincount(row, weights, minlength=rows)
    scaled: Floats = np.divide(weights, total[row], out=np.zeros_like(weights), where=total[row] > 0)
    return scaled


def settled(taxonomy: Taxonomy, candidates: Rows, chances: Floats) -> tuple[Ints, Floats]:
    """The likeliest place of each row and how likely it is; where that is not enough, the area all likely ones share.

    An area above a country says too little: there the row has none (-1), and a person is asked.

    >>> from keepsense.taxonomy.embedded import embedded
    >>> places = embedded("places")
    >>> names = places.senses_of("Springfield")
    >>> rows = Rows.from_pairs([0] * len(names), names, 1)
    >>> chosen, sure = settled(places, rows, probabilities(places, rows, ["Springfield"]))
    >>> places.label(int(chosen[0])), bool(sure[0] < SURE)
    ('United States', True)
    """
    facts = _facts(taxonomy)
    chosen = np.full(len(candidates), -1, dtype=np.int32)
    sure = np.full(len(candidates), np.nan)
    for i in np.flatnonzero(candidates.sizes).tolist():
        mine = slice(int(candidates.starts[i]), int(candidates.starts[i + 1]))
        order = np.argsort(-chances[mine], kind="stable")
        best = candidates.indices[mine][order]
        sure[i] = chances[mine][order[0]]
        if sure[i] >= SURE:
            chosen[i] = best[0]
            continue
        enough = int(np.searchsorted(np.cumsum(chances[mine][order]), 1 - (1 - SURE) / 10)) + 1
        area = taxonomy.lcs(*best[:enough].tolist())
        chosen[i] = area if facts.level[area] >= _COUNTRY else -1
    return chosen, sure


def beside(values: Iterable[Any], others: Iterable[Any], taxonomy: Taxonomy) -> dict[Any, tuple[int, ...]]:
    """For each value, the places that another column names on its rows: for `map_values(..., within=...)`.

    >>> from keepsense.taxonomy.embedded import embedded
    >>> places = embedded("places")
    >>> areas = beside(["Springfield", "Springfield"], ["IL", "IL"], places)
    >>> sorted(places.labels(areas["Springfield"]))
    ['Illinois', 'Israel']
    """
    look = lookup(taxonomy)
    areas: dict[Any, dict[int, None]] = {}
    for value, other in dict.fromkeys(zip(values, others, strict=True)):
        hit = look.find(str(other)) if other is not None else None
        areas.setdefault(value, {}).update(dict.fromkeys(hit.concepts if hit else ()))
    return {value: tuple(found) for value, found in areas.items()}


def nearest(taxonomy: Taxonomy, latitudes: ArrayLike, longitudes: ArrayLike) -> Ints:
    """The city nearest to each pair of coordinates (degrees, WGS 84), by the straight line through the globe.

    Region, country and so on are what lies above it. Near a border it may be a city of the other side.

    >>> from keepsense.taxonomy.embedded import embedded
    >>> places = embedded("places")
    >>> places.labels(nearest(places, [48.85, 45.75], [2.35, 4.85]))
    ['Paris', 'Lyon']
    """
    latitude, longitude = np.asarray(latitudes, dtype=np.float64), np.asarray(longitudes, dtype=np.float64)
    if latitude.shape != longitude.shape or latitude.ndim != 1:
        raise BadInput("coordinates come as two rows of the same length, latitudes and longitudes")
    if not (np.abs(latitude) <= 90).all() or not (np.abs(longitude) <= 180).all():
        raise BadInput("latitudes lie between -90 and 90 degrees, longitudes between -180 and 180")
    cities, tree = _tree(taxonomy)
    _, position = tree.query(_on_the_globe(latitude, longitude))
    chosen: Ints = cities[position]
    return chosen


@lru_cache(maxsize=2)
def _tree(taxonomy: Taxonomy) -> tuple[Ints, Any]:
    from scipy.spatial import cKDTree

    cities = np.flatnonzero(_facts(taxonomy).level == LEVELS.index("city")).astype(np.int32)
    if not len(cities):
        raise BadInput(f"{taxonomy.name}: there is no city in this part of the taxonomy")
    spots = [taxonomy.extra[key][cities] / 100 for key in ("latitude", "longitude")]
    return cities, cKDTree(_on_the_globe(spots[0] - 90, spots[1] - 180))


def _on_the_globe(latitude: Floats, longitude: Floats) -> NDArray[np.float64]:
    north, east = np.radians(latitude), np.radians(longitude)
    return np.stack([np.cos(north) * np.cos(east), np.cos(north) * np.sin(east), np.sin(north)], axis=1)
