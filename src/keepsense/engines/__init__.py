"""Where rows live: read, count, recode, map batches, write."""
