from __future__ import annotations

import copy
import csv
import re
import shutil
from collections import Counter
from dataclasses import replace
from html import escape, unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.clocks import tick

from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.metrics import number, percent
from keepsense.project.project_file import Project
from keepsense.release.folder.describe import FLAG
from keepsense.release.reopen import reopen
from keepsense.release.run import Outcome, run
from keepsense.report import column_section, html_page, release_section
from keepsense.report.column_section import pruned
from keepsense.report.report import Audience, render, write_report
from keepsense.report.report_subject import Subject

JOBS = ["nurse", "surgeon", "clerk", "typist"]
HOSTILE = "<script>alert(1)</script>"
AUDIENCES: tuple[Audience, ...] = ("internal", "public")
FIRST = ("What was changed", "Risk of being recognized", "What it is still worth", "Columns by which people could be")


def _lines(rows: int = 90) -> list[str]:
    lines = ["name,job,age,illness,<i>pay</i>,likes"]
    likes = ("tea;jazz", "tea", "novel;jazz", "novel", "tea;novel")
    for i in range(rows):
        ill = ["flu", "cold", "gout"][i % 3]
        lines.append(f"person{i},{JOBS[i % 4]},{30 + i % 7},{ill},{['low', 'high'][i % 2]},{likes[i % 5]}")
    return lines


def _project(folder: Path, method: str, **parameters: Any) -> Project:
    """A project for each family of methods, on one table with a job that is a script."""
    lines = _lines()
    if method in ("optimal", "semantic mondrian"):
        lines.append(f"person99,{HOSTILE},31,flu,low,tea")
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [*((job, "medic" if i < 2 else "office", "*") for i, job in enumerate(JOBS)), (HOSTILE, "other", "*")]
    (folder / "job.csv").write_text("\n".join(";".join(row) for row in rows) + "\n", encoding="utf-8")
    job: dict[str, Any] = {"role": "quasi-identifier"}
    job |= {"hierarchy": "job.csv"} if len(lines) > 91 else {"taxonomy": "wordnet", "domain": "person"}
    columns: dict[str, Any] = {
        "name": {"role": "identifier"},
        "job": job,
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "illness": {"role": "sensitive"},
        "<i>pay</i>": {"role": "target"},
        "likes": {"role": "insensitive"},
    }
    promise: dict[str, Any] = {"model": "k-anonymity", "k": 5}
    if method == "set microaggregation":
        columns |= {"job": {}, "age": {}, "likes": {"role": "quasi-identifier", "kind": "set", "taxonomy": "wordnet"}}
    elif method not in ("optimal", "semantic mondrian"):
        promise = {"model": "average risk", "threshold": 1.0}
    return Project.model_validate(
        {
            "source": {"path": "people.csv"},
            "columns": columns,
            "privacy": [promise],
            "method": {"name": method, "parameters": parameters},
            "release": {"suppression": 0.05},
        }
    )


METHODS: dict[str, dict[str, Any]] = {
    "optimal": {},
    "semantic mondrian": {},
    "rank swapping": {"k": 3},
    "noise": {"alpha": 0.3},
    "post-randomization": {},
    "set microaggregation": {},
}


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    """A release by each method, made once."""
    found = {}
    for method, parameters in METHODS.items():
        folder = tmp_path_factory.mktemp("project")
        found[method] = run(_project(folder, method, **parameters), folder=folder, rng=7)
    return found


@pytest.fixture(scope="module")
def reports(outcomes: dict[str, Outcome]) -> dict[tuple[str, Audience], str]:
    return {(method, who): render(done, who) for method, done in outcomes.items() for who in AUDIENCES}


@pytest.fixture(scope="module")
def outcome(outcomes: dict[str, Outcome]) -> Outcome:
    return outcomes["optimal"]


@pytest.mark.parametrize("method", METHODS)
def test_a_report_says_the_same_on_a_slow_machine(
    outcomes: dict[str, Outcome],
    reports: dict[tuple[str, Audience], str],
    monkeypatch: pytest.MonkeyPatch,
    method: str,
) -> None:
    tick(monkeypatch, 3600.0)
    for who in AUDIENCES:
        assert render(outcomes[method], who) == reports[method, who]


