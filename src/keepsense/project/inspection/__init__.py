"""What is in a table: kinds, roles and knowledge of its columns, told by names and values."""
