"""Batet, Erola, Sánchez and Castellà-Roca 2014: semantic anonymisation of set-valued data."""
