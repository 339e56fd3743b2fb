"""Hierarchies as JSON: labels level by level, and each label's parent.

Concepts are written as the taxonomy's own ids, with its name, version and fingerprint, so that they mean the same
when the file is read again, with a domain or without; read with another taxonomy, the file is refused. Files of version
1 are still read: ids in them are taken where the taxonomy has their name, and codes, which say nothing outside the
domain that they were made in, are left out.
"""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.counts import Value
from keepsense.errors import BadHierarchy, UnknownConcept
from keepsense.files import parsed_json
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.hierarchies.formats.hierarchy_formats import FORMATS, Format, Passed, check_depth, read_text, write_bytes
from keepsense.hierarchies.hierarchy import UNKNOWN, Hierarchy
from keepsense.hierarchies.hierarchy_checks import check, require
from keepsense.taxonomy.taxonomy import Identity, check_same, identity

if TYPE_CHECKING:
    from keepsense.taxonomy.taxonomy import Taxonomy

FORMAT = "keepsense hierarchy"
VERSION = 2
_READABLE = (1, 2)


def format_json(hierarchy: Hierarchy, *, taxonomy: Taxonomy | Passed | None = None) -> str:
    """Spell a hierarchy as JSON; its concepts are named with the taxonomy they are of, and left out without it.

    >>> format_json(Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")], name="job"))[:61]
    '{"format": "keepsense hierarchy", "version": 2, "name": "job"'
    """
    document: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "name": hierarchy.name,
        "kind": hierarchy.kind,
        "labels": [[_plain(hierarchy.name, label) for label in labels] for labels in hierarchy.labels],
        "parents": [up.tolist() for up in hierarchy.parents],
    }
    stated = taxonomy.identity if isinstance(taxonomy, Passed) else None if taxonomy is None else identity(taxonomy)
    if hierarchy.concepts is not None and taxonomy is not None and stated is not None:
        document["taxonomy"] = stated.plain()
        document["concepts"] = [
            [None if code < 0 else taxonomy.id(code) for code in level.tolist()] for level in hierarchy.concepts
        ]
    return json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"


