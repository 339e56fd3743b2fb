"""Places: which place a name means, which areas it lies in, and which is nearest to a pair of coordinates.

Many places share a name. A naive Bayes estimate decides which is meant: a place is more likely, the more of the
column's other places lie in its country and are of its level (city, region, country), and the more of its country's
people live there. A name that another column of the same rows places in a region or a country is
sought there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from keepsense.arrays import Floats, Ints, Rows
from keepsense.errors import BadInput
from keepsense.taxonomy.lookup import QUALIFIED, lies_in, lookup
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.word_forms import normalise

LEVELS = ("world", "continent", "subregion", "country", "region", "county", "city")
"""Levels from the top; an id begins with the name of its level."""

SURE = 0.9
"""How likely a place must be to be taken; else a person is asked."""

ELSEWHERE = -1
"""Stands for areas outside the part of the taxonomy that a column's domain leaves."""

_CONTINENT, _COUNTRY = LEVELS.index("continent"), LEVELS.index("country")
_ELSEWHERE = 1e-4  # of a place that does not lie where another column says
_OTHER_NAME = 0.1  # of a place that goes by the name besides its own
_FEW = 1_000  # people of a place of which none are known
_ANYWHERE = 1.0  # how many places of the column a country that none of them lies in counts for
_WORLD = 10.0  # how many of them a continent counts for, in such a country
_ANY_LEVEL = 0.2
_BESIDE = 100.0  # how much likelier a place is to be meant at all that lies where another column says
_UNLISTED = 1e-7  # of what is not listed, anywhere: villages, and words that are no places
_VILLAGE = 300  # people of a place that is not listed, in the country where the others lie
_UNKNOWN = 5.0  # how much likelier that is where as many names are unknown as known
_TOLD = 30.0  # how many places the name of a column counts for, where it tells the level
_CALLED = (
    set[str](),
    {"continent"},
    {"subregion"},
    {"country", "countries", "nation", "land", "nationality"},
    {"state", "region", "province", "territory", "prefecture"},
    {"county", "counties", "shire"},
    {"city", "cities", "town", "municipality", "village", "hometown"},
)


def is_places(taxonomy: Taxonomy) -> bool:
    """Whether a taxonomy is one of places, or a part of it.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
    >>> is_places(embedded("places")), is_places(embedded("wordnet"))
    (True, False)
    """
    return taxonomy.info.get("kind") == "places"


def place_type(taxonomy: Taxonomy, place: int) -> str:
    """The type of a place, as one adds it to its name; regions of the United States are states.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
    >>> places = embedded("places")
    >>> [place_type(places, places.code(place)) for place in ("region/US.WA", "Bavaria", "Spain")]
    ['state', 'region', 'country']
    """
    level, _, key = taxonomy.id(place).partition("/")
    return "state" if level == "region" and key.startswith("US.") else level


@dataclass(frozen=True, eq=False)
class _Facts:
    """For each place: level, continent and country (-1 above them), inhabitants, and shares of people.

    `people` is the place's share of its country, `share` its country's share of the continent, `wide` that one's share
    of the world.
    """

    level: Ints
    continent: Ints
    country: Ints
    inhabitants: Floats
    people: Floats
    share: Floats
    wide: Floats


def _areas(taxonomy: Taxonomy, among: NDArray[np.bool_]) -> Ints:
    """For each place the area of some that it lies in, -1 where there is none; of several parents the first counts."""
    own, inside = np.arange(len(taxonomy), dtype=np.int32), taxonomy.parents.sizes > 0
    above = np.where(inside, -1, own)
    above[inside] = taxonomy.parents.indices[taxonomy.parents.starts[:-1][inside]]
    area = np.where(among, own, -1).astype(np.int32)
    for _ in range(int(taxonomy.depth.max(initial=1)) - 1):
        area = np.where(area < 0, area[above], area)
    return area


@lru_cache(maxsize=4)
def _facts(taxonomy: Taxonomy) -> _Facts:
    level = np.array([LEVELS.index(key.partition("/")[0]) for key in taxonomy.ids], dtype=np.int32)
    continent, country = (_areas(taxonomy, level == which) for which in (_CONTINENT, _COUNTRY))
    people = np.maximum(taxonomy.extra["population"].astype(np.float64), _FEW)
    nations = level == _COUNTRY
    of_continent = np.bincount(continent[nations] + 1, people[nations], len(taxonomy) + 1)
    share = np.where(country >= 0, people[country] / np.maximum(of_continent[continent + 1], 1.0), 1.0)
    within = np.where(country >= 0, np.minimum(people / people[country], 1.0), 1.0)
    wide = np.where(country >= 0, of_continent[continent + 1] / (float(of_continent.sum()) or 1.0), 1.0)
    return _Facts(level, continent, country, people, within, share, wide)


