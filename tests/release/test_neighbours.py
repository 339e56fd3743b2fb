"""Differential privacy of project files: neighbouring tables, designed to break it, cannot be told apart by more."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
from tests.neighbours import Case, both, exact_loss, lower_bound

from keepsense.methods.perturb import shares
from keepsense.methods.registry import methods
from keepsense.project.meaning import Meaning

ENDS = {"age": (0, 120)}
SEEN = ["crane#1", "crane#4", "crane#5", "heron#1", "heron#2", "bulldozer"]
QI = {"role": "quasi-identifier"}
WORD = {"seen": {**QI, "taxonomy": "wordnet"}}
SEX = {"sex": {**QI, "order": ["f", "m", ""]}}
AGE = {"age": {**QI, "kind": "numeric"}}
BOUNDS = {"bounds": {"age": [0, 120]}}
DOMAIN = {"domains": {"seen": SEEN}}


def rows(name: str, *values: str) -> list[dict[str, str]]:
    return [{name: value} for value in values]


BIRD = {"seen": {**QI, "taxonomy": "wordnet", "domain": "wading bird"}}
MIXED = {**AGE, **SEX, **BIRD}
VISITS = {"who": {"role": "person"}, **SEX}
HEADER = "value,concept,label,how,rows,alternatives,description\n"
SENSES = HEADER + "".join(f"{word.partition("#")[0]},,{word},table,0,,\n" for word in SEEN)

ALONE = [
    Case("one word", WORD, "semantic exponential mechanism", rows("seen", "heron"), rows("seen", "bulldozer"), DOMAIN),
    Case("one category", SEX, "randomized response", rows("sex", "f"), rows("sex", "m")),
    Case("one empty cell", SEX, "randomized response", rows("sex", ""), rows("sex", "m")),
    Case("one number", AGE, "noisy numbers", rows("age", "0"), rows("age", "120"), BOUNDS),
    Case("beyond the bounds", AGE, "noisy numbers", rows("age", "-1e9"), rows("age", "1e9"), BOUNDS),
    Case(
        "a whole record",
        MIXED,
        "differential privacy",
        [{"age": "0", "sex": "f", "seen": "wading bird"}],
        [{"age": "120", "sex": "m", "seen": "great blue heron"}],
        BOUNDS,
    ),
    Case(
        "all rows of a person",
        VISITS,
        "randomized response",
        [{"who": "p", "sex": "f"}] * 3,
        [{"who": "p", "sex": "m"}] * 3,
        {"rows_per_person": 3},
    ),
]
"""Tables of one person: whatever is promised to this person is all there is to see."""

AMONG = [
    Case(
        "cranes and one that gives them meaning",
        WORD,
        "semantic exponential mechanism",
        rows("seen", "heron", *["crane"] * 40),
        rows("seen", "bulldozer", *["crane"] * 40),
        DOMAIN,
    ),
    Case(
        "cranes by a mapping file",
        {"seen": {**QI, "taxonomy": "wordnet", "mapping": "senses.csv"}},
        "semantic exponential mechanism",
        rows("seen", "heron", *["crane"] * 40),
        rows("seen", "bulldozer", *["crane"] * 40),
        DOMAIN,
        {"senses.csv": SENSES},
    ),
    Case("the only m", SEX, "randomized response", rows("sex", "m", *"f" * 5), rows("sex", "f", *"f" * 5)),
    Case(
        "the oldest",
        AGE,
        "noisy numbers",
        rows("age", "117", *["20"] * 4),
        rows("age", "21", *["20"] * 4),
        BOUNDS,
    ),
    Case(
        "the only one of all",
        MIXED,
        "differential privacy",
        [{"age": "117", "sex": "m", "seen": "heron"}, *[{"age": "20", "sex": "f", "seen": "crane"}] * 4],
        [{"age": "21", "sex": "f", "seen": "stork"}, *[{"age": "20", "sex": "f", "seen": "crane"}] * 4],
        {**BOUNDS, "domains": {"sex": ["f", "m"]}},
    ),
    Case(
        "a person among others",
        VISITS,
        "randomized response",
        [*[{"who": "p", "sex": "m"}] * 2, *[{"who": f"{i}", "sex": "f"} for i in range(5)]],
        [*[{"who": "p", "sex": "f"}] * 2, *[{"who": f"{i}", "sex": "f"} for i in range(5)]],
        {"rows_per_person": 2},
    ),
]
"""Tables in which one person stands out, so that a mechanism made from the table would be another without it."""

EVERY = [*ALONE, *AMONG]


def name_of(case: Case) -> str:
    return case.name


def named(name: str) -> Case:
    return next(case for case in EVERY if case.name == name)


def loss(case: Case, folder: Path, times: int = 3_000) -> float:
    """The most that is known of how far the mechanism tells the two tables apart: exactly, or surely at least."""
    first, second = both(case, folder)
    if set(first.chances()) == {column for column, keys in case.columns.items() if keys["role"] != "person"}:
        return max(exact_loss(case, first, second), lower_bound(first, second, times, ENDS))
    return lower_bound(first, second, times, ENDS)


def test_every_method_that_promises_it_is_judged() -> None:
    private_methods = {m.name for m in methods(in_projects=True) if "differential privacy" in m.promises}
    assert private_methods == {case.method for case in ALONE} == {case.method for case in AMONG}


@pytest.mark.parametrize("case", EVERY, ids=name_of)
def test_neighbours_are_told_apart_by_no_more_than_promised(case: Case, tmp_path: Path) -> None:
    assert loss(case, tmp_path) <= case.epsilon * (1 + 1e-9)


@pytest.mark.more
@pytest.mark.parametrize("case", EVERY, ids=name_of)
def test_nor_by_many_more_draws(case: Case, tmp_path: Path) -> None:
    assert loss(case, tmp_path, 60_000) <= case.epsilon * (1 + 1e-9)


@pytest.mark.parametrize("case", [c for c in ALONE if c.name != "a whole record"], ids=name_of)
def test_the_judge_sees_nearly_all_that_is_given_away(case: Case, tmp_path: Path) -> None:
    first, second = both(case, tmp_path)
    assert lower_bound(first, second, 10_000, ENDS) > 0.5 * case.epsilon


# ---- planted faults: the judge must see each -------------------------------------------------------------------------


def doubled(patch: pytest.MonkeyPatch) -> None:
    """A budget twice as large as promised."""
    right = shares.Shares.__init__

    def wrong(self: Any, *given: Any, **options: Any) -> None:
        right(self, *given, **options)
        self.share *= 2

    patch.setattr(shares.Shares, "__init__", wrong)


@pytest.mark.parametrize("case", ALONE, ids=name_of)
def test_a_doubled_epsilon_is_seen(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    doubled(monkeypatch)
    first, second = both(case, tmp_path)
    assert lower_bound(first, second, 10_000, ENDS) > case.epsilon
    if case.method in ("semantic exponential mechanism", "randomized response"):
        assert exact_loss(case, first, second) > 1.9 * case.epsilon


def test_senses_chosen_together_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = Meaning.mapping
    monkeypatch.setattr(Meaning, "mapping", lambda self, name, values, alone=False: right(self, name, values))
    case = named("cranes and one that gives them meaning")
    first, second = both(case, tmp_path)
    assert exact_loss(case, first, second) > 5 * case.epsilon
    assert lower_bound(first, second, 4_000, {}) > case.epsilon


def test_a_domain_from_the_table_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(self: Any, name: str) -> list[Any]:
        return [*self.counts.values_of(name), None]

    monkeypatch.setattr(shares.Shares, "_domain", wrong)
    case = named("the only m")
    first, second = both(case, tmp_path)
    assert exact_loss(case, first, second) == math.inf
    assert lower_bound(first, second, 4_000, {}) > case.epsilon


def test_bounds_from_the_table_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = shares.Shares.numbers

    def wrong(self: Any, names: Any, listener: Any) -> Any:
        ages = [int(age) for age in self.counts.values_of("age")]
        self.bounds = {"age": (min(ages), max(ages))}
        return right(self, names, listener)

    monkeypatch.setattr(shares.Shares, "numbers", wrong)
    case = named("the oldest")
    assert lower_bound(*both(case, tmp_path), 4_000, ENDS) > case.epsilon


def test_rows_of_a_person_that_do_not_share_epsilon_are_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    right = shares.Shares.__init__

    def wrong(self: Any, *given: Any, **options: Any) -> None:
        right(self, *given, **options)
        self.share *= self.people

    monkeypatch.setattr(shares.Shares, "__init__", wrong)
    case = named("all rows of a person")
    first, second = both(case, tmp_path)
    assert exact_loss(case, first, second) > 2.9 * case.epsilon
    assert lower_bound(first, second, 10_000, {}) > case.epsilon
