"""What the experiment found as a page, with the paper's figures beside ours."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from experiments import tables
from experiments.gsl.correlate import PAIRS, READINGS, SUPPRESSION
from experiments.tables import Row

PAPER = {"SSE~GSL-WuP": "0.72 to 0.99, mean 0.93", "SemILoss~GSL-LCH": "0.77 to 0.96, mean 0.91"}
NEAREST = ("ancestors replaced", "Datafly", SUPPRESSION[0])
"""The runs that come nearest to the paper's figures."""


def page(results: Path) -> str:
    """The page, from the result files."""
    names = ("correlations", "summary", "four_columns", "clusters", "times")
    return text(*(tables.read(results / f"{name}.csv") for name in names))


def text(
    rows: Sequence[Row], summary: Sequence[Row], four: Sequence[Row], clusters: Sequence[Row], timed: Sequence[Row]
) -> str:
    """The page."""
    lines = [
        "# GSL: what came out",
        "",
        "Made by `python -m experiments run gsl`; the paper's figures stand beside ours. k takes all values from 2 to",
        "100.",
        "",
        "## One column: rank correlation of score and loss",
        "",
        "Least, most and mean Spearman coefficient over columns, and in brackets a bootstrap interval of the mean",
        "(95%; columns, and hierarchies within each, drawn again). *Per k*: a coefficient for every k, averaged.",
        "*Averaged first*: the loss averaged over k, one coefficient.",
        "",
        "| test bed | algorithm | suppression | SSE with GSL-WuP, per k | averaged first | SemILoss with GSL-LCH, per "
        "k | averaged first |",
        "|---|---|---|---|---|---|---|",
        f"| *the paper's* | *Datafly and Incognito* | - | | *{PAPER[PAIRS[0]]}* | | *{PAPER[PAIRS[1]]}* |",
    ]
    for way in dict.fromkeys((row["test bed"], row["algorithm"], row["suppression"]) for row in summary):
        cells = " | ".join(_cell(summary, way, pair, reading) for pair in PAIRS for reading in READINGS)
        lines.append(f"| {' | '.join(way)} | {cells} |")
    lines += ["", *_settings(rows, summary), ""]
    lines += [*_saved(rows), "", "![correlations](correlations.svg) ![example](example.svg)", ""]
    lines += [
        "## Four columns of the insurance data, mean over k",
        "",
        *_table(four, list(four[0])),
        "",
        *_four(four),
        "",
        "## Clusters of one column, k = 10",
        "",
        *_table(clusters, list(clusters[0])),
        "",
        "![clusters](clusters.svg)",
        "",
        "## Choosing before (APES) or by trying (TAS), reading counted once",
        "",
        *_table(timed, list(timed[0])[:9]),
        "",
        "The paper saves 54% (10 candidates) to 93% (100 candidates) of the time.",
        "",
        "![times](times.svg)",
        "",
    ]
    return tables.filled(lines)


def _found(summary: Sequence[Row], way: tuple[str, str, str], pair: str, reading: str) -> Row | None:
    key = (*way, pair, reading)
    names = ("test bed", "algorithm", "suppression", "pair", "reading")
    return next((row for row in summary if tuple(row[name] for name in names) == key), None)


def _cell(summary: Sequence[Row], way: tuple[str, str, str], pair: str, reading: str) -> str:
    row = _found(summary, way, pair, reading)
    if row is None:
        return "-"
    return (
        f"{row['least']:.2f} to {row['most']:.2f}, mean {row['mean']:.2f} [{row['low']:.2f}, {row['high']:.2f}] "
        f"({row['columns']} columns)"
    )


def _mean(summary: Sequence[Row], way: tuple[str, str, str], pair: str, reading: str) -> str:
    row = _found(summary, way, pair, reading)
    return "-" if row is None else f"{row['mean']:.2f}"


