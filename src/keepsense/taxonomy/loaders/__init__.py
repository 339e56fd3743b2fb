"""Loaders for everybody else's knowledge: one small module per format, and `read_taxonomy`, which finds the format."""

from keepsense.taxonomy.loaders.detect import FORMATS, find_format, read_taxonomy
from keepsense.taxonomy.loaders.icd import icd10cm
from keepsense.taxonomy.loaders.mesh import read_mesh
from keepsense.taxonomy.loaders.obo import read_obo
from keepsense.taxonomy.loaders.obo_graph import read_obo_graph
from keepsense.taxonomy.loaders.odp import read_open_directory
from keepsense.taxonomy.loaders.prefixes import read_prefixes
from keepsense.taxonomy.loaders.rdf import read_rdf
from keepsense.taxonomy.loaders.rf2 import read_snomed
from keepsense.taxonomy.loaders.tables import read_edges, read_nested, read_paths

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
