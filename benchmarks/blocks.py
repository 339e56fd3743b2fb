"""Blocks of similar records: what swapping and microaggregation lose when a table is cut, and what that saves."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._registry import Figure, benchmark

METHODS: dict[str, dict[str, Any]] = {
    "microaggregation of records": {},
    "adaptive microaggregation": {},
    "rank swapping of tuples": {},
    "strict rank swapping": {"together": True},
    "rank swapping": {},
}
SETS = "set microaggregation"
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
    """Sample people by age, postcode, occupation and hobby, k = 5: whole, and in blocks of a 4th, 16th and 64th.

    Sets are the people's interests. Rank swapping of single columns is cut into parts of their words.
    """
    rows = int(os.environ.get("KEEPSENSE_ROWS", 10_000))
    for method in (*METHODS, SETS):
        made = _of_sets if method == SETS else partial(_made, method)
        whole, tuples, seconds = made(rows, None)
        short = method.replace(" ", "-")
        for parts in PARTS:
            loss, _, faster = made(rows, max(2, tuples // parts))
            against = f"the whole table ({whole:.4f})"
            most = 1.1 if parts == PARTS[0] else None
            bar = "reported" if most is None else f"at most {most}"
            holds = None if most is None else loss <= most * whole
            yield Figure(f"blocks-{short}-{parts}-loss", loss, "mean distance", against, loss / whole, bar, holds)
            against = f"the whole table ({seconds:.2f} s)"
            yield Figure(f"blocks-{short}-{parts}-processor", faster, "s", against, faster / seconds, "reported", None)


def _made(method: str, rows: int, block: int | None) -> tuple[float, int, float]:
    """How far released records lie from the truth on average, what is cut (distinct records), and processor seconds."""
    from keepsense.engines.protocol import engine
    from keepsense.project.project_file import Project
    from keepsense.release.figures.measure import mean_distance_from_truth
    from keepsense.release.job.job import Job
    from keepsense.sample_people import people
    from keepsense.secure_random import generator

    parameters = {"k": K, **METHODS[method]} | ({} if block is None else {"block": block})
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
        words = [len(job.counts.values_of(name)) for name, column in COLUMNS.items() if "taxonomy" in column]
        tuples = max(words) if job.method.cut(job.models, parameters) == "single columns" else len(job.counts)
        job.attributes(job.counts)
        start = time.process_time()
        rules = job.method.run(job, project.method.parameters)
        seconds = time.process_time() - start
        return float(mean_distance_from_truth(job, rules) or 0.0), tuples, seconds


def _of_sets(rows: int, block: int | None) -> tuple[float, int, float]:
    """The same of the people's interests: how far sets lie from that of their group, by their nearest items."""
    from keepsense.methods.sets.set_microaggregation import microaggregate_sets
    from keepsense.sample_people import people
    from keepsense.semantics.distance import distance
    from keepsense.sets.concept_sets import map_sets
    from keepsense.sets.item_sets import from_delimited
    from keepsense.sets.set_distance import SetSpace
    from keepsense.taxonomy.embedded_taxonomies import wordnet

    cells = people(rows, 1)["interests"].to_pylist()
    sets, judge = map_sets(from_delimited(cells, delimiter=";"), wordnet()), distance("feature", wordnet())
    distinct, _, which = sets.distinct
    start = time.process_time()
    release = microaggregate_sets(sets, judge, k=K, block=block, rng=1)
    seconds = time.process_time() - start
    space = SetSpace("minimum-sum", sets.distances(judge), distinct)
    away = sum(
        float(space.from_record(int(centre))[which[release.group == group]].sum())
        for group, centre in enumerate(release.centroids)
    )
    return away / len(sets), len(distinct), seconds
