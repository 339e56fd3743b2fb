"""Blocks of similar records: what swapping and microaggregation lose when a table is cut, and what that saves."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks._registry import Figure, benchmark

METHODS = ("microaggregation of records", "adaptive microaggregation", "rank swapping of tuples")
PARTS = (4, 16, 64)
K = 5
COLUMNS: dict[str, Any] = {
    "age": {"role": "quasi-identifier", "kind": "numeric"},
    "postcode": {"role": "quasi-identifier", "kind": "numeric"},
    "occupation": {"role": "quasi-identifier", "taxonomy": "wordnet", "domain": "person"},
    "hobby": {"role": "quasi-identifier", "taxonomy": "wordnet"},
}


@benchmark("blocks")
def blocks() -> Iterator[Figure]:
    """Sample people by age, postcode, occupation and hobby, k = 5: whole, and in blocks of a 4th, 16th and 64th."""
    rows = int(os.environ.get("KEEPSENSE_ROWS", 10_000))
    for method in METHODS:
        whole, tuples, seconds = _made(method, rows, None)
        short = method.replace(" ", "-")
        for parts in PARTS:
            loss, _, faster = _made(method, rows, tuples // parts)
            against = f"the whole table ({whole:.4f})"
            most = 1.1 if parts == PARTS[0] else None
            bar = "reported" if most is None else f"at most {most}"
            holds = None if most is None else loss <= most * whole
            yield Figure(f"blocks-{short}-{parts}-loss", loss, "mean distance", against, loss / whole, bar, holds)
            against = f"the whole table ({seconds:.2f} s)"
            yield Figure(f"blocks-{short}-{parts}-processor", faster, "s", against, faster / seconds, "reported", None)


def _made(method: str, rows: int, block: int | None) -> tuple[float, int, float]:
    """How far released records lie from the truth on average, distinct records, and processor seconds."""
    from keepsense.engines import engine
    from keepsense.project.file import Project
    from keepsense.random import generator
    from keepsense.release.figures.measure import mean_distance_from_truth
    from keepsense.release.job.job import Job
    from keepsense.sample import people

    parameters = {"k": K} | ({} if block is None else {"block": block})
    project = Project.model_validate(
        {
            "unlisted": "drop",
            "columns": COLUMNS,
            "privacy": [{"model": "linkage risk", "threshold": 0.9}],
            "method": {"name": method, "parameters": parameters},
        }
    )
    with engine() as running, tempfile.TemporaryDirectory() as folder:
        job = Job(project, Path(folder), running, generator(1), people(rows, 1))
        tuples = len(job.counts)
        job.attributes(job.counts)
        start = time.process_time()
        rules = job.method.run(job, project.method.parameters)
        seconds = time.process_time() - start
        return float(mean_distance_from_truth(job, rules) or 0.0), tuples, seconds
