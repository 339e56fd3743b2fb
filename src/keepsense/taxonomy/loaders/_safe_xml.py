"""XML from strangers: no entity bombs, no reading of other files, no network.

The declarations of an XML document stand before its first element, so a look at that part tells whether the rest is
safe to hand to any parser. Many OWL files declare abbreviations for namespaces there, such as `<!ENTITY owl
"http://...">`, some of them built from others (`<!ENTITY parts "&base;parts#">`). Those are allowed while they are
harmless: internal, few, and short when written out in full, so that a document can grow by a bounded amount only.
Entities that point to files or addresses or grow long and parameter entities are refused, and so are default
attributes. An external document type may be named where a format always does so (MeSH); it is never fetched.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy.loaders._source import clip, unreadable

MAX_ENTITIES = 100
MAX_ENTITY_LENGTH = 200
MAX_DEPTH = 1_000
_PREDEFINED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_REFERENCE = re.compile(r"&([^;&]*);?")
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
    ...     laughs = "ha" * 50
    ...     _ = place.write_text(f'<!DOCTYPE a [<!ENTITY b "{laughs}"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>')
    ...     check_xml(place)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: bomb.owl: line 1 declares the entity 'c' with more than a short text, which is not \
read. Write it without that declaration
    """
    name = place.name
    declared = _Declarations(name, external_type)
    try:
        with place.open("rb") as file:
            read = 0
            while block := file.read(_BLOCK):
                read += len(block)
                if read > _MAX_PROLOG:
                    raise BadTaxonomy(f"{name}: no XML element in the first {_MAX_PROLOG >> 20} MB; this is not XML")
                declared.parser.Parse(block, False)
            declared.parser.Parse(b"", True)
    except _Reached as reached:
        return str(reached)
    except expat.ExpatError as error:
        raise bad_xml(name, error) from None
    except (LookupError, ValueError) as error:
        raise BadTaxonomy(f"{name}: the XML declaration names an encoding that cannot be read ({error})") from None
    except OSError as error:
        raise unreadable(name, error) from None
    raise BadTaxonomy(f"{name}: the XML file has no element")


def check_depth(name: str, raw: bytes) -> None:
    """Refuse XML whose elements are nested deeper than in any ontology: parsers take long over it.

    >>> check_depth("deep.owl", b"<a>" * 5000)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: deep.owl: its XML elements are nested more than 1,000 deep; no ontology is
    """
    depth = 0

    def start(tag: str, attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise BadTaxonomy(f"{name}: its XML elements are nested more than {MAX_DEPTH:,} deep; no ontology is")

    def end(tag: str) -> None:
        nonlocal depth
        depth -= 1

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = start, end
    try:
        parser.Parse(raw, True)
    except expat.ExpatError as error:
        raise bad_xml(name, error) from None


class _Declarations:
    """What a document declares before its first element, refused where it is dangerous."""

    def __init__(self, name: str, external_type: bool) -> None:
        self._name = name
        self._external_type = external_type
        self._entities: dict[str, str] = dict(_PREDEFINED)
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.EntityDeclHandler = self._entity
        self.parser.AttlistDeclHandler = self._attribute
        self.parser.ExternalEntityRefHandler = self._unresolved
        self.parser.StartElementHandler = self._start

    def _refuse(self, what: str) -> NoReturn:
        line = self.parser.CurrentLineNumber
        raise BadTaxonomy(f"{self._name}: line {line} {what}. Write it without that declaration")

    def _doctype(self, _: str, system: str | None, public: str | None, internal: int) -> None:
        if (system or public) and not self._external_type:
            self._refuse("names a document type in another file or on the network, which is never fetched")

    def _entity(self, key: str, parameter: bool, value: str | None, *_: object) -> None:
        shown = clip(key)
        if parameter:
            self._refuse(f"declares the parameter entity {shown}, which can pull in other files and is not read")
        if value is None:
            self._refuse(f"declares the entity {shown} as the content of another file or address, which is never read")
        if "<" in value or len(value) > MAX_ENTITY_LENGTH:
            self._refuse(f"declares the entity {shown} with more than a short text, which is not read")
        whole = _REFERENCE.sub(self._written_out, value)
        if len(whole) > MAX_ENTITY_LENGTH:
            self._refuse(f"declares the entity {shown} with more than a short text, which is not read")
        self._entities.setdefault(key, whole)  # the first declaration counts
        if len(self._entities) > MAX_ENTITIES + len(_PREDEFINED):
            self._refuse(f"declares more than {MAX_ENTITIES} entities, which is not read")

    def _written_out(self, reference: re.Match[str]) -> str:
        """What an entity declared before stands for, in full; what stands for itself or for nothing is refused."""
        if reference[1] not in self._entities:
            self._refuse(f"builds an entity from {clip(reference[0])}, which is not declared before it and is not read")
        return self._entities[reference[1]]

    def _attribute(self, element: str, key: str, kind: str, default: str | None, required: int) -> None:
        if default is not None:
            what = f"gives the attribute {clip(key)} a default value, which would repeat at every element; not read"
            self._refuse(what)

    def _unresolved(self, context: str, *rest: object) -> int:
        self._refuse("refers to an external entity, which is never read")

    def _start(self, tag: str, attributes: object) -> None:
        raise _Reached(tag)


def bad_xml(name: str, error: expat.ExpatError | ElementTree.ParseError, hint: str = "") -> BadTaxonomy:
    """The error for XML that is not well formed, with its line."""
    line = error.position[0] if isinstance(error, ElementTree.ParseError) else error.lineno
    return BadTaxonomy(f"{name}: line {line} is not well-formed XML ({expat.ErrorString(error.code)}){hint}")
