"""Generalization step by step, by division and cell by cell; seconds become ratios to one sort of the Adult table.

The unit is one `np.unique(keys, return_inverse=True, return_counts=True)` over the packed tuples of the 30,162 rows of
Adult (9 quasi-identifiers). The lattice searches have a benchmark of their own.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks._registry import Figure, benchmark, best_of, missing
from keepsense.counts import Counts
from keepsense.hierarchies.formats.arx_csv import read_arx
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import method
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.utility.generalization_losses import loss

PEOPLE = 1_000_000
COLUMNS = ("sex", "age", "postcode", "place", "occupation", "workplace", "hobby", "diagnosis")


def adult() -> tuple[dict[str, list[str]], dict[str, Hierarchy]] | None:
    """Columns and hierarchies of Adult, or None where the data are not beside the checkout."""
    folder = Path(os.environ.get("KEEPSENSE_DATA") or "../shared/data")
    if not folder.is_absolute():
        folder = Path(__file__).resolve().parents[1] / folder
    if not (folder / "adult" / "adult.csv").exists():
        return None
    lines = [line.split(";") for line in (folder / "adult" / "adult.csv").read_text().splitlines()]
    columns = {name: [row[j] for row in lines[1:]] for j, name in enumerate(lines[0])}
    return columns, {n: read_arx(folder / "adult" / f"adult_hierarchy_{n}.csv").named(n) for n in columns}


def unit_of(counts: Counts) -> float:
    """Seconds of one sort of all rows' packed tuples."""
    key = np.zeros(len(counts), dtype=np.int64)
    for j, values in enumerate(counts.values):
        key = key * len(values) + counts.codes[:, j]
    rows = np.random.default_rng(0).permutation(np.repeat(key, counts.weights))
    return best_of(lambda: np.unique(rows, return_inverse=True, return_counts=True), 7)


@benchmark("generalize")
def generalize() -> Iterator[Figure]:
    """TR algorithms and cell recodings on Adult, k = 5."""
    found = adult()
    if found is None:
        yield missing("generalize", "Adult data", "the data folder beside the checkout")
        return
    columns, hierarchies = found
    counts = Counts.of(columns)
    rest = {name: column for name, column in columns.items() if name != "salary-class"}
    classes = Counts.of(rest, histograms={"salary-class": columns["salary-class"]})
    unit = unit_of(counts)
    target = {"target": "salary-class"}
    cases: list[tuple[str, str, Counts, dict[str, Any], float | None]] = [
        ("datafly", "datafly", counts, {}, 1.0),
        ("datafly-2%", "datafly", counts, {"suppression": 0.02}, 1.0),
        ("mu-argus", "mu-argus", counts, {}, None),
        ("mu-argus-strict", "mu-argus", counts, {"strict": True}, None),
        ("top-down", "top-down", counts, {}, 3.0),
        ("top-down-for-salary", "top-down", classes, target, 3.0),
        ("bottom-up", "bottom-up", counts, {}, 3.0),
        ("bottom-up-for-salary", "bottom-up", classes, target, 3.0),
        ("mondrian", "mondrian", counts, {"numbers": ["age"]}, None),
    ]
    for label, name, table, options, most in cases:
        yield from _timed(label, name, table, hierarchies, options, unit, None if most is None else most, None)
    yield from _timed("local-recoding", "local recoding", counts, hierarchies, {}, unit, 4.0, 0.0524)


def _timed(
    label: str, name: str, counts: Counts, hierarchies: dict[str, Hierarchy], options: dict[str, Any], unit: float,
    most: float | None, bar: float | None,
) -> Iterator[Figure]:  # fmt: skip
    function = method(name).function
    mine = {n: h for n, h in hierarchies.items() if n in counts.names and n not in options.get("numbers", ())}
    results: list[Any] = []
    run: Callable[[], None] = lambda: results.append(  # noqa: E731
        function(counts, mine, models=[KAnonymity(5)], **options)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mu-Argus says what it does not check
        run()
        seconds = best_of(run, 2)
    holds = None if most is None else seconds <= most
    shown = "reported" if most is None else f"at most {most:g} s"
    against = f"np.unique over Adult ({unit * 1e3:.1f} ms)"
    yield Figure(f"adult-{label}-seconds", seconds, "s", against, seconds / unit, shown, holds)
    if not options.get("numbers"):
        lost = loss(counts, results[-1], mine)
        good = None if bar is None else lost <= bar
        shown = "reported" if bar is None else f"at most {bar}"
        yield Figure(f"adult-{label}-loss", lost, "Loss", "0.0524, ARX at its finest", lost / 0.0524, shown, good)


@benchmark("mondrian")
def divided() -> Iterator[Figure]:
    """Median Mondrian on a million sample people, eight quasi-identifiers, k = 10; counting is timed apart.

    Words are ordered by their first letters: it is the division that is timed, not the meaning.
    """
    from keepsense.engines.duckdb.engine import DuckDBEngine
    from keepsense.sample_people import people

    table = people(PEOPLE, 1).select(list(COLUMNS))
    with DuckDBEngine() as engine:
        counts = engine.count(engine.read(table), list(COLUMNS))
    hierarchies = {}
    for name in COLUMNS:
        words = [str(v) for v in counts.values_of(name)]
        if name != "age":
            rows = [(v, w[:3], w[:2], w[:1], "*") for v, w in zip(counts.values_of(name), words, strict=True)]
            hierarchies[name] = Hierarchy.of_rows(rows, name=name)
    function = method("mondrian").function
    small = Counts.of({"age": [1, 2, 3]})
    function(small, {}, models=[KAnonymity(1)])
    keys = np.random.default_rng(0).permutation(PEOPLE)
    unit = best_of(lambda: np.unique(keys, return_inverse=True, return_counts=True))
    seconds = best_of(lambda: function(counts, hierarchies, models=[KAnonymity(10)], numbers=["age"]), 1)
    yield Figure(
        f"mondrian-{PEOPLE}-rows-{len(counts)}-tuples", seconds, "s", f"np.unique over as many keys ({unit:.2f} s)",
        seconds / unit, "under 10 s", seconds < 10,
    )  # fmt: skip
