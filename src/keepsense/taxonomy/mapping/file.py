"""A mapping as a CSV file for people: one line a value, with the sense chosen, the others, and what it means.

An edited cell wins. `concept` (the id) and `label` (`coach#1`) say the same twice; `description` tells which of the two
has been edited: the one it does not describe. Emptying one of them leaves the value unmapped. Writing `coach#2`
over `coach#1`, or a name on the line of an unmapped value, is all it takes.

Spreadsheets run cells that begin with `=`, `+`, `-` or `@` as formulas. Such cells, and those that begin with an
apostrophe, are written with an apostrophe in front, which reading takes off again.
"""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.arrays import Rows
from keepsense.errors import BadInput, UnknownConcept
from keepsense.files import write_whole
from keepsense.taxonomy.core import Concept, Taxonomy
from keepsense.taxonomy.glosses import explain
from keepsense.taxonomy.lookup import lookup, sense_name

if TYPE_CHECKING:
    from keepsense.taxonomy.mapping.table import Mapping

HOW = ("table", "given", "exact", "normalised", "head", "doubtful", "suggested", "unmapped")
"""How a value was mapped: by the user's table, by a sense it names, by its exact name, by its normalised one, by its
head noun, which somebody accepted; known, but nobody can say in which sense; by nothing yet, though its head noun is a
suggestion; or not at all."""

UNMAPPED = "unmapped"
DOUBTFUL = "doubtful"
SUGGESTED = "suggested"

HEADER = ("value", "concept", "label", "how", "rows", "alternatives", "description")
_MISSING = "missing"
_FORMULA = frozenset("=+-@\t\r\n＝＋－＠'")
_MOST_ALTERNATIVES = 20


