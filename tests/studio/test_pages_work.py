"""The steps in which one works, in a browser: hierarchies shaped, protection chosen, solutions explored."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.studio.test_browser import Tab, browser, studio

__all__ = ["browser", "studio"]
pytestmark = pytest.mark.more

JOBS = ("nurse", "surgeon", "dentist", "clerk", "pilot", "baker", "teacher", "pianist")
OUT_OF_ORDER = """surgeon;medical practitioner;doctor;person
dentist;medical practitioner;doctor;person
nurse;health professional;doctor;person
clerk;worker;employee;person
baker;worker;employee;person
pilot;worker;employee;person
teacher;educator;professional;person
pianist;musician;performer;person
"""


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rows = [f"p{i},{20 + i * i * 7 % 41},{JOBS[i * i % 97 % 8]},{('flu', 'cold', 'asthma')[i % 3]}" for i in range(300)]
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["name,age,job,illness", *rows, ""]), encoding="utf-8")
    return file


@pytest.fixture
def tab(studio: object, browser: object, people: Path) -> Iterator[Tab]:
    made = Tab(studio, browser)  # type: ignore[arg-type]
    made.open_table(people)
    yield made
    made.close_table()
    made.quiet()
    made.context.close()


def _project(people: Path) -> dict[str, object]:
    return tomllib.loads(people.with_name("keepsense.toml").read_text(encoding="utf-8"))


def test_a_faulty_tree_is_taken_from_a_file_and_mended_by_a_click(tab: Tab, people: Path) -> None:
    people.with_name("jobs.csv").write_text(OUT_OF_ORDER, encoding="utf-8")
    tab.step("hierarchies")
    tab.press("job")
    tab.sees("The tree of job")
    tab.press("From a file")
    tab.view.get_by_label("Path of the file").fill(str(people.with_name("missing.csv")))
    tab.view.get_by_role("button", name="Use it", exact=True).last.click()
    tab.view.locator(".q-dialog .error").get_by_text("missing.csv").wait_for()
    tab.view.get_by_label("Path of the file").fill(str(people.with_name("jobs.csv")))
    tab.view.get_by_role("button", name="Use it", exact=True).last.click()
    tab.sees("'doctor' stands above 'medical practitioner' and is a kind of it".capitalize()[:10])
    tab.view.locator("#work .ask button").first.click()
    tab.view.get_by_role("button", name="Back to automatic").wait_for()
    tab.view.wait_for_function("document.querySelectorAll('#work .ask').length < 3")
    columns = _project(people)["columns"]
    assert isinstance(columns, dict)
    assert columns["job"]["hierarchy"].startswith("hierarchies/job-")


def test_a_larger_k_is_chosen_and_the_project_file_follows(tab: Tab, people: Path) -> None:
    tab.step("protect")
    tab.view.locator("#work h3", has_text="After").wait_for()
    tab.view.locator("#work .setting .q-slider").first.click()
    tab.sees("is shared by at least 26 records")
    assert _project(people)["privacy"][0] == {"model": "k-anonymity", "k": 26}  # type: ignore[index]


def test_a_full_run_is_tried_and_compared(tab: Tab) -> None:
    tab.step("protect")
    tab.press("Try it on the whole table")
    tab.sees("It can be released")
    tab.step("explore")
    tab.sees("could be released (as it stands now)")
    tab.sees("The chance of being recognized")
    tab.sees("The best that are safe")


def test_an_unmet_goal_is_told_with_what_to_do(tab: Tab, people: Path) -> None:
    file = people.with_name("keepsense.toml")
    text = (
        file.read_text(encoding="utf-8").replace("k = 5", "k = 500").replace("suppression = 0.05", "suppression = 0.0")
    )
    tab.close_table()
    file.write_text(text, encoding="utf-8")
    tab.open_table(people)
    tab.step("protect")
    tab.sees("Nothing can be released like this")
    tab.press("Try it on the whole table")
    tab.sees("It cannot be released like this.")
