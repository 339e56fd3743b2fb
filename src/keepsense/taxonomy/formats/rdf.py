"""OWL, RDFS and SKOS: taxonomies written as RDF, in Turtle, RDF/XML, N-Triples or JSON-LD.

OWL and RDFS: named classes, `rdfs:subClassOf`, and what follows from it at sight: a class that is an intersection with
a named class is a kind of that class. A restriction (`part_of some X`) becomes a relation. No reasoner runs, so
release files that carry their inferred links are the ones to load. SKOS: concepts, `broader` and `narrower`, labels
(those of SKOS-XL, too) in the language asked for, and notations as further names.
"""

from __future__ import annotations

import io
import json
import logging
import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, Unpack
from urllib.parse import unquote

from keepsense.errors import BadInput, BadTaxonomy, MissingExtra
from keepsense.files import parsed_json
from keepsense.taxonomy.formats.source_files import (
    PathLike,
    Rooted,
    assemble,
    check_depth,
    check_xml,
    decode,
    file_path,
    read_bytes,
)
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Glance, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

# The statements that make a taxonomy, in any syntax of RDF
#
# rdflib parses; our own store keeps only statements with predicates of taxonomies, so that memory grows with the
# concepts. Nothing is fetched: XML is checked first, external contexts of JSON-LD are refused, imports are not
# followed.

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


# Taxonomies from these statements

Vocabulary = Literal["owl", "skos"]

