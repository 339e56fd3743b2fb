"""Rows on one machine, in DuckDB."""
