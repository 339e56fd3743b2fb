"""Assessments of other tools' files: l, t, promises and the population, in both readings of hidden cells."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from keepsense.cli import app
from keepsense.errors import BadInput
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.privacy_model import model
from keepsense.release.figures.asked import Asked
from keepsense.release.figures.assess import assess

AGES, JOBS, ILL = ("20-29", "30-39"), ("nurse", "clerk"), ("flu", "cold", "asthma")
ILLNESSES = Hierarchy.of_rows([("flu", "virus", "*"), ("cold", "virus", "*"), ("asthma", "lung", "*")])


def cells_suppressed_one_by_one(rows: int = 60, seed: int = 3) -> tuple[dict[str, list[Any]], dict[str, list[Any]]]:
    """A table as sdcMicro leaves it: coarse, with NA in single cells of rare combinations."""
    draw = np.random.default_rng(seed)
    before = {
        "age": [AGES[i] for i in draw.integers(0, 2, rows)],
        "job": [JOBS[i] for i in draw.integers(0, 2, rows)],
        "ill": [ILL[i] for i in draw.integers(0, 3, rows)],
    }
    hidden = draw.random((rows, 2)) < 0.15
    after = {
        "age": ["NA" if hide else age for age, hide in zip(before["age"], hidden[:, 0], strict=True)],
        "job": ["NA" if hide else job for job, hide in zip(before["job"], hidden[:, 1], strict=True)],
        "ill": before["ill"],
    }
    return before, after


def compatible(row: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all("NA" in (a, b) or a == b for a, b in zip(row, other, strict=True))


def test_l_and_t_are_those_of_plain_counting_in_both_readings() -> None:
    before, after = cells_suppressed_one_by_one()
    found = assess(before, after, ["age", "job"], sensitive=["ill"], missing=["NA"])
    rows = list(zip(after["age"], after["job"], strict=True))
    whole = Counter(before["ill"])

    def t(values: list[str]) -> float:
        return 0.5 * sum(abs(values.count(v) / len(values) - n / len(rows)) for v, n in whole.items())

    strict = [[ill for other, ill in zip(rows, after["ill"], strict=True) if other == row] for row in rows]
    loose = [[ill for other, ill in zip(rows, after["ill"], strict=True) if compatible(row, other)] for row in rows]
    told = found.sensitive[0]
    assert told.fitting is not None
    assert (told.distinct, told.fitting[0]) == tuple(min(len(set(c)) for c in kind) for kind in (strict, loose))
    assert (told.t, told.fitting[2]) == pytest.approx(tuple(max(map(t, kind)) for kind in (strict, loose)))
    assert (found.k, found.k_wildcard) == (min(map(len, strict)), min(map(len, loose)))
    assert all(c.information is None or c.information <= 1.0 for c in found.columns)
    plain = assess(before, before, ["age", "job"], sensitive=["ill"])
    assert plain.sensitive[0].fitting is None


def test_t_by_a_hierarchy() -> None:
    before = {
        "job": ["nurse"] * 4 + ["clerk"] * 4,
        "ill": ["flu", "cold", "flu", "cold", "asthma", "flu", "cold", "flu"],
    }
    found = assess(before, before, ["job"], sensitive=["ill"], asked=Asked(hierarchies={"ill": ILLNESSES}))
    told = found.sensitive[0]
    # the class without asthma moves an eighth of its mass across the top; between flu and cold it costs half as much
    assert told.t_hierarchical == pytest.approx(0.125)
    assert told.t_hierarchical <= told.t


@pytest.mark.parametrize(
    ("promise", "strict", "fitting"),
    [
        (model("k-anonymity", k=2), False, True),
        (model("l-diversity", l=2, column="ill"), False, True),
        (model("t-closeness", t=0.05, column="ill"), False, True),
    ],
)
def test_promises_in_both_readings(promise: Any, strict: bool, fitting: bool) -> None:
    after = {"age": ["20-29", "20-29", None, "20-29"], "ill": ["flu", "cold", "cold", "flu"]}
    before = {"age": ["20-29"] * 4, "ill": after["ill"]}
    found = assess(before, after, ["age"], sensitive=["ill"], asked=Asked((promise,)))
    assert [(kept.strict, kept.fitting) for kept in found.promises] == [(strict, fitting)]


def test_the_population_by_bands_and_by_a_hierarchy() -> None:
    before = {"age": [21, 25, 33, 38], "job": ["nurse", "surgeon", "clerk", "clerk"]}
    after = {"age": ["[20,30)", "[20,30)", "30-39", "30-39"], "job": ["medic", "medic", "clerk", "*"]}
    people = {"age": [*range(20, 40)] * 3, "job": ["nurse", "surgeon", "clerk"] * 20}
    jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "clerk", "*")])
    models = (model("k-map", k=10), model("k-map", k=11), model("delta-presence", lower=0.0, upper=0.5))
    asked = Asked(models, {"job": jobs}, people)
    found = assess(before, after, ["age", "job"], asked=asked)
    fits = [
        sum(20 <= a <= 29 and j != "clerk" for a, j in zip(people["age"], people["job"], strict=True)),
        sum(a >= 30 and j == "clerk" for a, j in zip(people["age"], people["job"], strict=True)),
        sum(a >= 30 for a in people["age"]),
    ]
    assert found.population is not None
    assert found.population.k_map == min(fits) == 10
    assert found.population.presence_greatest == pytest.approx(max(n / f for n, f in zip((2, 1, 1), fits, strict=True)))
    assert [kept.strict for kept in found.promises] == [True, False, True]
    with pytest.raises(BadInput, match=r"'job': 1 of 3 labels.*--hierarchy job=FILE"):
        assess(before, after, ["age", "job"], asked=Asked(population=people))
    with pytest.raises(BadInput, match="--population"):
        assess(before, after, ["age", "job"], asked=Asked(models))
    with pytest.raises(BadInput, match="how a release is made"):
        assess(before, after, ["age"], asked=Asked((model("differential privacy", epsilon=1.0),)))


def test_the_command_takes_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    before, after = cells_suppressed_one_by_one()
    for name, columns in (("before.csv", before), ("after.csv", after), ("all.csv", before)):
        lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
        Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    Path("ill.csv").write_text("flu;virus;*\ncold;virus;*\nasthma;lung;*\n", encoding="utf-8")
    words = ["assess", "before.csv", "after.csv", "--quasi", "age,job", "--sensitive", "ill", "--suppressed", "NA"]
    words += ["--hierarchy", "ill=ill.csv", "--population", "all.csv", "--promise", "l-diversity l=2 column=ill"]
    words += ["--promise", "k-map k=3"]
    result = CliRunner().invoke(app, [*words, "--json"])
    assert result.exit_code == 0, result.output
    told = json.loads(result.output)
    assert [kept["promise"] for kept in told["promises"]] == [
        "l-diversity (form = distinct, l = 2, column = ill)",
        "k-map (k = 3)",
    ]
    assert told["population"]["k_map"] >= told["k"]
    assert told["sensitive"][0]["t_hierarchical"] <= told["sensitive"][0]["t"] + 1e-9
    shown = CliRunner().invoke(app, words)
    assert "k-map" in shown.output
    assert "where hidden cells fit any" in " ".join(shown.output.split())
    wrong = CliRunner().invoke(app, [*words[:5], "--hierarchy", "ill.csv"])
    assert isinstance(wrong.exception, BadInput)
