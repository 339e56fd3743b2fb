"""What stands on the page of an open table, a part a module."""
