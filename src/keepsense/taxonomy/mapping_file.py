"""A mapping as a CSV file that people read and correct: one line a value, with the chosen sense and the others.

An edited cell wins. `concept` (the id) and `label` (`coach#1`) say the same twice; `description` tells which of the two
has been edited: the one it does not describe. Emptying one of them leaves the value unmapped. Writing `coach#2`
over `coach#1`, or a name on the line of an unmapped value, is all it takes. Where the description tells nothing, the id
wins, unless the label names another sense of the same word. `confidence` is how likely the chosen sense is the right
one, where that was weighed; `alternatives` are the other senses or, of an unknown value, names that may be meant.

The last line states the file's version and the taxonomy: its name, version and fingerprint. A file made with another
one is refused; where the taxonomy has changed since, every line is checked. Ids and sense numbers are those of the
whole taxonomy, also where a column has a domain. Files without that line, as they were written before, are read, too.

Spreadsheets run cells that begin with `=`, `+`, `-` or `@` as formulas. Such cells, and those that begin with an
apostrophe, are written with an apostrophe in front, which reading takes off again.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.arrays import Rows
from keepsense.errors import BadInput, UnknownConcept
from keepsense.files import write_whole
from keepsense.taxonomy.glosses import explain
from keepsense.taxonomy.lookup import lookup, sense_name
from keepsense.taxonomy.taxonomy import Concept, Identity, Taxonomy, check_same, identity

if TYPE_CHECKING:
    from keepsense.taxonomy.value_mapping import Mapping

HOW = ("table", "given", "exact", "normalised", "head", "doubtful", "suggested", "unmapped")
"""How a value was mapped: by the user's table, by a sense it names, by its exact name, by its normalised one, by its
head noun, which somebody accepted; known, but nobody can say in which sense; by nothing yet, though its head noun is a
suggestion; or not at all."""

UNMAPPED = "unmapped"
DOUBTFUL = "doubtful"
SUGGESTED = "suggested"

HEADER = ("value", "concept", "label", "how", "rows", "confidence", "alternatives", "description")
VERSION = 3
_ADDED = "confidence"  # files of version 2 and before lack it
_MISSING = "missing"
_TAXONOMY = "taxonomy"
_ABOUT = re.compile(r"keepsense mapping, version (\d{1,9})(?:; version of the taxonomy: (.*))?", re.DOTALL)
_FORMULA = frozenset("=+-@\t\r\n＝＋－＠'")
_MOST_ALTERNATIVES = 20


def save(mapping: Mapping, path: str | os.PathLike[str]) -> None:
    """Write a mapping; the file appears only when it is whole.

    >>> import pathlib, tempfile
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> from keepsense.taxonomy.mapper import map_values
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "animal.csv"
    ...     save(map_values(["Cats", "dog"], pets), file)
    ...     file.read_text().splitlines()[1]
    '"Cats","cat","cat","normalised","1","","","cat, a kind of pet"'
    """
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(HEADER)
    part = mapping.taxonomy
    taxonomy = part if part.whole is None else part.whole
    rows = Counter[str]()
    for value, count in zip(mapping.values, mapping.rows.tolist(), strict=True):
        rows[str(value)] += count  # 7 and "7" are one line
    lines = {str(value): i for i, value in enumerate(mapping.values)}
    near = mapping.suggestions()
    for value, i in lines.items():
        code, name = int(mapping.codes[i]), mapping.names[i]
        code = part.in_whole(code) if code >= 0 else code
        candidates = [part.in_whole(c) for c in mapping.candidates[i].tolist()]
        others = [c for c in candidates if c != code][:_MOST_ALTERNATIVES]
        shown = {sense_name(taxonomy, c, name): c for c in others}
        if not candidates:
            shown = _meant(taxonomy, near.get(mapping.values[i], []))
        alternatives = " | ".join(f"{label} = {explain(taxonomy, c)}" for label, c in shown.items())
        chosen = (taxonomy.id(code), sense_name(taxonomy, code, name)) if code >= 0 else ("", "")
        described = explain(taxonomy, code) if code >= 0 else ""
        cells = (value, *chosen, mapping.how[i], str(rows[value]), _spelled(mapping, i), alternatives, described)
        writer.writerow([_guarded(cell) for cell in cells])
    if mapping.missing:
        writer.writerow(["", "", "", _MISSING, mapping.missing, "", "", ""])
    own = identity(taxonomy)
    about = f"keepsense mapping, version {VERSION}" + (f"; version of the taxonomy: {own.version}" * bool(own.version))
    writer.writerow(map(_guarded, ["", own.fingerprint, own.name, _TAXONOMY, "0", "", "", about]))
    write_whole(path, [out.getvalue().encode("utf-8", "surrogatepass")])


def _meant(taxonomy: Taxonomy, names: list[str]) -> dict[str, int]:
    """Senses that names may stand for, the likeliest of each, as a person names them."""
    codes = [int(taxonomy.senses_of(name)[0]) for name in names if len(taxonomy.senses_of(name))]
    return {sense_name(taxonomy, code, name): code for code, name in zip(codes, names, strict=False)}


def _spelled(mapping: Mapping, i: int) -> str:
    """How likely the chosen sense of a value is the right one, in two digits; empty where nobody weighed it."""
    several = len(mapping.candidates[i]) > 1 and mapping.how[i] not in (SUGGESTED, UNMAPPED)
    sure = float("nan") if mapping.confidence is None or not several else float(mapping.confidence[i])
    return "" if np.isnan(sure) else f"{sure:.2f}"


def read(path: str | os.PathLike[str], taxonomy: Taxonomy, *, column: str | None = None) -> tuple[Any, ...]:
    """Fields of a mapping that `save` wrote and people may have edited; a line that makes no sense is refused.

    >>> read("nowhere.csv", None)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: nowhere.csv: the file cannot be read (No such file or directory)
    """
    source = Path(path)
    lines = _lines(source)
    changed = _changed(source.name, lines, taxonomy)
    values: dict[str, int] = {}
    codes, how, names, options, rows, sure = [], [], [], [], [], []
    missing = 0
    for number, cells in lines:
        where = f"{source.name}, line {number}"
        if len(cells) != len(HEADER):
            raise BadInput(f"{where}: {len(cells)} cells where the header has {len(HEADER)}")
        value, concept, label, found_by, count, likely, alternatives, description = map(_unguarded, cells)
        if found_by == _TAXONOMY and not value.strip():
            continue
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
        line = _Line(where, taxonomy if taxonomy.whole is None else taxonomy.whole, changed)
        code, edited = line.decided(concept, label, description)
        how.append(_how(found_by, code, edited))
        name = label.rpartition("#")[0] or label
        names.append(name or (line.taxonomy.label(code) if code is not None else ""))
        others = [line.taxonomy.get(part.partition(" = ")[0]) for part in alternatives.split(" | ")]
        inside = _inside(where, taxonomy, code)
        own = [None if c is None else taxonomy.part_of(c) for c in others]
        codes.append(-1 if inside is None else inside)
        options.append(list(dict.fromkeys(c for c in (inside, *own) if c is not None)))
        rows.append(int(count))
        sure.append(float("nan") if edited else _likely(where, likely))
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
        np.array(sure, dtype=np.float64),
    )


def _likely(where: str, text: str) -> float:
    """A confidence as a file spells it; not a number where it is empty."""
    if not text.strip():
        return float("nan")
    try:
        sure = float(text.replace(",", "."))
    except ValueError:
        sure = -1.0
    if not 0 <= sure <= 1:
        raise BadInput(f"{where}: the confidence must be a number between 0 and 1, or empty")
    return sure


def entry_code(entry: Concept | None, taxonomy: Taxonomy) -> int | None:
    """Code of the concept that an entry of a table or a file names, or None where it says that there is none.

    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
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
    begin, titles = lines[0] if lines else (1, [])  # a text may hold nothing but empty cells
    header = tuple(cell.strip() for cell in titles)
    if header == HEADER:
        return lines[1:]
    if header == tuple(name for name in HEADER if name != _ADDED):
        at = HEADER.index(_ADDED)
        return [(n, [*cells[:at], "", *cells[at:]] if len(cells) == len(header) else cells) for n, cells in lines[1:]]
    raise BadInput(f"{source.name}, line {begin}: the header must be {','.join(HEADER)}")


