"""What all loaders share: open and decode a file, check XML of untrusted files, build the taxonomy.

Errors name the file, the line or byte, what is wrong and what to do.
"""

from __future__ import annotations

import codecs
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NoReturn, TypedDict
from xml.etree import ElementTree
from xml.parsers import expat

from keepsense.errors import BadInput, BadTaxonomy, InputWarning
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import VIRTUAL_ROOT, from_edges

PathLike = str | os.PathLike[str]

_PACKED = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip"), (b"BZh", "bzip2"), (b"\xfd7zXZ\0", "xz"))
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def file_path(path: PathLike) -> Path:
    """The path of a file that is there, is a file, holds something and is not compressed; anything else is refused."""
    place = Path(path)
    start = head(place, 8)
    if not start:
        raise BadTaxonomy(f"{place.name}: the file is empty; give a file that lists concepts")
    for magic, kind in _PACKED:
        if start.startswith(magic) and place.suffix.lower() != ".xlsx":  # a workbook is a zip file of its own kind
            raise BadTaxonomy(f"{place.name}: the file is compressed ({kind}); unpack it first")
    return place


def head(place: Path, size: int) -> bytes:
    """The first bytes of a file."""
    try:
        with place.open("rb") as file:
            return file.read(size)
    except (OSError, ValueError) as error:
        raise unreadable(place.name, error) from None


def unreadable(name: str, error: OSError | ValueError) -> BadTaxonomy:
    """The error for a file the system does not hand out."""
    reason = error.strerror if isinstance(error, OSError) else "its name is not valid"
    return BadTaxonomy(f"{name}: the file cannot be read ({reason})")


def read_bytes(path: PathLike) -> bytes:
    """All bytes of a file."""
    place = file_path(path)
    try:
        return place.read_bytes()
    except OSError as error:
        raise unreadable(place.name, error) from None


def read_text(path: PathLike, encoding: str | None = None) -> str:
    """The text of a file: UTF-8 unless a byte order mark or the caller says otherwise."""
    return decode(Path(path).name, read_bytes(path), encoding)


