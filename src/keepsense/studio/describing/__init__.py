"""Parts of the page of an open table."""
