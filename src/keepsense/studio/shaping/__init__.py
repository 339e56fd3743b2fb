"""What stands on the page Hierarchies, a part a module."""
