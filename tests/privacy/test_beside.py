"""Promises beside other sensitive columns: judged by plain counting, by the models and by the verifier alike."""

from __future__ import annotations

import csv
import math
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import keepsense as ks
from keepsense.counts import Counts, with_joined
from keepsense.errors import BadInput, Infeasible, KeepsenseError
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.optimal import optimal
from keepsense.methods.generalize.requirement import suppression_limit
from keepsense.methods.method import METHODS, methods
from keepsense.privacy.privacy_model import bind, decide, joined_columns, model
from keepsense.project.project_file import Project
from keepsense.release.run import run
from keepsense.verification.verifier import verify

Row = dict[str, str | None]

FLU = [{"job": "nurse", "s": s, "v": v} for s, v in (("flu", "x"), ("flu", "x"), ("hiv", "y"), ("hiv", "y"))]
PROMISES: list[dict[str, Any]] = [
    {"model": "l-diversity", "form": "distinct", "l": 2},
    {"model": "l-diversity", "form": "distinct", "l": 2, "missing": "unknown"},
    {"model": "l-diversity", "form": "entropy", "l": 1.5},
    {"model": "l-diversity", "form": "recursive", "l": 2, "c": 2.0},
    {"model": "t-closeness", "t": 0.3, "ground": "equal"},
]


def keeps(rows: list[Row], promise: dict[str, Any], whole: list[Row]) -> bool:
    """The promise about s in one group of rows, by its definition."""
    if promise["model"] == "t-closeness":
        before, now = Counter(row["s"] for row in whole), Counter(row["s"] for row in rows)
        gap = sum(abs(Fraction(now[s], len(rows)) - Fraction(before[s], len(whole))) for s in before) / 2
        return gap <= Fraction("0.3")
    counts = Counter(row["s"] for row in rows)
    if promise.get("missing") == "unknown" and None in counts and len(counts) > 1:
        blank = counts.pop(None)
        counts[counts.most_common(1)[0][0]] += blank
    often = sorted(counts.values(), reverse=True)
    if promise["form"] == "distinct":
        return len(often) >= promise["l"]
    if promise["form"] == "recursive":
        return often[0] < 2 * sum(often[1:])
    entropy = -sum(n / len(rows) * math.log(n / len(rows)) for n in often)
    return entropy >= math.log(1.5) - 1e-9