def decode(name: str, raw: bytes, encoding: str | None = None) -> str:
    """Bytes as text; a broken encoding is named with its line and byte."""
    if encoding is None:
        encoding = next((found for mark, found in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        text = raw.decode(encoding)
    except LookupError:
        raise BadInput(f"{name}: unknown encoding {encoding!r}; give one such as 'utf-8' or 'latin-1'") from None
    except UnicodeError as error:
        start = error.start if isinstance(error, UnicodeDecodeError) else len(raw)
        raise bad_encoding(name, encoding, start, raw.count(b"\n", 0, start) + 1) from None
    place = text.find("\0")
    if place >= 0:
        raise BadTaxonomy(
            f"{name}: line {text.count(chr(10), 0, place) + 1} holds a NUL character, so this is not a text file; give"
            " a file in one of the known formats"
        )
    return text


def bad_encoding(name: str, encoding: str, byte: int, line: int) -> BadTaxonomy:
    """The error for bytes that are not text in the given encoding."""
    return BadTaxonomy(
        f"{name}: line {line} is not valid {encoding} (byte {byte} of the file); save the file as UTF-8, or name its"
        " encoding where the loader has that option (encoding='latin-1')"
    )


def clip(text: str, size: int = 60) -> str:
    """Text of a source as it is shown in a message: quoted and short."""
    return repr(text if len(text) <= size else text[: size - 3] + "...")


def check_text(name: str, texts: Iterable[str]) -> None:
    """Refuse names that no file of ours could hold: NUL characters and half surrogate pairs (from escapes in JSON)."""
    for text in texts:
        if "\0" in text or not (text.isascii() or _encodes(text)):
            raise BadTaxonomy(f"{name}: the name {text[:60]!a} holds characters that are not text; mend or drop it")


def _encodes(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


_BARE_CODE = re.compile(r"[A-Za-z]{0,2}[-_.]?\d[\d.\-_/]*")
_FEW = 20
"""Concepts below which labels that look like codes say nothing."""


def _warn_of_codes(name: str, ids: Sequence[str], names: Mapping[str, Sequence[str]]) -> None:
    """Say where most concepts go by nothing but a code: no word of a column would be found, and codes be released."""
    labels = [row[0] if row else key for key, row in names.items()] if names else list(ids)
    bare = sum(_BARE_CODE.fullmatch(label) is not None for label in labels)
    if len(labels) >= _FEW and 2 * bare > len(labels):
        warnings.warn(
            f"{name}: the labels of {bare:,} of {len(labels):,} concepts are bare codes; their names may be in another"
            " file, in another language or in another column",
            InputWarning,
            stacklevel=4,
        )


class Rooted(TypedDict, total=False):
    """What every loader can be told: to put one root above several, its label, and the taxonomy's name."""

    join_roots: bool
    root_label: str | None
    name: str | None


def assemble(
    file: str,
    edges: Sequence[tuple[str, str]],
    names: Mapping[str, Sequence[str]],
    rooted: Rooted,
    *,
    concepts: Iterable[str] | None = None,
    relations: Mapping[str, Sequence[tuple[str, str]]] | None = None,
    root: str | None = None,
    **info: object,
) -> Taxonomy:
    """Build the taxonomy a loader has read; `root` is the label of a virtual root unless another was asked for.

    `info` keeps what was counted, as text, with blanks for underscores, and leaves zeros out.
    """
    name = rooted.get("name") or file
    ids = list(concepts) if concepts is not None else None
    check_text(name, ids or ())
    check_text(name, (text for row in names.values() for text in row))
    check_text(name, (key for edge in edges for key in edge))
    if info.get("format") not in ("nested columns", "path list"):  # what stands there is all the names there are
        _warn_of_codes(name, ids or (), names)
    facts = {key.replace("_", " "): str(value) for key, value in info.items() if value not in (0, "", None)}
    return from_edges(
        edges,
        names=names,
        concepts=ids,
        relations=relations,
        join_roots=rooted.get("join_roots", False),
        root_label=rooted.get("root_label") or root or VIRTUAL_ROOT,
        name=name,
        info={"source": file, **facts},
    )


# XML of untrusted files: no entity bombs, no reading of other files, no network
#
# The declarations before the first element are checked. Internal entities are allowed while they are few and short when
# written out in full (OWL files abbreviate namespaces so); external and parameter entities and default attributes are
# refused. An external document type may be named where a format does so (MeSH); it is never fetched.

MAX_ENTITIES = 100
MAX_ENTITY_LENGTH = 200
MAX_DEPTH = 1_000
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_REFERENCE = re.compile(r"&([^;&]*);?")
_BLOCK = 1 << 16
_MAX_PROLOG = 1 << 22


class _Reached(Exception):
    """The first element: what follows can declare nothing."""


def check_xml(place: Path, *, external_type: bool = False) -> str:
    """Refuse an XML file whose declarations are dangerous; return the name of its first element.

    `external_type` allows the document to name an external document type (which nothing here ever fetches).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "bomb.owl"
    ...     laughs = "ha" * 50
    ...     _ = place.write_text(f'<!DOCTYPE a [<!ENTITY b "{laughs}"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>')
    ...     check_xml(place)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: bomb.owl: line 1 declares the entity 'c' with more than a short text, which is not \
read. Write it without that declaration
    """
    name = place.name
    declared = _Declarations(name, external_type)
    try:
        with place.open("rb") as file:
            read = 0
            while block := file.read(_BLOCK):
                read += len(block)
                if read > _MAX_PROLOG:
                    raise BadTaxonomy(f"{name}: no XML element in the first {_MAX_PROLOG >> 20} MB; this is not XML")
                declared.parser.Parse(block, False)
            declared.parser.Parse(b"", True)
    except _Reached as reached:
        return str(reached)
    except expat.ExpatError as error:
        raise bad_xml(name, error) from None
    except (LookupError, ValueError) as error:
        raise BadTaxonomy(f"{name}: the XML declaration names an encoding that cannot be read ({error})") from None
    except OSError as error:
        raise unreadable(name, error) from None
    raise BadTaxonomy(f"{name}: the XML file has no element")


def check_depth(name: str, raw: bytes) -> None:
    """Refuse XML whose elements are nested deeper than in any ontology: parsers take long over it.

    >>> check_depth("deep.owl", b"<a>" * 5000)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: deep.owl: its XML elements are nested more than 1,000 deep; no ontology is
    """
    depth = 0

    def start(tag: str, attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise BadTaxonomy(f"{name}: its XML elements are nested more than {MAX_DEPTH:,} deep; no ontology is")

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise bad_xml(name, error) from None


class _Declarations:
    """What a document declares before its first element, refused where it is dangerous."""

    def __init__(self, name: str, external_type: bool) -> None:
        self._name = name
        self._external_type = external_type
        self._entities: dict[str, str] = dict(_PREDEFINED)
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._entity
        self.parser.AttlistDeclHandler = self._attribute
        self.parser.ExternalEntityRefHandler = self._unresolved
        self.parser.StartElementHandler = self._start

    def _refuse(self, what: str) -> NoReturn:
        line = self.parser.CurrentLineNumber
        raise BadTaxonomy(f"{self._name}: line {line} {what}. Write it without that declaration")

    def _doctype(self, _: str, system: str | None, public: str | None, internal: int) -> None:
        if (system or public) and not self._external_type:
            self._refuse("names a document type in another file or on the network, which is never fetched")

    def _entity(self, key: str, parameter: bool, value: str | None, *_: object) -> None:
        shown = clip(key)
        if parameter:
            self._refuse(f"declares the parameter entity {shown}, which can pull in other files and is not read")
        if value is None:
            self._refuse(f"declares the entity {shown} as the content of another file or address, which is never read")
        if "<" in value or len(value) > MAX_ENTITY_LENGTH:
            self._refuse(f"declares the entity {shown} with more than a short text, which is not read")
        whole = _REFERENCE.sub(self._written_out, value)
        if len(whole) > MAX_ENTITY_LENGTH:
            self._refuse(f"declares the entity {shown} with more than a short text, which is not read")
        self._entities.setdefault(key, whole)  # the first declaration counts
        if len(self._entities) > MAX_ENTITIES + len(_PREDEFINED):
            self._refuse(f"declares more than {MAX_ENTITIES} entities, which is not read")

    def _written_out(self, reference: re.Match[str]) -> str:
        """What an entity declared before stands for, in full; what stands for itself or for nothing is refused."""
        if reference[1] not in self._entities:
            self._refuse(f"builds an entity from {clip(reference[0])}, which is not declared before it and is not read")
        return self._entities[reference[1]]

    def _attribute(self, element: str, key: str, kind: str, default: str | None, required: int) -> None:
        if default is not None:
            what = f"gives the attribute {clip(key)} a default value, which would repeat at every element; not read"
            self._refuse(what)

    def _unresolved(self, context: str, *rest: object) -> int:
        self._refuse("refers to an external entity, which is never read")

    def _start(self, tag: str, attributes: object) -> None:
        raise _Reached(tag)


def bad_xml(name: str, error: expat.ExpatError | ElementTree.ParseError, hint: str = "") -> BadTaxonomy:
    """The error for XML that is not well formed, with its line."""
    line = error.position[0] if isinstance(error, ElementTree.ParseError) else error.lineno
    return BadTaxonomy(f"{name}: line {line} is not well-formed XML ({expat.ErrorString(error.code)}){hint}")
