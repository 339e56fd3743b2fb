"""The recoding as a private file: it says what became of every value, so it stays with the publisher."""

from __future__ import annotations

import datetime
import decimal
import json
import uuid
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.files import parsed_json, whole_file
from keepsense.recoding import Cells, Cut, Cuts, Draws, Recoding
from keepsense.release.folder.packed_arrays import LONG, plain_array, read_array

FORMAT = "keepsense recoding"
VERSION = 3
"""Version of the files; those of the first were a bare list of rules and stated none. Those that hold long arrays,
packed, are of the third, all others of the second still."""


def save_recodings(recodings: list[Recoding], path: Path) -> None:
    """Write recodings to a file that only its owner may read.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_recodings([Cuts((Cut("sex", ("f", "m"), ("*", "*"), 1),))], Path(folder) / "recoding.json")
    ...     read_recodings(Path(folder) / "recoding.json")[0].levels
    (1,)
    """
    long = any(_is_long(rule) for rule in recodings)
    document = {"format": FORMAT, "version": VERSION if long else 2, "rules": [_plain(rule) for rule in recodings]}
    data = json.dumps(document, ensure_ascii=False, separators=(",", ":"), default=_spelled)
    with whole_file(path) as part:
        part.touch(mode=0o600)
        part.write_text(data, encoding="utf-8")


def read_recodings(path: Path) -> list[Recoding]:
    """Read what `save_recodings` wrote, in this version or an earlier one.

    >>> from keepsense.release.example import example_release
    >>> done = example_release()
    >>> [rule.levels for rule in read_recodings(done.file.parent / "private" / "recoding.json")]
    [(1, 0)]
    """
    try:
        data = parsed_json(path.read_bytes(), object_hook=_typed)
        entries = _rules(path, data) if isinstance(data, dict) else data
        if not isinstance(entries, list):
            raise ValueError
        rules = [_rule(entry) for entry in entries]
        if not all(isinstance(name, str) for rule in rules for name in rule.names):
            raise ValueError
        return rules
    except OSError as error:
        raise BadInput(f"{path.name}: the recoding cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, ArithmeticError):
        raise BadInput(f"{path.name}: this is not a recoding file") from None


def _rules(path: Path, document: dict[str, Any]) -> Any:
    version = document["version"]
    if document["format"] != FORMAT or type(version) is not int or version < 2:
        raise ValueError
    if version > VERSION:
        raise BadInput(
            f"{path.name}: version {version} is not known; this Keepsense reads up to {VERSION}, so use a newer one"
        )
    return document["rules"]


# values that JSON has no word for, by name: how they are written, and how they come back
_TYPES: dict[str, tuple[type, Callable[[Any], str], Callable[[str], Any]]] = {
    "timestamp": (datetime.datetime, lambda v: str(v.isoformat()), datetime.datetime.fromisoformat),
    "date": (datetime.date, lambda v: str(v.isoformat()), datetime.date.fromisoformat),
    "time": (datetime.time, lambda v: str(v.isoformat()), datetime.time.fromisoformat),
    "span": (datetime.timedelta, lambda v: repr(v.total_seconds()), lambda t: datetime.timedelta(seconds=float(t))),
    "decimal": (decimal.Decimal, str, decimal.Decimal),
    "uuid": (uuid.UUID, str, uuid.UUID),
    "bytes": (bytes, bytes.hex, bytes.fromhex),
}


def _spelled(value: Any) -> dict[str, str]:
    """A value that JSON cannot hold as a marked text."""
    for name, (kind, write, _) in _TYPES.items():  # a timestamp is a date, too, so it comes first
        if isinstance(value, kind):
            return {"type": name, "value": write(value)}
    if isinstance(value, np.generic):
        return value.item()  # type: ignore[no-any-return]
    raise BadInput(f"a recoding of values of type {type(value).__name__} cannot be kept; release the column as text")


def _typed(data: dict[str, Any]) -> Any:
    """A marked text as the value it stands for; other objects are left alone."""
    if data.keys() == {"type", "value"} and data["type"] in _TYPES:
        return _TYPES[data["type"]][2](data["value"])
    return data


def _plain_cut(cut: Cut) -> dict[str, Any]:
    concepts = {"concepts": [list(pair) for pair in cut.concepts.items()]} if cut.concepts else {}
    return {"name": cut.name, "inputs": cut.inputs, "outputs": cut.outputs, "level": cut.level, **concepts}


def _cut(data: dict[str, Any]) -> Cut:
    return Cut(
        data["name"],
        _values(data["inputs"]),
        _values(data["outputs"]),
        data["level"],
        _concepts(data.get("concepts", ())),
    )


def _concepts(pairs: Iterable[Any]) -> dict[Any, str]:
    concepts = dict(map(_values, pairs))
    if not all(isinstance(concept, str) for concept in concepts.values()):
        raise ValueError
    return concepts


def _plain(rule: Recoding) -> dict[str, Any]:
    if isinstance(rule, Cuts):
        cuts = [_plain_cut(cut) for cut in rule.cuts]
        return {"form": "cuts", "cuts": cuts, "suppress": _plain_classes(rule)}
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
        "source": plain_array(rule.source),
        "codes": plain_array(rule.codes),
        "multiplicity": plain_array(rule.multiplicity),
        "suppressed": None if rule.suppressed is None else plain_array(rule.suppressed),
        "inputs": {
            "names": inputs.names,
            "values": inputs.values,
            "codes": plain_array(inputs.codes),
            "weights": plain_array(inputs.weights),
        },
        **_plain_concepts(rule),
    }


