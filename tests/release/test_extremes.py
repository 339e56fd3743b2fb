"""An extreme person leaves no trace in what is published, whichever method makes it."""

from __future__ import annotations

import csv
import inspect
import os
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.release.tables import project

from keepsense.hierarchies.intervals import parse_interval
from keepsense.methods.method import METHODS, methods
from keepsense.release.run import run
from keepsense.report.report import write_report

OLDEST, RICHEST, FIRST, LAST = "117", "9412377", "1909-04-13", "2031-08-27"
TRACES = (OLDEST, RICHEST, "9,412,377", "9412376", "9412378", "1909", "2031", "1900s", "2030s")
K = 5
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "kind": "numeric"},
    "pay": {"role": "quasi-identifier", "kind": "numeric"},
    "seen": {"role": "quasi-identifier", "kind": "date"},
    "illness": {"role": "target"},
    "score": {"role": "insensitive", "kind": "numeric"},
}
CHANGES = {
    "lsd mondrian": {"illness": {"role": "insensitive"}, "score": {"role": "target", "kind": "numeric"}},
}
PARAMETERS: dict[str, Any] = {
    "mu-argus": {"strict": True},
    "t-close microaggregation": {"t": 0.5, "sensitive": "illness"},
}
GENERALIZING = sorted(
    found.name
    for found in methods(in_projects=True)
    if found.truthful
    and found.sets != "only"
    and found.name not in ("semantic datafly", "semantic incognito")
    and "levels" not in found.needs
)
"""All that release numbers as ranges of their own: not those that swap or change values, nor those for words or sets
alone, nor what takes labels and levels that were declared before anybody looked at the table."""


def write_table(folder: Path, seed: int, extremes: tuple[str, str, str] = (OLDEST, RICHEST, FIRST)) -> None:
    rng = np.random.default_rng(seed)
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["age", "pay", "seen", "illness", "score"])
        for i in range(300):
            seen = f"20{rng.integers(10, 20)}-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}"
            pay = round(float(rng.lognormal(10.3, 0.5)))
            table.writerow([rng.integers(20, 61), pay, seen, ("flu", "cold")[i % 2], i % 9])
        table.writerow([*extremes, "flu", 3])
        table.writerow([41, 30_000, LAST, "flu", 3])


def published(folder: Path) -> dict[str, str]:
    """What lies in the release, other than in its private folder."""
    files = [path for path in folder.rglob("*") if path.is_file() and "private" not in path.parts]
    # so many records in so many classes are no ages, and digits of a digest neither
    counted = re.compile(r"\d+ in \d+ class|[0-9a-f]{64}")
    return {path.name: counted.sub("", path.read_text(encoding="utf-8")) for path in files}


@pytest.mark.parametrize("method", GENERALIZING)
@pytest.mark.parametrize("seed", [1, pytest.param(13, marks=pytest.mark.long)])
def test_the_oldest_and_the_richest_are_nowhere(tmp_path: Path, method: str, seed: int) -> None:
    write_table(tmp_path, seed)
    job = project(
        columns={**COLUMNS, **CHANGES.get(method, {})},
        privacy=[{"model": "k-anonymity", "k": K}],
        method={"name": method, "parameters": PARAMETERS.get(method, {})},
        release={"suppression": 0.1},
    )
    done = run(job, folder=tmp_path, rng=1)
    write_report(done, done.file.parent / "public.html", "public")
    texts = published(done.file.parent)
    assert {"people.csv", "release.json", "public.html"} <= set(texts)
    for name, text in texts.items():
        assert not [trace for trace in TRACES if re.search(rf"(?<![\d.]){trace}(?!\d)", text)], name
    with done.file.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    for column, most in (("age", 60), ("pay", 200_000)):
        ends = {parse_interval(row[column]) for row in rows if row[column] != "*"}
        assert None not in ends
        assert max((end for pair in ends if pair for end in pair if np.isfinite(end)), default=0) <= most


ALIKE = [method for method in GENERALIZING if method != "anytime"]
"""What anytime finds depends on the clock, too."""


def two_releases(folder: Path, method: str, tables: Sequence[Callable[[Path], None]], **keys: Any) -> list[Any]:
    """All that is published for each of some tables."""
    seen = []
    for number, write in enumerate(tables):
        place = folder / str(number)
        place.mkdir()
        write(place)
        job = project(
            columns={**COLUMNS, **CHANGES.get(method, {})},
            method={"name": method, "parameters": PARAMETERS.get(method, {})},
            **{"privacy": [{"model": "k-anonymity", "k": K}], "release": {"suppression": 0.1}, **keys},
        )
        done = run(job, folder=place, rng=1)
        write_report(done, done.file.parent / "public.html", "public")
        seen.append(published(done.file.parent))
    return seen


