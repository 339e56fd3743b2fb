"""Random projects, and their releases read back and judged with nothing of the package.

A project draws a method, promises, kinds of columns, gaps, and the formats of source and release. Rows keep a number
that is released as it is, so that each released row is compared with the one that it came from.
"""

from __future__ import annotations

import csv
import json
import random
import sqlite3
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Any

import duckdb
import openpyxl
from tests import judge
from tests.judge_cells import Knowledge, covers, covers_set, plain

MEDICS, WORKERS = ("nurse", "surgeon", "dentist"), ("clerk", "baker", "plumber")
JOBS = (*MEDICS, *WORKERS)
EDGES = [
    *((job, "medic") for job in MEDICS),
    *((job, "worker") for job in WORKERS),
    ("dentist", "craft"), ("plumber", "craft"), ("craft", "person"), ("medic", "person"), ("worker", "person"),
]  # fmt: skip
SIZES = ("tiny", "small", "middle", "large")
ILLNESSES = ("flu", "cold", "ulcer", "colic")
LUNGS = ("flu", "cold")
THINGS = ("cat", "dog", "bread", "milk", "tea")
KINDS = {"cat": "animal", "dog": "animal", "bread": "food", "milk": "drink", "tea": "drink"}
OF_THINGS = [*KINDS.items(), ("animal", "thing"), ("food", "thing"), ("drink", "food")]
NEAR = [[0, 0.2, 1, 1], [0.2, 0, 0.9, 1], [1, 0.9, 0, 0.3], [1, 1, 0.3, 0]]
FORMATS = ("csv", "parquet", "xlsx", "jsonl", "sqlite")


def ancestors(edges) -> dict[str, set[str]]:
    """Everything above each name."""
    above: dict[str, set[str]] = {}
    for name, parent in edges:
        above.setdefault(name, set()).add(parent)
    for _ in edges:
        for parents in above.values():
            parents |= {higher for parent in parents for higher in above.get(parent, ())}
    return above


KNOWN = {
    "age": Knowledge("numeric"),
    "born": Knowledge("date"),
    "job": Knowledge(above=ancestors(EDGES)),
    "size": Knowledge("ordinal", order=SIZES),
    "town": Knowledge("code"),
    "likes": Knowledge(above=ancestors(OF_THINGS)),
}


PARAMETERS: dict[str, Any] = {
    "mu-argus": {"strict": True},
    "t-close microaggregation": {"t": 0.5, "sensitive": "illness"},
}
GROWING = ("incognito", "semantic incognito", "anytime")
"""Methods that ask for promises which more generalization never breaks: with suppression most are not."""
BY_K = ("microaggregation of records", "adaptive microaggregation", "t-close microaggregation", "set microaggregation")
"""Methods that need a k."""
ALONE = ("mu-argus", "microaggregation of records", "adaptive microaggregation", "set microaggregation")
"""Methods that look at sizes only, so that a further promise would mostly be refused."""


SHARES: tuple[dict[str, Any], ...] = (
    {"model": "beta-likeness", "form": "basic", "beta": 1.0},
    {"model": "beta-likeness", "form": "enhanced", "beta": 2.0},
    {"model": "delta-disclosure", "delta": 1.5},
    {"model": "beta-likeness", "form": "concepts", "beta": 2.0},
    {"model": "delta-disclosure", "form": "concepts", "delta": 1.5},
    {"model": "(alpha,k)-anonymity", "alpha": 0.5, "k": 3},
    {"model": "(alpha,k)-anonymity", "alpha": 0.4, "k": 2, "values": ["flu"]},
)
"""Promises about single values of the sensitive column."""


@dataclass
class Drawn:
    """A project as plain data, the rows of its source and population, and the ground distance if it is in memory."""

    project: dict[str, Any]
    rows: list[dict[str, Any]]
    population: list[dict[str, Any]]
    source: str
    ground: str


# ---- drawing ---------------------------------------------------------------------------------------------------------


def person(rng: random.Random, number: int, gaps: float, spread: int) -> dict[str, Any]:
    def maybe(cell):
        return None if rng.random() < gaps else cell

    age: float = rng.randint(20, 20 + spread)
    if spread == 30:  # halves and quarters, and now and then somebody far away
        age = 117.5 if rng.random() < 0.01 else age + rng.choice([0, 0.25, 0.5])
    return {
        "id": f"secret{number:05d}x",
        "row": number,
        "who": f"p{rng.randrange(1 + number // 2)}",
        "age": maybe(rng.choice([age, -age]) if spread > 60 else age),
        "born": maybe(f"{1950 + rng.randrange(spread)}-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}"),
        "job": maybe(rng.choice(JOBS[: 2 + spread % 5])),
        "size": maybe(rng.choice(SIZES)),
        "likes": ";".join(sorted(rng.sample(THINGS[: 2 + spread % 4], rng.randint(1, 2)))),
        "town": maybe(f"{rng.choice(['10', '11', '20'])}{rng.randint(1, 1 + spread % 9)}0"),
        "illness": maybe(rng.choice(ILLNESSES)),
        "pay": rng.choice([1, 2, 5, 9]),
    }


