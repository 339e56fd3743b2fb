"""Risk: what an attacker finds in a released table, and the metrics of it."""
