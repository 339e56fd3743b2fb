"""Generalization: three recoding templates and one small file per algorithm on top."""
