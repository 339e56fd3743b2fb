"""What things mean: taxonomies, the loaders that read them, the embedded WordNet, and text mapped onto concepts."""
