"""Microaggregation of records and of sets, and the truthful generalization of sets beside it."""
