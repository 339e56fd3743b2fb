"""A project at work: what it reads, who its people are, which steps come first, and the rows recoded."""
