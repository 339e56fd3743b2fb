"""Photograph every page of the studio on the sample, wide and narrow, light and dark, into docs/images/studio.

`python scripts/draw_studio.py` takes all pictures, `python scripts/draw_studio.py protect lesson` those of some pages;
needs the extra `studio`, Playwright and Chromium. With `--whole FOLDER` whole pages are taken, to be looked at.
"""

from __future__ import annotations

import argparse
import base64
import itertools
import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "docs" / "images" / "studio"
WIDTHS = {1280: 860, 390: 780}
"""Widths of the window, each with its height."""
SCHEMES = ("light", "dark")
QUALITY = 72
"""Of the pictures, from 0 to 100: text stays sharp, and all of them together stay small."""
LONG = 180_000.0


def main() -> None:
    """Take the pictures that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", help="pages to take; all of them where none is named")
    parser.add_argument("--whole", type=Path, help="folder for pictures of whole pages, not only of the window")
    asked = parser.parse_args()
    folder: Path = asked.whole or TARGET
    folder.mkdir(parents=True, exist_ok=True)
    with _studio() as address, _browser() as browser:
        _prepare(browser, address)
        for (width, height), scheme in itertools.product(WIDTHS.items(), SCHEMES):
            context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
            context.set_default_timeout(LONG)
            view = context.new_page()
            view.goto(address)
            for name in asked.pages or PAGES:
                PAGES[name](view)
                _rests(view)
                if asked.whole:
                    _stretch(view, width)
                _take(view, folder / f"{name}-{width}-{scheme}.webp")
                view.set_viewport_size({"width": width, "height": height})
            context.close()


def _step(name: str) -> Callable[[Any], None]:
    def go(view: Any) -> None:
        view.click(f"[data-step={name}]")
        view.wait_for_selector(f'[data-step={name}][aria-current="page"]')

    return go


def _hierarchies(view: Any) -> None:
    _step("hierarchies")(view)
    view.locator("#work").get_by_role("button", name="occupation", exact=True).click()
    view.get_by_text("The tree of occupation").wait_for()


def _explore(view: Any) -> None:
    """The tree of divisions with the whole table pressed: what else it could be cut by."""
    _step("explore")(view)
    view.get_by_role("button", name="What else could be done with").first.click()
    view.get_by_role("button", name="Compare what each column loses").first.click()
    view.get_by_role("button", name="Cut here by").wait_for()


def _lesson(view: Any) -> None:
    _step("catalogue")(view)
    view.locator("#work").get_by_role("button", name="Datafly").first.click()
    view.get_by_role("button", name="Play the lesson").click()
    view.get_by_text("Step 0 of").wait_for()
    view.get_by_role("button", name="Next", exact=True).click()
    view.get_by_text("Step 1 of").wait_for()


def _sheet(view: Any) -> None:
    """The panel, which is a sheet from below where the window is narrow."""
    _step("protect")(view)
    handle = view.locator("aside .handle")
    if handle.is_visible():
        handle.click()


def _release(view: Any) -> None:
    handle = view.locator("aside .handle")
    if handle.is_visible() and handle.get_attribute("aria-expanded") == "true":
        handle.click()
    _step("release")(view)
    view.wait_for_selector("[data-export=file]")


PAGES: Mapping[str, Callable[[Any], None]] = {
    "open": _step("open"),
    "meaning": _step("meaning"),
    "hierarchies": _hierarchies,
    "protect": _step("protect"),
    "explore": _explore,
    "sheet": _sheet,
    "release": _release,
    "catalogue": _step("catalogue"),
    "lesson": _lesson,
}


@contextmanager
def _studio() -> Iterator[str]:
    """A studio on the sample; its address."""
    command = [sys.executable, "-m", "keepsense", "studio", "--sample", "--no-browser", "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield str(json.loads(process.stdout.readline())["address"])
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(60)


@contextmanager
def _browser() -> Iterator[Any]:
    # installed with the tests' tools only, so unknown to the type checker elsewhere
    with import_module("playwright.sync_api").sync_playwright() as browsers:
        made = browsers.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        yield made
        made.close()


def _prepare(browser: Any, address: str) -> None:
    """Do what somebody would have done before: try it on the whole table, and release it."""
    view = browser.new_page()
    view.set_default_timeout(LONG)
    view.goto(address)
    view.wait_for_selector(".preview td")
    _step("protect")(view)
    view.get_by_role("button", name="Try it on the whole table").click()
    view.get_by_text("It can be released").wait_for()
    _step("release")(view)
    view.get_by_role("button", name="Make the release").click()
    view.wait_for_selector("[data-export=file]")
    view.close()


def _rests(view: Any) -> None:
    """Wait until the page and the panel are worked out, and nothing moves any more."""
    view.mouse.move(0, 0)
    view.wait_for_selector("#work h1")
    view.wait_for_function("!document.querySelector('.q-spinner, aside .aged, .q-tooltip')")
    view.evaluate("document.activeElement?.blur()")


def _stretch(view: Any, width: int) -> None:
    """Make the window as high as what it shows."""
    height = view.evaluate(
        "Math.max(...['.centre', '.panel'].map(s => document.querySelector(s)?.scrollHeight ?? 0)) + 130"
    )
    view.set_viewport_size({"width": width, "height": min(6_000, int(height))})


def _take(view: Any, file: Path) -> None:
    link = view.context.new_cdp_session(view)
    taken = link.send("Page.captureScreenshot", {"format": "webp", "quality": QUALITY})
    file.write_bytes(base64.b64decode(taken["data"]))
    print(f"{file.name}: {file.stat().st_size // 1024} KB")


if __name__ == "__main__":
    main()