def save(mapping: Mapping, path: str | os.PathLike[str]) -> None:
    """Write a mapping; the file appears only when it is whole.

    >>> import pathlib, tempfile
    >>> from keepsense.taxonomy import from_edges
    >>> from keepsense.taxonomy.mapping.mapper import map_values
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "animal.csv"
    ...     save(map_values(["Cats", "dog"], pets), file)
    ...     file.read_text().splitlines()[1]
    '"Cats","cat","cat","normalised","1","","cat, a kind of pet"'
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(HEADER)
    taxonomy = mapping.taxonomy
    rows = Counter[str]()
    for value, count in zip(mapping.values, mapping.rows.tolist(), strict=True):
        rows[str(value)] += count  # 7 and "7" are one line
    lines = {str(value): i for i, value in enumerate(mapping.values)}
    for value, i in lines.items():
        code, name = int(mapping.codes[i]), mapping.names[i]
        others = [int(c) for c in mapping.candidates[i] if c != code][:_MOST_ALTERNATIVES]
        alternatives = " | ".join(f"{sense_name(taxonomy, c, name)} = {explain(taxonomy, c)}" for c in others)
        chosen = (taxonomy.id(code), mapping.labels[i]) if code >= 0 else ("", "")
        described = explain(taxonomy, code) if code >= 0 else ""
        cells = (value, *chosen, mapping.how[i], str(rows[value]), alternatives, described)
        writer.writerow([_guarded(cell) for cell in cells])
    if mapping.missing:
        writer.writerow(["", "", "", _MISSING, mapping.missing, "", ""])
    write_whole(path, [out.getvalue().encode("utf-8", "surrogatepass")])


def read(path: str | os.PathLike[str], taxonomy: Taxonomy, *, column: str | None = None) -> tuple[Any, ...]:
    """Fields of a mapping that `save` wrote and people may have edited; a line that makes no sense is refused.

    >>> read("nowhere.csv", None)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: nowhere.csv: the file cannot be read (No such file or directory)
    """
    source = Path(path)
    lines = _lines(source)
    values: dict[str, int] = {}
    codes, how, names, options, rows = [], [], [], [], []
    missing = 0
    for number, cells in lines:
        where = f"{source.name}, line {number}"
        if len(cells) != len(HEADER):
            raise BadInput(f"{where}: {len(cells)} cells where the header has {len(HEADER)}")
        value, concept, label, found_by, count, alternatives, description = map(_unguarded, cells)
        if not (count.isascii() and count.isdigit() and len(count) < 19):
            raise BadInput(f"{where}: the number of rows must be a whole number, 0 or more")
        if found_by == _MISSING and not value.strip():
            missing += int(count)
            continue
        if found_by not in HOW:
            raise BadInput(f"{where}: the cell `how` must be one of {', '.join(HOW)}")
        if not value.strip():
            raise BadInput(f"{where}: the value is empty; only a line with `missing` under `how` may have none")
        if value in values:
            raise BadInput(f"{where}: the value is also on line {values[value]}; keep one of the two")
        values[value] = number
        code, edited = _decided(where, taxonomy, concept, label, description)
        codes.append(-1 if code is None else code)
        how.append(_how(found_by, code, edited))
        name = label.rpartition("#")[0] or label
        names.append(name or (taxonomy.label(code) if code is not None else ""))
        others = [taxonomy.get(part.partition(" = ")[0]) for part in alternatives.split(" | ")]
        options.append(list(dict.fromkeys(c for c in (code, *others) if c is not None)))
        rows.append(int(count))
    owner = np.repeat(np.arange(len(options), dtype=np.int32), [len(o) for o in options])
    return (
        source.stem if column is None else column,
        tuple(values),
        np.array(codes, dtype=np.int32),
        tuple(how),
        tuple(names),
        Rows.from_pairs(owner, np.array([c for o in options for c in o], dtype=np.int32), len(options)),
        np.array(rows, dtype=np.int64),
        missing,
        "file",
    )


def entry_code(entry: Concept | None, taxonomy: Taxonomy) -> int | None:
    """Code of the concept that an entry of a table or a file names, or None where it says that there is none.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet")])
    >>> entry_code("Cat", pets), entry_code("unmapped", pets)
    (0, None)
    """
    if entry is None:
        return None
    if not isinstance(entry, str):
        return taxonomy.code(entry)
    found = taxonomy.get(entry)
    entry = entry.strip()
    if found is None and entry and entry.lower() != UNMAPPED:
        named = lookup(taxonomy).find(entry)
        if named is None or named.how == "head":
            close = lookup(taxonomy).suggest([entry])[0]
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise UnknownConcept(f"{taxonomy.name}: no concept has the id or name {entry[:80]!r}.{hint}")
        found = named.concepts[0]
    return found


def _lines(source: Path) -> list[tuple[int, list[str]]]:
    """Numbered lines after the header; commas, or semicolons as some spreadsheets write."""
    try:
        raw = source.read_bytes()
    except OSError as error:
        raise BadInput(f"{source.name}: the file cannot be read ({error.strerror})") from None
    try:
        text = raw.decode("utf-8-sig", "surrogatepass")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{source.name}, line {line}: not UTF-8 text; save the file as CSV UTF-8") from None
    if not text.strip():
        raise BadInput(f"{source.name}: the file is empty; it needs the header {','.join(HEADER)}")
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    limit = csv.field_size_limit(max(csv.field_size_limit(), len(text) + 1))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines: list[tuple[int, list[str]]] = []
    try:
        begin = 1
        for cells in reader:
            if any(cells):
                lines.append((begin, cells))
            begin = reader.line_num + 1
    except csv.Error as error:
        raise BadInput(f"{source.name}, line {reader.line_num}: not a CSV line ({error})") from None
    finally:
        csv.field_size_limit(limit)
    if tuple(cell.strip() for cell in lines[0][1]) != HEADER:
        raise BadInput(f"{source.name}, line {lines[0][0]}: the header must be {','.join(HEADER)}")
    return lines[1:]


def _decided(where: str, taxonomy: Taxonomy, concept: str, label: str, description: str) -> tuple[int | None, bool]:
    """The concept a line means, and whether a person has changed it."""
    by_id, by_label = _named(where, taxonomy, concept), _named(where, taxonomy, label)
    described = [_describes(description, taxonomy, code) for code in (by_id, by_label)]
    if by_id == by_label:
        return by_id, not described[0]
    if described[0] == described[1]:
        raise BadInput(
            f"{where}: the concept and the label say different things, and the description does not tell which was"
            " edited; empty the description and the cell that is out of date"
        )
    return (by_label if described[0] else by_id), True


def _describes(description: str, taxonomy: Taxonomy, code: int | None) -> bool:
    return not description if code is None else description in (explain(taxonomy, code), taxonomy.describe(code))


def _how(found_by: str, code: int | None, edited: bool) -> str:
    """What a line a person has changed says, it says like a table does."""
    if edited or (code is not None and found_by in (UNMAPPED, SUGGESTED)):
        return "table"
    return UNMAPPED if code is None and found_by not in ("table", DOUBTFUL, SUGGESTED) else found_by


def _named(where: str, taxonomy: Taxonomy, text: str) -> int | None:
    try:
        return entry_code(text, taxonomy)
    except UnknownConcept as error:
        raise UnknownConcept(f"{where}: {error}") from None


def _guarded(cell: str) -> str:
    return "'" + cell if cell[:1] in _FORMULA and cell else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:2] in _FORMULA and len(cell) > 1 else cell
