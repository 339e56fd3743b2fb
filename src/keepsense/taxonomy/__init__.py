"""Taxonomies: what words mean, and how texts are mapped onto concepts."""
