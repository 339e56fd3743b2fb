"""Semantics: distances between concepts, and operators built on them: mean, variance, order, correlation."""