def draw(rng: random.Random, method: str, *, whole_values: bool, only_sets: bool) -> Drawn:
    """A project for a method that recodes whole values, or only sets, or neither."""
    gaps, spread = rng.choice([0, 0, 0.05, 0.2]), rng.choice([8, 30, 70])
    rows = [person(rng, number, gaps, spread) for number in range(rng.randint(40, 120))]
    names = rng.sample(["age", "born", "job", "size", "town"], rng.choice([1, 2, 2, 3]))
    if "semantic" in method:
        names = ["job", *(["size"] if method == "semantic mondrian" else [])]
    if only_sets:
        names = []
    if only_sets or (rng.random() < 0.15 and not whole_values):
        names = [*names, "likes"]
    wild = [name for name in names if gaps and rng.random() < 0.3 and name != "likes"]
    columns: dict[str, Any] = {name: {"role": "identifier"} for name in ("id", "who", *KNOWN)}
    columns |= {"row": {"role": "insensitive", "kind": "numeric", "accept": "identifying"}}
    columns |= {"illness": {"role": "sensitive"}, "pay": {"role": "sensitive", "kind": "numeric"}}
    columns |= {name: _column(rng, name, method) for name in names}
    for name in wild:
        columns[name]["missing"] = "wildcard"
    models, ground = _promises(rng, method, whole_values, gaps)
    if method == "apriori sets":
        models = [{"model": "k^m-anonymity", "k": rng.randint(2, 6), "m": rng.randint(1, 3), "column": "likes"}]
    if any(model.get("form") == "concepts" for model in models):
        columns["illness"]["hierarchy"] = "illness.csv"
    if any(model["model"] == "(X,Y)-anonymity" for model in models):
        columns["who"] = {"role": "person"}
    if method in ("infogain mondrian", "bottom-up", "top-down", "lsd mondrian"):
        columns["pay"] = {"role": "target", "kind": "numeric" if method == "lsd mondrian" else "nominal"}
    source = rng.choice(FORMATS)
    project: dict[str, Any] = {
        "source": {"path": f"people.{source}"},
        "columns": columns,
        "privacy": models,
        "method": {"name": method, "parameters": PARAMETERS.get(method, {})},
        "release": {
            "file": f"released.{rng.choice(FORMATS)}",
            "suppression": rng.choice([0.0] if method in GROWING else [0.0, 0.05, 0.2, 0.5, 1.0]),
            "suppressed": rng.choice(["auto", "keep", "drop"]),
            "shuffle": rng.random() < 0.5,
        },
    }
    population = [*rows]
    if any(model["model"] in ("k-map", "delta-presence") for model in models):
        population += [person(rng, 1000 + number, gaps, spread) for number in range(rng.choice([0, 60, 300]))]
        population += rows * rng.choice([0, 1, 2])
        project["population"] = {"path": f"everybody.{source}"}
    return Drawn(project, rows, population, source, ground)


def _column(rng: random.Random, name: str, method: str) -> dict[str, Any]:
    column: dict[str, Any] = {"role": "quasi-identifier"}
    if name == "likes":
        return column | {"kind": "set", "taxonomy": "things.obo"}
    if name == "job":
        words = {"taxonomy": "jobs.obo", "hierarchy": "auto"}
        meaningful = "semantic" in method or rng.random() < 0.5
        return column | (words if meaningful else {"hierarchy": "jobs.csv"} if rng.random() < 0.7 else {})
    kinds = {"age": "numeric", "born": "date", "size": "ordinal", "town": "code"}
    return column | {"kind": kinds[name]} | ({"order": list(SIZES)} if name == "size" else {})


