"""Figures of a release: what it costs, its utility and its risk, for a job or for tables of another tool."""
