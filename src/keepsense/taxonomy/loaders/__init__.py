"""Loaders for everybody else's knowledge: one small module per format, and `read_taxonomy`, which finds the format."""

from keepsense.lazy import attach

__getattr__, __all__ = attach(__name__)
