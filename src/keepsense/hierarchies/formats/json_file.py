"""Hierarchies as JSON: labels level by level and each label's parent, so a file can hold nothing but coarsenings.

Concepts are written as the taxonomy's own ids where the taxonomy is given, so that a file stays right when codes move.
"""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadHierarchy, UnknownConcept
from keepsense.files import parsed_json
from keepsense.hierarchies.core import UNKNOWN, Hierarchy
from keepsense.hierarchies.formats import FORMATS, Format
from keepsense.hierarchies.formats._files import read_text, write_bytes
from keepsense.hierarchies.kinds import KINDS
from keepsense.hierarchies.validate import check, require

if TYPE_CHECKING:
    from keepsense.taxonomy.core import Taxonomy

FORMAT = "keepsense hierarchy"
VERSION = 1


def format_json(hierarchy: Hierarchy, *, taxonomy: Taxonomy | None = None) -> str:
    """Spell a hierarchy as JSON.

    >>> format_json(Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")], name="job"))[:61]
    '{"format": "keepsense hierarchy", "version": 1, "name": "job"'
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": hierarchy.name,
        "kind": hierarchy.kind,
        "labels": [[_plain(hierarchy.name, label) for label in labels] for labels in hierarchy.labels],
        "parents": [up.tolist() for up in hierarchy.parents],
    }
    if hierarchy.concepts is not None:
        codes = [level.tolist() for level in hierarchy.concepts]
        document["concepts"] = (
            codes if taxonomy is None else [[None if c < 0 else taxonomy.id(c) for c in level] for level in codes]
        )
        if taxonomy is not None:
            document["taxonomy"] = taxonomy.name
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def parse_json(text: str, *, taxonomy: Taxonomy | None = None, file: str = "hierarchy") -> Hierarchy:
    """Read a hierarchy from JSON; concepts written as ids need the taxonomy and are left out without it.

    >>> job = Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")], name="job")
    >>> parse_json(format_json(job)).rows() == job.rows()
    True
    """
    try:
        document = parsed_json(text)
    except ValueError as error:
        raise BadHierarchy(f"{file}: not readable JSON ({error}); mend the file") from None
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise BadHierarchy(f"{file}: not a hierarchy of Keepsense; its format must be {FORMAT!r}")
    if document.get("version") != VERSION:
        raise BadHierarchy(f"{file}: version {document.get('version')!r} is not known; this Keepsense reads {VERSION}")
    name, kind = document.get("name"), document.get("kind")
    if not isinstance(name, str) or kind not in KINDS:
        raise BadHierarchy(f"{file}: name and kind are needed; kind is one of {', '.join(KINDS)}")
    labels = document.get("labels")
    if not isinstance(labels, list) or not labels or not all(isinstance(level, list) and level for level in labels):
        raise BadHierarchy(f"{file}: labels must be a list of levels, each a list with at least one label")
    table = tuple(tuple(_value(file, label) for label in level) for level in labels)
    codes = _codes(file, [len(level) for level in table], document.get("parents"))
    concepts = _concepts(file, document.get("concepts"), [len(level) for level in table], taxonomy)
    hierarchy = Hierarchy(name, table, codes, str(kind), concepts)
    require(check(hierarchy))
    return hierarchy


def read_json(path: str | Path, *, taxonomy: Taxonomy | None = None) -> Hierarchy:
    """Read a JSON file (see `parse_json`).

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.json"
    >>> write_json(Hierarchy.of_rows([("nurse", "*")], name="job"), path)
    >>> read_json(path)
    Hierarchy('job': nominal, 1 leaves, height 1)
    """
    return parse_json(read_text(path), taxonomy=taxonomy, file=Path(path).name)


def write_json(hierarchy: Hierarchy, path: str | Path, *, taxonomy: Taxonomy | None = None) -> None:
    """Write a JSON file (see `format_json`).

    >>> import tempfile
    >>> jobs = Hierarchy.of_rows([("nurse", "medic"), ("surgeon", "medic")], name="job")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_json(jobs, Path(folder) / "job.json")
    ...     len(read_json(Path(folder) / "job.json").leaves)
    2
    """
    write_bytes(path, format_json(hierarchy, taxonomy=taxonomy).encode("utf-8"))


def _codes(file: str, sizes: list[int], parents: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    steps = len(sizes) - 1
    if not isinstance(parents, list) or len(parents) != steps:
        raise BadHierarchy(f"{file}: parents must hold one list for each of the {steps} levels below the top")
    codes = np.empty((sizes[0], steps + 1), dtype=np.int32)
    codes[:, 0] = np.arange(sizes[0])
    for level, up in enumerate(parents):
        whole = isinstance(up, list) and all(type(p) is int and 0 <= p < sizes[level + 1] for p in up)
        if not whole or len(up) != sizes[level]:
            raise BadHierarchy(
                f"{file}: the parents of level {level} must be {sizes[level]:,} numbers below {sizes[level + 1]:,}"
            )
        codes[:, level + 1] = np.array(up, dtype=np.int32)[codes[:, level]]
    for level, size in enumerate(sizes):
        if len(np.unique(codes[:, level])) != size:
            raise BadHierarchy(f"{file}: level {level} has labels with no leaf below them; drop them")
    return codes


def _concepts(
    file: str, written: Any, sizes: list[int], taxonomy: Taxonomy | None
) -> tuple[np.ndarray[Any, np.dtype[np.int32]], ...] | None:
    if written is None:
        return None
    if not isinstance(written, list) or [len(x) if isinstance(x, list) else -1 for x in written] != sizes:
        raise BadHierarchy(f"{file}: concepts must have the shape of labels")
    named = any(isinstance(c, str) or c is None for level in written for c in level)
    if named and taxonomy is None:
        return None
    found = []
    for level in written:
        codes = []
        for concept in level:
            if concept is None or concept == UNKNOWN:
                codes.append(UNKNOWN)
            elif isinstance(concept, str) and taxonomy is not None:
                code = taxonomy.get(concept)
                if code is None:
                    raise UnknownConcept(
                        f"{file}: {taxonomy.name} has no concept {concept[:80]!r}; is it the right one?"
                    )
                codes.append(code)
            elif type(concept) is int and 0 <= concept < 2**31 and (taxonomy is None or concept < len(taxonomy)):
                codes.append(concept)
            else:
                raise BadHierarchy(f"{file}: a concept must be an id of the taxonomy, a code or null")
        found.append(np.array(codes, dtype=np.int32))
    return tuple(found)


def _plain(name: str, label: Value) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, datetime.datetime):
        return {"datetime": label.isoformat()}
    if isinstance(label, datetime.date):
        return {"date": label.isoformat()}
    if isinstance(label, float) and not math.isfinite(label):
        raise BadHierarchy(f"{name}: a label is not a finite number, which JSON cannot hold")
    if label is None or isinstance(label, str | int | float | bool):
        return label
    raise BadHierarchy(f"{name}: labels of type {type(label).__name__} cannot be written as JSON; use text or numbers")


def _value(file: str, label: Any) -> Value:
    if not isinstance(label, dict | list):
        return label  # type: ignore[no-any-return]
    try:
        if isinstance(label, dict) and set(label) == {"date"}:
            return datetime.date.fromisoformat(label["date"])
        if isinstance(label, dict) and set(label) == {"datetime"}:
            return datetime.datetime.fromisoformat(label["datetime"])
    except (TypeError, ValueError):
        pass
    raise BadHierarchy(f"{file}: a label must be text, a number, a date or null")


FORMATS.add("json", Format("json", "JSON, with concepts", (".json",), read_json, write_json, concepts=True))
