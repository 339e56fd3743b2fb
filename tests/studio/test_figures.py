"""Every figure of the studio can be pointed at for what it means and pressed for how it is computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.studio.process import Studio
from tests.studio.test_browser import Tab, browser, studio

pytestmark = pytest.mark.long
__all__ = ["browser", "studio"]

# Figures are what `keepsense.studio.widgets.figures` drew. A number may stand elsewhere in a table of rows, in a field
# where somebody writes it, in the text of a button, in names and values of the data, in a complaint, in the manual of
# a method, or where it only numbers the steps.
BARE = """() => {
  const bare = [], texts = document.createTreeWalker(document.querySelector('.room'), NodeFilter.SHOW_TEXT);
  const elsewhere = ['[data-figure]', 'table.plain:not(.runs) td', '.q-field', '.q-slider', '.q-btn', '.data',
    '.mono', '[role=alert]', '.manual', '.position', '[aria-hidden=true]', 'h1', 'svg'].join(', ');
  while (texts.nextNode()) {
    const text = texts.currentNode.textContent, around = texts.currentNode.parentElement;
    if (/\\d/.test(text) && around.getClientRects().length && !around.closest(elsewhere)) bare.push(text);
  }
  return bare;
}"""

RESTS = "!document.querySelector('.q-spinner, aside .aged, .q-tooltip, .q-menu, .q-dialog')"


@pytest.fixture(scope="module")
def tab(studio: Studio, browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    from keepsense.sample_people import write_people

    table = tmp_path_factory.mktemp("figures") / "people.csv"
    write_people(table, 200, seed=3)
    made = Tab(studio, browser)
    made.open_table(table)
    made.preview_is_there()
    yield made
    made.quiet()
    made.context.close()


def _rests(tab: Tab) -> None:
    tab.view.mouse.move(0, 0)
    tab.view.wait_for_function(RESTS)


def _explains(tab: Tab, inside: str) -> None:
    """Pointed at, the first and the last figure say what they mean; pressed, how they are computed."""
    figures = tab.view.locator(f"{inside} [data-figure]:visible")
    assert figures.count() > 0
    for figure in (figures.first, figures.last):
        _rests(tab)
        figure.hover()
        meaning = tab.view.get_by_role("tooltip").last.inner_text()
        assert meaning.endswith("."), meaning
        figure.click()
        dialog = tab.view.get_by_role("dialog")
        dialog.get_by_text(meaning).first.wait_for()
        assert dialog.locator("h3").inner_text() in ("How it is computed", "How it is checked", "What to do")
        assert dialog.locator("h3 + p").inner_text().endswith(".")
        dialog.get_by_role("button", name="Close").click()
        dialog.wait_for(state="detached")


def _figures_alone(tab: Tab) -> None:
    _rests(tab)
    assert tab.view.evaluate(BARE) == []


def test_the_panel_and_the_top_explain_their_figures(tab: Tab) -> None:
    _explains(tab, "aside")
    _explains(tab, "header")


@pytest.mark.parametrize("page", ["open", "meaning", "protect", "release"])
def test_no_number_of_a_page_stands_alone(tab: Tab, page: str) -> None:
    tab.step(page)
    _figures_alone(tab)
    _explains(tab, "#work")


def test_no_number_of_a_tree_or_its_candidates_stands_alone(tab: Tab) -> None:
    tab.step("hierarchies")
    tab.press("occupation")
    tab.sees("The tree of occupation")
    _figures_alone(tab)
    tab.press("by reward")
    _figures_alone(tab)
    _explains(tab, "#work")


def test_no_number_of_the_space_of_solutions_stands_alone(tab: Tab) -> None:
    tab.step("protect")
    tab.press("Try it on the whole table")
    tab.sees("It can be released")
    _figures_alone(tab)
    tab.step("explore")
    tab.sees("The chance of being recognized")
    _figures_alone(tab)
    _explains(tab, "#work")
    tab.view.get_by_role("button", name="What else could be done with").first.click()
    tab.view.get_by_role("button", name="Compare what each column loses").first.click()
    tab.view.get_by_role("button", name="Cut here by").wait_for()
    _figures_alone(tab)
    _explains(tab, "#work .note")
    tab.view.get_by_role("button", name="Cut here by").click()
    tab.sees("You chose these cuts: the whole table by")
    _figures_alone(tab)
    tab.press("Let the method choose")
    tab.step("protect")
    tab.choose("Any other method", "Datafly")
    tab.view.get_by_role("button", name="Undo: the method is datafly").wait_for()
    tab.step("explore")
    tab.sees("The best that are safe")
    tab.view.get_by_role("button", name="Try it", exact=False).first.wait_for()
    _figures_alone(tab)


def test_no_number_of_a_release_stands_alone(tab: Tab) -> None:
    tab.release()
    tab.view.wait_for_selector("[data-export=file]")
    _figures_alone(tab)
    _explains(tab, "#work .columns")


def test_no_number_of_a_lesson_stands_alone(tab: Tab) -> None:
    tab.step("catalogue")
    _figures_alone(tab)
    tab.view.locator("#work").get_by_role("button", name="Datafly").first.click()
    tab.press("Play the lesson")
    tab.sees("Step 0 of")
    tab.press("Next")
    tab.sees("Step 1 of")
    _figures_alone(tab)
    _explains(tab, "#work .lesson")
