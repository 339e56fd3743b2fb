"""Rules of an earlier release cover values they have not seen."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from tests.release.tables import project

from keepsense.recoding import Cut
from keepsense.release.reuse import covering
from keepsense.release.run import run


@pytest.mark.parametrize(
    ("kind", "inputs", "outputs", "fresh", "expected"),
    [
        ("numeric", (24, 31, 61), ("under 30", "30 to 39", "40 or more"), (3, 95), ("under 30", "40 or more")),
        ("numeric", ("24.5", "31.5"), ("20 to under 30", "30 or more"), ("29.9",), ("20 to under 30",)),
        ("numeric", (24, 61), ("*", "*"), (95,), ("*",)),
        ("numeric", (24, 61), (24, 61), (95,), (95,)),
        ("date", ("2008-09-22",), ("2008-09",), ("2026-01-31",), ("2026-01",)),
        ("date", ("2008-09-22",), ("2008 Q3",), ("2026-01-31",), ("2026 Q1",)),
        ("date", ("2008-09-22", "1909-01-01"), ("2000s", "before 1940"), ("1921-05-05",), ("before 1940",)),
    ],
)  # fmt: skip
def test_values_never_seen_are_told_by_the_rule(kind, inputs, outputs, fresh, expected) -> None:  # type: ignore[no-untyped-def]
    cut = Cut("column", inputs, outputs, 0 if inputs == outputs else 1)
    wider = covering(cut, (*inputs, *fresh), kind)
    assert wider.outputs == (*outputs, *expected)


def test_what_no_rule_tells_stays_unknown() -> None:
    gap = Cut("age", (24, 61), ("20 to 29", "60 or more"), 1)
    assert covering(gap, (45, None), "numeric").inputs == (24, 61)
    assert covering(Cut("job", ("nurse",), ("medic",), 1), ("clerk",), "nominal").inputs == ("nurse",)


def test_an_age_of_95_next_month(tmp_path: Path) -> None:
    def write(ages: list[int]) -> None:
        with (tmp_path / "people.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([["age", "illness"], *([age, "flu"] for age in ages)])

    columns = {"age": {"role": "quasi-identifier", "kind": "numeric"}, "illness": {"role": "insensitive"}}
    job = project(columns=columns, method={"name": "optimal"}, privacy=[{"model": "k-anonymity", "k": 10}])
    write([20 + i % 41 for i in range(200)])
    first = run(job, folder=tmp_path, rng=1)
    kept = tmp_path / "recoding.json"
    kept.write_bytes((first.file.parent / "private" / "recoding.json").read_bytes())
    write([*(20 + i % 41 for i in range(200)), 95, 12])
    again = run(job, folder=tmp_path, rng=1, reuse=kept)
    assert again.verification.ok
    with again.file.open(encoding="utf-8", newline="") as file:
        labels = {row["age"] for row in csv.DictReader(file)}
    assert any(label.startswith("under ") for label in labels)
    assert any(label.endswith(" or more") for label in labels)
