"""Kinds of values: one module for each, with the hierarchies that its values get."""
