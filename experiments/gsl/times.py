"""Choosing before anonymizing against anonymizing with every candidate: seconds (Sec. 6.2, Fig. 10, 12 and 14)."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Any

from experiments.gsl.columns import data_folder
from experiments.gsl.correlate import anonymized
from experiments.gsl.losses import Losses
from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_choice import Steps, a_posteriori, a_priori
from keepsense.methods.generalize.objective import semantic_tables
from keepsense.recoding import Cuts
from keepsense.semantics.distance import Distance

SIZES = (10, 25, 50, 75, 100)


def compare(
    name: str, bed: Sequence[Hierarchy], wup: Distance, ks: Sequence[int] = (2, 10, 100)
) -> Iterator[dict[str, Any]]:
    """Both ways with growing numbers of candidates and with several k, on the homicides since 2001."""
    for algorithm in ("Datafly", "Incognito"):
        for size in SIZES:
            yield _compared(name, algorithm, bed[:size], wup, 10)
        for k in ks:
            if k != 10:
                yield _compared(name, algorithm, bed, wup, k)


def _compared(name: str, algorithm: str, bed: Sequence[Hierarchy], wup: Distance, k: int) -> dict[str, Any]:
    steps = _steps(name, algorithm, wup, k)
    before = a_priori({name: bed}, steps, wup)
    after = a_posteriori([{name: hierarchy} for hierarchy in bed], steps)
    return {
        "algorithm": algorithm,
        "k": k,
        "candidates": len(bed),
        "APES seconds": round(before.times.total, 4),
        "of it scoring": round(before.times.scoring, 4),
        "TAS seconds": round(after.times.total, 4),
        "time saved": round(1 - before.times.total / after.times.total, 4),
        "SSE by APES": round(before.loss or 0.0, 2),
        "SSE by TAS": round(after.loss or 0.0, 2),
        "reading": round(after.times.reading, 4),
        "anonymizing by TAS": round(after.times.anonymizing, 4),
        "writing by TAS": round(after.times.writing, 4),
        "measuring by TAS": round(after.times.measuring, 4),
    }


def _steps(name: str, algorithm: str, wup: Distance, k: int) -> Steps:
    """Read the file, anonymize its column, write the released column as CSV, measure the SSE."""
    path = data_folder() / "chicago_homicide" / "homicide.csv"
    rows: list[str] = []
    used: dict[str, Hierarchy] = {}

    def read() -> Counts:
        with path.open(encoding="utf-8", newline="") as file:
            rows[:] = [row["Location Description"] for row in csv.DictReader(file)]
        return Counts.of({name: rows})

    def anonymize(counts: Counts, chosen: Any) -> tuple[Counts, Cuts]:
        used.clear()
        used.update(chosen)
        tables = semantic_tables(used, {name: wup}) if algorithm == "Incognito" else None
        return counts, anonymized(algorithm, counts, used, k, tables)

    def write(result: tuple[Counts, Cuts]) -> None:
        counts, released = result
        cells = released.cells(counts)
        label = {counts.values_of(name)[int(counts.codes[t, 0])]: i for i, t in enumerate(cells.source.tolist())}
        values = [cells.values[0][int(cells.codes[label[value], 0])] for value in rows]
        csv.writer(io.StringIO()).writerows([value] for value in values)

    def loss(result: tuple[Counts, Cuts]) -> float:
        return Losses(result[0], used, wup)(result[1])[0]

    return Steps(anonymize, loss, read, write)
