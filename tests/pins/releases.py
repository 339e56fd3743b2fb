"""What is pinned of a release: its bytes where chance has no part in it, else what chance cannot change."""

from __future__ import annotations

import csv
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from tests.pins.cases import METHODS, OTHERS
from tests.pins.made_up import toml, write_inputs
from tests.pins.terminal import keepsense

FILE = Path(__file__).parent / "releases.json"
SEEDS = (1, 2, 3)
CASES = {**{f"method: {name}": case for name, case in METHODS.items()}, **OTHERS}


def facts(name: str, folder: Path, seed: int = SEEDS[0]) -> dict[str, Any]:
    """Release the project of a case in a folder that is not there yet, and say all that can be compared."""
    folder.mkdir()
    write_inputs(folder)
    (folder / "keepsense.toml").write_text(toml(CASES[name]), encoding="utf-8")
    answer = keepsense("run", "keepsense.toml", "--seed", str(seed), "--json", folder=folder)
    assert answer.code == 0, f"{name}: exit {answer.code}: {answer.err}"
    told = json.loads(answer.out)
    header, rows = _table(folder / told["file"])
    public = json.loads((folder / "release" / "release.json").read_text(encoding="utf-8"))
    recoding = (folder / "release" / "private" / "recoding.json").read_text(encoding="utf-8")
    return {
        "file": told["file"],
        "columns": header,
        "rows": len(rows),
        "verified": told["verified"],
        "method": told["method"],
        "promises": told["promises"],
        "suppressed": [told["suppressed records"], told["of them left out"]],
        "classes": told["classes"],
        "findings": sorted(finding["code"] for finding in told["findings"]),
        "utility": steady(told["utility"]),
        "risk": steady(told["risk"]),
        "values of each column": {
            column: _digest("\n".join(sorted(row[j] for row in rows))) for j, column in enumerate(header)
        },
        "rows in any order": _digest("\n".join(sorted("\t".join(row) for row in rows))),
        "rows in order": _digest("\n".join("\t".join(row) for row in rows)),
        "release.json": _digest(json.dumps(steady(_of_the_method(public)))),
        "recoding.json": _digest(json.dumps(steady(json.loads(recoding)["rules"]))),
        "warnings": [line for line in answer.err.splitlines() if line],
    }


VARYING = ("keepsense", "sha256", "dictionary")
"""Keys of a description that change with the version, or that another pin holds."""


def _of_the_method(public: dict[str, Any]) -> dict[str, Any]:
    """A description without what varies, and without figures of columns that no method changes."""
    told = ("found by it alone", "tells")
    columns = {name: {k: v for k, v in column.items() if k not in told} for name, column in public["columns"].items()}
    return {**{k: v for k, v in public.items() if k not in VARYING}, "columns": columns}


def pinned(name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """The group of a case and its pin: what several seeds agree on must stay."""
    first, *others = (facts(name, folder / f"seed {seed}", seed) for seed in SEEDS)
    stays = _shared(first, others)
    if stays == first:
        return ALWAYS, stays
    # some noise comes from a source that no seed reaches
    again = facts(name, folder / "again", SEEDS[0])
    return BY_CHANCE, {"must stay": stays, "may be renewed": without(_shared(first, [again]), stays)}


ALWAYS, BY_CHANCE = "the same whatever the seed", "drawn by chance"


def _shared(first: dict[str, Any], others: list[dict[str, Any]]) -> dict[str, Any]:
    """What all agree on, also inside of parts that differ."""
    shared = {}
    for key, value in first.items():
        theirs = [other.get(key) for other in others]
        if all(other == value for other in theirs):
            shared[key] = value
        elif isinstance(value, dict) and all(isinstance(other, dict) for other in theirs):
            shared[key] = _shared(value, theirs)
    return shared


def without(whole: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """What the whole says beyond a part."""
    rest = {
        key: without(value, part[key]) if key in part and isinstance(value, dict) else value
        for key, value in whole.items()
        if part.get(key) != value
    }
    return rest


def common(whole: Any, part: Any) -> Any:
    """What the whole says of the things that a part speaks of."""
    if isinstance(part, dict) and isinstance(whole, dict):
        return {key: common(whole[key], value) for key, value in part.items() if key in whole}
    return whole


def steady(value: Any) -> Any:
    """Numbers rounded, so that another processor's last digit changes nothing."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {key: steady(inner) for key, inner in value.items()}
    return [steady(inner) for inner in value] if isinstance(value, list) else value


def _table(file: Path) -> tuple[list[str], list[list[str]]]:
    """The released rows as text."""
    if file.suffix == ".parquet":
        import pyarrow.parquet as pq

        table = pq.read_table(file)
        rows = [list(row) for row in zip(*table.to_pydict().values(), strict=True)]
        return [f"{field.name}: {field.type}" for field in table.schema], [
            [_cell(json.dumps(cell, default=str)) for cell in row] for row in rows
        ]
    text = file.read_text(encoding="utf-8")
    if file.suffix == ".jsonl":
        return ["json lines"], [[_cell(line)] for line in text.splitlines()]
    header, *rows = csv.reader(text.splitlines())
    return header, [[_cell(cell) for cell in row] for row in rows]


def _cell(text: str) -> str:
    return re.sub(r"-?\d+\.\d{7,}(e[-+]?\d+)?", lambda match: f"{float(match[0]):.6g}", text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
