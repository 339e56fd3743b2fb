"""What the experiment found as a page and a picture, with the paper's claim beside it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from experiments import tables
from experiments.aika.mixes import BOUNDARIES, ENOUGH, POOLS, READINGS, shares
from experiments.gsl.correlate import SUPPRESSION
from experiments.tables import Row
from keepsense.hierarchies.hierarchy_scores import ASPECTS

SOURCES = ("constructor", "constructor, outliers not grouped", "ancestors replaced")
OUTCOMES = ("SSE", "disclosure risk", "GenILoss", "CAVG")
"""What each aspect should foretell, in the order of the aspects."""
PAIRS = tuple(f"{aspect}~{outcome}" for aspect, outcome in zip(ASPECTS, OUTCOMES, strict=True))


def plot(results: Path, summary: Sequence[Row]) -> None:
    """Mean coefficient over the weight of the aspect, a panel for each kind of candidates and suppression."""
    import altair as alt

    shown = [
        {**row, "what": f"{row['aspect']} and {row['measure']}", "runs": f"{row['hierarchies']}, {row['suppression']}"}
        for row in summary
        if row["reading"] == READINGS[0]
    ]
    chart = alt.Chart({"values": shown}).mark_line(point=True)
    lines = chart.encode(
        x=alt.X("weight:Q", title="weight of the aspect"),
        y=alt.Y("mean Spearman:Q", scale=alt.Scale(domain=[-0.6, 1])),
        color=alt.Color("what:N", title=None, legend=alt.Legend(orient="bottom", columns=2, labelLimit=300)),
        facet=alt.Facet("runs:N", columns=2, title=None),
    )
    lines.properties(width=300, height=200).save(results / "correlations.svg")


def page(results: Path) -> str:
    """The page, from the result files."""
    return text(*(tables.read(results / f"{name}.csv") for name in ("summary", "mixes", "times")))


def text(summary: Sequence[Row], mixes: Sequence[Row], seconds: Sequence[Row]) -> str:
    """The page."""
    lines = [
        "# AIKA: what came out",
        "",
        "Made by `python -m experiments run aika`; the paper's figures beside ours. k takes all values from 2 to 100.",
        "",
        "Rank correlation of the hierarchies' ranking with a measure of the data anonymized by Datafly, by the",
        "weight of",
        "the aspect, mean over columns; *per k* a coefficient for every k, averaged, *averaged first* one",
        "coefficient of",
        "the measure's mean over k. The paper: at least 0.60 for all at weights of 75% and 100%.",
        "",
        "| hierarchies | suppression | reading | aspect | measure | 0% | 25% | 50% | 75% | 100% | columns of 0.60 |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for source, suppression, reading in product(SOURCES, SUPPRESSION, READINGS):
        for aspect, outcome in zip(ASPECTS, OUTCOMES, strict=True):
            key = (source, suppression, reading, aspect)
            names = ("hierarchies", "suppression", "reading", "aspect")
            here = [row for row in summary if tuple(row[name] for name in names) == key]
            if here:
                means = {row["weight"]: f"{row['mean Spearman']:.2f}" for row in here}
                cells = " | ".join(means.get(weight, "-") for weight in (0.0, 0.25, 0.5, 0.75, 1.0))
                strong = f"{here[-1]['columns of at least 0.60']} of {here[-1]['columns']}"
                lines.append(f"| {source} | {suppression} | {reading} | {aspect} | {outcome} | {cells} | {strong} |")
    return tables.filled(
        [*lines, "", "![correlations](correlations.svg)", "", *_mixed(mixes), "", *_times(seconds), ""]
    )


def _mixed(mixes: Sequence[Row]) -> list[str]:
    """What the search over mixes found."""
    counts = [sum(row["of at least 0.60"] == number for row in mixes) for number in (4, 3, 2, 1, 0)]
    order = sorted(mixes, key=lambda row: (-row["of at least 0.60"], -(-1.0 if row["least"] is None else row["least"])))
    best = max((row for row in mixes if row["least"] is not None), key=lambda row: row["least"])
    verdict = (
        f"**{counts[0]} of {len(mixes)} reach {ENOUGH:.2f} in all four**"
        if counts[0]
        else f"**None of {len(mixes)} reaches {ENOUGH:.2f} in all four**"
    )
    return [
        "## Which mixes reach the paper's claim",
        "",
        "The text names the adjustments and that about 100 candidates a column serve all k; it tells neither how many",
        "come from each, nor the boundary of facets, nor what Datafly may suppress. So four pools were made for every",
        f"column ({', '.join(POOLS)}), 100 candidates at most in each, all with abstractness reduced, and every way",
        "to share",
        f"them in quarters ({len(shares())}) was judged, with facets within {', '.join(map(str, BOUNDARIES))}, both",
        "rules of",
        "suppression and both readings. Figures are means over columns where the aspect has 75% or 100% of the weight;",
        "a dash where no candidates differ in the aspect or the measure.",
        "",
        f"{verdict}; {counts[1]} reach it in three, {counts[2]} in two, {counts[3]} in one and {counts[4]} in none. "
        "The mix "
        f"whose least coefficient is highest has {', '.join(f'{best[pair]:.2f}' for pair in PAIRS)}.",
        "",
        "Each adjustment alone (at most k records suppressed, per k), and the mixes that come nearest:",
        "",
        f"| {' | '.join(POOLS)} | boundary | suppression | reading | {' | '.join(PAIRS)} |",
        "|" + "---|" * (len(POOLS) + 3 + len(PAIRS)),
        *[_line(row) for row in mixes if _alone(row)],
        *[_line(row) for row in order[:8]],
        "",
        "- An aspect foretells its measure only where the candidates differ in it: facets change what ancestors",
        "  mean and",
        "  leave the tree as it is, levels and groups change the tree.",
        "- Grouping outliers raises the loss of a few values (and so GSL) in order to reach k lower down, where",
        "  all others",
        "  lose less: it makes real loss lower and the score worse, and pulls the two apart wherever it is used.",
        "- Where hierarchies differ in their ancestors alone, semantic quality foretells the SSE (first table).",
        "  That set is not the constructor's; it was added after early results, to see what is at fault.",
        "- Columns without a value rarer than k (Insurance activity, and Adult occupation with k records",
        "  suppressed) are",
        "  left out: nothing changes there.",
    ]


def _alone(row: Row) -> bool:
    return (
        max(row[name] for name in POOLS) == 1.0
        and (row["suppression"], row["reading"]) == (SUPPRESSION[0], READINGS[0])
        and row["boundary"] in (None, BOUNDARIES[0])
    )


def _line(row: Row) -> str:
    cells = [f"{row[name]:.0%}" for name in POOLS]
    cells += [str(row["boundary"] or "-"), row["suppression"], row["reading"]]
    cells += ["-" if row[pair] is None else f"{row[pair]:.2f}" for pair in PAIRS]
    return "| " + " | ".join(cells) + " |"


def _times(seconds: Sequence[Row]) -> list[str]:
    built = [row["constructor seconds"] for row in seconds]
    judged = [row["evaluator seconds"] for row in seconds]
    same = max(seconds, key=lambda row: row["duplicates"])
    return [
        "## Time a column (100 candidates)",
        "",
        f"Constructor: {np.mean(built):.3f} s on average, {max(built):.3f} s at most (paper: 2.73 s).",
        f"Evaluator: {np.mean(judged):.3f} s on average, {max(judged):.3f} s at most (paper: 21.64 s).",
        "Seconds of one run on one core. Duplicates by the paper's rule (the same nodes linked alike) among the",
        f"constructor's candidates: {sum(row['duplicates'] for row in seconds)} of "
        f"{sum(row['candidates'] for row in seconds):,} in all, {same['duplicates']} at most in one column "
        f"({same['data']} {same['column']}). They differ in the levels at which short branches stand, which",
        "changes what is released, so they were kept.",
    ]
