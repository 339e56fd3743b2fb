"""Loaders for everybody else's knowledge: one small module per format, and `read_taxonomy`, which finds the format."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepsense.taxonomy.loaders.detect import FORMATS as FORMATS
    from keepsense.taxonomy.loaders.detect import find_format as find_format
    from keepsense.taxonomy.loaders.detect import read_taxonomy as read_taxonomy
    from keepsense.taxonomy.loaders.icd import icd10cm as icd10cm
    from keepsense.taxonomy.loaders.mesh import read_mesh as read_mesh
    from keepsense.taxonomy.loaders.obo import read_obo as read_obo
    from keepsense.taxonomy.loaders.obo_graph import read_obo_graph as read_obo_graph
    from keepsense.taxonomy.loaders.odp import read_open_directory as read_open_directory
    from keepsense.taxonomy.loaders.prefixes import read_prefixes as read_prefixes
    from keepsense.taxonomy.loaders.rdf import read_rdf as read_rdf
    from keepsense.taxonomy.loaders.rf2 import read_snomed as read_snomed
    from keepsense.taxonomy.loaders.tables import read_edges as read_edges
    from keepsense.taxonomy.loaders.tables import read_nested as read_nested
    from keepsense.taxonomy.loaders.tables import read_paths as read_paths

# imported when they are first asked for: most people need one format, or none but the embedded WordNet
_PUBLIC = {
    "FORMATS": "detect",
    "find_format": "detect",
    "icd10cm": "icd",
    "read_edges": "tables",
    "read_mesh": "mesh",
    "read_nested": "tables",
    "read_obo": "obo",
    "read_obo_graph": "obo_graph",
    "read_open_directory": "odp",
    "read_paths": "tables",
    "read_prefixes": "prefixes",
    "read_rdf": "rdf",
    "read_snomed": "rf2",
    "read_taxonomy": "detect",
}
__all__ = [
    "FORMATS",
    "find_format",
    "icd10cm",
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
]


def __getattr__(name: str) -> Any:
    if name in _PUBLIC:
        return getattr(import_module(f"keepsense.taxonomy.loaders.{_PUBLIC[name]}"), name)
    raise AttributeError(f"module 'keepsense.taxonomy.loaders' has no attribute {name!r}")
