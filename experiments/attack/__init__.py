"""Attacks on releases of real tables: linkage, linkability, inference, singling out (Giomi et al. 2023)."""
