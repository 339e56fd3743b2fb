"""Levels of the hierarchies, numbered and packed for the compiled loops."""
