"""The project file on disk: written whole, and never over changes of another program."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from keepsense.errors import KeepsenseError
from keepsense.files import hold, remove_lock, write_whole


class FileChanged(KeepsenseError):
    """The project file is no longer what was last read or written here: another tab, program or editor wrote it.

    >>> raise FileChanged("p.toml: somebody else changed the file; take theirs, or keep yours")
    Traceback (most recent call last):
    ...
    keepsense.studio.session.saving.FileChanged: p.toml: somebody else changed the file; take theirs, or keep yours
    """

    code = "file-changed"


@dataclass
class SavedFile:
    """A text file and what is known to stand in it; `text` is None before it was read or written.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     mine, theirs = SavedFile(Path(folder) / "x.toml"), SavedFile(Path(folder) / "x.toml")
    ...     mine.write("k = 5")
    ...     theirs.read(), theirs.write("k = 7")
    ...     mine.write("k = 9")
    Traceback (most recent call last):
    ...
    keepsense.studio.session.saving.FileChanged: x.toml: somebody else changed the file; take theirs, or keep yours
    """

    path: Path
    text: str | None = field(default=None)

    def read(self) -> str:
        """What stands in it now."""
        self.text = self.path.read_text(encoding="utf-8")
        return self.text

    def write(self, text: str, *, force: bool = False) -> None:
        """Write it whole; refuses where somebody else wrote it since, unless forced."""
        with self._alone():
            there = self.path.read_text(encoding="utf-8") if self.path.is_file() else None
            if there == text:
                self.text = text
                return
            if not force and there != self.text:
                raise FileChanged(f"{self.path.name}: somebody else changed the file; take theirs, or keep yours")
            write_whole(self.path, [text.encode("utf-8")])
            self.text = text

    @property
    def differs(self) -> bool:
        """Whether somebody else wrote it, or took it away, since it was read or written here."""
        there = self.path.read_text(encoding="utf-8") if self.path.is_file() else None
        return self.text is not None and there != self.text

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Nobody else writes it through here meanwhile."""
        lock = self.path.with_name(f".{self.path.name}.lock")
        while True:
            descriptor = os.open(lock, os.O_CREAT | os.O_RDWR, 0o600)
            hold(descriptor, wait=True)
            # who had it before may have removed it: then the next one holds another file
            if lock.exists() and os.path.samestat(os.fstat(descriptor), lock.stat()):
                break
            os.close(descriptor)
        try:
            yield
        finally:
            remove_lock(lock)
            os.close(descriptor)
