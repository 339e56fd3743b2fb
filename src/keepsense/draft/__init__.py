"""From a table to a project file."""
