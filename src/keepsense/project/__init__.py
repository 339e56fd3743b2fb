"""Projects: the project file, its roles and columns, and what the values of columns mean."""