_OBO_IRI = re.compile(r"http://purl\.obolibrary\.org/obo/([A-Za-z][A-Za-z0-9]*)_([A-Za-z0-9]+)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_TOP = frozenset([OWL + "Thing", RDFS + "Resource"])
_BUILT_IN = (RDF, RDFS, OWL)
_CLASS_LABELS = (RDFS + "label", SKOS + "prefLabel")
_CONCEPT_LABELS = (SKOS + "prefLabel", RDFS + "label")
_SYNONYMS = [
    SKOS + "altLabel",
    OBO_IN_OWL + "hasExactSynonym",
    OBO_IN_OWL + "hasRelatedSynonym",
    OBO_IN_OWL + "hasNarrowSynonym",
    SKOS + "hiddenLabel",
]


def read_rdf(
    path: PathLike,
    *,
    vocabulary: Vocabulary | None = None,
    syntax: str | None = None,
    language: str = "en",
    **rooted: Unpack[Rooted],
) -> Taxonomy:
    """Read an OWL or RDFS ontology, or a SKOS thesaurus.

    `vocabulary` is "owl" (for RDFS too) or "skos"; without it a file with SKOS concepts is read as SKOS. `syntax` is
    "turtle", "rdf/xml", "n-triples" or "json-ld" and found out where not given. Labels in `language` are preferred,
    then those without a language, then any; synonyms are taken in that language or without one. Ids are the IRIs;
    those of OBO ontologies are written as in OBO files (`DOID:4`). Deprecated classes are left out and counted in
    `info`. Nothing is fetched from the network and imports are not followed. Needs `keepsense[rdf]`; takes about a
    second for some 30,000 statements.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "pets.ttl"
    ...     _ = place.write_text('''
    ...         @prefix skos: <http://www.w3.org/2004/02/skos/core#> .
    ...         @prefix : <http://example.org/> .
    ...         :animal a skos:Concept ; skos:prefLabel "animal"@en, "animal"@es .
    ...         :cat a skos:Concept ; skos:prefLabel "cat"@en, "gato"@es ; skos:broader :animal .
    ...     ''')
    ...     read_rdf(place).labels(["http://example.org/cat"]), read_rdf(place, language="es").labels([1])
    (['cat'], ['gato'])
    """
    if vocabulary not in (None, "owl", "skos"):
        raise BadInput(f"vocabulary: {vocabulary!r} is not 'owl' or 'skos'")
    place = Path(path)
    facts = read_facts(place, syntax)
    if vocabulary is None:
        vocabulary = "skos" if facts.of_type(SKOS + "Concept") or facts.subjects(SKOS + "broader") else "owl"
    read = _skos if vocabulary == "skos" else _owl
    return read(place.name, facts, language.lower(), rooted)


# ---- OWL and RDFS ------------------------------------------------------------------------------------------------


def _owl(file: str, facts: Facts, language: str, rooted: Rooted) -> Taxonomy:
    gone = {s for s in facts.subjects(OWL + "deprecated") if any(t.words == "true" for t in _deprecated(facts, s))}
    gone |= set(facts.of_type(OWL + "DeprecatedClass"))
    classes = dict.fromkeys(c for c in facts.of_type(OWL + "Class", RDFS + "Class") if _is_class(c))
    edges: dict[tuple[str, str], None] = {}
    relations: dict[str, list[tuple[str, str]]] = {}
    for predicate in (RDFS + "subClassOf", OWL + "equivalentClass", OWL + "intersectionOf"):
        for subject, value in facts.links(predicate):
            if not _is_class(subject):
                continue
            if is_named(value):
                # Two equivalent named classes would each be a kind of the other: that is no is-a link.
                if predicate == RDFS + "subClassOf":
                    classes[subject] = None
                    if _is_class(value):
                        edges[subject, value] = None
                continue
            kinds, restrictions = _parts(facts, value)
            edges.update(((subject, kind), None) for kind in kinds if kind != subject)
            for kind, target in restrictions:
                relations.setdefault(_relation(facts, kind, language), []).append((subject, target))
    described = len(classes)
    classes.update((parent, None) for _, parent in edges)
    if not classes:
        raise BadTaxonomy(f"{file}: the file holds no class; is it an OWL or RDFS ontology?")
    kept = [c for c in classes if c not in gone]
    live = set(kept)
    links = [(c, p) for c, p in edges if c in live and p in live]
    short = {c: short_id(c) for c in kept}
    return assemble(
        file,
        [(short[c], short[p]) for c, p in links],
        {short[c]: _names(facts, c, _CLASS_LABELS, language) for c in kept},
        rooted,
        concepts=[short[c] for c in kept],
        relations={
            kind: [(short[a], short[b]) for a, b in dict.fromkeys(pairs) if a in live and b in live]
            for kind, pairs in relations.items()
        },
        root="Thing" if "Thing" not in short.values() else None,
        format="OWL",
        language=_other_language(facts, kept, _CLASS_LABELS, language),
        deprecated_classes_left_out=len(classes) - len(kept),
        links_to_deprecated_classes=len(edges) - len(links),
        classes_known_only_as_a_parent=len(classes) - described,
    )


def _is_class(node: str) -> bool:
    return is_named(node) and node not in _TOP and not node.startswith(_BUILT_IN)


def _deprecated(facts: Facts, subject: str) -> list[Text]:
    return facts.texts(subject, OWL + "deprecated")


def _parts(facts: Facts, node: str) -> tuple[list[str], list[tuple[str, str]]]:
    """Named classes an anonymous class is an intersection of, and the properties it restricts to some class."""
    kinds: list[str] = []
    restrictions: list[tuple[str, str]] = []
    waiting, seen = [node], {node}
    while waiting:
        here = waiting.pop()
        members: list[str] = []
        for start in facts.nodes(here, OWL + "intersectionOf"):
            members += _list(facts, start)
        # `C intersectionOf (A B)` may also stand on the class itself: then the node is the list.
        members += _list(facts, here)
        for member in members:
            if not is_named(member):
                if member not in seen:
                    seen.add(member)
                    waiting.append(member)
            elif _is_class(member):
                kinds.append(member)
        for kind in facts.nodes(here, OWL + "onProperty"):
            for target in facts.nodes(here, OWL + "someValuesFrom"):
                if is_named(kind) and _is_class(target):
                    restrictions.append((kind, target))
    return kinds, restrictions


def _list(facts: Facts, start: str) -> list[str]:
    members: list[str] = []
    seen: set[str] = set()
    while start not in seen and is_named(start) is False:
        seen.add(start)
        members += facts.nodes(start, RDF + "first")
        start = next(iter(facts.nodes(start, RDF + "rest")), "")
    return members


def _relation(facts: Facts, kind: str, language: str) -> str:
    return _names(facts, kind, [RDFS + "label"], language)[0].replace(" ", "_")


# ---- SKOS --------------------------------------------------------------------------------------------------------


def _skos(file: str, facts: Facts, language: str, rooted: Rooted) -> Taxonomy:
    concepts = dict.fromkeys(facts.of_type(SKOS + "Concept"))
    described = len(concepts)
    up = [*facts.links(SKOS + "broader"), *((b, a) for a, b in facts.links(SKOS + "narrower"))]
    tops = [*facts.subjects(SKOS + "topConceptOf"), *(b for _, b in facts.links(SKOS + "hasTopConcept"))]
    concepts.update((c, None) for pair in up for c in pair)
    concepts.update((c, None) for c in tops)
    kept = [c for c in concepts if is_named(c)]
    if not kept:
        raise BadTaxonomy(f"{file}: the file holds no SKOS concept; is it a SKOS thesaurus?")
    gone = {s for s in facts.subjects(OWL + "deprecated") if any(t.words == "true" for t in _deprecated(facts, s))}
    kept = [c for c in kept if c not in gone]
    live = set(kept)
    links = list(dict.fromkeys((a, b) for a, b in up if a in live and b in live))
    related = list(dict.fromkeys((a, b) for a, b in facts.links(SKOS + "related") if a in live and b in live))
    short = {c: short_id(c) for c in kept}
    return assemble(
        file,
        [(short[a], short[b]) for a, b in links],
        {short[c]: _names(facts, c, _CONCEPT_LABELS, language) for c in kept},
        rooted,
        concepts=[short[c] for c in kept],
        relations={"related": [(short[a], short[b]) for a, b in related]} if related else {},
        root=_scheme(facts, language, set(short.values())),
        format="SKOS",
        language=_other_language(facts, kept, _CONCEPT_LABELS, language),
        deprecated_concepts_left_out=len(gone & set(concepts)),
        concepts_known_only_from_links=len(concepts) - described,
    )


def _scheme(facts: Facts, language: str, taken: set[str]) -> str | None:
    """The name of the only concept scheme: what a virtual root stands for."""
    schemes = list(dict.fromkeys(facts.of_type(SKOS + "ConceptScheme")))
    if len(schemes) != 1:
        return None
    label = _names(facts, schemes[0], [SKOS + "prefLabel", RDFS + "label", *TITLES], language)[0]
    return label if label not in taken else None


# ---- names -------------------------------------------------------------------------------------------------------


def short_id(iri: str) -> str:
    """An IRI as an id: as OBO files write it where it is one of theirs, else as it stands.

    >>> short_id("http://purl.obolibrary.org/obo/DOID_4"), short_id("http://example.org/cat")
    ('DOID:4', 'http://example.org/cat')
    """
    found = _OBO_IRI.fullmatch(iri)
    return f"{found[1]}:{found[2]}" if found else iri


def _names(facts: Facts, node: str, preferred: Sequence[str], language: str) -> list[str]:
    """Label first, then synonyms and notations (codes); the last part of the IRI where nothing is said in words."""
    ranked = _labels(facts, node, preferred, language)
    synonyms = [t for predicate in _SYNONYMS for t in _said(facts, node, predicate)]
    notations = [t.words for t in facts.texts(node, SKOS + "notation") if t.words]
    names = [t.words for t in ranked[:1]]
    names += [t.words for t in _spoken([*ranked[1:], *synonyms], language)]
    if names or notations:
        return list(dict.fromkeys([*names, *notations]))
    local = unquote(re.split(r"[/#:]", node.rstrip("/#"))[-1]) or node
    return list(dict.fromkeys([local, _CAMEL.sub(" ", local)]))


def _labels(facts: Facts, node: str, preferred: Sequence[str], language: str) -> list[Text]:
    """Labels of a node, those in the language asked for first."""
    labels = [t for predicate in preferred for t in _said(facts, node, predicate)]
    return sorted((t for t in labels if t.words), key=lambda t: (_rank(t.language, language), t.language))


def _other_language(facts: Facts, nodes: Iterable[str], preferred: Sequence[str], language: str) -> str:
    """The language of most labels where it is not English; labels that do not say are in the language asked for."""
    tags = Counter(ranked[0].language for node in nodes if (ranked := _labels(facts, node, preferred, language)))
    most = (tags.most_common(1)[0][0] if tags else "") or language
    return "" if most.partition("-")[0] == "en" else most


def _said(facts: Facts, node: str, predicate: str) -> list[Text]:
    """Texts of a node; those of SKOS may also hang on labels that are nodes themselves (SKOS-XL)."""
    texts = facts.texts(node, predicate)
    if predicate.startswith(SKOS):
        labels = facts.nodes(node, SKOS_XL + predicate.removeprefix(SKOS))
        texts = texts + [text for label in labels for text in facts.texts(label, SKOS_XL + "literalForm")]
    return texts


def _spoken(texts: Iterable[Text], language: str) -> list[Text]:
    return [t for t in texts if t.words and _rank(t.language, language) < 3]


def _rank(tag: str, language: str) -> int:
    """How well a language tag fits: the language itself, a regional form of it, no tag, another language."""
    if tag == language:
        return 0
    if tag.split("-")[0] == language.split("-")[0] and tag:
        return 1
    return 2 if not tag else 3


def _is_rdf(glance: Glance) -> bool:
    """Turtle, N-Triples or JSON-LD; other ways to write OWL are refused with what to do."""
    text = glance.text
    if re.match(rb"(?:Prefix|Ontology)\s*[(:]", text) and not _TURTLE.search(text):
        raise glance.unknown("OWL in functional or Manchester syntax cannot be read; save it as RDF/XML or Turtle")
    json = text.startswith((b"{", b"[")) and b'"@' in text
    return bool(_TURTLE.search(text) or _TRIPLES.match(text)) or json


def _is_rdf_xml(glance: Glance) -> bool:
    root = glance.xml_root.rpartition(":")[2]
    if root == "Ontology":
        raise glance.unknown("OWL/XML cannot be read; save it as RDF/XML or Turtle")
    return root == "RDF"


_TURTLE = re.compile(rb"(?im)^\s*@?(?:prefix|base)\s+\S*:?\s*<")
_TRIPLES = re.compile(rb"(?:#[^\n]*\n\s*)*(?:<\w[\w+.-]*:[^>\s]*>|_:\S+)\s+<\w[\w+.-]*:[^>\s]*>\s+\S")
_PAGE = "taxonomy-owl-skos"

LOADERS.add(
    "rdf",
    Loader(
        "rdf",
        "RDF, OWL or SKOS, whichever it is",
        read_rdf,
        page=_PAGE,
        content=_is_rdf,
        xml=_is_rdf_xml,
        endings=(".ttl", ".turtle", ".nt", ".owl", ".rdf", ".rdfs", ".jsonld"),
        extra="rdf",
    ),
)
for _name, _about, _vocabulary in (
    ("owl", "OWL ontology as RDF (RDF/XML, Turtle, N-Triples, JSON-LD)", "owl"),
    ("rdfs", "RDF Schema classes", "owl"),
    ("skos", "SKOS thesaurus", "skos"),
):
    LOADERS.add(_name, Loader(_name, _about, read_rdf, page=_PAGE, options={"vocabulary": _vocabulary}, extra="rdf"))
