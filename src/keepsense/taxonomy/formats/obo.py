"""OBO files, the flat format of biomedical ontologies (Disease Ontology, HPO, Gene Ontology).

The grammar is fastobo's. Only what a taxonomy needs is handed to it: names, synonyms, is-a and other relationships.
Definitions, comments, cross-references and editors' notes are blanked out line by line on the way, which keeps line
numbers as they are, spares time, and lets files through whose only mistakes stand there (the Disease Ontology of March
2019 has such a definition; fastobo also fails on comment lines inside a term). A line that is no clause, or one of a
tag nobody knows, is refused with its number.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Unpack

from keepsense.errors import BadInput, BadTaxonomy, KeepsenseError
from keepsense.taxonomy.formats.source_files import (
    PathLike,
    Rooted,
    assemble,
    bad_encoding,
    clip,
    file_path,
    unreadable,
)
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

Unknown = Literal["refuse", "drop", "add"]

SCOPES = ("EXACT", "RELATED", "NARROW", "BROAD")
_UNREAD = re.compile(
    rb"(?m)^(?:def|comment|subset|xref|xref_analog|xref_unk|property_value|created_by|creation_date|builtin|consider"
    rb"|replaced_by|intersection_of|union_of|disjoint_from|equivalent_to|is_anonymous)[ \t]*:[^\r\n]*|^[ \t]*![^\r\n]*"
)
_BLOCK = 1 << 20


def read_obo(
    path: PathLike,
    *,
    scopes: Sequence[str] = ("EXACT", "RELATED", "NARROW"),
    namespace: str | None = None,
    unknown_parents: Unknown = "refuse",
    **rooted: Unpack[Rooted],
) -> Taxonomy:
    """Read the terms of an OBO file, and their is-a links, names and relationships.

    Obsolete terms are left out and counted in `info`. `scopes` says which synonyms count as names; broad ones are left
    out unless asked for, since a broad word would be given too narrow a meaning. Alternative ids follow the synonyms,
    so a term is found by them too. `namespace` keeps the terms of one namespace only (the Gene Ontology has three).
    `unknown_parents` says what to do with a link to a term the file does not define: refuse it, drop the link, or add
    the term. Time and memory grow with the terms, not with the text of the file.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "pets.obo"
    ...     _ = place.write_text('''format-version: 1.2
    ...
    ... [Term]
    ... id: PET:1
    ... name: animal
    ...
    ... [Term]
    ... id: PET:2
    ... name: cat
    ... synonym: "kitty" EXACT []
    ... is_a: PET:1 ! animal
    ... ''')
    ...     pets = read_obo(place)
    >>> pets.synonyms("PET:2"), pets.label(pets.root)
    (['cat', 'kitty'], 'animal')
    """
    import fastobo

    check_options(scopes, unknown_parents)
    place = file_path(path)
    terms = Terms(place.name, tuple(scopes), namespace)
    try:
        with place.open("rb") as file:
            source = _Wanted(place.name, file)
            try:
                reader = fastobo.iter(source, ordered=True, threads=1)
                terms.header(reader.header())
                for frame in reader:
                    terms.frame(frame)
            except SyntaxError as error:
                raise _bad_line(place.name, error) from None
            except KeepsenseError:
                raise
            except BaseException as error:
                # fastobo reports what its source raised in several ways (the source itself knows best), and its own
                # failures as a PanicException, which is no Exception.
                if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                    raise
                raise source.error or BadTaxonomy(f"{place.name}: not a valid OBO file ({error})") from None
    except OSError as error:
        raise unreadable(place.name, error) from None
    return terms.taxonomy(unknown_parents, rooted)


def check_options(scopes: Sequence[str], unknown_parents: str) -> None:
    """Refuse scopes and choices that do not exist.

    >>> check_options(["EXACT"], "refuse")
    >>> check_options(["CLOSE"], "refuse")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: scopes: 'CLOSE' is no scope of synonyms; choose among EXACT, RELATED, NARROW, BROAD
    """
    for scope in scopes:
        if scope not in SCOPES:
            raise BadInput(f"scopes: {clip(str(scope))} is no scope of synonyms; choose among {', '.join(SCOPES)}")
    if unknown_parents not in ("refuse", "drop", "add"):
        raise BadInput(f"unknown_parents: {clip(str(unknown_parents))} is not one of 'refuse', 'drop', 'add'")


def _bad_line(name: str, error: SyntaxError) -> BadTaxonomy:
    text = (error.text or "").strip()
    shown = f": {clip(text)}" if text else ""
    return BadTaxonomy(
        f"{name}: line {error.lineno or 0} is not valid OBO ({error.msg}){shown}; mend or drop that line"
    )


class _Wanted:
    """The bytes of an OBO file as fastobo reads them, less the clauses nobody needs and with every line in its place.

    Checks the encoding on the way, since fastobo tells neither the line nor the byte of a broken one.
    """

    def __init__(self, name: str, file: io.BufferedReader) -> None:
        self.error: BadTaxonomy | None = None
        self._name = name
        self._file = file
        self._ready = b""
        self._place = 0
        self._bytes = 0
        self._lines = 0

    def read(self, size: int) -> bytes:
        """At most `size` more bytes."""
        if self._place >= len(self._ready):
            self._ready, self._place = self._next(), 0
        block = self._ready[self._place : self._place + size]
        self._place += len(block)
        return block

    def _next(self) -> bytes:
        block = b"".join(self._file.readlines(_BLOCK))
        try:
            block.decode("utf-8")
        except UnicodeDecodeError as error:
            line = self._lines + block.count(b"\n", 0, error.start) + 1
            self.error = bad_encoding(self._name, "utf-8", self._bytes + error.start, line)
            raise self.error from None
        if self._bytes == 0 and block.startswith(b"\xef\xbb\xbf"):
            block = block[3:]
            self._bytes = 3
        self._bytes += len(block)
        self._lines += block.count(b"\n")
        return _UNREAD.sub(b"", block)


@dataclass
class Terms:
    """What the frames of a document say, collected one frame at a time. `read_obo` and `read_obo_graph` fill one.

    >>> Terms("pets.obo", ("EXACT",), None).ids
    []
    """

    file: str
    scopes: tuple[str, ...]
    namespace: str | None
    ids: list[str] = field(default_factory=list)
    names: dict[str, list[str]] = field(default_factory=dict)
    edges: list[tuple[str, str]] = field(default_factory=list)
    relations: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)
    obsolete: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)
    version: str = ""
    default_namespace: str = ""

    def header(self, header: Any) -> None:
        """Keep the version and the default namespace."""
        for clause in header:
            tag = clause.raw_tag()
            if tag == "data-version":
                self.version = clause.raw_value()
            elif tag == "default-namespace":
                self.default_namespace = clause.raw_value()

    def frame(self, frame: Any) -> None:
        """Take one frame in: a term, or the name of a kind of relationship; instances are no concepts."""
        kind = type(frame).__name__
        if kind == "TermFrame":
            self._term(frame)
        elif kind == "TypedefFrame":
            for clause in frame:
                if clause.raw_tag() == "name":
                    self.kinds[str(frame.id)] = clause.raw_value()

    def _term(self, frame: Any) -> None:
        label, namespace, obsolete = "", "", False
        synonyms: dict[str, list[str]] = {scope: [] for scope in SCOPES}
        others: list[str] = []
        parents: list[str] = []
        links: list[tuple[str, str]] = []
        for clause in frame:
            tag = clause.raw_tag()
            if tag == "is_a":
                parents.append(str(clause.term))
            elif tag == "name":
                label = clause.name
            elif tag == "synonym":
                synonyms[clause.synonym.scope].append(clause.synonym.desc)
            elif tag == "alt_id":
                others.append(str(clause.alt_id))
            elif tag == "relationship":
                links.append((str(clause.typedef), str(clause.term)))
            elif tag == "namespace":
                namespace = str(clause.namespace)
            elif tag == "is_obsolete":
                obsolete = clause.obsolete
        self.add(
            str(frame.id),
            label=label,
            synonyms=synonyms,
            others=others,
            parents=parents,
            links=links,
            namespace=namespace,
            obsolete=obsolete,
        )

    def add(
        self,
        key: str,
        *,
        label: str,
        synonyms: Mapping[str, Sequence[str]],
        others: Sequence[str],
        parents: Sequence[str],
        links: Sequence[tuple[str, str]],
        namespace: str,
        obsolete: bool,
    ) -> None:
        """Take one term in, unless it is obsolete or of another namespace."""
        if obsolete:
            self.obsolete.add(key)
            return
        if self.namespace is not None and (namespace or self.default_namespace) != self.namespace:
            self.elsewhere.add(key)
            return
        self.ids.append(key)
        names = [label, *(text for scope in self.scopes for text in synonyms[scope]), *others]
        self.names[key] = [text for text in names if text] or [key]
        self.edges += [(key, parent) for parent in parents]
        for kind, target in links:
            self.relations.setdefault(kind, []).append((key, target))

    def taxonomy(self, unknown_parents: Unknown, rooted: Rooted) -> Taxonomy:
        """Everything read so far as a taxonomy."""
        if not self.ids:
            raise BadTaxonomy(f"{self.file}: the file defines no term{self._none_left()}; is this an OBO file?")
        known = set(self.ids)
        missing = [(c, p) for c, p in self.edges if p not in known]
        # A link out of the chosen namespace is no mistake of the file.
        missing_here = [(c, p) for c, p in missing if p not in self.elsewhere]
        edges = self.edges
        if missing_here and unknown_parents == "refuse":
            raise BadTaxonomy(self._unknown(missing_here))
        if missing:
            edges = [(c, p) for c, p in self.edges if p in known]
        if unknown_parents == "add":
            edges += missing_here
            self.ids += dict.fromkeys(p for _, p in missing_here)
        relations: dict[str, list[tuple[str, str]]] = {}
        for kind, links in self.relations.items():
            relations.setdefault(self._kind(kind), []).extend(links)
        return assemble(
            self.file,
            edges,
            self.names,
            rooted,
            concepts=self.ids,
            relations=relations,
            format="OBO",
            version=self.version,
            obsolete_terms_left_out=len(self.obsolete),
            terms_of_other_namespaces_left_out=len(self.elsewhere),
            links_to_undefined_terms=len(missing_here),
        )

    def _kind(self, kind: str) -> str:
        """A relationship's name where its id is only a number (BFO:0000050 is part_of)."""
        return self.kinds.get(kind, kind).replace(" ", "_") if ":" in kind else kind

    def _none_left(self) -> str:
        if self.elsewhere:
            return f" in the namespace {clip(str(self.namespace))}"
        return " that is not obsolete" if self.obsolete else ""

    def _unknown(self, missing: Sequence[tuple[str, str]]) -> str:
        child, parent = missing[0]
        why = "is obsolete" if parent in self.obsolete else "is defined nowhere in the file"
        more = f" ({len(missing) - 1:,} more links are like that)" if len(missing) > 1 else ""
        return (
            f"{self.file}: the term {clip(child)} is_a {clip(parent)}, which {why}{more}; mend the file, or choose"
            " unknown_parents='drop' or 'add'"
        )


LOADERS.add(
    "obo",
    Loader(
        "obo",
        "OBO flat file",
        read_obo,
        page="taxonomy-obo",
        content=lambda glance: bool(re.search(rb"(?m)^(?:format-version:|\[Term\]\s*$)", glance.text)),
        endings=(".obo",),
    ),
)