@pytest.mark.parametrize("method", ALIKE)
@pytest.mark.parametrize("seed", [2, pytest.param(3, marks=pytest.mark.long)])
def test_nobody_can_solve_for_the_extreme(tmp_path: Path, method: str, seed: int) -> None:
    """Two tables that differ only in one person's extremes are published alike, to the last digit."""
    pairs = ((OLDEST, RICHEST, FIRST), ("99", "5120034", "1932-11-02"))
    one, other = two_releases(tmp_path, method, [partial(write_table, seed=seed, extremes=pair) for pair in pairs])
    assert one == other


def write_few(folder: Path, seed: int, extremes: tuple[str, str, str]) -> None:
    """Eight people, of whom one is extreme."""
    rng = np.random.default_rng(seed)
    with (folder / "people.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["age", "pay", "seen", "illness", "score"])
        for i in range(7):
            seen = f"201{rng.integers(0, 10)}-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}"
            table.writerow([rng.integers(20, 61), rng.integers(200, 600) * 100, seen, ("flu", "cold")[i % 2], i % 3])
        table.writerow([*extremes, "flu", 1])


@pytest.mark.parametrize("method", ALIKE)
@pytest.mark.parametrize("seed", [1, 2, pytest.param(3, marks=pytest.mark.long)])
def test_an_extreme_among_few_leaves_no_trace(tmp_path: Path, method: str, seed: int) -> None:
    pairs = ((OLDEST, RICHEST, FIRST), ("104", "5120034", "1932-11-02"))
    keys = {"privacy": [{"model": "k-anonymity", "k": 2}], "release": {"suppression": 0.75}}
    one, other = two_releases(
        tmp_path, method, [partial(write_few, seed=seed, extremes=pair) for pair in pairs], **keys
    )
    assert one == other
    assert not [trace for text in one.values() for trace in TRACES if re.search(rf"(?<![\d.]){trace}(?!\d)", text)]


CHANGING = sorted(
    found.name
    for found in methods(in_projects=True)
    if not found.truthful and found.sets != "only" and not found.gives("differential privacy")
)
"""All that swap, redraw, distort or average values: under differential privacy bounds are declared."""
AVERAGING = ("microaggregation of records", "adaptive microaggregation", "t-close microaggregation")


def changed(folder: Path, method: str, extremes: tuple[str, str, str]) -> Any:
    folder.mkdir()
    write_table(folder, 1, extremes)
    promised = {p for p in ("k-anonymity", "probabilistic k-anonymity") if METHODS[method].gives(p)}
    model = {"model": min(promised), "k": K} if promised else {"model": "linkage risk", "threshold": 1.0}
    needs_k = not promised and "k" in inspect.signature(METHODS[method].function).parameters
    return run(
        project(
            columns=COLUMNS,
            privacy=[model],
            method={"name": method, "parameters": {**PARAMETERS.get(method, {}), **({"k": K} if needs_k else {})}},
        ),
        folder=folder,
        rng=1,
    )


@pytest.mark.filterwarnings("ignore:.* protects each column by itself:keepsense.errors.PrivacyWarning")
@pytest.mark.parametrize("method", CHANGING)
def test_an_extreme_that_can_be_read_from_changed_values_is_told(tmp_path: Path, method: str) -> None:
    """Swaps, draws and noise show it, means hide its digits but not its size: a warning says so, in numbers alone."""
    done = changed(tmp_path / "extreme", method, (OLDEST, RICHEST, FIRST))
    with done.file.open(encoding="utf-8", newline="") as file:
        highest = max(float(row["pay"]) for row in csv.DictReader(file))
    flagged = {finding.where: finding.message for finding in done.findings if finding.code == "W416"}
    assert ("pay" in flagged) == (highest > 1_000_000)
    assert highest > 1_000_000 or method == "post-randomization"  # which may redraw the one cell
    assert not [trace for text in flagged.values() for trace in TRACES if trace in text]
    if method in AVERAGING:
        texts = published(done.file.parent).values()
        assert not [trace for text in texts for trace in TRACES if re.search(rf"(?<![\d.]){trace}(?!\d)", text)]
    plain = changed(tmp_path / "plain", method, ("59", "41000", "2015-03-01"))
    assert "pay" not in {finding.where for finding in plain.findings if finding.code == "W416"}


def test_all_that_is_not_the_release_is_the_publishers_alone(tmp_path: Path) -> None:
    """Under a lax umask too; the ledger stays as open as somebody made it."""
    write_table(tmp_path, 3)
    job = project(columns=COLUMNS, privacy=[{"model": "k-anonymity", "k": K}], release={"suppression": 0.1})
    before = os.umask(0o002)
    try:
        done = run(job, folder=tmp_path, rng=1)
        modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
        (tmp_path / "ledger.jsonl").chmod(0o640)
        run(job, folder=tmp_path, rng=1)
    finally:
        os.umask(before)
    private = done.file.parent / "private"
    assert (modes["ledger.jsonl"], modes["private"]) == (0o600, 0o700)
    assert {path.stat().st_mode & 0o777 for path in private.rglob("*") if path.is_file()} == {0o600}
    assert (tmp_path / "ledger.jsonl").stat().st_mode & 0o777 == 0o640