def probabilities(
    taxonomy: Taxonomy,
    candidates: Rows,
    names: Sequence[str],
    within: Sequence[Sequence[int]] | None = None,
    column: str = "",
) -> Floats:
    """How likely each candidate of each name is the place that is meant.

    Those of one name add up to less than one; the rest is the chance that it is none of them, but a village or no place
    at all. So the only place called South is not taken where all the others are countries.

    Row i of `candidates` holds the places that go by `names[i]`, and `within[i]`, where given, the regions and
    countries that other columns name beside it. The column's name may tell the level: `birth_country`, `City`.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
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
            if within is not None and len(within[i]):
                likely[j] *= _BESIDE if lies_in(taxonomy.parents, int(place[j]), within[i]) else _ELSEWHERE
                likely[j] *= within[i] != (ELSEWHERE,)
    words = set(normalise(column).split())
    told = np.array([_TOLD if words & names_of else 0.0 for names_of in _CALLED], dtype=np.float64)
    known = int((candidates.sizes > 0).sum())
    unlisted = 1 + _UNKNOWN * (len(candidates) - known) / max(known, 1)
    chances: Floats = (candidates.sizes[row] == 1).astype(np.float64)
    for _ in range(3):  # names that are settled by a round help to settle others
        votes = np.where(chances >= SURE, chances, 0.0)
        weights = likely * _prior(facts, row, place, votes, told)
        chances = weights / (
            np.bincount(row, weights, len(candidates))[row] + unlisted * _unlisted(facts, place, votes)
        )
    return chances


def _prior(facts: _Facts, row: Ints, place: Ints, votes: Floats, told: Floats) -> Floats:
    """How likely each place is, by the countries and levels of the other names that are settled, and by its people."""
    country, level = facts.country[place], facts.level[place]
    others = float(votes.sum()) - np.bincount(row, votes)[row]
    by_level = _others(row, level, votes) + told[level] + _ANY_LEVEL
    of_level = by_level / (others + told.sum() + _ANY_LEVEL * len(LEVELS))
    of_continent = (_others(row, facts.continent[place] + 1, votes) + _WORLD * facts.wide[place]) / (others + _WORLD)
    anywhere = _ANYWHERE + _met_once(country + 1, votes)
    elsewhere = anywhere * of_continent * facts.share[place]
    of_country = (_others(row, country + 1, votes) + elsewhere) / (others + anywhere)
    prior: Floats = of_country * of_level * facts.people[place]
    return prior


def _met_once(group: Ints, votes: Floats) -> float:
    """Countries that one name alone is settled in: so many names lie in a country not met before (Good 1953)."""
    names = np.bincount(group, votes)
    return float(((names > 0) & (names < 1.5)).sum())


def _unlisted(facts: _Facts, place: Ints, votes: Floats) -> float:
    """How likely a small place is that is not listed: anywhere, or in the country where most of the others lie."""
    by_country = np.bincount(facts.country[place] + 1, votes, minlength=1)
    by_country[0] = 0
    main = int(by_country.argmax()) - 1
    if main < 0 or by_country[main + 1] < 3:
        return _UNLISTED
    return _UNLISTED + float(by_country[main + 1] / votes.sum()) * _VILLAGE / float(facts.inhabitants[main])


def _others(row: Ints, group: Ints, votes: Floats) -> Floats:
    """For each candidate, the votes that other names have for its group."""
    _, own = np.unique(np.stack([row, group]), axis=1, return_inverse=True)
    others: Floats = np.subtract(np.bincount(group, votes)[group], np.bincount(own.ravel(), votes)[own.ravel()])
    return others


def settled(taxonomy: Taxonomy, candidates: Rows, chances: Floats) -> tuple[Ints, Floats]:
    """The likeliest place of each row and how likely it is; where that is not enough, the area all likely ones share.

    An area above a country says too little: there the row has none (-1), and a person is asked.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
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
        elif chances[mine].sum() >= SURE:
            likely = np.cumsum(chances[mine][order]) - chances[mine][order] < 0.99
            area = taxonomy.lcs(*best[likely].tolist())
            chosen[i] = area if facts.level[area] >= _COUNTRY else -1
    return chosen, sure


Areas = Sequence[Sequence[int]]
"""What other columns say of a value: for each way in which its rows name an area, the places that this may be."""


def located(
    taxonomy: Taxonomy, candidates: Rows, names: Sequence[str], within: Sequence[Areas], column: str = ""
) -> tuple[Ints, Floats]:
    """The place that each name stands for on all its rows, and how likely that is; -1 where nobody can say.

    `within[i]` are the areas that other columns name on the rows of `names[i]`. The name is sought in each of them:
    where it is one place here and another there, it stands for what these share. Where an area has no such place, the
    name may be a village: then it stands for the area.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
    >>> places = embedded("places")
    >>> found = places.senses_of("London")
    >>> rows = Rows.from_pairs([0] * len(found), found, 1)
    >>> canada, england, ohio = places.codes(["Canada", "England", "Ohio"]).tolist()
    >>> for areas in ([(canada,)], [(england,)], [(canada,), (ohio,)]):
    ...     (chosen,), (sure,) = located(places, rows, ["London"], [areas])
    ...     print(places.id(int(chosen)) if chosen >= 0 else None, bool(sure > SURE))
    city/6058560 True
    city/2643743 True
    None False
    """
    owner = np.repeat(np.arange(len(candidates), dtype=np.int32), [max(1, len(areas)) for areas in within])
    each = [area for areas in within for area in areas or ((),)]
    apart = candidates.taken(owner)
    chances = probabilities(taxonomy, apart, [names[i] for i in owner.tolist()], each, column)
    place, likely = settled(taxonomy, apart, chances)
    chosen = np.full(len(candidates), -1, dtype=np.int32)
    sure = np.full(len(candidates), np.nan)
    for i in np.flatnonzero(candidates.sizes).tolist():
        mine = np.flatnonzero(owner == i) if len(owner) != len(candidates) else np.array([i])
        spots = {_placed(taxonomy, int(place[j]), each[j]) for j in mine.tolist()}
        sure[i] = likely[mine].min()
        if len(spots) == 1:
            (chosen[i],) = spots
        elif -1 not in spots:
            chosen[i] = _wide_enough(taxonomy, taxonomy.lcs(*sorted(spots)))
            sure[i] = min(sure[i], 1 / len(spots))
    return chosen, sure


