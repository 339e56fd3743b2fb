"""Tables that are attacked: what people could be recognized by, one secret, and what the words mean."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from experiments.thesis.data import folder
from experiments.thesis.data import specialties as specialty_tree
from keepsense.sample_people import people as sample_people
from keepsense.taxonomy.taxonomy import Taxonomy

Row = dict[str, str]


@dataclass(frozen=True)
class Table:
    """A table: sections of its quasi-identifiers, the secret, a set-valued column, and how to get rows of it."""

    name: str
    columns: dict[str, dict[str, Any]]
    secret: str
    rows: Callable[[int, np.random.Generator], list[Row]]
    sets: str = ""
    taxonomies: dict[str, Callable[[], Taxonomy]] = field(default_factory=dict)

    @property
    def numbers(self) -> list[str]:
        """Quasi-identifiers that are numbers."""
        return [name for name, column in self.columns.items() if column.get("kind") == "numeric"]


def _drawn(rows: Iterable[Row], number: int, rng: np.random.Generator) -> list[Row]:
    """Some rows, in random order."""
    every = list(rows)
    return [every[i] for i in rng.permutation(len(every))[:number].tolist()]


def _read(path: Path, delimiter: str, most: int = 40_000) -> list[Row]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(islice(csv.DictReader(file, delimiter=delimiter), most))


def _adult(number: int, rng: np.random.Generator) -> list[Row]:
    return _drawn(_read(folder() / "adult" / "adult.csv", ";"), number, rng)


def _insurance(number: int, rng: np.random.Generator) -> list[Row]:
    file = folder() / "insurance" / "insurance_act_original_occ_original_10000.csv"
    rows = [{**row, "occupation": row["occupation"].replace("_", " ")} for row in _read(file, ",")]
    return _drawn(rows, number, rng)


def _encounters(number: int, rng: np.random.Generator) -> list[Row]:
    rows = _read(folder() / "diabetes130" / "encounters.csv", ",")
    known = set(specialty_tree().ids)
    return _drawn((row for row in rows if row["medical_specialty"] in known and row["race"] != "?"), number, rng)


def _sample(number: int, rng: np.random.Generator) -> list[Row]:
    return [{name: str(cell) for name, cell in row.items()} for row in sample_people(number, rng).to_pylist()]


def _hierarchy(column: str) -> dict[str, Any]:
    return {"hierarchy": str((folder() / "adult" / f"adult_hierarchy_{column}.csv").resolve())}


def _words(domain: str) -> dict[str, Any]:
    return {"taxonomy": "wordnet", "domain": domain, "hierarchy": "auto"}


AGE = {"kind": "numeric"}
SPECIALTY = {"taxonomy": "specialties", "hierarchy": "auto"}
WITH_HIERARCHIES = ("marital-status", "education", "workclass")


def tables() -> list[Table]:
    """Adult, insurance, hospital encounters and the sample people."""
    return [
        Table(
            "adult",
            {
                "sex": {},
                "age": AGE,
                **{name: _hierarchy(name) for name in ("marital-status", "education", "workclass")},
            },
            "occupation",
            _adult,
        ),
        Table(
            "insurance",
            {"gender": {}, "age": AGE, "occupation": _words("person"), "placeOfWork": _words("entity")},
            "riskOfAccidentClass",
            _insurance,
        ),
        Table(
            "diabetes130",
            {"race": {}, "gender": {}, "time_in_hospital": AGE, "medical_specialty": SPECIALTY},
            "readmitted",
            _encounters,
            taxonomies={"medical_specialty": specialty_tree},
        ),
        Table(
            "people",
            {"sex": {}, "age": AGE, "occupation": _words("person"), "workplace": _words("entity")},
            "diagnosis",
            _sample,
            sets="interests",
        ),
    ]
