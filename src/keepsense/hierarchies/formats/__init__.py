"""File formats of hierarchies: how each is read and written."""
