"""Reading and writing small text files with errors people understand; a file appears whole or not at all."""

from __future__ import annotations

from pathlib import Path

from keepsense.errors import BadHierarchy
from keepsense.files import write_whole

LIMIT = 256 * 2**20
"""Hierarchy files larger than this are refused: they are not hierarchies."""


DEEPEST = 200
"""Levels that a hierarchy of a file may have: work and memory grow with leaves times levels."""


def check_depth(name: str, levels: int) -> None:
    """Refuse a file with more levels than any hierarchy has."""
    if levels > DEEPEST:
        raise BadHierarchy(f"{name}: more than {DEEPEST} levels lie above each other; no hierarchy is so deep")


def read_text(path: str | Path, *, keep_mark: bool = False) -> str:
    """Text of a UTF-8 file, line ends untouched.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_bytes(b"one\\r\\n")
    >>> read_text(path)
    'one\\r\\n'
    """
    data = read_bytes(path)
    try:
        return data.decode("utf-8" if keep_mark else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadHierarchy(
            f"{Path(path).name}: not UTF-8 text (byte {error.start:,}); save the file as UTF-8"
        ) from None


def read_bytes(path: str | Path) -> bytes:
    """Bytes of a file that is not too large."""
    path = Path(path)
    try:
        if path.stat().st_size > LIMIT:
            raise BadHierarchy(f"{path.name}: the file has {path.stat().st_size:,} bytes; no hierarchy is that large")
        return path.read_bytes()
    except OSError as error:
        raise BadHierarchy(f"{path.name}: the file cannot be read ({error.strerror}); check its name") from None


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file; it appears under its name only when it is whole."""
    write_whole(path, [data], BadHierarchy)
