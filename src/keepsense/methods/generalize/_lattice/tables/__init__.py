"""Class tables of lattice nodes: packed, stored side by side, rolled up from one another."""
