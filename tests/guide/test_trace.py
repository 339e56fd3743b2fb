"""Steps that are shown are those the algorithm makes, and watching changes nothing."""

from __future__ import annotations

import inspect
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepsense.errors import BadInput, Infeasible, PrivacyWarning
from keepsense.guide.catalogue import entry, function
from keepsense.guide.lesson import Lesson, example, from_file
from keepsense.guide.pages import entry_page, trace_page
from keepsense.guide.trace import explain, explainable, released
from keepsense.hierarchies import Hierarchy
from keepsense.privacy import KAnonymity

AGES = Hierarchy.of_rows(
    [(a, f"{a // 4 * 4}-{a // 4 * 4 + 3}", "low" if a < 12 else "high", "*") for a in range(20)],
    name="age",
    kind="numeric",
)
JOBS = Hierarchy.of_rows(
    [
        ("nurse", "medic", "care", "*"),
        ("surgeon", "medic", "care", "*"),
        ("nanny", "carer", "care", "*"),
        ("clerk", "office", "desk", "*"),
        ("judge", "court", "desk", "*"),
    ],
    name="job",
)


@st.composite
def lessons(draw: st.DrawFn) -> Lesson:
    size = draw(st.integers(4, 14))
    ages = draw(st.lists(st.integers(0, 19), min_size=size, max_size=size))
    jobs = draw(st.lists(st.sampled_from(JOBS.leaves), min_size=size, max_size=size))
    ill = draw(st.lists(st.sampled_from(["yes", "no"]), min_size=size, max_size=size))
    days = draw(st.lists(st.integers(0, 9), min_size=size, max_size=size))
    return Lesson(
        "drawn people",
        {"age": ages, "job": jobs, "ill": ill, "days": days},
        ("age", "job"),
        {"age": AGES, "job": JOBS},
        numbers=("age",),
        category="ill",
        amount="days",
    )


def straight(name: str, lesson: Lesson, k: int) -> Any:
    """The algorithm called without anybody watching."""
    method = function(entry(name))
    offered = {
        "models": [KAnonymity(k)],
        "numbers": lesson.numbers,
        "target": lesson.amount if name == "lsd mondrian" else lesson.category,
    }
    takes = inspect.signature(method).parameters
    return method(lesson.counts, lesson.hierarchies, **{n: v for n, v in offered.items() if n in takes})


