"""File formats and databases of tables: how each is read and written."""
