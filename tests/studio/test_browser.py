"""The studio in a browser, from a file to a verified release: what people see and do, and what attackers would like."""

from __future__ import annotations

import csv
import hashlib
import itertools
import json
import re
import shutil
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.studio.process import Studio, running

import keepsense as ks
from keepsense.project.project_file import read_project

pytest.importorskip("nicegui", reason="needs NiceGUI")
playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
pytestmark = pytest.mark.long

LONG = 120_000.0
"""Milliseconds that something may take on a machine that is busy; usually it takes a few hundred."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with running(tmp_path_factory.mktemp("studio") / "tmp") as studio:
        yield studio
        code, said = studio.end()
        assert (code, said) == (0, ""), "it ends without a complaint, and nothing was logged meanwhile"
        assert list(studio.place.iterdir()) == []


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as browsers:
        made = browsers.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield made
        made.close()


class Tab:
    """A tab of the studio, and what it said and asked for."""

    def __init__(self, studio: Studio, browser: Any, width: int = 1280, scheme: str = "light") -> None:
        self.studio = studio
        self.context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        self.context.set_default_timeout(LONG)
        self.view = self.context.new_page()
        self.said: list[str] = []
        self.hosts: set[str] = set()
        self.view.on("console", lambda message: self.said.append(message.text))
        self.view.on("pageerror", lambda error: self.said.append(str(error)))
        self.view.on("dialog", lambda dialog: self.said.append(f"dialog {dialog.message}"))
        self.context.on("request", lambda request: self.hosts.add(urlsplit(request.url).netloc))
        self.view.on("websocket", lambda link: self.hosts.add(urlsplit(link.url).netloc))
        self.view.goto(studio.address)
        self.view.wait_for_selector(".room")

    def quiet(self) -> None:
        """Nothing was complained about, and nobody but the studio was asked."""
        assert self.said == []
        assert self.hosts <= {"", f"127.0.0.1:{self.studio.port}"}

    def step(self, name: str) -> None:
        self.view.click(f"[data-step={name}]")
        self.view.wait_for_selector(f'[data-step={name}][aria-current="page"]')

    def press(self, name: str, inside: str = "#work") -> None:
        self.view.locator(inside).get_by_role("button", name=name, exact=True).first.click()

    def sees(self, text: str, inside: str = "#work") -> None:
        self.view.locator(inside).get_by_text(text).first.wait_for()

    def close_table(self) -> None:
        self.step("open")
        way_in = self.view.get_by_role("button", name="Open the sample")
        way_out = self.view.get_by_role("button", name="Open another table")
        way_in.or_(way_out).first.wait_for()
        if not way_in.count():
            way_out.click()
        way_in.wait_for()

    def open_path(self, path: Path) -> None:
        self.close_table()
        self.view.get_by_label("Path of a table or project file").fill(str(path))
        self.press("Open")

    def open_table(self, path: Path) -> None:
        self.open_path(path)
        self.view.get_by_role("heading", name=path.name, level=1).wait_for()

    def choose(self, label: str, option: str) -> None:
        self.view.get_by_role("combobox", name=label, exact=True).last.click()
        self.view.get_by_role("option", name=option, exact=True).click()
        self.view.wait_for_function("!document.querySelector('.q-menu')")

    def preview_is_there(self) -> None:
        """The panel shows figures of the project as it stands."""
        self.view.wait_for_function(
            "document.querySelectorAll('aside .figure').length && !document.querySelector('aside .aged')"
        )

    def release(self) -> None:
        self.step("release")
        self.press("Make the release")


@pytest.fixture
def tab(studio: Studio, browser: Any) -> Iterator[Tab]:
    made = Tab(studio, browser)
    yield made
    made.quiet()
    made.context.close()


def _people(path: Path, rows: int) -> Path:
    from keepsense.sample_people import write_people

    write_people(path, rows, seed=3)
    return path


def _fetched(tab: Tab, word: str) -> bytes:
    with tab.view.expect_download() as download:
        tab.view.click(f"[data-export={word}]")
    return Path(download.value.path()).read_bytes()


def _verified(tab: Tab, table: Path, folder: Path) -> None:
    """The release that was fetched keeps its promise, judged by the verifier in this process."""
    tab.view.wait_for_selector("[data-export=file]")
    released = _fetched(tab, "file")
    target = folder / f"fetched{table.suffix}"
    target.write_bytes(released)
    project = tomllib.loads(_fetched(tab, "project").decode())
    told = json.loads(_fetched(tab, "description"))
    roles = {name: column["role"] for name, column in project["columns"].items()}
    known = [name for name in roles if roles[name] == "quasi-identifier"]
    secret = [name for name in roles if roles[name] == "sensitive"]
    (sized,) = [promise for promise in project["privacy"] if promise["model"] == "k-anonymity"]
    assert ks.verify(target, k=sized["k"], quasi_identifiers=known, sensitive=secret).ok
    assert told["sha256"] == hashlib.sha256(released).hexdigest()
    with tab.context.expect_page() as paper:
        tab.view.click("[data-export=certificate]")
    paper.value.get_by_text(told["sha256"]).wait_for()
    paper.value.get_by_text("every promise below holds").wait_for()
    paper.value.close()


# ---- the way through -------------------------------------------------------------------------------------------------


def test_the_sample_becomes_a_verified_release(tab: Tab, tmp_path: Path) -> None:
    table = _people(tmp_path / "people.csv", 400)
    tab.open_table(table)
    project = tmp_path / "keepsense.toml"
    tab.view.wait_for_selector(".preview td")
    assert tab.view.locator(".preview tbody tr").count() == 20
    tab.sees("its name says age, which others may know")
    # a role is changed with one click, saved at once, and taken back
    tab.choose("Role of hobby", "insensitive")
    tab.view.get_by_role("button", name="Undo: hobby is insensitive").wait_for()
    assert read_project(project).columns["hobby"].role == "insensitive"
    tab.view.get_by_role("button", name="Undo: hobby is insensitive").click()
    tab.view.get_by_role("button", name="Nothing to undo").wait_for()
    assert read_project(project).columns["hobby"].role == "quasi-identifier"
    question = tab.view.locator(".ask .strong").first.inner_text()
    tab.press("It is so")
    tab.view.get_by_text(question).wait_for(state="detached")
    tab.press("Go on to Meaning")
    tab.sees("of the rows are known to WordNet")
    # a word that nobody knows gets a meaning, which is kept in a mapping file
    first = tab.view.get_by_role("button", name=re.compile("^Choose a meaning of ")).first
    first.click()
    dialog = tab.view.get_by_role("dialog")
    dialog.get_by_role("button", name="None of these").click()
    tab.sees("1 yours")
    assert any(column.mapping for column in read_project(project).columns.values())
    tab.preview_is_there()
    assert tab.view.locator("aside").get_by_text("kept", exact=True).count() == 2
    tab.release()
    _verified(tab, table, tmp_path)
    assert (tmp_path / "release" / "people.csv").is_file()
    assert (tmp_path / "release" / "certificate.html").is_file()
    # closing the tab and coming back loses nothing
    tab.view.goto(tab.studio.address)
    tab.step("release")
    tab.sees("Verified and released")


@pytest.mark.data
@pytest.mark.parametrize(
    "name",
    [
        "insurance/insurance_act_original_occ_original_10000.csv",
        "diabetes130/encounters.csv",
        "synthea_uk/patients.csv",
    ],
)
def test_real_tables_become_verified_releases(tab: Tab, tmp_path: Path, shared_data: Path, name: str) -> None:
    """Their first rows: a whole table takes no other way, only longer."""
    table = tmp_path / Path(name).name
    with (shared_data / name).open(encoding="utf-8", newline="") as source, table.open("w", encoding="utf-8") as part:
        part.writelines(itertools.islice(source, 301))
    tab.open_table(table)
    tab.step("meaning")
    tab.preview_is_there()
    tab.release()
    _verified(tab, table, tmp_path)


def test_an_uploaded_file_stays_in_the_private_folder(tab: Tab, tmp_path: Path) -> None:
    tab.close_table()
    table = _people(tmp_path / "people.csv", 200)
    name = "../../../../../evil.csv"
    tab.view.locator("input[type=file]").first.set_input_files(
        {"name": name, "mimeType": "text/csv", "buffer": table.read_bytes()}
    )
    tab.view.get_by_role("heading", name="evil.csv", level=1).wait_for()
    tab.sees("deleted when the studio ends")
    (kept,) = tab.studio.place.rglob("evil.csv")
    assert kept.parent.parent.name == "tables"
    assert (kept.parent / "keepsense.toml").is_file()


def test_what_is_wrong_with_a_file_stands_beside_the_field(tab: Tab, tmp_path: Path) -> None:
    tab.open_path(tmp_path / "nowhere.csv")
    tab.sees("nowhere.csv: there is no such file", ".error")
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(b"PAR1 this is none")
    tab.view.get_by_label("Path of a table or project file").fill(str(damaged))
    tab.press("Open")
    tab.sees("damaged.parquet", ".error")
    tab.view.locator("input[type=file]").first.set_input_files(
        {"name": "empty.csv", "mimeType": "text/csv", "buffer": b""}
    )
    tab.sees("empty.csv", ".error")


def test_a_cancelled_run_leaves_nothing(tab: Tab, tmp_path: Path) -> None:
    tab.open_table(_people(tmp_path / "people.csv", 30_000))
    tab.release()
    tab.press("Cancel")
    tab.sees("You stopped it; nothing was released.")
    assert not list((tmp_path / "release").rglob("*")) if (tmp_path / "release").exists() else True
    assert tab.view.locator("[data-export]").count() == 0


def test_an_unmet_goal_cannot_be_clicked_away(tab: Tab, tmp_path: Path) -> None:
    table = tmp_path / "few.csv"
    table.write_text("age,job\n31,nurse\n42,clerk\n53,cook\n", encoding="utf-8")
    tab.open_table(table)
    tab.release()
    tab.view.wait_for_selector(".unmet")
    tab.sees("nothing was released", ".unmet")
    assert tab.view.locator(".unmet").get_by_role("button").count() == 0
    tab.view.keyboard.press("Escape")
    tab.step("open")
    tab.step("release")
    tab.sees("nothing was released", ".unmet")
    assert not (tmp_path / "release").exists() or not list((tmp_path / "release").rglob("few.csv"))
    assert tab.view.locator("[data-export]").count() == 0


def test_two_tabs_see_the_same_project(tab: Tab, browser: Any, tmp_path: Path) -> None:
    tab.open_table(_people(tmp_path / "people.csv", 100))
    other = Tab(tab.studio, browser)
    other.choose("Role of hobby", "insensitive")
    tab.view.get_by_role("button", name="Undo: hobby is insensitive").wait_for()
    tab.choose("Role of workplace", "insensitive")
    other.view.get_by_role("button", name="Undo: workplace is insensitive").wait_for()
    columns = read_project(tmp_path / "keepsense.toml").columns
    assert columns["hobby"].role == columns["workplace"].role == "insensitive"
    other.quiet()
    other.context.close()


def test_a_lesson_plays_step_by_step(tab: Tab) -> None:
    tab.step("catalogue")
    tab.view.get_by_role("button", name=re.compile("^Datafly")).click()
    tab.view.wait_for_selector("svg.flow")
    tab.press("Play the lesson")
    tab.sees("Step 0 of")
    tab.press("Next")
    tab.sees("Raise age to level 1")
    assert tab.view.locator(".lesson-table td.new").count() > 0


# ---- attacks ---------------------------------------------------------------------------------------------------------

SCRIPTS = (
    "<script>window.pwned=1</script>",
    "<img src=x onerror=window.pwned=2>",
    "{{constructor.constructor('window.pwned=3')()}}",
    "`${window.pwned=4}`",
    "</script><script>window.pwned=5</script>",
    "javascript:window.pwned=6",
)


def test_scripts_in_names_and_values_are_only_text(tab: Tab, tmp_path: Path) -> None:
    table = tmp_path / "<img src=x onerror=window.pwned=0>.csv"
    names = [f"{script}{i}" for i, script in enumerate(SCRIPTS)]
    with table.open("w", encoding="utf-8", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(["age", *names])
        rows.writerows([20 + i % 9, *(SCRIPTS[(i + j) % 3] for j in range(len(names)))] for i in range(60))
    tab.open_table(table)
    tab.view.wait_for_selector(".preview td")
    for name in names:
        assert tab.view.get_by_role("heading", name=name, exact=True).count() == 1, "shown as it is spelled"
        tab.choose(f"Role of {name}", "quasi-identifier")
    for step in ("meaning", "hierarchies", "protect", "explore", "release", "catalogue", "help", "open"):
        if tab.view.locator(f"[data-step={step}]").count():
            tab.step(step)
            tab.preview_is_there()
    tab.view.reload()
    tab.view.wait_for_selector(".preview td")
    assert tab.view.evaluate("window.pwned === undefined")
    assert tab.view.locator("img").count() == 0
    assert tab.view.evaluate("[...document.scripts].every(script => script.nonce)")


# ---- for everybody ---------------------------------------------------------------------------------------------------

_UNNAMED = """() => [...document.querySelectorAll('button, input, select, a, [role=button], [role=combobox]')]
  .filter(e => e.offsetParent && e.type !== 'file' && !(e.getAttribute('aria-label') || e.labels?.length ||
    e.innerText.trim() || e.closest('label') || e.closest('[aria-label]') || e.title ||
    e.getAttribute('aria-labelledby')))
  .map(e => e.outerHTML.slice(0, 200))"""

_FAINT = """() => {
  const rgb = text => { const c = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
    c.fillStyle = text; c.fillRect(0, 0, 1, 1); return [...c.getImageData(0, 0, 1, 1).data]; };
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor);
    if (c[3] === 255) return c; } return [255, 255, 255]; };
  const faint = [];
  for (const e of document.querySelectorAll('.room *')) {
    const own = [...e.childNodes].some(n => n.nodeType === 3 && n.textContent.trim());
    const style = getComputedStyle(e);
    if (!own || !e.offsetParent || e.closest('[disabled], .disabled, .aged, [aria-hidden=true], .q-icon') ||
      style.visibility !== 'visible') continue;
    const [a, b] = [light(rgb(style.color)), light(ground(e))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) faint.push(`${e.innerText.slice(0, 40)}: ${style.color} ${ratio}`);
  }
  return faint; }"""

_SMALLEST = """() => Math.min(...[...document.querySelectorAll('.room *')].filter(e => e.innerText && e.offsetParent &&
  !e.children.length).map(e => parseFloat(getComputedStyle(e).fontSize)))"""


def test_every_step_can_be_read_and_named(tab: Tab, browser: Any, tmp_path: Path) -> None:
    tab.open_table(_people(tmp_path / "people.csv", 100))
    tab.preview_is_there()
    for width, scheme in ((1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")):
        other = Tab(tab.studio, browser, width, scheme)
        other.preview_is_there()
        for step in [made.get_attribute("data-step") for made in other.view.locator("[data-step]").all()]:
            other.step(str(step))
            other.view.wait_for_selector("#work h1")
            where = (step, width, scheme)
            assert other.view.evaluate(_UNNAMED) == [], where
            assert other.view.evaluate(_FAINT) == [], where
            assert other.view.evaluate("document.documentElement.scrollWidth") <= width, where
            assert other.view.evaluate(_SMALLEST) >= 12, where
            assert other.view.locator("h1").count() == 1, where
        if width == 390:
            handle = other.view.get_by_role("button", name="What this release would look like")
            assert not other.view.locator("aside .figure").first.is_visible()
            handle.click()
            other.view.locator("aside .figure").first.wait_for(state="visible")
            assert handle.get_attribute("aria-expanded") == "true"
        other.quiet()
        other.context.close()


def test_the_keyboard_is_enough(tab: Tab, tmp_path: Path) -> None:
    tab.open_table(_people(tmp_path / "people.csv", 100))
    tab.view.keyboard.press("Tab")
    for _ in range(120):
        if tab.view.evaluate("document.activeElement.dataset.step") == "meaning":
            break
        tab.view.keyboard.press("Tab")
    tab.view.keyboard.press("Enter")
    tab.view.get_by_role("heading", name="Meaning", level=1).wait_for()
