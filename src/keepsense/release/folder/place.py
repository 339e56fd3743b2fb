"""The destination of a release: a file, or a table of a database, which appears there only when it is verified."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import file_digest, sha256
from pathlib import Path
from shutil import rmtree
from typing import IO, Any, Protocol

from keepsense.engines.formats.table_formats import FORMATS, Database, format_of
from keepsense.engines.protocol import NUMBER_FORMATS, Engine, Reading, Table, Writing
from keepsense.errors import BadInput
from keepsense.files import hold, parsed_json, remove_lock, sweep
from keepsense.privacy.dp_promises import differentially_private
from keepsense.release.folder.describe import PRIVATE, RECODING, mend
from keepsense.release.folder.description import DESCRIPTION
from keepsense.release.folder.ledger import FILE as LEDGER
from keepsense.release.job.job import Job
from keepsense.release.job.source import located

LOCK = ".keepsense.lock"
"""Held while a run writes into a release folder."""

_UNVERIFIED = ".unverified."


class Draft(Protocol):
    """A release that nobody else sees yet.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> with place_of(job).draft(job) as draft:  # a Draft
    ...     draft.write(job.table, Writing())
    ...     place_of(job).file.exists()
    False
    >>> place_of(job).file.exists()
    False
    """

    def write(self, released: Table, how: Writing) -> None:
        """Write the rows."""

    def read_back(self) -> Path:
        """What was written, as a file for the verifier."""

    def digest(self) -> str | None:
        """SHA-256 of what was written, by which everybody can tell the file from another; None for a table."""

    def publish(self, description: str) -> None:
        """Let it appear, whole, under its name; `description` is the digest of the one beside it."""


@dataclass(frozen=True)
class Place:
    """Where a release goes; its description and what is private go into `folder` in any case.

    >>> Place("people.csv", Path("release")).file.as_posix()
    'release/people.csv'
    """

    name: str
    folder: Path
    database: str | None = None

    @property
    def file(self) -> Path | None:
        """The released file; None where the release is a table of a database."""
        return None if self.database is not None else self.folder / self.name

    @contextmanager
    def draft(self, job: Job) -> Iterator[Draft]:
        """A draft that vanishes if it is not published, and with it a folder that was made for it.

        The folder is this run's alone until the draft is done with: another one that wants it is refused.
        """
        fresh = not self.folder.exists()
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"the folder of the release cannot be made ({error.strerror})") from None
        try:
            with _alone(self.folder):
                self._mend()
                self.check()
                if self.database is None:
                    with _file(job, self.folder / self.name) as draft:
                        yield draft
                else:
                    with _table(job, self.database, self.name) as draft:
                        yield draft
        finally:
            if fresh:
                _let_go(self.folder / LOCK)
                if not any(self.folder.iterdir()):
                    self.folder.rmdir()

    def _mend(self) -> None:
        """Put back the description that belongs to the data, where a run was killed between the two."""
        mend(self.folder, self._is_described_by)

    def _is_described_by(self, description: bytes) -> bool:
        """Whether a description is of the data that are there: it knows the file's digest, and a table its own."""
        if self.database is not None:
            return database_of(self.database).mark(self.database, self.name) == sha256(description).hexdigest()
        file = self.folder / self.name
        try:
            digest = parsed_json(description).get("sha256")
        except (ValueError, AttributeError):
            return False
        return digest is not None and file.is_file() and digest == digest_of(file)

    def check(self) -> None:
        """Refuse a folder that holds another release: its description and recoding would be overwritten."""
        if self.file is not None and self.file.is_dir():
            raise BadInput(f"{self.name}: this is a folder; give the released file another name")
        described = self.folder / DESCRIPTION
        if not described.exists():
            return
        try:
            description = parsed_json(described.read_bytes())
            other = description.get("release", self.name if "keepsense" in description else "?")
        except (ValueError, AttributeError):
            raise BadInput(
                f"{DESCRIPTION} in the release folder is no description; remove it, or release elsewhere"
            ) from None
        if other != self.name:
            raise BadInput(
                f"the folder {self.folder.name!r} holds the release {other!r}; give this one a folder of its own in "
                "the key `folder` of [release]"
            )


