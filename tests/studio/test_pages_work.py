"""The steps in which one works, in a browser: hierarchies shaped, protection chosen, solutions explored."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.studio.test_browser import Tab, browser, studio

from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy

__all__ = ["browser", "studio"]
pytestmark = pytest.mark.long

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

TIDY = """surgeon;medics;health;person
dentist;medics;health;person
nurse;nursing;health;person
clerk;writing;office;person
teacher;teaching;office;person
baker;kitchen;service;person
pilot;transport;service;person
pianist;music;service;person
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


def test_a_fault_is_mended_on_the_label_that_has_it(tab: Tab, people: Path) -> None:
    people.with_name("jobs.csv").write_text(OUT_OF_ORDER, encoding="utf-8")
    tab.step("hierarchies")
    tab.press("job")
    tab.sees("The tree of job")
    tab.press("From a file")
    tab.view.get_by_label("Path of the file").fill(str(people.with_name("jobs.csv")))
    tab.view.get_by_role("button", name="Use it", exact=True).last.click()
    wrong = tab.view.locator(".node.faulty").get_by_role("button", name=re.compile("^What is wrong with "))
    wrong.first.wait_for()
    before = wrong.count()
    wrong.first.click()
    tab.view.get_by_role("menuitem").first.click()
    tab.view.get_by_role("button", name=re.compile("^Undo: job: ")).wait_for()
    tab.view.wait_for_function(f"document.querySelectorAll('.node.faulty').length < {before}")


def _with_tidy_tree(tab: Tab, people: Path) -> None:
    """The tree of job as a file has it, shown."""
    people.with_name("jobs.csv").write_text(TIDY, encoding="utf-8")
    tab.step("hierarchies")
    tab.press("job")
    tab.sees("The tree of job")
    tab.press("From a file")
    tab.view.get_by_label("Path of the file").fill(str(people.with_name("jobs.csv")))
    tab.view.get_by_role("button", name="Use it", exact=True).last.click()
    tab.view.get_by_role("button", name="Back to automatic").wait_for()
    _node(tab, "medics").wait_for()


def _node(tab: Tab, label: str) -> Any:
    return tab.view.locator(".node").filter(has=tab.view.get_by_text(label, exact=True))


def _sectors(people: Path) -> dict[str, str]:
    """The sector of each group of jobs, in the hierarchy file that the project names now."""
    columns = _project(people)["columns"]
    assert isinstance(columns, dict)
    tree = read_hierarchy(people.parent / columns["job"]["hierarchy"], "job")
    return {str(row[1]): str(row[2]) for row in tree.rows()}


def test_a_label_is_dragged_to_another_parent_taken_back_and_done_again(tab: Tab, people: Path) -> None:
    _with_tidy_tree(tab, people)
    assert _sectors(people)["medics"] == "health"
    _node(tab, "medics").drag_to(_node(tab, "office"))
    undo = tab.view.get_by_role("button", name=re.compile("^Undo: .*medics"))
    undo.wait_for()
    assert _sectors(people)["medics"] == "office"
    undo.click()
    redo = tab.view.get_by_role("button", name=re.compile("^Redo: .*medics"))
    redo.wait_for()
    assert _sectors(people)["medics"] == "health"
    redo.click()
    tab.view.get_by_role("button", name=re.compile("^Undo: .*medics")).wait_for()
    assert _sectors(people)["medics"] == "office"


def test_the_keyboard_moves_a_label_too(tab: Tab, people: Path) -> None:
    _with_tidy_tree(tab, people)
    tab.view.get_by_role("button", name="Change medics").focus()
    tab.view.keyboard.press("Enter")
    tab.view.wait_for_function("document.activeElement.closest('.q-menu')")
    for _ in range(6):
        if tab.view.evaluate("document.activeElement.innerText.trim()") == "Move under …":
            break
        tab.view.keyboard.press("Tab")
    tab.view.keyboard.press("Enter")
    tab.view.get_by_role("dialog").get_by_role("combobox", name="New parent").focus()
    tab.view.keyboard.press("Enter")
    tab.view.keyboard.type("office")
    tab.view.get_by_role("option", name="office").wait_for()
    tab.view.keyboard.press("ArrowDown")
    tab.view.keyboard.press("Enter")
    tab.view.get_by_role("button", name="Do it", exact=True).focus()
    tab.view.keyboard.press("Enter")
    tab.view.get_by_role("button", name=re.compile("^Undo: .*medics")).wait_for()
    assert _sectors(people)["medics"] == "office"


def _change(tab: Tab, label: str, what: str) -> None:
    tab.view.get_by_role("button", name=f"Change {label}", exact=True).click()
    tab.view.get_by_role("menuitem", name=what).click()


def _pick(tab: Tab, label: str, *options: str) -> None:
    """Choose among the options of a field in a dialog."""
    field = tab.view.get_by_role("dialog").get_by_role("combobox", name=label)
    field.click()
    for option in options:
        tab.view.get_by_role("option", name=option, exact=True).click()
    if tab.view.locator(".q-menu").count():
        tab.view.keyboard.press("Escape")
        tab.view.wait_for_function("!document.querySelector('.q-menu')")


def _do_it(tab: Tab) -> None:
    tab.view.get_by_role("button", name="Do it", exact=True).click()
    tab.view.get_by_role("dialog").wait_for(state="detached")


