"""Temporary folders of engines: each is locked while its engine is alive; unlocked ones are deleted."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from keepsense.files import hold

PREFIX = "keepsense-"
_LOCK = "lock"
_OLD = 2 * 86_400
"""Seconds after which a folder without a lock is taken for left behind."""


def fresh_room(inside: Path | None = None) -> tuple[Path, int]:
    """A new temporary folder and the open lock that keeps it; rooms that nobody keeps any more are removed first.

    It lies `inside` another folder, or where the system keeps what is temporary.
    """
    sweep(inside or Path(tempfile.gettempdir()))
    while True:
        room = Path(tempfile.mkdtemp(prefix=PREFIX, dir=inside))
        with suppress(FileNotFoundError):
            keeper = os.open(room / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            # another program may have swept the room between these two lines, for nobody held it yet
            if hold(keeper) is not False and (room / _LOCK).exists():
                return room, keeper
            os.close(keeper)


def leave(room: Path, keeper: int) -> None:
    """Remove a room and let its lock go."""
    shutil.rmtree(room, ignore_errors=True)
    with suppress(OSError):
        os.close(keeper)


def sweep(folder: Path) -> None:
    """Remove rooms whose programs are gone: they may hold copies of people's tables."""
    for room in folder.glob(f"{PREFIX}*"):
        with suppress(OSError):
            if room.is_symlink() or not room.is_dir() or (hasattr(os, "getuid") and room.stat().st_uid != os.getuid()):
                continue
            lock = room / _LOCK
            if lock.exists():
                with lock.open("r+") as keeper:
                    gone = hold(keeper.fileno()) is True
                    if gone:  # while it is held, so that its owner does not take it for kept
                        shutil.rmtree(room, ignore_errors=True)
            else:
                gone = time.time() - room.stat().st_mtime > _OLD
            if gone:
                shutil.rmtree(room, ignore_errors=True)
