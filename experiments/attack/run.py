"""Attacks on releases of every family of methods: Adult, insurance, hospital encounters and the sample people."""

from __future__ import annotations

import csv
import os
import re
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from experiments.attack.attacks import Seen, coded, inference, linkability, linkage, risk, singling_out
from experiments.attack.data import Row, Table, tables
from keepsense.errors import KeepsenseError
from keepsense.methods.method import METHODS, Method
from keepsense.project.column_meaning import Given, Meaning
from keepsense.project.project_file import Column, Project
from keepsense.release.run import run as release

K = 5
ROWS = int(os.environ.get("KEEPSENSE_ATTACKED") or 1000)
"""Records that are released; as many people beside them are not."""
PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "attacks.md"
MARKS = re.compile(r"(<!-- attacks -->\n).*?(<!-- end of attacks -->)", re.DOTALL)
ATTACKED = (
    "optimal", "datafly", "mondrian", "semantic mondrian", "local recoding", "local suppression",
    "microaggregation of records", "strict rank swapping", "rank swapping", "noise", "post-randomization",
    "differential privacy", "differentially private generalization", "top-down sets", "disassociation",
)  # fmt: skip
"""At least one method of every family."""
PARAMETERS: dict[str, dict[str, Any]] = {
    "rank swapping": {"k": 300},
    "noise": {"alpha": 1.0},
    "post-randomization": {"keep": 0.1},
}
AS_IT_IS = "none: as it is"
HEADER = (
    "table", "method", "promise", "linked", "linked by meaning", "linked halves", "halves of others",
    "secret guessed", "secret of others", "learned", "singled out", "singled out with the secret", "bar",
)  # fmt: skip


@dataclass(frozen=True)
class Attacked:
    """What came out of one release, or why there is none."""

    table: str
    method: str
    promise: str
    figures: tuple[str, ...] = ()
    holds: bool = True
    refused: str = ""

    @property
    def line(self) -> tuple[str, ...]:
        """A line of the result."""
        if self.refused:
            return (self.table, self.method, self.promise, *[""] * 9, f"refused: {self.refused}")
        bar = "none" if self.promise in ("", "epsilon = 1") else "holds" if self.holds else "BROKEN"
        return (self.table, self.method, self.promise, *self.figures, bar)


