"""Parts of step four: promises, the method, weights, and the full run."""
