"""Keepsense's methods on the same job, called the same way: `python -m experiments.peers.ours METHOD JOB`."""

from __future__ import annotations

import csv
import json
import sys
import time
from pathlib import Path
from typing import Any

from keepsense import __version__
from keepsense.counts import Counts, Value
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import method
from keepsense.privacy.k_anonymity import KAnonymity


def hierarchies(folder: Path, names: list[str]) -> dict[str, Hierarchy]:
    """The job's hierarchies, one file a column."""
    found = {}
    for name in names:
        with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            found[name] = Hierarchy.of_rows(list(csv.reader(file, delimiter=";")), name=name)
    return found


def main(name: str, folder: Path) -> None:
    """Read, anonymize, write; counting and deciding and recoding are timed."""
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    names = job["quasi_identifiers"]
    with (folder / "table.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    trees = hierarchies(folder, names)
    columns: dict[str, list[Value]] = {column: [row[column] for row in rows] for column in names}
    function: Any = method(name).function
    options = {"suppression": job["suppression"]} if name == "optimal" else {}
    function(
        Counts.of({c: values[:50] for c, values in columns.items()}), trees, [KAnonymity(2)], **options
    )  # compiled
    start = time.process_time()
    counts = Counts.of(columns)
    recoding = function(counts, trees, [KAnonymity(job["k"])], **options)
    after = recoding.apply(counts)
    seconds = time.process_time() - start
    kept = [
        (tuple(after.values[j][c] for j, c in enumerate(row)), int(n))
        for row, n in zip(after.codes.tolist(), after.weights.tolist(), strict=True)
    ]
    with (folder / "released.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for released, times in kept:
            writer.writerows([released] * times)
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    peak = int(status.partition("VmHWM:")[2].split()[0]) / 1024  # getrusage would tell the parent's, too
    done = {"seconds": round(seconds, 3), "memory": round(peak), "version": __version__}
    (folder / "done.json").write_text(json.dumps(done), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
