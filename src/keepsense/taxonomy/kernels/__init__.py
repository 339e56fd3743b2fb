"""Compiled loops over taxonomies."""
