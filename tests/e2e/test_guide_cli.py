"""The commands `guide` and `explain`, driven as a user drives them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from tests.clocks import tick
from typer.testing import CliRunner

from keepsense import cli
from keepsense.commands import guide_command


@dataclass
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    monkeypatch.chdir(tmp_path)
    tick(monkeypatch, 0.0)  # however long compiling takes, no method that is tried is stopped for it

    def command(*words: str) -> Outcome:
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        captured = capsys.readouterr()
        assert "Traceback" not in captured.out + captured.err
        return Outcome(int(end.value.code or 0), captured.out, captured.err)

    return command


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table of numbers and codes: quick to try methods on."""
    lines = [f"{i},{20 + i % 9},{10000 + i % 6},{'yes' if i % 3 else 'no'},{'abcd'[i % 4]}" for i in range(60)]
    path = tmp_path / "people.csv"
    path.write_text("id,age,postcode,ill,illness\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


# ---- explain ---------------------------------------------------------------------------------------------------------


def test_explain_lists_what_it_can_show(run: Run) -> None:
    assert "datafly" in run("explain", "--json").json["algorithms"]
    assert "datafly" in run("explain").out


def test_explain_shows_every_step(run: Run) -> None:
    outcome = run("explain", "datafly")
    assert outcome.code == cli.DONE
    for part in (
        "1. Raise age to level 1",
        "score: 9",
        "> 20 to 29",
        "Released: Every group that is released has at least 2 rows",
    ):
        assert part in outcome.out
    found = run("explain", "datafly", "--json").json
    assert [step["chosen"] for step in found["steps"]] == ["age", "education", "age", None]
    assert found["steps"][0]["table"][0] == {"age": "20 to 29", "education": "apprenticeship"}
    assert sum(found["released"]["suppressed"]) == 1


def test_explain_on_a_table_of_ones_own(run: Run, people: Path) -> None:
    found = run("explain", "mondrian", "--on", "people.csv", "--column", "age", "-k", "5", "--json").json
    assert found["columns"] == ["age"]
    assert min(found["released"]["group sizes"]) >= 5
    guessed = run("explain", "datafly", "--on", "people.csv", "--json").json
    assert {"age", "postcode"} <= set(guessed["columns"])
    assert "id" not in guessed["columns"]
    told = run(
        "explain", "infogain mondrian", "--on", "people.csv", "--column", "age", "--target", "ill", "--json"
    ).json
    assert told["steps"][1]["facts"]["information gain in bits"]


def test_explain_writes_a_page(run: Run, tmp_path: Path) -> None:
    assert run("explain", "top-down", "--html", "steps.html", "--quiet").out == ""
    page = (tmp_path / "steps.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "Open * in age" in page


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("explain", "datafli"), "Did you mean datafly"),
        (("explain", "noise on streams"), "cannot be shown"),
        (("explain", "datafly", "--on", "nowhere.csv"), "nowhere.csv"),
        (("explain", "datafly", "--target", "ill"), "--on"),
        (("explain", "datafly", "-k", "99"), "10 rows only"),
        (("explain", "noise", "--set", "alpha"), "name=value"),
        (("explain", "noise", "--set", "alfa=1"), "Did you mean alpha"),
        (("explain", "apriori sets", "--on", "people.csv", "--column", "age"), "column of sets"),
        (("guide", "--kind", "nominal", "--limit", "1", "--write"), "there is no keepsense.toml"),
        (("explain", "datafly", "--on", "people.csv", "--column", "agee"), "Did you mean age"),
        (("explain", "datafly", "--on", "people.csv", "--project", "x.toml"), "not both"),
        (("guide",), "--kind"),
        (("guide", "--kind", "nomnial"), "Did you mean nominal"),
        (("guide", "--kind", "nominal", "--preset", "hippa"), "Did you mean hipaa"),
        (("guide", "mondrain"), "Did you mean mondrian"),
        (("guide", "--project", "nowhere.toml"), "keepsense init"),
        (("guide", "--try", "nowhere.csv"), "nowhere.csv"),
        (("guide", "--try", "people.csv", "--target", "il"), "Did you mean ill"),
    ],
)
def test_bad_input_is_named_with_what_to_do(run: Run, people: Path, words: tuple[str, ...], hint: str) -> None:
    outcome = run(*words)
    assert outcome.code == cli.BAD_INPUT
    assert outcome.err.startswith("keepsense: ")
    assert hint in outcome.err


