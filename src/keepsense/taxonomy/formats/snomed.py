"""SNOMED CT from the snapshot files of an RF2 release. Users need their own licence; nothing of SNOMED CT is included.

Read are `sct2_Concept_Snapshot`, `sct2_Description_Snapshot-en` and `sct2_Relationship_Snapshot` (the inferred view),
and `der2_cRefset_LanguageSnapshot-en` where it is there, for the preferred term. A national extension beside the
international release is read along with it: of two states of one component the newer one counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.errors import BadInput, BadTaxonomy
from keepsense.taxonomy.formats.source_files import PathLike, bad_encoding, check_text, clip, file_path, unreadable
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import VIRTUAL_ROOT, from_arrays

Longs = NDArray[np.int64]

IS_A = 116680003
_INFERRED = 900000000000011006
_ADDITIONAL = 900000000000227009
_FULL_NAME = 900000000000003001
_SYNONYM = 900000000000013009
_PREFERRED = 900000000000548007
_US_ENGLISH = 900000000000509007
_TAG = re.compile(r"\s*\([^()]*\)$")

_KINDS = {
    "concepts": re.compile(r"x?sct2_Concept_Snapshot.*\.txt"),
    "descriptions": re.compile(r"x?sct2_Description_Snapshot.*\.txt"),
    "relationships": re.compile(r"x?sct2_Relationship_Snapshot.*\.txt"),
    "languages": re.compile(r"x?der2_cRefset_LanguageSnapshot.*\.txt"),
}


def read_snomed(
    path: PathLike | Iterable[PathLike],
    *,
    language: str = "en",
    language_refset: int | None = None,
    relations: bool = False,
    join_roots: bool = False,
    root_label: str | None = None,
    name: str = "SNOMED CT",
) -> Taxonomy:
    """Read SNOMED CT from a release folder (searched with all below it) or from its snapshot files.

    Ids are concept ids. The label is the term the language reference set prefers (`language_refset`; US English where
    it is there, else the largest), then come the other synonyms and the fully specified name. Without a reference set
    the label is the fully specified name less its tag. `relations=True` adds the other attributes (finding site,
    causative agent, ...) as relations. Inactive concepts are left out and counted in `info`. A release of 350,000
    concepts takes several seconds; save the taxonomy (`Taxonomy.save`) to load it in a fraction of one.

    >>> read_snomed("/nowhere/SnomedCT_Release")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: SnomedCT_Release: no such folder; give the release folder or its snapshot files
    """
    files = _files(path)
    concepts = _table(files["concepts"], ["id", "effectiveTime", "active"])
    active = concepts["active"] == 1
    ids = np.sort(concepts["id"][active])
    if not len(ids):
        raise BadTaxonomy(f"{files['concepts'][0].name}: no active concept; is this a snapshot?")
    inactive = np.sort(concepts["id"][~active])
    child, parent, related, skipped = _links(files["relationships"], ids, inactive, relations)
    names, languages = _names(files, ids, language, language_refset)
    kinds = {kind: names[i][0] for kind, i in zip(related, _positions(ids, list(related)), strict=True) if i >= 0}
    return from_arrays(
        [str(i) for i in ids.tolist()],
        names,
        child,
        parent,
        relations={kinds.get(kind, str(kind)): pairs for kind, pairs in related.items()},
        join_roots=join_roots,
        root_label=root_label or VIRTUAL_ROOT,
        name=name,
        info={
            "source": files["concepts"][0].name,
            "format": "SNOMED CT RF2",
            "inactive concepts left out": f"{len(inactive)}",
            "links to inactive concepts": f"{skipped}",
            "language reference set": f"{languages or 'none'}",
        },
    )


def is_release(folder: Path) -> bool:
    """Whether a folder holds an RF2 snapshot, at any depth.

    >>> is_release(Path("/nowhere"))
    False
    """
    return any(_KINDS["concepts"].fullmatch(file) for _, _, files in os.walk(folder) for file in files)


# ---- files -------------------------------------------------------------------------------------------------------


def _files(path: PathLike | Iterable[PathLike]) -> dict[str, list[Path]]:
    given = [Path(path)] if isinstance(path, str | os.PathLike) else [Path(p) for p in path]
    if not given:
        raise BadInput("path: give the release folder or its snapshot files")
    found: list[Path] = []
    for place in given:
        if place.is_dir():
            found += [Path(folder) / file for folder, _, files in os.walk(place) for file in files]
        elif place.exists():
            found.append(place)
        else:
            raise BadTaxonomy(f"{place.name}: no such folder; give the release folder or its snapshot files")
    files = {kind: sorted(f for f in found if pattern.fullmatch(f.name)) for kind, pattern in _KINDS.items()}
    for kind in ("concepts", "descriptions", "relationships"):
        if not files[kind]:
            wanted = _KINDS[kind].pattern.removeprefix("x?").replace(r".*\.", "*.")
            raise BadTaxonomy(f"{given[0].name}: no file {wanted} among the snapshot files; a release has one")
    return files


def _table(
    files: Sequence[Path], columns: Sequence[str], *, key: Sequence[str] = ("id",), language: str | None = None
) -> dict[str, Any]:
    """Columns of one kind of snapshot file, only the newest state of each component, in the order of their keys."""
    parts = [_columns(file, columns, language) for file in files]
    table = {c: np.concatenate([part[c] for part in parts]) for c in columns}
    order = np.lexsort([table["effectiveTime"], *(table[c] for c in reversed(key))])
    last = np.ones(len(order), dtype=np.bool_)
    if len(order):
        last[:-1] = np.any([table[c][order][1:] != table[c][order][:-1] for c in key], axis=0)
    return {c: values[order[last]] for c, values in table.items()}


def _columns(file: Path, columns: Sequence[str], language: str | None) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    place = file_path(file)
    read = [*columns, "languageCode"] if language else list(columns)
    try:
        table = csv.read_csv(
            place,
            parse_options=csv.ParseOptions(delimiter="\t", quote_char=False, double_quote=False, escape_char=False),
            convert_options=csv.ConvertOptions(
                include_columns=read,
                column_types={c: pa.string() if c in ("term", "languageCode") else pa.int64() for c in read},
                strings_can_be_null=False,
            ),
        )
    except KeyError as error:
        raise BadTaxonomy(f"{place.name}: the column {error} is missing; this is no RF2 snapshot file") from None
    except pa.ArrowInvalid as error:
        raise _bad_row(place, error) from None
    except OSError as error:
        raise unreadable(place.name, error) from None
    if language:
        table = table.filter(pc.equal(table["languageCode"], language))
    nulls = [c for c in columns if table[c].null_count]
    if nulls:
        raise BadTaxonomy(f"{place.name}: {table[nulls[0]].null_count:,} rows have no {nulls[0]}; the file is damaged")
    return {c: table[c].to_numpy(zero_copy_only=False) for c in columns}


def _bad_row(place: Path, error: Exception) -> BadTaxonomy:
    """Look for the line pyarrow stumbled over: it names a row at best."""
    message = str(error)
    if "UTF8" in message:
        start = 0
        with place.open("rb") as file:
            for number, line in enumerate(file, 1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as wrong:
                    return bad_encoding(place.name, "utf-8", start + wrong.start, number)
                start += len(line)
    if "Expected" in message and "columns" in message:
        with place.open("rb") as file:
            width = file.readline().count(b"\t") + 1
            for number, line in enumerate(file, 2):
                found = line.count(b"\t") + 1
                if found != width and line.strip():
                    return BadTaxonomy(
                        f"{place.name}: line {number} has {found} columns where the header has {width}; mend the file"
                    )
    first = message.splitlines()[0][:160]
    return BadTaxonomy(f"{place.name}: not a valid RF2 snapshot file ({first})")


# ---- links and names ---------------------------------------------------------------------------------------------


def _positions(ids: Longs, wanted: Sequence[int] | Longs) -> NDArray[np.intp]:
    """Where each id stands in the sorted ids; -1 where it does not."""
    sought = np.asarray(wanted, dtype=np.int64)
    place = np.minimum(np.searchsorted(ids, sought), len(ids) - 1) if len(ids) else np.zeros(len(sought), np.intp)
    if not len(ids):
        return np.full(len(sought), -1, dtype=np.intp)
    return np.where(ids[place] == sought, place, -1)


def _links(
    files: Sequence[Path], ids: Longs, inactive: Longs, relations: bool
) -> tuple[Longs, Longs, dict[int, tuple[Longs, Longs]], int]:
    columns = ["id", "effectiveTime", "active", "sourceId", "destinationId", "typeId", "characteristicTypeId"]
    table = _table(files, columns)
    keep = (table["active"] == 1) & np.isin(table["characteristicTypeId"], (_INFERRED, _ADDITIONAL))
    is_a = table["typeId"] == IS_A
    if not (keep & is_a).any() and len(ids) > 1:
        raise BadTaxonomy(
            f"{files[0].name}: no active inferred is-a link; give the inferred relationships, not the stated"
        )
    if not relations:
        keep &= is_a
    source, target, kind = (table[c][keep] for c in ("sourceId", "destinationId", "typeId"))
    child, parent = _positions(ids, source), _positions(ids, target)
    known = (child >= 0) & (parent >= 0)
    for end, found in ((source, child), (target, parent)):
        lost = (found < 0) & (_positions(inactive, end) < 0)
        if lost.any():
            at = int(np.flatnonzero(lost)[0])
            raise BadTaxonomy(
                f"{files[0].name}: the link {source[at]} -> {target[at]} names the concept {end[at]}, which no concept"
                " file lists; give all parts of the release (an extension needs the international release)"
            )
    child, parent, kind = child[known], parent[known], kind[known]
    upward = kind == IS_A
    related = {int(k): (child[kind == k], parent[kind == k]) for k in np.unique(kind[~upward])}
    return child[upward], parent[upward], related, int((~known).sum())


def _names(
    files: dict[str, list[Path]], ids: Longs, language: str, refset: int | None
) -> tuple[list[list[str]], int | None]:
    columns = ["id", "effectiveTime", "active", "conceptId", "typeId", "term"]
    table = _table(files["descriptions"], columns, language=language)
    if not len(table["id"]):
        raise BadTaxonomy(f"{files['descriptions'][0].name}: no description in the language {clip(language)}")
    concept = _positions(ids, table["conceptId"])
    keep = (table["active"] == 1) & (concept >= 0)
    keep &= np.isin(table["typeId"], (_FULL_NAME, _SYNONYM))
    table = {c: values[keep] for c, values in table.items()}
    concept = concept[keep]
    preferred, chosen = _preferred(files["languages"], refset)
    full = table["typeId"] == _FULL_NAME
    # The preferred synonym first, then the others in the order of their ids, the fully specified name last.
    rank = np.where(full, 2, np.where(_positions(preferred, table["id"]) >= 0, 0, 1))
    order = np.lexsort((table["id"], rank, concept))
    names: list[list[str]] = [[] for _ in range(len(ids))]
    terms = table["term"][order].tolist()
    check_text(files["descriptions"][0].name, terms)
    for code, position, term in zip(concept[order].tolist(), rank[order].tolist(), terms, strict=True):
        if position == 2 and chosen is None:
            names[code].insert(0, _TAG.sub("", term) or term)
        if term:
            names[code].append(term)
    return [list(dict.fromkeys(row)) or [str(i)] for row, i in zip(names, ids.tolist(), strict=True)], chosen


def _preferred(files: Sequence[Path], refset: int | None) -> tuple[Longs, int | None]:
    """Descriptions one language reference set prefers, and that set."""
    if not files:
        if refset is not None:
            raise BadInput("language_refset: the release holds no language reference set; leave this option out")
        return np.empty(0, dtype=np.int64), None
    key = ("refsetId", "referencedComponentId")
    table = _table(files, [*key, "effectiveTime", "active", "acceptabilityId"], key=key)
    keep = (table["active"] == 1) & (table["acceptabilityId"] == _PREFERRED)
    sets, sizes = np.unique(table["refsetId"][keep], return_counts=True)
    if refset is None:
        if not len(sets):
            return np.empty(0, dtype=np.int64), None
        refset = _US_ENGLISH if _US_ENGLISH in sets else int(sets[np.argmax(sizes)])
    elif refset not in sets:
        raise BadInput(f"language_refset: {refset} is not in the release; it has {', '.join(map(str, sets.tolist()))}")
    return np.sort(table["referencedComponentId"][keep & (table["refsetId"] == refset)]), refset


LOADERS.add(
    "snomed",
    Loader(
        "snomed",
        "SNOMED CT RF2 snapshot folder",
        read_snomed,
        page="taxonomy-snomed",
        folder=lambda glance: is_release(glance.path),
    ),
)
