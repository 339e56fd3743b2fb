"""Drafts: a table is inspected, and a project file is written for it."""
