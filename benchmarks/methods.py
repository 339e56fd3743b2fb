"""Every method on many rows of ten quasi-identifiers, and the drafted default: what each takes, or why it refuses.

`python -m benchmarks run scale-methods --rows 1000000` runs every method in a process of its own, one after the other,
for ten minutes of a processor at most each; `KEEPSENSE_METHODS` names some of them, parted by commas. `scale-draft`
drafts a project for the sample people and runs it as it is.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._registry import Figure, as_toml, benchmark
from benchmarks.in_python import IN_PYTHON
from benchmarks.scale import QUASI_IDENTIFIERS, _part
from keepsense.taxonomy.taxonomy import Taxonomy

LIMIT = 600
"""Processor seconds that a method may take: other work on the machine does not count."""
AT_ONCE = 60
"""Processor seconds after which a refusal is none at once any more."""
DERIVED = ("region", "decade", "shift")
"""Columns beside those of the sample people: the postcode's first figure, the age's first figure, and four shifts."""
NAMES = (*QUASI_IDENTIFIERS, *DERIVED)
Columns = dict[str, dict[str, Any]]
KINDS = {"age": "numeric", "postcode": "code", "decade": "numeric"}
WORDS: Columns = {
    "occupation": {"taxonomy": "wordnet", "hierarchy": "auto"},
    "workplace": {"taxonomy": "wordnet", "hierarchy": "auto"},
    "hobby": {"taxonomy": "wordnet", "hierarchy": "auto"},
}
"""Columns whose words WordNet knows."""
ORDERED: Columns = {
    "sex": {"kind": "ordinal", "order": ["female", "male"]},
    "shift": {"kind": "ordinal", "order": ["early", "day", "late", "night"]},
    "postcode": {"kind": "numeric"},
    "region": {"kind": "numeric"},
}
"""Columns for methods that must know how far apart any two values are."""
NUMBERS: Columns = {name: {"kind": "numeric"} for name in ("age", "decade", "postcode", "region")}
BOUNDS = {"age": [0, 120], "decade": [0, 12], "postcode": [0, 99999], "region": [0, 9]}
GONE = {"role": "identifier"}
LINKAGE = {"model": "linkage risk", "threshold": 1.0}
"""A promise that any release keeps: what is measured is what it takes to carry out the attack."""
EPSILON = {"model": "differential privacy", "epsilon": 4.0}
PIECES = {"model": "k^m-anonymity of pieces", "k": 5, "m": 2, "column": "interests"}
LEVELS = {"sex": 0, "shift": 0}


@dataclass(frozen=True)
class Asked:
    """What a method needs beside the table: a promise of its own, parameters, other kinds, or fewer columns."""

    promise: dict[str, Any] = field(default_factory=lambda: {"model": "k-anonymity", "k": 5})
    parameters: dict[str, Any] = field(default_factory=dict)
    columns: Columns = field(default_factory=dict)
    only: tuple[str, ...] = NAMES
    source: str = "people.parquet"
    step: dict[str, Any] | None = None
    """How a project names it as a step before another method, which is Datafly here."""
    named: str = ""
    """The method by which a project names it, where that is another of which it is a part."""


KNOWN = "known.parquet"
"""The same table without misspelt words: these have no distance to others."""
NOT_PLACES = tuple(name for name in NAMES if name != "place")
TARGET: Columns = {"diagnosis": {"role": "target"}}
ASKED: dict[str, Asked] = {
    "global recoding": Asked(step={"columns": ["age"], "parameters": {"level": 1}}),
    "sampling": Asked(step={"parameters": {"share": 0.5}}),
    "top and bottom coding": Asked(step={"columns": ["age"], "parameters": {"bottom": 20, "top": 80}}),
    "post-randomization": Asked(LINKAGE, {"keep": 0.3}),
    "top-down sets": Asked(columns={"interests": {"taxonomy": "wordnet", "hierarchy": "auto"}}),
    "apriori sets": Asked({"model": "k^m-anonymity", "k": 5, "m": 2, "column": "interests"}),
    "disassociation": Asked(PIECES),
    "semantic disassociation": Asked(PIECES),
    "strict rank swapping": Asked({"model": "probabilistic k-anonymity", "k": 5}),
    "rank swapping": Asked(LINKAGE, {"k": 10}),
    "rank swapping of tuples": Asked(LINKAGE, {"k": 10}),
    "rank swapping by one ranking": Asked(LINKAGE, {"k": 10}),
    "rank swapping of numbers": Asked(LINKAGE, {"percent": 10}, NUMBERS, tuple(NUMBERS)),
    "noise": Asked(LINKAGE, {}, ORDERED, NOT_PLACES, KNOWN),
    "noise on sets": Asked(LINKAGE, {}, {"interests": {"taxonomy": "wordnet"}}, source=KNOWN, named="noise"),
    "correlated noise": Asked(LINKAGE, {}, ORDERED, NOT_PLACES, KNOWN),
    "noise on numbers": Asked(LINKAGE, {}, NUMBERS, tuple(NUMBERS)),
    "individual ranking": Asked(LINKAGE, {"k": 5}),
    "optimal univariate microaggregation": Asked(LINKAGE, {"k": 5}, NUMBERS, tuple(NUMBERS)),
    "t-close microaggregation": Asked(parameters={"t": 0.3, "sensitive": "diagnosis"}),
    "mu-argus": Asked(parameters={"strict": True}),
    "infogain mondrian": Asked(columns=TARGET),
    "lsd mondrian": Asked(columns={"decade": {"role": "target"}}),
    "differential privacy": Asked(EPSILON, {"bounds": BOUNDS}, ORDERED, NOT_PLACES, KNOWN),
    "semantic exponential mechanism": Asked(EPSILON, {}, {}, tuple(WORDS), KNOWN),
    "randomized response": Asked(EPSILON, {}, ORDERED, ("sex", "shift")),
    "noisy numbers": Asked(EPSILON, {"bounds": BOUNDS}, NUMBERS, tuple(NUMBERS)),
    "differentially private generalization": Asked(
        {"model": "approximate differential privacy", "epsilon": 2, "delta": 1e-6},
        {"levels": LEVELS},
        {name: {"hierarchy": f"{name}.csv"} for name in LEVELS},
        tuple(LEVELS),
    ),
}
"""Methods that cannot take all ten columns as they are under k-anonymity: what they are given in its place."""
SETS: Columns = dict.fromkeys(NAMES, GONE) | {
    "interests": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}
}


@dataclass(frozen=True)
class Outcome:
    """What a process took, how it ended, and what it said where it refused."""

    seconds: float
    processor: float
    memory: float
    code: int | None
    said: str


def keepsense(folder: Path, *arguments: str, limit: int = LIMIT) -> Outcome:
    """Run the command in a folder, for so many processor seconds; memory is the most that it held at once."""
    return _process("from keepsense.cli import main\nmain(sys.argv[1:])", arguments, folder, limit)


def in_python(method: str, folder: Path) -> Outcome:
    """Do what a program does with a method that no project file can name."""
    script = "from benchmarks.in_python import work\nwork(*sys.argv[1:])"
    return _process(script, [method, str(folder)], Path(__file__).parents[1], LIMIT)


def _process(work: str, arguments: Sequence[str], folder: Path, limit: int) -> Outcome:
    imported, call = work.splitlines()
    script = (
        f"import json, resource, sys\n{imported}\ncode = 0\n"
        f"resource.setrlimit(resource.RLIMIT_CPU, ({limit}, {limit} + 5))\n"
        f"try: {call}\nexcept SystemExit as end: code = end.code\n"
        "spent = resource.getrusage(resource.RUSAGE_SELF)\n"
        "status = open('/proc/self/status').read() if sys.platform == 'linux' else ''\n"
        "peak = int(status.partition('VmHWM:')[2].split()[0]) / 1024 if status else spent.ru_maxrss / 1024\n"
        "print('\\n' + json.dumps([code or 0, spent.ru_utime + spent.ru_stime, peak]))"
    )
    start = time.perf_counter()
    command = [sys.executable, "-c", script, *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode < 0:
        spent = time.perf_counter() - start
        return Outcome(spent, float(limit), float("nan"), None, f"stopped after {limit:,} processor seconds")
    lines = done.stdout.strip().splitlines()
    code, processor, memory = json.loads(lines[-1]) if lines else (done.returncode, float("nan"), float("nan"))
    said = next((line for line in done.stderr.splitlines() if line.startswith("keepsense: ")), "")
    return Outcome(time.perf_counter() - start, processor, memory, code, said.removeprefix("keepsense: "))


def write_table(folder: Path, rows: int) -> None:
    """Sample people with three more columns, ten quasi-identifiers in all."""
    import duckdb

    from keepsense.sample_people import write_people

    write_people(folder / "sample.parquet", rows, 1)
    derived = "left(postcode, 1) AS region, age // 10 AS decade, ['early', 'late', 'night', 'day'][1 + id % 4] AS shift"
    for name, values in (("sex", ("female", "male")), ("shift", ("early", "day", "late", "night"))):
        lines = [f"{value};*" for value in values]
        (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    query = f"SELECT *, {derived} FROM '{folder / 'sample.parquet'}'"
    duckdb.sql(f"COPY ({query}) TO '{folder / 'people.parquet'}' (FORMAT parquet)")
    _write_known(folder)


def _write_known(folder: Path) -> None:
    """The table with the first known word of a column in place of all that WordNet does not know, also in sets."""
    import duckdb

    from keepsense.taxonomy.embedded_taxonomies import wordnet

    names, mended = wordnet(), []
    for column in WORDS:
        mended.append(f"{_mended(names, folder, column, column)} AS {column}")
    items = "string_split(interests, ';')"
    mend = _mended(names, folder, f"trim(unnest({items}))", "trim(item)")
    mended.append(f"array_to_string(list_transform({items}, lambda item: {mend}), ';') AS interests")
    query = f"SELECT * REPLACE ({', '.join(mended)}) FROM '{folder / 'people.parquet'}'"
    duckdb.sql(f"COPY ({query}) TO '{folder / KNOWN}' (FORMAT parquet)")


def _mended(names: Taxonomy, folder: Path, values: str, value: str) -> str:
    """SQL that gives a value if WordNet knows it, else the first of all values that it knows."""
    import duckdb

    different = f"SELECT DISTINCT {values} FROM '{folder / 'people.parquet'}'"
    words = [str(row[0]) for row in duckdb.execute(different).fetchall()]
    known = sorted(word for word in words if len(names.senses_of(word)))
    unknown = ", ".join("'" + word.replace("'", "''") + "'" for word in set(words) - set(known)) or "''"
    return f"CASE WHEN {value} IN ({unknown}) THEN '{known[0]}' ELSE {value} END"


def project(method: str, sets: bool) -> dict[str, Any]:
    """A project for one method: all ten quasi-identifiers, or those it can take, or for methods of sets the sets."""
    asked = ASKED.get(method, Asked())
    columns: Columns = {name: {"role": "quasi-identifier", "kind": KINDS.get(name, "nominal")} for name in NAMES}
    columns |= {"id": GONE, "interests": GONE, "diagnosis": {"role": "sensitive"}}
    if "differential privacy" in asked.promise["model"]:
        columns["diagnosis"] = GONE
    columns = {name: settings | WORDS.get(name, {}) for name, settings in columns.items()} | (SETS if sets else {})
    columns = {name: settings | asked.columns.get(name, {}) for name, settings in columns.items()}
    columns |= {name: GONE for name in NAMES if name not in asked.only}
    before = [] if asked.step is None else [{"name": method, **asked.step}]
    return {
        "source": {"path": asked.source},
        "privacy": [asked.promise],
        "steps": before,
        "method": {"name": "datafly" if before else asked.named or method, "parameters": asked.parameters},
        "release": {"suppression": 0.05},
        "columns": columns,
    }


@benchmark("scale-methods")
def scale_methods() -> Iterator[Figure]:
    """Seconds and memory of every method at 10 quasi-identifiers; what cannot be done is refused at once."""
    from keepsense.methods.method import methods

    rows = int(os.environ.get("KEEPSENSE_ROWS", 1_000_000))
    some = os.environ.get("KEEPSENSE_METHODS")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_table(folder, rows)
        for entry in methods():
            if some and entry.name not in some.split(","):
                continue
            if entry.name in IN_PYTHON:
                outcome = in_python(entry.name, folder)
            else:
                file = folder / "keepsense.toml"
                file.write_text(as_toml(project(entry.name, entry.sets == "only")))
                outcome = keepsense(folder, "run", file.name, "-q", "--output", entry.name.replace(" ", "-"))
            label = f"scale-methods-{rows}-{entry.name.replace(' ', '-')}"
            yield from _figures(label, outcome)


def _figures(label: str, outcome: Outcome) -> Iterator[Figure]:
    ended = "released" if outcome.code == 0 else f"refused: {outcome.said}" if outcome.code in (1, 2) else outcome.said
    holds = outcome.code == 0 or (outcome.code in (1, 2) and outcome.processor < AT_ONCE)
    bar = f"at most {LIMIT} CPU s, or refused at once"
    yield Figure(label, outcome.processor, "CPU s", f"{LIMIT} s ({ended})", outcome.processor / LIMIT, bar, holds)
    yield Figure(f"{label}-clock", outcome.seconds, "s", "one machine", None, "reported", None)
    yield Figure(f"{label}-memory", outcome.memory, "MB", "one process", None, "reported", None)


@benchmark("scale-draft")
def scale_draft() -> Iterator[Figure]:
    """The drafted default with its set column, against bare DuckDB that groups and writes the same rows.

    The bar is 15 processor seconds for 1,000,000 rows where bare DuckDB takes 1.1: as they are, and as a ratio, which
    does not depend on who else uses the processor. Memory is that of the process that runs, under 6 GB at any size.
    """
    rows = int(os.environ.get("KEEPSENSE_ROWS", 1_000_000))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _part(name, "people", rows)
        bare = sum(_part(name, part, rows)["processor"] for part in ("group", "copy"))
        drafted = keepsense(folder, "init", "people.parquet", "-q", limit=6 * LIMIT)
        run = keepsense(folder, "run", "-q", limit=6 * LIMIT)
    label = f"scale-draft-{rows}"
    against = f"DuckDB's GROUP BY and shuffled COPY ({bare:.2f} CPU s)"
    if run.code != 0:
        yield Figure(label, None, "CPU s", f"{against}; {run.said}", None, "at most 13.6", False)
        return
    holds = run.processor <= 13.6 * bare
    yield Figure(label, run.processor, "CPU s", against, run.processor / bare, "at most 13.6", holds)
    allowed = 15 if rows == 1_000_000 else None
    bar = "reported" if allowed is None else f"at most {allowed}"
    within = None if allowed is None else run.processor <= allowed
    yield Figure(f"{label}-processor", run.processor, "CPU s", "15 CPU s for 1,000,000 rows", None, bar, within)
    yield Figure(f"{label}-clock", run.seconds, "s", "the clock", None, "reported", None)
    yield Figure(f"{label}-memory", run.memory, "MB", "6 GB", run.memory / 6144, "under 6,144", run.memory < 6144)
    drafting = drafted.processor
    yield Figure(f"{label}-drafting", drafting, "CPU s", against, drafting / bare, "reported", None)