@pytest.mark.parametrize("name", explainable())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lesson=lessons(), k=st.integers(2, 3))
def test_the_steps_lead_to_what_the_algorithm_releases(name: str, lesson: Lesson, k: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            plain = straight(name, lesson, k)
        except Infeasible:
            with pytest.raises(Infeasible):
                explain(name, lesson, k=k)
            return
        trace = explain(name, lesson, k=k)
        expected, hidden = released(lesson, plain, k)
    assert trace.final.table == expected.table, "watching changes nothing"
    assert trace.suppressed == hidden
    last = trace.iterations[-1] if trace.iterations else trace.before
    for row, out, gone in zip(last.table, trace.final.table, trace.suppressed, strict=True):
        assert gone or [str(v) for v in row] == [str(v) for v in out]
    if name != "mu-argus":
        assert trace.final.safe


@settings(max_examples=40, deadline=None)
@given(lesson=lessons(), k=st.integers(2, 3))
def test_datafly_chooses_the_column_of_most_values(lesson: Lesson, k: int) -> None:
    try:
        trace = explain("datafly", lesson, k=k)
    except Infeasible:
        return
    last = trace.before
    for step in trace.iterations:
        if step.chosen is None:
            continue
        counted = {name: len({row[j] for row in last.table}) for j, name in enumerate(lesson.quasi_identifiers)}
        full = {name for name in counted if {row[lesson.quasi_identifiers.index(name)] for row in last.table} == {"*"}}
        open_ = {name: n for name, n in counted.items() if name not in full}
        assert counted[step.chosen] == max(open_.values())
        assert step.score == counted[step.chosen]
        last = step


@settings(max_examples=40, deadline=None)
@given(lesson=lessons(), k=st.integers(2, 3))
def test_mondrian_cuts_one_group_at_a_time_in_two(lesson: Lesson, k: int) -> None:
    if lesson.rows < k:
        return
    trace = explain("mondrian", lesson, k=k)
    before = trace.iterations[0]
    for step in trace.iterations[1:]:
        changed = [i for i, (a, b) in enumerate(zip(before.table, step.table, strict=True)) if a != b]
        assert len({before.table[i] for i in changed}) == 1 or not changed
        assert step.chosen in lesson.quasi_identifiers
        assert min(step.sizes) >= k
        before = step


def test_the_example_is_told_as_in_the_paper() -> None:
    trace = explain("datafly", k=2)
    assert [step.chosen for step in trace.iterations] == ["age", "education", "age", None]
    assert [step.score for step in trace.iterations[:3]] == [9, 6, 4]
    assert sum(trace.suppressed) == 1
    assert trace.iterations[-1].title == "Suppress the rows that still stand alone"


def test_samarati_checks_heights_by_halving() -> None:
    steps = explain("samarati").iterations
    assert (steps[0].title, steps[0].safe) == ("Check age at level 3, education at level 2", True)
    assert (steps[1].title, steps[1].safe) == ("Check age at level 1, education at level 1", False)
    assert steps[-1].title.startswith("Choose")


def test_incognito_looks_at_single_columns_first() -> None:
    steps = explain("incognito").iterations
    assert (steps[0].title, steps[0].safe) == ("Check age at level 0", False)
    assert {row[1] for row in steps[0].table} == {"·"}


def test_mu_argus_says_what_it_does_not_check() -> None:
    ages = dict.fromkeys(range(4), ("*",))
    lesson = Lesson(
        "four columns",
        {c: [0, 0, 1, 1, 0, 1, 0, 1] if c == "a" else [0, 1] * 4 if c == "b" else [0, 1, 1, 0] * 2 for c in "abc"}
        | {"d": [0, 0, 0, 0, 1, 1, 1, 1]},
        ("a", "b", "c", "d"),
        {c: Hierarchy.of_rows([(v, *up) for v, up in ages.items()], name=c) for c in "abcd"},
    )
    trace = explain("mu-argus", lesson, k=2)
    assert trace.final.safe or trace.notes


@pytest.mark.parametrize(
    ("name", "k", "reason"),
    [
        ("datafly", 1, "at least 2"),
        ("datafly", 11, "has 10 rows only"),
        ("rank swapping", 2, "cannot be shown"),
        ("generalization", 2, "cannot be shown"),
    ],
)
def test_what_cannot_be_shown_is_refused(name: str, k: int, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        explain(name, k=k)


def test_targets_are_asked_for() -> None:
    whole = example()
    bare = Lesson(whole.title, whole.columns, whole.quasi_identifiers, whole.hierarchies, whole.numbers)
    for name in ("infogain mondrian", "lsd mondrian"):
        with pytest.raises(BadInput, match="--target"):
            explain(name, bare)
    assert explain("top-down", bare).final.safe


def test_long_traces_are_cut() -> None:
    trace = explain("incognito", most=3)
    assert len(trace.iterations) == 3
    assert "6 more steps" in trace.notes[-1]


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.csv"
    jobs = ["nurse", "surgeon", "carpenter", "plumber", "nurse", "carpenter"] * 2
    lines = [f"{20 + 3 * i},{job},{'yes' if i % 3 else 'no'}" for i, job in enumerate(jobs)]
    path.write_text("age,job,ill\n" + "\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_file_gets_hierarchies_of_its_own(small: Path) -> None:
    lesson = from_file(small, ["age", "job"], "ill")
    assert lesson.category == "ill"
    assert lesson.hierarchies["job"].height >= 2, "words get their levels from WordNet"
    assert explain("datafly", lesson, k=2).final.safe


def test_files_that_do_not_suit_are_named(small: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="Did you mean job"):
        from_file(small, ["jop"])
    with pytest.raises(BadInput, match="12 rows; steps are shown for up to 5"):
        from_file(small, ["age"], most=5)
    with pytest.raises(BadInput, match=r"none\.csv"):
        from_file(tmp_path / "none.csv")


# ---- pages -----------------------------------------------------------------------------------------------------------


class _Sound(HTMLParser):
    """Checks that tags are closed in order and counts them."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        assert tag not in ("script", "link", "img", "iframe"), "pages need nothing from outside"
        assert not any(value and value.startswith(("http", "//")) for _, value in attrs)
        if tag not in ("meta", "rect", "polygon", "polyline", "path"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", explainable())
def test_a_trace_is_a_sound_page(name: str) -> None:
    trace = explain(name)
    page = _Sound()
    page.feed(trace_page(trace))
    assert not page.open
    assert page.seen.count("table") == len(trace.iterations) + 2


def test_values_of_the_table_are_escaped() -> None:
    jobs = ["<b>x</b>", "y & z"] * 2
    tree = Hierarchy.of_rows([("<b>x</b>", "*"), ("y & z", "*")], name="job")
    lesson = Lesson("a table", {"job": jobs}, ("job",), {"job": tree})
    assert "<b>x" not in trace_page(explain("datafly", lesson, k=2))


@pytest.mark.parametrize("name", ["generalization", "datafly", "data shuffling"])
def test_an_entry_is_a_sound_page(name: str) -> None:
    page = _Sound()
    page.feed(entry_page(name))
    assert not page.open
    assert "svg" in page.seen
