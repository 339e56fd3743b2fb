"""Hierarchies of words from a taxonomy: the base hierarchy, its adjustments, and many candidates made of them."""
