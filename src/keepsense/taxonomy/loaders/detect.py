"""Open a taxonomy whatever its format: look at the file, choose the loader."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from keepsense.errors import BadInput, BadTaxonomy, KeepsenseError, did_you_mean
from keepsense.taxonomy.core import Taxonomy
from keepsense.taxonomy.loaders._rows import PARQUET, read_table
from keepsense.taxonomy.loaders._safe_xml import check_xml
from keepsense.taxonomy.loaders._source import PathLike, file_path, head, read_text
from keepsense.taxonomy.loaders.mesh import read_mesh
from keepsense.taxonomy.loaders.obo import read_obo
from keepsense.taxonomy.loaders.obo_graph import read_obo_graph
from keepsense.taxonomy.loaders.open_directory import read_open_directory
from keepsense.taxonomy.loaders.prefixes import read_prefixes
from keepsense.taxonomy.loaders.rdf import read_rdf
from keepsense.taxonomy.loaders.snomed import is_release, read_snomed
from keepsense.taxonomy.loaders.tables import PARENT, PATH, read_edges, read_nested, read_paths
from keepsense.taxonomy.store import MAGIC

_LOOK = 1 << 16
_LEVEL = re.compile(r"level[ _-]?\d+|root", re.IGNORECASE)


class Format(NamedTuple):
    """A format that can be read: what it is, how it is read, and options that go with its name.

    >>> FORMATS["skos"].about, dict(FORMATS["skos"].options)
    ('SKOS thesaurus', {'vocabulary': 'skos'})
    """

    about: str
    read: Callable[..., Taxonomy]
    options: Mapping[str, Any] = MappingProxyType({})


def _own(path: PathLike) -> Taxonomy:
    return Taxonomy.load(path)


def _wndb(path: PathLike, *, glosses: bool = True) -> Taxonomy:
    from keepsense.taxonomy.loaders.wndb import load_wndb

    return load_wndb(path, glosses=glosses)


FORMATS: dict[str, Format] = {
    "keepsense": Format("a file written by Taxonomy.save", _own),
    "obo": Format("OBO flat file", read_obo),
    "obo-graph": Format("OBO graph in JSON", read_obo_graph),
    "owl": Format("OWL ontology as RDF (RDF/XML, Turtle, N-Triples, JSON-LD)", read_rdf, {"vocabulary": "owl"}),
    "rdfs": Format("RDF Schema classes", read_rdf, {"vocabulary": "owl"}),
    "skos": Format("SKOS thesaurus", read_rdf, {"vocabulary": "skos"}),
    "rdf": Format("RDF, OWL or SKOS, whichever it is", read_rdf),
    "snomed": Format("SNOMED CT RF2 snapshot folder", read_snomed),
    "mesh": Format("MeSH descriptors, XML or ASCII", read_mesh),
    "open-directory": Format("Open Directory structure, RDF or table", read_open_directory),
    "wordnet": Format("WordNet database folder (WNDB)", _wndb),
    "edges": Format("table with a child and its parent in each row", read_edges),
    "paths": Format("table with a path from the root in each row", read_paths),
    "nested": Format("table with one column per level", read_nested),
    "prefixes": Format("table of codes whose prefixes are the hierarchy", read_prefixes),
}


def read_taxonomy(path: PathLike, format: str | None = None, **options: Any) -> Taxonomy:
    """Read a taxonomy of any known format; the format is found by looking at the file unless it is named.

    Options go to the loader of the format: `join_roots=True` puts one virtual root above several, and each loader tells
    its others (`read_obo`, `read_rdf`, `read_snomed`, `read_mesh`, `read_open_directory`, `read_edges`, `read_paths`,
    `read_nested`, `read_prefixes`). ICD-10-CM comes in a package, not in a file: see `icd10cm`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "pets.csv"
    ...     _ = place.write_text("child,parent\\ncat,animal\\ndog,animal\\n")
    ...     read_taxonomy(place)
    Taxonomy('pets.csv': 3 concepts, 2 is-a links)
    """
    if format is None:
        format = find_format(path, encoding=options.get("encoding"))
    elif format not in FORMATS:
        raise BadInput(
            f"format: {format!r} is not known; choose one of {', '.join(FORMATS)}.{did_you_mean(format, FORMATS)}"
        )
    chosen = FORMATS[format]
    known = [p.name for p in inspect.signature(chosen.read).parameters.values() if p.kind is p.KEYWORD_ONLY]
    for key in options:
        if key not in known:
            raise BadInput(
                f"{key}: the format {format!r} has no such option; it has {', '.join(known) or 'none'}."
                f"{did_you_mean(key, known)}"
            )
    return chosen.read(path, **{**chosen.options, **options})


def find_format(path: PathLike, *, encoding: str | None = None) -> str:
    """The format of a file or folder, by its content first and its name second.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "unknown"
    ...     _ = place.write_text("format-version: 1.2\\n\\n[Term]\\nid: A:1\\n")
    ...     find_format(place)
    'obo'
    """
    place = Path(path)
    if place.is_dir():
        if is_release(place):
            return "snomed"
        if (place / "data.noun").is_file():
            return "wordnet"
        raise _unknown(place, "the folder is neither a SNOMED CT release nor a WordNet database")
    start = head(file_path(place), _LOOK)
    if start.startswith(MAGIC[:-2]):
        return "keepsense"
    text = start.removeprefix(b"\xef\xbb\xbf").lstrip()
    found = _by_content(place, text)
    if found:
        return found
    ending = place.suffix.lower()
    if ending == ".obo":
        return "obo"
    if ending in (".ttl", ".turtle", ".nt", ".owl", ".rdf", ".rdfs", ".jsonld"):
        return "rdf"
    return _table_format(place, start, encoding)


def _by_content(place: Path, text: bytes) -> str | None:
    if re.search(rb"(?m)^(?:format-version:|\[Term\]\s*$)", text):
        return "obo"
    if text.startswith(b"*NEWRECORD"):
        return "mesh"
    if re.search(rb"(?im)^\s*@?(?:prefix|base)\s+\S*:?\s*<", text) or _is_triples(text):
        return "rdf"
    if text.startswith(b"<") or (text[:2] in (b"\xff\xfe", b"\xfe\xff") and b"<" in text[:4]):
        return _xml_format(place, text)
    if text.startswith((b"{", b"[")):
        if b'"@' in text:
            return "rdf"
        if b'"graphs"' in text:
            return "obo-graph"
    if re.match(rb"(?:Prefix|Ontology)\s*[(:]", text):
        raise _unknown(place, "OWL in functional or Manchester syntax cannot be read; save it as RDF/XML or Turtle")
    return None


def _is_triples(text: bytes) -> bool:
    return re.match(rb"(?:#[^\n]*\n\s*)*(?:<\w[\w+.-]*:[^>\s]*>|_:\S+)\s+<\w[\w+.-]*:[^>\s]*>\s+\S", text) is not None


def _xml_format(place: Path, text: bytes) -> str:
    root = check_xml(place, external_type=True)
    if root == "DescriptorRecordSet":
        return "mesh"
    if root.rpartition(":")[2] == "RDF":
        return "open-directory" if b"dmoz.org" in text or b"http://www.w3.org/TR/RDF/" in text else "rdf"
    if root.rpartition(":")[2] == "Ontology":
        raise _unknown(place, "OWL/XML cannot be read; save it as RDF/XML or Turtle")
    raise _unknown(place, f"its first XML element, {root[:40]!r}, is of no known format")


def _table_format(place: Path, start: bytes, encoding: str | None) -> str:
    """What kind of table a file is; guessed only where its header or its first rows leave no doubt."""
    is_table = place.suffix.lower() in (".csv", ".tsv", ".tab", ".parquet") or start.startswith(PARQUET)
    if place.suffix.lower() == ".txt":
        read_text(place, encoding)
    try:
        table = read_table(place, header=True, encoding=encoding)
    except KeepsenseError:
        if is_table:
            raise
        raise _unknown(place) from None
    if table.find(PARENT) is not None:
        return "edges"
    if table.find(PATH[:1]) is not None:
        return "paths"
    if any(_LEVEL.fullmatch(name) for name in table.header):
        return "nested"
    rows = [list(table.header), *table.rows]
    if table.width == 1 and sum("/" in row[0] for row in rows) * 2 >= len(rows):
        return "paths"
    if table.width > 1 and any({row[end] for row in rows} == {"*"} for end in (0, -1)):
        return "nested"
    if table.width == 1 and not is_table:
        raise _unknown(place)
    raise BadTaxonomy(
        f"{place.name}: this is a table, but not how it holds a taxonomy; name its format: 'edges' (child and parent),"
        " 'paths', 'nested' (one column per level) or 'prefixes' (codes), and its columns"
    )


def _unknown(place: Path, why: str = "the format is not recognised") -> BadTaxonomy:
    return BadTaxonomy(f"{place.name}: {why}. Known formats: {', '.join(FORMATS)}; name one with format=")
