"""Ayala-Rivera et al. (AIKA): do the four aspects of a hierarchy tell what the anonymized data will be like?"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from experiments import tables
from experiments.aika import report
from experiments.aika.mixes import BOUNDARIES, POOLS, READINGS, Judged, foretold, heavy, judged, mixed, pools, shares
from experiments.gsl.columns import Column, columns
from experiments.gsl.correlate import SUPPRESSION, structure
from experiments.tables import Row
from keepsense.hierarchies.degraded_hierarchies import make_test_bed
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_candidates import candidates
from keepsense.hierarchies.hierarchy_scores import ASPECTS, evaluate
from keepsense.semantics.distance import Distance, distance
from keepsense.taxonomy.embedded_taxonomies import wordnet

SEED = 2016
OUTCOMES = report.OUTCOMES
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)


def run(results: Path) -> None:
    """Judge and anonymize with candidates of every column for every k, then search the mixes the text allows."""
    wup = distance("wu-palmer", wordnet(), convention="depth")
    _warm_up(wup)
    rows: list[Row] = []
    seconds: list[Row] = []
    found: dict[tuple[Any, ...], list[list[float | None]]] = {}
    for column in columns():
        made, timed = _constructed(column, wup)
        seconds.append(timed)
        bed = make_test_bed(column.ideal(), wup, kinds=["ancestors"], rng=SEED)
        ungrouped = [hierarchy for hierarchy in made if "outliers" not in str(hierarchy.info["made"])]
        for source, hierarchies in zip(report.SOURCES, (made, ungrouped, bed), strict=True):
            rows += _correlations(column, source, judged(column, hierarchies, wup))
        for key, figures in _search(column, wup):
            found.setdefault(key, []).append(figures)
        print(f"  {column.title}: {len(made)} candidates, {timed['duplicates']} of them twice", flush=True)
    summary, mixes = list(_summary(rows)), list(_mixes(found))
    for name, table in (("correlations", rows), ("times", seconds), ("summary", summary), ("mixes", mixes)):
        tables.write(results / f"{name}.csv", table)
    report.plot(results, summary)
    (results / "README.md").write_text(report.page(results), encoding="utf-8")


def _warm_up(wup: Distance) -> None:
    """Load the index of WordNet's names and compiled loops before anything is timed."""
    made = candidates(["nurse", "pilot", "clerk"], wordnet(), [3, 2, 1], distance=wup, wanted=10, rng=1)
    evaluate(made, wup, [3, 2, 1], 2)


def _constructed(column: Column, wup: Distance) -> tuple[list[Hierarchy], Row]:
    """The constructor's candidates, and the seconds of constructor and evaluator."""
    counts = list(column.counts.values())
    start = time.perf_counter()
    made = candidates(
        list(column.counts), wordnet(), counts, senses=column.senses, distance=wup, name=column.name, rng=SEED
    )
    constructed = time.perf_counter() - start
    start = time.perf_counter()
    evaluate(made, wup, counts, 10)
    return made, {
        "data": column.data,
        "column": column.name,
        "values": len(column.counts),
        "candidates": len(made),
        "duplicates": len(made) - len({structure(hierarchy) for hierarchy in made}),
        "constructor seconds": round(constructed, 4),
        "evaluator seconds": round(time.perf_counter() - start, 4),
    }


def _correlations(column: Column, source: str, here: Judged) -> Iterator[Row]:
    """For each aspect and weight of it: correlation of ranking and measure, on average over k and weight sets."""
    for suppression, reading in product(SUPPRESSION, READINGS):
        figures = foretold(here, suppression, reading)
        for (a, aspect), weight in product(enumerate(ASPECTS), WEIGHTS):
            figure = figures.get((a, weight))
            yield {
                "data": column.data,
                "column": column.name,
                "label": column.label,
                "hierarchies": source,
                "suppression": suppression,
                "reading": reading,
                "aspect": aspect,
                "measure": OUTCOMES[a],
                "weight": weight,
                "Spearman": None if figure is None else round(figure, 4),
            }


def _summary(rows: Sequence[Row]) -> Iterator[Row]:
    kinds = ("hierarchies", "suppression", "reading", "aspect", "measure", "weight")
    groups: dict[tuple[Any, ...], list[float]] = {}
    for row in rows:
        here = groups.setdefault(tuple(row[kind] for kind in kinds), [])
        if row["Spearman"] is not None:
            here.append(row["Spearman"])
    for key, figures in groups.items():
        if figures:
            yield {
                **dict(zip(kinds, key, strict=True)),
                "mean Spearman": round(float(np.mean(figures)), 4),
                "standard deviation": round(float(np.std(figures)), 4),
                "least": round(min(figures), 4),
                "most": round(max(figures), 4),
                "columns": len(figures),
                "columns of at least 0.60": sum(figure >= 0.6 for figure in figures),
            }


def _search(column: Column, wup: Distance) -> Iterator[tuple[tuple[Any, ...], list[float | None]]]:
    """Every mix of the pools in quarters, by every boundary, rule of suppression and reading."""
    same: dict[str, Judged] = {}
    for boundary in BOUNDARIES:
        made = pools(column, wup, boundary, SEED)
        for name in POOLS[:2]:  # these know no boundary
            if name not in same:
                same[name] = judged(column, made[name], wup)
        parts = {**same, **{name: judged(column, made[name], wup) for name in POOLS[2:] if made[name]}}
        for share in shares():
            if boundary != BOUNDARIES[0] and not any(share[2:]):
                continue  # without facets it is the same mix
            here = mixed(parts, share)
            if here is not None:
                for suppression, reading in product(SUPPRESSION, READINGS):
                    yield (boundary, share, suppression, reading), heavy(here, suppression, reading)


def _mixes(found: dict[tuple[Any, ...], list[list[float | None]]]) -> Iterator[Row]:
    """Means over columns of the four coefficients of every mix."""
    for (boundary, share, suppression, reading), columns_figures in found.items():
        means: list[float | None] = []
        for figures in zip(*columns_figures, strict=True):
            known = [figure for figure in figures if figure is not None]
            means.append(round(float(np.mean(known)), 4) if known else None)
        yield {
            **dict(zip(POOLS, share, strict=True)),
            "boundary": boundary if any(share[2:]) else None,
            "suppression": suppression,
            "reading": reading,
            "columns": len(columns_figures),
            **{f"{aspect}~{measure}": mean for aspect, measure, mean in zip(ASPECTS, OUTCOMES, means, strict=True)},
            "of at least 0.60": sum(mean is not None and mean >= 0.6 for mean in means),
            "least": None if None in means else min(mean for mean in means if mean is not None),
        }
