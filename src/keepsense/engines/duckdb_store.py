"""DuckDB as a store of tables with numbered rows, and a folder for what does not fit into memory.

Every engine reads and writes files through a store, a format at a time; the DuckDB engine also works in it.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

from keepsense.engines.frames import watched
from keepsense.engines.memory_limits import limit_of
from keepsense.engines.temporary_folders import fresh_room, leave
from keepsense.errors import BadInput

ROW = "__keepsense_row"
"""Column that numbers the rows of a table; never released."""


_SHARE = 0.4
"""Part of the memory that DuckDB may take: a verifier works beside an engine, and both beside arrays of codes."""
_OF_THE_DISK = 0.8
"""Part of the free disk that may be taken for what does not fit into memory."""
_GROWN = 3
"""Bytes that a byte of a text file takes at most once it is read, with room for a sorted copy."""
_A_CORE = 4
"""Threads that a core may be asked to run: DuckDB starts as many as it is told, and millions bring a machine down."""


class Store:
    """A private DuckDB; tables are temporary and vanish with it.

    >>> with Store() as store:
    ...     store.types(store.keep("(SELECT 'nurse' AS job)"))
    {'job': 'VARCHAR', '__keepsense_row': 'BIGINT'}
    """

    def __init__(self, *, memory: str | None = None, threads: int | None = None) -> None:
        import duckdb

        self._looked_at: dict[Path, tuple[int, ...]] = {}
        self.columnar: dict[str, Path] = {}
        """Views of all columns of a Parquet file, in its order."""
        self.memory, self.limit = memory, limit_of(memory)
        self.folder, keeper = fresh_room()
        self.disk = int(_OF_THE_DISK * shutil.disk_usage(self.folder).free)
        self._cleanup = weakref.finalize(self, leave, self.folder, keeper)
        self.connection = duckdb.connect(config={"temp_directory": str(self.folder / "spill")})
        self._disconnect = weakref.finalize(self, self.connection.close)
        threads = None if threads is None else min(threads, _A_CORE * (os.cpu_count() or 1))
        self.threads = threads or os.cpu_count() or 1
        settings = {"autoinstall_known_extensions": False, "autoload_known_extensions": False, "threads": threads}
        bounds = {"memory_limit": f"{int(_SHARE * self.limit)}B", "max_temp_directory_size": f"{self.disk}B"}
        for setting, value in {**settings, "preserve_insertion_order": True, **bounds}.items():
            if value is not None:
                try:
                    self.connection.execute(f"SET {setting} = {literal(str(value))}")
                except duckdb.Error:
                    self.close()
                    said = memory if setting == "memory_limit" else value
                    raise BadInput(f"the engine does not take {said!r} as {setting.replace('_', ' ')}") from None

    def close(self) -> None:
        """Release memory and temporary files."""
        self._disconnect()
        self._cleanup()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def scratch(self, name: str) -> Path:
        """A place for a temporary file; it vanishes with the store.

        >>> with Store() as store:
        ...     _ = store.scratch("people.csv").write_text("job")
        ...     store.scratch("people.csv").exists()
        True
        """
        return self.folder / name

    def refuse_without_room(self, path: Path) -> None:
        """Stop before a file is read that fits neither into memory nor onto the disk for temporary files.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, Store() as store:
        ...     _ = (Path(folder) / "people.csv").write_text("job")
        ...     store.refuse_without_room(Path(folder) / "people.csv")
        """
        size = path.stat().st_size * _GROWN if path.is_file() else 0
        if size > _SHARE * self.limit + self.disk:
            raise BadInput(
                f"{path.name}: reading the file may take {size / 1e9:,.1f} GB of temporary disk, and only "
                f"{self.disk / 1e9:,.1f} GB of it may be used; let TMPDIR name a folder with more room, or convert the "
                "file to Parquet, which is read where it lies"
            )

    def run(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement; rows that it gives, or none."""
        with self.readable():
            return list(self.connection.execute(sql).fetchall())

    def stream(self, sql: str, rows: int) -> Any:
        """The schema of what a query gives, and its record batches of so many rows, which are asked for one by one.

        >>> with Store() as store:
        ...     schema, batches = store.stream("SELECT 'nurse' AS job", 10)
        ...     schema.names, [batch.num_rows for batch in batches]
        (['job'], [1])
        """
        with self.readable():
            reader = self.connection.sql(sql).to_arrow_reader(rows)

        def batches() -> Iterator[Any]:
            with self.readable():
                yield from reader
                self.unchanged()

        return reader.schema, batches()

    def look_at(self, path: Path, sql: str) -> str:
        """The name of a view of a file that stays where it is; it must not change before the work is done.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder, Store() as store:
        ...     path = Path(folder) / "people.csv"
        ...     _ = path.write_text("job")
        ...     _ = store.look_at(path, "SELECT 1 AS job")
        ...     _ = path.write_text("another job")
        ...     store.unchanged()
        Traceback (most recent call last):
        ...
        keepsense.errors.BadInput: people.csv: the file changed while it was read; run it again when it is at rest
        """
        name = fresh("view")
        self._looked_at[path] = _state(path)
        self.connection.execute(f"CREATE TEMP VIEW {name} AS {sql}")
        return name

    def unchanged(self) -> None:
        """Refuse to go on where a file that is looked at is not what it was."""
        for path, state in self._looked_at.items():
            if _state(path) != state:
                raise BadInput(f"{path.name}: the file changed while it was read; run it again when it is at rest")

    @contextmanager
    def readable(self) -> Iterator[None]:
        """What DuckDB complains of while it reads files that are looked at, in words that quote no cell."""
        import duckdb

        try:
            yield
        except duckdb.Error as error:
            of_files = (duckdb.IOException, duckdb.InvalidInputException, duckdb.HTTPException)
            # a page of rubbish may be an error of no kind at all
            bare = type(error) is duckdb.Error
            if not self._looked_at or not (bare or isinstance(error, (*of_files, duckdb.SerializationException))):
                raise
            self.unchanged()
            named = ", ".join(path.name for path in self._looked_at)
            raise BadInput(f"{named}: the file cannot be read; it is damaged, or not what its name says") from None

    def types(self, relation: str) -> dict[str, str]:
        """Names and types of the columns of a table or query."""
        return {name: str(kind) for name, kind, *_ in self.run(f"DESCRIBE {relation}")}

    def keep(self, relation: str, columns: str = f"*, row_number() OVER () AS {ROW}") -> str:
        """A numbered copy of what a relation gives; its name."""
        name = fresh("table")
        self.connection.execute(f"CREATE TEMP TABLE {name} AS SELECT {columns} FROM {relation}")
        return name

    def keep_arrow(self, data: Any, columns: str = f"*, row_number() OVER () AS {ROW}") -> str:
        """A numbered copy of an Arrow table or record batch reader; a reader is never in memory as a whole."""
        import duckdb
        import pyarrow as pa

        failures = list[Exception]()
        stream = watched(data, failures) if isinstance(data, pa.RecordBatchReader) else data
        try:
            self.connection.register("arriving", stream)
            return self.keep("arriving", columns)
        except duckdb.Error as error:
            if failures:
                raise failures[0] from None
            if isinstance(error, duckdb.OperationalError):
                raise
            # DuckDB's words may quote cells
            raise BadInput(
                f"the rows cannot be taken over ({type(error).__name__}); a column has a type that DuckDB does not know"
            ) from None
        finally:
            self.connection.unregister("arriving")


