"""Walks through the lattice."""
