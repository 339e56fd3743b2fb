"""Lessons: a method run step by step on a small table, from the events that it emits."""
