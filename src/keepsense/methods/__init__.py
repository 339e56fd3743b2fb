"""How data is changed: generalization, perturbation, aggregation."""
