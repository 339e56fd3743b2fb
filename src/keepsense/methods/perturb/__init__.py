"""Methods that exchange, distort or redraw values: rank swapping, noise, PRAM, differential privacy.

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

# The functions are imported last, so that each name below is the function and not the module of the same name.
from keepsense.methods.edits import Edit, broken, mend
from keepsense.methods.perturb.baselines import distort_by_frequency, distort_naively, swap_freely
from keepsense.methods.perturb.dp import (
    Budget,
    exponential_matrix,
    release_categories,
    release_words,
    response_matrix,
)
from keepsense.methods.perturb.dp_numbers import noisy_count, noisy_histogram, noisy_means, release_numbers
from keepsense.methods.perturb.noise import correlated_noise, noise
from keepsense.methods.perturb.noise_numbers import noise_on_numbers
from keepsense.methods.perturb.pram import draw, estimate, made_invariant, post_randomization, pram
from keepsense.methods.perturb.private import (
    differential_privacy,
    noisy_numbers,
    randomized_response,
    semantic_exponential_mechanism,
)
from keepsense.methods.perturb.rank_swapping import rank_swapping
from keepsense.methods.perturb.sets import Sets, noise_on_sets
from keepsense.methods.perturb.stream import NoiseStream, noise_on_streams
from keepsense.methods.perturb.strict import check_groups, strict_rank_swapping
from keepsense.methods.perturb.swap import rank_swapping_by_one_ranking, swap_by_clusters
from keepsense.methods.perturb.swap_numbers import rank_swapping_of_numbers
from keepsense.methods.perturb.swap_tuples import rank_swapping_of_tuples
from keepsense.methods.records import join

__all__ = [
    "Budget", "Edit", "NoiseStream", "Sets", "broken", "check_groups", "correlated_noise", "differential_privacy",
    "distort_by_frequency", "distort_naively", "draw", "estimate", "exponential_matrix", "join", "made_invariant",
    "mend", "noise", "noise_on_numbers", "noise_on_sets", "noise_on_streams", "noisy_count", "noisy_histogram",
    "noisy_means", "noisy_numbers", "post_randomization", "pram", "randomized_response", "rank_swapping",
    "rank_swapping_by_one_ranking", "rank_swapping_of_numbers", "rank_swapping_of_tuples", "release_categories",
    "release_numbers", "release_words", "response_matrix", "semantic_exponential_mechanism", "strict_rank_swapping",
    "swap_by_clusters", "swap_freely",
]  # fmt: skip