class _Page(HTMLParser):
    """Tags, and the text that a reader sees."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(self.words)


@pytest.mark.parametrize("who", AUDIENCES)
@pytest.mark.parametrize("method", METHODS)
def test_every_page_is_whole_safe_and_offline(
    reports: dict[tuple[str, Audience], str], method: str, who: Audience
) -> None:
    text = reports[method, who]
    page = _Page(text)
    assert page.open == []
    assert "script" not in page.seen, "a value of the table cannot become a script"
    assert "i" not in page.seen, "nor can the name of a column become a tag"
    assert not re.search(r"(?:src|href)=\"(?!data:|#)", text), "nothing is fetched"
    assert "Verified" in page.text
    for title in FIRST:
        assert title in page.text
    for anchor in re.findall(r'href="#(\w+)"', text):
        assert f'id="{anchor}"' in text
    assert "nan" not in page.text.lower().split()


@pytest.mark.parametrize("method", METHODS)
def test_the_internal_report_has_its_sections(reports: dict[tuple[str, Audience], str], method: str) -> None:
    text = _Page(reports[method, "internal"]).text
    assert "Alternatives considered" in text
    assert "How to reproduce it" in text
    assert "Linkage by meaning" in text
    assert ("What goes together" in text) == (method != "set microaggregation")
    assert "keep it inside" in text
    public = _Page(reports[method, "public"]).text
    assert "may be published" in public
    assert "Alternatives considered" not in public


@pytest.mark.parametrize("method", METHODS)
def test_the_public_report_shows_only_what_is_public(
    outcomes: dict[str, Outcome], reports: dict[tuple[str, Audience], str], method: str
) -> None:
    """Every original value in it stands in the released file or its description too."""
    done = outcomes[method]
    public = _Page(reports[method, "public"]).text
    seen = done.file.read_text(encoding="utf-8") + (done.file.parent / "release.json").read_text(encoding="utf-8")
    with (done.job.folder / "people.csv").open(encoding="utf-8") as file:
        values = {value for row in csv.DictReader(file) for value in row.values()}
    words = set(re.findall(r"[\w<>/()]+", public))
    for value in values - {"low", "high"}:
        if value in words and not value.isdigit():
            assert value in seen, "a value that was generalized away"
    assert "person1" not in public
    assert str(done.file.parent) not in public
    assert str(done.file.parent) not in reports[method, "internal"]
    assert "person1" not in reports[method, "internal"]


def test_what_few_people_had_is_not_public(outcome: Outcome, reports: dict[tuple[str, Audience], str]) -> None:
    released = outcome.file.read_text(encoding="utf-8")
    assert not any(job in released for job in JOBS), "the test needs jobs that were generalized"
    for job in JOBS:  # each is held by more than k people: the dictionary may say what a label stands for
        assert job in reports["optimal", "public"]
        assert job in reports["optimal", "internal"]
    assert escape(HOSTILE) in reports["optimal", "internal"]
    assert "alert(1)" not in reports["optimal", "public"]


def test_figures_are_those_of_plain_counting(outcome: Outcome, reports: dict[tuple[str, Audience], str]) -> None:
    with outcome.file.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    classes = Counter((row["job"], row["age"]) for row in rows if row["job"] != "*" or row["age"] != "*")
    text = unescape(_Page(reports["optimal", "internal"]).text)
    assert f"{len(classes)} classes of records that look alike" in text
    assert f"{percent(1 / min(classes.values()))} highest risk of any person" in text
    for job, records in Counter(row["job"] for row in rows).items():
        assert f"{'* (hidden)' if job == '*' else job} {records}" in text
    ill: dict[Any, set[str]] = {}
    for row in rows:
        ill.setdefault((row["job"], row["age"]), set()).add(row["illness"])
    fewest = min(len(ill[key]) for key in classes)
    assert f"fewest different values in a class (l) {fewest}" in text


def test_every_method_has_its_measures(reports: dict[tuple[str, Audience], str]) -> None:
    text = {method: _Page(reports[method, "internal"]).text for method in METHODS}
    for method in ("optimal", "semantic mondrian"):
        for words in (
            "certainty lost",
            "detail lost",
            "error of counting questions",
            "divergence",
            "accuracy for <i>pay",
        ):
            assert words in text[method], (method, words)
    for method in ("rank swapping", "noise", "post-randomization"):
        for words in ("cells changed", "distance moved", "meaning lost", "distance of job", "linkage is what counts"):
            assert words in text[method], (method, words)
    for words in ("error of item counts, likes", "2 items of likes known", "Other methods for sets"):
        assert words in text["set microaggregation"]


def test_other_methods_and_levels_are_compared(reports: dict[tuple[str, Audience], str]) -> None:
    text = _Page(reports["optimal", "internal"]).text
    assert "ways to choose one level for each column" in text
    assert "chosen here" in text
    assert "semantic mondrian" in text, "another method was tried"
    assert "What generalizing would lose" in _Page(reports["rank swapping", "internal"]).text


@pytest.mark.parametrize("method", ["optimal", "semantic mondrian"])
def test_released_records_stand_beside_the_original_ones(
    outcomes: dict[str, Outcome], reports: dict[tuple[str, Audience], str], method: str
) -> None:
    """Each pair shown is a combination of the source above which a combination of the released file stands."""
    done = outcomes[method]
    with (done.job.folder / "people.csv").open(encoding="utf-8") as file:
        originals = {(row["job"], row["age"]) for row in csv.DictReader(file)}
    with done.file.open(encoding="utf-8") as file:
        released = {(row["job"], row["age"]) for row in csv.DictReader(file)}
    section = re.search(r'<section id="records".*?</section>', reports[method, "internal"], re.DOTALL)
    assert section is not None
    pairs = []
    for line in re.findall(r"<tr>(<td.*?)</tr>", section[0]):
        cells = re.findall(r"<td[^>]*>(?:<span>)?([^<]*)(?:</span>)?(?:<small>was ([^<]*)</small>)?</td>", line)
        pairs.append([(unescape(now), unescape(was or now)) for now, was in cells])
    assert len(pairs) == 20
    names = done.job.quasi_identifiers
    for pair in pairs:
        record = dict(zip(names, pair, strict=True))
        assert tuple(record[name][0] for name in ("job", "age")) in released
        assert tuple(record[name][1] for name in ("job", "age")) in originals
    assert any(now != was for pair in pairs for now, was in pair)
    assert 'id="records"' not in reports[method, "public"]


@pytest.mark.parametrize("method", METHODS)
def test_no_original_record_is_public(reports: dict[tuple[str, Audience], str], method: str) -> None:
    for private in ("Records before and after", "<small>was ", "To look at", "Taken because"):
        assert private not in reports[method, "public"], private


def test_records_at_risk_are_listed_inside_only(outcome: Outcome, reports: dict[tuple[str, Audience], str]) -> None:
    """The combination that fewest records share is in the internal list, with its risk; in public nothing is."""
    from keepsense.report import people_section

    subject = Subject(outcome)
    listed = people_section.exposed(subject)
    for title in ("Columns that tell people apart", "Records most at risk"):
        assert title in listed
    counts = subject.after
    shown = counts.weights[subject.shown]
    assert f">{int(shown.min()):,}<" in listed
    assert all(name in listed for name in counts.names)
    assert people_section.exposed(Subject(outcome, public=True)) == ""
    for (_, audience), text in reports.items():
        assert ("Records most at risk" in text) is (audience == "internal")
        assert ("Who stands out" in text) is (audience == "internal")


def test_numbers_that_are_told_up_to_a_little() -> None:
    """Ages that are averaged in groups of four are numbers, so that intervals around them tell something."""
    from keepsense.release.example import example_job
    from keepsense.release.run import run
    from keepsense.report import people_section

    columns = {"age": {"role": "quasi-identifier", "kind": "numeric"}, "illness": {"role": "insensitive"}}
    job = example_job(columns=columns, unlisted="drop", method={"name": "microaggregation of records"})
    text = people_section.exposed(Subject(run(job.project, folder=job.folder, rng=1)))
    assert "Interval disclosure: share of records whose true number lies near the released one" in text
    assert "interval disclosure, by deviation</th>" in text


def test_why_a_taxonomy_was_taken_is_told(outcomes: dict[str, Outcome]) -> None:
    text = _Page(column_section.taken(Subject(outcomes["rank swapping"]), "job")).text
    assert text.startswith("Meaning from ")
    assert "names 100% of the values exactly" in text
    assert column_section.taken(Subject(outcomes["optimal"]), "job") == "", "its hierarchy was made by hand"


def test_a_column_that_lost_nearly_everything_is_flagged(outcome: Outcome) -> None:
    told = copy.deepcopy(outcome.description)
    told["columns"]["job"] |= {"lost": 0.95, "flag": FLAG}
    for column in told["columns"].keys() - {"job"}:
        told["columns"][column].pop("flag", None)
    for public in (False, True):
        drawn = release_section.changes(Subject(replace(outcome, description=told), public))
        assert drawn.count("nearly all is lost") == drawn.count("<tr class=mark>") == 1
        assert "job" in drawn.partition("<tr class=mark>")[2].partition("</tr>")[0]
    flagged = Subject(replace(outcome, description=told, findings=[]))
    assert "job" in flagged.remedies, "a report that is written later finds the remedy again"
    assert escape(flagged.remedies["job"].rstrip(".")) in column_section.columns(flagged)
    assert flagged.remedies["job"] not in column_section.columns(replace(flagged, public=True))


def test_it_is_written_whole(outcome: Outcome, tmp_path: Path) -> None:
    target = write_report(outcome, tmp_path / "report.html", "public")
    assert target.read_text(encoding="utf-8").endswith("</html>\n")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


# ---- an earlier release ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_a_release_opened_again_is_reported_alike(
    outcomes: dict[str, Outcome], reports: dict[tuple[str, Audience], str], method: str
) -> None:
    done = outcomes[method]
    again = reopen(done.job.project, folder=done.job.folder)
    assert render(again, "public") == reports[method, "public"]
    texts = [_Page(text).text for text in (render(again), reports[method, "internal"])]
    for start, end in (("Risk of being recognized", "What it is still worth"), ("Columns by which", "Alternatives")):
        ours, theirs = (text[text.rindex(start) : text.rindex(end)] for text in texts)
        assert ours == theirs


# ---- a browser -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_browser_shows_all_of_them_without_complaint(
    reports: dict[tuple[str, Audience], str], tmp_path: Path
) -> None:
    """No console message, no request but the page, nothing wider than the screen: light, dark, phone and paper."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs Playwright")
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        pytest.skip("needs Chromium")
    with playwright.sync_playwright() as browsers:
        browser = browsers.chromium.launch(executable_path=program, args=["--no-sandbox"])
        for (method, who), text in reports.items():
            path = tmp_path / f"{method}-{who}.html"
            path.write_text(text, encoding="utf-8")
            for width, scheme, media in SCREENS:
                context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
                view = context.new_page()
                said: list[str] = []
                asked: list[str] = []
                view.on("console", lambda message, said=said: said.append(message.text))
                view.on("pageerror", lambda error, said=said: said.append(str(error)))
                view.on("request", lambda request, asked=asked: asked.append(request.url))
                view.goto(path.as_uri())
                view.emulate_media(media=media, color_scheme=scheme)
                view.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true })")
                wide = view.evaluate("document.documentElement.scrollWidth")
                small = view.evaluate(_SMALLEST)
                cut = view.evaluate(_CUT)
                view.evaluate("window.scrollTo(0, document.body.scrollHeight)")
                top = view.evaluate("document.querySelector('nav').getBoundingClientRect().top")
                context.close()
                assert said == [], (method, who, width)
                assert asked == [path.as_uri()], (method, who, width)
                assert wide <= width, (method, who, width)
                assert cut == [], (method, who, width)
                assert media == "print" or 0 <= top < 10, "the contents stay in sight"
                assert small >= 10, "text that nobody can read"
        browser.close()


