"""The columns of the GSL and AIKA papers: their values, numbers of rows and concepts.

Adult, German Credit, Insurance and the location of Chicago homicides since 2001 are counted from the real files. Of the
older homicide study (1965-1995) only the value labels are at hand, so its rows are drawn by a fixed seed: 23,817 of
them, as many as the paper has, over the labels of each variable by a power law steep enough that the rarest label is
expected once. Labels for "not applicable" (code 0) are left out.

Labels that are no dictionary words are mapped by the tables in `mappings`, written for this purpose; all others are
looked up in WordNet by name, first sense. The insurance values are all dictionary words: their senses are chosen by
adapted Lesk, as in AIKA, and nine of them corrected by tables.
"""

from __future__ import annotations

import csv
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from keepsense.counts import Value
from keepsense.hierarchies.aika_adjustments import reduce_abstractness
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.word_concepts import Senses, base_hierarchy, senses_of
from keepsense.taxonomy.embedded_taxonomies import wordnet
from keepsense.taxonomy.taxonomy import Concept

HERE = Path(__file__).parent
OLD_ROWS = 23_817
INSURANCE = "insurance_act_original_occ_original_10000.csv"
# Our name, the paper's label of the column, and the number of values the paper gives.
_OLD = {
    "location": ("H46", 96),
    "phome": ("H48", 11),
    "poutdoor": ("H56", 33),
    "causfact": ("H59", 47),
    "vrel1": ("H71", 95),
    "wclub": ("H106", 57),
    "wknife": ("H109", 25),
}
_INSURED = {"occupation": "I3", "placeOfWork": "I4", "activity": "I5", "placeOfActivity": "I6"}


@dataclass(frozen=True)
class Column:
    """One column: where it is from, its distinct values with their rows, and the concept of each value."""

    data: str
    name: str
    label: str
    counts: Mapping[str, int]
    senses: Senses

    @property
    def title(self) -> str:
        """Data set and column."""
        return f"{self.data} {self.name}"

    def ideal(self) -> Hierarchy:
        """The minimal taxonomy of the column, cut where all branches have met."""
        return reduce_abstractness(base_hierarchy(list(self.counts), wordnet(), senses=self.senses, name=self.name))


def data_folder() -> Path:
    """Where the real data lies: `KEEPSENSE_DATA`, or the folder beside the checkout."""
    given = Path(os.environ.get("KEEPSENSE_DATA") or "../shared/data")
    folder = given if given.is_absolute() else HERE.parents[1] / given
    if not folder.is_dir():
        raise SystemExit("the experiments need the real data folder; set KEEPSENSE_DATA to it")
    return folder


def columns(folder: Path | None = None) -> Iterator[Column]:
    """Every column, one after the other."""
    data = folder or data_folder()
    yield _column(
        "Adult", "occupation", "A7", _cells(data / "adult" / "adult.csv", "occupation", ";"), "adult_occupation"
    )
    german = _cells(data / "german_credit" / "german.data", "PURPOSE", " ")
    yield _column("German Credit", "purpose", "G3", german, "german_purpose")
    for name, label in _INSURED.items():
        insured = _cells(data / "insurance" / INSURANCE, name, ",")
        yield _column("Insurance", name, label, insured, f"insurance_{name}", strategy="lesk")
    recent = _cells(data / "chicago_homicide" / "homicide.csv", "Location Description", ",")
    yield _column("Homicide since 2001", "location", "H01", recent, "homicide_location")
    for name, (label, _) in _OLD.items():
        drawn = _drawn(data / "chicago_homicide" / "value_labels.csv", name.upper())
        yield _column("Homicide 1965-1995, drawn", name, label, drawn, f"homicide65_{name}")


def mapping_table(name: str) -> dict[str, str]:
    """Concepts that a table in `mappings` gives to values."""
    with (HERE / "mappings" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return {row["value"]: row["concept"] for row in csv.DictReader(file)}


def _column(data: str, name: str, label: str, counts: Mapping[str, int], table: str, strategy: str = "first") -> Column:
    given: dict[Value, Concept] = {}
    if (HERE / "mappings" / f"{table}.csv").exists():
        given.update(mapping_table(table))
    found = senses_of(list(counts), wordnet(), senses=given, strategy=strategy, name=name)
    return Column(data, name, label, counts, found)


def _cells(path: Path, column: str, delimiter: str) -> dict[str, int]:
    with path.open(encoding="utf-8", newline="") as file:
        found = Counter(row[column] for row in csv.DictReader(file, delimiter=delimiter))
    return dict(sorted(found.items()))


def _drawn(path: Path, variable: str) -> dict[str, int]:
    """Rows drawn over the labels of a variable: the label of rank r with a chance in proportion to a power of r."""
    with path.open(encoding="utf-8", newline="") as file:
        labels = [row["label"] for row in csv.DictReader(file) if row["variable"] == variable and row["code"] != "0"]
    rng = np.random.default_rng(1965)
    chance = np.arange(1, len(labels) + 1) ** -_steepness(len(labels))
    rows = rng.multinomial(OLD_ROWS - len(labels), chance / chance.sum()) + 1
    return dict(zip([labels[i] for i in rng.permutation(len(labels))], rows.tolist(), strict=True))


def _steepness(size: int) -> float:
    """Exponent with which the last of `size` labels is expected in one of all rows."""
    low, high = 0.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        chance = np.arange(1, size + 1) ** -middle
        low, high = (middle, high) if OLD_ROWS * chance[-1] / chance.sum() > 1 else (low, middle)
    return high
