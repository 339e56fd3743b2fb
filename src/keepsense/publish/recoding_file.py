"""A recoding as a private file: it says what became of every value, so it stays with the publisher."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.counts import Counts
from keepsense.engines.files import whole_file
from keepsense.errors import BadInput
from keepsense.recoding import Cells, Cut, Cuts, Draws, Recoding


def save_recodings(recodings: list[Recoding], path: Path) -> None:
    """Write recodings to a file that only its owner may read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_recodings([Cuts((Cut("sex", ("f", "m"), ("*", "*"), 1),))], Path(folder) / "recoding.json")
    ...     read_recodings(Path(folder) / "recoding.json")[0].levels
    (1,)
    """
    data = json.dumps([_plain(rule) for rule in recodings], ensure_ascii=False, separators=(",", ":"))
    with whole_file(path) as part:
        part.touch(mode=0o600)
        part.write_text(data, encoding="utf-8")


def read_recodings(path: Path) -> list[Recoding]:
    """Read what `save_recodings` wrote."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        return [_rule(entry) for entry in data]
    except OSError as error:
        raise BadInput(f"{path.name}: the recoding cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise BadInput(f"{path.name}: this is not a recoding file") from None


def _plain(rule: Recoding) -> dict[str, Any]:
    if isinstance(rule, Cuts):
        cuts = [{"name": c.name, "inputs": c.inputs, "outputs": c.outputs, "level": c.level} for c in rule.cuts]
        return {"form": "cuts", "cuts": cuts, "suppress": sorted(map(list, rule.suppress), key=str)}
    if isinstance(rule, Draws):
        return {
            "form": "draws",
            "name": rule.name,
            "inputs": rule.inputs,
            "outputs": rule.outputs,
            "probabilities": rule.probabilities.tolist(),
        }
    inputs = rule.inputs
    if inputs is None:
        raise BadInput("the recoding is not bound to a table; bind it before saving")
    return {
        "form": "cells",
        "names": rule.names,
        "values": rule.values,
        "source": rule.source.tolist(),
        "codes": rule.codes.tolist(),
        "multiplicity": rule.multiplicity.tolist(),
        "suppressed": None if rule.suppressed is None else rule.suppressed.tolist(),
        "inputs": {
            "names": inputs.names,
            "values": inputs.values,
            "codes": inputs.codes.tolist(),
            "weights": inputs.weights.tolist(),
        },
    }


def _rule(data: dict[str, Any]) -> Recoding:
    if data["form"] == "cuts":
        cuts = tuple(Cut(c["name"], tuple(c["inputs"]), tuple(c["outputs"]), c["level"]) for c in data["cuts"])
        return Cuts(cuts, frozenset(tuple(row) for row in data["suppress"]))
    if data["form"] == "draws":
        matrix = np.array(data["probabilities"], dtype=np.float64)
        return Draws(data["name"], tuple(data["inputs"]), tuple(data["outputs"]), matrix)
    inputs = data["inputs"]
    width = len(inputs["names"])
    counts = Counts(
        tuple(inputs["names"]),
        tuple(tuple(v) for v in inputs["values"]),
        np.array(inputs["codes"], dtype=np.int32).reshape(-1, width),
        np.array(inputs["weights"], dtype=np.int64),
    )
    cells = Cells(
        tuple(data["names"]),
        tuple(tuple(v) for v in data["values"]),
        np.array(data["source"]),
        np.array(data["codes"], dtype=np.int32).reshape(-1, len(data["names"])),
        np.array(data["multiplicity"]),
        None if data["suppressed"] is None else np.array(data["suppressed"]),
    )
    return cells.bound(counts)
