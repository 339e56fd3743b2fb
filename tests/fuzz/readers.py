"""Everything that reads bytes of strangers, by name: how it is called, and inputs that it understands."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from keepsense import files
from keepsense.draft.arx_project import read_arx_project
from keepsense.engines.duckdb_store import Store
from keepsense.engines.formats.table_formats import FORMATS as TABLES
from keepsense.engines.protocol import Reading, Writing, engine
from keepsense.errors import KeepsenseError
from keepsense.hierarchies.formats.hierarchy_formats import FORMATS as HIERARCHIES
from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy, write_hierarchy
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.project.project_file import read_project
from keepsense.release.folder import description, ledger, recipient, recoding_file
from keepsense.taxonomy import mapping_file
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, read_taxonomy
from keepsense.taxonomy.lookup import lookup
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.taxonomy_builder import from_edges
from tests.draft.test_arx_project import archive
from tests.taxonomy.test_loader_fuzz import OPTIONS, SAMPLES
from tests.taxonomy.test_wordnet_database import write as write_wordnet


@dataclass(frozen=True)
class Reader:
    """One reader: `read` takes a file called `name`; it may refuse it with a `KeepsenseError`, and nothing else."""

    name: str
    file: str
    read: Callable[[Path], object]
    seeds: Callable[[], list[bytes]]
    modules: tuple[ModuleType | str, ...] = field(default=())
    binary: bool = False


READERS: dict[str, Reader] = {}


def _add(reader: Reader) -> None:
    READERS[reader.name] = reader


# ---- what Keepsense writes by itself ---------------------------------------------------------------------------------

PROJECT = b"""unlisted = "drop"
[source]
path = "people.csv"
delimiter = ";"
[columns.age]
role = "quasi-identifier"
kind = "numeric"
weight = 2.5
[columns."the job"]
role = "quasi-identifier"
taxonomy = "wordnet"
hierarchy = "auto"
order = ["low", "high"]
[[privacy]]
model = "k-anonymity"
k = 5
[[privacy]]
model = "l-diversity"
column = "illness"
l = 2
[method]
name = "optimal"
parameters = { metric = "loss", seconds = 5.0, at = 2024-01-31, deep = [[1, 2], [3]] }
[release]
suppression = 0.05
[engine]
memory = "4GB"
"""
LEDGER = (
    b'{"date": "2026-01-31", "file": "people.csv", "columns": ["job", "age"], "promises": [{"model": "k-anonymity",'
    b' "k": 5}], "method": "optimal", "rows": 60, "epsilon": 0.5, "notes": ["x"], "digest": "ab"}\n'
)
DESCRIPTION: dict[str, Any] = {
    "keepsense": "0.1.0",
    "release": "people.csv",
    "promises": [{"model": "k-anonymity", "k": 3}],
    "in words": ["Every record looks like at least 2 others."],
    "method": {"name": "optimal", "parameters": {"metric": "loss"}},
    "columns": {"age": {"role": "quasi-identifier", "kind": "numeric", "lost": 0.25}},
    "removed columns": 1,
    "suppression limit": 0.05,
    "records": 60,
    "hierarchies": {"age": [["[20, 30[", "*"]]},
    "utility": {"loss": 0.5},
    "risk": {"after": {"prosecutor, highest": 0.2}},
    "dictionary": {
        "age": {
            "role": "quasi-identifier",
            "kind": "numeric",
            "done": "level 1 of 3",
            "labels": {"20 to 29": {"lower": 20.0, "upper": 29.0}, "60 or more": {"lower": 60.0, "upper": None}},
            "marks": {"*": "hidden"},
        },
        "born": {"role": "quasi-identifier", "kind": "date", "done": "x", "labels": {"2008-W01": {"lower": "x"}}},
        "job": {
            "role": "sensitive",
            "kind": "nominal",
            "done": "as it was",
            "labels": {"nurse": {"concept": "nurse.n.01", "stands for": ["cook"], "and others": True}},
        },
    },
}
RECEIVED = b"age,born,job\n20 to 29,2008-W01,nurse\n60 or more,9999-W52,clerk\n*,0000,\n"
RECODING: list[Any] = [
    {
        "form": "cuts",
        "cuts": [{"name": "job", "inputs": ["nurse", "clerk"], "outputs": ["*", "*"], "level": 1}],
        "suppress": [["*"]],
    },
    {
        "form": "draws",
        "name": "sex",
        "inputs": ["f", "m"],
        "outputs": ["f", "m"],
        "probabilities": [[0.9, 0.1], [0, 1]],
    },
    {
        "form": "cells",
        "names": ["born"],
        "values": [[{"type": "date", "value": "2020-02-02"}, 3, None, ["a", "b"]]],
        "source": [0, 1],
        "codes": [[0], [1]],
        "multiplicity": [2, 1],
        "suppressed": [False, True],
        "inputs": {"names": ["born"], "values": [["x", "y"]], "codes": [[0], [1]], "weights": [2, 1]},
    },
]
TWO = {"kind": "|u1", "shape": [2, 1], "packed": "eAFjYAQAAAMAAg=="}
PACKED = {
    "format": "keepsense recoding",
    "version": 3,
    "rules": [
        {**RECODING[0], "suppress": {"values": [["*", None]], "codes": TWO}},
        {**RECODING[2], "codes": TWO, "source": {**TWO, "shape": [2]}, "suppressed": {**TWO, "shape": [2]}},
    ],
}
_add(Reader("project", "keepsense.toml", read_project, lambda: [PROJECT], ("keepsense.project.project_file", files)))
_add(
    Reader(
        "ledger",
        ledger.FILE,
        lambda path: ledger.read_ledger(path.parent),
        lambda: [LEDGER, LEDGER * 2],
        (ledger, files),
    )
)
_add(
    Reader(
        "description",
        "release.json",
        lambda path: description.read_description(path.parent),
        lambda: [json.dumps(DESCRIPTION).encode()],
        (description, files),
    )
)


@cache
def _engine() -> Any:
    return engine()


def _received(path: Path) -> None:
    """A release folder whose description is the input."""
    (path.parent / "people.csv").write_bytes(RECEIVED)
    recipient.read_release(path.parent, "pyarrow", engine=_engine())


_add(Reader("release", "release.json", _received, lambda: [json.dumps(DESCRIPTION).encode()], (recipient, description)))
_add(
    Reader(
        "recoding",
        "recoding.json",
        recoding_file.read_recodings,
        lambda: [json.dumps(made).encode() for made in (RECODING, *([rule] for rule in RECODING), PACKED)],
        (recoding_file, "keepsense.release.folder.packed_arrays", files),
    )
)

_add(
    Reader(
        "arx-project",
        "x.deid",
        lambda path: read_arx_project(path).unpack(path.with_name("unpacked"), force=True),
        lambda: [archive(), archive(packed=False)],
        ("keepsense.draft.arx_project",),
        binary=True,
    )
)

# ---- words and their meaning -----------------------------------------------------------------------------------------


@cache
def _pets() -> Any:
    return from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog")], names={"cat": ["cat", "kitty"]}, name="pets")


def _mapping() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        mapping_file.save(map_values(["Cats", "dog", "qwerty", None], _pets()), Path(folder) / "x.csv")
        return [(Path(folder) / "x.csv").read_bytes()]


_add(Reader("mapping", "x.csv", lambda path: mapping_file.read(path, _pets()), _mapping, (mapping_file,)))


def _hierarchy(ending: str) -> Callable[[], list[bytes]]:
    rows = [("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "clerk", "*")]

    def seeds() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"x{ending}"
            write_hierarchy(Hierarchy.of_rows(rows, name="x"), path)
            return [path.read_bytes()]

    return seeds


def _read_hierarchy(path: Path) -> None:
    write_hierarchy(read_hierarchy(path), path.with_name("written.json"))


for _entry in HIERARCHIES.values():
    _ending = _entry.endings[0]
    _add(
        Reader(
            f"hierarchy-{_entry.name}", f"x{_ending}", _read_hierarchy, _hierarchy(_ending), (_entry.read.__module__,)
        )
    )


def _taxonomy(format: str | None) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        taxonomy = read_taxonomy(path, format, **OPTIONS.get(format or "", {}))
        taxonomy.save(path.with_name("saved.taxonomy"))
        lookup(taxonomy)
        taxonomy.descendants(taxonomy.root)
        taxonomy.subsumers(int(taxonomy.leaves()[0]))

    return read


NT = """<http://x/a> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <http://x/b> .
<http://x/a> <http://www.w3.org/2000/01/rdf-schema#label> "a"@en .
"""
MESH = """*NEWRECORD
RECTYPE = D
MH = Body
MN = A01
UI = D1

