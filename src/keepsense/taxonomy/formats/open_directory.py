"""The Open Directory (DMOZ): categories from `structure.rdf.u8` or from a table.

A category's path is its id (`Top/Arts/Animation`) and the path says what lies above it; the title is its label.
Cross-references between branches (`related`, `symbolic`) are relations, not is-a links.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Unpack
from xml.etree import ElementTree

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.formats.edge_tables import read_edges
from keepsense.taxonomy.formats.source_files import (
    PathLike,
    Rooted,
    assemble,
    bad_xml,
    check_xml,
    file_path,
    head,
    unreadable,
)
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

_RDF = ("{http://www.w3.org/TR/RDF/}", "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}")
_SYMBOLIC = ("symbolic", "symbolic1", "symbolic2")


def read_open_directory(
    path: PathLike,
    *,
    encoding: str | None = None,
    **rooted: Unpack[Rooted],
) -> Taxonomy:
    """Read Open Directory categories from `structure.rdf.u8`, or from a table with `path`, `parent` and `label`.

    In the RDF file categories missing between two others are filled in. The file is read as a stream. `encoding` is for
    tables that are not UTF-8.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "structure.rdf.u8"
    ...     _ = place.write_text('''<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/"
    ...      xmlns="http://dmoz.org/rdf/">
    ...       <Topic r:id="Top/Arts"><d:Title>Arts</d:Title><narrow r:resource="Top/Arts/Crafts"/></Topic>
    ...     </RDF>''')
    ...     arts = read_open_directory(place)
    >>> arts.labels(arts.subsumers("Top/Arts/Crafts"))
    ['Arts', 'Crafts', 'Top']
    """
    place = file_path(path)
    if not head(place, 4096).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        return read_edges(place, child="path", parent="parent", label="label", encoding=encoding, **rooted)
    names: dict[str, list[str]] = {}
    relations: dict[str, list[tuple[str, str]]] = {}
    for topic, title, below, links in _topics(place):
        names.setdefault(topic, []).insert(0, title or _last(topic))
        for child in below:
            names.setdefault(child, [])
        for kind, target in links:
            relations.setdefault(kind, []).append((topic, target))
    if not names:
        raise BadTaxonomy(f"{place.name}: the file holds no Topic; is this the Open Directory's structure?")
    edges: list[tuple[str, str]] = []
    for topic in list(names):
        here = topic
        while (above := here.rpartition("/")[0]) and above not in names:
            names[above] = []
            edges.append((here, above))
            here = above
        if above:
            edges.append((here, above))
    return assemble(
        place.name,
        edges,
        {topic: titles or [_last(topic)] for topic, titles in names.items()},
        rooted,
        relations=relations,
        format="Open Directory",
    )


def _last(topic: str) -> str:
    return topic.rpartition("/")[2].replace("_", " ")


def _topics(place: Path) -> Iterator[tuple[str, str, list[str], list[tuple[str, str]]]]:
    """Each category with its title, its subcategories and its cross-references."""
    check_xml(place)
    try:
        with place.open("rb") as file:
            events = ElementTree.iterparse(file, events=("start", "end"))  # noqa: S314 - checked above
            _, root = next(events)
            for event, element in events:
                if event != "end" or _local(element.tag) != "Topic":
                    continue
                topic = _attribute(element, "id") or _attribute(element, "about")
                title = ""
                below: list[str] = []
                links: list[tuple[str, str]] = []
                for part in element:
                    tag = _local(part.tag)
                    target = _attribute(part, "resource").strip("/")
                    if tag == "Title":
                        title = (part.text or "").strip().replace("_", " ")
                    elif tag.rstrip("12") == "narrow" and target:
                        below.append(target)
                    elif tag == "related" and target:
                        links.append(("related", target))
                    elif tag in _SYMBOLIC and target:
                        links.append(("symbolic", target.partition(":")[2] or target))
                root.clear()
                if topic.strip("/"):
                    yield topic.strip("/"), title, below, links
    except ElementTree.ParseError as error:
        raise bad_xml(place.name, error, "; old dumps hold control characters and broken UTF-8: drop them") from None
    except OSError as error:
        raise unreadable(place.name, error) from None


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _attribute(element: ElementTree.Element, key: str) -> str:
    return next((element.attrib[space + key] for space in _RDF if space + key in element.attrib), "").strip()


LOADERS.add(
    "open-directory",
    Loader(
        "open-directory",
        "Open Directory structure, RDF or table",
        read_open_directory,
        page="taxonomy-open-directory",
        xml=lambda glance: (
            glance.xml_root.rpartition(":")[2] == "RDF"
            and (b"dmoz.org" in glance.text or b"http://www.w3.org/TR/RDF/" in glance.text)
        ),
    ),
)
