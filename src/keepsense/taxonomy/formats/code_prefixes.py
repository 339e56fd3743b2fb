"""Codes with their hierarchy in the prefixes: NAICS (2 to 6 digits), UNSPSC (8, padded), ISCO, ICD-9-CM procedures."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Unpack

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.delimited_rows import Column, Table, TableOptions, read_table
from keepsense.taxonomy.formats.source_files import PathLike, assemble, clip
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

CODE = ("code", "codes", "naics code", "naics", "unspsc", "commodity code", "id")
TITLE = ("title", "label", "name", "description", "long", "short")
_RANGE = re.compile(r"(\d+)\s*-\s*(\d+)")


@dataclass(frozen=True)
class Scheme:
    """How a classification builds its codes: the lengths of its levels, and what short codes are padded with.

    >>> SCHEMES["unspsc"]
    Scheme(lengths=(2, 4, 6, 8), pad='0')
    """

    lengths: tuple[int, ...]
    pad: str = ""


SCHEMES = {
    "naics": Scheme((2, 3, 4, 5, 6)),
    "unspsc": Scheme((2, 4, 6, 8), pad="0"),
    "isco": Scheme((1, 2, 3, 4)),
    "icd9-procedures": Scheme((2, 3, 4)),
}


def read_prefixes(
    path: PathLike,
    *,
    scheme: str | None = None,
    lengths: Sequence[int] | None = None,
    pad: str = "",
    code: Column | None = None,
    title: Column | None = None,
    missing: Literal["create", "nearest", "refuse"] = "create",
    **how: Unpack[TableOptions],
) -> Taxonomy:
    """Read codes and their titles; the parent of a code is its prefix of the next shorter length.

    Give a `scheme` ("naics", "unspsc", "isco", "icd9-procedures"), or the `lengths` of the levels and, where codes of
    upper levels are filled up to full length, the digit they are padded with. A range (`31-33` in NAICS) stands for
    each of its codes. Dots in codes do not count. Where a prefix has no row, it is made a concept named by its code
    ("create"), left out ("nearest": the next shorter prefix that has a row becomes the parent), or refused. With
    `delimiter=" "` each line is a code, a space and a title. The top level is several roots, so a whole classification
    needs `join_roots=True`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "naics.csv"
    ...     _ = place.write_text("code,title\\n31-33,Manufacturing\\n325,Chemicals\\n3254,Pharmaceuticals\\n")
    ...     naics = read_prefixes(place, scheme="naics")
    >>> naics.labels(naics.subsumers("3254"))
    ['Manufacturing', 'Chemicals', 'Pharmaceuticals']
    """
    rule = _rule(scheme, lengths, pad)
    if missing not in ("create", "nearest", "refuse"):
        raise BadInput(f"missing: {clip(str(missing))} is not one of 'create', 'nearest', 'refuse'")
    table = read_table(path, how, CODE, (code, title))
    at, at_title = _columns(table, code, title)
    if how.get("header") is None and not table.header and not any(map(str.isdigit, table.rows[0][at])):
        raise BadInput(f"header: the first row of {table.file} looks like a header; give header=True, or False if not")
    names: dict[str, list[str]] = {}
    where: dict[str, int] = {}
    by_prefix: dict[str, str] = {}
    for line, row in table.records():
        key = row[at]
        if key in names:
            raise BadTaxonomy(f"{table.file}: line {line} has the code {clip(key)} again; codes must be unique")
        names[key] = [row[at_title]] if at_title is not None else []
        where[key] = line
        for prefix in _prefixes_of(table.file, line, key, rule):
            taken = by_prefix.setdefault(prefix, key)
            if taken != key:
                raise BadTaxonomy(f"{table.file}: line {line}: the codes {clip(taken)} and {clip(key)} are the same")
    edges = _edges(table.file, names, where, by_prefix, rule, missing)
    about = f"code prefixes ({', '.join(map(str, rule.lengths))})"
    return assemble(table.file, edges, names, how, format=about, language=how.get("language"))


def _rule(scheme: str | None, lengths: Sequence[int] | None, pad: str) -> Scheme:
    if scheme is not None:
        if scheme not in SCHEMES:
            raise BadInput(f"scheme: {clip(str(scheme))} is not one of {', '.join(SCHEMES)}; give lengths= instead")
        if lengths is not None:
            raise BadInput("lengths: the scheme has its own; give one of the two")
        return SCHEMES[scheme]
    if lengths is None:
        raise BadInput(
            f"scheme: say how codes are built: scheme= one of {', '.join(SCHEMES)}, or lengths=(2, 4, 6, 8), say"
        )
    sizes = tuple(lengths)
    if not sizes or any(not isinstance(n, int) or n < 1 for n in sizes) or sorted(set(sizes)) != list(sizes):
        raise BadInput(f"lengths: {sizes!r} must be whole numbers that grow, such as (2, 4, 6, 8)")
    if len(pad) > 1:
        raise BadInput(f"pad: {clip(pad)} is more than one character")
    return Scheme(sizes, pad)


def _columns(table: Table, code: Column | None, title: Column | None) -> tuple[int, int | None]:
    at = table.column(code, "code") if code is not None else table.find(CODE)
    if at is None:
        if table.header:
            raise BadInput(
                f"code: {table.file} has the columns {', '.join(table.header[:20])}; say which holds the codes"
            )
        at = 0
    if title is not None:
        return at, table.column(title, "title")
    found = table.find(TITLE)
    if found is None and table.width == 2:
        found = 1 - at
    return at, found


def _prefixes_of(file: str, line: int, key: str, rule: Scheme) -> list[str]:
    """The prefix a code stands for, without dots and padding; each one of them where the code is a range."""
    plain = key.replace(".", "").replace(" ", "")
    span = _RANGE.fullmatch(plain)
    if span and len(span[1]) == len(span[2]) in rule.lengths and int(span[1]) <= int(span[2]):
        size = len(span[1])
        return [str(n).zfill(size) for n in range(int(span[1]), min(int(span[2]), int(span[1]) + 999) + 1)]
    if rule.pad and len(plain) == rule.lengths[-1]:
        return [next(plain[:n] for n in rule.lengths if not plain[n:].strip(rule.pad))]
    if len(plain) in rule.lengths and not (rule.pad and len(plain) != rule.lengths[-1]):
        return [plain]
    wanted = str(rule.lengths[-1]) if rule.pad else " or ".join(map(str, rule.lengths))
    raise BadTaxonomy(
        f"{file}: line {line} has the code {clip(key)} of {len(plain)} characters, where codes have {wanted}; leading"
        " zeros may be lost, or the scheme is another"
    )


def _edges(
    file: str,
    names: dict[str, list[str]],
    where: dict[str, int],
    by_prefix: dict[str, str],
    rule: Scheme,
    missing: str,
) -> list[tuple[str, str]]:
    edges: dict[tuple[str, str], None] = {}
    waiting = deque(by_prefix.items())
    while waiting:
        prefix, key = waiting.popleft()
        for size in sorted((n for n in rule.lengths if n < len(prefix)), reverse=True):
            above = prefix[:size]
            if above not in by_prefix:
                if missing == "refuse":
                    raise BadTaxonomy(
                        f"{file}: line {where[key]}: the code {clip(key)} is below {clip(above)}, which has no row; add"
                        " it, or choose missing='create' or 'nearest'"
                    )
                if missing == "nearest":
                    continue
                made = above + rule.pad * (rule.lengths[-1] - size) if rule.pad else above
                by_prefix[above] = made
                names[made] = [made]
                where[made] = where[key]
                waiting.append((above, made))
            edges[key, by_prefix[above]] = None
            break
    return list(edges)


LOADERS.add(
    "prefixes",
    Loader(
        "prefixes",
        "table of codes whose prefixes are the hierarchy",
        read_prefixes,
        page="taxonomy-code-prefixes",
        table=lambda glance: False,  # codes look like any other column
    ),
)
