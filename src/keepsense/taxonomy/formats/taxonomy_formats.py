"""The registry of taxonomy formats, and reading of a file in any of them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from keepsense.errors import BadInput, BadTaxonomy, KeepsenseError, did_you_mean
from keepsense.registry import Registry
from keepsense.taxonomy.formats.delimited_rows import PARQUET, Table, read_table
from keepsense.taxonomy.formats.source_files import PathLike, check_xml, file_path, head, read_text
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_file import MAGIC

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
    def takes(self) -> dict[str, Any]:
        """Names of the options that its files can be read with, and the types of their values."""
        known = inspect.signature(self.read, eval_str=True).parameters.values()
        shared = [get_type_hints(get_args(p.annotation)[0]) for p in known if p.kind is p.VAR_KEYWORD]
        own = {p.name: p.annotation for p in known if p.kind is p.KEYWORD_ONLY}
        return own | {key: hint for options in shared for key, hint in options.items()}

    def open(self, source: PathLike, options: Mapping[str, Any]) -> Taxonomy:
        """Read a source with options, of which those it does not take are refused."""
        for key in options:
            if key not in self.takes:
                raise BadInput(
                    f"{key}: the format {self.name!r} has no such option; it has {', '.join(self.takes) or 'none'}."
                    f"{did_you_mean(key, self.takes)}"
                )
        return self.read(source, **{**self.options, **options})

    def spelled(self, texts: Mapping[str, str]) -> dict[str, Any]:
        """Options that are written as texts, as the values that they stand for; unknown ones are left as they are.

        >>> LOADERS["nested"].spelled({"columns": "0,2", "order": "leaf-first", "header": "no"})
        {'columns': [0, 2], 'order': 'leaf-first', 'header': False}
        """
        return {key: value_of(key, text, self.takes.get(key, str)) for key, text in texts.items()}


LOADERS: Registry[Loader] = Registry(
    "taxonomy format",
    packages=["keepsense.taxonomy.formats"],
    group="keepsense.loaders",
    # who looks first: a file of the Open Directory is RDF, too, and one of a classification is a table
    first=(
        *("keepsense", "obo", "obo-graph", "open-directory", "rdf", "owl", "skos", "rdfs"),
        *("classification", "icd-10-cm", "mesh", "prefixes", "snomed", "edges", "paths", "nested", "lmf", "wn"),
    ),
)


_WORDS = {"true": True, "yes": True, "false": False, "no": False}
_MARKS = {"tab": "\t", "\\t": "\t", "space": " "}


def value_of(key: str, text: str, hint: Any) -> Any:
    """The value of an option that a text stands for, by the type that the option has.

    >>> value_of("closed", "no", bool | None), value_of("child", "2", str | int), value_of("lengths", "2,4", list[int])
    (False, 2, [2, 4])
    """
    kinds = _kinds(hint)
    listed = next(
        (kind for kind in kinds if issubclass(get_origin(kind) or str, Sequence | list) and get_args(kind)), None
    )
    if listed is not None:
        return [value_of(key, part.strip(), get_args(listed)[0]) for part in text.split(",")]
    if text.lower() == "none" and type(None) in kinds:
        return None
    if bool in kinds:
        if text.lower() not in _WORDS:
            raise BadInput(f"{key}: say yes or no, not {text[:40]!r}")
        return _WORDS[text.lower()]
    if int in kinds and text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    if int in kinds and str not in kinds:
        raise BadInput(f"{key}: {text[:40]!r} is not a whole number")
    return _MARKS.get(text, text) if key in ("delimiter", "separator") else text


def _kinds(hint: Any) -> list[Any]:
    """Types that a value may have, unions taken apart."""
    if get_origin(hint) in (Union, UnionType):
        return [kind for part in get_args(hint) for kind in _kinds(part)]
    return [str] if get_origin(hint) is Literal else [hint]


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
    return LOADERS[find_format(path, encoding=options.get("encoding")) if format is None else format].open(
        path, options
    )


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
