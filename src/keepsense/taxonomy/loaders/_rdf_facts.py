"""The few statements of an RDF document that make a taxonomy, whatever the document is written in.

rdflib parses; a store of our own keeps only statements with predicates a taxonomy is made of, so that memory grows with
the concepts and not with everything else said about them. Nothing is fetched: XML is checked before it is parsed,
JSON-LD that points to a context elsewhere is refused, and imports of other ontologies are not followed.
"""

from __future__ import annotations

import io
import json
import logging
import re
import warnings
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from keepsense.errors import BadInput, BadTaxonomy, MissingExtra
from keepsense.files import parsed_json
from keepsense.taxonomy.loaders._safe_xml import check_depth, check_xml
from keepsense.taxonomy.loaders._source import decode, file_path, read_bytes

SYNTAXES = {"turtle": "turtle", "rdf/xml": "xml", "n-triples": "nt", "json-ld": "json-ld"}
_ENDINGS = {
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".nt": "n-triples",
    ".ntriples": "n-triples",
    ".rdf": "rdf/xml",
    ".rdfs": "rdf/xml",
    ".owl": "rdf/xml",
    ".xml": "rdf/xml",
    ".jsonld": "json-ld",
    ".json": "json-ld",
}

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
SKOS = "http://www.w3.org/2004/02/skos/core#"
SKOS_XL = "http://www.w3.org/2008/05/skos-xl#"
OBO_IN_OWL = "http://www.geneontology.org/formats/oboInOwl#"
TITLES = ("http://purl.org/dc/terms/title", "http://purl.org/dc/elements/1.1/title")
TYPE = RDF + "type"

KEPT = frozenset(
    [
        TYPE,
        RDF + "first",
        RDF + "rest",
        RDFS + "subClassOf",
        RDFS + "label",
        OWL + "deprecated",
        OWL + "equivalentClass",
        OWL + "intersectionOf",
        OWL + "onProperty",
        OWL + "someValuesFrom",
        OBO_IN_OWL + "hasExactSynonym",
        OBO_IN_OWL + "hasRelatedSynonym",
        OBO_IN_OWL + "hasNarrowSynonym",
        *(
            SKOS + word
            for word in ("broader", "narrower", "related", "prefLabel", "altLabel", "hiddenLabel", "notation")
        ),
        *(SKOS_XL + word for word in ("prefLabel", "altLabel", "hiddenLabel", "literalForm")),
        SKOS + "topConceptOf",
        SKOS + "hasTopConcept",
        *TITLES,
    ]
)


class Text(NamedTuple):
    """A literal: its words and the language it is tagged with, if any."""

    words: str
    language: str


class Facts:
    """Statements by predicate and subject: of nodes (`str`; blank ones start with `_:`) and of literals (`Text`)."""

    def __init__(self) -> None:
        self._by: dict[str, dict[str, list[str | Text]]] = defaultdict(lambda: defaultdict(list))

    def add(self, subject: str, predicate: str, value: str | Text) -> None:
        """Keep one statement."""
        self._by[predicate][subject].append(value)

    def subjects(self, predicate: str) -> list[str]:
        """Everything the predicate is stated of, in the order of the document."""
        return list(self._by.get(predicate, ()))

    def links(self, predicate: str) -> Iterator[tuple[str, str]]:
        """All statements with the predicate that point to another node."""
        for subject, values in self._by.get(predicate, {}).items():
            for value in values:
                if isinstance(value, str):
                    yield subject, value

    def nodes(self, subject: str, predicate: str) -> list[str]:
        """Nodes the subject is linked to."""
        return [v for v in self._by.get(predicate, {}).get(subject, ()) if isinstance(v, str)]

    def texts(self, subject: str, predicate: str) -> list[Text]:
        """Literals of the subject."""
        return [v for v in self._by.get(predicate, {}).get(subject, ()) if isinstance(v, Text)]

    def of_type(self, *types: str) -> list[str]:
        """Named subjects of any of the types, in the order of the document."""
        wanted = set(types)
        return [s for s, t in self.links(TYPE) if t in wanted and is_named(s)]


def is_named(node: str) -> bool:
    """Whether a node has an IRI of its own."""
    return not node.startswith("_:")


def find_syntax(place: Path, start: bytes, syntax: str | None = None) -> str:
    """How an RDF file is written: as told, by what it starts with, else by the ending of its name."""
    if syntax is not None:
        if syntax not in SYNTAXES:
            raise BadInput(f"syntax: {syntax!r} is not one of {', '.join(map(repr, SYNTAXES))}")
        return syntax
    text = start.lstrip(b"\xef\xbb\xbf \t\r\n")
    if text.startswith((b"<?xml", b"<rdf:", b"<!DOCTYPE", b"<!--", b"<RDF")) or start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return "rdf/xml"
    if text.startswith((b"{", b"[")) and place.suffix.lower() not in (".ttl", ".turtle"):
        return "json-ld"
    if re.search(rb"(?im)^\s*@?(?:prefix|base)\s", text):
        return "turtle"
    by_name = _ENDINGS.get(place.suffix.lower())
    if by_name in ("turtle", "n-triples"):
        return by_name
    if re.match(rb"(?:#[^\n]*\n\s*)*(?:<[^>\s]*>|_:\S+)\s+<[^>\s]*>\s+\S", text):
        return "n-triples"
    if by_name is None or not text:
        raise BadTaxonomy(
            f"{place.name}: cannot tell how this RDF is written; give syntax= one of {', '.join(map(repr, SYNTAXES))}"
        )
    return by_name


