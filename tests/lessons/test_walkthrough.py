"""Steps that are shown are those the algorithm makes, and watching changes nothing."""

from __future__ import annotations

import inspect
import warnings
from collections import Counter
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from keepsense.errors import BadInput, Infeasible, PrivacyWarning
from keepsense.guide.catalogue import entry, function
from keepsense.guide.catalogue_page import entry_page
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.lessons.lesson import Lesson, example, from_file
from keepsense.lessons.lesson_page import trace_page
from keepsense.lessons.walkthrough import Trace, about_sets, explain, explainable, lesson_for
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.project.column_meaning import Meaning
from keepsense.project.project_file import Column
from keepsense.recoding import Cells
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy_builder import from_edges

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

WORK = from_edges(
    [
        *(("nurse", "medic"), ("surgeon", "medic"), ("nanny", "carer"), ("medic", "care"), ("carer", "care")),
        *(("clerk", "office"), ("judge", "court"), ("office", "desk"), ("court", "desk"), ("care", "*"), ("desk", "*")),
    ]
)
JOBS = replace(JOBS, concepts=tuple(WORK.codes([str(v) for v in labels]) for labels in JOBS.labels))


def about(**keys: Any) -> Column:
    """What a project file says about a column."""
    return Column.model_validate(keys)


NUMBERS = about(kind="numeric")


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
        Meaning({"age": NUMBERS, "days": NUMBERS, "job": about(taxonomy="work")}, taxonomies={"work": WORK}),
        targets=("ill", "days"),
        sensitive="ill",
    )


def straight(name: str, lesson: Lesson, k: int) -> Any:
    """The algorithm called without anybody listening."""
    method = function(entry(name))
    offered: dict[str, Any] = {
        "models": [KAnonymity(k)],
        "numbers": ["age"],
        "target": "days" if name == "lsd mondrian" else "ill",
        "distances": {"job": distance("wu-palmer", WORK)},
        "time_limit": 300.0,
        "rng": 7,
    }
    takes = inspect.signature(method).parameters
    return method(lesson.counts, lesson.hierarchies, **{n: v for n, v in offered.items() if n in takes})


def own_settings(name: str) -> dict[str, Any]:
    """Settings that are about the columns of the drawn people."""
    told = {"lsd mondrian": {"target": "days"}, "t-close microaggregation": {"sensitive": "ill"}}
    bounds = {"bounds": {"age": [0, 20]}}
    return {**told, "noisy numbers": bounds, "differential privacy": bounds}.get(name, {})


GENERALIZING = [name for name in explainable() if entry(name).truthful and not about_sets(name)]
BY_RECORDS = [name for name in explainable() if name not in GENERALIZING]


