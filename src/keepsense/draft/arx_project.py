"""Projects of ARX (`.deid`): table, roles, hierarchies, promises and suppression limit are read from the archive.

An archive holds its settings twice, as serialized Java objects, which are never read, and as XML, which is. Archives
are untrusted: only known entries are read, up to a size; nothing is written under a name that the archive says.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import ceil
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat
from zipfile import ZipFile

from keepsense.draft.inspection import Inspection
from keepsense.errors import BadInput, KeepsenseError
from keepsense.files import whole_file

ENDING = ".deid"
_MOST_XML = 1 << 24
_MOST_UNPACKED = 1 << 33
_DEEPEST = 50
_ROLES = {
    "IDENTIFYING_ATTRIBUTE": "identifier",
    "QUASI_IDENTIFYING_ATTRIBUTE": "quasi-identifier",
    "SENSITIVE_ATTRIBUTE": "sensitive",
    "INSENSITIVE_ATTRIBUTE": "insensitive",
}


@dataclass(frozen=True)
class ArxProject:
    """What an ARX project says in our words; `left_out` says in sentences what is not taken over, or not as it is.

    >>> ArxProject(";", b"age\\n31\\n", {"age": "identifier"}, {}, ({"model": "k-anonymity", "k": 5},), 0.05).roles
    {'age': 'identifier'}
    """

    delimiter: str
    table: bytes
    roles: Mapping[str, str]
    hierarchies: Mapping[str, bytes]
    promises: tuple[Mapping[str, Any], ...]
    suppression: float
    left_out: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)

    def unpack(self, folder: Path, *, force: bool = False) -> tuple[Path, dict[str, Path]]:
        """Write the table and the hierarchies into a folder, under names of our own; gives where they are.

        A folder that is there is left alone, unless forced.

        >>> import tempfile
        >>> moved = ArxProject(";", b"age\\n31\\n", {}, {"../age": b"31;*\\n"}, (), 0.0)
        >>> with tempfile.TemporaryDirectory() as name:
        ...     table, own = moved.unpack(Path(name) / "people")
        ...     table.name, {column: file.name for column, file in own.items()}
        ('table.csv', {'../age': 'hierarchy-1-age.csv'})
        """
        if folder.exists() and not (force and folder.is_dir()):
            raise BadInput(
                f"{folder.name}: this is there already, and the table of the ARX project would go there; move it away, "
                "or give --force to write into it"
            )
        folder.mkdir(parents=True, exist_ok=True)
        files = {"table.csv": self.table}
        own = {}
        for number, (column, raw) in enumerate(self.hierarchies.items(), start=1):
            name = f"hierarchy-{number}-{re.sub(r'[^A-Za-z0-9]+', '-', column).strip('-')[:40]}.csv"
            files[name] = raw
            own[column] = folder / name
        for name, raw in files.items():
            with whole_file(folder / name) as part:
                part.write_bytes(raw)
        return folder / "table.csv", own

    def told(self, inspection: Inspection) -> Inspection:
        """An inspection with the roles and weights that the project gives to columns in place of guesses."""
        why = "as in the ARX project"
        columns = tuple(
            replace(
                column,
                role=self.roles[column.name],
                reason=why,
                confidence="sure",
                given=True,
                weight=self.weights.get(column.name, 1.0),
            )
            if column.name in self.roles
            else column
            for column in inspection.columns
        )
        return replace(inspection, columns=columns)


def read_arx_project(path: str | Path) -> ArxProject:
    """Read an ARX project.

    >>> read_arx_project("/nowhere/people.deid")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: people.deid: there is no such file
    """
    file = Path(path)
    if not file.is_file():
        raise BadInput(f"{file.name}: there is no such file")
    try:
        with ZipFile(file) as archive:
            return _project(_Archive(file, archive))
    except KeepsenseError:
        raise
    except Exception as error:  # zipfile raises errors of every kind for archives that are none
        raise BadInput(f"{file.name}: this is not an ARX project ({type(error).__name__}); save it again") from None


class _Archive:
    """Entries of an archive that is no bomb and names no place outside of itself."""

    def __init__(self, file: Path, archive: ZipFile) -> None:
        self.name = file.name
        self.archive = archive
        entries = archive.infolist()
        self.entries = {entry.filename for entry in entries}
        if sum(entry.file_size for entry in entries) > min(_MOST_UNPACKED, max(1 << 26, 200 * file.stat().st_size)):
            raise BadInput(f"{self.name}: the project unpacks to many times its size; it is refused")
        if any(name.startswith(("/", "\\")) or ".." in re.split(r"[/\\]", name) for name in self.entries):
            raise BadInput(f"{self.name}: the project names files outside of itself; it is refused")

    def read(self, entry: str) -> bytes:
        """The bytes of an entry; no more than the archive says that there are."""
        if entry not in self.entries:
            raise BadInput(f"{self.name}: the project has no {entry}; open it in ARX, load a table, and save it again")
        size = self.archive.getinfo(entry).file_size
        with self.archive.open(entry) as packed:
            return packed.read(size)

    def xml(self, entry: str) -> Element:
        """An entry as XML without any declarations."""
        raw = self.read(entry)
        if len(raw) > _MOST_XML:
            raise BadInput(f"{self.name}: {entry} is larger than {_MOST_XML >> 20} MB; it is refused")
        builder, parser = TreeBuilder(), expat.ParserCreate()
        depth = 0

        def refuse(*_: object) -> None:
            raise BadInput(f"{self.name}: {entry} declares a document type or entities, which ARX never does")

        def start(tag: str, attributes: dict[str, str]) -> None:
            nonlocal depth
            depth += 1
            if depth > _DEEPEST:
                raise BadInput(f"{self.name}: {entry} is nested deeper than any project of ARX")
            builder.start(tag, attributes)

        def end(tag: str) -> None:
            nonlocal depth
            depth -= 1
            builder.end(tag)

        parser.StartDoctypeDeclHandler = refuse
        parser.EntityDeclHandler = refuse
        parser.StartElementHandler = start
        parser.EndElementHandler = end
        parser.CharacterDataHandler = builder.data
        try:
            parser.Parse(raw, True)
        except expat.ExpatError as error:
            raise BadInput(f"{self.name}: {entry} is not XML (line {error.lineno})") from None
        return builder.close()


def _project(archive: _Archive) -> ArxProject:
    config, definition = archive.xml("input/config.xml"), archive.xml("input/definition.xml")
    delimiter = archive.xml("project.xml").findtext("separator") or ";"
    if len(delimiter) != 1:
        raise BadInput(f"{archive.name}: the separator of project.xml is not one character")
    roles: dict[str, str] = {}
    hierarchies: dict[str, bytes] = {}
    left_out: list[str] = []
    for column in definition.iter("assigment"):  # ARX spells it so
        name = column.findtext("name") or ""
        roles[name] = _ROLES.get(column.findtext("type") or "", "identifier")
        entry = f"input/hierarchies/{name}.csv"
        if roles[name] == "quasi-identifier" and entry in archive.entries:
            hierarchies[name] = _with_semicolons(archive.read(entry), delimiter)
        left_out += _beyond(name, column)
    weights, sentences = _weights(config)
    left_out += [*sentences, *_measure(config.findtext("metric") or "")]
    promises: list[Mapping[str, Any]] = []
    for criterion in config.iter("criterion"):
        promise = _promise(criterion.text or "")
        if isinstance(promise, dict) and promise.get("ground") == "hierarchical":
            entry = f"input/hierarchies/{promise['column']}.csv"
            if entry in archive.entries:
                hierarchies[promise["column"]] = _with_semicolons(archive.read(entry), delimiter)
            else:
                promise = f"The model {criterion.text!r:.80} is left out: the project has no hierarchy of its column."
        if isinstance(promise, str):
            left_out.append(promise)
        elif promise not in promises:
            promises.append(promise)
            left_out += [why for pattern, why in _MORE if re.fullmatch(pattern, criterion.text or "")]
    limit = _share(archive.name, config.findtext("relativeMaxOutliers") or "0")
    table = archive.read("data/input.csv")
    return ArxProject(delimiter, table, roles, hierarchies, tuple(promises), limit, tuple(left_out), weights)


def _weights(config: Element) -> tuple[dict[str, float], list[str]]:
    """Weights of attributes where these differ, in our scale: half, which ARX gives to all, is 1 here."""
    by_attribute: dict[str, float] = {}
    for each in config.iter("attributeWeight"):
        try:
            by_attribute[each.findtext("attribute") or ""] = float(each.findtext("weight") or "")
        except ValueError:
            continue
    if len(set(by_attribute.values())) < 2:
        return {}, []
    weights = {name: 2 * weight for name, weight in by_attribute.items() if 0 < weight <= 1}
    weightless = [name for name in by_attribute if name not in weights]
    return weights, [
        f"Column {name!r}: its weight is not taken over; every loss counts something here." for name in weightless
    ]


_MEASURES = {
    "Precision": "precision",
    "Height": "height",
    "Discernability": "discernibility",
    "Average equivalence class size": "average class size",
    "Non-uniform entropy": "non-uniform entropy",
    "Normalized non-uniform entropy": "non-uniform entropy",
}
"""Utility measures of ARX, and those that the method `optimal` takes as its `metric`."""


def _measure(spelled: str) -> list[str]:
    """What to do for the same goal of the search; nothing for the loss, which is ours, too.

    >>> _measure("Loss (0.5/1.0/1.0)"), _measure("Ambiguity")
    ([], ["Utility measure 'Ambiguity': the method looks for the least loss instead."])
    """
    plain = re.sub(r"^(Non-monotonic|Monotonic) |\s*\(.*\)$", "", spelled)
    if plain in ("", "Loss"):
        return []
    name = next((ours for theirs, ours in _MEASURES.items() if theirs.lower() == plain.lower()), None)
    advice = (
        "the method looks for the least loss instead"
        if name is None
        else f'write metric = "{name}" into [method.parameters]'
    )
    return [f"Utility measure {spelled[:80]!r}: {advice}."]


def _with_semicolons(raw: bytes, delimiter: str) -> bytes:
    """A hierarchy as it is usually written: inside of a project it has the separator of the table."""
    if delimiter == ";":
        return raw
    written = io.StringIO()
    csv.writer(written, delimiter=";", lineterminator="\n").writerows(
        csv.reader(io.StringIO(raw.decode("utf-8"), newline=""), delimiter=delimiter)
    )
    return written.getvalue().encode("utf-8")


def _beyond(name: str, column: Element) -> list[str]:
    """What a column's settings ask for that is not taken over."""
    sentences = []
    if (column.findtext("min") or "All") not in ("All", "0"):
        advice = 'for the lowest write a step "global recoding" into [[steps]]'
        sentences.append(f"Column {name!r}: its lowest and highest levels are not taken over; {advice}.")
    elif (column.findtext("max") or "All") != "All":
        advice = "leave the higher ones out of its hierarchy"
        sentences.append(f"Column {name!r}: its lowest and highest levels are not taken over; {advice}.")
    if column.findtext("microaggregationFunction"):
        sentences.append(f"Column {name!r}: it is generalized; for means choose a method of microaggregation.")
    if column.findtext("response") == "true":
        sentences.append(
            f'Column {name!r}: it is a response variable; give it the role "target" to keep it predictable.'
        )
    return sentences


