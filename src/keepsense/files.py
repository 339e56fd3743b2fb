"""Files that appear only when they are whole: written beside their place, then moved there."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path

from keepsense.errors import BadInput


def write_whole(path: str | os.PathLike[str], chunks: Iterable[bytes], refuse: type[BadInput] = BadInput) -> None:
    """Write a file; whatever goes wrong, nothing half-written stays, and a file that was there before is kept.

    Permissions are those the user's system gives new files. `refuse` is the kind of error raised where the place
    cannot be written to.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "words.txt", [b"nurse", b" and cook"])
    ...     [(file.name, file.read_text()) for file in Path(folder).iterdir()]
    [('words.txt', 'nurse and cook')]
    """
    target = Path(path)
    beside = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}") if target.name else target
    try:
        try:
            with beside.open("xb") as out:
                out.writelines(chunks)
            beside.replace(target)
        except BaseException:
            if beside != target:
                beside.unlink(missing_ok=True)
            raise
    except OSError as error:
        why = "it is a folder" if target.is_dir() else error.strerror
        name = target.name or str(target)
        raise refuse(f"{name}: the file cannot be written ({why}); check its name and folder") from None


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
    except ImportError:  # Windows has none of this kind
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        return False
    return True
