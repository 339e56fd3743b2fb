"""Ayala-Rivera et al. 2017: the score of a hierarchy (GSL) against what anonymizing with it loses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments import tables
from experiments.gsl import correlate, report, sets, times
from experiments.gsl.columns import columns
from keepsense.hierarchies.degraded_hierarchies import PERTURBATIONS, Perturbation, make_test_bed
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet

SEED = 2017
BEDS: dict[str, tuple[Perturbation, ...]] = {"all perturbations": PERTURBATIONS, "ancestors replaced": ("ancestors",)}
PAPER_BED = "all perturbations"
"""What the paper says that it did to its ideal hierarchies."""
DRAWS = 2_000
Drawn = dict[tuple[str, str, str, str, str], list[NDArray[np.float64]]]


def run(results: Path) -> None:
    """Anonymize every column with every hierarchy of two test beds, then sets, clusters and times."""
    wup = distance("wu-palmer", wordnet(), convention="depth")
    lch = distance("leacock-chodorow", wordnet())
    rows: list[dict[str, Any]] = []
    drawn: Drawn = {}
    beds: dict[str, dict[str, list[Hierarchy]]] = {title: {} for title in BEDS}
    example: list[dict[str, Any]] = []
    clusters: list[dict[str, Any]] = []
    rng = np.random.default_rng(SEED)
    for column in columns():
        for title, kinds in BEDS.items():
            bed = make_test_bed(column.ideal(), wup, wanted=100, kinds=kinds, rng=SEED)
            beds[title][column.label] = bed
            for one in correlate.runs(column, title, bed, wup, lch):
                found = {
                    (pair, reading): one.drawn(pair, reading, rng)
                    for pair in correlate.PAIRS
                    for reading in correlate.READINGS
                }
                rows.append(one.row(found))
                for (pair, reading), figures in found.items():
                    key = (title, one.algorithm, one.suppression, pair, reading)
                    drawn.setdefault(key, []).extend([figures] if len(figures) else [])
                if (column.label, title, one.algorithm) == ("I3", PAPER_BED, "Datafly") and not example:
                    judged, losses = one.judged[correlate.PAIRS[0]], one.losses[correlate.PAIRS[0]].mean(axis=0)
                    example = [{"GSL": float(g), "SSE": float(s)} for g, s in zip(judged, losses, strict=True)]
            if title == PAPER_BED and column.label in ("H01", "H46"):
                clusters += sets.one_column(column, bed, wup)
        print(f"  {column.title}: {len(column.counts)} values", flush=True)
    four = [row for title in BEDS for row in sets.four_columns(title, insured(beds[title]), wup, lch)]
    print("  four columns", flush=True)
    timed = list(times.compare("location", beds[PAPER_BED]["H01"], wup))
    summary = list(summarized(drawn, rng))
    for name, table in (
        ("correlations", rows), ("summary", summary), ("four_columns", four), ("clusters", clusters), ("times", timed),
    ):  # fmt: skip
        tables.write(results / f"{name}.csv", table)
    _plots(results, rows, example, clusters, timed)
    (results / "README.md").write_text(report.page(results), encoding="utf-8")


def insured(beds: Mapping[str, list[Hierarchy]]) -> dict[str, list[Hierarchy]]:
    """Test beds of the four insurance columns by name."""
    labels = {"occupation": "I3", "placeOfWork": "I4", "activity": "I5", "placeOfActivity": "I6"}
    return {name: beds[label] for name, label in labels.items()}


def summarized(drawn: Drawn, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Coefficients over columns: least, most and mean, and an interval of the mean (columns, too, are drawn again)."""
    for (bed, algorithm, suppression, pair, reading), columns_drawn in drawn.items():
        table = np.stack(columns_drawn)
        which = rng.integers(len(table), size=(DRAWS, len(table)))
        again = rng.integers(1, table.shape[1], size=which.shape)
        low, high = np.quantile(np.nanmean(table[which, again], axis=1), (0.025, 0.975))
        yield {
            "test bed": bed,
            "algorithm": algorithm,
            "suppression": suppression,
            "pair": pair,
            "reading": reading,
            "columns": len(table),
            "least": round(float(table[:, 0].min()), 4),
            "most": round(float(table[:, 0].max()), 4),
            "mean": round(float(table[:, 0].mean()), 4),
            "low": round(float(low), 4),
            "high": round(float(high), 4),
        }


def _chart(values: Sequence[dict[str, Any]]) -> Any:
    import altair as alt

    return alt.Chart({"values": list(values)})


def _plots(results: Path, rows: Any, example: Any, clusters: Any, timed: Any) -> None:
    import altair as alt

    shown = [
        {**row, "Spearman": row[f"SSE~GSL-WuP {reading}"], "reading": reading}
        for row in rows
        for reading in correlate.READINGS
        if row["suppression"] == correlate.SUPPRESSION[0] and row[f"SSE~GSL-WuP {reading}"] is not None
    ]
    bars = (
        _chart(shown)
        .mark_bar()
        .encode(
            x=alt.X("label:N", title="column", sort=None),
            xOffset="test bed:N",
            y=alt.Y("Spearman:Q", title="Spearman, SSE with GSL-WuP", scale=alt.Scale(domain=[-0.2, 1])),
            color=alt.Color("test bed:N", title=None, legend=alt.Legend(orient="bottom")),
            row=alt.Row("algorithm:N", title=None),
            column=alt.Column("reading:N", title=None, sort=list(correlate.READINGS)),
        )
    )
    bars.properties(width=360, height=160).save(results / "correlations.svg")
    points = (
        _chart(example)
        .mark_circle(size=30)
        .encode(x=alt.X("GSL:Q", title="GSL-WuP of the hierarchy"), y=alt.Y("SSE:Q", title="SSE, mean over k"))
    )
    points.properties(width=360, height=240, title="Insurance occupation, Datafly").save(results / "example.svg")
    lines = _chart(clusters).mark_line(point=True).encode(
        x=alt.X("GSL:Q", title="GSL-WuP"), y=alt.Y("Rand:Q", title="Rand index, k = 10"),
        color=alt.Color("algorithm:N", title=None), column=alt.Column("column:N", title=None),
    )  # fmt: skip
    lines.properties(width=240, height=180).save(results / "clusters.svg")
    long = [
        {"candidates": row["candidates"], "algorithm": row["algorithm"], "way": way, "seconds": row[f"{way} seconds"]}
        for row in timed
        if row["k"] == 10
        for way in ("APES", "TAS")
    ]
    curves = (
        _chart(long)
        .mark_line(point=True)
        .encode(
            x="candidates:Q",
            y="seconds:Q",
            color=alt.Color("way:N", title=None),
            column=alt.Column("algorithm:N", title=None),
        )
    )
    curves.properties(width=240, height=180).save(results / "times.svg")
