"""Roles by what values give away, and what columns say about one another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from keepsense.draft.inspected_column import Inspected
from keepsense.draft.inspection import inspect
from keepsense.draft.project_draft import draft_for_file

ROWS = 60
STREETS = ["12 Baker Street", "315 Heathcote Well Unit 65", "047XX W GLADYS AVE", "Hauptstraße 5a", "9 rue de la Paix"]
NAMES = ["Anna", "Jürgen", "Priya", "Giulia", "Pedro", "Olga", "Mehmet", "Siobhan", "Chinedu", "Agnieszka", "Maria"]


def of(cells: list[Any], name: str = "x", **others: list[Any]) -> Inspected:
    return inspect({name: cells, **others}).columns[0]


@pytest.mark.parametrize(
    ("cells", "name", "role"),
    [
        ([NAMES[i % 11] for i in range(ROWS)], "q3", "identifier"),
        ([f"{NAMES[i % 11]} {NAMES[i % 7]}son" for i in range(ROWS)], "who_reported", "identifier"),
        ([f"{i} {STREETS[i % 5]}" if i % 5 > 2 else STREETS[i % 5] for i in range(ROWS)], "where", "identifier"),
        ([f"{100 + i}-{10 + i % 80}-{1000 + i}" for i in range(ROWS)], "n", "identifier"),
        ([f"HP{587530 + 7 * i}" for i in range(ROWS)], "docket", "identifier"),
        ([f"({41 + i / 1000:.6f}, {-87 - i / 1000:.6f})" for i in range(ROWS)], "spot", "identifier"),
        ([f"{51 + i / 1000:.6f}" for i in range(ROWS)], "Latitude", "quasi-identifier"),
        ([f"{1144818 + i}.0" for i in range(ROWS)], "X Coordinate", "quasi-identifier"),
        (["A191", "A192"] * 30, "TELEPHONE", "quasi-identifier"),
        (["A11", "A12", "A13", "A14"] * 15, "STATUS_ACCOUNT", "sensitive"),
        (["Stress (finding)", "Viral sinusitis (disorder)", "Full-time employment (finding)"] * 20, "d", "sensitive"),
        (["J45.9", "E11", "I10", *(f"K{i:02}.1" for i in range(27))] * 2, "c", "sensitive"),
        ([f"{i % 11}" for i in range(ROWS)], "num_lab_procedures", "sensitive"),
        (["London", "Lincoln", "Jackson", "Austin", "Madison", "Florence"] * 10, "city", "quasi-identifier"),
        (["2", "3", "4", "1"] * 15, "JobSatisfaction", "sensitive"),
        (["2", "3", "4", "1"] * 15, "JobLevel", "quasi-identifier"),
        (["2", "3", "4", "1"] * 15, "education_level", "quasi-identifier"),
        (["(F3)", "(M1)", "(M2)"] * 20, "r_charge_degree", "sensitive"),
        ([f"2013-0{1 + i % 9}-1{i % 10}" for i in range(ROWS)], "c_offense_date", "quasi-identifier"),
        ([f"{30 + i % 40}" for i in range(ROWS)], "age_at_diagnosis", "quasi-identifier"),
        (["1", "2", "3"] * 20, "NUMBER_OF_CREDIT_CARDS", "sensitive"),
        ([f"{100 + 40 * i}" for i in range(ROWS)], "amount", "sensitive"),
        ([f"{20000 + 731 * i}" for i in range(ROWS)], "Salary", "sensitive"),
        ([f"{20000 + 731 * i}" for i in range(ROWS)], "docket", "identifier"),
        ([f"{1001 + i // 2}" for i in range(ROWS)], "county_id", "quasi-identifier"),
        ([f"{i // 6}" for i in range(ROWS)], "PositionID", "quasi-identifier"),
        ([f"M{100112 + i // 4}" for i in range(4 * ROWS)], "bioguide", "person"),
        (["Strongly agree", "Agree", "Neither", "Disagree"] * 15, "zz", "sensitive"),
        (["Never", "Sometimes", "Often"] * 20, "zz", "sensitive"),
        (["yes", "no"] * 30, "Do you ever skip a meal?", "sensitive"),
        (["yes", "no"] * 30, "zz", "quasi-identifier"),
        (["1", "2", "3", "4", "5"] * 12, "zz", "quasi-identifier"),
        ([f"{0.4 + i % 12 / 7:.2f}" for i in range(2 * ROWS)], "zz", "quasi-identifier"),
        ([f"{0.4 + i % 50 / 7:.2f}" for i in range(ROWS)], "zz", "sensitive"),
        (["0"] * 80 + [f"{i % 45}" for i in range(4 * ROWS)], "zz", "quasi-identifier"),
        (["0"] * 80 + [f"{i % 9}" for i in range(ROWS)], "zz", "quasi-identifier"),
        ([f"{1960 + i % 30}" for i in range(5 * ROWS)], "zz", "quasi-identifier"),
        ([f"{i % 40}" for i in range(4 * ROWS)], "mathscore", "sensitive"),
        ([f"{4 + i % 14}" for i in range(2 * ROWS)], "fatheduc", "quasi-identifier"),
        ([f"{1 + i % 9 / 8:.3f}" for i in range(2 * ROWS)], "lwage", "sensitive"),
        (["0", "1"] * 30, "hispanic", "quasi-identifier"),
        (["low", "middle", "high"] * 20, "How much money does your household earn?", "sensitive"),
        ([f"qx{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(ROWS)], "lname", "identifier"),
        ([f"{i % 40}" for i in range(4 * ROWS)], "totchol", "sensitive"),
        (["0", "1"] * 30, "prevalentStroke", "sensitive"),
        (["0", "1"] * 30, "smokenow", "sensitive"),
        (["0", "1"] * 30, "currentrole", "quasi-identifier"),
        (["0", "1"] * 30, "trait", "quasi-identifier"),
        (["0", "1"] * 30, "target", "sensitive"),
        (["R_037XK72IZBJyF69", "R_06RZP9pS7kONINr", "R_03aEbghUILs9NxD"] * 20, "Survey ResponseID", "person"),
        (["Austria", "Spain", "France", "Italy"] * 15, "country_name", "quasi-identifier"),
        ([f"{40 + i % 30}" for i in range(5 * ROWS)], "Account length", "sensitive"),
        ([f"{10 + i % 90 / 100:.2f}" for i in range(5 * ROWS)], "Total eve charge", "sensitive"),
        ([f"{-1.38629436 + i % 20}" for i in range(5 * ROWS)], "zz", "sensitive"),
        (["M", "F"] * 30, "Geschlecht", "quasi-identifier"),
        ([f"{1 + i % 6}" for i in range(2 * ROWS)], "calificación", "sensitive"),
        ([f"qx{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(ROWS)], "Prénom", "identifier"),
    ],
)
def test_roles_by_content(cells: list[Any], name: str, role: str) -> None:
    column = of(cells, name)
    assert column.role == role, column.reason


def test_items_of_a_questionnaire_tell_each_other() -> None:
    answers = {f"E{i}": [1 + (i + row * row * i + row) % 5 for row in range(120)] for i in range(1, 6)}
    assert {column.role for column in inspect(answers).columns} == {"sensitive"}
    unnamed = {f"V{i}": cells for i, cells in enumerate(answers.values())}
    assert {column.role for column in inspect(unnamed).columns} == {"quasi-identifier"}


def test_numbers_that_name_few_things_are_nominal() -> None:
    assert of([str(1 + i % 8) for i in range(ROWS)], "admission_type_id").kind == "nominal"
    assert of([i % 2 for i in range(ROWS)], "survived").kind == "nominal"
    assert of([20 + i % 8 for i in range(ROWS)], "age").kind == "numeric"


def test_an_id_that_repeats_is_a_person_and_that_of_visits_is_not() -> None:
    patients = [f"7c1df48e-f12f-13f2-920d-40f47ea8{i // 4:04}" for i in range(ROWS)]
    visits = [f"3b8fd693-cf67-4e4d-6504-67847850{i // 2:04}" for i in range(ROWS)]
    columns = inspect({"ENCOUNTER": visits, "PATIENT": patients, "age": list(range(ROWS))}).columns
    assert [column.role for column in columns[:2]] == ["identifier", "person"]


def test_what_two_columns_say_twice_gets_one_role() -> None:
    codes = [f"c{i % 15}" for i in range(ROWS)]
    columns = inspect({"CODE": codes, "DESCRIPTION": [f"fever {c} (finding)" for c in codes]}).columns
    assert [column.role for column in columns] == ["sensitive", "sensitive"]
    assert "says the same as CODE" in columns[1].notes


def test_coordinates_in_a_second_system_are_left_out() -> None:
    degrees = [f"{41 + i / 1000:.6f}" for i in range(ROWS)]
    metres = [f"{1144818 + 11 * i}.0" for i in range(ROWS)]
    columns = inspect({"Latitude": degrees, "Longitude": degrees[::-1], "X Coordinate": metres}).columns
    assert [column.role for column in columns] == ["quasi-identifier", "quasi-identifier", "identifier"]


def test_parts_of_names_tell_each_other() -> None:
    codes = [f"{chr(97 + i % 26)}{chr(97 + i // 26)}q" for i in range(ROWS)]
    assert of(codes[:30] * 2, "LAST", FIRST=codes).role == "identifier"
    assert of(codes[:30] * 2, "LAST", age=list(range(ROWS))).role == "quasi-identifier"


def test_what_tells_a_column_is_protected_with_it() -> None:
    ranks = [1 + i % 5 for i in range(300)]
    pay = [1000 * rank + 10 * (i % 30) for i, rank in enumerate(ranks)]
    debts = [100 * (i * 7 % 41) for i in range(300)]
    columns = inspect({"rank": ranks, "income": pay, "debt": debts}).columns
    assert [column.role for column in columns] == ["quasi-identifier", "quasi-identifier", "sensitive"]
    assert columns[1].reason.startswith("tells rank")


def test_of_unknown_columns_only_those_with_few_values_follow_a_sensitive_one_that_tells_them() -> None:
    pay = [1000 + 500 * (i % 4) for i in range(4 * ROWS)]
    few, many = inspect({"q9": [i % 4 // 2 for i in range(4 * ROWS)], "salary": pay}).columns
    assert (few.role, many.role) == ("sensitive", "sensitive")
    texts = [f"note {i % 4} of {i}" if i % 8 == 0 else f"note {i % 4}" for i in range(4 * ROWS)]
    unique, told = inspect({"q9": texts, "salary": pay}).columns
    assert "sensitive" not in (unique.role, told.role)


def test_where_each_row_has_a_person_of_its_own_numbers_that_repeat_are_no_people() -> None:
    names = [f"{NAMES[i % 11]} {NAMES[i % 7]}son{i}" for i in range(ROWS)]
    columns = inspect({"who": names, "chief_id": [str(400 + i // 3) for i in range(ROWS)]}).columns
    assert [column.role for column in columns] == ["identifier", "identifier"]


def test_full_names_that_repeat_are_people() -> None:
    names = [f"{NAMES[i % 11]} {NAMES[i % 3]}" for i in range(5 * ROWS)]
    assert of(names, "donor_name").role == of(names, "Owner").role == "person"
    assert of(names, "ManagerName").role == "identifier"
    assert of([NAMES[i % 11] for i in range(5 * ROWS)], "called").role == "identifier"


def test_pay_in_other_spellings_is_drafted_in_bands() -> None:
    column = of([f"${1 + i % 9},{100 + i} " for i in range(5 * ROWS)], "Amount")
    assert (column.role, column.kind, column.in_bands, column.width()) == ("sensitive", "numeric", True, 1000)


def test_cells_of_blanks_are_taken_for_missing() -> None:
    column = of([" " if i % 9 == 0 else str(1990 + i % 20) for i in range(ROWS)], "year")
    assert (column.kind, column.empty, column.profile.missing) == ("numeric", ("",), 7)
    assert "blanks: taken for missing" in column.notes


def test_few_empty_cells_are_not_told_as_none() -> None:
    column = of([None if i == 7 else str(1990 + i % 20) for i in range(3_000)], "year")
    assert "fewer than 0.1% of the cells are empty" in column.notes


@pytest.mark.parametrize("role", ["sensitive", "target"])
def test_a_role_given_to_the_draft_of_a_file_takes_its_bands_away(tmp_path: Path, role: str) -> None:
    rows = [f"{20 + i % 9},{1000 + 37 * (i * 7 % 100)}" for i in range(200)]
    (tmp_path / "people.csv").write_text("\n".join(["age,pay", *rows]) + "\n", encoding="utf-8")
    assert draft_for_file(tmp_path / "people.csv").columns["pay"].width is not None
    given = draft_for_file(tmp_path / "people.csv", **{role: "pay"}).columns["pay"]
    assert (given.role, given.width, given.accept) == (role, None, "identifying")
