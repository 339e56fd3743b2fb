"""Official files of ISCO-08, ESCO, NAICS, NACE and ATC, as CSV or Excel, recognized by the names of their columns.

Each row has a code and a title; what lies above a code is the next shorter one that is there. Groups that a file
leaves out (the majors of ISCO above ESCO's occupations, sections of NACE, sectors of NAICS) are added where their
titles are known.
"""

from __future__ import annotations

import re
from typing import NamedTuple, Unpack
from zipfile import BadZipFile

from keepsense.errors import BadTaxonomy, MissingExtra
from keepsense.taxonomy.code_systems import SYSTEMS, CodeSystem
from keepsense.taxonomy.formats.delimited_rows import Table, read_table
from keepsense.taxonomy.formats.source_files import PathLike, Rooted, assemble, file_path
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Glance, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

_TITLES = ("preferredlabel", "title en", "title", "label", "name", "description", "heading")
_CODES = {
    "naics": re.compile(r"(\d{4} )?naics( \w+)? code"),
    "isco-08": re.compile(r"isco[ -]?0?8?( code)?"),
    "nace": re.compile(r"(code )?nace( rev ?\.? ?\d(\.\d)?)?( code)?"),
    "atc": re.compile(r"atc( code)?"),
}
_EXCEL = (b"PK\x03\x04",)


class _Columns(NamedTuple):
    """Which classification a header is of, and where codes, titles and other names stand."""

    system: CodeSystem
    code: int
    title: int
    others: int | None


def read_classification(path: PathLike, **rooted: Unpack[Rooted]) -> Taxonomy:
    """Read an official file of ISCO-08, ESCO, NAICS, NACE or ATC. Its top level is joined under the classification.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "naics.csv"
    ...     _ = place.write_text("Seq,2022 NAICS US Code,2022 NAICS US Title\\n1,325,Chemicals\\n2,3254,Medicines\\n")
    ...     naics = read_classification(place)
    >>> naics.labels(naics.path("3254", naics.root))
    ['Medicines', 'Chemicals', 'Manufacturing (31-33)', 'NAICS industries']
    """
    table = _table(path)
    columns = _columns(table.header)
    if columns is None:
        raise BadTaxonomy(
            f"{table.file}: the columns are those of no known classification; read it as a table with format 'prefixes'"
            " or 'edges', after saving it as CSV"
        )
    system = columns.system
    names: dict[str, list[str]] = {}
    for line, row in table.records():
        code = row[columns.code].strip().upper()
        if not code or not row[columns.title]:
            continue
        if code in names:
            raise BadTaxonomy(f"{table.file}: line {line} has the code {code[:40]!r} again; codes must be unique")
        others = re.split(r"[\n|]", row[columns.others]) if columns.others is not None else []
        names[code] = [re.sub(r"(?<=[a-z)])T$", "", row[columns.title]), *(o.strip() for o in others if o.strip())]
    if not names:
        raise BadTaxonomy(f"{table.file}: there is no row with a code and a title")
    edges = _edges(system, names)
    return assemble(table.file, edges, names, rooted, format=system.title, codes=system.name)


def _edges(system: CodeSystem, names: dict[str, list[str]]) -> list[tuple[str, str]]:
    """Each code below the nearest that is there; groups with known titles are added to `names`."""
    edges: list[tuple[str, str]] = []
    waiting = list(names)
    while waiting:
        code = waiting.pop()
        dotted = (code[:size].rstrip(".") for size in range(len(code) - 1, 0, -1))
        chain = [*dotted, *system.above(code.replace(".", ""))]
        above = next((key for key in chain if key != code and (key in names or key in system.titles)), None)
        if above is not None and above not in names:
            names[above] = [system.label(above)]
            waiting.append(above)
        edges.append((code, system.title if above is None else above))
    names[system.title] = [system.title]
    return edges


def _columns(header: tuple[str, ...]) -> _Columns | None:
    plain = [re.sub(r"[\s_]+", " ", name).strip().casefold() for name in header]
    title = next((plain.index(name) for name in _TITLES if name in plain), None)
    others = plain.index("altlabels") if "altlabels" in plain else None
    esco = {"preferredlabel", "code"} <= set(plain) and ("iscogroup" in plain or "concepttype" in plain)
    if esco and title is not None:
        return _Columns(SYSTEMS["isco-08"], plain.index("code"), title, others)
    for name, pattern in _CODES.items():
        code = next((i for i, text in enumerate(plain) if pattern.fullmatch(text)), None)
        own = next((i for i, t in enumerate(plain) if re.search(rf"{name[:4]}.*(title|name|description)", t)), title)
        if code is not None and own is not None and own != code:
            return _Columns(SYSTEMS[name], code, own, others)
    return None


def _table(path: PathLike) -> Table:
    place = file_path(path)
    with place.open("rb") as file:
        if not file.read(4).startswith(_EXCEL):
            return read_table(place, {"header": True})
    try:
        import openpyxl
    except ImportError:
        raise MissingExtra("Excel files need openpyxl; install keepsense[excel]") from None
    try:
        book = openpyxl.load_workbook(place, read_only=True, data_only=True)
        try:
            cells = [list(row) for row in book.worksheets[0].iter_rows(values_only=True)]
        finally:
            book.close()
    except (OSError, ValueError, KeyError, IndexError, EOFError, BadZipFile) as error:
        raise BadTaxonomy(f"{place.name}: not a readable Excel file ({type(error).__name__})") from None
    rows = [["" if cell is None else str(cell).strip() for cell in row] for row in cells]
    first = next((i for i, row in enumerate(rows[:20]) if _columns(tuple(row)) is not None), 0)
    below = [(i + 1, row) for i, row in enumerate(rows) if i > first and any(row)]
    header = tuple(rows[first]) if rows else ()
    return Table(place.name, header, [row for _, row in below], [line for line, _ in below])


def _known(glance: Glance) -> bool:
    return glance.is_table and _columns(glance.table.header) is not None


LOADERS.add(
    "classification",
    Loader(
        "classification",
        "official file of ISCO-08, ESCO, NAICS, NACE or ATC",
        read_classification,
        page="taxonomy-classifications",
        endings=(".xlsx",),
        table=_known,
    ),
)
