"""Differentially private generalization: delta exactly, neighbours by all their chances, and nothing told beside."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.errors import BadInput, Infeasible
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize import dp_generalization
from keepsense.methods.generalize.dp_generalization import (
    delta_of,
    differentially_private_generalization,
    smallest_class,
)
from keepsense.methods.method import method
from keepsense.project.project_file import Project, check_project
from keepsense.release.run import run
from keepsense.report.report import render

SHARE = 1 - math.exp(-1.0)


def chance(j: int, n: int, share: Fraction) -> Fraction:
    return math.comb(n, j) * share**j * (1 - share) ** (n - j)


@pytest.mark.parametrize(
    ("k", "epsilon", "share"), [(5, 1.0, Fraction(3, 10)), (12, 0.7, Fraction(1, 4)), (3, 2.0, Fraction(1, 2))]
)
def test_delta_is_the_largest_tail_in_exact_numbers(k: int, epsilon: float, share: Fraction) -> None:
    """Theorem 5 of Li, Qardaji and Su 2012, in fractions, far beyond where the search may stop."""
    gamma = (math.exp(epsilon) - 1 + float(share)) / math.exp(epsilon)
    first = math.ceil(k / gamma - 1)
    tails = [
        sum(chance(j, n, share) for j in range(math.floor(gamma * n) + 1, n + 1)) for n in range(first, first + 150)
    ]
    assert delta_of(k, epsilon, float(share)) == pytest.approx(float(max(tails)), rel=1e-9)


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-3), (0.5, 1e-2), (2.0, 1e-4)])
def test_neighbours_cannot_be_told_apart_by_more_than_promised(epsilon: float, delta: float) -> None:
    """Every chance of a class with n records and with one more: released as j >= k records, or left out."""
    share = 1 - math.exp(-epsilon)
    k = smallest_class(epsilon, delta)
    assert max(_over(n, k, share, epsilon) for n in range(4 * k)) <= delta
    # classes of a third would break it: the bound is not idle
    assert max(_over(n, k // 3, share, epsilon) for n in range(4 * k)) > delta


def _over(n: int, k: int, share: float, epsilon: float) -> float:
    """By how much chances of n records and of one more differ beyond e^epsilon, either way: the delta of these two."""
    few, more = _told(n, k, share, n + 2), _told(n + 1, k, share, n + 2)
    return max(float(np.maximum(0.0, a - math.exp(epsilon) * b).sum()) for a, b in ((few, more), (more, few)))


def _told(n: int, k: int, share: float, room: int) -> Any:
    """Chances of what is seen of a class of n records: the number that was drawn, or, at 0, that it is left out."""
    from scipy.stats import binom

    chances = binom.pmf(np.arange(room), n, share)
    return np.concatenate(([chances[:k].sum()], np.where(np.arange(room) >= k, chances, 0.0)[1:]))


def test_records_are_drawn_one_by_one_and_small_classes_left_out() -> None:
    tree = Hierarchy.of_rows([(age, f"{age // 10}0s", "*") for age in range(20, 60)], name="age")
    ages = [20 + i % 20 for i in range(4000)] + [50] * 40
    counts = Counts.of({"age": ages})
    drawn = []
    for seed in range(30):
        cells = differentially_private_generalization(
            counts, {"age": tree}, levels={"age": 1}, epsilon=1.0, delta=1e-4, rng=seed
        )
        rows = cells.apply(counts).rows_of("age")
        assert rows["50s"] == 0  # 40 records can never be 47
        drawn.append(rows["20s"])
        assert cells.info["k"] == 47
    expected = 2000 * SHARE
    assert abs(np.mean(drawn) - expected) < 6 * math.sqrt(2000 * SHARE * (1 - SHARE) / 30)
    assert np.var(drawn) > 100  # each by itself: a sample of fixed size would not vary so


PROMISE = {"model": "approximate differential privacy", "epsilon": 1.0, "delta": 1e-3}


def project(**changes: Any) -> Project:
    data: dict[str, Any] = {
        "source": {"path": "people.csv"},
        "columns": {
            "id": {"role": "identifier"},
            "job": {"role": "quasi-identifier", "hierarchy": "jobs.csv"},
            "sex": {"role": "quasi-identifier", "hierarchy": "sexes.csv"},
        },
        "privacy": [PROMISE],
        "method": {"name": "safepub", "parameters": {"levels": {"job": 1, "sex": 0}}},
    }
    return check_project({**data, **changes})


def written(folder: Path, rows: list[str]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"{i},{row}" for i, row in enumerate(rows)]
    (folder / "people.csv").write_text("\n".join(["id,job,sex", *lines, ""]), encoding="utf-8")
    (folder / "jobs.csv").write_text("nurse;medic;*\nsurgeon;medic;*\nclerk;office;*\n", encoding="utf-8")
    (folder / "sexes.csv").write_text("f;*\nm;*\n", encoding="utf-8")
    return folder


USUAL = ["nurse,f", "surgeon,f", "nurse,m", "surgeon,m"] * 60


def test_a_project_file_makes_a_verified_release_of_true_values(tmp_path: Path) -> None:
    done = run(project(), folder=written(tmp_path, [*USUAL, "clerk,f"]), rng=1)
    assert done.verification.ok
    text = done.file.read_text(encoding="utf-8").splitlines()
    assert set(text[1:]) == {"medic,f", "medic,m"}
    assert 90 < len(text) < 220
    told = json.loads((done.file.parent / "release.json").read_text(encoding="utf-8"))
    assert (told["suppressed records"], told["of them left out"], told["utility"], told["risk"]) == (0, 0, {}, {})
    assert "not told" in told["neighbours"]


def test_what_is_published_of_neighbours_is_the_same_where_the_draws_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one person more, whose class is left out, nothing that is published may differ: no count of rows either."""

    class Everybody(np.random.Generator):
        def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
            return np.asarray(n)

    monkeypatch.setattr(dp_generalization, "generator", lambda rng: Everybody(np.random.PCG64(1)))
    published = []
    for name, rows in (("with", [*USUAL, "clerk,f"]), ("without", USUAL)):
        done = run(project(), folder=written(tmp_path / name, rows), rng=1)
        told = json.loads((done.file.parent / "release.json").read_text(encoding="utf-8"))
        rows_seen = sorted(done.file.read_text(encoding="utf-8").splitlines())
        page = render(done, "public")
        del told["sha256"]
        published.append((told, rows_seen, page.replace(done.description["sha256"], "")))
    assert published[0] == published[1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"method": {"name": "safepub"}}, "levels chosen by looking at the table"),
        ({"method": {"name": "safepub", "parameters": {"levels": {"job": 1}}}}, "to which level 'sex'"),
        ({"method": {"name": "safepub", "parameters": {"levels": {"job": 1, "sexe": 1}}}}, "Did you mean sex"),
        ({"release": {"shuffle": False}}, "order of the rows"),
        ({"method": {"name": "optimal"}}, "keeps no approximate differential privacy"),
        ({"privacy": [{"model": "differential privacy", "epsilon": 1.0}]}, "keeps no differential privacy"),
        ({"steps": [{"name": "sampling", "parameters": {"share": 0.5}}]}, "no budget accounts for them"),
    ],
)
def test_what_would_depend_on_the_data_is_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(BadInput, match=message):
        run(project(**changes), folder=written(tmp_path, USUAL), rng=1)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ({"sex": {"role": "quasi-identifier"}}, "hierarchy built from the values"),
        ({"sex": {"role": "insensitive"}}, "would be released otherwise"),
        ({"id": {"role": "person"}}, "each record is drawn by itself"),
    ],
)
def test_columns_in_which_the_data_have_a_say_are_refused(tmp_path: Path, column: dict[str, Any], message: str) -> None:
    columns = {**project().model_dump(exclude_none=True)["columns"], **column}
    with pytest.raises(BadInput, match=message):
        run(project(columns=columns), folder=written(tmp_path, USUAL), rng=1)


def test_a_larger_share_or_a_smaller_class_is_found_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The promise is worked out again from what was done, and not believed."""
    monkeypatch.setattr(dp_generalization, "smallest_class", lambda epsilon, delta: 5)
    with pytest.raises(Infeasible, match="approximate differential privacy"):
        run(project(), folder=written(tmp_path, USUAL), rng=1)


def test_parameters_that_no_class_keeps_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BadInput, match="at most 1 - e"):
        delta_of(10, 0.5, 0.9)
    monkeypatch.setattr(dp_generalization, "_LARGEST_K", 30)
    with pytest.raises(BadInput, match="larger epsilon"):
        smallest_class(1.0, 1e-6)
    with pytest.raises(BadInput, match="needs epsilon"):
        differentially_private_generalization(Counts.of({"x": ["a"]}), {}, levels={})
    assert method("SafePub").name == "differentially private generalization"


def test_the_usual_class_that_words_name_is_the_smallest() -> None:
    from keepsense.methods.generalize import dp_generalization

    assert smallest_class(1.0, 1e-6) == dp_generalization._USUAL_CLASS
