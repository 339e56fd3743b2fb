"""Releases: one path from a project to a verified release, with its job, figures, folder and reuse."""