def run(results: Path) -> None:
    """Make and attack the releases, write the table, and fail where people are linked more often than promised."""
    started = time.process_time()
    outcomes = [
        _attacked(table, method, ROWS)
        for table in tables()
        for method in (None, *(METHODS[name] for name in ATTACKED))
        if method is None or method.sets != "only" or table.sets
    ]
    with (results / "attacks.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *(outcome.line for outcome in outcomes)])
    text = _markdown(outcomes)
    (results / "README.md").write_text(f"# Attacks on {ROWS:,} records a table\n\n{text}", encoding="utf-8")
    if ROWS >= 1000 and PAGE.is_file():
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(MARKS.sub(lambda marks: f"{marks[1]}\n{text}\n{marks[2]}", page), encoding="utf-8")
    print(text)
    print(f"{time.process_time() - started:.0f} s of one core")
    broken = [outcome for outcome in outcomes if not outcome.holds]
    if broken:
        names = ", ".join(f"{outcome.method} on {outcome.table}" for outcome in broken)
        raise SystemExit(f"people are linked more often than one in {K}: {names}")


def _promise(method: Method | None) -> dict[str, Any]:
    """One in five, by the promise that the method can keep."""
    if method is None:
        return {"model": ""}
    for model in ("k-anonymity", "probabilistic k-anonymity"):
        if method.gives(model):
            return {"model": model, "k": K}
    if method.gives("k^m-anonymity of pieces"):
        return {"model": "k^m-anonymity of pieces", "k": K, "m": 2}
    if method.gives("approximate differential privacy"):
        return {"model": "approximate differential privacy", "epsilon": 1.0, "delta": 1e-4}
    if method.gives("differential privacy"):
        return {"model": "differential privacy", "epsilon": 1.0}
    return {"model": "linkage risk", "threshold": 1 / K}


def _columns(table: Table, method: Method | None) -> list[str]:
    """The quasi-identifiers that a method takes: noise needs numbers, or words that a taxonomy knows."""
    if method is not None and method.sets == "only":
        return [table.sets]
    return [
        name for name, column in table.columns.items() if not _noisy(method) or column.keys() & {"taxonomy", "kind"}
    ]


def _noisy(method: Method | None) -> bool:
    return method is not None and method.family == "noise addition"


def _meaning(table: Table, name: str) -> Meaning:
    """What the words of a column mean."""
    section = {key: value for key, value in table.columns[name].items() if key in ("taxonomy", "domain")}
    handed = {name: table.taxonomies[name]()} if name in table.taxonomies else {}
    return Meaning({name: Column.model_validate(section)}, given=Given(taxonomies=handed))


def _understood(table: Table, names: Sequence[str], rows: list[Row]) -> list[Row]:
    """The rows whose words a taxonomy knows, where it should."""
    for name in names:
        if "taxonomy" in table.columns[name]:
            words: dict[Any, int] = dict.fromkeys((row[name] for row in rows), 1)
            concepts = _meaning(table, name).mapping(name, words).concepts
            rows = [row for row in rows if row[name] in concepts]
    return rows


def _attacked(table: Table, method: Method | None, number: int) -> Attacked:
    """Release half of the rows drawn, and attack: all quasi-identifiers are known, of people inside and outside."""
    rng = np.random.default_rng(5)
    name, names = AS_IT_IS if method is None else method.name, _columns(table, method)
    rows = table.rows(2 * number, rng)
    if _noisy(method):
        rows = _understood(table, names, rows)
    inside, outside = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    promise = _promise(method)
    words = f"epsilon = {promise['epsilon']:g}" if "epsilon" in promise else promise["model"]
    truthful = method is not None and method.truthful
    if method is not None and method.sets == "only":
        promise |= {"column": table.sets} if "m" in promise else {}
    try:
        released = [{**row, "row": str(at)} for at, row in enumerate(inside)]
        if method is not None:
            released = _released(table, method, promise, rows, names)
    except KeepsenseError as refused:
        return Attacked(table.name, name, words, refused=str(refused).partition(". ")[0][:160])
    values = [sorted({row[name] for row in rows}) for name in names]
    secrets = sorted({row[table.secret] for row in rows})
    labels = [sorted({row[name] for row in released}) for name in names]
    kept = [row for row in released if table.secret in row]
    hidden = {int(row["row"]): row for row in released}
    seen = Seen(
        coded(released, names, labels),
        coded(kept, [table.secret], [secrets])[:, 0] if kept else np.zeros(len(released), np.int64),
        np.array(list(hidden), dtype=np.int64),
        _near(inside, released, names, (labels, values), table.numbers if not truthful else None),
    )
    known, others = coded(inside, names, values), coded(outside, names, values)
    told, of_others = (coded(part, [table.secret], [secrets])[:, 0] for part in (inside, outside))
    linked = linkage(seen, known, rng)
    meant = None
    if not truthful and set(names) <= set(table.columns):  # sets are compared by their items only
        meant = linkage(_by_meaning(seen, table, names, (labels, values)), known, rng)
    halves = [linkability(seen, part, rng) if len(names) > 1 else None for part in (known, others)]
    guesses = [
        inference(seen, part, secret, rng) if kept else None for part, secret in ((known, told), (others, of_others))
    ]
    alone = singling_out(seen, known, told, with_secret=False)
    beside = singling_out(seen, known, told, with_secret=True) if kept else None
    learned = "" if guesses[0] is None or guesses[1] is None else f"{100 * risk(guesses[0], guesses[1]):.1f}%"
    figures = (linked, meant, *halves, *guesses, learned, alone, beside)
    worst = max(rate.interval[0] for rate in (linked, meant) if rate is not None)
    holds = worst <= 1 / K or method is None or "epsilon" in promise
    return Attacked(table.name, name, words, tuple("" if rate is None else str(rate) for rate in figures), holds)


def _released(
    table: Table, method: Method, promise: dict[str, Any], every: list[Row], names: Sequence[str]
) -> list[Row]:
    """The first half of the rows as released, with the number of the record each came from: only for scoring."""
    private, rows = "epsilon" in promise, every[: len(every) // 2]
    declared = "levels" in method.needs
    columns: dict[str, Any] = {name: {"role": "quasi-identifier", **table.columns.get(name, {})} for name in names}
    if method.sets == "only":
        columns[table.sets] = {"role": "quasi-identifier", "kind": "set", "taxonomy": "wordnet"}
    taxonomies = {name: make() for name, make in table.taxonomies.items() if name in names}
    parameters = dict(PARAMETERS.get(method.name, {}))
    if declared:
        columns |= {name: {"role": "quasi-identifier", "hierarchy": f"{name}.csv"} for name in names}
        parameters = {"levels": {name: int(at > 0) for at, name in enumerate(names)}}
    elif private:
        span = {name: [0, 120] for name in table.numbers}
        parameters = {"bounds": span, "domains": {n: sorted({r[n] for r in every}) for n in names if n not in span}}
    else:
        columns |= {"row": {"role": "insensitive", "kind": "numeric", "accept": "identifying"}}
        columns |= {table.secret: {"role": "sensitive", "accept": "identifying"}}
    data: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in columns if name != "row"}
    if not declared:
        data = {name: list(map(int, cells)) if name in table.numbers else cells for name, cells in data.items()}
    if not private:
        data |= {"row": list(range(len(rows)))}
    project = Project.model_validate(
        {
            "columns": columns,
            "privacy": [promise],
            "method": {"name": method.name, "parameters": parameters},
            "release": {
                "file": "released.csv",
                "suppression": 0.5 if method.sets == "only" else 0.05,
                "shuffle": not private or declared,
                "suppressed": "drop",
            },
        }
    )
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore")
        for name in names if declared else ():  # all values that are possible, whoever is in the table
            with (Path(folder) / f"{name}.csv").open("w", encoding="utf-8", newline="") as file:
                csv.writer(file, delimiter=";").writerows(
                    (value, "*") for value in sorted({row[name] for row in every})
                )
        done = release(project, data=data, given=Given(taxonomies=taxonomies), folder=folder, rng=1)
        with done.file.open(encoding="utf-8", newline="") as file:
            released = list(csv.DictReader(file))
    if declared:
        return _dealt(released, rows, names)
    return [{**row, "row": row.get("row", str(number))} for number, row in enumerate(released)]


def _dealt(released: list[Row], rows: list[Row], names: Sequence[str]) -> list[Row]:
    """Records without a number, each given to somebody of whom it is true: all of these are as likely to be drawn."""
    waiting: dict[tuple[str, ...], list[int]] = {}
    for number, row in enumerate(rows):
        waiting.setdefault((row[names[0]], *("*" for _ in names[1:])), []).append(number)
    return [{**row, "row": str(waiting[tuple(row[name] for name in names)].pop())} for row in released]


def _near(
    inside: list[Row],
    released: list[Row],
    names: Sequence[str],
    spelled: tuple[Sequence[list[str]], Sequence[list[str]]],
    numbers: Sequence[str] | None,
) -> list[Any]:
    """Distances of labels from values: of generalized ones (no `numbers`) 0 or 1; else of numbers how far they are."""
    near = []
    for name, shown, there in zip(names, *spelled, strict=True):
        if numbers is None:
            matrix = np.ones((len(shown), len(there)))
            at = {label: i for i, label in enumerate(shown)}, {value: i for i, value in enumerate(there)}
            for row in released:
                matrix[at[0][row[name]], at[1][inside[int(row["row"])][name]]] = 0.0
            near.append(matrix)
        elif any(label.startswith("#") for label in shown):
            near.append(_apart(shown, there))
        elif name in numbers:
            span = max(map(float, there)) - min(map(float, there)) or 1.0
            near.append(np.abs(np.array(shown, float)[:, None] - np.array(there, float)) / span)
        else:
            near.append((np.array(shown)[:, None] != np.array(there)).astype(float))
    return near


def _apart(shown: Sequence[str], there: Sequence[str]) -> Any:
    """How little a record that holds pieces of several people has in common with a set, as a share of all items."""
    held = [frozenset(item.partition(" ")[2] for item in label.split(";") if " " in item) for label in shown]
    known = [frozenset(value.split(";")) for value in there]
    return np.array([[1 - len(a & b) / max(1, len(a | b)) for b in known] for a in held])


def _by_meaning(
    seen: Seen, table: Table, names: Sequence[str], spelled: tuple[Sequence[list[str]], Sequence[list[str]]]
) -> Seen:
    """The same where words are compared by what they mean, as far as a taxonomy knows them."""
    near = []
    for name, shown, there, plain in zip(names, *spelled, seen.near, strict=True):
        if "taxonomy" not in table.columns[name]:
            near.append(plain)
            continue
        meaning = _meaning(table, name)
        words: dict[Any, int] = dict.fromkeys([*shown, *there], 1)
        concepts = meaning.mapping(name, words).concepts
        distance = meaning.distance(name)
        listed = [word for word in words if word in concepts]
        codes = distance.taxonomy.codes([concepts[word] for word in listed])
        far = distance.matrix(codes) / (distance.maximum or 1.0)
        at = {word: i for i, word in enumerate(listed)}
        matrix = plain.copy()
        for i, label in enumerate(shown):
            for j, value in enumerate(there):
                if label in at and value in at:
                    matrix[i, j] = far[at[label], at[value]]
        near.append(matrix)
    return Seen(seen.labels, seen.secrets, seen.owners, near)


def _markdown(outcomes: list[Attacked]) -> str:
    lines = [HEADER, ("---",) * len(HEADER), *(outcome.line for outcome in outcomes)]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


if __name__ == "__main__":
    folder = Path(__file__).parent / "results"
    folder.mkdir(exist_ok=True)
    run(folder)
