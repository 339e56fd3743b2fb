"""What the templates are built of: the table in codes, what is asked, what is lost, and the ways through a lattice."""
