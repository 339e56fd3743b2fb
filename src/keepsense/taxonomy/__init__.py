"""What things mean: taxonomies, the loaders that read them, the embedded WordNet, and text mapped onto concepts."""

from keepsense.taxonomy.build import from_arrays, from_edges
from keepsense.taxonomy.core import Concept, Taxonomy

__all__ = ["Concept", "Taxonomy", "from_arrays", "from_edges"]