def test_labels_are_renamed_merged_and_grouped_and_a_level_is_removed(tab: Tab, people: Path) -> None:
    _with_tidy_tree(tab, people)
    _change(tab, "medics", "Rename …")
    tab.view.get_by_role("dialog").get_by_label("New name").fill("")
    tab.view.get_by_role("button", name="Do it", exact=True).click()
    tab.view.get_by_role("dialog").get_by_text("Write a name.").wait_for()
    tab.view.get_by_role("dialog").get_by_label("New name").fill("doctors")
    _do_it(tab)
    tab.view.get_by_role("button", name="Undo: job: medics is called doctors").wait_for()
    assert _sectors(people)["doctors"] == "health"
    _node(tab, "doctors").wait_for()
    _change(tab, "doctors", "Merge with …")
    _pick(tab, "With", "nursing")
    tab.view.get_by_role("dialog").get_by_label("Name of the whole").fill("healers")
    _do_it(tab)
    tab.view.get_by_role("button", name="Undo: job: 2 labels are healers").wait_for()
    assert {"healers"} == {group for group, sector in _sectors(people).items() if sector == "health"}
    _node(tab, "healers").wait_for()
    _change(tab, "service", "Group some below it …")
    _pick(tab, "Which", "kitchen", "music")
    tab.view.get_by_role("dialog").get_by_label("Name of the group").fill("evening")
    _do_it(tab)
    tab.view.get_by_role("button", name="Undo: job: a level above level 1").wait_for()
    assert _sectors(people)["kitchen"] == _sectors(people)["music"] == "evening"
    _node(tab, "evening").wait_for()
    _change(tab, "evening", "Remove the whole level 2")
    tab.view.get_by_role("button", name="Undo: job: level 2 is gone").wait_for()
    assert _sectors(people)["kitchen"] == "service"


def _slider(tab: Tab, name: str) -> Any:
    """What Tab stops at in a slider."""
    return tab.view.get_by_role("slider", name=re.compile(f"^{name}")).locator("[tabindex='0']")


def test_sliders_are_moved_by_keys(tab: Tab, people: Path) -> None:
    tab.step("protect")
    _slider(tab, "k: ").focus()
    tab.view.keyboard.press("ArrowRight")
    tab.view.keyboard.press("ArrowRight")
    tab.sees("is shared by at least 7 records")
    assert _project(people)["privacy"][0] == {"model": "k-anonymity", "k": 7}  # type: ignore[index]
    _slider(tab, "Weight of job").focus()
    tab.view.keyboard.press("ArrowRight")
    tab.view.keyboard.press("ArrowRight")
    tab.view.get_by_role("button", name="Undo: job weighs 2").wait_for()


def test_another_node_of_the_lattice_is_chosen_and_released(tab: Tab, people: Path) -> None:
    tab.step("protect")
    tab.choose("Any other method", "Datafly")
    tab.view.get_by_role("button", name="Undo: the method is datafly").wait_for()
    tab.step("explore")
    tab.view.get_by_role("button", name=re.compile("^Try age ")).first.click()
    take = tab.view.get_by_role("button", name=re.compile("^Use the levels "))
    levels = str(take.get_attribute("aria-label")).removeprefix("Use the levels ")
    take.click()
    tab.view.get_by_role("button", name=f"Undo: the levels are {levels}").wait_for()
    tab.sees(f"You chose these levels: {levels}.")
    method = _project(people)["method"]
    assert isinstance(method, dict)
    assert ", ".join(f"{name} {level}" for name, level in method["parameters"]["levels"].items()) == levels
    tab.release()
    tab.sees("Verified and released")


def test_a_group_of_a_division_is_cut_by_another_column_and_released(tab: Tab, people: Path) -> None:
    tab.step("protect")
    tab.choose("Any other method", "Median Mondrian")
    tab.view.get_by_role("button", name="Undo: the method is mondrian").wait_for()
    tab.step("explore")
    first = tab.view.get_by_role("button", name=re.compile("^What else could be done with 300 records, cut by "))
    now = str(first.get_attribute("aria-label")).rpartition(" ")[2]
    other = "job" if now == "age" else "age"
    first.click()
    tab.view.get_by_role("button", name=f"Compare what each column loses if it is cut by {other}").click()
    assert first.get_attribute("aria-expanded") == "true"
    tab.view.get_by_role("button", name=f"Cut here by {other}").click()
    tab.view.get_by_role("button", name=f"Undo: the whole table is cut by {other}").wait_for()
    tab.sees(f"You chose these cuts: the whole table by {other}.")
    assert _project(people)["method"]["parameters"]["cuts"] == {"whole": other}  # type: ignore[index]
    tab.view.get_by_role("button", name=f"What else could be done with 300 records, cut by {other}").wait_for()
    tab.release()
    tab.sees("Verified and released")
    tab.step("explore")
    tab.press("Let the method choose")
    tab.view.get_by_role("button", name=f"What else could be done with 300 records, cut by {now}").wait_for()
    assert "cuts" not in str(_project(people)["method"])


def test_groups_that_are_gathered_say_why_no_cut_can_be_chosen(tab: Tab) -> None:
    tab.step("protect")
    tab.choose("Any other method", "Local recoding")
    tab.view.get_by_role("button", name="Undo: the method is local recoding").wait_for()
    tab.step("explore")
    tab.sees("Local recoding gathers records into groups and cuts nothing")
    assert not tab.view.get_by_role("button", name=re.compile("^What else could be done")).count()


def test_a_larger_k_is_chosen_and_the_project_file_follows(tab: Tab, people: Path) -> None:
    tab.step("protect")
    tab.view.get_by_role("region", name="Rows before and after", exact=True).wait_for()
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


def test_a_finding_leads_to_the_very_field(tab: Tab, people: Path) -> None:
    tab.close_table()
    text = people.read_text(encoding="utf-8").replace("pianist", "zxcvbn")
    people.write_text(text, encoding="utf-8")
    people.with_name("keepsense.toml").unlink()
    tab.open_table(people)
    tab.press("Say what they mean", "[aria-label=Findings]")
    tab.view.wait_for_function("document.activeElement.getAttribute('aria-label') === 'Choose a meaning of zxcvbn'")
