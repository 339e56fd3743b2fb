"""One contract for all engines: whichever counts and recodes the rows, every method decides the same.

What a method decides follows from counts, so decisions are compared value by value; a recoding that leaves nothing to
chance must give the same rows in the same order. Where several outputs are dealt to the rows of one tuple, each engine
deals by a chance of its own, and how many rows get which output is compared. Metrics and risks are those of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.release.tables import project
from tests.release.test_methods_by_name import CHANGES, COLUMNS, PARAMETERS, PROMISES, write_table
from tests.spark import EVERY_ENGINE, NEEDS_JAVA, session, started

import keepsense as ks
from keepsense.counts import Counts, Value
from keepsense.engines.protocol import USUAL
from keepsense.methods.method import methods
from keepsense.methods.perturb import dp_numbers
from keepsense.metrics import figures
from keepsense.recoding import Cells, Cuts, Draws, Recoding
from keepsense.release.figures.measure import measured_risk, recoded
from keepsense.release.job.job import Job
from keepsense.release.job.recode import recode
from keepsense.risk.risk_metrics import Exposed
from keepsense.sample_people import people
from keepsense.secure_random import generator

OTHERS = [name for name in EVERY_ENGINE if name != USUAL]
SPARK = pytest.param("spark", marks=[pytest.mark.long, NEEDS_JAVA])


@dataclass(frozen=True)
class Decided:
    """What became of a table: spelled out, so that it can be compared."""

    rules: list[Any]
    by_chance: bool
    rows: list[tuple[Value, ...]]
    after: list[Counter[tuple[Value, ...]]]
    measured: dict[str, float]


def tuples(values: Sequence[Sequence[Value]], codes: Any) -> list[tuple[Value, ...]]:
    """Rows of codes as what they stand for."""
    return [tuple(v[c] for v, c in zip(values, row, strict=True)) for row in codes.tolist()]


def spelled(rule: Recoding, counts: Counts) -> Any:
    """A recoding, whatever the order of its parts."""
    if isinstance(rule, Cuts):
        cuts = [(cut.name, dict(zip(cut.inputs, cut.outputs, strict=True)), cut.level) for cut in rule.cuts]
        return cuts, rule.suppress
    if isinstance(rule, Draws):
        return rule.name, rule.inputs, rule.outputs, rule.probabilities.tolist()
    before = rule.inputs or counts
    held = tuples(before.values, before.codes[rule.source])
    given = zip(held, tuples(rule.values, rule.codes), strict=True)
    dealt: Counter[Any] = Counter()
    for pair, rows in zip(given, rule.multiplicity.tolist(), strict=True):
        dealt[pair] += rows
    return rule.names, dealt


def leaves_to_chance(rule: Recoding) -> bool:
    """Whether an engine has something to draw or to deal."""
    return isinstance(rule, Draws) or (isinstance(rule, Cells) and len(set(rule.source.tolist())) < len(rule.source))


def decided(engine: str, method: str, folder: Path) -> Decided:
    """What a method makes of the table on an engine."""
    plan = project(
        columns={**COLUMNS, **CHANGES.get(method, {})},
        privacy=[PROMISES.get(method, {"model": "k-anonymity", "k": 4})],
        method={"name": method, "parameters": PARAMETERS.get(method, {})},
        release={"suppression": 0.1},
    )
    with started(engine) as running:
        job = Job(plan, folder, running, generator(1))
        rules = job.method.run(job, plan.method.parameters)
        made = recode(job, rules, None)
        # sets are decided on in the classes that the rows form, so after a draw of an engine they are its own
        by_chance = any(map(leaves_to_chance, made.rules))
        compared = made.rules if by_chance else made.every_rule
        frame = running.frame(made.released)
        names = [rule.names for rule in compared if not isinstance(rule, Draws)]
        table = recoded(job, made.rules)
        measured = {each.name: each.value for each in figures("utility", table)}
        risk = measured_risk(job, made.counts, rules=rules)
        measured |= {f"before: {name}": value for name, value in risk["before"].items()}
        if not by_chance and not any(map(leaves_to_chance, made.set_rules)):
            everything = figures("risk", Exposed(made.counts))
            measured |= {f"after: {each.name}": each.value for each in everything}
        return Decided(
            [spelled(rule, job.counts) for rule in compared],
            any(map(leaves_to_chance, made.every_rule)),
            list(zip(*frame.to_pydict().values(), strict=True)),
            [Counter(zip(*(frame[n].to_pylist() for n in some), strict=True)) for some in names],
            measured,
        )


@pytest.fixture(scope="module")
def here(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The table, and what the usual engine makes of it: made once a method."""
    folder = tmp_path_factory.mktemp("methods")
    write_table(folder)
    return folder


