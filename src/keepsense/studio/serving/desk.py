"""The open table, seen by every tab, and how another one is opened (`Desk`).

A browser is not needed here. `version` grows with every change, in any thread, so that tabs see that they are behind.
"""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from threading import RLock
from typing import TypeVar

from keepsense.errors import BadInput, KeepsenseError
from keepsense.studio.serving.downloads import Shelf
from keepsense.studio.serving.exports import Export, exports
from keepsense.studio.serving.live import Live
from keepsense.studio.serving.security import UPLOAD_LIMIT, safe_name
from keepsense.studio.session.runs import Run
from keepsense.studio.session.session import Session

T = TypeVar("T")


class Desk:
    """The open session, if there is one, and its live preview.

    `private` is a folder for copies that live as long as the studio.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     desk = Desk(Path(folder))
    ...     desk.open_sample(rows=60)
    ...     desk.session.rows, desk.copied, desk.version > 0
    ...     desk.close()
    (60, True, True)
    """

    def __init__(self, private: Path) -> None:
        self.private = private
        self.session: Session | None = None
        self.shelf = Shelf()
        """Files that a browser may fetch."""
        self.live: Live | None = None
        self.copied = False
        """Whether the table is a copy in the private folder, which goes when the studio ends."""
        self.problem = ""
        """Why the table that the studio was started with could not be opened."""
        self.busy = ""
        """What is being opened just now."""
        self.ended = False
        """Whether nothing is to be opened any more."""
        self.upload_limit = UPLOAD_LIMIT
        self.dark: bool | None = None
        """Whether tabs are dark; None as the system says."""
        self.exported: dict[int, Mapping[str, Export]] = {}
        """Files of the runs that were released, by their numbers."""
        self._changes = itertools.count(1)
        self._lock = RLock()
        self._exporting = RLock()
        self.version = 0

    def changed(self) -> None:
        """Note that something changed that tabs show."""
        self.version = next(self._changes)

    def open_path(self, path: str) -> None:
        """Open a table or a project file where it lies."""
        wanted = path.strip().strip("\"'")
        if not wanted:
            raise BadInput("no file is named; write its path, for instance /home/me/people.csv")
        place = wanted if "://" in wanted else str(Path(wanted).expanduser())
        self._open(lambda: Session.open(place), Path(wanted).name, copied=False)

    def open_sample(self, rows: int = 2_000) -> None:
        """Open synthetic people, in the private folder."""
        folder = self._new_folder()
        self._open(lambda: Session.sample(folder, rows), "the sample", copied=True)

    def place_for(self, name: str) -> Path:
        """Where an uploaded file is to be kept: a new folder, under its own name without any path.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     place = Desk(Path(folder)).place_for("../../people.csv")
        ...     place.name, place.parents[2] == Path(folder)
        ('people.csv', True)
        """
        return self._new_folder() / safe_name(name)

    def open_copy(self, file: Path) -> None:
        """Open a file that was uploaded to the place that `place_for` gave."""
        if not file.resolve().is_relative_to(self.private.resolve()):
            raise BadInput(f"{file.name}: this is no uploaded file")
        self._open(lambda: Session.open(file), file.name, copied=True)

    def export(self, made: Run) -> None:
        """Write reports and a certificate of a run that was released; once, whoever asks."""
        session = self.session
        with self._exporting:
            if session is None or made.number in self.exported:
                return
            listed = exports(made, session.file, self.shelf)
            if session is self.session:
                self.exported[made.number] = listed
        session.confirm("release")
        self.changed()

    def close(self) -> None:
        """End everything that is under way."""
        with self._lock:
            live, session = self.live, self.session
            self.live = self.session = None
            self.shelf.clear()
            self.exported.clear()
        if live is not None:
            live.end()
        if session is not None:
            session.close()
        self.changed()

    def end(self) -> None:
        """End everything that is under way, and open nothing any more."""
        self.ended = True
        self.close()

    def begin(self, table: str | None, *, sample: bool) -> None:
        """Open what the studio is started with; what goes wrong is kept for the first page."""
        try:
            if table is not None:
                self.open_path(table)
            elif sample:
                self.open_sample()
        except (KeepsenseError, OSError) as error:
            self.problem = str(error)
            self.changed()

    def _open(self, make: Callable[[], Session], name: str, *, copied: bool) -> None:
        if self.busy:
            raise BadInput(f"{self.busy} is being opened; wait until it is")
        self.busy = name
        self.changed()
        try:
            session = make()
            with suppress(KeepsenseError, OSError):  # the page that shows them says what is wrong with them
                session.head()  # before a preview keeps the table busy
        finally:
            self.busy = ""
            self.changed()
        self.close()
        if self.ended:  # the studio was told to end meanwhile
            session.close()
            return
        with self._lock:
            self.problem = ""
            self.session, self.copied = session, copied
            self.live = Live(session, self.changed)
        session.listen(self.changed)
        self.changed()

    def _new_folder(self) -> Path:
        folder = self.private / "tables" / secrets.token_hex(8)
        folder.mkdir(parents=True, mode=0o700)
        return folder
