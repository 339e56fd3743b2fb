"""What every loader does alike: open a file, decode it, and hand concepts and links to the builder.

Whatever is wrong with a file is told by its name, the line or byte, and what to do about it.
"""

from __future__ import annotations

import codecs
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from keepsense.errors import BadInput, BadTaxonomy, InputWarning
from keepsense.taxonomy.build import VIRTUAL_ROOT, from_edges
from keepsense.taxonomy.core import Taxonomy

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


def listed(items: Sequence[str], shown: int = 20) -> str:
    """How many there are and the first few of them, for `info`; empty where there are none."""
    more = f", and {len(items) - shown} more" if len(items) > shown else ""
    return f"{len(items)}: {', '.join(items[:shown])}{more}" if items else ""


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
