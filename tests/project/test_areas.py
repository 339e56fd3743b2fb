"""Columns that say where the places of another lie: found by `inspect`, used by drafts, runs and commands."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from typer.testing import CliRunner

from keepsense import cli
from keepsense.draft.column_hierarchy import built_for_column
from keepsense.draft.inspection import inspect
from keepsense.draft.project_text import draft
from keepsense.engines.protocol import engine
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.project.project_file import check_project
from keepsense.release.job.job import Job
from keepsense.secure_random import generator
from keepsense.taxonomy.formats import taxonomy_library
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.place_disambiguation import beside

AMERICAN = {
    "city": ["Springfield", "Portland", "Columbus", "Aurora", "Bloomington", "Peoria", "Glendale", "Rochester"],
    "state": ["IL", "ME", "OH", "IL", "IN", "IL", "AZ", "MN"],
}
CANADIAN = {
    "town": ["London", "Windsor", "Hamilton", "Cambridge", "Kingston", "Richmond", "Waterloo", "Victoria"],
    "country": ["Canada"] * 8,
}
STATES = ["Illinois", "Maine", "Ohio", "Illinois", "Indiana", "Illinois", "Arizona", "Minnesota"]
PARENTS = dict(zip(AMERICAN["city"], STATES, strict=True))


def cells(table: dict[str, list[str]], times: int = 6) -> dict[str, list[str]]:
    return {name: column * times for name, column in table.items()}


def written(table: dict[str, list[str]], path: Path) -> Path:
    rows = ["|".join(row) for row in zip(*cells(table).values(), strict=True)]
    path.write_text("\n".join(["|".join(table), *rows]) + "\n", encoding="utf-8")
    return path


def labels_of(tree: Hierarchy, value: str) -> tuple[str, ...]:
    return next(tuple(map(str, row)) for row in tree.rows() if row[0] == value)


def states_of(text: str, folder: Path, column: str) -> dict[str, str]:
    """The concept that lies above what each place is taken for, when the project is run."""
    project = check_project(tomllib.loads(text))
    with engine() as running:
        job = Job(project, folder, running, generator(1))
        mapping = job.mapping(column, job.counts.rows_of(column))
    taxonomy = mapping.taxonomy
    return {str(v): taxonomy.label(int(taxonomy.parents[c][0])) for v, c in mapping.concepts.items() if c}


@pytest.mark.parametrize(("table", "column", "area"), [(AMERICAN, "city", "state"), (CANADIAN, "town", "country")])
def test_a_draft_names_the_columns_that_place_a_city(table: dict[str, list[str]], column: str, area: str) -> None:
    seen = inspect(cells(table))
    meaning = next(c.meaning for c in seen.columns if c.name == column)
    assert meaning is not None
    assert (meaning.taxonomy, meaning.within) == ("places", (area,))
    assert f"where a place lies is told by {area}" in meaning.reason
    assert tomllib.loads(draft(seen))["columns"][column]["within"] == [area]


def test_the_same_cities_alone_are_not_placed_so() -> None:
    (alone,) = inspect({"city": AMERICAN["city"] * 6}).columns
    assert alone.meaning is None or not alone.meaning.within
    places = taxonomy_library.find("places")
    by_themselves = map_values(AMERICAN["city"], places, column="city")
    beside_states = map_values(
        AMERICAN["city"], places, column="city", within=beside(AMERICAN["city"], AMERICAN["state"], places)
    )
    assert by_themselves.how.count("doubtful") > 3
    assert "doubtful" not in beside_states.how


def test_a_run_reads_cities_by_their_states(tmp_path: Path) -> None:
    source = written(AMERICAN, tmp_path / "people.csv")
    text = draft(inspect(source), source={"path": "people.csv", "delimiter": "|"}, k=2)
    assert states_of(text, tmp_path, "city") == PARENTS
    without = text.replace('within = ["state"]', "within = []")
    assert without != text
    assert states_of(without, tmp_path, "city") != PARENTS


def test_a_built_hierarchy_reads_cities_by_their_states(tmp_path: Path) -> None:
    source = written(AMERICAN, tmp_path / "people.csv")
    assert "Illinois" in labels_of(built_for_column(source, "city").hierarchy, "Springfield")
    renamed = tmp_path / "other.csv"
    renamed.write_text(source.read_text().replace("state", "where_it_is"))
    said = built_for_column(renamed, "city", taxonomy="places", within=["where_it_is"]).hierarchy
    assert "Illinois" in labels_of(said, "Springfield")
    assert "Illinois" not in labels_of(built_for_column(renamed, "city", taxonomy="places").hierarchy, "Springfield")


def test_map_takes_columns_that_place_a_city(tmp_path: Path) -> None:
    source = written(CANADIAN, tmp_path / "people.csv")
    answers = {}
    for options in ([], ["--within", "country"]):
        said = CliRunner().invoke(cli.app, ["map", str(source), "town", "-t", "places", *options, "--json"])
        assert said.exit_code == 0, said.output
        mapped = {entry["value"]: entry["id"] for entry in json.loads(said.stdout)["mapped"]}
        answers[bool(options)] = mapped.get("London")
    assert answers[True] == "city/6058560"
    assert answers[False] != answers[True]


def test_one_name_of_two_places_stands_for_what_they_share() -> None:
    places = taxonomy_library.find("places")
    both = map_values(["London"], places, within=beside(["London"] * 2, ["England", "Ontario"], places))
    assert (both.codes.tolist(), both.how) == ([-1], ("doubtful",))  # London on either side of the sea: who is asked
    american = map_values(["Springfield"], places, within=beside(["Springfield"] * 2, ["IL", "MO"], places))
    assert (places.label(int(american.codes[0])), american.how) == ("United States", ("doubtful",))


def test_a_village_that_shares_a_name_stands_for_its_area() -> None:
    places = taxonomy_library.find("places")
    village = map_values(["Paris"], places, within=beside(["Paris"], [("Maine", "United States")], places))
    assert (places.label(int(village.codes[0])), village.how) == ("Maine", ("doubtful",))


def test_a_country_outside_of_the_domain_does_not_lend_its_names() -> None:
    british = taxonomy_library.find("places").below("United Kingdom")
    mapping = map_values(["London", "Leeds"], british, within=beside(["London", "Leeds"], ["Canada", "UK"], british))
    assert mapping.concepts.get("London") is None
    assert british.label(mapping.concepts["Leeds"]) == "Leeds"


def test_columns_that_do_not_place_a_city_are_not_taken() -> None:
    towns = ["London", "Leeds", "Bristol", "Manchester", "Sheffield", "Leicester", "Bradford", "Derby"]
    elsewhere = ["France", "Peru", "Ghana", "Japan", "Chile", "Kenya", "Nepal", "Malta"]
    for table in (
        {"city": towns, "country": elsewhere},  # contradicts what is known of the cities
        {"city": towns, "birth_country": ["UK"] * 8},  # says where somebody else was
        {"city": towns, "state": ["good", "bad"] * 4},  # no area
    ):
        column = inspect(cells(table)).columns[0]
        assert column.meaning is None or not column.meaning.within


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    source = written(AMERICAN, tmp_path / "people.csv")
    text = draft(inspect(source), source={"path": "people.csv", "delimiter": "|"}, k=2)
    with pytest.raises(BadInput, match=r"'city': `within` names the column 'stat', .* Did you mean state"):
        states_of(text.replace('within = ["state"]', 'within = ["stat"]'), tmp_path, "city")


def test_the_patients_of_synthea_are_placed_in_their_country(shared_data: Path) -> None:
    seen = {column.name: column for column in inspect(shared_data / "synthea_uk" / "patients.csv").columns}
    meaning = seen["CITY"].meaning
    assert meaning is not None
    assert (meaning.taxonomy, meaning.domain) == ("places", "United Kingdom")
    assert meaning.within == ("STATE", "COUNTY")
    assert meaning.rows > 0.6
    born = seen[
        "BIRTHPLACE"
    ].meaning  # written like `Leeds  UnitedKingdom  GB`; where somebody lives says nothing of it
    assert born is not None
    assert (born.taxonomy, born.domain, born.within) == ("places", "United Kingdom", ())
    assert born.rows > 0.8
    counties = seen["COUNTY"].meaning
    assert counties is not None
    assert (counties.taxonomy, counties.domain) == ("places", "United Kingdom")
    assert counties.rows > 0.95


def test_a_village_in_kent_is_not_the_city_in_yorkshire(shared_data: Path) -> None:
    file = shared_data / "synthea_uk" / "patients.csv"
    alone = labels_of(built_for_column(file, "CITY", taxonomy="places", domain="United Kingdom").hierarchy, "Leeds")
    placed = labels_of(built_for_column(file, "CITY").hierarchy, "Leeds")
    assert "Yorkshire" in " ".join(alone)
    assert "Yorkshire" not in " ".join(placed)
