from __future__ import annotations

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from keepsense.counts import Counts
from keepsense.publish import Outcome, Project, run
from keepsense.report import charts, write_report
from keepsense.report.report import render
from keepsense.report.sections import cramer

JOBS = ["nurse", "surgeon", "clerk", "typist"]


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("project")
    lines = ["name,job,age,illness"]
    for i in range(80):
        lines.append(f"person{i},{JOBS[i % 4]},{30 + i % 7},{['flu', 'cold', 'gout'][i % 3]}")
    lines.append("somebody,<script>alert(1)</script>,31,flu")
    (folder / "people.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [*((job, "medic" if i < 2 else "office", "*") for i, job in enumerate(JOBS))]
    rows.append(("<script>alert(1)</script>", "other", "*"))
    (folder / "job.csv").write_text("\n".join(";".join(row) for row in rows) + "\n", encoding="utf-8")
    project = Project.model_validate(
        {
            "source": {"path": "people.csv"},
            "columns": {
                "name": {"role": "identifier"},
                "job": {"role": "quasi-identifier", "hierarchy": "job.csv"},
                "age": {"role": "quasi-identifier", "kind": "numeric"},
                "illness": {"role": "sensitive"},
            },
            "privacy": [{"model": "k-anonymity", "k": 5}],
            "release": {"suppression": 0.05},
        }
    )
    return run(project, folder=folder, rng=7)


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "link"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("audience", ["internal", "public"])
def test_the_page_is_whole_safe_and_offline(outcome: Outcome, audience: str) -> None:
    text = render(outcome, audience)  # type: ignore[arg-type]
    tags = _Tags()
    tags.feed(text)
    assert tags.open == []
    assert "script" not in tags.seen, "a value of the table cannot become a script"
    assert not re.search(r"(?:src|href)=\"(?!data:)", text), "nothing is fetched"
    assert "Verified" in text
    assert "at least 5 records" in text


def test_the_public_report_shows_only_what_the_release_shows(outcome: Outcome) -> None:
    public = render(outcome, "public")
    released = outcome.file.read_text(encoding="utf-8")
    for job in JOBS:
        assert (job in public) <= (job in released)
    assert "person1" not in public
    assert "records before" not in public
    internal = render(outcome, "internal")
    assert "records before" in internal
    assert "person1" not in internal
    assert "Alternatives considered" in internal


def test_no_path_is_told(outcome: Outcome) -> None:
    for audience in ("internal", "public"):
        text = render(outcome, audience)  # type: ignore[arg-type]
        assert str(outcome.file.parent) not in text


def test_it_is_written_whole(outcome: Outcome, tmp_path: Path) -> None:
    target = write_report(outcome, tmp_path / "report.html")
    assert target.read_text(encoding="utf-8").endswith("</html>\n")
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1200])
def test_a_browser_shows_it_without_complaint(outcome: Outcome, tmp_path: Path, width: int) -> None:
    browser = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("needs Chromium")
    target = write_report(outcome, tmp_path / "report.html")
    done = subprocess.run(
        [
            browser,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}",
            f"--window-size={width},900",
            "--dump-dom",
            target.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "Risk of re-identification" in done.stdout
    assert "CONSOLE" not in done.stderr


def test_association() -> None:
    assert cramer(Counts.of({"a": [1, 2] * 50, "b": [1, 1, 2, 2] * 25}), "a", "b") < 0.1
    assert cramer(Counts.of({"a": [1, 1, 1], "b": [1, 2, 3]}), "a", "b") == 0.0


def test_charts_stay_small_and_escape() -> None:
    drawn = charts.bars([("<b>" * 30, (1.0,))], ("after",), "t")
    assert "<b>" not in drawn
    deep: charts.Branch = ("leaf", False, ())
    for i in range(200):
        deep = (f"n{i}", False, (deep,))
    assert charts.tree(deep, "t").count("<circle") <= 60


def test_the_command_writes_both_reports(tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from keepsense.cli import app

    (tmp_path / "people.csv").write_text("job,age\n" + "nurse,31\nclerk,40\n" * 5, encoding="utf-8")
    (tmp_path / "keepsense.toml").write_text(
        '[source]\npath = "people.csv"\n[columns.job]\nrole = "quasi-identifier"\n'
        '[columns.age]\nrole = "insensitive"\n[[privacy]]\nmodel = "k-anonymity"\nk = 5\n',
        encoding="utf-8",
    )
    done = CliRunner().invoke(app, ["run", str(tmp_path / "keepsense.toml"), "--report", "--quiet"])
    assert done.exit_code == 0, done.output
    folder = tmp_path / "release"
    assert "This report may be published" in (folder / "report.html").read_text(encoding="utf-8")
    assert "keep it inside" in (folder / "private" / "report.html").read_text(encoding="utf-8")
