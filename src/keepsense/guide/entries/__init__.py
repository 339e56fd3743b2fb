"""The entries of the catalogue, one small module for each family of methods."""
