"""Inner parts of greedy cell recoding."""
