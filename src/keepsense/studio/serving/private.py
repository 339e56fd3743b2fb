"""The private folder of uploads: only its owner can read it, and it is deleted when the studio ends.

A studio that was killed leaves its folder; the next one deletes every folder that no running studio holds.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import rmtree

from keepsense.files import hold

PREFIX = "keepsense-studio-"
_LOCK = "lock"


@contextmanager
def private_folder(beside: Path | None = None) -> Iterator[Path]:
    """A folder of one's own, in the system's folder for such or `beside` others, that is removed at the end.

    >>> with private_folder() as folder:
    ...     _ = (folder / "people.csv").write_text("age")
    ...     oct(folder.stat().st_mode & 0o777)
    '0o700'
    >>> folder.exists()
    False
    """
    place = Path(tempfile.gettempdir()) if beside is None else beside
    sweep_studios(place)
    folder = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
    unheld = folder / f"{_LOCK}.new"
    lock = os.open(unheld, os.O_CREAT | os.O_RDWR, 0o600)
    hold(lock)
    if os.name == "posix":  # elsewhere no file is renamed while it is open, and such a folder is not swept
        unheld.rename(folder / _LOCK)  # before it is held, others would take it for that of a studio that ended
    try:
        yield folder
    finally:
        os.close(lock)
        rmtree(folder, ignore_errors=True)


def sweep_studios(place: Path) -> int:
    """Remove the folders of studios that ended without clearing up; returns how many there were.

    >>> with tempfile.TemporaryDirectory() as place:
    ...     _ = (Path(place) / f"{PREFIX}killed").mkdir(), (Path(place) / f"{PREFIX}killed" / "lock").touch()
    ...     sweep_studios(Path(place)), len(list(Path(place).iterdir()))
    (1, 0)
    """
    swept = 0
    for folder in place.glob(f"{PREFIX}*"):
        try:
            # a link, or somebody else's folder, is not ours to follow
            if folder.is_symlink() or (hasattr(os, "getuid") and folder.stat().st_uid != os.getuid()):
                continue
            lock = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:  # just being made, or gone already
            continue
        try:
            free = hold(lock) is True
        finally:
            os.close(lock)
        if free:
            rmtree(folder, ignore_errors=True)
            swept += 1
    return swept
