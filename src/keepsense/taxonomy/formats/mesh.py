"""MeSH, the Medical Subject Headings: descriptor files in XML (`desc2024.xml`) or ASCII (`d2024.bin`).

A concept is a descriptor. Its tree numbers say where it hangs (C04.588 is below C04), often in several places, so the
result is a graph with several parents. Because one descriptor has all its places at once, a few pairs of descriptors
lie above each other in different trees: of such links those at the deepest tree numbers are given up, and `info` names
them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Unpack
from xml.etree import ElementTree

import numpy as np

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.formats.source_files import (
    PathLike,
    Rooted,
    assemble,
    bad_xml,
    check_xml,
    clip,
    file_path,
    head,
    read_text,
    unreadable,
)
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import closing_links, listed

CATEGORIES = {
    "A": "Anatomy",
    "B": "Organisms",
    "C": "Diseases",
    "D": "Chemicals and Drugs",
    "E": "Analytical, Diagnostic and Therapeutic Techniques, and Equipment",
    "F": "Psychiatry and Psychology",
    "G": "Phenomena and Processes",
    "H": "Disciplines and Occupations",
    "I": "Anthropology, Education, Sociology, and Social Phenomena",
    "J": "Technology, Industry, and Agriculture",
    "K": "Humanities",
    "L": "Information Science",
    "M": "Named Groups",
    "N": "Health Care",
    "V": "Publication Characteristics",
    "Z": "Geographicals",
}


@dataclass
class _Descriptor:
    id: str = ""
    names: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)


def read_mesh(
    path: PathLike,
    *,
    encoding: str | None = None,
    **rooted: Unpack[Rooted],
) -> Taxonomy:
    """Read MeSH descriptors from XML or ASCII, whichever the file is.

    Ids are descriptor ids (`D009369`), synonyms the entry terms. The letter of a tree number is its category (`C`,
    Diseases), a concept of its own; the categories are several roots, so a whole file needs `join_roots=True`.
    Descriptors without a tree number are left out and counted in `info`. XML is read as a stream: memory grows with the
    descriptors. `encoding` is for ASCII files that are not UTF-8.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "d2024.bin"
    ...     _ = place.write_text('''*NEWRECORD
    ... RECTYPE = D
    ... MH = Body Regions
    ... MN = A01
    ... UI = D001829
    ...
    ... *NEWRECORD
    ... RECTYPE = D
    ... MH = Abdomen
    ... ENTRY = Abdomens|T023|NON|EQV|UNK (19XX)|711110|abbcdef
    ... MN = A01.923.047
    ... MN = A01.047
    ... UI = D000005
    ... ''')
    ...     mesh = read_mesh(place)
    >>> mesh.labels(mesh.subsumers("Abdomen")), mesh.synonyms("D000005")
    (['Anatomy', 'Body Regions', 'Abdomen'], ['Abdomen', 'Abdomens'])
    """
    place = file_path(path)
    start = head(place, 4096).lstrip(b"\xef\xbb\xbf \t\r\n")
    descriptors = list(_xml(place) if start.startswith(b"<") else _ascii(place, encoding))
    if not descriptors:
        raise BadTaxonomy(f"{place.name}: the file holds no descriptor; is this a MeSH descriptor file?")
    return _taxonomy(place.name, descriptors, rooted)


def _xml(place: Path) -> Iterator[_Descriptor]:
    # MeSH names its document type on the web; it is not fetched, and declares nothing that the file needs.
    first = check_xml(place, external_type=True)
    if first != "DescriptorRecordSet":
        raise BadTaxonomy(f"{place.name}: the first element is {clip(first)}, not DescriptorRecordSet; is this MeSH?")
    try:
        with place.open("rb") as file:
            events = ElementTree.iterparse(file, events=("start", "end"))  # noqa: S314 - checked above
            _, root = next(events)
            for event, element in events:
                if event == "end" and element.tag == "DescriptorRecord":
                    terms = [element.findtext("DescriptorName/String")]
                    terms += [t.text for t in element.iterfind("ConceptList/Concept/TermList/Term/String")]
                    yield _Descriptor(
                        (element.findtext("DescriptorUI") or "").strip(),
                        [term.strip() for term in terms if term],
                        [(t.text or "").strip() for t in element.iterfind("TreeNumberList/TreeNumber")],
                    )
                    root.clear()
    except ElementTree.ParseError as error:
        raise bad_xml(place.name, error) from None
    except OSError as error:
        raise unreadable(place.name, error) from None


def _ascii(place: Path, encoding: str | None) -> Iterator[_Descriptor]:
    record: _Descriptor | None = None
    wanted = True
    for number, line in enumerate(read_text(place, encoding).splitlines(), 1):
        if line.startswith("*NEWRECORD"):
            if record is not None and wanted:
                yield record
            record, wanted = _Descriptor(), True
            continue
        if not line.strip():
            continue
        tag, mark, value = line.partition(" = ")
        if record is None or (not mark and not line.rstrip().endswith(" =")):
            raise BadTaxonomy(
                f"{place.name}: line {number} is not valid MeSH ASCII: {clip(line)}; expected 'TAG = value'"
            )
        value = value.strip()
        if tag == "RECTYPE":
            wanted = value == "D"
        elif tag == "UI":
            record.id = value
        elif tag == "MN":
            record.places.append(value)
        elif tag == "MH":
            record.names.insert(0, value)
        elif tag in ("ENTRY", "PRINT ENTRY"):
            record.names.append(value.partition("|")[0].strip())
    if record is not None and wanted:
        yield record


def _taxonomy(file: str, descriptors: list[_Descriptor], rooted: Rooted) -> Taxonomy:
    at: dict[str, str] = {}
    for descriptor in descriptors:
        if not descriptor.id:
            raise BadTaxonomy(f"{file}: the descriptor {clip(''.join(descriptor.names[:1]))} has no id; mend the file")
        for place in descriptor.places:
            if at.setdefault(place, descriptor.id) != descriptor.id:
                raise BadTaxonomy(
                    f"{file}: the tree number {clip(place)} belongs to both {at[place]} and {descriptor.id}; mend it"
                )
    kept = [d for d in descriptors if any(d.places)]
    letters = sorted({place[0] for place in at if place})
    edges = [
        (at[place], _parent_of(file, place, at))
        for place in sorted((p for p in at if p), key=lambda p: (p.count("."), p))
    ]
    ids = [*letters, *(d.id for d in kept)]
    code = {key: i for i, key in enumerate(ids)}
    closing = closing_links(
        len(ids),
        np.fromiter((code[low] for low, _ in edges), dtype=np.int64, count=len(edges)),
        np.fromiter((code[high] for _, high in edges), dtype=np.int64, count=len(edges)),
    )
    given_up = [f"{low} below {high}" for (low, high), drop in zip(edges, closing, strict=True) if drop]
    return assemble(
        file,
        [edge for edge, drop in zip(edges, closing, strict=True) if not drop],
        {letter: [CATEGORIES.get(letter, letter)] for letter in letters} | {d.id: d.names for d in kept},
        rooted,
        concepts=ids,
        root="MeSH",
        format="MeSH",
        descriptors_without_a_place_left_out=len(descriptors) - len(kept),
        links_given_up_to_break_cycles=listed(given_up),
    )


def _parent_of(file: str, place: str, at: dict[str, str]) -> str:
    """The descriptor at the longest tree number above a place that has one; its category at the top.

    The file may be an extract, so tree numbers between two descriptors may be missing.
    """
    if not (place[0].isalpha() and place.isascii()):
        raise BadTaxonomy(f"{file}: {clip(place)} is not a tree number such as C04.588; mend the file")
    above = place.rpartition(".")[0]
    while above and above not in at:
        above = above.rpartition(".")[0]
    return at[above] if above else place[0]


LOADERS.add(
    "mesh",
    Loader(
        "mesh",
        "MeSH descriptors, XML or ASCII",
        read_mesh,
        page="taxonomy-mesh",
        content=lambda glance: glance.text.startswith(b"*NEWRECORD"),
        xml=lambda glance: glance.xml_root == "DescriptorRecordSet",
    ),
)
