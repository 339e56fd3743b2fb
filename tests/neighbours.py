"""A judge of differential privacy: what a project file releases for two neighbouring tables, and how far that differs.

Where the chances of a mechanism are known the loss is computed from them (`exact_loss`). Else it is bounded from below
by drawing, in the manner of StatDP (Ding et al. 2018) and DP-Sniper (Bichsel et al. 2021): some draws choose an event
that is likely for one table and unlikely for its neighbour, others count how often it happens, and Clopper-Pearson
intervals of these counts give an epsilon that the mechanism surely exceeds (`lower_bound`).
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import beta

from keepsense.counts import Counts
from keepsense.engines.protocol import started
from keepsense.methods.method_call import call
from keepsense.methods.perturb import differential_privacy
from keepsense.progress import Event
from keepsense.project.project_file import read_project
from keepsense.recoding import Cells
from keepsense.release.job.job import Job
from keepsense.release.preflight import refuse_contradictions
from keepsense.secure_random import generator

Rows = Sequence[Mapping[str, str]]
Chances = dict[str, dict[Any, dict[Any, float]]]
_DOUBT = 1e-5
"""Chance that a bound is wrong."""


@dataclass(frozen=True)
class Case:
    """A project under differential privacy and two tables that are neighbours; rows that differ are the first ones."""

    name: str
    columns: Mapping[str, Mapping[str, Any]]
    method: str
    first: Rows
    second: Rows
    parameters: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    epsilon: float = 1.0

    def write(self, folder: Path, rows: Rows) -> Path:
        """The project file, the table, and what lies beside them."""
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "people.csv").open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, list(self.columns))
            writer.writeheader()
            writer.writerows(rows)
        for name, text in self.files.items():
            (folder / name).write_text(text, encoding="utf-8")
        keys = {
            "source": {"path": "people.csv"},
            "columns": self.columns,
            "privacy": [{"model": "differential privacy", "epsilon": self.epsilon}],
            "method": {"name": self.method, "parameters": self.parameters},
        }
        path = folder / "keepsense.toml"
        path.write_text("".join(f"{key} = {_toml(value)}\n" for key, value in keys.items()), encoding="utf-8")
        return path


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(str(k))} = {_toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


# ---- the mechanism that a project file leads to ----------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A method as a run of a project file would call it, ready to be called often."""

    function: Any
    parameters: Mapping[str, Any]
    counts: Counts
    given: tuple[Any, ...]

    def release(self, counts: Counts, listener: Any = None) -> Cells:
        """One release of a table with these values."""
        cells: Cells = call(self.function, self.parameters, counts, *self.given, rng=generator(), listener=listener)
        return cells

    def chances(self) -> Chances:
        """What becomes of every value, column by column, where the mechanism tells it."""
        heard: Chances = {}

        class Listening:
            every_step = True

            def __call__(self, event: Event) -> None:
                if event.name == "drawn":
                    rule = event.details["rule"]
                    rows = (dict(zip(rule.outputs, row, strict=True)) for row in rule.probabilities.tolist())
                    heard[rule.name] = dict(zip(rule.inputs, rows, strict=True))

        self.release(self.counts, Listening())
        return heard

    def tables(self, times: int) -> list[tuple[tuple[str, ...], tuple[Any, ...], NDArray[np.int64]]]:
        """Many releases at once, by column: its name, its values, and their codes, a row for each release.

        Every record is drawn by itself, so a table with each record so many times is as many draws of the table.
        """
        cells = self.release(replace(self.counts, weights=self.counts.weights * times))
        rng = np.random.default_rng()
        drawn = np.repeat(cells.codes, cells.multiplicity, axis=0)
        owner = np.repeat(cells.source, cells.multiplicity)
        mixed = rng.permutation(len(owner))
        drawn = drawn[mixed[np.argsort(owner[mixed], kind="stable")]]
        ends = np.cumsum(self.counts.weights * times)
        parts = [part.reshape(times, -1, drawn.shape[1]) for part in np.split(drawn, ends[:-1])]
        whole = np.concatenate(parts, axis=1)
        return [((name,), cells.values[j], whole[:, :, j]) for j, name in enumerate(cells.names)]


class _CaughtError(Exception):
    def __init__(self, *seen: Any) -> None:
        self.seen = seen


