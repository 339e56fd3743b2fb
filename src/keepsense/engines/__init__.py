"""Engines: where rows live, and how they are read, counted, recoded and written."""
