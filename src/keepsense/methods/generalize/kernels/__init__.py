"""Compiled loops of the generalization algorithms; each has an obvious reference in the tests."""