def _is_long(rule: Recoding) -> bool:
    """Whether some of what a rule says is packed."""
    if isinstance(rule, Cuts):
        return len(rule.suppress) * len(rule.cuts) >= LONG
    return isinstance(rule, Cells) and (
        rule.codes.size >= LONG or rule.inputs is None or rule.inputs.codes.size >= LONG
    )


def _plain_classes(rule: Cuts) -> Any:
    """The classes that are suppressed; where they are many, as codes of their labels."""
    classes = sorted(map(list, rule.suppress), key=str)
    if not _is_long(rule):
        return classes
    values, columns = [], []
    for column in zip(*classes, strict=True):
        place = {label: i for i, label in enumerate(dict.fromkeys(column))}
        columns.append(np.fromiter(map(place.__getitem__, column), np.int32, len(column)))
        values.append(list(place))
    return {"values": values, "codes": plain_array(np.stack(columns, axis=1))}


def _classes(data: Any) -> frozenset[tuple[Value, ...]]:
    if not isinstance(data, dict):
        return frozenset(_values(row) for row in data)
    values = [_values(labels) for labels in data["values"]]
    codes = read_array(data["codes"], np.int32).reshape(-1, len(values))
    _check_codes(codes, values)
    columns = [[labels[code] for code in column] for labels, column in zip(values, codes.T.tolist(), strict=True)]
    return frozenset(zip(*columns, strict=True))


def _plain_concepts(rule: Cells) -> dict[str, Any]:
    named = {name: [list(pair) for pair in labels.items()] for name, labels in rule.concepts.items() if labels}
    return {"concepts": named} if named else {}


def _rule(data: dict[str, Any]) -> Recoding:
    if data["form"] == "cuts":
        cuts = tuple(map(_cut, data["cuts"]))
        if not cuts:
            raise ValueError
        return Cuts(cuts, _classes(data["suppress"]))
    if data["form"] == "draws":
        matrix = np.array(data["probabilities"], dtype=np.float64)
        return Draws(data["name"], _values(data["inputs"]), _values(data["outputs"]), matrix)
    inputs = data["inputs"]
    width = len(inputs["names"])
    counts = Counts(
        tuple(inputs["names"]),
        tuple(_values(v) for v in inputs["values"]),
        read_array(inputs["codes"], np.int32).reshape(-1, width),
        read_array(inputs["weights"], np.int64),
    )
    cells = Cells(
        tuple(data["names"]),
        tuple(_values(v) for v in data["values"]),
        read_array(data["source"], None),
        read_array(data["codes"], np.int32).reshape(-1, len(data["names"])),
        read_array(data["multiplicity"], None),
        None if data["suppressed"] is None else read_array(data["suppressed"], None),
        concepts={name: _concepts(pairs) for name, pairs in data.get("concepts", {}).items()},
    )
    _check_codes(counts.codes, counts.values)
    _check_codes(cells.codes, cells.values)
    if cells.suppressed is not None and cells.suppressed.shape != cells.source.shape:
        raise ValueError
    return cells.bound(counts)


def _check_codes(codes: NDArray[np.int32], values: Sequence[Sequence[Any]]) -> None:
    """Refuse codes that stand for no value."""
    if codes.shape[1] != len(values):
        raise ValueError
    for column, dictionary in zip(codes.T, values, strict=True):
        if len(column) and not 0 <= column.min() <= column.max() < len(dictionary):
            raise ValueError


def _values(found: Iterable[Any]) -> tuple[Any, ...]:
    """A dictionary of values; sets, which JSON gives as lists, are tuples again."""
    values = tuple(tuple(v) if isinstance(v, list) else v for v in found)
    hash(values)  # what a cell holds can be looked up
    return values
