"""Which method and why: the catalogue of techniques, advice, step-by-step traces."""
