"""Loaders for everybody else's knowledge: one small module per format, and `read_taxonomy`, which finds the format."""
