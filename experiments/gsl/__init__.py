"""Hierarchies scored before anonymizing, and what anonymizing with them loses (Ayala-Rivera et al. 2017)."""