SCREENS = ((1200, "light", "screen"), (1200, "dark", "screen"), (390, "light", "screen"), (700, "light", "print"))
_SMALLEST = """() => Math.min(...[...document.querySelectorAll('main *')].filter(one => one.innerText &&
  !one.children.length).map(one => parseFloat(getComputedStyle(one).fontSize)))"""

_CUT = """() => [...document.querySelectorAll('main *')].filter(one => one.scrollWidth > one.clientWidth + 1 &&
  !['inline', 'none'].includes(getComputedStyle(one).display)).map(one => `${one.tagName} ${one.className}`)"""


# ---- charts ----------------------------------------------------------------------------------------------------------


def test_charts_escape_and_stay_small() -> None:
    drawn = html_page.bars([html_page.Row("<b>" * 30, (1.0,), ("1",))], ("after",), "t")
    assert "<b>" not in drawn
    wide = html_page.Branch("top", False, "", tuple(html_page.Branch(str(i), False) for i in range(500)))
    cut = pruned(wide, 40)
    assert len(cut.children) == 40
    assert cut.more == 460
    assert "<img" not in html_page.tree(html_page.Branch("<img src=x>", True, "<img>"), "<img>")


def test_ranges_are_spread_over_bins() -> None:
    found = html_page.binned([(20.0, 40.0, 10.0), (30.0, 30.0, 2.0)], (20.0, 40.0), 4)
    assert found.tolist() == [2.5, 2.5, 4.5, 2.5]
    assert np.isclose(html_page.binned([(0.0, 1.0, 3.0)], (0.0, 8.0), 4).sum(), 3.0)