def _promises(rng: random.Random, method: str, whole_values: bool, gaps: float) -> tuple[list[dict[str, Any]], str]:
    """Promises that hide people, perhaps one about what they have; and its ground distance where that is in memory."""
    k = rng.randint(2, 6)
    hiding: list[dict[str, Any]] = [{"model": "k-anonymity", "k": k}] * 3
    hiding += [{"model": "maximum risk", "threshold": round(1 / k, 3)}, {"model": "probabilistic k-anonymity", "k": k}]
    hiding += [{"model": "(X,Y)-anonymity", "k": k, "person": "who"}, {"model": "average risk", "threshold": 1 / k}]
    hiding += [{"model": "strict-average risk", "threshold": 1 / k, "k": 2}]
    hiding += [{"model": "estimated k-map", "k": 5 * k, "fraction": 0.1}]
    if whole_values:
        hiding += [{"model": "k-map", "k": 2 * k}, {"model": "delta-presence", "lower": 0.0, "upper": 0.7}] * 2
        hiding += [{"model": "delta-presence", "lower": 0.1, "upper": 0.9}]
    if method in BY_K:
        hiding = hiding[:5]
    chosen = [rng.choice(hiding)]
    if method == "t-close microaggregation":
        return [*chosen, {"model": "t-closeness", "t": 0.5, "column": "illness", "ground": "equal"}], ""
    if method in ALONE:
        return hiding[:1] if method == "mu-argus" else chosen, ""
    form, ground = rng.choice(["", "distinct", "entropy", "recursive", "t", "t", "share"]), ""
    missing = {"missing": "unknown"} if rng.random() < 0.3 else {}
    about = {"model": "l-diversity", "column": "illness", **missing}
    if form == "distinct":
        chosen.append({**about, "form": form, "l": rng.choice([2, 3])})
    elif form == "entropy":
        chosen.append({**about, "form": form, "l": rng.choice([1.5, 2])})
    elif form == "recursive":
        chosen.append({**about, "form": form, "l": 2, "c": rng.choice([1.5, 3.0])})
    elif form == "share":
        chosen.append({**rng.choice(SHARES), "column": "illness"})
    elif form == "t":
        kinds = ["equal", "numeric", "ordered", *([] if gaps else ["hierarchical", "semantic"] * 2)]
        ground = rng.choice(kinds)
        column = "pay" if ground in ("numeric", "ordered") else "illness"
        chosen.append({"model": "t-closeness", "t": rng.choice([0.15, 0.3, 0.5]), "column": column, "ground": ground})
    return chosen, ground if ground in ("hierarchical", "semantic") else ""


EVIDENCE = {
    "illness": {
        "rows": [(name, "lung" if name in LUNGS else "gut", "*") for name in ILLNESSES],
        "values": list(ILLNESSES),
        "matrix": NEAR,
        "chains": {name: ["lung" if name in LUNGS else "gut", "*"] for name in ILLNESSES},
    }
}


# ---- files -----------------------------------------------------------------------------------------------------------


