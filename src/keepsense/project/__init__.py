"""What the publisher wants: the project file, its schema, and a first look at a table."""
