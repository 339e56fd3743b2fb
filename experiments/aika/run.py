"""Ayala-Rivera et al. (AIKA): do the four aspects of a hierarchy tell what the anonymized data will be like?"""

from __future__ import annotations

import csv
import time
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from experiments.gsl.columns import Column, columns
from experiments.gsl.correlate import SUPPRESSION, anonymized
from experiments.gsl.losses import Losses
from keepsense.counts import Counts
from keepsense.hierarchies import Hierarchy, candidates, evaluate, make_test_bed, weight_sets
from keepsense.hierarchies.judge import ASPECTS
from keepsense.privacy import record_linkage
from keepsense.semantics import Distance, distance
from keepsense.taxonomy.embedded import wordnet
from keepsense.utility import average_class_size, gen_iloss

KS = (2, 5, 10, 25, 50, 100)
NOTES = Path(__file__).parent / "notes.md"
SEED = 2016
SOURCES = ("constructor", "constructor, outliers not grouped", "ancestors replaced")
OUTCOMES = ("SSE", "disclosure risk", "GenILoss", "CAVG")
"""What each aspect should foretell, in the order of the aspects."""


def run(results: Path) -> None:
    """Construct, evaluate and anonymize with 100 candidates of every column, and with hierarchies that differ less."""
    wup = distance("wu-palmer", wordnet(), convention="depth")
    _warm_up(wup)
    rows: list[dict[str, Any]] = []
    seconds: list[dict[str, Any]] = []
    for column in columns():
        counts = list(column.counts.values())
        start = time.perf_counter()
        made = candidates(
            list(column.counts), wordnet(), counts, senses=column.senses, distance=wup, name=column.name, rng=SEED
        )
        constructed = time.perf_counter() - start
        bed = make_test_bed(column.ideal(), wup, kinds=["ancestors"], rng=SEED)
        ungrouped = [hierarchy for hierarchy in made if "outliers" not in str(hierarchy.info["made"])]
        for source, hierarchies in zip(SOURCES, (made, ungrouped, bed), strict=True):
            start = time.perf_counter()
            judged = [evaluate(hierarchies, wup, counts, k) for k in KS]
            evaluated = (time.perf_counter() - start) / len(KS)
            if source == SOURCES[0]:
                seconds.append(
                    {
                        "data": column.data,
                        "column": column.name,
                        "values": len(column.counts),
                        "candidates": len(made),
                        "constructor seconds": round(constructed, 4),
                        "evaluator seconds": round(evaluated, 4),
                    }
                )
            for suppression in SUPPRESSION:
                outcomes = [_outcomes(column, hierarchies, k, wup, suppress=suppression != "none") for k in KS]
                rows += _correlations(column, source, suppression, judged, outcomes)
        print(f"  {column.title}: {len(made)} candidates", flush=True)
    _write(results / "correlations.csv", rows)
    _write(results / "times.csv", seconds)
    summary = _summary(rows)
    _write(results / "summary.csv", summary)
    _plot(results, summary)
    (results / "README.md").write_text(_report(summary, seconds), encoding="utf-8")


def _warm_up(wup: Distance) -> None:
    """Load the index of WordNet's names and compiled loops before anything is timed."""
    made = candidates(["nurse", "pilot", "clerk"], wordnet(), [3, 2, 1], distance=wup, wanted=10, rng=1)
    evaluate(made, wup, [3, 2, 1], 2)


def _outcomes(
    column: Column, made: Sequence[Hierarchy], k: int, wup: Distance, *, suppress: bool
) -> NDArray[np.float64]:
    """The four measures of the table anonymized by Datafly with each candidate."""
    counts = Counts.of({column.name: list(column.counts)}, weights=list(column.counts.values()))
    found = np.empty((len(made), len(OUTCOMES)))
    for i, hierarchy in enumerate(made):
        used = {column.name: hierarchy}
        released = anonymized("Datafly", counts, used, k, None, suppress=suppress)
        losses = Losses(counts, used, wup)
        found[i] = (
            losses(released)[0],
            record_linkage(counts, released, losses.matrices(released)).risk,
            gen_iloss(counts, released, used),
            average_class_size(counts, released, k=k),
        )
    return found


