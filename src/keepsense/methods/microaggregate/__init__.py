"""Microaggregation: records are grouped, and replaced by the centre of their group."""
