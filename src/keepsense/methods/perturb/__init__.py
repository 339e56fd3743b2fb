"""Perturbation: methods that exchange, distort or redraw values: rank swapping, noise, PRAM, differential privacy.

| what | function | promise |
|---|---|---|
| words and numbers by rank (SRS-2) | `rank_swapping` | columns keep their values and counts |
| SRS-1, SRS-3, numbers | `rank_swapping_by_one_ranking`, `..._of_tuples`, `..._of_numbers` | the same |
| groups of k | `strict_rank_swapping`, verified by `check_groups` | probabilistic k-anonymity |
| SNA-1, SNA-2, SNA-3 | `noise`, `correlated_noise`, `noise_on_streams` | none: noise in proportion |
| noise on numbers and sets | `noise_on_numbers`, `noise_on_sets` | none |
| PRAM | `post_randomization`; `pram`, `made_invariant`, `draw`, `estimate` | a published matrix |
| differential privacy | `differential_privacy` and one method a mechanism | epsilon |
| its parts, under a `Budget` | `release_words`, `release_categories`, `release_numbers`, `noisy_means` | epsilon |
| baselines | `swap_freely`, `distort_naively`, `distort_by_frequency` | none |

All methods take `(counts, columns, models, *, ...)`, columns being what each means: `Nominal`, `Ordered`, `Sets`.
"""
