"""What a stranger gets: `init` and `run`, and the front door, untouched on real tables, as they are and with gaps.

A release is good when it is verified; no direct identifier, nearly unique value or exact coordinate is in it; no label
is abstract or numbered; at most 5% of the rows are suppressed; at least 80% of the columns that do not identify are
there, and none lost more than 90% of its detail without a flag. Whether a word is true no program can tell.
"""

from __future__ import annotations

import csv
import random
import re
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow

from benchmarks._registry import Figure, benchmark, missing
from benchmarks.meaning import DATA
from keepsense.release.run import Outcome

TABLES: dict[str, tuple[str, frozenset[str]]] = {
    "adult": ("adult/adult.csv", frozenset()),
    "insurance": ("insurance/insurance_act_original_occ_original_10000.csv", frozenset()),
    "german_credit": ("german_credit/german.data", frozenset()),
    "homicide": (
        "chicago_homicide/homicide.csv",
        frozenset({"", "ID", "Case Number", "Block", "X Coordinate", "Y Coordinate", "Location"}),
    ),
    "diabetes130": ("diabetes130/encounters.csv", frozenset({"encounter_id"})),
    "patients": (
        "synthea_uk/patients.csv",
        frozenset({"Id", "SSN", "DRIVERS", "PASSPORT", "FIRST", "LAST", "MAIDEN", "ADDRESS"}),
    ),
    "conditions": ("synthea_uk/conditions.csv", frozenset({"PATIENT", "ENCOUNTER"})),
    "titanic": ("titanic/titanic.csv", frozenset()),
    "groceries": ("groceries/groceries_baskets.csv", frozenset()),
}
"""Tables of people, and their columns that name somebody, or a door, outright."""

COORDINATES = re.compile(r"(?i)\b(lat|lon|latitude|longitude|x coordinate|y coordinate)\b")
ABSTRACT = frozenset({"entity", "physical entity", "abstraction", "whole", "object", "root", "thing"})
_TYPES: dict[str, Callable[[], Any]] = {
    r"-?(0|[1-9]\d{0,17})": lambda: pyarrow.int64(),
    r"\d{4}-\d\d-\d\d": lambda: pyarrow.date32(),
    r"-?\d{1,12}\.\d{1,4}": lambda: pyarrow.decimal128(18, 4),
    r"-?\d+\.\d+": lambda: pyarrow.float64(),
}
"""Types by how all cells of a column are spelled."""

GAPS = 0.03
"""Share of the cells that are emptied."""


