"""What local recoding is made of: compiled loops that group records at one node at a time."""
