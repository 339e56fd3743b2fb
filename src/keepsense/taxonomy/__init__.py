"""What things mean: taxonomies, the loaders that read them, the embedded WordNet, and text mapped onto concepts."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from keepsense.taxonomy.build import from_arrays, from_edges
from keepsense.taxonomy.core import Concept, Taxonomy
from keepsense.taxonomy.glosses import explain, gloss, gloss_words
from keepsense.taxonomy.join import join
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.mapping import Mapping
from keepsense.taxonomy.wordnet import exceptions, wordnet

if TYPE_CHECKING:
    from keepsense.taxonomy.loaders import icd10cm as icd10cm
    from keepsense.taxonomy.loaders import read_edges as read_edges
    from keepsense.taxonomy.loaders import read_mesh as read_mesh
    from keepsense.taxonomy.loaders import read_nested as read_nested
    from keepsense.taxonomy.loaders import read_obo as read_obo
    from keepsense.taxonomy.loaders import read_obo_graph as read_obo_graph
    from keepsense.taxonomy.loaders import read_open_directory as read_open_directory
    from keepsense.taxonomy.loaders import read_paths as read_paths
    from keepsense.taxonomy.loaders import read_prefixes as read_prefixes
    from keepsense.taxonomy.loaders import read_rdf as read_rdf
    from keepsense.taxonomy.loaders import read_snomed as read_snomed
    from keepsense.taxonomy.loaders import read_taxonomy as read_taxonomy
    from keepsense.taxonomy.wn_package import load_wn as load_wn
    from keepsense.taxonomy.wndb import load_wndb as load_wndb

# imported when they are first asked for: few people need more than one format
_LATER = {
    "icd10cm": "loaders",
    "read_edges": "loaders",
    "read_mesh": "loaders",
    "read_nested": "loaders",
    "read_obo": "loaders",
    "read_obo_graph": "loaders",
    "read_open_directory": "loaders",
    "read_paths": "loaders",
    "read_prefixes": "loaders",
    "read_rdf": "loaders",
    "read_snomed": "loaders",
    "read_taxonomy": "loaders",
    "load_wn": "wn_package",
    "load_wndb": "wndb",
}
__all__ = [
    "Concept",
    "Mapping",
    "Taxonomy",
    "exceptions",
    "explain",
    "from_arrays",
    "from_edges",
    "gloss",
    "gloss_words",
    "icd10cm",
    "join",
    "load_wn",
    "load_wndb",
    "map_values",
    "read_edges",
    "read_mesh",
    "read_nested",
    "read_obo",
    "read_obo_graph",
    "read_open_directory",
    "read_paths",
    "read_prefixes",
    "read_rdf",
    "read_snomed",
    "read_taxonomy",
    "wordnet",
]


def __getattr__(name: str) -> Any:
    if name in _LATER:
        return getattr(import_module(f"keepsense.taxonomy.{_LATER[name]}"), name)
    raise AttributeError(f"module 'keepsense.taxonomy' has no attribute {name!r}")