def _placed(taxonomy: Taxonomy, place: int, areas: Sequence[int]) -> int:
    """A place, or else the area that the rows name, where it is one; -1 where neither is known."""
    return place if place >= 0 or len(areas) != 1 or areas[0] == ELSEWHERE else _wide_enough(taxonomy, areas[0])


def _wide_enough(taxonomy: Taxonomy, area: int) -> int:
    """An area that says something: a country, or what lies in one; else -1."""
    return area if _facts(taxonomy).level[area] >= _COUNTRY else -1


def beside(values: Iterable[Any], others: Iterable[Any], taxonomy: Taxonomy) -> dict[Any, Areas]:
    """For each value, the areas that other columns name on its rows: for `map_values(..., within=...)`.

    `others` is one cell a row, or a tuple of them where several columns tell: what one names must lie in what the
    other does. Cells that name no area say nothing.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
    >>> places = embedded("places")
    >>> [places.labels(areas) for areas in beside(["Springfield", "Springfield"], ["IL", "MO"], places)["Springfield"]]
    [['Israel', 'Illinois'], ['Macao', 'Missouri']]
    >>> [places.labels(areas) for areas in beside(["Springfield"], [("IL", "US")], places)["Springfield"]]
    [['Illinois']]
    """
    whole = taxonomy if taxonomy.whole is None else taxonomy.whole
    known: dict[Any, tuple[int, ...]] = {}
    found: dict[Any, dict[tuple[int, ...], None]] = {}
    for value, other in dict.fromkeys(zip(values, others, strict=True)):
        named: tuple[int, ...] = ()
        for cell in other if isinstance(other, tuple) else (other,):
            if cell not in known:
                known[cell] = _areas_called(whole, cell)
            named = _narrowed(whole, named, known[cell])
        found.setdefault(value, {}).update(dict.fromkeys([_inside(taxonomy, whole, named)] if named else []))
    return {value: tuple(areas) for value, areas in found.items()}


def _areas_called(whole: Taxonomy, cell: Any) -> tuple[int, ...]:
    hit = lookup(whole).find(str(cell)) if cell is not None else None
    if hit is None or hit.how == "head":
        return ()
    return tuple(place for place in hit.concepts if _facts(whole).level[place] < LEVELS.index("city"))


def _narrowed(whole: Taxonomy, areas: tuple[int, ...], others: tuple[int, ...]) -> tuple[int, ...]:
    """Of the areas that two columns name, those that lie in one another; all of them where none does."""
    if not areas or not others:
        return areas or others
    inner = [a for a in areas if lies_in(whole.parents, a, others)] + [
        a for a in others if lies_in(whole.parents, a, areas)
    ]
    return tuple(dict.fromkeys(inner or (*areas, *others)))


def _inside(taxonomy: Taxonomy, whole: Taxonomy, areas: tuple[int, ...]) -> tuple[int, ...]:
    """Codes that a part of the taxonomy has for areas; what holds all of it is its top."""
    if taxonomy is whole:
        return areas
    top = taxonomy.in_whole(taxonomy.root)
    own = (taxonomy.root if lies_in(whole.parents, top, (a,)) else taxonomy.part_of(a) for a in areas)
    return tuple(dict.fromkeys(a for a in own if a is not None)) or (ELSEWHERE,)


def areas_of(values: Iterable[Any], options: Sequence[Sequence[int]], within: Mapping[Any, Areas]) -> list[Areas]:
    """The areas in which each value's places are sought: those it is given, or all its own where it names one itself.

    >>> areas_of(["Paris", "Paris, TX", "Lyon"], [(1, 2), (2,), (3,)], {"Paris": [(7,)]})
    [[(7,)], [(2,)], []]
    """
    return [
        list(within.get(value) or ([own] if QUALIFIED.search(str(value)) else []))
        for value, own in zip(values, options, strict=True)
    ]


def nearest(taxonomy: Taxonomy, latitudes: ArrayLike, longitudes: ArrayLike) -> Ints:
    """The city nearest to each pair of coordinates (degrees, WGS 84), by the straight line through the globe.

    Region, country and so on are what lies above it. Near a border it may be a city of the other side.

    >>> from keepsense.taxonomy.embedded_taxonomies import embedded
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
