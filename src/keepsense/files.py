"""Files that appear only when they are whole: written beside their place, then moved there."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

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
