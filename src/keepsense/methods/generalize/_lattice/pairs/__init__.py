"""What single columns and pairs of columns rule out."""
