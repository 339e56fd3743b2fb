"""Clusters of near records at opposite ends of a table: what SRS-2, SRS-3 and groups are built on."""
