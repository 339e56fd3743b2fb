"""What stands on the page Explore, a part a module."""
