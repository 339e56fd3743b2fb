"""Hierarchies in files, one module a format."""