def _state(path: Path) -> tuple[int, ...]:
    """What tells that a file is still the same."""
    try:
        now = path.stat()
    except OSError:
        return ()
    return now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns


@contextmanager
def refused(path: Path, *, lines: bool = False) -> Iterator[None]:
    """What DuckDB complains of about a file, or about a text file of `lines`, without the cells that it quotes."""
    import duckdb

    try:
        yield
    except duckdb.Error as error:
        if not lines:
            raise BadInput(f"{path.name}: the file cannot be read; it is damaged, or not what its name says") from None
        line = re.search(r"[Ll]ine:? (\d+)", str(error))
        near = f" near line {int(line[1]):,}" if line else ""
        widths = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", str(error))
        if widths:
            raise BadInput(
                f"{path.name}: a row{near} has {widths[2]} cells, but the header has {widths[1]}; mend it, or give the "
                "right delimiter and quotes"
            ) from None
        raise BadInput(
            f"{path.name}: the file cannot be read{near}; check its delimiter, quotes and encoding, or give them"
        ) from None


def fresh(kind: str) -> str:
    """A name no table has yet.

    >>> fresh("view").startswith("ks_view_"), fresh("view") == fresh("view")
    (True, False)
    """
    return f"ks_{kind}_{secrets.token_hex(6)}"


def quoted(name: str) -> str:
    """A column name as SQL.

    >>> quoted('the "real" age')
    '"the ""real"" age"'
    """
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """A string as SQL.

    >>> literal("nurse's aide")
    "'nurse''s aide'"
    """
    return "'" + text.replace("'", "''") + "'"