def _settings(rows: Sequence[Row], summary: Sequence[Row]) -> list[str]:
    """Which setting is the paper's as far as its text tells, and what the others show."""

    def both(way: tuple[str, str, str], reading: str) -> str:
        return " and ".join(_mean(summary, way, pair, reading) for pair in PAIRS)

    told = ("all perturbations", "Datafly", SUPPRESSION[0])
    other = ("all perturbations", "Incognito", "none")
    fled = ("ancestors replaced", "Incognito", "none")
    root = max(
        (row for row in rows if (row["test bed"], row["algorithm"], row["suppression"]) == fled),
        key=lambda row: row["runs at the root"],
    )
    per_k, first = READINGS
    return [
        "**Which setting is the paper's.** Its text tells: 100 hierarchies a column, made by removing levels,",
        "aggregating nodes in other groups and replacing ancestors within a boundary of similarity (*all",
        "perturbations*); semantic versions of Datafly and Incognito of the UTD toolbox; k from 2 to 100; uniform",
        'weights; and utility "across all the tested k-values", which with the means over k of its Fig. 6 and 7 reads',
        "as *averaged first*. It tells neither how strong each perturbation was and how often it was used, nor its",
        "boundary, nor how many records were suppressed. So told, ours comes to "
        f"{both(told, first)} (Datafly, at most k suppressed; per k {both(told, per_k)}) and {both(other, first)}",
        f"(Incognito without suppression; per k {both(other, per_k)}).",
        "",
        "**Where the paper's figures are reached.** "
        f"{both(NEAREST, first)} (paper 0.93 and 0.91) with Datafly, at most k suppressed, loss averaged first, where",
        "only inner ancestors were replaced: the root stays, strength 0 to 1, boundary 0.8 times the strength. Per k",
        f"the same runs give {both(NEAREST, per_k)}. Read it as an upper end: eleven recipes were tried in an earlier,",
        "coarser run, and this one, the best of them, was kept for that, as *all perturbations* was kept as one of the",
        "better mixtures. It shows that the paper's figures can be had, not that they were had this way.",
        "",
        "**What lowers the others.**",
        "",
        "- The score weighs all levels alike; an algorithm stops at the lowest level that holds k. Where levels are",
        "  removed and groups changed, candidates differ in which level that is, and the score does not see it.",
        "- Incognito without suppression may choose any level above: where ancestors are poor it flees to the root,",
        f"  which no perturbation touches. {root['runs at the root']:.0%} of the runs of {root['data']}",
        f"  {root['column']} end there.",
        _duplicates(rows),
        "- Insurance activity has no value with fewer than 200 rows: no k up to 100 changes anything, so there is",
        "  nothing to correlate. The same holds for Adult occupation when k records may be suppressed.",
        "- Homicide 1965-1995 stands on drawn rows (see `columns.py`), since only the study's labels are at hand.",
        "  A first draw by Zipf's law left several columns without any value rarer than k; the power law is steeper.",
        "- Changed after early results were seen: the senses of nine insurance values, and the rule by which a base",
        "  hierarchy picks among several parents.",
    ]


def _duplicates(rows: Sequence[Row]) -> str:
    """How many hierarchies of the test beds are the same by the rule of AIKA."""
    beds = {(row["data"], row["column"], row["test bed"]): row["duplicates"] for row in rows}
    any_ = {bed: number for bed, number in beds.items() if number}
    told = "; ".join(f"{number} of 100 in {' '.join(bed)}" for bed, number in any_.items())
    return (
        "- Duplicates by the rule of AIKA (the same nodes linked alike, Sec. 3.2 of that paper): "
        f"{told or 'none'} in {len(beds)} test beds. The candidates of its constructor are counted in "
        "`experiments/aika`."
    )


def _saved(rows: Sequence[Row]) -> list[str]:
    """What the best hierarchy saves over the worst, with suppression."""
    spans = []
    for pair in PAIRS:
        name = f"{pair} saved by best over worst"
        figures = [row[name] for row in rows if row["suppression"] == SUPPRESSION[0] and row[f"{pair} ks"]]
        spans.append(f"{min(figures):.0%} to {max(figures):.0%}")
    return [
        f"With at most k records suppressed, the best hierarchy instead of the worst saves {spans[0]} of the SSE",
        f"(paper: 22% to 99%) and {spans[1]} of the SemILoss (paper: 16% to 98%), on average over k.",
    ]


def _four(four: Sequence[Row]) -> list[str]:
    """Scores of the best, middle and worst set, and what the best saves."""
    lines = []
    for way in dict.fromkeys((row["test bed"], row["algorithm"], row["suppression"]) for row in four):
        mine = [row for row in four if (row["test bed"], row["algorithm"], row["suppression"]) == way]
        judged = " / ".join(f"{row['VghSetGSL']:.3f}" for row in mine)
        saved = " and ".join(
            f"{1 - mine[0][name] / mine[-1][name]:.0%} of the {name}" for name in ("SSE", "SemILoss (LCH)")
        )
        lines.append(f"- {', '.join(way)} suppressed: sets score {judged}; the best saves {saved} over the worst.")
    return [
        *lines,
        "",
        "The paper's sets of the same ranks score 0.049 / 0.203 / 0.440, and the best saves 29% to 57% of the SemILoss",
        "and 49% to 81% of the SSE over the worst (it counts its homicide data too). Its text has semantic",
        "versions of the",
        "algorithms; plain Datafly was added after the others had been seen. Only it saves as much as the paper",
        "tells; by",
        "SemILoss the semantic versions lose as much with the best set as with the worst, or more.",
    ]


def _table(rows: Sequence[Row], names: Sequence[str]) -> list[str]:
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    return lines + ["| " + " | ".join("-" if row[n] is None else str(row[n]) for n in names) + " |" for row in rows]