def write_inputs(folder: Path, drawn: Drawn) -> None:
    """Source and population in their format, a hierarchy and a taxonomy of the jobs."""
    write_table(folder / f"people.{drawn.source}", drawn.rows)
    write_table(folder / f"everybody.{drawn.source}", drawn.population)
    lines = [f"{job};{'medic' if job in MEDICS else 'worker'};*" for job in JOBS]
    (folder / "jobs.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    lines = [";".join(row) for row in EVIDENCE["illness"]["rows"]]
    (folder / "illness.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for file, edges in (("jobs.obo", EDGES), ("things.obo", OF_THINGS)):
        terms = ["format-version: 1.2", ""]
        for name in dict.fromkeys([name for edge in edges for name in edge]):
            parents = [parent for child, parent in edges if child == name]
            terms += ["[Term]", f"id: X:{name}", f"name: {name}", *(f"is_a: X:{parent}" for parent in parents), ""]
        (folder / file).write_text("\n".join(terms), encoding="utf-8")


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    header = list(rows[0])
    if path.suffix == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([header, *(["" if v is None else v for v in row.values()] for row in rows)])
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    elif path.suffix == ".xlsx":
        book = openpyxl.Workbook()
        for line in [header, *(list(row.values()) for row in rows)]:
            book.active.append(line)
        book.save(path)
    elif path.suffix == ".sqlite":
        with sqlite3.connect(path) as file:
            file.execute(f"CREATE TABLE people ({', '.join(header)})")
            marks = ", ".join("?" * len(header))
            file.executemany(f"INSERT INTO people VALUES ({marks})", [list(row.values()) for row in rows])
        file.close()
    else:
        lines = path.with_suffix(".lines.jsonl")
        write_table(lines, rows)
        with duckdb.connect() as connection:
            connection.execute(f"COPY (SELECT * FROM read_json_auto('{lines}')) TO '{path}' (FORMAT parquet)")
        lines.unlink()


def read_table(path: Path) -> list[dict[str, str | None]]:
    """Cells as text, as a recipient would read them without Keepsense."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            rows: list[dict[str, Any]] = list(csv.DictReader(file))
    elif path.suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    elif path.suffix == ".xlsx":
        book = openpyxl.load_workbook(path)
        header, *cells = book.active.iter_rows(values_only=True)
        book.close()
        rows = [dict(zip(header, line, strict=True)) for line in cells]
    elif path.suffix == ".sqlite":
        file = sqlite3.connect(path)
        ((table,),) = file.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        asked = file.execute(f'SELECT * FROM "{table}"')
        names = [column[0] for column in asked.description]
        rows = [dict(zip(names, line, strict=True)) for line in asked.fetchall()]
        file.close()
    else:
        with duckdb.connect() as connection:
            asked = connection.execute(f"SELECT * FROM read_parquet('{path}')")
            names = [column[0] for column in asked.description]
            rows = [dict(zip(names, line, strict=True)) for line in asked.fetchall()]
    return [{name: plain(cell) for name, cell in row.items()} for row in rows]


# ---- judging ---------------------------------------------------------------------------------------------------------


def complaints(drawn: Drawn, folder: Path, *, truthful: bool, to_the_top: bool = False) -> list[str]:
    """All that is wrong with a release, in words; nothing where every promise holds.

    Records that are starred in every column count as lost, unless the method may generalize a class `to_the_top`.
    """
    project = drawn.project
    columns = project["columns"]
    released = read_table(folder / "release" / project["release"]["file"])
    for row in released:
        if "likes" in row:
            row["likes"] = tuple(sorted(set((row["likes"] or "").split(";"))))
    original = [{name: plain(cell) for name, cell in row.items()} for row in drawn.rows]
    before = {row["row"]: row for row in original}
    keys = [name for name, column in columns.items() if column["role"] == "quasi-identifier"]
    wild = [name for name in keys if columns[name].get("missing") == "wildcard"]
    wrong = [*_left(drawn, folder, released), *_changed(released, before, [*columns], keys)]
    if truthful and (keys == ["likes"] or "likes" not in keys):  # beside others, sets are synthetic
        wrong += [
            f"{name} {row[name]!r} is not true of {before[row['row']][name]!r}"
            for row in released
            for name in keys
            if not (covers_set if name == "likes" else covers)(row[name], before[row["row"]][name], KNOWN[name])
        ]
    hidden = 0 if to_the_top else sum(all(row[name] in ("*", ("*",)) for name in keys) for row in released)
    lost = len(original) - len(released) + (hidden if hidden < len(released) else 0)
    if lost > floor(project["release"]["suppression"] * len(original) + 1e-9):
        wrong.append(f"{lost} of {len(original)} records are lost")
    told = [{**row, "who": before[row["row"]]["who"]} for row in released]
    case = judge.Case(told, keys, wild=wild, original=original, evidence=EVIDENCE)
    for promise in project["privacy"]:
        if promise["model"] in ("k-map", "delta-presence"):
            holds = _against_everybody(promise, case, drawn, keys)
        else:
            holds = judge.holds(promise, case)
        if not holds:
            wrong.append(f"{promise} does not hold")
    return wrong


def _left(drawn: Drawn, folder: Path, released: list[dict[str, str | None]]) -> list[str]:
    """Identifiers in the release, or in anything that lies beside it for everybody."""
    gone = [name for name, column in drawn.project["columns"].items() if column["role"] in ("identifier", "person")]
    wrong = [f"the column {name} is left" for name in gone if name in released[0]]
    secrets = {row["id"] for row in drawn.rows}
    if any(cell in secrets for row in released for cell in row.values()):
        wrong.append("an identifier is left in a cell")
    for file in sorted((folder / "release").rglob("*")):
        if file.is_file() and "private" not in file.relative_to(folder).parts and b"secret0" in file.read_bytes():
            wrong.append(f"an identifier is left in {file.name}")
    return wrong


def _changed(released, before, columns, keys) -> list[str]:
    """Rows that nobody had, and cells of columns that should be as they were."""
    numbers = [row["row"] for row in released]
    if len(set(numbers)) < len(numbers) or not set(numbers) <= set(before):
        return ["rows came twice, or from nowhere"]
    return [
        f"{name} {row[name]!r} was {before[row['row']][name]!r}"
        for row in released
        for name in columns
        if name in row and name not in keys and row[name] != before[row["row"]][name]
    ]


def _against_everybody(promise: dict[str, Any], case: judge.Case, drawn: Drawn, keys: list[str]) -> bool:
    """The population counted by whom each released combination is true of."""
    people = [{name: plain(row[name]) for name in keys} for row in drawn.population]
    reached = set()
    for combination in {case.combination(row) for row in case.released}:
        fitting = [
            number
            for number, someone in enumerate(people)
            if all(
                covers(label, someone[name], KNOWN[name])
                or (name in case.wild and (label is None or someone[name] is None))
                for name, label in zip(keys, combination, strict=True)
            )
        ]
        reached.update(fitting)
        records = len(case.fitting(combination, case.released))
        if promise["model"] == "k-map":
            if len(fitting) < promise["k"]:
                return False
        elif not promise["lower"] * len(fitting) - 1e-9 <= records <= promise["upper"] * len(fitting) + 1e-9:
            return False
    return promise["model"] == "k-map" or promise["lower"] == 0 or len(reached) == len(people)
