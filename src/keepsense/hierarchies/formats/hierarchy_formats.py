"""The registry of hierarchy formats: one module each, with its entry in `FORMATS`; the ending of a file decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from keepsense.errors import BadHierarchy, BadInput
from keepsense.files import write_whole
from keepsense.registry import Registry

if TYPE_CHECKING:
    from keepsense.hierarchies.hierarchy import Hierarchy
    from keepsense.taxonomy.taxonomy import Identity, Taxonomy


@dataclass(frozen=True)
class Format:
    """A file format of hierarchies: what it is, how files in it end, and how they are read and written.

    Functions of a format that holds `concepts` also take the `taxonomy` that names them.

    >>> FORMATS["arx"].endings, FORMATS["tree"].about
    (('.csv',), 'indented text, to look at')
    """

    name: str
    about: str
    endings: tuple[str, ...]
    read: Callable[..., Hierarchy]
    write: Callable[..., None]
    concepts: bool = False


class Passed:
    """Concepts of a file that is read and written again by somebody who has not its taxonomy: their ids, untouched.

    >>> passed = Passed()
    >>> passed.code("10366966-n"), passed.code("10305802-n"), passed.id(1)
    (0, 1, '10305802-n')
    """

    def __init__(self) -> None:
        self.identity: Identity | None = None
        self._codes: dict[str, int] = {}
        self._ids: list[str] = []

    def code(self, concept: str) -> int:
        """A code for an id, always the same."""
        if concept not in self._codes:
            self._codes[concept] = len(self._ids)
            self._ids.append(concept)
        return self._codes[concept]

    def id(self, code: int) -> str:
        """The id behind a code."""
        return self._ids[code]


FORMATS: Registry[Format] = Registry(
    "hierarchy format", packages=["keepsense.hierarchies.formats"], first=("arx", "json", "xml", "tree")
)


def read_hierarchy(
    path: str | Path, name: str | None = None, *, taxonomy: Taxonomy | Passed | None = None
) -> Hierarchy:
    """Read a hierarchy file of any format, by its ending; `name` is that of its column, the file's unless given.

    Concepts in a file need the taxonomy that it was made with, or a part of it; another one is refused.

    >>> read_hierarchy("jobs.docx")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: jobs.docx: no hierarchy format ends in .docx; there are: .csv, .json, .tree, .txt, .xml
    """
    file = Path(path)
    chosen = format_of(file)
    hierarchy = chosen.read(file, taxonomy=taxonomy) if chosen.concepts else chosen.read(file)
    return hierarchy.named(file.stem if name is None else name)


def write_hierarchy(hierarchy: Hierarchy, path: str | Path, *, taxonomy: Taxonomy | Passed | None = None) -> None:
    """Write a hierarchy in the format its file's ending tells.

    With the taxonomy that its concepts are of, formats that can hold them say what the labels mean.

    >>> import tempfile
    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder) / "jobs.csv"
    ...     write_hierarchy(Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")]), file)
    ...     read_hierarchy(file).leaves
    ('nurse', 'clerk')
    """
    file = Path(path)
    chosen = format_of(file)
    if not file.parent.is_dir():
        raise BadInput(f"{file.name}: the folder to write it into does not exist")
    chosen.write(hierarchy, file, **({"taxonomy": taxonomy} if chosen.concepts else {}))


def format_of(path: Path) -> Format:
    """The format of a hierarchy file, by its ending.

    >>> format_of(Path("jobs.txt")).name
    'tree'
    """
    for entry in FORMATS.values():
        if path.suffix.lower() in entry.endings:
            return entry
    known = ", ".join(sorted(ending for entry in FORMATS.values() for ending in entry.endings))
    raise BadInput(f"{path.name}: no hierarchy format ends in {path.suffix or 'nothing'}; there are: {known}")


# Small text files, read and written whole

LIMIT = 256 * 2**20
"""Hierarchy files larger than this are refused: they are not hierarchies."""


DEEPEST = 200
"""Levels that a hierarchy of a file may have: work and memory grow with leaves times levels."""


def check_depth(name: str, levels: int) -> None:
    """Refuse a file with more levels than any hierarchy has."""
    if levels > DEEPEST:
        raise BadHierarchy(f"{name}: more than {DEEPEST} levels lie above each other; no hierarchy is so deep")


def read_text(path: str | Path, *, keep_mark: bool = False) -> str:
    """Text of a UTF-8 file, line ends untouched.

    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.txt"
    >>> _ = path.write_bytes(b"one\\r\\n")
    >>> read_text(path)
    'one\\r\\n'
    """
    data = read_bytes(path)
    try:
        return data.decode("utf-8" if keep_mark else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadHierarchy(
            f"{Path(path).name}: not UTF-8 text (byte {error.start:,}); save the file as UTF-8"
        ) from None


def read_bytes(path: str | Path) -> bytes:
    """Bytes of a file that is not too large."""
    path = Path(path)
    try:
        if path.stat().st_size > LIMIT:
            raise BadHierarchy(f"{path.name}: the file has {path.stat().st_size:,} bytes; no hierarchy is that large")
        return path.read_bytes()
    except OSError as error:
        raise BadHierarchy(f"{path.name}: the file cannot be read ({error.strerror}); check its name") from None


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write a file; it appears under its name only when it is whole."""
    write_whole(path, [data], BadHierarchy)