def without_opendp(patch: pytest.MonkeyPatch) -> None:
    """Noise that follows a pattern in place of OpenDP's, which takes no seed; the budget is entered all the same."""

    def noisy(numbers: Any, sensitivity: float, epsilon: float, budget: Any, what: str) -> Any:
        dp_numbers._enter(epsilon, epsilon, budget, what)
        return np.asarray(numbers) + np.arange(len(numbers)) % 7

    patch.setattr(dp_numbers, "_noisy_floats", noisy)
    patch.setattr(dp_numbers, "_noisy_integers", noisy)


@pytest.mark.filterwarnings("ignore:.* protects each column by itself")
@pytest.mark.parametrize("engine", OTHERS)
@pytest.mark.parametrize("method", sorted(method.name for method in methods(in_projects=True)))
def test_every_method_decides_the_same_on_every_engine(
    here: Path, method: str, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_opendp(monkeypatch)
    usual, other = (decided(name, method, here) for name in (USUAL, engine))
    assert other.rules == usual.rules, "identical decisions"
    assert other.by_chance == usual.by_chance
    assert len(other.rows) == len(usual.rows)
    assert other.after == usual.after, "as many rows get each output"
    if not usual.by_chance:
        assert other.rows == usual.rows, "identical output"
    assert set(other.measured) == set(usual.measured)
    assert other.measured == pytest.approx(usual.measured, rel=1e-9, nan_ok=True), "all metrics and risks"


# ---- frames in and out -----------------------------------------------------------------------------------------------


def as_frames(table: Any) -> Mapping[str, Any]:
    """A table as a frame of each kind."""
    import polars as pl

    return {
        "pandas": table.to_pandas,
        "polars": lambda: pl.from_arrow(table),
        "arrow": lambda: table,
        "spark": lambda: session().createDataFrame(table),
    }


def rows_of(frame: Any) -> list[tuple[Any, ...]]:
    """The rows of a frame of any kind, sorted."""
    table = frame
    for convert in ("toArrow", "to_arrow"):
        table = getattr(table, convert)() if hasattr(table, convert) else table
    cells = table.to_dict("list") if hasattr(table, "to_dict") else table.to_pydict()
    return sorted(zip(*cells.values(), strict=True))


@pytest.mark.parametrize("engine", EVERY_ENGINE)
@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", SPARK])
def test_frames_come_out_as_they_went_in_and_hold_the_same_on_every_engine(kind: str, engine: str) -> None:
    if "spark" in (kind, engine):
        session()
    table = people(120, 5).select(["sex", "age", "diagnosis"])
    wishes: dict[str, Any] = {"k": 5, "quasi_identifiers": ["sex", "age"], "sensitive": "diagnosis", "seed": 3}
    frame = as_frames(table)[kind]()
    release = ks.anonymize(frame, method="optimal", engine=engine, **wishes)
    assert release.outcome.job.engine.name == engine
    assert type(release.frame) is type(frame)
    assert rows_of(release.frame) == rows_of(ks.anonymize(table, method="optimal", engine=USUAL, **wishes).frame)
