"""Microaggregation of records and of sets."""