@contextmanager
def _caught() -> Iterator[None]:
    def stop(function: Any, parameters: Mapping[str, Any], *given: Any, **fixed: Any) -> None:
        raise _CaughtError(function, parameters, given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(differential_privacy, "call", stop)
        yield


def mechanism(project: Path) -> Mechanism:
    """What a project file's method would be called with; everything before that call has happened."""
    with started("duckdb") as engine:
        job = Job(read_project(project), project.parent, engine, generator())
        refuse_contradictions(job)
        try:
            with _caught():
                job.method.run(job, job.project.method.parameters)
        except _CaughtError as caught:
            function, parameters, (counts, *given) = caught.seen
            return Mechanism(function, parameters, counts, tuple(given))
    raise AssertionError("the method was not called")


def both(case: Case, folder: Path) -> tuple[Mechanism, Mechanism]:
    """The mechanisms of both tables."""
    tables = (("first", case.first), ("second", case.second))
    first, second = (mechanism(case.write(folder / name, rows)) for name, rows in tables)
    return first, second


# ---- the loss from known chances -------------------------------------------------------------------------------------


def exact_loss(case: Case, first: Mechanism, second: Mechanism) -> float:
    """Greatest logarithm of the ratio of the chances of any release: of all records, since each is drawn by itself."""
    one, two = first.chances(), second.chances()
    losses = [0.0, 0.0]
    for row, other in zip(case.first, case.second, strict=True):
        for name in one:
            here, there = one[name][row[name] or None], two[name][other[name] or None]
            outputs = {*here, *there}
            if any(not here.get(output) or not there.get(output) for output in outputs):
                return math.inf
            logs = [math.log(here[output] / there[output]) for output in outputs]
            losses = [losses[0] + max(logs), losses[1] - min(logs)]
    return max(losses)


# ---- the loss from draws ---------------------------------------------------------------------------------------------


def lower_bound(first: Mechanism, second: Mechanism, times: int, ends: Mapping[str, tuple[float, float]]) -> float:
    """An epsilon below which the mechanism surely is not, from so many releases of both tables; `ends` of numbers."""
    tables = [mechanism.tables(2 * times) for mechanism in (first, second)]
    one, two = _counted(tables, ends)
    learn, judge = slice(0, times), slice(times, 2 * times)
    best = 0.0
    for here, there in ((one, two), (two, one)):
        # the likeliest event of the one table against the other, each value weighing by how much likelier it is
        weight = np.log((here[learn].mean(axis=0) + 1 / times) / (there[learn].mean(axis=0) + 1 / times))
        scores = [table @ weight for table in (here, there)]
        limits = np.unique(np.quantile(np.concatenate([score[learn] for score in scores]), np.linspace(0, 1, 101)))
        promising = max(
            limits, key=lambda limit: _surely(*(int((score[learn] >= limit - 1e-9).sum()) for score in scores), times)
        )
        best = max(best, _surely(*(int((score[judge] >= promising - 1e-9).sum()) for score in scores), times))
    return best


def _surely(often: int, seldom: int, times: int) -> float:
    """Logarithm of the least ratio of two chances, as far as so many happenings of each tell (Clopper-Pearson)."""
    if not often:
        return 0.0
    low = float(beta.ppf(_DOUBT / 4, often, times - often + 1))
    high = 1.0 if seldom == times else float(beta.ppf(1 - _DOUBT / 4, seldom + 1, times - seldom))
    return math.log(low / high)


def _counted(tables: Sequence[Any], ends: Mapping[str, tuple[float, float]]) -> list[NDArray[np.float64]]:
    """How often each value stands in each release; numbers at their bounds, and between them in ten bins."""
    counted: list[list[NDArray[np.float64]]] = [[], []]
    for (names, values, codes), (_, others, other_codes) in zip(*tables, strict=True):
        spelled = [[_bin(value, ends.get(names[0])) for value in listed] for listed in (values, others)]
        place = {label: i for i, label in enumerate(dict.fromkeys([*spelled[0], *spelled[1]]))}
        for part, labels, drawn in zip(counted, spelled, (codes, other_codes), strict=True):
            at = np.array([place[label] for label in labels])[drawn]
            flat = at + np.arange(len(at))[:, None] * len(place)
            size = len(at) * len(place)
            part.append(np.bincount(flat.ravel(), minlength=size).reshape(len(at), len(place)).astype(np.float64))
    return [np.concatenate(part, axis=1) for part in counted]


def _bin(value: Any, ends: tuple[float, float] | None) -> str:
    if ends is None or value in ends:
        return str(value)
    return f"bin {int(10 * (value - ends[0]) / (ends[1] - ends[0]))}"


# ---- functions that give no record back, so that each draw is a call of its own --------------------------------------


def bound_by_score(draws: Sequence[Sequence[float]]) -> float:
    """An epsilon below which a mechanism surely is not, from as many scores of releases of one table and its neighbour.

    The first half of the draws chooses the limit that tells the tables best apart, the other half counts.
    """
    scores = [np.asarray(side, dtype=np.float64) for side in draws]
    times = len(scores[0]) // 2
    limits = np.unique(np.quantile(np.concatenate([side[:times] for side in scores]), np.linspace(0, 1, 101)))
    best = 0.0
    for here, there in (scores, scores[::-1]):
        for sign in (1, -1):

            def happened(limit: float, half: slice, pair: Any = (sign * here, sign * there)) -> tuple[int, int]:
                first, second = (int((side[half] >= limit - 1e-9).sum()) for side in pair)
                return first, second

            learn, judge = slice(0, times), slice(times, 2 * times)
            chosen = max(sign * limits, key=lambda limit: _surely(*happened(limit, learn), times))
            best = max(best, _surely(*happened(float(chosen), judge), times))
    return best
