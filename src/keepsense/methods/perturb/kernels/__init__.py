"""Compiled loops of swapping and noise; each has an obvious reference in the tests."""
