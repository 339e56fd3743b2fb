"""Perturbation: swapping, noise, randomized response."""
