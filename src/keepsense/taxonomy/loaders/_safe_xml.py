"""XML from strangers: no entity bombs, no reading of other files, no network.

The declarations of an XML document stand before its first element, so a look at that part tells whether the rest is
safe to hand to any parser. Many OWL files declare abbreviations for namespaces there, such as `<!ENTITY owl
"http://...">`. Those are allowed while they are harmless: internal, few, short, and not made of other entities, so
that a document can grow by a bounded amount only. Entities that point to files or addresses, parameter entities and
entities built from entities are refused, and so are default attributes. An external document type may be named where a
format always does so (MeSH); it is never fetched.
"""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.loaders._source import clip, unreadable

MAX_ENTITIES = 100
MAX_ENTITY_LENGTH = 200
_BLOCK = 1 << 16
_MAX_PROLOG = 1 << 22


class _Reached(Exception):
    """The first element: what follows can declare nothing."""


def check_xml(place: Path, *, external_type: bool = False) -> str:
    """Refuse an XML file whose declarations are dangerous; return the name of its first element.

    `external_type` allows the document to name an external document type (which nothing here ever fetches).

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Path(folder) / "bomb.owl"
    ...     _ = place.write_text('<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><a>&c;</a>')
    ...     check_xml(place)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: bomb.owl: line 1 declares the entity 'c' in terms of other entities; such files can \
grow without bound and are not read. Write it without that declaration
    """
    name = place.name
    parser = expat.ParserCreate()
    first: list[str] = []
    seen: set[str] = set()

    def refuse(what: str) -> NoReturn:
        raise BadTaxonomy(f"{name}: line {parser.CurrentLineNumber} {what}. Write it without that declaration")

    def doctype(_: str, system: str | None, public: str | None, internal: int) -> None:
        if (system or public) and not external_type:
            refuse("names a document type in another file or on the network, which is never fetched")

    def entity(
        key: str,
        parameter: bool,
        value: str | None,
        base: str | None,
        system: str,
        public: str | None,
        notation: str | None,
    ) -> None:
        if parameter:
            refuse(f"declares the parameter entity {clip(key)}, which can pull in other files and is not read")
        if value is None:
            refuse(f"declares the entity {clip(key)} as the content of another file or address, which is never read")
        if "&" in value:
            refuse(
                f"declares the entity {clip(key)} in terms of other entities; such files can grow without bound and are"
                " not read"
            )
        if "<" in value or len(value) > MAX_ENTITY_LENGTH:
            refuse(f"declares the entity {clip(key)} with more than a short text, which is not read")
        seen.add(key)
        if len(seen) > MAX_ENTITIES:
            refuse(f"declares more than {MAX_ENTITIES} entities, which is not read")

    def attribute(element: str, key: str, kind: str, default: str | None, required: int) -> None:
        if default is not None:
            refuse(f"gives the attribute {clip(key)} a default value, which would repeat at every element; not read")

    def unresolved(context: str, *rest: object) -> int:
        refuse("refers to an external entity, which is never read")

    def start(tag: str, attributes: object) -> None:
        first.append(tag)
        raise _Reached

    parser.StartDoctypeDeclHandler = doctype
    parser.EntityDeclHandler = entity
    parser.AttlistDeclHandler = attribute
    parser.ExternalEntityRefHandler = unresolved
    parser.StartElementHandler = start
    try:
        with place.open("rb") as file:
            read = 0
            while block := file.read(_BLOCK):
                read += len(block)
                if read > _MAX_PROLOG:
                    raise BadTaxonomy(f"{name}: no XML element in the first {_MAX_PROLOG >> 20} MB; this is not XML")
                parser.Parse(block, False)
            parser.Parse(b"", True)
    except _Reached:
        return first[0]
    except expat.ExpatError as error:
        raise bad_xml(name, error) from None
    except (LookupError, ValueError) as error:
        raise BadTaxonomy(f"{name}: the XML declaration names an encoding that cannot be read ({error})") from None
    except OSError as error:
        raise unreadable(name, error) from None
    raise BadTaxonomy(f"{name}: the XML file has no element")


def bad_xml(name: str, error: expat.ExpatError | ElementTree.ParseError, hint: str = "") -> BadTaxonomy:
    """The error for XML that is not well formed, with its line."""
    line = error.position[0] if isinstance(error, ElementTree.ParseError) else error.lineno
    return BadTaxonomy(f"{name}: line {line} is not well-formed XML ({expat.ErrorString(error.code)}){hint}")