@dataclass(frozen=True)
class Draft:
    """What came of a table: the figures of its release, and what is wrong with it; or the sentence it ended in."""

    table: str
    seconds: float
    complaints: tuple[str, ...]
    lost: Mapping[str, float]
    columns: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    suppressed: float = 0.0
    ended: str = ""

    @property
    def good(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.ended and not self.complaints


def rows_of(file: Path) -> tuple[str, list[list[str]]]:
    """The delimiter of a text file, and its rows with the header; baskets have none, and are one cell a line."""
    lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    if "groceries" in file.name:
        return "\t", [["items"], *([line] for line in lines if line != "items")]
    delimiter = max(";,\t |", key=lines[0].count)
    return delimiter, list(csv.reader(lines, delimiter=delimiter))


def copied(file: Path, target: Path, *, gaps: float = 0.0, most: int | None = None) -> Path:
    """A copy of a table in its dialect: at most so many of its rows, drawn at random, with some cells emptied."""
    chance = random.Random(1)
    delimiter, (header, *rows) = rows_of(file)
    if most is not None and most < len(rows):
        rows = [rows[i] for i in sorted(chance.sample(range(len(rows)), most))]
    emptied = [["" if chance.random() < gaps else cell for cell in row] for row in rows]
    with target.open("w", encoding="utf-8", newline="") as written:
        csv.writer(written, delimiter=delimiter).writerows([header, *emptied])
    return target


def by_command(file: Path, folder: Path) -> Outcome:
    """`keepsense init FILE && keepsense run`, untouched."""
    from keepsense.draft.inspection import inspect
    from keepsense.draft.project_draft import hierarchies_beside
    from keepsense.draft.project_text import draft, source_keys, write_draft
    from keepsense.engines.protocol import Reading
    from keepsense.release.run import run

    how = Reading()
    inspection = inspect(str(file), how)
    own = {
        name: source_keys(str(path), how, folder)["path"] for name, path in hierarchies_beside(file, inspection).items()
    }
    text = draft(inspection, source=source_keys(str(file), how, folder), hierarchies=own)
    return run(write_draft(text, folder / "keepsense.toml"), rng=1)


def by_front_door(file: Path, library: str) -> tuple[Outcome, dict[str, list[Any]]]:
    """`ks.anonymize(frame, k=5)` of the frame that users of pandas or Polars would have, and what it hands back."""
    import keepsense as ks

    delimiter, _ = rows_of(file)
    if library == "pandas":
        import pandas

        by_pandas = ks.anonymize(pandas.read_csv(file, sep=delimiter, low_memory=False), k=5, seed=1)
        columns = {str(name): cells for name, cells in by_pandas.frame.items()}
        return by_pandas.outcome, {
            name: [None if pandas.isna(cell) else cell for cell in cells] for name, cells in columns.items()
        }
    import polars

    by_polars = ks.anonymize(polars.read_csv(file, separator=delimiter, infer_schema_length=None), k=5, seed=1)
    return by_polars.outcome, by_polars.frame.to_dict(as_series=False)


def released_by(outcome: Outcome) -> dict[str, list[Any]]:
    """The columns of a released file; those of a text file as they are written."""
    from keepsense.engines.formats.table_formats import format_of
    from keepsense.engines.protocol import engine

    if not format_of(str(outcome.file), None).is_text:
        with engine() as running:
            columns: dict[str, list[Any]] = running.frame(running.read(str(outcome.file))).to_pydict()
        return columns
    _, (header, *rows) = rows_of(outcome.file)
    return {name: [row[i] for row in rows] for i, name in enumerate(header)}


def in_another_format(file: Path, ending: str) -> Path:
    """The same table with types (Booleans, days, decimals, categories, nulls), in the format of an ending."""
    from keepsense.engines.protocol import engine

    _, (header, *rows) = rows_of(file)
    columns = {name: typed([row[i] or None for row in rows]) for i, name in enumerate(header)}
    columns |= {"remark": pyarrow.nulls(len(rows)), "note": pyarrow.nulls(len(rows), pyarrow.float64())}
    target = file.with_suffix(f".{ending}")
    with engine() as running:
        running.write(running.read(pyarrow.table(columns)), target)
    return target


def typed(cells: Sequence[str | None]) -> Any:
    """The cells of a column as an Arrow array of the type that a careful person would give them."""
    present = {cell for cell in cells if cell is not None}
    if present and present <= {"True", "False"}:
        return pyarrow.array([None if cell is None else cell == "True" for cell in cells])
    for form, kind in _TYPES.items():
        if present and all(re.fullmatch(form, cell) for cell in present):
            return pyarrow.array(cells, pyarrow.string()).cast(kind())
    texts = pyarrow.array(cells, pyarrow.string())
    return texts.dictionary_encode() if len(present) < 20 else texts


def complaints(
    outcome: Outcome, released: Mapping[str, Sequence[Any]], identifying: frozenset[str], columns: Sequence[str]
) -> list[str]:
    """What is wrong with a release, by the definition above; `columns` are those of the source."""
    about = outcome.description
    wrong = [] if outcome.verification.ok else ["not verified"]
    records = about["records"] + about["of them left out"]
    if about["suppressed records"] > 0.05 * records:
        wrong.append(f"{about['suppressed records']:,} of {records:,} rows are suppressed")
    wrong += [f"{name} is released" for name in sorted(identifying & set(released))]
    wanted = [name for name in columns if name not in identifying]
    absent = [name for name in wanted if name not in released]
    if len(absent) > 0.2 * len(wanted):
        wrong.append(f"{', '.join(absent)} are missing")
    flagged = {finding.where for finding in outcome.findings if finding.code == "W413"}
    for name, facts in about["columns"].items():
        if facts.get("lost", 0.0) > 0.9 and (name not in flagged or "flag" not in facts):
            wrong.append(f"{name} lost {facts['lost']:.0%} without a flag")
    for name, cells in released.items():
        wrong += _unreadable(name, ["" if cell is None else str(cell) for cell in cells])
    return wrong


def _unreadable(name: str, cells: Sequence[str]) -> Iterable[str]:
    values = Counter(cell for cell in cells if cell)
    alone = sum(rows == 1 for rows in values.values())
    if len(values) > 50 and alone > 0.3 * values.total():
        yield f"{name} is nearly unique"
    if COORDINATES.search(name.replace("_", " ")) and any(re.fullmatch(r"-?\d+\.\d{3,}", value) for value in values):
        yield f"{name} holds exact coordinates"
    words = {value.lower() for value in values}
    if words & ABSTRACT:
        yield f"{name} holds abstract words: {', '.join(sorted(words & ABSTRACT))}"
    if any(re.search(r"#\d+$", word) for word in words):
        yield f"{name} holds numbered labels"
    twice = [word for word, spellings in Counter(map(str.lower, values)).items() if spellings > 1]
    if twice:
        yield f"{name} spells one word in two ways"
    if "(missing)" in words:
        yield f"{name} marks missing cells in words"


def drafted(
    table: str,
    *,
    gaps: float = 0.0,
    most: int | None = None,
    frame: str | None = None,
    ending: str | None = None,
) -> Draft:
    """Draft and release a table, as a file (perhaps of another format) or as a frame, and judge what came out."""
    from keepsense.errors import KeepsenseError

    path, identifying = TABLES[table]
    with tempfile.TemporaryDirectory() as room:
        folder = Path(room)
        source = copied(DATA / path, folder / Path(path).name, gaps=gaps, most=most)
        _, (columns, *_) = rows_of(source)
        if ending is not None:
            source = in_another_format(source, ending)
        start = time.perf_counter()
        try:
            if frame is not None:
                outcome, released = by_front_door(source, frame)
            else:
                outcome = by_command(source, folder)
                released = released_by(outcome)
        except KeepsenseError as error:
            return Draft(table, time.perf_counter() - start, (), {}, ended=str(error))
        seconds = time.perf_counter() - start
        about = outcome.description
        return Draft(
            table,
            seconds,
            tuple(complaints(outcome, released, identifying, columns)),
            {name: facts["lost"] for name, facts in about["columns"].items() if "lost" in facts},
            tuple(released),
            tuple(finding.code for finding in outcome.findings),
            about["suppressed records"] / max(1, about["records"] + about["of them left out"]),
        )


@benchmark("drafts")
def drafts() -> Iterable[Figure]:
    """Every table as it is and with 3% of its cells emptied: whether it is good, seconds, losses, findings."""
    for table, (path, _) in TABLES.items():
        if not (DATA / path).exists():
            yield missing(table, "real data", "good")
            continue
        for gaps in (0.0, GAPS):
            made = drafted(table, gaps=gaps)
            name = f"{table}, {gaps:.0%} empty"
            said = made.ended or "; ".join(made.complaints) or "nothing is wrong"
            yield Figure(f"{name}: {said}", float(made.good), "good", "the definition of good", None, "1", made.good)
            if made.ended:
                continue
            codes = ", ".join(f"{code} {times} x" for code, times in sorted(Counter(made.findings).items()))
            yield Figure(f"{name}, draft and run", made.seconds, "s", "", None, "measured", None)
            if made.lost:  # sets are measured by other figures
                worst, mean = max(made.lost, key=made.lost.__getitem__), sum(made.lost.values()) / len(made.lost)
                yield Figure(
                    f"{name}, worst column: {worst}", made.lost[worst], "share lost", "", None, "measured", None
                )
                yield Figure(f"{name}, mean loss", mean, "share lost", "", None, "measured", None)
            yield Figure(
                f"{name}, findings: {codes}", float(len(made.findings)), "findings", "", None, "measured", None
            )
