"""Files written whole or not at all, and JSON and TOML of untrusted files: parsed, or refused with a `ValueError`."""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import time
import tomllib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from keepsense.errors import BadInput


@contextmanager
def whole_file(target: str | os.PathLike[str], refuse: type[BadInput] = BadInput) -> Iterator[Path]:
    """A temporary path beside the target that becomes the target when the block ends well, and vanishes otherwise.

    `refuse` is the kind of error raised where the place cannot be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with whole_file(Path(folder) / "x.txt") as part:
    ...         _ = part.write_text("done")
    ...     [file.name for file in Path(folder).iterdir()]
    ['x.txt']
    """
    final = Path(target)
    # the ending stays, for it may say how the file is packed
    part = final.with_name(f".{secrets.token_hex(6)}.{final.name[-100:]}") if final.name else final
    try:
        if not final.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, "its folder does not exist")
        yield part
        part.replace(final)
    except OSError as error:
        why = "it is a folder" if os.path.isdir(final) else error.strerror  # noqa: PTH112 (a name may be too long)
        name = final.name or str(final)
        raise refuse(f"{name}: the file cannot be written ({why}); check its name and folder") from None
    finally:
        if part != final:
            part.unlink(missing_ok=True)


def write_whole(
    path: str | os.PathLike[str],
    chunks: Iterable[bytes],
    refuse: type[BadInput] = BadInput,
    *,
    mode: int | None = None,
) -> None:
    """Write a file; whatever goes wrong, nothing half-written stays, and a file that was there before is kept.

    Permissions are those the user's system gives new files, unless `mode` gives others. What is written is on the disk
    before it gets its name, so that a full disk or a lost machine does not leave half of it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "words.txt", [b"nurse", b" and cook"])
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('words.txt', 'nurse and cook')]
    """
    with whole_file(path, refuse) as part, part.open("xb") as out:
        if mode is not None:
            part.chmod(mode)
        out.writelines(chunks)
        out.flush()
        os.fsync(out.fileno())


def sweep(target: str | os.PathLike[str]) -> None:
    """Remove what killed programs left of a file that they were writing whole; only while no other can be writing it.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / ".0123456789ab.x.txt").write_text("half")
    ...     sweep(Path(folder) / "x.txt")
    ...     list(Path(folder).iterdir())
    []
    """
    final = Path(target)
    if final.parent.is_dir():
        for part in final.parent.iterdir():
            if re.fullmatch(rf"\.[0-9a-f]{{12}}\.{re.escape(final.name[-100:])}", part.name):
                part.unlink(missing_ok=True)


def hold(descriptor: int, *, wait: bool = False) -> bool | None:
    """Lock an open file against other programs until it is closed: False where another has it, None without locks.

    The system lets go of the lock when a program ends, however it ends.

    >>> import tempfile
    >>> with tempfile.TemporaryFile() as file:
    ...     hold(file.fileno()) in (True, None)
    True
    """
    try:
        import fcntl
    except ImportError:
        return _held_on_windows(descriptor, wait=wait)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True


_FAR = 0x7FFF_0000
"""Place of the byte that is locked on Windows, where no content is: others cannot even read a byte that is locked."""


def _held_on_windows(descriptor: int, *, wait: bool) -> bool | None:
    try:
        msvcrt: Any = import_module("msvcrt")
    except ImportError:  # a system without either kind of lock
        return None
    place = os.lseek(descriptor, 0, os.SEEK_CUR)
    try:
        while True:
            os.lseek(descriptor, _FAR, os.SEEK_SET)
            try:
                msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                return True
            except OSError:
                if not wait:
                    return False
            time.sleep(0.1)
    finally:
        os.lseek(descriptor, place, os.SEEK_SET)


def remove_lock(lock: Path) -> None:
    """Remove a lock file; Windows removes none that is open, and there it stays, which does not bind anybody.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     remove_lock(Path(folder) / "lock")
    """
    with suppress(PermissionError):
        lock.unlink(missing_ok=True)


_HALF = re.compile(r"\\u[dD][89a-fA-F]")
_DEEPEST = 64
_WORD = r"""(?:"[^"\n]*"|'[^'\n]*'|[\w-]++)"""
# the parser's time grows with the square of a key's parts
_LONG_KEY = re.compile(rf"(?<![\w-]){_WORD}(?:[ \t]*\.[ \t]*{_WORD}){{{_DEEPEST}}}")
_LARGEST = 1 << 63


def parsed_json(text: str | bytes, **options: Any) -> Any:
    r"""JSON of a stranger; whatever is wrong with it is a `ValueError`: bad syntax, deep nesting, half a character.

    >>> parsed_json('{"job": "nurse"}')
    {'job': 'nurse'}
    >>> parsed_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: it is nested too deeply
    """
    try:
        spelled = text if isinstance(text, str) else text.decode("utf-8-sig")
        document = json.loads(spelled, **options)
        if _HALF.search(spelled):  # half a surrogate pair, which no file can hold
            json.dumps(document, ensure_ascii=False, default=str).encode("utf-8")
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except UnicodeEncodeError:
        raise ValueError("a text holds half a surrogate pair, which is no character") from None
    return document


def parsed_toml(text: str) -> dict[str, Any]:
    """TOML of a stranger; whatever is wrong with it is a `ValueError`, as are numbers that TOML does not have.

    >>> parsed_toml("k = 5")
    {'k': 5}
    >>> parsed_toml(f"k = {'9' * 10_000}")
    Traceback (most recent call last):
    ...
    ValueError: a whole number has more than 64 bits
    """
    if _LONG_KEY.search(text):
        raise ValueError("a key has too many parts")
    try:
        document = tomllib.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except tomllib.TOMLDecodeError:
        raise
    except ValueError as error:  # of Python's own limit to the digits that it reads, or of a date there is not
        raise ValueError("a whole number has more than 64 bits" if "digits" in str(error) else str(error)) from None
    waiting: list[tuple[Any, int]] = [(document, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        if isinstance(part, int) and not -_LARGEST <= part < _LARGEST:
            raise ValueError("a whole number has more than 64 bits")
        if isinstance(part, str) and "\0" in part:  # no file is called so, nor anything else
            raise ValueError("a text holds a NUL character")
        inside = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        waiting += [(each, depth + 1) for each in inside]
    return document
