"""The registry of metrics: each told once, and used by releases, commands, reports and the documentation."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from keepsense.counts import Counts
from keepsense.metrics import METRICS, Figure, figure, figures, metric
from keepsense.recoding import Cut, Cuts
from keepsense.release.example import example_release
from keepsense.release.figures.measure import measured_for_report, measured_utility
from keepsense.report.report import render
from keepsense.report.report_subject import Subject
from keepsense.utility.recoded_table import Recoded

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metrics that a test adds are gone after it."""
    assert len(METRICS) > 20
    for kept in ("_entries", "_spellings"):
        monkeypatch.setattr(METRICS, kept, dict(getattr(METRICS, kept)))


def test_a_metric_says_what_it_means(subtests: pytest.Subtests) -> None:
    for name in METRICS:
        with subtests.test(name=name):
            entry = METRICS[name]
            assert entry.name == name
            assert entry.label
            assert entry.formula
            assert 2 < len(entry.meaning.split()) < 25
            assert not entry.meaning.endswith(".")
            assert entry.direction == ("lower" if entry.span[1] is None or entry.span[0] < entry.span[1] else "higher")
            assert entry.unit == "share" or entry.unit in entry.range
            assert len({other.label for other in METRICS.values()}) == len(METRICS)


def test_figures_lie_in_their_range_and_are_named_by_their_metrics() -> None:
    done = example_release()
    measured = [figure(name, value) for name, value in done.description["utility"].items()]
    measured += [figure(name, value) for when in done.description["risk"].values() for name, value in when.items()]
    measured += measured_for_report(done.job, done.recodings).utility
    inside = [each for table in Subject(done).exposed.values() for each in figures("risk", table, every_run=False)]
    assert {"separation", "distinction", "special uniques by meaning"} <= {each.metric.name for each in inside}
    measured += inside
    assert len(measured) > 10
    for each in measured:
        low, high = sorted(float("inf") if end is None else end for end in each.metric.span)
        assert low <= each.value <= high, each.name
        assert figure(each.name, each.value).metric is METRICS[each.metric.name]


def test_what_is_new_in_the_registry_is_in_releases_and_reports(fresh: None) -> None:
    @metric("tuples", "kinds of people", span=(1, None), unit="records", every_run=True)
    def tuples(recoded: Recoded) -> float:
        """How many combinations there are.

        Computed: tuples.
        """
        return float(len(recoded.counts))

    done = example_release()
    assert measured_utility(done.job, done.recodings)["tuples"] == 8
    done.description["utility"]["tuples"] = 8
    try:
        assert "kinds of people" in render(done, "public")
    finally:
        del done.description["utility"]["tuples"]


def test_a_metric_that_does_not_apply_is_left_out() -> None:
    counts = Counts.of({"job": ["nurse", "clerk"]})
    rule = Cuts((Cut("job", ("nurse", "clerk"), ("a", "b")),))
    names = {each.name for each in figures("utility", Recoded(counts, [rule]))}
    assert "discernibility" in names
    assert "loss" not in names, "it needs a hierarchy"


def test_figures_of_a_later_version_are_shown_as_they_are() -> None:
    assert figure("a {strange} one", 0.25) == Figure(figure("a {strange} one", 0.25).metric, 0.25)
    assert figure("a {strange} one", 0.25).label == "a {strange} one"


def test_the_documentation_lists_every_metric(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    pages = importlib.import_module("docs_pages")
    text = (ROOT / "docs" / "explanation" / "utility-measures.md").read_text(encoding="utf-8")
    shown = pages.METRICS_MARK.sub(lambda mark: pages.metrics_table(mark[1]), text)
    for name, entry in METRICS.items():
        row = next(line for line in shown.splitlines() if line.startswith(f"| `{name}` |"))
        assert entry.meaning in row
        assert row.count("|") == 6, "a formula must not break the table"