def slow_judge(rows: list[Row], promise: dict[str, Any], whole: list[Row], keys: list[str]) -> bool:
    """Whether everybody who shares the keys and the columns beside keeps the promise."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[name] for name in (*keys, *promise.get("beside", ())))].append(row)
    return all(keeps(group, promise, whole) for group in groups.values())


def columns_of(rows: list[Row]) -> dict[str, list[str | None]]:
    return {name: [row[name] for row in rows] for name in rows[0]}


cells = st.fixed_dictionaries(
    {
        "job": st.sampled_from(["nurse", "baker"]),
        "s": st.sampled_from(["flu", "hiv", "cold", None]),
        "v": st.sampled_from(["x", "y", None]),
        "w": st.sampled_from(["p", "q"]),
    }
)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda p: " ".join(map(str, p.values())))
@settings(max_examples=25, deadline=None)
@given(table=st.lists(cells, min_size=1, max_size=14), beside=st.sampled_from([[], ["v"], ["v", "w"]]))
def test_models_and_the_verifier_agree_with_plain_counting(
    promise: dict[str, Any], table: list[Row], beside: list[str]
) -> None:
    asked = {**promise, "column": "s", **({"beside": beside} if beside else {})}
    expected = slow_judge(table, asked, table, ["job"])
    promised = model(asked["model"], **{key: value for key, value in asked.items() if key != "model"})
    assert promised.promise() == asked
    columns = columns_of(table)
    counts = Counts.of({"job": columns["job"]}, histograms={"s": columns["s"]})
    counts = with_joined(counts, Counts.of(columns), joined_columns([promised]))
    (bound,) = bind([promised], counts)
    assert bool(bound.satisfied(counts.weights, counts.histograms).all()) == expected
    assert verify(columns, [asked], quasi_identifiers=["job"]).ok == expected


def test_the_other_column_reveals_the_first_and_examples_name_the_class() -> None:
    two = {"model": "l-diversity", "l": 2, "column": "s"}
    columns = columns_of(FLU)
    assert verify(columns, [two], quasi_identifiers=["job"]).ok
    seen = verify(columns, [{**two, "beside": ["v"]}], quasi_identifiers=["job"], show_values=True)
    assert (seen.ok, seen.checks[0].failing_classes, seen.checks[0].failing_records) == (False, 2, 4)
    assert seen.examples == (("nurse",),)
    for wrong in ("v", ["nothing"], [3]):
        assert not verify(columns, [{**two, "beside": wrong}], quasi_identifiers=["job"]).ok
    with pytest.raises(BadInput, match="beside must be a list of texts"):
        model("l-diversity", l=2, column="s", beside="v")
    with pytest.raises(BadInput, match="other columns than 's'"):
        model("l-diversity", l=2, column="s", beside=["s"])


# ---- releases --------------------------------------------------------------------------------------------------------


TREES = {
    name: Hierarchy.of_rows([(f"{name}{i}", f"{name}{i // 2} or so", "*") for i in range(4)], name=name)
    for name in ("a", "b")
}
four = st.integers(0, 3)


@settings(max_examples=60, deadline=None)
@given(
    table=st.lists(st.tuples(four, four, st.sampled_from("xyz"), st.sampled_from("pq")), min_size=4, max_size=14),
    suppression=st.sampled_from([0.0, 0.1, 0.3, 0.5]),
)
def test_a_search_with_suppression_finds_the_lowest_levels(table: list[Any], suppression: float) -> None:
    """What is merged into a class may bring a group that breaks the promise: nothing above need hold, too."""
    columns = dict(zip("absv", zip(*table, strict=True), strict=True))
    named = {name: [f"{name}{i}" for i in columns[name]] for name in ("a", "b")}
    promised = model("l-diversity", l=2, column="s", beside=("v",))
    counts = Counts.of(named, histograms={"s": columns["s"]})
    counts = with_joined(counts, Counts.of(columns | named), joined_columns([promised]))
    limit = suppression_limit(suppression, counts.total)
    held = []
    for levels in product(range(3), repeat=2):
        at = list(zip(TREES.items(), levels, strict=True))
        codes = [tree.codes[tree.lookup(counts.values_of(n)), level][counts.column(n)] for (n, tree), level in at]
        coarser = counts.recoded([tree.labels[level] for (_, tree), level in at], np.stack(codes, axis=1))
        if decide([promised], coarser.weights, coarser.histograms, limit).holds:
            held.append(sum(levels))
    if held:
        assert sum(optimal(counts, TREES, [promised], suppression=suppression, metric="height").levels) == min(held)
    else:
        with pytest.raises(Infeasible):
            optimal(counts, TREES, [promised], suppression=suppression)


def write(folder: Path, rows: list[Row]) -> None:
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)


def asking(beside: list[str], method: str = "optimal", **sections: Any) -> Project:
    columns = {
        "age": {"role": "quasi-identifier", "kind": "numeric"},
        "job": {"role": "quasi-identifier", "kind": "nominal"},
        "s": {"role": "sensitive", "accept": "identifying"},
        "v": {"role": "sensitive", "accept": "identifying"},
    }
    return Project.model_validate(
        {
            "source": {"path": "people.csv"},
            "columns": columns,
            "privacy": [
                {"model": "k-anonymity", "k": 3},
                {"model": "l-diversity", "l": 2, "column": "s", "beside": beside},
            ],
            "method": {"name": method},
            **sections,
        }
    )


def people(rows: int = 120) -> list[Row]:
    """Whose job tells the association: bakers of drug x have the flu, nurses of drug y HIV, unless they are mixed."""
    rng = np.random.default_rng(11)
    table: list[Row] = []
    for i in range(rows):
        job = ("nurse", "baker", "clerk")[i % 3]
        v = ("x", "y")[int(rng.integers(2))]
        own = {("nurse", "x"): "flu", ("nurse", "y"): "hiv", ("baker", "x"): "hiv", ("baker", "y"): "flu"}
        s = own.get((job, v)) or ("flu", "hiv", "cold")[int(rng.integers(3))]
        table.append({"age": str(20 + int(rng.integers(40))), "job": job, "s": s, "v": v})
    return table


def released(path: Path) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.filterwarnings("ignore::keepsense.errors.PrivacyWarning")
@pytest.mark.parametrize("name", [method.name for method in methods(in_projects=True)])
def test_every_method_keeps_the_association_or_says_why_not(tmp_path: Path, name: str) -> None:
    rows = people()
    write(tmp_path, rows)
    promise = {"model": "l-diversity", "form": "distinct", "l": 2, "column": "s", "beside": ["v"]}
    # those that go up until promises hold take this one only where nothing is suppressed
    project = asking(["v"], name, release={"suppression": 0.0 if METHODS[name].climbs else 0.05})
    try:
        done = run(project, folder=tmp_path, rng=1)
    except KeepsenseError:
        if name in MUST_REACH:
            raise
        return
    after = released(done.file)
    assert slow_judge(after, promise, rows, ["age", "job"])
    assert done.description["promises"][1] == promise


MUST_REACH = {"optimal", "incognito", "datafly", "mondrian", "samarati", "bottom-up generalization"}


def test_without_it_the_association_is_released(tmp_path: Path) -> None:
    """So that the tests above can fail."""
    rows = people()
    write(tmp_path, rows)
    after = released(run(asking([]), folder=tmp_path, rng=1).file)
    promise = {"model": "l-diversity", "form": "distinct", "l": 2, "column": "s"}
    assert slow_judge(after, promise, rows, ["age", "job"])
    assert not slow_judge(after, {**promise, "beside": ["v"]}, rows, ["age", "job"])


def test_an_association_that_nothing_hides_is_refused_with_remedies(tmp_path: Path) -> None:
    write(tmp_path, [{"age": str(20 + i % 9), **row} for i, row in enumerate(FLU * 10)])
    with pytest.raises(Infeasible, match="fewer columns beside 's', or coarser ones"):
        run(asking(["v"]), folder=tmp_path, rng=1)
    for beside, why in ((["job"], "is a quasi-identifier"), (["vv"], "no column 'vv'.*Did you mean v")):
        with pytest.raises(BadInput, match=why):
            run(asking(beside), folder=tmp_path, rng=1)


def test_the_warning_of_several_sensitive_columns_goes_where_both_are_protected(tmp_path: Path) -> None:
    rows = [{"age": str(20 + i % 9), "job": "nurse", "s": "ab"[i % 2], "v": "xy"[i // 2 % 2]} for i in range(40)]
    write(tmp_path, rows)
    s, v = ({"model": "l-diversity", "l": 2, "column": a, "beside": [b]} for a, b in (("s", "v"), ("v", "s")))
    for promises, warned in (([s, v], False), ([s, {**v, "beside": []}], True)):
        done = run(asking([]).model_copy(update={"privacy": promises}), folder=tmp_path, rng=1)
        assert ("W412" in {finding.code for finding in done.findings}) == warned


def test_the_front_door_takes_it() -> None:
    table = columns_of(people())
    secret = {"s": ks.LDiversity(2, beside=["v"]), "v": None}
    done = ks.anonymize(table, k=3, quasi_identifiers=["age", "job"], sensitive=secret, seed=1)
    assert done.description["promises"][-1]["beside"] == ["v"]
