"""The cheapest node that earlier checks do not rule out."""
