"""Places: what the gazetteer knows, which place of a name is taken, when nobody can say, and the nearest one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keepsense.errors import BadInput
from keepsense.taxonomy.formats import taxonomy_library
from keepsense.taxonomy.lookup import lookup
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.place_disambiguation import LEVELS, _facts, beside, nearest
from keepsense.taxonomy.taxonomy import Taxonomy

AMERICAN = ["Houston", "Chicago", "Phoenix", "Dallas", "Denver", "Seattle", "Detroit", "Memphis", "Tulsa", "Omaha"]


@pytest.fixture(scope="module")
def places() -> Taxonomy:
    return taxonomy_library.find("places")


def where(taxonomy: Taxonomy, values: list[str], **how: object) -> dict[str, str]:
    """The ids that values stand for; empty where nobody can say."""
    mapping = map_values(values, taxonomy, **how)  # type: ignore[arg-type]
    return {str(v): taxonomy.id(int(c)) if c >= 0 else "" for v, c in zip(mapping.values, mapping.codes, strict=True)}


def test_every_level_hangs_below_the_one_above(places: Taxonomy) -> None:
    level = np.array([LEVELS.index(key.partition("/")[0]) for key in places.ids])
    counts = dict(zip(*np.unique(level, return_counts=True), strict=True))
    assert {LEVELS[i]: n for i, n in counts.items()} == {
        "world": 1,
        "continent": 6,
        "subregion": 23,
        "country": 250,
        "region": 3_674,
        "county": 113,
        "city": 34_006,
    }
    below = places.parents.row_of()
    assert (level[below] > level[places.parents.indices]).all()
    city = level[below] == LEVELS.index("city")
    in_region = level[places.parents.indices[city]] >= LEVELS.index("region")
    assert in_region.mean() > 0.99  # city states have no regions


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Munich", ["Munich", "Bavaria", "Germany", "Western Europe", "Europe", "world"]),
        ("München", ["Munich", "Bavaria", "Germany", "Western Europe", "Europe", "world"]),
        ("東京", ["Tokyo", "Tokyo", "Japan", "Eastern Asia", "Asia", "world"]),
        ("medellin, colombia", ["Medellín", "Antioquia", "Colombia", "South America", "Americas", "world"]),
        ("USA", ["United States", "Northern America", "Americas", "world"]),
        ("United-States", ["United States", "Northern America", "Americas", "world"]),
        ("DEU", ["Germany", "Western Europe", "Europe", "world"]),
        ("Texas", ["Texas", "United States", "Northern America", "Americas", "world"]),
        ("England", ["England", "United Kingdom", "Northern Europe", "Europe", "world"]),
        ("Springfield, IL", ["Springfield", "Illinois", "United States", "Northern America", "Americas", "world"]),
        (
            "Bath  UnitedKingdom  GB",
            ["Bath", "Somerset", "England", "United Kingdom", "Northern Europe", "Europe", "world"],
        ),
        ("Paris (TX)", ["Paris", "Texas", "United States", "Northern America", "Americas", "world"]),
    ],
)
def test_names_of_places(places: Taxonomy, name: str, path: list[str]) -> None:
    mapping = map_values([name], places)
    assert mapping.how[0] in ("exact", "normalised")
    assert places.labels(places.path(int(mapping.codes[0]), places.root)) == path


def test_british_counties(places: Taxonomy) -> None:
    """Ceremonial counties in England, council and principal areas elsewhere; what lies in two goes by itself."""
    mapping = map_values(
        ["Tyne And Wear", "West Midlands", "Fife", "Powys", "City Of Edinburgh", "Kent"], places, column="county"
    )
    assert all(places.id(int(code)).startswith("county/GB.") for code in mapping.codes)
    cities = {
        "Sheffield": "South Yorkshire",
        "Brighton": "East Sussex",
        "Swindon": "Wiltshire",
        "Wolverhampton": "West Midlands",
    }
    answers = where(places, list(cities), column="city")
    assert {name: places.label(places.parents[places.code(key)][0]) for name, key in answers.items()} == cities


@pytest.mark.parametrize("text", ["Springfield, Atlantis", "()", ", ,", "Paris, Ohio, France", "NA", "12345"])
def test_what_is_no_place_is_not_found(places: Taxonomy, text: str) -> None:
    assert lookup(places).find(text) is None


def test_a_name_alone_is_the_place_that_dwarfs_the_others(places: Taxonomy) -> None:
    assert where(places, ["Paris"]) == {"Paris": "city/2988507"}
    assert where(places, ["London"]) == {"London": "city/2643743"}
    mapping = map_values(["Birmingham", "Georgia"], places)  # England or Alabama, the country or the state
    assert mapping.how == ("doubtful", "doubtful")
    assert mapping.codes.tolist() == [-1, -1]


def test_the_other_places_of_a_column_decide(places: Taxonomy) -> None:
    british = where(places, ["Birmingham", "Boston", "Leeds", "Bristol", "Manchester", "Sheffield", "Leicester"])
    assert all(places.is_a(key, "England") for key in british.values())
    states = where(places, ["Georgia", "Texas", "Ohio", "Utah"])
    assert states["Georgia"] == "region/US.GA"
    countries = where(places, ["Georgia", "Armenia", "France", "Peru", "Ghana"], column="country")
    assert countries["Georgia"] == "country/GE"
    assert where(places, ["New York", *AMERICAN])["New York"] == "city/5128581"
    assert where(places, ["New York", "Texas", "Ohio", "Utah"])["New York"] == "region/US.NY"


@pytest.mark.parametrize("countries", [8, 25])
def test_columns_of_cities_from_several_countries(places: Taxonomy, countries: int) -> None:
    """Cities drawn by size in Africa and the Americas; what is assumed about places was chosen on Europe and Asia."""
    level = np.array([key.partition("/")[0] for key in places.ids])
    people = places.extra["population"].astype(np.float64)
    right = wrong = drawn = 0
    for continent in ("Africa", "Americas"):
        nations = [c for c in places.descendants(places.code(continent)).tolist() if level[c] == "country"]
        nations = [c for c in nations if people[c] > 1e6]
        for seed in range(5):
            rng = np.random.default_rng(seed)
            chance = people[nations] ** 0.5
            some = rng.choice(nations, min(countries, len(nations)), replace=False, p=chance / chance.sum())
            cities = [c for nation in some.tolist() for c in places.descendants(nation).tolist()]
            cities = [c for c in cities if level[c] == "city" and people[c] > 50_000]
            chance = people[cities] ** 0.7
            chosen = rng.choice(cities, min(50, len(cities)), replace=False, p=chance / chance.sum())
            meant = {places.label(c): c for c in chosen.tolist()}
            mapping = map_values(list(meant), places, column="place")
            for name, code in zip(mapping.values, mapping.codes.tolist(), strict=True):
                drawn += 1
                right += code == meant[name]
                wrong += code >= 0 and not places.is_a(meant[name], code)
    assert right / drawn > 0.88
    assert wrong / drawn < 0.01


def test_the_name_of_the_column_tells_the_level(places: Taxonomy) -> None:
    assert where(places, ["DE", "IL", "NY"], column="state")["DE"] == "region/US.DE"
    assert where(places, ["DE", "IL", "NL"], column="birth_country") == {
        "DE": "country/DE",
        "IL": "country/IL",
        "NL": "country/NL",
    }


def test_what_cannot_be_decided_is_asked_or_the_country_they_share(places: Taxonomy) -> None:
    mapping = map_values(["Paris", "Springfield", *AMERICAN], places)
    assert mapping.how[:2] == ("doubtful", "doubtful")
    assert mapping.codes[0] == -1  # France, or Texas?
    assert places.id(int(mapping.codes[1])) == "country/US"
    assert len(mapping.candidates[1]) > 3


def test_a_place_that_does_not_fit_the_column_is_not_taken(places: Taxonomy) -> None:
    """In Adult, `South` is no region of Cameroon and `Columbia` no city in the United States."""
    countries = ["United-States", "Mexico", "Germany", "Canada", "India", "Cuba", "China", "Italy", "Japan", "Poland"]
    answers = where(places, [*countries, "South", "Columbia"], column="native-country")
    assert answers["South"] == answers["Columbia"] == ""
    assert all(answers[name].startswith("country/") for name in countries)


def test_what_a_person_has_said_is_not_weighed(places: Taxonomy) -> None:
    village = {"Paris": "city/4717560"}  # in Texas, which the others would not suggest
    mapping = map_values(["Paris", "Lyon", "Nantes", "Lille", "Toulouse"], places, table=village)
    assert (places.id(int(mapping.codes[0])), mapping.how[0]) == ("city/4717560", "table")


def test_a_column_beside_it_decides(places: Taxonomy) -> None:
    cities, states = ["Springfield", "Portland", "Paris"], ["IL", "ME", "TX"]
    answers = where(places, cities, within=beside(cities, states, places))
    assert answers == {"Springfield": "city/4250542", "Portland": "city/4975802", "Paris": "city/4717560"}
    torn = beside(["Springfield", "Springfield"], ["IL", "MO"], places)  # two cities under one name
    assert where(places, ["Springfield"], within=torn)["Springfield"] == "country/US"


@pytest.mark.parametrize("seed", range(3))
def test_columns_of_one_country_are_read_right(places: Taxonomy, seed: int) -> None:
    """Names of cities drawn by their people from 20 countries that nothing was tuned on, 40 names each."""
    rng = np.random.default_rng(seed)
    people = places.extra["population"].astype(float)
    countries = [c for c in range(len(places)) if places.id(c).startswith("country/") and people[c] > 3e6]
    tuned = {"country/US", "country/GB"}
    right = wrong = asked = 0
    for country in rng.choice([c for c in countries if places.id(c) not in tuned], 20, replace=False).tolist():
        cities = [c for c in places.descendants(country).tolist() if places.id(c).startswith("city/")]
        weights = people[cities] / people[cities].sum()
        drawn = rng.choice(cities, min(40, np.count_nonzero(weights)), replace=False, p=weights).tolist()
        meant = {places.label(c): c for c in drawn}
        answers = where(places, list(meant))
        for name, city in meant.items():
            answer = answers[name]
            if not answer:
                asked += 1
            elif places.is_a(city, answer):
                right += 1
            else:
                wrong += 1
    total = right + wrong + asked
    assert total > 500
    assert wrong / total < 0.01
    assert asked / total < 0.05


@pytest.mark.data
def test_the_towns_of_british_patients_are_british(places: Taxonomy, shared_data: Path) -> None:
    import csv

    with (shared_data / "synthea_uk" / "patients.csv").open() as file:
        towns = [row["CITY"] for row in csv.DictReader(file)]
    mapping = map_values(towns, places, column="CITY")
    kingdom = places.code("country/GB")
    assert all(places.is_a(int(code), kingdom) for code in mapping.codes if code >= 0)
    assert mapping.coverage.rows > 0.8


def test_the_nearest_city(places: Taxonomy) -> None:
    spots = {"Lyon": (45.75, 4.85), "Sydney": (-33.87, 151.21), "Suva": (-18.14, 178.44)}
    latitudes, longitudes = zip(*spots.values(), strict=True)
    assert places.labels(nearest(places, latitudes, longitudes)) == list(spots)
    across = nearest(places, [-17.0], [-179.99])  # the date line lies between
    assert places.label(places.lcs(int(across[0]), "country/FJ")) == "Fiji"


def test_nearest_agrees_with_measuring_every_city(places: Taxonomy) -> None:
    rng = np.random.default_rng(5)
    latitudes, longitudes = rng.uniform(-60, 70, 50), rng.uniform(-180, 180, 50)
    cities = np.array([c for c in range(len(places)) if places.id(c).startswith("city/")])
    north = np.radians(places.extra["latitude"][cities] / 100 - 90)
    east = np.radians(places.extra["longitude"][cities] / 100 - 180)
    for latitude, longitude, city in zip(latitudes, longitudes, nearest(places, latitudes, longitudes), strict=True):
        a, b = np.radians(latitude), np.radians(longitude)
        haversine = np.sin((north - a) / 2) ** 2 + np.cos(a) * np.cos(north) * np.sin((east - b) / 2) ** 2
        best = haversine.min()
        assert haversine[cities == city][0] == pytest.approx(best, rel=1e-9)


def test_coordinates_outside_the_globe_are_refused(places: Taxonomy) -> None:
    with pytest.raises(BadInput, match="latitudes lie between"):
        nearest(places, [91.0], [0.0])
    with pytest.raises(BadInput, match="latitudes lie between"):
        nearest(places, [float("nan")], [0.0])
    with pytest.raises(BadInput, match="same length"):
        nearest(places, [1.0, 2.0], [0.0])


def test_a_part_of_the_world_is_still_one_of_places(places: Taxonomy) -> None:
    france = places.below("country/FR")
    assert where(france, ["Paris"]) == {"Paris": "city/2988507"}
    assert france.label(int(nearest(france, [45.75], [4.85])[0])) == "Lyon"


def test_a_place_lies_in_the_country_that_its_parents_lead_to(places: Taxonomy) -> None:
    facts = _facts(places)
    for place in range(0, len(places), 997):
        above, country = place, -1
        while country < 0:
            country = above if LEVELS[facts.level[above]] == "country" else -1
            if not len(places.parents[above]):
                break
            above = int(places.parents[above][0])
        assert facts.country[place] == country