def _share(name: str, text: str) -> float:
    try:
        limit = float(text)
    except ValueError:
        limit = -1.0
    if not 0 <= limit <= 1:
        raise BadInput(f"{name}: the suppression limit is no number from 0 to 1")
    return limit


# ---- promises --------------------------------------------------------------------------------------------------------

_NUMBER = r"([0-9]+(?:\.[0-9]+)?(?:E-?[0-9]+)?)"
_FOR = r" for attribute '(.*)'"
_Make = Callable[[Any], dict[str, Any]]
_MODELS: tuple[tuple[str, _Make], ...] = (
    (r"([0-9]+)-anonymity", lambda m: {"model": "k-anonymity", "k": int(m[1])}),
    (
        r"distinct-([0-9]+)-diversity" + _FOR,
        lambda m: {"model": "l-diversity", "l": int(m[1]), "column": m[2]},
    ),
    (
        r"shannon-entropy-([0-9]+)(?:\.0)?-diversity" + _FOR,
        lambda m: {"model": "l-diversity", "form": "entropy", "l": int(m[1]), "column": m[2]},
    ),
    (
        rf"recursive-\({_NUMBER},([0-9]+)\)-diversity" + _FOR,
        lambda m: {"model": "l-diversity", "form": "recursive", "c": float(m[1]), "l": int(m[2]), "column": m[3]},
    ),
    (
        rf"{_NUMBER}-closeness with equal ground-distance" + _FOR,
        lambda m: {"model": "t-closeness", "t": float(m[1]), "column": m[2], "ground": "equal"},
    ),
    (
        rf"{_NUMBER}-closeness with ordered distance" + _FOR,
        lambda m: {"model": "t-closeness", "t": float(m[1]), "column": m[2], "ground": "ordered"},
    ),
    (
        rf"{_NUMBER}-closeness with hierarchical ground-distance" + _FOR,
        lambda m: {"model": "t-closeness", "t": float(m[1]), "column": m[2], "ground": "hierarchical"},
    ),
    (
        rf"{_NUMBER}-disclosure privacy" + _FOR,
        lambda m: {"model": "delta-disclosure", "delta": float(m[1]), "column": m[2]},
    ),
    (
        rf"(basic|enhanced)-{_NUMBER}-likeness" + _FOR,
        lambda m: {"model": "beta-likeness", "form": m[1], "beta": float(m[2]), "column": m[3]},
    ),
    (
        rf"\({_NUMBER}\)-avg-reidentification-risk",
        lambda m: {"model": "average risk", "threshold": float(m[1])},
    ),
    (
        rf"\({_NUMBER}, {_NUMBER} \({_NUMBER}\), {_NUMBER}\)-avg-reidentification-risk",
        lambda m: {"model": "strict-average risk", "threshold": float(m[1]), "k": max(1, ceil(1 / float(m[3]) - 1e-9))},
    ),
    (rf"\({_NUMBER}\)-sample-uniqueness", lambda m: {"model": "k-anonymity", "k": 2}),
)
"""How ARX spells a model, and our promise."""

