"""What things mean: taxonomies, the loaders that read them, the embedded WordNet, and text mapped onto concepts."""

from keepsense.taxonomy.build import from_arrays, from_edges
from keepsense.taxonomy.core import Concept, Taxonomy
from keepsense.taxonomy.glosses import explain, gloss, gloss_words
from keepsense.taxonomy.join import join
from keepsense.taxonomy.loaders import (
    icd10cm,
    read_edges,
    read_mesh,
    read_nested,
    read_obo,
    read_obo_graph,
    read_open_directory,
    read_paths,
    read_prefixes,
    read_rdf,
    read_snomed,
    read_taxonomy,
)
from keepsense.taxonomy.mapper import map_values
from keepsense.taxonomy.mapping import Mapping
from keepsense.taxonomy.wn_package import load_wn
from keepsense.taxonomy.wndb import load_wndb
from keepsense.taxonomy.wordnet import exceptions, wordnet

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
