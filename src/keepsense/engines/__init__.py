"""Where rows live: read, count, recode, write."""
