"""Intervals: how they are spelled, read, joined and computed with."""
