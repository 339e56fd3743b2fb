"""Taxonomies in tables: edge lists, path lists and nested columns, in CSV (any delimiter) or Parquet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, Unpack

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.delimited_rows import Column, Table, TableOptions, read_table
from keepsense.taxonomy.formats.source_files import PathLike, assemble, clip
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Glance, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

CHILD = ("child", "child id", "code", "id", "concept", "term", "value", "node", "path", "name")
PARENT = ("parent", "parent id", "parent code", "parentid", "broader", "is a", "isa", "superclass")
LABEL = ("preferredlabel", "preflabel", "label", "name", "title", "short", "description", "term", "long")
SYNONYMS = ("altlabels", "altlabel", "synonyms")
PATH = ("path", "category", "categories")


def read_edges(
    path: PathLike,
    *,
    child: Column | None = None,
    parent: Column | None = None,
    label: Column | None = None,
    synonyms: Sequence[Column] | None = None,
    closed: bool | None = None,
    **how: Unpack[TableOptions],
) -> Taxonomy:
    """Read a table with one is-a link a row: a child, its parent, and if you like the child's label and synonyms.

    Columns are found by usual names (`child` or `code`, `parent`, `label` or `title`) or given by name or position. A
    child with several parents has several rows. A row without a parent is a root; a table with such rows lists all its
    concepts, so a parent without a row is then refused as a likely slip (`closed` says so, or not, outright). Cells of
    `synonyms` (`altLabels` where not given) hold one name, or several with `|` or line breaks between them.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "pets.csv"
    ...     _ = place.write_text("child,parent\\ncat,animal\\ndog,animal\\n")
    ...     pets = read_edges(place)
    >>> pets.labels(pets.leaves())
    ['cat', 'dog']
    """
    table = read_table(path, how, PARENT, (child, parent))
    _unsure(table, how, "a link")
    low, high = _ends(table, child, parent)
    titles = table.find([n for n in LABEL if n not in ("name", "term")]) if label is None else None
    if label is None and titles is None and table.find(("name", "term")) not in (low, high):
        titles = table.find(("name", "term"))
    if label is None and not table.header and table.width == 3 and {low, high} == {0, 1}:
        titles = 2
    at_label = table.column(label, "label") if label is not None else titles
    listed = table.find(SYNONYMS) if synonyms is None else None
    others = [table.column(c, "synonyms") for c in synonyms or ()] + ([] if listed is None else [listed])
    names: dict[str, list[str]] = {}
    edges: list[tuple[str, str]] = []
    where: dict[str, int] = {}
    roots = False
    for line, row in table.records():
        if not row[low]:
            raise BadTaxonomy(f"{table.file}: line {line} names no concept; fill in its first end or drop the row")
        found = [row[at_label]] if at_label is not None else []
        found += [text.strip() for i in others for text in re.split(r"[|\r\n]", row[i])]
        names.setdefault(row[low], []).extend(text for text in found if text)
        if row[high]:
            edges.append((row[low], row[high]))
            where.setdefault(row[high], line)
        else:
            roots = True
    if closed or (closed is None and roots):
        lost = next((key for key in where if key not in names), None)
        if lost is not None:
            raise BadTaxonomy(
                f"{table.file}: line {where[lost]} names the parent {clip(lost)}, which has no row of its own; add the"
                " row, or allow it with closed=False"
            )
    return assemble(table.file, edges, names, how, format="edge list", language=how.get("language"))


def read_paths(
    path: PathLike,
    *,
    column: Column | None = None,
    separator: str = "/",
    label: Column | None = None,
    **how: Unpack[TableOptions],
) -> Taxonomy:
    """Read paths from the root down, one a row: `Computers/Systems/Handhelds`.

    A concept's id is its path, its label the last part (or the `label` column's cell). The steps of a path need no row
    of their own.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "shop.txt"
    ...     _ = place.write_text("Computers/Systems/Handhelds\\nComputers/Software\\n")
    ...     shop = read_paths(place)
    >>> shop.id("Handhelds"), shop.label(shop.lcs("Handhelds", "Software"))
    ('Computers/Systems/Handhelds', 'Computers')
    """
    if not separator:
        raise BadInput("separator: give the characters between the steps of a path, such as '/'")
    table = read_table(path, how, PATH, (column, label))
    at = table.column(column, "column") if column is not None else table.find(PATH)
    if at is None:
        if table.width > 1:
            raise BadInput(f"column: {table.file} has {table.width} columns; say which one holds the paths")
        at = 0
    if separator not in table.rows[0][at] and len({row[at].split(separator)[0] for row in table.rows}) > 1:
        _unsure(table, how, "a path")
    at_label = table.column(label, "label") if label is not None else None
    names: dict[str, list[str]] = {}
    edges: dict[tuple[str, str], None] = {}
    for line, row in table.records():
        steps = [step.strip() for step in row[at].strip(separator).split(separator)]
        if not all(steps):
            raise BadTaxonomy(f"{table.file}: line {line} has a path with an empty step: {clip(row[at])}; mend it")
        above = ""
        for step in steps:
            here = f"{above}{separator}{step}" if above else step
            names.setdefault(here, [step])
            if above:
                edges[here, above] = None
            above = here
        if at_label is not None and row[at_label]:
            names[above] = [row[at_label], *names[above]]
    return assemble(table.file, list(edges), names, how, format="path list", language=how.get("language"))


def read_nested(
    path: PathLike,
    *,
    columns: Sequence[Column] | None = None,
    order: Literal["auto", "root-first", "leaf-first"] = "auto",
    fill: bool | None = None,
    merge_repeats: bool = True,
    merge_labels: bool = False,
    **how: Unpack[TableOptions],
) -> Taxonomy:
    """Read nested columns: one column per level, one row per leaf, as in ARX hierarchies and many spreadsheets.

    `order` says which end the root is at; "auto" takes the end of the rows with fewer different values, wherever a
    short row ends. A label repeated in the next column (`pork;pork;meat`) is one concept unless `merge_repeats` is off,
    and an empty cell is a level the row does not have. Where cells are left blank because they are as above, as in an
    outline, `fill` fills them in; a row that is blank where its root would be is refused unless `fill` says what that
    means. A concept's id is its path from the root, so that "other" under two headings is two concepts; `merge_labels`
    makes equal labels one concept with several parents. Without `header` given, the first row is one if it names levels
    (`level 1`, `leaf`, `root`), and is not if all rows share one root.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "food.csv"
    ...     _ = place.write_text("ham;sausage;meat\\npork;pork;meat\\n")
    ...     food = read_nested(place)
    >>> food.id("ham"), food.labels(food.subsumers("pork"))
    ('meat > sausage > ham', ['meat', 'pork'])
    """
    if merge_labels and not merge_repeats:
        raise BadInput("merge_repeats: a label that is one concept everywhere cannot be below itself; leave it on")
    if order not in ("auto", "root-first", "leaf-first"):
        raise BadInput(f"order: {clip(str(order))} is not one of 'auto', 'root-first', 'leaf-first'")
    levels = [f"level {i}" for i in range(20)] + [f"level{i}" for i in range(20)] + ["root", "leaf"]
    table = read_table(path, how, levels, columns or ())
    chosen = [table.column(c, "columns") for c in (range(table.width) if columns is None else columns)]
    if not chosen:
        raise BadInput("columns: name at least one column")
    if fill and order == "leaf-first":
        raise BadInput("fill: only rows that begin at the root are filled in from above; leave out order='leaf-first'")
    said, chosen = chosen, _root_first(table, chosen, "root-first" if fill else order)
    if len({row[chosen[0]] for row in table.rows}) > 1:
        _unsure(table, how, "a row of values")
    names: dict[str, list[str]] = {}
    edges: dict[tuple[str, str], None] = {}
    seen: dict[str, tuple[str, ...]] = {}
    above: list[str] = []
    for line, row in table.records():
        steps: list[str] = []
        cells = [row[i] for i in chosen]
        if fill is None and chosen == said and above and not cells[0] and any(cells):
            raise BadInput(
                f"fill: line {line} of {table.file} has no value where its root would be; give fill=True if it is as "
                "above, or fill=False if it lacks that level"
            )
        above = _as_above(cells, above) if fill else cells
        for label in above:
            if label and not (merge_repeats and steps[-1:] == [label]):
                steps.append(label)
        if not steps:
            raise BadTaxonomy(f"{table.file}: line {line} has no value in the chosen columns; drop the row")
        for depth in range(len(steps)):
            here = _nested_id(steps[: depth + 1], merge_labels)
            key = (steps[depth],) if merge_labels else tuple(steps[: depth + 1])
            if seen.setdefault(here, key) != key:
                raise BadTaxonomy(f"{table.file}: line {line} has labels that hold ' > ', which ids are built with")
            names.setdefault(here, [steps[depth]])
            if depth:
                edges[here, _nested_id(steps[:depth], merge_labels)] = None
    return assemble(table.file, list(edges), names, how, format="nested columns", language=how.get("language"))


def _as_above(cells: list[str], above: Sequence[str]) -> list[str]:
    """Cells with the blanks in front filled in from the row above."""
    begin = next((i for i, cell in enumerate(cells) if cell), 0)
    return [*above[:begin], *cells[begin:]]


def _nested_id(steps: Sequence[str], merge_labels: bool) -> str:
    return steps[-1] if merge_labels else " > ".join(steps)


def _root_first(table: Table, columns: Sequence[int], order: str) -> list[int]:
    """The columns from the root down. Short rows end early, so the ends of rows are compared, not the outer columns."""
    if order == "auto":
        filled = [cells for row in table.rows if (cells := [row[i] for i in columns if row[i]])]
        first, last = (len({cells[end] for cells in filled}) for end in (0, -1))
        if len(columns) > 1 and first == last:
            raise BadInput(
                f"order: rows of {table.file} begin and end with {first:,} different values each; say which end the"
                " root is at with order='root-first' or order='leaf-first'"
            )
        order = "root-first" if first <= last else "leaf-first"
    return list(columns) if order == "root-first" else list(columns)[::-1]


def _unsure(table: Table, how: TableOptions, what: str) -> None:
    """A first row that may be a header or not: guessing would make a concept of a column's name, or lose one."""
    if how.get("header") is None and not table.header:
        raise BadInput(
            f"header: cannot tell whether the first row of {table.file} is a header; give header=False if it is {what},"
            " or header=True"
        )


