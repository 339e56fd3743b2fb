"""Sets of items: how columns of sets are read and written, and how far sets are from each other."""