# ---- guide -----------------------------------------------------------------------------------------------------------


def test_guide_takes_its_answers_from_options(run: Run) -> None:
    found = run("guide", "--kind", "numeric", "--purpose", "regression", "--json").json
    assert found["recommended"][0]["name"] == "lsd mondrian"
    assert found["warnings"][0]["code"] == "W501"
    shown = run("guide", "--kind", "nominal").out
    for part in (
        "1. Local recoding",
        "W501",
        "k-anonymity hides who somebody is",
        "[method]",
        'name = "local recoding"',
    ):
        assert part in shown
    assert run("guide", "--kind", "nominal", "--quiet").out == ""


def test_guide_says_when_nothing_fits(run: Run) -> None:
    outcome = run("guide", "--kind", "nominal", "--promise", "differential privacy", "--truthful")
    assert outcome.code == cli.DONE
    assert "No method of the catalogue fits all of this" in outcome.out


def _on_a_terminal() -> Any:
    class Terminal:
        @staticmethod
        def isatty() -> bool:
            return True

    class System:
        stdin = Terminal()

    return System()


def test_guide_asks(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(guide_command, "sys", _on_a_terminal())
    answers = ["1,4", "3", "500", "9", "2", "y", "y", "1", "11", "n", "n"]
    outcome = CliRunner().invoke(cli.app, ["guide"], input="\n".join(answers) + "\n")
    assert outcome.exit_code == 0, outcome.output
    assert "please give a number from 1 to 5" in outcome.output
    assert "1. InfoGain Mondrian" in outcome.output
    assert "k = 11" in outcome.output


def test_guide_reads_a_project_file_and_a_preset(run: Run, people: Path, tmp_path: Path) -> None:
    (tmp_path / "keepsense.toml").write_text(
        """
        [source]
        path = "people.csv"
        [[privacy]]
        model = "k-anonymity"
        k = 4
        [columns.id]
        role = "identifier"
        [columns.age]
        role = "quasi-identifier"
        kind = "numeric"
        [columns.postcode]
        role = "quasi-identifier"
        kind = "code"
        [columns.ill]
        role = "target"
        [columns.illness]
        role = "sensitive"
        """,
        encoding="utf-8",
    )
    found = run("guide", "--project", "keepsense.toml", "--json").json
    assert (found["answers"]["k"], found["answers"]["purpose"]) == (4, "classification")
    assert found["recommended"][0]["name"] == "infogain mondrian"
    strict = run("guide", "--project", "keepsense.toml", "--preset", "risk-0.09", "--json").json
    assert strict["answers"]["k"] == 12
    assert strict["answers"]["privacy"] == [{"model": "maximum risk", "threshold": 0.09}]
    hipaa = run("guide", "--project", "keepsense.toml", "--preset", "hipaa", "--json").json
    assert set(hipaa["preset"]["columns"]) == {"id", "age", "postcode"}
    assert "What it says about your columns" in run("guide", "--project", "keepsense.toml", "--preset", "hipaa").out
    tried = run("guide", "--project", "keepsense.toml", "--try", "people.csv", "--json").json["tried"]
    assert all(trial["ok"] for trial in tried), tried
    ranks = [(round(trial["loss"], 2), trial["risk"]) for trial in tried]
    assert ranks == sorted(ranks)


def test_guide_tries_methods_on_a_table(run: Run, people: Path, tmp_path: Path) -> None:
    outcome = run("guide", "--try", "people.csv", "-k", "3")
    assert outcome.code == cli.DONE
    assert "Tried on your table, best first" in outcome.out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.csv"], "nothing is released"


def test_guide_leads_from_a_table_to_a_release(run: Run, people: Path, tmp_path: Path) -> None:
    """What somebody who does not program would type, one line after the other."""
    advice = run("guide", "--try", "people.csv")
    assert "keepsense guide --try people.csv --write" in advice.out
    assert "Ranked by least loss first" in advice.out
    written = run("guide", "--try", "people.csv", "--write")
    assert (written.code, "keepsense.toml is new." in written.out) == (cli.DONE, True)
    assert "Then: keepsense run" in written.out
    assert run("run", "--quiet").code == cli.DONE
    assert (tmp_path / "release" / "people.csv").is_file()


def test_guide_writes_into_the_project_file_and_shows_the_change(run: Run, people: Path, tmp_path: Path) -> None:
    file = tmp_path / "keepsense.toml"
    assert "there is no keepsense.toml" in run("guide", "--kind", "nominal", "--write").err
    run("init", "people.csv", "--quiet")
    before = file.read_text(encoding="utf-8")
    assert "keepsense guide --write" in run("guide", "--project", "keepsense.toml").out
    assert file.read_text(encoding="utf-8") == before, "nothing is written unless asked for"
    change = run("guide", "--write", "--method", "mondrian", "--limit", "12", "--preset", "risk-0.09")
    assert change.code == cli.DONE, change.err
    assert '-name = "optimal"' in change.out
    assert '+name = "mondrian"' in change.out
    after = file.read_text(encoding="utf-8")
    assert 'model = "maximum risk"' in after
    comments = [line for line in before.splitlines() if line.startswith("#")]
    assert all(line in after for line in comments), "comments stay"
    again = run("guide", "--write", "--method", "mondrian", "--limit", "12", "--preset", "risk-0.09", "--json").json
    assert (again["written"], again["change"]) == (False, "")
    assert run("run", "--quiet").code == cli.DONE
    wrong = run("guide", "--write", "--method", "noise")
    assert (wrong.code, "its records are not true" in wrong.err) == (cli.BAD_INPUT, True)
    assert file.read_text(encoding="utf-8") == after
    learn = run(
        "guide", "--write", "--purpose", "classification", "--target", "ill", "--sensitive", "illness", "--json"
    ).json
    assert learn["recommended"][0]["name"] == "infogain mondrian"
    assert 'role = "target"' in learn["change"]
    assert run("run", "--quiet").code == cli.DONE
    presets = run("guide", "--write", "--preset", "hipaa", "--json").json
    assert "id" in presets["preset"]["columns"]


def test_guide_asks_before_it_writes(run: Run, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run("init", "people.csv", "--quiet")
    before = (tmp_path / "keepsense.toml").read_text(encoding="utf-8")
    monkeypatch.setattr(guide_command, "sys", _on_a_terminal())
    refused = CliRunner().invoke(cli.app, ["guide", "--write"], input="n\n")
    assert "Nothing was written" in refused.output, refused.output
    assert (tmp_path / "keepsense.toml").read_text(encoding="utf-8") == before
    done = CliRunner().invoke(cli.app, ["guide", "--write"], input="y\n")
    assert "keepsense.toml is written" in done.output
    read = CliRunner().invoke(cli.app, ["guide"], input="y\n")
    assert "Read the answers off keepsense.toml?" in read.output
    assert "1. " in read.output


def test_guide_tries_sets(run: Run, tmp_path: Path) -> None:
    food = ["milk", "tea", "ham", "bread", "beef", "coffee"]
    lines = [f"{20 + i % 5},{';'.join({food[i % 6], food[i % 5], food[i % 4]})}" for i in range(60)]
    (tmp_path / "baskets.csv").write_text("age,basket\n" + "\n".join(lines) + "\n", encoding="utf-8")
    found = run("guide", "--try", "baskets.csv", "-k", "3", "--json").json
    assert "set" in found["answers"]["kinds"]
    assert [trial["loss"] for trial in found["tried"] if trial["ok"]]
    assert all(trial["loss"] is not None for trial in found["tried"] if trial["ok"]), "sets are measured, too"
    assert "W508" in [warning["code"] for warning in found["warnings"]]


@pytest.mark.parametrize("name", ["rank swapping", "noise", "microaggregation of records", "post-randomization"])
def test_explain_on_rows_of_ones_own(run: Run, tmp_path: Path, name: str) -> None:
    jobs = ["nurse", "surgeon", "carpenter", "plumber", "nurse", "carpenter"] * 2
    rows = "\n".join(f"{20 + 3 * i},{job}" for i, job in enumerate(jobs))
    (tmp_path / "small.csv").write_text("age,job\n" + rows + "\n", encoding="utf-8")
    words = ("explain", name, "--on", "small.csv", "--column", "age", "--column", "job", "--seed", "1", "--json")
    found = run(*words).json
    assert found["steps"][-1]["table"] == found["released"]["table"]
    assert run(*words).json == found, "the same chances each time"
    assert found["promise"]


def test_explain_takes_settings(run: Run, tmp_path: Path) -> None:
    found = run("explain", "noise", "--set", "alpha=0.05", "--set", "reference=root", "--json").json
    assert found["settings"] == {"alpha": 0.05, "reference": "root"}
    rows = ["1,milk;tea", "2,tea;milk", "3,ham;bread", "4,bread;ham"]
    (tmp_path / "sets.csv").write_text("id,basket\n" + "\n".join(rows) + "\n", encoding="utf-8")
    sets = run("explain", "apriori sets", "--on", "sets.csv", "--column", "basket", "--set", "m=1", "--json")
    assert sets.code == cli.DONE, sets.err
    assert sets.json["columns"] == ["basket"]


def test_the_catalogue_is_listed_and_shown(run: Run, tmp_path: Path) -> None:
    listed = run("guide", "--list").out
    assert "Table recoding (TR)" in listed
    assert len(run("guide", "--list", "--json").json["methods"]) > 40
    shown = run("guide", "datafly").out
    for part in ("Use it when", "Rather not when", "1. Begin with the table as it is", "Sweeney 2002"):
        assert part in shown
    assert run("guide", "Datafly", "--json").json["parameters"]["metric"] == "distinct_values"
    run("guide", "generalization", "--html", "page.html")
    assert "<svg" in (tmp_path / "page.html").read_text(encoding="utf-8")


# ---- the browser -----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_pages_open_in_a_browser_without_complaint(run: Run, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs Chromium")
    run("explain", "mondrian", "--html", "steps.html")
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr", "--v=0", "--dump-dom"]
    page = (tmp_path / "steps.html").as_uri()
    opened = subprocess.run([browser, *options, page], capture_output=True, text=True, timeout=60, check=True)
    assert "Cut the group of 10 in age" in opened.stdout
    assert "CONSOLE" not in opened.stderr


SHOWN_IN_BROWSER = ("rank swapping", "strict rank swapping", "noise", "microaggregation of records", "apriori sets")


@pytest.mark.long
def test_traces_fit_a_phone_and_ask_for_nothing(run: Run, tmp_path: Path) -> None:
    sync_api = pytest.importorskip("playwright.sync_api")
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs Chromium")
    hostile = '<img src=x onerror="document.title=1">&amp;</td><script>alert(1)</script>'
    rows = "\n".join(f'{20 + i},"{hostile.replace(chr(34), chr(34) * 2)} {i % 3}"' for i in range(9))
    (tmp_path / "odd.csv").write_text("age,<b>job</b>\n" + rows + "\n", encoding="utf-8")
    odd = ("--on", "odd.csv", "--column", "age", "--column", "<b>job</b>")
    assert run("explain", "post-randomization", *odd, "--html", "odd.html", "--quiet").code == cli.DONE
    for name in SHOWN_IN_BROWSER:
        run("explain", name, "--html", f"{name}.html", "--quiet")
    run("guide", "differential privacy", "--html", "entry.html", "--quiet")
    with sync_api.sync_playwright() as play:
        chrome = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for width, scheme in ((390, "light"), (390, "dark"), (1200, "light")):
            context = chrome.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
            page = context.new_page()
            complaints: list[str] = []
            asked: list[str] = []
            page.on("console", lambda message, told=complaints: told.append(message.text))
            page.on("pageerror", lambda error, told=complaints: told.append(str(error)))
            page.on("request", lambda request, told=asked: told.append(request.url))
            for file in sorted(tmp_path.glob("*.html")):
                asked.clear()
                page.goto(file.as_uri())
                assert page.evaluate("document.documentElement.scrollWidth") <= width, (file.name, width)
                assert page.locator("img, script, b").count() == 0, "values of a table are text, never markup"
                assert (complaints, asked) == ([], [file.as_uri()])
        chrome.close()


def test_the_installed_command_explains() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "keepsense", "explain", "samarati", "--json"], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)["algorithm"] == "samarati"