def read_facts(path: Path, syntax: str | None = None) -> Facts:
    """Parse an RDF file and keep what taxonomies are made of."""
    try:
        import rdflib
    except ImportError:
        raise MissingExtra("reading OWL, SKOS and RDFS needs rdflib; install keepsense[rdf]") from None
    place = file_path(path)
    raw = read_bytes(place)
    chosen = find_syntax(place, raw[:4096], syntax)
    if chosen == "rdf/xml":
        check_xml(place)
        check_depth(place.name, raw)
    else:
        text = decode(place.name, raw)
        if chosen == "json-ld":
            _check_json_ld(place.name, text)
        raw = text.encode("utf-8")
    facts = Facts()
    graph = rdflib.Graph(store=_store(facts), bind_namespaces="none")
    with _quiet():
        try:
            # The base is fixed so that no id depends on where the file lies.
            graph.parse(io.BytesIO(raw), format=SYNTAXES[chosen], publicID="urn:keepsense:base/")
        except MemoryError:
            raise
        except Exception as error:
            # rdflib's parsers raise errors of every kind for documents that are not what they seem.
            raise BadTaxonomy(f"{place.name}: not valid {chosen}{_where(error, raw)}") from None
    return facts


def _store(facts: Facts) -> Any:
    from rdflib import Literal
    from rdflib.store import Store
    from rdflib.term import BNode

    def node(term: Any) -> str:
        return f"_:{term}" if isinstance(term, BNode) else str(term)

    class Kept(Store):  # type: ignore[misc, unused-ignore]
        """A store that keeps what `Facts` wants and forgets the rest."""

        context_aware = True  # named graphs, which JSON-LD may have, are read as one

        def add(self, triple: Any, context: Any = None, quoted: bool = False) -> None:
            subject, predicate, value = triple
            if str(predicate) not in KEPT:
                return
            if isinstance(value, Literal):
                facts.add(node(subject), str(predicate), Text(str(value).strip(), (value.language or "").lower()))
            else:
                facts.add(node(subject), str(predicate), node(value))

        def bind(self, *args: Any, **options: Any) -> None:
            return None

        def namespace(self, prefix: str) -> None:
            return None

        def prefix(self, namespace: Any) -> None:
            return None

        def namespaces(self) -> Iterator[Any]:
            return iter(())

    return Kept()


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep rdflib from logging the values it cannot read (dates, odd IRIs): no taxonomy is made of them."""
    loggers = [logging.getLogger(name) for name in ("rdflib", "rdflib.term", "rdflib.plugins.parsers")]
    before = [logger.disabled for logger in loggers]
    for logger in loggers:
        logger.disabled = True
    try:
        with warnings.catch_warnings():
            # It also warns of odd values, and its JSON-LD parser of a class that rdflib itself calls deprecated.
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, was in zip(loggers, before, strict=True):
            logger.disabled = was


def _check_json_ld(name: str, text: str) -> None:
    """Refuse JSON-LD whose context lies elsewhere: nothing is fetched."""
    try:
        document = parsed_json(text)
    except json.JSONDecodeError as error:
        raise BadTaxonomy(f"{name}: line {error.lineno} is not valid JSON ({error.msg})") from None
    except ValueError as error:
        raise BadTaxonomy(f"{name}: not valid JSON ({error})") from None
    waiting = [document]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += item
        elif isinstance(item, dict):
            contexts = item.get("@context")
            for context in contexts if isinstance(contexts, list) else [contexts]:
                if isinstance(context, str) or (isinstance(context, dict) and "@import" in context):
                    raise BadTaxonomy(
                        f"{name}: its JSON-LD context lies elsewhere and is never fetched; put it into the file"
                    )
            waiting += item.values()


def _where(error: Exception, text: bytes) -> str:
    """Line and reason of a parser's error, as far as it tells them."""
    reason = str(getattr(error, "_why", "") or (error.getMessage() if hasattr(error, "getMessage") else error)).strip()
    line: int | None = None
    lines = getattr(error, "lines", None)
    if hasattr(error, "getLineNumber"):
        line = error.getLineNumber()
    elif isinstance(lines, int):
        line = lines + 1
    elif found := re.match(r"[^:\n]*:(\d+):\d+: (.+)", reason):
        line, reason = int(found[1]), found[2]
    elif found := re.match(r"Invalid line: (.+)", reason):
        start = text.find(found[1].strip("'\"").encode("utf-8"))
        line = text.count(b"\n", 0, start) + 1 if start >= 0 else None
    if isinstance(error, IndexError):
        reason = "it ends in the middle of a statement"
    elif isinstance(error, RecursionError):
        reason = "it is nested too deeply"
    first = reason.splitlines()[0][:120] if reason else type(error).__name__
    return f" in line {line} ({first})" if isinstance(line, int) else f" ({first})"
