"""A taxonomy the size of SNOMED CT: how long it takes to load and how much memory it needs."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks._registry import Figure, benchmark, best_of, peak_of
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_arrays

CONCEPTS, LINKS = 350_000, 600_000
_ALONE = """
import numpy as np
from keepsense.taxonomy.taxonomy import Taxonomy
t = Taxonomy.load({path!r})
print(t.depth.sum(), t.parents.indices.sum(), t.children.indices.sum())
print(len(t.subsumers(len(t) - 1)), t.label("concept 7"))
"""


def synthetic(concepts: int = CONCEPTS, links: int = LINKS, seed: int = 3) -> Taxonomy:
    """A random is-a graph with SNOMED CT's size, several parents and about its depth."""
    rng = np.random.default_rng(seed)
    child = np.arange(1, concepts)
    # A parent at a random fraction of one's own number, skewed low, gives a depth of a few dozen levels.
    parent = (child * rng.random(concepts - 1) ** 0.5).astype(np.int64)
    more = rng.integers(1, concepts, links - len(child))
    other = (more * rng.random(len(more)) ** 0.5).astype(np.int64)
    names = [[f"concept {i}", f"synonym of concept {i}"] for i in range(concepts)]
    ids = [str(100_000_000 + 7 * i) for i in range(concepts)]
    return from_arrays(ids, names, np.concatenate([child, more]), np.concatenate([parent, other]), name="synthetic")


@benchmark("taxonomy-load")
def load() -> Iterator[Figure]:
    """Load a 350,000-concept file: seconds, in units of reading the file's bytes, and memory."""
    taxonomy = synthetic()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "large.taxonomy"
        taxonomy.save(path)
        seconds = best_of(lambda: Taxonomy.load(path), clock=time.process_time)
        unit = best_of(lambda: np.fromfile(path, dtype=np.uint8).sum(), clock=time.process_time)
        yield Figure(
            "load-350,000-concepts",
            seconds,
            "CPU s",
            f"reading and summing the file's {path.stat().st_size / 1e6:.0f} MB",
            seconds / unit,
            "< 0.5 s",
            seconds < 0.5,
        )
        peak, _ = peak_of(_ALONE.format(path=str(path)))
        bare, _ = peak_of("import numpy")
        yield Figure(
            "memory-350,000-concepts", peak, "MB", f"a bare NumPy ({bare:.0f} MB)", peak / bare, "< 300 MB", peak < 300
        )