@dataclass(frozen=True)
class _File:
    job: Job
    part: Path
    target: Path

    def write(self, released: Table, how: Writing) -> None:
        self.job.engine.write(released, self.part, how, rng=self.job.rng)

    def read_back(self) -> Path:
        return self.part

    def digest(self) -> str | None:
        return digest_of(self.part)

    def publish(self, description: str) -> None:
        self.part.replace(self.target)


def digest_of(file: Path) -> str:
    """SHA-256 of a file, read piece by piece.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "x").write_text("")
    ...     digest_of(Path(folder) / "x")[:8]
    'e3b0c442'
    """
    with file.open("rb") as content:
        return file_digest(content, "sha256").hexdigest()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Hold a folder against other runs. A lock that a killed run left behind does not bind: the system let it go."""
    lock = folder / LOCK
    try:
        file = lock.open("a")
    except OSError as error:
        raise BadInput(f"nothing can be written into the folder of the release ({error.strerror})") from None
    with file:
        if not _locked(file):
            raise BadInput(f"another run is writing into the folder {folder.name!r}; wait for it, or release elsewhere")
        for stale in folder.glob(f"{_UNVERIFIED}*"):  # of a run that was killed
            rmtree(stale, ignore_errors=True)
            if not stale.is_dir():
                stale.unlink(missing_ok=True)
        for target in (folder / DESCRIPTION, folder / PRIVATE / RECODING):
            sweep(target)
        try:
            yield
        finally:
            remove_lock(lock)


def _let_go(lock: Path) -> None:
    """Remove a lock that nobody holds: an interrupt may come when its file is made and not yet held."""
    with suppress(OSError), lock.open("r+") as file:
        if _locked(file):
            remove_lock(lock)


def _locked(file: IO[str]) -> bool:
    if hold(file.fileno()) is False:
        return False
    # whoever held it before may have removed the file that we now hold
    try:
        return os.fstat(file.fileno()).st_ino == Path(file.name).stat().st_ino
    except FileNotFoundError:
        return False


@contextmanager
def _file(job: Job, target: Path) -> Iterator[Draft]:
    room = target.with_name(f"{_UNVERIFIED}{secrets.token_hex(6)}")
    room.mkdir(mode=0o700)  # nobody else looks at what is not verified, though the run be killed
    try:
        yield _File(job, room / target.name, target)
    finally:
        rmtree(room, ignore_errors=True)


@dataclass(frozen=True)
class _Table:
    job: Job
    address: str
    stage: Any

    def write(self, released: Table, how: Writing) -> None:
        how = replace(how, format=format_of(self.address).name)
        self.stage.write(self.job.engine.reader(released, writing=how, in_order=True, rng=self.job.rng))

    def read_back(self) -> Path:
        """What the database holds now, streamed into a file of the engine, so that it can be read more than once."""
        path: Path = self.job.engine.scratch("read_back.parquet")
        self.job.engine.write(self.job.engine.read(self.stage.read()), path)
        return path

    def digest(self) -> str | None:
        return None

    def publish(self, description: str) -> None:
        self.stage.commit(description)


@contextmanager
def _table(job: Job, address: str, table: str) -> Iterator[Draft]:
    with database_of(address).staged(address, table) as stage:
        yield _Table(job, address, stage)


def place_of(job: Job, into: Path | None = None) -> Place:
    """Where a project's release goes, or with `into` a rehearsal of it; it must not overwrite what it is made from.

    >>> from keepsense.release.example import example_job
    >>> place_of(example_job()).name, place_of(example_job(), into=Path("tried")).file.as_posix()
    ('people.csv', 'tried/people.csv')
    """
    release = job.project.release
    if "://" in release.folder:
        raise BadInput("the key `folder` of [release] is an address; name the database in the key `database`")
    folder = job.folder / release.folder if into is None else into
    if release.database is not None and into is None:
        return _database(job, folder, release.database)
    name = job.released_name
    if Path(name).name != name or name.startswith("."):
        raise BadInput(f"the released file's name {name!r} must be a plain file name")
    if format_of(name).database is not None:
        raise BadInput("the released file's name is an address; name the database in the key `database` of [release]")
    if name in (DESCRIPTION, PRIVATE, LOCK):
        raise BadInput(f"the released file cannot be called {name!r}; Keepsense needs that name in the release folder")
    target = folder / name
    for path in _own_files(job):
        same = path.exists() and target.exists() and target.samefile(path)
        if same or target.resolve() == path.resolve():
            raise BadInput(
                "the release would overwrite its own source, or another file of the project; give it another folder or "
                "name"
            )
    return Place(name, folder)


def read_released(job: Job, file: Path, running: Engine | None = None) -> Table:
    """A released file, opened by the engine of its job, or by another where that is closed by now.

    >>> from keepsense.release.example import example_job, example_release
    >>> done = example_release()
    >>> read_released(example_job(), done.file).columns
    ('age', 'job', 'illness', 'likes')
    """
    used = job.engine if running is None else running
    return used.read(str(file), reading_of(job, file))


def reading_of(job: Job, file: Path) -> Reading:
    """How a released file of a job is read back.

    >>> from keepsense.release.example import example_job
    >>> reading_of(example_job(), Path("people.csv")).delimiter
    ','
    """
    form = format_of(file.name)
    table = job.released_table if form.keeps_tables else None  # of a workbook, whoever made it, the only sheet
    return form.reading(delimiter=writing_of(job).delimiter, table=table)


def writing_of(job: Job) -> Writing:
    """How the release of a job is written: as the project says, and where it says nothing, as the source is.

    >>> from keepsense.release.example import example_job
    >>> writing_of(example_job()).delimiter
    ','
    """
    release, place = job.project.release, job.project.source
    how = Writing(
        delimiter=release.delimiter or ",",
        shuffle=release.shuffle,
        spreadsheet_safe=release.spreadsheet_safe,
        table=job.released_table,
    )
    if release.database is not None:
        return how
    form = format_of(job.released_name)
    written = {name: column.format for name, column in job.project.columns.items() if column.format in NUMBER_FORMATS}
    untouched = job.project.as_text
    how = replace(how, numbers={n: str(f) for n, f in written.items() if n not in untouched and form.is_text})
    if form.dialect is not None and release.delimiter is None and ".tsv" in Path(job.released_name).suffixes:
        how = replace(how, delimiter="\t")
    if job.data is not None or place is None or "://" in place.path:
        return how
    path = located(job.folder, place)
    if not Path(path).is_file() or format_of(path, place.format) is not form:
        return how
    if form.dialect is None:
        return replace(how, like=path, like_table=place.table)
    guess = not differentially_private(job.models)
    delimiter, newline = form.dialect(path, replace(job.project.reading(place), guess=guess))
    if delimiter == " ":  # labels hold blanks; what reads cells parted by blanks reads tabs as well
        delimiter = "\t"
    return replace(how, delimiter=release.delimiter or delimiter, newline=newline)


def database_of(address: str) -> Database:
    """What an address of a database can do.

    >>> database_of("people.csv")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the key `database` of [release] takes a postgresql:// address; for a file, use `file`
    """
    database = format_of(address).database if "://" in address else None
    if database is None:
        known = " or ".join(entry.endings[0] for entry in FORMATS.values() if entry.database is not None)
        raise BadInput(f"the key `database` of [release] takes a {known} address; for a file, use `file`")
    return database


def _own_files(job: Job) -> Iterator[Path]:
    """Files that the project reads or keeps."""
    for source in (None if job.data is not None else job.project.source, job.project.population):
        if source is not None and "://" not in source.path:
            yield Path(located(job.folder, source))
    for column in job.project.columns.values():
        for name in (column.hierarchy, column.mapping, column.taxonomy):
            if name is not None:
                yield job.folder / name
    yield job.folder / LEDGER
    yield from job.folder.glob("*.toml")


def _database(job: Job, folder: Path, address: str) -> Place:
    database, table = database_of(address), job.released_table
    database.check_name(table)
    for source in (job.project.source, job.project.population):
        if source is None or source.table is None or "://" not in source.path:
            continue
        if database.same_table(address, table, source.path, source.table):
            raise BadInput("the release would replace the table it is made from; give it another name")
    return Place(table, folder, address)
