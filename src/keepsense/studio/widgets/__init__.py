"""What pages of the studio are made of."""
