"""Hierarchies constructed and evaluated automatically (Ayala-Rivera et al., AIKA)."""