def _ends(table: Table, child: Column | None, parent: Column | None) -> tuple[int, int]:
    high = table.column(parent, "parent") if parent is not None else table.find(PARENT)
    low = table.column(child, "child") if child is not None else table.find(CHILD)
    if not table.header:
        if table.width < 2:
            raise BadTaxonomy(f"{table.file}: an edge list has two columns or more, child and parent; this has one")
        if child is None and parent is None and table.width > 3:
            raise BadInput(f"child, parent: {table.file} has {table.width} columns and no header known; name the two")
        low, high = (0 if low is None else low), (1 if high is None else high)
    if low is None or high is None:
        shown = ", ".join(map(clip, table.header[:20]))
        raise BadInput(
            f"{'child' if low is None else 'parent'}: {table.file} has the columns {shown}; say which holds the"
            f" {'concept' if low is None else 'parent'}, or give header=False where the first row is a link"
        )
    if low == high:
        raise BadInput(f"child, parent: both are the column {table.header[low] if table.header else low!r}")
    return low, high


_LEVEL = re.compile(r"level[ _-]?\d+|root", re.IGNORECASE)
_PAGE = "taxonomy-tables-and-paths"


def _has_paths(glance: Glance) -> bool:
    """Whether a header says so, or most cells of the only column hold a slash."""
    rows = [list(glance.table.header), *glance.table.rows]
    slashes = glance.table.width == 1 and sum("/" in row[0] for row in rows) * 2 >= len(rows)
    return glance.table.find(PATH[:1]) is not None or slashes


def _has_levels(glance: Glance) -> bool:
    """Whether a header names levels, or the first or last column holds nothing but the top."""
    rows = [list(glance.table.header), *glance.table.rows]
    named = any(_LEVEL.fullmatch(name) for name in glance.table.header)
    return named or (glance.table.width > 1 and any({row[end] for row in rows} == {"*"} for end in (0, -1)))


LOADERS.add(
    "edges",
    Loader(
        "edges",
        "table with a child and its parent in each row",
        read_edges,
        page=_PAGE,
        table=lambda glance: glance.table.find(PARENT) is not None,
    ),
)
LOADERS.add(
    "paths", Loader("paths", "table with a path from the root in each row", read_paths, page=_PAGE, table=_has_paths)
)
LOADERS.add("nested", Loader("nested", "table with one column per level", read_nested, page=_PAGE, table=_has_levels))
