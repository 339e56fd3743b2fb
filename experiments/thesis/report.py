"""Plots like Fig. 7-1 to 7-6, and a page with the thesis' figures beside ours, from the result files."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from experiments import tables
from experiments.thesis import paper
from experiments.thesis.differs import differences
from experiments.thesis.measure import ALPHAS, KS, Row

ABOUT = """\
Made by `python -m experiments run thesis`. The thesis used patient discharges of California (2009) mapped to SNOMED CT,
which is licensed; these are encounters of diabetic patients in 130 US hospitals with ICD-9-CM diagnoses (17,727
concepts, at most 6 levels) and medical specialties (a small taxonomy of our own, `specialties.csv`). Samples have the
thesis' sizes. Its correlated samples are imitated by keeping pairs of values that occur so many times more often than
by chance (lift) and often enough; rows with a missing value are left out, which leaves 101,388 of 101,766 encounters
with two diagnoses and 51,793 with a diagnosis and a specialty.
For a deep taxonomy stand two pairs of columns of an insurance table in WordNet, both shown; their thresholds were
chosen by how correlated the rows are (for jobs one lower threshold was run too, once). Distances are Wu-Palmer
(Eq. 4.6). Averages over five seeds for samples (two in
WordNet), one run for all encounters; there, k takes three values, and the distance correlation after noise is that of
10,000 rows drawn at random, because noise brings in too many new values for all pairs. `groups` and `groups of tuples`
are the strict swaps, which the thesis does not have. SRS-1 keeps equal values together, as the thesis has tied values
stand side by side. Noise draws among equally near concepts; *first of ties* takes the first of the taxonomy in place,
*leaves* only concepts with nothing below."""


def write(results: Path) -> None:
    """Draw and write everything from data.csv, swapping.csv and noise.csv."""
    _plot(results, "swapping", tables.read(results / "swapping.csv"), "k", KS)
    _plot(results, "noise", tables.read(results / "noise.csv"), "alpha", ALPHAS)
    (results / "README.md").write_text(page(results), encoding="utf-8")


def page(results: Path) -> str:
    """The page, from the result files."""
    return _page(*(tables.read(results / f"{name}.csv") for name in ("data", "swapping", "noise")))


def _plot(results: Path, name: str, rows: Sequence[Row], parameter: str, values: Sequence[float]) -> None:
    """Error and distance correlation over the parameter, one panel for each data set."""
    import altair as alt

    shown = []
    for row in rows:
        # A baseline has no parameter: it is drawn as a level line.
        for value in (row[parameter],) if row[parameter] else values:
            kept = {key: row[key] for key in ("data", "method", "RMSE a", "sdCor")}
            shown.append({**kept, parameter: value})
    panels = list(dict.fromkeys(row["data"] for row in rows))
    for title, metric, file in (
        ("RMSE, first attribute", "RMSE a", "rmse"),
        ("distance correlation", "sdCor", "sdcor"),
    ):
        scale = alt.Scale(type="log" if parameter == "k" else "linear")
        lines = (
            alt.Chart({"values": shown})
            .mark_line(point=True)
            .encode(
                x=alt.X(f"{parameter}:Q", scale=scale, axis=alt.Axis(values=list(values))),
                y=alt.Y(f"{metric}:Q", title=title),
                color=alt.Color("method:N", title=None, legend=alt.Legend(orient="bottom", columns=4)),
            )
            .properties(width=220, height=160)
            .facet(alt.Facet("data:N", title=None, sort=panels), columns=3)
        )
        lines.save(results / f"{name}_{file}.svg")


def _page(about: Sequence[Row], swapped: Sequence[Row], noisy: Sequence[Row]) -> str:
    lines = ["# Semantic rank swapping and noise: Rodríguez-García 2017, Chapter 7", "", ABOUT, ""]
    lines += ["## What agrees with the thesis", "", *_verdicts(swapped, noisy), ""]
    lines += ["## What differs, and why", "", *differences(about, swapped, noisy), ""]
    lines += [
        "## Data (Tables 7.1, 7.6, 7.11)",
        "",
        "| for | data | selection | rows | values | sMean | sVar | sdVar | sdCor | thesis |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in about:
        lines.append(
            f"| {row['for']} | {row['data']} | {row['selection']} | {row['rows']:,.0f} "
            f"| {row['values a']:.0f}, {row['values b']:.0f} | {row['sMean a']}; {row['sMean b']} "
            f"| {row['sVar a']}, {row['sVar b']} | {row['sdVar a']}, {row['sdVar b']} | {row['sdCor']} "
            f"| {paper.FEATURES.get(row['data'], '')} |"
        )
    lines += ["", "## Swapping (Tables 7.2 to 7.5, Fig. 7-1 to 7-3)", ""]
    lines += ["![error](swapping_rmse.svg)", "", "![correlation](swapping_sdcor.svg)", ""]
    lines += _tables(swapped, "k", KS, paper.SWAPPING, ("RMSE a", "RMSE b", "sdCor", "unchanged a"))
    lines += ["## Noise (Tables 7.7 to 7.13, Fig. 7-4 to 7-6)", ""]
    lines += ["![error](noise_rmse.svg)", "", "![correlation](noise_sdcor.svg)", ""]
    metrics = (
        "RMSE a", "target RMSE a", "RMSE b", "sdCor", "mean moved a", "mean moved b", "sVar a", "sVar expected a",
        "sVar off a",
    )  # fmt: skip
    lines += _tables(noisy, "alpha", ALPHAS, paper.NOISE, metrics)
    return "\n".join(lines).rstrip() + "\n"


def _tables(
    rows: Sequence[Row], parameter: str, values: Sequence[Any], printed: dict[str, Any], metrics: Sequence[str]
) -> list[str]:
    """One table for each data set; a row of the thesis follows ours where it has one."""
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        head = " | ".join(f"{parameter} = {v:g}" for v in values)
        lines += [f"### {name}", "", f"| metric | method | {head} |", "|---|---|" + "---|" * len(values)]
        mine = [row for row in rows if row["data"] == name]
        for metric in metrics:
            for method in dict.fromkeys(row["method"] for row in mine):
                found = {row[parameter]: row[metric] for row in mine if row["method"] == method}
                cells = [_number(found.get(v, found.get(0))) for v in values]
                if any(cells):
                    lines.append(f"| {metric} | {method} | {' | '.join(cells)} |")
                theirs = printed.get(name, {}).get(method, {}).get(metric)
                if theirs:
                    lines.append(f"| {metric} | *{method}, thesis* | {' | '.join(f'*{x:g}*' for x in theirs)} |")
        lines.append("")
    return lines


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.4f}"


def _less(rows: Sequence[Row], parameter: str, less: str, more: str, metric: str) -> str:
    """How often one method has less of a metric than another, over all data sets and parameters."""
    by = {(row["data"], row["method"], row[parameter]): row[metric] for row in rows}
    pairs = [
        (figure, other)
        for (name, method, value), figure in by.items()
        for (same, rival, at), other in by.items()
        if (method, rival, name) == (less, more, same) and (value == at or not value or not at)
    ]
    return f"{sum(one < other for one, other in pairs)} of {len(pairs)}"


def _grows(rows: Sequence[Row], parameter: str, metric: str) -> str:
    """How often a metric does not fall from one parameter to the next."""
    held = tried = 0
    for name, method in dict.fromkeys((row["data"], row["method"]) for row in rows):
        series = [row[metric] for row in rows if (row["data"], row["method"]) == (name, method) and row[parameter]]
        steps = [a <= b for a, b in pairwise(series)]
        tried += len(steps)
        held += sum(steps)
    return f"{held} of {tried}"


def _verdicts(swapped: Sequence[Row], noisy: Sequence[Row]) -> list[str]:
    """Claims of the thesis, counted over all data sets and parameters."""
    still = max(max(row["sdVar change a"], row["sdVar change b"]) for row in swapped)
    moved = sum(row["mean moved a"] + row["mean moved b"] for row in swapped)

    def swap(less: str, more: str, metric: str) -> str:
        return _less(swapped, "k", less, more, metric)

    def noise(less: str, more: str, metric: str) -> str:
        return _less(noisy, "alpha", less, more, metric)

    clusters = [row for row in swapped if row["method"] in ("SRS-2", "SRS-3")]
    free, lost = "data swapping", "sdCor lost"
    naive, frequency = "naive distortion", "probabilistic distortion"
    apart, linked = "uncorrelated SNA-1", "correlated SNA-1"
    return [
        "Each figure counts data sets and parameters together; equal to four digits counts as not.",
        "",
        f"- Swapping keeps mean and distance variance: means moved {moved:g} times, greatest change {still:g}.",
        f"- The error of SRS-2 and SRS-3 grows with k: {_grows(clusters, 'k', 'RMSE a')} steps; that of noise with "
        f"alpha: {_grows(noisy, 'alpha', 'RMSE a')}.",
        f"- SRS-2 errs less than SRS-1: {swap('SRS-2', 'SRS-1', 'RMSE a')}; than SRS-3: "
        f"{swap('SRS-2', 'SRS-3', 'RMSE a')}.",
        f"- SRS-3 loses less distance correlation than SRS-2: {swap('SRS-3', 'SRS-2', lost)}; SRS-2 less than SRS-1: "
        f"{swap('SRS-2', 'SRS-1', lost)}.",
        f"- Against unconstrained swapping, SRS-1, SRS-2 and SRS-3 err less: {swap('SRS-1', free, 'RMSE a')}, "
        f"{swap('SRS-2', free, 'RMSE a')} and {swap('SRS-3', free, 'RMSE a')}; and lose less correlation: "
        f"{swap('SRS-1', free, lost)}, {swap('SRS-2', free, lost)} and {swap('SRS-3', free, lost)}.",
        f"- Correlated SNA-1 loses less correlation than uncorrelated: {noise(linked, apart, lost)}; SNA-2 less than "
        f"correlated SNA-1: {noise('correlated SNA-2', linked, lost)}.",
        f"- Semantic noise (uncorrelated) errs less than naive and probabilistic distortion: "
        f"{noise(apart, naive, 'RMSE a')} and {noise(apart, frequency, 'RMSE a')}; and loses less correlation: "
        f"{noise(apart, naive, lost)} and {noise(apart, frequency, lost)}. As in Table 7.10, probabilistic distortion "
        f"moves the mean less: {noise(frequency, apart, 'mean moved a')}.",
        f"- Only in part: SNA-3 loses less correlation than correlated SNA-1: "
        f"{noise('correlated SNA-3', linked, lost)} (see below).",
    ]