@pytest.mark.parametrize("name", GENERALIZING)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lesson=lessons(), k=st.integers(2, 3))
def test_the_steps_lead_to_what_the_algorithm_releases(name: str, lesson: Lesson, k: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            plain = straight(name, lesson, k)
        except Infeasible:
            with pytest.raises(Infeasible):
                explain(name, lesson, k=k, settings=own_settings(name))
            return
        trace = explain(name, lesson, k=k, settings=own_settings(name))
    expected, hidden = released(lesson, plain)
    assert list(trace.final.table) == expected, "listening changes nothing"
    assert list(trace.suppressed) == hidden
    last = trace.steps[-1] if trace.steps else trace.before
    for row, out, gone in zip(last.table, trace.final.table, trace.suppressed, strict=True):
        assert gone or [str(v) for v in row] == [str(v) for v in out]
    if name != "mu-argus":
        assert trace.final.safe or all(trace.suppressed)


def released(lesson: Lesson, recoding: Any) -> tuple[list[Any], list[bool]]:
    """What a recoding that gives each tuple one output makes of each row, and which rows it suppresses."""
    cells = recoding.cells(lesson.counts)
    rows = {}
    for r, source in enumerate(cells.source.tolist()):
        row = tuple(cells.values[j][c] for j, c in enumerate(cells.codes[r].tolist()))
        rows[source] = row, bool(cells.suppressed is not None and cells.suppressed[r])
    found = [rows[t] for t in lesson.tuple_of(lesson.quasi_identifiers)]
    return [row for row, _ in found], [gone for _, gone in found]


@st.composite
def baskets(draw: st.DrawFn) -> Lesson:
    lesson = lesson_for("apriori sets")
    item = st.sampled_from(lesson.hierarchies["bought"].leaves)
    held = draw(st.lists(st.lists(item, min_size=1, max_size=4, unique=True), min_size=4, max_size=9))
    return replace(lesson, columns={"bought": [";".join(map(str, own)) for own in held]})


def check_records(name: str, lesson: Lesson, k: int, rng: int) -> None:
    given: dict[str, Any] = {"k": k, "rng": rng, "most": 1000, "settings": own_settings(name)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        try:
            trace = explain(name, lesson, **given)
        except (BadInput, Infeasible):
            return
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("keepsense.lessons.recorder.Story.every_step", False)
            plain = explain(name, lesson, **given).recoding
    assert isinstance(plain, Cells)
    assert isinstance(trace.recoding, Cells)
    random = name in ("noisy numbers", "differential privacy")  # their noise takes no seed
    for key in () if random else ("source", "codes", "multiplicity"):
        assert (getattr(trace.recoding, key) == getattr(plain, key)).all(), "listening changes nothing"
    assert shown(trace) == dealt_out(trace), "what is shown is what the recoding says"
    steps = [trace.before, *trace.steps]
    assert all(len(step.table) == len(step.marks) == lesson.rows for step in steps)
    if different(lesson) == lesson.rows:  # equal rows are exchangeable
        assert steps[-1].table == trace.final.table, "the steps lead to what is released"


def different(lesson: Lesson) -> int:
    """Number of different rows; sets are equal in whatever order their items are listed."""
    if not lesson.sets:
        return len(set(lesson.tuple_of(lesson.quasi_identifiers)))
    (cells,) = (lesson.columns[name] for name in lesson.quasi_identifiers)
    return len({frozenset(str(cell).split(";")) for cell in cells})


def shown(trace: Trace) -> Counter[Any]:
    """Released rows of the trace, each with what it was before."""
    before = zip(*(trace.lesson.columns[c] for c in (*trace.columns, *trace.beside)), strict=True)
    return Counter((old, tuple(map(str, new))) for old, new in zip(before, trace.final.table, strict=True))


def dealt_out(trace: Trace) -> Counter[Any]:
    """The same from the recoding alone."""
    names, cells = (*trace.columns, *trace.beside), trace.recoding
    assert isinstance(cells, Cells)
    distinct = list(dict.fromkeys(zip(*(trace.lesson.columns[c] for c in names), strict=True)))
    rows: Counter[Any] = Counter()
    for source, codes, times in zip(
        cells.source.tolist(), cells.codes.tolist(), cells.multiplicity.tolist(), strict=True
    ):
        got = {n: cells.values[j][c] for j, (n, c) in enumerate(zip(cells.names, codes, strict=True))}
        old = dict(zip(names, distinct[source], strict=True))
        new = tuple(spelled(trace, n, got.get(n, old[n])) for n in trace.columns)
        rows[distinct[source], new] += times
    return rows


def spelled(trace: Trace, name: str, value: Any) -> str:
    if trace.lesson.column(name).kind != "set":
        return str(value)
    return "; ".join(sorted(value.split(";"))) or "(nothing)"


@pytest.mark.parametrize("name", [n for n in BY_RECORDS if not about_sets(n) and n != "correlated noise"])
@settings(max_examples=20, deadline=None)
@given(lesson=lessons(), k=st.integers(2, 3), rng=st.integers(0, 9))
def test_every_row_ends_where_the_method_put_it(name: str, lesson: Lesson, k: int, rng: int) -> None:
    check_records(name, lesson, k, rng)


@pytest.mark.parametrize("name", [n for n in BY_RECORDS if about_sets(n)])
@settings(max_examples=20, deadline=None)
@given(lesson=baskets(), k=st.integers(2, 3), rng=st.integers(0, 9))
def test_every_set_ends_where_the_method_put_it(name: str, lesson: Lesson, k: int, rng: int) -> None:
    check_records(name, lesson, k, rng)


@pytest.mark.parametrize("rng", range(5))
def test_correlated_noise_ends_where_the_method_put_it(rng: int) -> None:
    check_records("correlated noise", lesson_for("correlated noise"), 2, rng)


@settings(max_examples=40, deadline=None)
@given(lesson=lessons(), k=st.integers(2, 3))
def test_datafly_chooses_the_column_of_most_values(lesson: Lesson, k: int) -> None:
    try:
        trace = explain("datafly", lesson, k=k)
    except Infeasible:
        return
    last = trace.before
    for step in trace.steps:
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
    before = trace.steps[0]
    for step in trace.steps[1:]:
        changed = [i for i, (a, b) in enumerate(zip(before.table, step.table, strict=True)) if a != b]
        assert len({before.table[i] for i in changed}) == 1 or not changed
        assert step.chosen in lesson.quasi_identifiers
        assert min(step.sizes) >= k
        before = step


def test_the_example_is_told_as_in_the_paper() -> None:
    trace = explain("datafly", k=2)
    assert [step.chosen for step in trace.steps] == ["age", "education", "age", None]
    assert [step.score for step in trace.steps[:3]] == [9, 6, 4]
    assert sum(trace.suppressed) == 1
    assert trace.steps[-1].title == "Suppress the rows that still stand alone"


def test_samarati_checks_heights_by_halving() -> None:
    steps = explain("samarati").steps
    assert (steps[0].title, steps[0].safe) == ("Check age at level 3, education at level 2", True)
    assert (steps[1].title, steps[1].safe) == ("Check age at level 1, education at level 1", False)
    assert steps[-1].title.startswith("Choose")


def test_samarati_says_why_choices_are_passed_over() -> None:
    why = [dict(step.facts).get("why", "") for step in explain("samarati").steps]
    assert why[1].startswith(
        "2 steps up in all: the middle of 0 to 5. Not checked: age at level 2, education at level 0"
    )
    assert "not safe by themselves" in why[1]
    assert why[-1].startswith("3 steps up in all: the fewest that can be safe")


def test_incognito_looks_at_single_columns_first() -> None:
    steps = explain("incognito").steps
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
        ("noise on streams", 2, "cannot be shown"),
        ("generalization", 2, "cannot be shown"),
    ],
)
def test_what_cannot_be_shown_is_refused(name: str, k: int, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        explain(name, k=k)


def test_targets_are_asked_for() -> None:
    whole = example()
    bare = replace(whole, targets=())
    for name in ("infogain mondrian", "lsd mondrian"):
        with pytest.raises(BadInput, match="--target"):
            explain(name, bare)
    assert explain("top-down", bare).final.safe


def test_long_traces_are_cut() -> None:
    trace = explain("incognito", most=3)
    assert len(trace.steps) == 3
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
    assert lesson.targets == ("ill",)
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
    assert page.seen.count("table") == len(trace.steps) + 2


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
