"""Rodríguez-García 2017, Chapter 7: semantic rank swapping and noise addition on hospital encounters."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

from experiments.thesis import data, report
from experiments.thesis.measure import Row, columns_of, features, noises, swaps

SEEDS = 5


def run(results: Path) -> None:
    """Swap and distort samples of the size the thesis used (five seeds each) and all encounters (one seed)."""
    about: list[Row] = []
    swapped: list[Row] = []
    noisy: list[Row] = []
    for kind, samples, over, measure, rows in (
        ("swapping", data.swapping(), "attribute", swaps, swapped),
        ("noise", data.noise(), "domain", noises, noisy),
    ):
        for sample in samples:
            about.append({"for": kind, **features(sample, columns_of(sample, over), over)})
            rows += measure(sample, 1 if sample.name.startswith("all") else SEEDS)
            print(f"  {kind}: {sample.name}, {sample.counts.total:,} rows", flush=True)
    for name, table in (("data", about), ("swapping", swapped), ("noise", noisy)):
        _write(results / f"{name}.csv", table)
    report.write(results)


def _write(path: Path, table: Sequence[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(table[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(table)