_MORE: tuple[tuple[str, str], ...] = (
    (
        rf".* \({_NUMBER}\), (?!0\.0\)){_NUMBER}\)-avg-reidentification-risk",
        'The promise "strict-average risk" promises more than ARX did: no record at all is above the highest risk.',
    ),
    (
        rf"\((?!0\.0\)){_NUMBER}\)-sample-uniqueness",
        'In place of few unique records "k-anonymity" with k = 2 promises that there are none.',
    ),
)
"""What our promise says beyond theirs."""

_NOT_TAKEN: tuple[tuple[str, str], ...] = (
    (r"Inclusion", "which records are the research sample stands only in the part that Java reads"),
    (r".*-map\b.*", 'the size of the population is not in its XML; write "k-map" or "estimated k-map" by hand'),
    (r".*-presence", 'it needs a table of everybody; give one as [population] and write "delta-presence" by hand'),
    (r".*-population-uniqueness.*", 'the size of the population is not in its XML; write "population uniqueness"'),
    (
        r".*-DP",
        'it is a promise of its own method; write "approximate differential privacy" and the method '
        '"differentially private generalization"',
    ),
    (r"profitability.*", "it needs prices for data and for attacks, which project files do not have"),
)
"""Why a model is not taken over."""


def _promise(criterion: str) -> dict[str, Any] | str:
    """Our promise for a model, or a sentence that says why there is none.

    >>> _promise("5-anonymity"), _promise("x")
    ({'model': 'k-anonymity', 'k': 5}, "The model 'x' is left out: nothing here promises it.")
    """
    for pattern, make in _MODELS:
        match = re.fullmatch(pattern, criterion)
        if match is not None:
            return make(match)
    why = next((why for pattern, why in _NOT_TAKEN if re.fullmatch(pattern, criterion)), "nothing here promises it")
    return f"The model {criterion[:80]!r} is left out: {why}."
