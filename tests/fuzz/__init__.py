"""Fuzzing of everything that reads bytes of strangers: `make fuzz`."""