_REMEDY = (
    "give the taxonomy that it was made with, or write a new file with `keepsense map FILE COLUMN --output mapping.csv`"
)


def _changed(file: str, lines: list[tuple[int, list[str]]], taxonomy: Taxonomy) -> bool:
    """Whether the taxonomy has changed since the file was made, as far as the file states its taxonomy."""
    stated = [(number, list(map(_unguarded, cells))) for number, cells in lines if len(cells) == len(HEADER)]
    for number, (value, mark, name, found_by, *_, about) in stated:
        if found_by != _TAXONOMY or value.strip():
            continue
        match = _ABOUT.fullmatch(about.strip())
        if match is None or not name:
            raise BadInput(f"{file}, line {number}: the line that states the taxonomy is damaged; delete it")
        if int(match[1]) > VERSION:
            raise BadInput(
                f"{file}: version {match[1]} is not known; this Keepsense reads up to {VERSION}, so use a newer one"
            )
        return not check_same(file, Identity(name, match[2] or "", mark), taxonomy, _REMEDY)
    return False


def _inside(where: str, taxonomy: Taxonomy, code: int | None) -> int | None:
    """Code of a concept in the part of the taxonomy that a column's domain leaves; one outside is refused."""
    own = None if code is None else taxonomy.part_of(code)
    if code is not None and own is None:
        domain = taxonomy.label(taxonomy.root)
        raise BadInput(
            f"{where}: the concept is no kind of {domain!r}, the domain of the column; choose one that is, or give the"
            f" domain as a list, domain = [{domain!r}], which a mapping file may overrule"
        )
    return own


