"""Rodríguez-García 2017, Chapter 7: semantic rank swapping and noise addition on hospital encounters."""

from __future__ import annotations

from pathlib import Path

from experiments import tables
from experiments.thesis import data, report
from experiments.thesis.measure import Row, columns_of, features, noises, swaps

SEEDS = {"all": 1, "WordNet": 2}
"""Runs by the first word of a sample's name; five for the others."""


def run(results: Path) -> None:
    """Swap and distort samples of the size the thesis used (five seeds, WordNet two) and all encounters (one seed)."""
    about: list[Row] = []
    swapped: list[Row] = []
    noisy: list[Row] = []
    for kind, samples, over, measure, rows in (
        ("swapping", data.swapping(), "attribute", swaps, swapped),
        ("noise", data.noise(), "domain", noises, noisy),
    ):
        for sample in samples:
            about.append({"for": kind, **features(sample, columns_of(sample, over), over)})
            rows += measure(sample, SEEDS.get(sample.name.partition(",")[0], 5))
            print(f"  {kind}: {sample.name}, {sample.counts.total:,} rows", flush=True)
    for name, table in (("data", about), ("swapping", swapped), ("noise", noisy)):
        tables.write(results / f"{name}.csv", table)
    report.write(results)
