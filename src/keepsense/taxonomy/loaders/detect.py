"""Open a taxonomy whatever its format: every loader enters itself into `LOADERS` and tells the files it knows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, get_args, get_type_hints

from keepsense.errors import BadInput, BadTaxonomy, KeepsenseError, did_you_mean
from keepsense.registry import Registry
from keepsense.taxonomy.core import Taxonomy
from keepsense.taxonomy.loaders._rows import PARQUET, Table, read_table
from keepsense.taxonomy.loaders._safe_xml import check_xml
from keepsense.taxonomy.loaders._source import PathLike, file_path, head, read_text
from keepsense.taxonomy.store import MAGIC

_LOOK = 1 << 16


class Glance:
    """What can be told of a file or folder without reading all of it: what loaders look at to know their own.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "pets.csv"
    ...     _ = place.write_text("child,parent\\ncat,animal\\n")
    ...     glance = Glance(place)
    ...     glance.xml_root, glance.table.header
    ('', ('child', 'parent'))
    """

    def __init__(self, path: PathLike, encoding: str | None = None) -> None:
        self.path = Path(path)
        self.is_folder = self.path.is_dir()
        self.start = b"" if self.is_folder else head(file_path(self.path), _LOOK)
        self.text = self.start.removeprefix(b"\xef\xbb\xbf").lstrip()
        self._encoding = encoding

    @property
    def ending(self) -> str:
        """Ending of the file's name."""
        return self.path.suffix.lower()

    @cached_property
    def xml_root(self) -> str:
        """Name of the first XML element; empty where the file is no XML."""
        wide = self.text[:2] in (b"\xff\xfe", b"\xfe\xff") and b"<" in self.text[:4]
        return check_xml(self.path, external_type=True) if self.text.startswith(b"<") or wide else ""

    @cached_property
    def is_table(self) -> bool:
        """Whether the file says that it is a table, by its name or its first bytes."""
        return self.ending in (".csv", ".tsv", ".tab", ".parquet") or self.start.startswith(PARQUET)

    @cached_property
    def table(self) -> Table:
        """The file as a table; refused where it is none."""
        if self.ending == ".txt":
            read_text(self.path, self._encoding)
        try:
            return read_table(self.path, {"header": True, "encoding": self._encoding})
        except KeepsenseError:
            if self.is_table:
                raise
            raise self.unknown() from None

    def unknown(self, why: str = "the format is not recognised") -> BadTaxonomy:
        """The error about a file that no loader knows, with the names of all."""
        return BadTaxonomy(f"{self.path.name}: {why}. Known formats: {', '.join(LOADERS)}; name one with format=")


def _never(glance: Glance) -> bool:
    return False


@dataclass(frozen=True, eq=False)
class Loader:
    """A format of taxonomies: what it is, how it is read, and how its files are told from others.

    `folder`, `content` (the first bytes), `xml` (the first element), `endings` and `table` are asked in that order, so
    that what a file holds counts more than how it is called. What is no file has a `source`, a name to ask for; one
    that ends in a colon is followed by what to read. `options` go with the name of the format, `extra` is what must be
    installed (`keepsense[extra]`), `page` the how-to page that explains it.

    >>> LOADERS["skos"].about, dict(LOADERS["skos"].options), LOADERS["icd-10-cm"].extra
    ('SKOS thesaurus', {'vocabulary': 'skos'}, 'icd')
    """

    name: str
    about: str
    read: Callable[..., Taxonomy]
    page: str
    folder: Callable[[Glance], bool] = _never
    content: Callable[[Glance], bool] = _never
    xml: Callable[[Glance], bool] = _never
    endings: tuple[str, ...] = ()
    table: Callable[[Glance], bool] = _never
    source: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    extra: str = ""

    @property
    def takes(self) -> list[str]:
        """Names of the options that its files can be read with."""
        known = inspect.signature(self.read, eval_str=True).parameters.values()
        shared = [get_type_hints(get_args(p.annotation)[0]) for p in known if p.kind is p.VAR_KEYWORD]
        return [*(p.name for p in known if p.kind is p.KEYWORD_ONLY), *(key for options in shared for key in options)]


LOADERS: Registry[Loader] = Registry(
    "taxonomy format",
    packages=["keepsense.taxonomy.loaders"],
    group="keepsense.loaders",
    # who looks first: a file of the Open Directory is RDF, too
    first=("keepsense", "obo", "obo-graph", "open-directory", "rdf", "owl", "skos", "rdfs"),
)


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
    loader = LOADERS[find_format(path, encoding=options.get("encoding")) if format is None else format]
    for key in options:
        if key not in loader.takes:
            raise BadInput(
                f"{key}: the format {loader.name!r} has no such option; it has {', '.join(loader.takes) or 'none'}."
                f"{did_you_mean(key, loader.takes)}"
            )
    return loader.read(path, **{**loader.options, **options})


def find_format(path: PathLike, *, encoding: str | None = None) -> str:
    """The format of a file or folder, by its content first and its name second.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "unknown"
    ...     _ = place.write_text("format-version: 1.2\\n\\n[Term]\\nid: A:1\\n")
    ...     find_format(place)
    'obo'
    """
    glance = Glance(path, encoding)
    by_file: list[Callable[[Loader], bool]] = [
        lambda loader: loader.content(glance),
        lambda loader: glance.xml_root != "" and loader.xml(glance),
        lambda loader: glance.xml_root == "" and glance.ending in loader.endings,
        lambda loader: glance.xml_root == "" and loader.table(glance),
    ]
    for recognised in [lambda loader: loader.folder(glance)] if glance.is_folder else by_file:
        for name, loader in LOADERS.items():
            if recognised(loader):
                return name
    raise _not_found(glance)


def _not_found(glance: Glance) -> BadTaxonomy:
    if glance.is_folder:
        known = " and no ".join(loader.about for loader in LOADERS.values() if loader.folder is not _never)
        return glance.unknown(f"the folder is no {known}")
    if glance.xml_root:
        return glance.unknown(f"its first XML element, {glance.xml_root[:40]!r}, is of no known format")
    if glance.table.width == 1 and not glance.is_table:
        return glance.unknown()
    tables = [f"{name!r} ({loader.about})" for name, loader in LOADERS.items() if loader.table is not _never]
    return BadTaxonomy(
        f"{glance.path.name}: this is a table, but not how it holds a taxonomy; name its format: {', '.join(tables)}, "
        "and its columns"
    )


def _own_file(path: PathLike, *, join_roots: bool = False) -> Taxonomy:
    """A file of ours; it has one root, so that there is nothing to join."""
    return Taxonomy.load(path)


LOADERS.add(
    "keepsense",
    Loader(
        "keepsense",
        "a file written by Taxonomy.save",
        _own_file,
        page="taxonomy-joining",
        content=lambda glance: glance.start.startswith(MAGIC[:-2]),
    ),
)