@dataclass(frozen=True, slots=True)
class _Line:
    """One line of a file, in the taxonomy it is about; `changed` where that is not as it was when it was written."""

    where: str
    taxonomy: Taxonomy
    changed: bool

    def decided(self, concept: str, label: str, description: str) -> tuple[int | None, bool]:
        """The concept a line means, and whether a person has changed it."""
        by_id, by_label = self._named(concept), self._named(label)
        if self.changed:
            return self._carried_over(by_id, by_label, label, description)
        described = [self._describes(description, code) for code in (by_id, by_label)]
        if by_id == by_label:
            return by_id, not described[0]
        if described[0] != described[1]:
            return (by_label if described[0] else by_id), True
        if by_id is not None and self._word(label) in self.taxonomy.synonyms(by_id):
            return (by_label, True) if "#" in label else (by_id, False)
        raise BadInput(
            f"{self.where}: the concept and the label say different things, and the description does not tell which was"
            " edited; empty the description and the cell that is out of date"
        )

    def _carried_over(
        self, by_id: int | None, by_label: int | None, label: str, description: str
    ) -> tuple[int | None, bool]:
        """The concept, where id and label still agree: sense numbers may have moved, and so may ids."""
        if by_id == by_label:
            return by_id, False
        if by_id is None and not description:
            return by_label, True
        if by_id is not None and label in self.taxonomy.synonyms(by_id):
            return by_id, False
        raise BadInput(
            f"{self.where}: the taxonomy {self.taxonomy.name!r} has changed since the file was made, and the concept"
            " and the label say different things now; empty the concept and the description, and name the sense that is"
            " meant under `label`"
        )

    @staticmethod
    def _word(label: str) -> str:
        return label.rpartition("#")[0] or label

    def _describes(self, description: str, code: int | None) -> bool:
        if code is None:
            return not description
        return description in (explain(self.taxonomy, code), self.taxonomy.describe(code))

    def _named(self, text: str) -> int | None:
        try:
            return entry_code(text, self.taxonomy)
        except UnknownConcept as error:
            raise UnknownConcept(f"{self.where}: {error}") from None


def _how(found_by: str, code: int | None, edited: bool) -> str:
    """What a line a person has changed says, it says like a table does."""
    if edited or (code is not None and found_by in (UNMAPPED, SUGGESTED)):
        return "table"
    return UNMAPPED if code is None and found_by not in ("table", DOUBTFUL, SUGGESTED) else found_by


def _guarded(cell: str) -> str:
    return "'" + cell if cell[:1] in _FORMULA and cell else cell


def _unguarded(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:2] in _FORMULA and len(cell) > 1 else cell
