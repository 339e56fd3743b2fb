"""Compiled loops of microaggregation; each has an obvious reference in the tests."""