*NEWRECORD
RECTYPE = D
MH = Arm
ENTRY = Arms|T
MN = A01.1
UI = D2
"""
MORE: dict[str, list[bytes]] = {"mesh": [MESH.encode()], "rdf": [NT.encode()]}
_ENDINGS = {
    "obo": ".obo",
    "obo-graph": ".json",
    "rdf": ".ttl",
    "owl": ".owl",
    "skos": ".jsonld",
    "edges": ".csv",
    "keepsense": ".taxonomy",
}
for _name in sorted(set(SAMPLES) - {"keepsense"}):
    _read = LOADERS[_name].read
    _add(
        Reader(
            f"taxonomy-{_name}",
            f"x{_ENDINGS.get(_name, '.txt')}",
            _taxonomy(_name),
            lambda name=_name: [SAMPLES[name], *MORE.get(name, [])],  # type: ignore[misc]
            (_read.__module__,),
        )
    )
_add(
    Reader(
        "taxonomy-any",
        "x",
        _taxonomy(None),
        lambda: [*SAMPLES.values(), *(seed for seeds in MORE.values() for seed in seeds)],
        (
            "keepsense.taxonomy.formats.taxonomy_formats",
            "keepsense.taxonomy.formats.source_files",
            "keepsense.taxonomy.formats.source_files",
        ),
    )
)


def _own(compress: bool) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        with tempfile.TemporaryDirectory() as folder:
            _pets().save(Path(folder) / "x.taxonomy", compress=compress)
            return [(Path(folder) / "x.taxonomy").read_bytes()]

    return seeds


for _packed in (False, True):
    _name = f"taxonomy-keepsense{'-compressed' if _packed else ''}"
    _add(
        Reader(
            _name,
            "x.taxonomy",
            _taxonomy("keepsense"),
            _own(_packed),
            ("keepsense.taxonomy.taxonomy_file",),
            binary=True,
        )
    )

SNAPSHOT = {
    f"sct2_{kind}_Snapshot{language}_INT_1.txt": b"\n".join(b"\t".join(line.split()) for line in lines) + b"\n"
    for kind, language, lines in (
        ("Concept", "", (b"id effectiveTime active moduleId definitionStatusId", b"1 1 1 1 1", b"2 1 1 1 1")),
        (
            "Description",
            "-en",
            (
                b"id effectiveTime active moduleId conceptId languageCode typeId term caseSignificanceId",
                b"5 1 1 1 1 en 900000000000013009 root 1",
            ),
        ),
        (
            "Relationship",
            "",
            (
                b"id effectiveTime active moduleId sourceId destinationId relationshipGroup typeId "
                b"characteristicTypeId modifierId",
                b"7 1 1 1 2 1 0 116680003 900000000000011006 1",
            ),
        ),
    )
}


def _titles(raw: bytes) -> set[bytes]:
    return set(raw.split(b"\n")[0].split(b"\t"))


def _snomed(path: Path) -> None:
    """One of the files is the input; which, its first byte says by where it best fits."""
    folder = path.with_name("snapshot")
    folder.mkdir(exist_ok=True)
    raw = path.read_bytes()
    likely = max(SNAPSHOT, key=lambda name: len(_titles(raw) & _titles(SNAPSHOT[name])))
    for name, content in SNAPSHOT.items():
        (folder / name).write_bytes(raw if name == likely else content)
    read_taxonomy(folder)


def _wordnet(path: Path) -> None:
    """The input stands for one of the files, whichever it looks most like."""
    folder = write_wordnet(path.with_name("wordnet"))
    raw = path.read_bytes()
    index = raw.count(b" n ") and not raw.count(b" | ")
    (folder / ("index.noun" if index else "data.noun")).write_bytes(raw)
    read_taxonomy(folder)


def _wordnet_files() -> list[bytes]:
    with tempfile.TemporaryDirectory() as folder:
        made = write_wordnet(Path(folder) / "wordnet")
        return [(made / name).read_bytes() for name in ("data.noun", "index.noun")]


_add(Reader("taxonomy-wordnet", "x", _wordnet, _wordnet_files, ("keepsense.taxonomy.formats.wordnet_database",)))
_add(
    Reader("taxonomy-snomed", "x.txt", _snomed, lambda: list(SNAPSHOT.values()), ("keepsense.taxonomy.formats.snomed",))
)

# ---- tables ----------------------------------------------------------------------------------------------------------

_ROWS = """SELECT i AS n, 'word ' || (i % 7) AS w, i * 1.5 AS x, CASE WHEN i % 3 > 0 THEN i % 2 = 0 END AS b,
DATE '2020-01-01' + CAST(i AS INTEGER) AS d"""


@cache
def _store() -> Store:
    return Store(memory="1GB", threads=1)


def _written(format: str, name: str) -> Callable[[], list[bytes]]:
    def seeds() -> list[bytes]:
        lists = ", [i, i + 1] AS l" if format in ("parquet", "arrow", "duckdb", "jsonl") else ""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            writer = TABLES[format].write
            assert writer is not None
            writer(_store(), f"{_ROWS}{lists} FROM range(20) r(i)", path, Writing())
            found = [path.read_bytes()]
        return [*found, _stream(found[0])] if format == "arrow" else found

    return seeds


def _stream(file: bytes) -> bytes:
    import pyarrow as pa

    table = pa.ipc.open_file(pa.BufferReader(file)).read_all()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return bytes(sink.getvalue())


def _in_order(store: Store) -> bool:
    """Whether DuckDB still works: after what it calls an internal error it refuses everything."""
    try:
        return bool(store.run("SELECT 1"))
    except Exception:
        return False


def _table(format: str) -> Callable[[Path], None]:
    def read(path: Path) -> None:
        store = _store()
        try:
            table = TABLES[format].read(store, str(path), Reading())
        except KeepsenseError:
            if not _in_order(store):
                _store.cache_clear()
            raise
        try:
            store.run(f"SELECT * FROM {table}")
        finally:
            store.run(f"DROP TABLE {table}")

    return read


for _name, _entry_of_table in TABLES.items():
    if _entry_of_table.database is None:
        _file = f"x{_entry_of_table.endings[0]}"
        _text = _entry_of_table.is_text or _name == "jsonl"
        _add(
            Reader(
                f"table-{_name}",
                _file,
                _table(_name),
                _written(_name, _file),
                (_entry_of_table.read.__module__,),
                binary=not _text,
            )
        )
_add(
    Reader(
        "table-csv-compressed",
        "x.csv.gz",
        _table("csv"),
        _written("csv", "x.csv.gz"),
        ("keepsense.engines.formats.csv_file",),
        binary=True,
    )
)


def warmed() -> None:
    """Load what readers load when they are first used, so that processes made from this one need not."""
    import fastobo  # noqa: F401
    import openpyxl  # noqa: F401
    import rdflib  # noqa: F401
    import scipy.sparse.csgraph  # noqa: F401

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.csv"
        path.write_bytes(_mapping()[0])
        mapping_file.read(path, _pets())
        _pets().save(Path(folder) / "x.taxonomy")


def attempt(reader: Reader, path: Path) -> str:
    """Read a file: `read`, or `refused`; whatever else happens is a bug and goes on its way."""
    try:
        reader.read(path)
    except KeepsenseError as error:
        if str(path.parent) in str(error):
            raise AssertionError("the message tells where the file lies") from error
        return "refused"
    return "read"
