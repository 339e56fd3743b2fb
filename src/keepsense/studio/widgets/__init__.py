"""Widgets: what the pages of the studio are made of."""
