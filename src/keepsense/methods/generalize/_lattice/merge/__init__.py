"""Merging classes of a table into those of a more general one."""
