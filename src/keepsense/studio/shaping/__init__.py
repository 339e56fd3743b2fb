"""Parts of the page Hierarchies."""