def parse_json(text: str, *, taxonomy: Taxonomy | Passed | None = None, file: str = "hierarchy") -> Hierarchy:
    """Read a hierarchy from JSON; concepts need the taxonomy that the file was made with and are left out without it.

    A concept is the one whose id is written, unless its label names another sense of the same word (`coach#2`). In a
    part of a taxonomy (`Taxonomy.below`) what lies above the part is its root; other concepts outside are refused.

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
    if document.get("version") not in _READABLE:
        raise BadHierarchy(
            f"{file}: version {document.get('version')!r} is not known; this Keepsense reads up to {VERSION}, so use a"
            " newer one"
        )
    name, kind = document.get("name"), document.get("kind")
    if not isinstance(name, str) or kind not in KINDS:
        raise BadHierarchy(f"{file}: name and kind are needed; kind is one of {', '.join(KINDS)}")
    labels = document.get("labels")
    if not isinstance(labels, list) or not labels or not all(isinstance(level, list) and level for level in labels):
        raise BadHierarchy(f"{file}: labels must be a list of levels, each a list with at least one label")
    check_depth(file, len(labels))
    table = tuple(tuple(_value(file, label) for label in level) for level in labels)
    codes = _codes(file, [len(level) for level in table], document.get("parents"))
    concepts = _concepts(file, document, table, taxonomy)
    hierarchy = Hierarchy(name, table, codes, str(kind), concepts)
    require(check(hierarchy))
    return hierarchy


def read_json(path: str | Path, *, taxonomy: Taxonomy | Passed | None = None) -> Hierarchy:
    """Read a JSON file (see `parse_json`).

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "job.json"
    >>> write_json(Hierarchy.of_rows([("nurse", "*")], name="job"), path)
    >>> read_json(path)
    Hierarchy('job': nominal, 1 leaves, height 1)
    """
    return parse_json(read_text(path), taxonomy=taxonomy, file=Path(path).name)


def write_json(hierarchy: Hierarchy, path: str | Path, *, taxonomy: Taxonomy | Passed | None = None) -> None:
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
    file: str, document: dict[str, Any], labels: tuple[tuple[Value, ...], ...], taxonomy: Taxonomy | Passed | None
) -> tuple[np.ndarray[Any, np.dtype[np.int32]], ...] | None:
    """Codes in the taxonomy of the concepts that a file names, None where it names none or there is no taxonomy."""
    written, stated = document.get("concepts"), _stated(file, document)
    if written is None:
        return None
    sizes = [len(level) for level in labels]
    if not isinstance(written, list) or [len(x) if isinstance(x, list) else -1 for x in written] != sizes:
        raise BadHierarchy(f"{file}: concepts must have the shape of labels")
    if not all(c is None or isinstance(c, str) or (type(c) is int and -1 <= c < 2**31) for x in written for c in x):
        raise BadHierarchy(f"{file}: a concept must be an id of the taxonomy or null")
    if taxonomy is None or stated is None or any(type(c) is int for level in written for c in level):
        return None  # codes of who knows which part of which taxonomy: looking the labels up again is safer
    if isinstance(taxonomy, Passed):
        taxonomy.identity = stated
        code_of = _passing(taxonomy)
    else:
        if not check_same(file, stated, taxonomy, _REMEDY) and stated.fingerprint:
            raise BadHierarchy(f"{file}: the taxonomy {stated} has changed since the file was made; {_REMEDY}")
        code_of = _within(file, taxonomy)
    levels = [
        [UNKNOWN if concept is None else code_of(concept, label) for concept, label in zip(*level, strict=True)]
        for level in zip(written, labels, strict=True)
    ]
    return tuple(np.array(codes, dtype=np.int32) for codes in levels)


_REMEDY = (
    "give the taxonomy that it was made with, build the hierarchy again, or convert it to CSV, whose labels are looked"
    " up anew"
)


def _stated(file: str, document: dict[str, Any]) -> Identity | None:
    """The taxonomy that a file says it was made with; version 1 stated its name alone, that of a part with its root."""
    written = document.get("taxonomy")
    if document["version"] == 1:
        return Identity(written) if isinstance(written, str) else None
    stated = Identity.of_plain(written)
    if stated is None and document.get("concepts") is not None:
        raise BadHierarchy(f"{file}: concepts need the name and the fingerprint of their taxonomy beside them")
    return stated


def _passing(passed: Passed) -> Callable[[str, Value], int]:
    return lambda concept, _: passed.code(concept)


def _within(file: str, taxonomy: Taxonomy) -> Callable[[str, Value], int]:
    """How the code of a concept is found: by its id in the whole taxonomy, or by a label that names another sense."""
    whole = taxonomy if taxonomy.whole is None else taxonomy.whole
    above = frozenset(whole.subsumers(taxonomy.in_whole(taxonomy.root)).tolist())

    def code_of(concept: str, label: Value) -> int:
        there = whole.coded(concept)
        if there is None:
            raise UnknownConcept(f"{file}: {whole.name} has no concept {concept[:80]!r}; {_REMEDY}")
        there = _another_sense(whole, there, label)
        own = taxonomy.root if there in above else taxonomy.part_of(there)
        if own is None:
            raise BadHierarchy(
                f"{file}: the concept {concept[:80]!r} is no kind of {taxonomy.label(taxonomy.root)!r}, the domain of"
                " the column; give no domain, or build the hierarchy again with it"
            )
        return own

    return code_of


def _another_sense(taxonomy: Taxonomy, concept: int, label: Value) -> int:
    """The concept, or the other sense of one of its names that somebody has written as the label (`coach#2`)."""
    word, mark, _ = label.rpartition("#") if isinstance(label, str) else ("", "", "")
    named = taxonomy.get(str(label)) if mark and word in taxonomy.synonyms(concept) else None
    return concept if named is None else named


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
