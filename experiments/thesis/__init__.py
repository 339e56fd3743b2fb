"""Rodríguez-García 2017, Chapter 7: semantic rank swapping and noise on hospital encounters."""
