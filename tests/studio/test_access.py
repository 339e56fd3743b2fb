"""The studio for everybody: axe-core finds no serious violation on any page, and keys do what a mouse does."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.studio.process import Studio
from tests.studio.test_browser import Tab, browser, studio

pytest.importorskip("axe_playwright_python", reason="needs axe-core, from axe-playwright-python")
pytestmark = pytest.mark.long
__all__ = ["browser", "studio"]

WINDOWS = ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark"))
PAGES = ("open", "meaning", "hierarchies", "protect", "explore", "release", "catalogue", "help")

# A stylesheet that fades a colour in is judged half-way; axe judges what is there when nothing moves any more.
_STILL = "*, *::before, *::after { transition: none !important; animation: none !important; }"
_RESTS = "!document.querySelector('.q-spinner, aside .aged, .q-tooltip, .q-menu, .q-loading')"


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from keepsense.sample_people import write_people

    table = tmp_path_factory.mktemp("access") / "people.csv"
    write_people(table, 100, seed=3)
    return table


@pytest.fixture(params=WINDOWS, ids=lambda window: f"{window[0]}-{window[1]}")
def window(request: pytest.FixtureRequest, studio: Studio, browser: Any, people: Path) -> Iterator[Tab]:
    made = Tab(studio, browser, *request.param)
    if not made.view.get_by_role("heading", name=people.name, level=1).count():
        made.open_table(people)
    made.view.add_style_tag(content=_STILL)
    made.view.evaluate((files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8"))
    yield made
    made.quiet()
    made.context.close()


def _violations(tab: Tab) -> list[str]:
    """What axe-core finds that is serious or worse, each with its first elements."""
    tab.view.mouse.move(0, 0)  # or what it points at explains itself
    tab.view.wait_for_function(_RESTS)
    found = tab.view.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{rule['id']}: {node['html'][:200]} {' '.join(node['failureSummary'].split())[:300]}"
        for rule in found["violations"]
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"][:3]
    ]


def test_no_page_has_a_serious_violation(window: Tab) -> None:
    window.preview_is_there()
    found = {}
    for page in PAGES:
        window.step(page)
        window.view.wait_for_selector("#work h1")
        found[page] = _violations(window)
    window.step("catalogue")
    window.view.locator("#work").get_by_role("button", name="Datafly").first.click()
    window.press("Play the lesson")
    window.sees("Step 0 of")
    found["lesson"] = _violations(window)
    window.step("hierarchies")
    window.press("occupation")
    window.sees("The tree of occupation")
    found["tree"] = _violations(window)
    window.step("protect")
    handle = window.view.locator("aside .handle")
    if handle.is_visible():
        handle.click()
    window.view.locator("aside .figure").first.click()
    window.view.get_by_role("dialog").get_by_text("How it is computed").wait_for()
    found["dialog"] = _violations(window)
    assert not any(found.values()), "\n".join(f"{page}: {rule}" for page, rules in found.items() for rule in rules)
