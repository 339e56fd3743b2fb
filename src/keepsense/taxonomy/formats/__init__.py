"""Formats of taxonomies: one module each, and `read_taxonomy`, which detects the format."""
