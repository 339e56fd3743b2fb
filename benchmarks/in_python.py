"""Methods that no project file can name, on the table of `scale-methods`: what a program does with them.

`benchmarks.methods` calls `work` in a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from keepsense.arrays import Ints
from keepsense.counts import Counts, Value

DOMAINS: dict[str, list[Value]] = {
    "age": list(range(121)),
    "sex": ["female", "male"],
    "region": [str(figure) for figure in range(10)],
    "decade": list(range(13)),
    "shift": ["early", "day", "late", "night"],
}
"""What five of the ten columns can hold at all, in 125,840 combinations; others have too many."""
LINED_UP, RANKED = ("age", "decade"), ("postcode", "region")
"""Columns of numbers, and of figures that are texts."""
STREAMED = ("occupation", "workplace", "hobby")
BATCH = 1_000
"""Records that come at once."""


def work(method: str, folder: str) -> None:
    """Do what a program does with a method, from the table to a file."""
    IN_PYTHON[method](Path(folder))


def noisy_histogram(folder: Path) -> None:
    """Count five columns, and write records made from counts with noise."""
    from keepsense.methods.perturb.dp_numbers import noisy_histogram
    from keepsense.methods.perturb.privacy_budget import Budget

    counts = _counted(folder / "people.parquet", list(DOMAINS))
    released = noisy_histogram(counts, list(DOMAINS), domains=DOMAINS, epsilon=1.0, budget=Budget(1.0))
    of_records = released.codes.repeat(released.weights, axis=0)
    columns = {name: (released.values[j], of_records[:, j]) for j, name in enumerate(released.names)}
    _write(columns, folder / "histogram.parquet")


def noise_on_streams(folder: Path) -> None:
    """Learn from the table what three columns of words are like, then protect its records as if they came anew."""
    import duckdb

    from keepsense.methods.perturb.noise_on_streams import noise_on_streams
    from keepsense.semantics.attribute import nominal
    from keepsense.taxonomy.embedded_taxonomies import wordnet

    file = folder / "known.parquet"
    counts = _counted(file, STREAMED)
    columns = [nominal(counts, name, wordnet(), over="domain") for name in STREAMED]
    streams = noise_on_streams(counts, columns, alpha=0.3, rng=1)
    rows = duckdb.execute(f"SELECT {', '.join(STREAMED)} FROM '{file}'")
    with (folder / "stream.csv").open("w", encoding="utf-8") as out:
        while batch := rows.fetchmany(BATCH):
            protected = (
                streams[name].protect(cells) for name, cells in zip(STREAMED, zip(*batch, strict=True), strict=True)
            )
            out.writelines(";".join(map(str, row)) + "\n" for row in zip(*protected, strict=True))


def along_a_score(folder: Path) -> None:
    """Count four columns, and write groups of five neighbours along their first principal component."""
    from keepsense.methods.microaggregate.microaggregation_along_a_score import microaggregation_along_a_score
    from keepsense.semantics.attribute import Ordered

    counts = _counted(folder / "people.parquet", (*LINED_UP, *RANKED))
    columns = [Ordered.of(counts, name) for name in LINED_UP]
    columns += [Ordered.of(counts, name, levels=sorted(map(str, counts.values_of(name)))) for name in RANKED]
    cells = microaggregation_along_a_score(counts, columns, k=5)
    of_records = cells.codes.repeat(cells.multiplicity, axis=0)
    _write({name: (cells.values[j], of_records[:, j]) for j, name in enumerate(cells.names)}, folder / "score.parquet")


def _counted(file: Path, names: Sequence[str]) -> Counts:
    from keepsense.engines.duckdb.engine import DuckDBEngine

    with DuckDBEngine() as engine:
        return engine.count(engine.read(file), names)


def _write(columns: Mapping[str, tuple[Sequence[Value], Ints]], file: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    arrays = {name: pa.DictionaryArray.from_arrays(codes, list(values)) for name, (values, codes) in columns.items()}
    pyarrow.parquet.write_table(pa.table(arrays), file)


IN_PYTHON: dict[str, Callable[[Path], None]] = {
    "microaggregation along a score": along_a_score,
    "noisy histogram": noisy_histogram,
    "noise on streams": noise_on_streams,
}
