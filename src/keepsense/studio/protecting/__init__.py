"""What the fourth step is made of: promises, the method, weights, and the full run."""
