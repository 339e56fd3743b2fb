"""ICD-10-CM: diagnoses of the International Classification of Diseases, as modified in the United States.

The codes and their tree come with the `simple-icd-10-cm` package. ICD-9-CM is loaded as a table: see `read_edges` for
its diagnoses and `read_prefixes` for its procedures.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from typing import Unpack

from keepsense.errors import MissingExtra
from keepsense.taxonomy.formats.source_files import Rooted, assemble
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

_RANGE = re.compile(r"\s*\([A-Z0-9]{3}(?:-[A-Z0-9]{3})?\)$")


def icd10cm(*, inclusion_terms: bool = True, **rooted: Unpack[Rooted]) -> Taxonomy:
    """ICD-10-CM: chapters (`1` to `22`), blocks (`A00-A09`), categories and codes, written with their dot (`A00.0`).

    Labels are the codes' descriptions; `inclusion_terms` adds the conditions listed under a code as further names of
    it, and the code without its dot is the last of its names, since many tables write it so. A block that has the same
    code as its only category is a concept of its own above it, as a range (`C50-C50`). The chapters are several roots,
    so a taxonomy of the whole needs `join_roots=True`. Needs `keepsense[icd]`; takes a few seconds.

    >>> icd = icd10cm(join_roots=True)
    >>> icd.label("A00.0"), icd.label("A00-A09"), icd.label(icd.root)
    ('Cholera due to Vibrio cholerae 01, biovar cholerae', 'Intestinal infectious diseases', 'ICD-10-CM')
    """
    try:
        with warnings.catch_warnings():
            # The package reads its own files in a way that Python calls deprecated.
            warnings.simplefilter("ignore", DeprecationWarning)
            import simple_icd_10_cm as source
    except ImportError:
        raise MissingExtra("ICD-10-CM needs simple-icd-10-cm; install keepsense[icd]") from None
    times = Counter(source.get_all_codes(with_dots=True))
    names: dict[str, list[str]] = {}
    edges: list[tuple[str, str]] = []
    for code in times:
        above = source.get_parent(code, prioritize_blocks=True)
        if times[code] > 1:
            block = f"{code}-{code}"
            names[block] = _described(source.get_description(code, prioritize_blocks=True))
            edges.append((block, above))
            above = block
        if above:
            edges.append((code, above))
        names[code] = _described(source.get_description(code))
        if inclusion_terms:
            names[code] += source.get_inclusion_term(code)
        if "." in code:
            names[code].append(code.replace(".", ""))
    title = "ICD-10-CM"
    rooted.setdefault("name", title)
    return assemble("simple-icd-10-cm", edges, names, rooted, concepts=list(names), root=title, format=title)


def _described(text: str) -> list[str]:
    return [_RANGE.sub("", text), text]


def _read(source: str = "", *, inclusion_terms: bool = True, **rooted: Unpack[Rooted]) -> Taxonomy:
    return icd10cm(inclusion_terms=inclusion_terms, **rooted)


LOADERS.add(
    "icd-10-cm",
    Loader("icd-10-cm", "ICD-10-CM diagnoses", _read, page="taxonomy-icd", source="icd-10-cm", extra="icd"),
)
