"""The machinery behind lattice search; the public names are in `keepsense.methods.generalize.lattice` and beside it."""
