"""Reuse of a recoding: next month's table by the rules of an earlier release."""
