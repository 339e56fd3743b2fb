"""What things mean: taxonomies, the loaders that read them, the embedded WordNet, and text mapped onto concepts."""

from keepsense.lazy import attach

__getattr__, __all__ = attach(__name__)