def test_numbers_read_well() -> None:
    assert [number(x) for x in (0.0, 12.34, 1234.5, 1e-5, 0.3333)] == ["0", "12.3", "1,234", "0.00001", "0.333"]
    assert [percent(x) for x in (0.0, 0.0001, 0.2, 0.9999, 1.0)] == [
        "0%",
        "below 0.1%",
        "20%",
        "over 99.9%",
        "100%",
    ]


def test_hierarchies_considered_are_listed(outcome: Outcome) -> None:
    from keepsense.report.choice_section import _hierarchies

    subject = Subject(outcome)
    trees: dict[str, Hierarchy] = subject.job.hierarchies
    before = trees["job"]
    trees["job"] = replace(before, info={"considered": (("as it is", 0.1), ("flat <b>", 0.3)), "candidates": 7})
    try:
        text = _hierarchies(subject)
    finally:
        trees["job"] = before
    assert "the best of 7 hierarchies" in text
    assert "flat &lt;b&gt;" in text


def test_the_command_writes_both_reports(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from keepsense.cli import app

    (tmp_path / "people.csv").write_text("job,age\n" + "nurse,31\nclerk,40\n" * 5, encoding="utf-8")
    (tmp_path / "keepsense.toml").write_text(
        '[source]\npath = "people.csv"\n[columns.job]\nrole = "quasi-identifier"\n'
        '[columns.age]\nrole = "insensitive"\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n',
        encoding="utf-8",
    )
    project = str(tmp_path / "keepsense.toml")
    done = CliRunner().invoke(app, ["run", project, "--report", "--quiet"])
    assert done.exit_code == 0, done.output
    folder = tmp_path / "release"
    for again in (False, True):
        if again:
            (folder / "report.html").unlink()
            (folder / "private" / "report.html").unlink()
            done = CliRunner().invoke(app, ["report", project, "--json"])
            assert done.exit_code == 0, done.output
            assert '"verified": true' in done.output
        assert "This report may be published" in (folder / "report.html").read_text(encoding="utf-8")
        assert "keep it inside" in (folder / "private" / "report.html").read_text(encoding="utf-8")
    done = CliRunner().invoke(app, ["report", project, "--public", "--output", str(tmp_path / "one.html"), "--quiet"])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "one.html").is_file()
    with pytest.raises(BadInput, match="both reports"):
        CliRunner().invoke(app, ["report", project, "-o", "x.html"], catch_exceptions=False)