def _correlations(
    column: Column, source: str, suppression: str, judged: Sequence[Any], outcomes: Sequence[NDArray[np.float64]]
) -> list[dict[str, Any]]:
    """For each aspect and weight of it: correlation of ranking and measure, on average over k and weight sets."""
    rows = []
    for a, (aspect, outcome) in enumerate(zip(ASPECTS, OUTCOMES, strict=True)):
        for weight in (0.0, 0.25, 0.5, 0.75, 1.0):
            found = []
            for table, measured in zip(judged, outcomes, strict=True):
                if np.ptp(table.scores[:, a]) < 1e-9 or np.ptp(measured[:, a]) < 1e-9:
                    continue  # nothing to foretell, or nothing to foretell it by
                rewards = table.rewards
                for weights in weight_sets():
                    if weights[a] == weight:
                        values = rewards @ np.array(weights)
                        if np.ptp(values) > 1e-9:
                            found.append(float(spearmanr(-values, measured[:, a])[0]))
            rows.append(
                {
                    "data": column.data,
                    "column": column.name,
                    "label": column.label,
                    "hierarchies": source,
                    "suppression": suppression,
                    "aspect": aspect,
                    "measure": outcome,
                    "weight": weight,
                    "Spearman": round(float(np.mean(found)), 4) if found else None,
                    "cases": len(found),
                }
            )
    return rows


def _summary(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    found = []
    for source, suppression in product(SOURCES, SUPPRESSION):
        for (aspect, outcome), weight in product(zip(ASPECTS, OUTCOMES, strict=True), (0.0, 0.25, 0.5, 0.75, 1.0)):
            key = (source, suppression, aspect, weight)
            here = [
                row["Spearman"]
                for row in rows
                if (row["hierarchies"], row["suppression"], row["aspect"], row["weight"]) == key
                and row["Spearman"] is not None
            ]
            if here:
                found.append(
                    {
                        "hierarchies": source,
                        "suppression": suppression,
                        "aspect": aspect,
                        "measure": outcome,
                        "weight": weight,
                        "mean Spearman": round(float(np.mean(here)), 4),
                        "standard deviation": round(float(np.std(here)), 4),
                        "least": round(min(here), 4),
                        "most": round(max(here), 4),
                        "columns": len(here),
                        "columns of at least 0.60": sum(value >= 0.6 for value in here),
                    }
                )
    return found


def _write(path: Path, table: Sequence[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)


def _plot(results: Path, summary: Sequence[dict[str, Any]]) -> None:
    import altair as alt

    shown = [
        {**row, "what": f"{row['aspect']} and {row['measure']}", "runs": f"{row['hierarchies']}, {row['suppression']}"}
        for row in summary
    ]
    chart = alt.Chart({"values": shown}).mark_line(point=True)
    lines = chart.encode(
        x=alt.X("weight:Q", title="weight of the aspect"),
        y=alt.Y("mean Spearman:Q", scale=alt.Scale(domain=[-0.6, 1])),
        color=alt.Color("what:N", title=None, legend=alt.Legend(orient="bottom", columns=2, labelLimit=300)),
        facet=alt.Facet("runs:N", columns=2, title=None),
    )
    lines.properties(width=300, height=200).save(results / "correlations.svg")


def _report(summary: Sequence[dict[str, Any]], seconds: Sequence[dict[str, Any]]) -> str:
    lines = ["# AIKA: what came out", "", "Made by `python -m experiments run aika`; the paper's figures beside ours."]
    lines += [
        "",
        "Rank correlation of the hierarchies' ranking with a measure of the data anonymized by Datafly (k 2 to 100),",
        "by the weight of the aspect, mean over columns. The paper: at least 0.60 for all at weights of 75% and 100%.",
        "",
        "| hierarchies | suppression | aspect | measure | 0% | 25% | 50% | 75% | 100% | columns of 0.60 or more |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for source, suppression in product(SOURCES, SUPPRESSION):
        for aspect, outcome in zip(ASPECTS, OUTCOMES, strict=True):
            key = (source, suppression, aspect)
            here = [row for row in summary if (row["hierarchies"], row["suppression"], row["aspect"]) == key]
            if here:
                means = {row["weight"]: f"{row['mean Spearman']:.2f}" for row in here}
                cells = " | ".join(means.get(weight, "-") for weight in (0.0, 0.25, 0.5, 0.75, 1.0))
                strong = f"{here[-1]['columns of at least 0.60']} of {here[-1]['columns']}"
                lines.append(f"| {source} | {suppression} | {aspect} | {outcome} | {cells} | {strong} |")
    built = [row["constructor seconds"] for row in seconds]
    judged = [row["evaluator seconds"] for row in seconds]
    lines += [
        "",
        "![correlations](correlations.svg)",
        "",
        *NOTES.read_text(encoding="utf-8").splitlines(),
        "",
        "## Time a column (100 candidates)",
        "",
        f"Constructor: {np.mean(built):.3f} s on average, {max(built):.3f} s at most (paper: 2.73 s).",
        f"Evaluator: {np.mean(judged):.3f} s on average, {max(judged):.3f} s at most (paper: 21.64 s).",
        "",
    ]
    return "\n".join(lines)
