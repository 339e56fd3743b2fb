"""Text files: whether a file exists and can be read, and its encoding."""

from __future__ import annotations

import codecs
import os
import secrets
import warnings
from pathlib import Path

from keepsense.errors import BadInput, InputWarning

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def readable(path: str | os.PathLike[str]) -> Path:
    """The path, checked: a file that exists, can be read and is not empty.

    >>> readable("/nowhere/people.csv")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: people.csv: there is no such file
    """
    file = Path(path)
    if not file.exists():
        raise BadInput(f"{file.name}: there is no such file")
    if file.is_dir():
        raise BadInput(f"{file.name}: this is a folder, not a file")
    if not os.access(file, os.R_OK):
        raise BadInput(f"{file.name}: the file may not be read; check its permissions")
    if file.stat().st_size == 0:
        raise BadInput(f"{file.name}: the file is empty; give a file with a header line")
    return file


def encoding_of(path: Path, given: str | None = None) -> str:
    """Encoding of a text file: given, by its byte-order mark, UTF-8 where it fits, else Windows-1252.

    Windows-1252 is a guess, so it comes with an `InputWarning`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder) / "x.csv"
    ...     _ = file.write_bytes("café".encode("utf-16"))
    ...     encoding_of(file)
    'utf-16'
    """
    if given is not None:
        try:
            codec = codecs.lookup(given)
            if not codec._is_text_encoding:
                raise LookupError
            return codec.name
        except LookupError:
            raise BadInput(
                f"{path.name}: no encoding is called {given!r}; try utf-8, cp1252, latin-1 or utf-16"
            ) from None
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        head = file.read(4)
        for mark, name in _MARKS:
            if head.startswith(mark):
                return name
        try:
            decoder.decode(head)
            while block := file.read(1 << 20):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            warnings.warn(
                f"{path.name}: the text is not UTF-8; it is read as Windows-1252. Give the encoding if that is wrong",
                InputWarning,
                stacklevel=2,
            )
            return "cp1252"
    return "utf-8"


def transcoded(path: Path, encoding: str, folder: Path) -> Path:
    """The file in UTF-8: itself, or a copy in `folder`; refuses bytes the encoding does not have, by position.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "x.csv"
    ...     _ = file.write_bytes("café".encode("cp1252"))
    ...     transcoded(file, "cp1252", Path(folder)).read_text(encoding="utf-8")
    'café'
    """
    if encoding in ("utf-8", "ascii"):
        return path
    copy = folder / f"{secrets.token_hex(8)}.csv"
    decoder = codecs.getincrementaldecoder(encoding)()
    done = 0
    with path.open("rb") as source, copy.open("w", encoding="utf-8", newline="") as target:
        while True:
            block = source.read(1 << 20)
            try:
                target.write(decoder.decode(block, final=not block))
            except UnicodeError as error:
                at = f"byte {done + error.start:,}" if isinstance(error, UnicodeDecodeError) else "its start"
                raise BadInput(f"{path.name}: {at} is not valid {encoding}; give the file's real encoding") from None
            if not block:
                return copy
            done += len(block)
