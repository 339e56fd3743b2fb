"""Lattices of subsets of the columns, as Incognito walks them."""
