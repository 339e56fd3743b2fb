"""OBO graphs: OBO ontologies as JSON.

Read with the standard library: the format is plain, and a reader that crashes on a malformed file is no help.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Unpack

from keepsense.errors import BadTaxonomy
from keepsense.files import parsed_json
from keepsense.taxonomy.formats.obo import SCOPES, Terms, Unknown, check_options
from keepsense.taxonomy.formats.rdf import short_id
from keepsense.taxonomy.formats.source_files import PathLike, Rooted, clip, file_path, read_text
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS, Loader
from keepsense.taxonomy.taxonomy import Taxonomy

_IS_A = frozenset(["is_a", "subClassOf", "http://www.w3.org/2000/01/rdf-schema#subClassOf"])
_NAMESPACE = "http://www.geneontology.org/formats/oboInOwl#hasOBONamespace"
_OTHER_ID = "http://www.geneontology.org/formats/oboInOwl#hasAlternativeId"


def read_obo_graph(
    path: PathLike,
    *,
    scopes: Sequence[str] = ("EXACT", "RELATED", "NARROW"),
    namespace: str | None = None,
    unknown_parents: Unknown = "refuse",
    **rooted: Unpack[Rooted],
) -> Taxonomy:
    """Read an OBO graph, the JSON form of an OBO file. The options are those of `read_obo`.

    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = pathlib.Path(folder) / "pets.json"
    ...     _ = place.write_text('''{"graphs": [{"id": "http://example.org/pets.owl", "nodes": [
    ...         {"id": "http://purl.obolibrary.org/obo/PET_1", "lbl": "animal", "type": "CLASS"},
    ...         {"id": "http://purl.obolibrary.org/obo/PET_2", "lbl": "cat", "type": "CLASS"}], "edges": [
    ...         {"sub": "http://purl.obolibrary.org/obo/PET_2", "pred": "is_a",
    ...          "obj": "http://purl.obolibrary.org/obo/PET_1"}]}]}''')
    ...     read_obo_graph(place).label("PET:2")
    'cat'
    """
    check_options(scopes, unknown_parents)
    place = file_path(path)
    terms = Terms(place.name, tuple(scopes), namespace)
    for graph in _list(place.name, _document(place.name, read_text(place)), "graphs"):
        _read_graph(place.name, graph, terms)
    return terms.taxonomy(unknown_parents, rooted)


def _document(name: str, text: str) -> dict[str, Any]:
    try:
        document = parsed_json(text)
    except json.JSONDecodeError as error:
        raise BadTaxonomy(f"{name}: line {error.lineno} is not valid JSON ({error.msg})") from None
    except ValueError as error:
        raise BadTaxonomy(f"{name}: not valid JSON ({error})") from None
    if not isinstance(document, dict) or "graphs" not in document:
        raise BadTaxonomy(f"{name}: not an OBO graph in JSON: it has no 'graphs'")
    return document


def _list(name: str, owner: dict[str, Any], key: str) -> list[dict[str, Any]]:
    """A list of objects in the document; anything else there is refused."""
    found = owner.get(key) or []
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise BadTaxonomy(f"{name}: not a valid OBO graph: {key!r} is not a list of objects")
    return found


def _text(name: str, owner: dict[str, Any], key: str) -> str:
    found = owner.get(key) or ""
    if not isinstance(found, str):
        raise BadTaxonomy(f"{name}: not a valid OBO graph: {key!r} is not text but {clip(str(found))}")
    return found.strip()


def _read_graph(name: str, graph: dict[str, Any], terms: Terms) -> None:
    links: dict[str, list[tuple[str, str]]] = {}
    for edge in _list(name, graph, "edges"):
        low, kind, high = (_text(name, edge, key) for key in ("sub", "pred", "obj"))
        links.setdefault(low, []).append((kind, high))
    meta = graph.get("meta")
    if isinstance(meta, dict):
        terms.version = terms.version or _text(name, meta, "version")
    for node in _list(name, graph, "nodes"):
        key, label, kind = (_text(name, node, k) for k in ("id", "lbl", "type"))
        if kind == "PROPERTY":
            terms.kinds[short_id(key)] = label
        elif kind in ("CLASS", "") and key:
            _read_node(name, key, label, node, links.get(key, []), terms)


def _read_node(
    name: str, key: str, label: str, node: dict[str, Any], links: Sequence[tuple[str, str]], terms: Terms
) -> None:
    meta = node.get("meta")
    meta = meta if isinstance(meta, dict) else {}
    synonyms: dict[str, list[str]] = {scope: [] for scope in SCOPES}
    for synonym in _list(name, meta, "synonyms"):
        scope = _text(name, synonym, "pred").removeprefix("has").removesuffix("Synonym").upper()
        synonyms.get(scope, []).append(_text(name, synonym, "val"))
    namespace, others = "", []
    for value in _list(name, meta, "basicPropertyValues"):
        if value.get("pred") == _NAMESPACE:
            namespace = _text(name, value, "val")
        elif value.get("pred") == _OTHER_ID:
            others.append(_text(name, value, "val"))
    terms.add(
        short_id(key),
        label=label,
        synonyms=synonyms,
        others=others,
        parents=[short_id(high) for kind, high in links if kind in _IS_A],
        links=[(short_id(kind), short_id(high)) for kind, high in links if kind not in _IS_A],
        namespace=namespace,
        obsolete=meta.get("deprecated") is True,
    )


LOADERS.add(
    "obo-graph",
    Loader(
        "obo-graph",
        "OBO graph in JSON",
        read_obo_graph,
        page="taxonomy-obo",
        content=lambda glance: (
            glance.text.startswith((b"{", b"[")) and b'"@' not in glance.text and b'"graphs"' in glance.text
        ),
    ),
)
