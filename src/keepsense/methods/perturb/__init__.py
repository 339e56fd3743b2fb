"""Methods that exchange, distort or redraw values: rank swapping, noise, PRAM, differential privacy.

| what | function | promise |
|---|---|---|
| SRS-1, SRS-2, SRS-3 | `swap_by_ranking`, `swap_by_clusters`, `swap_tuples` | columns keep their values and counts |
| groups of k | `swap_in_groups`, verified by `check_groups` | probabilistic k-anonymity |
| rank swapping of numbers | `swap_numbers` | columns keep their values and counts |
| SNA-1, SNA-2, SNA-3 | `add_noise`, `add_correlated_noise`, `NoiseStream` | none: noise in proportion |
| noise on numbers and sets | `add_noise_to_numbers`, `add_noise_to_sets` | none |
| a table of all kinds | `perturb` | as the method it names |
| PRAM | `pram`, `invariant`, `draw`, `estimate` | a published matrix |
| differential privacy, records | `release_words`, `release_categories`, `release_numbers` | epsilon |
| differential privacy, counts | `noisy_count`, `noisy_histogram`, `noisy_means` | epsilon |
| baselines | `swap_freely`, `distort_naively`, `distort_by_frequency` | none |
"""

from keepsense.methods.perturb.baselines import distort_by_frequency, distort_naively, swap_freely
from keepsense.methods.perturb.dp import (
    Budget,
    exponential_matrix,
    randomized_response,
    release_categories,
    release_words,
)
from keepsense.methods.perturb.dp_numbers import noisy_count, noisy_histogram, noisy_means, release_numbers
from keepsense.methods.perturb.edits import Edit, broken, mend
from keepsense.methods.perturb.mixed import join, perturb
from keepsense.methods.perturb.noise import add_noise
from keepsense.methods.perturb.noise_correlated import add_correlated_noise
from keepsense.methods.perturb.noise_numeric import add_noise_to_numbers
from keepsense.methods.perturb.pram import draw, estimate, invariant, pram
from keepsense.methods.perturb.sets import Sets, add_noise_to_sets
from keepsense.methods.perturb.stream import NoiseStream
from keepsense.methods.perturb.strict import check_groups, swap_in_groups
from keepsense.methods.perturb.swap import swap_by_clusters, swap_by_ranking
from keepsense.methods.perturb.swap_numeric import swap_numbers
from keepsense.methods.perturb.swap_tuples import swap_tuples

__all__ = [
    "Budget",
    "Edit",
    "NoiseStream",
    "Sets",
    "add_correlated_noise",
    "add_noise",
    "add_noise_to_numbers",
    "add_noise_to_sets",
    "broken",
    "check_groups",
    "distort_by_frequency",
    "distort_naively",
    "draw",
    "estimate",
    "exponential_matrix",
    "invariant",
    "join",
    "mend",
    "noisy_count",
    "noisy_histogram",
    "noisy_means",
    "perturb",
    "pram",
    "randomized_response",
    "release_categories",
    "release_numbers",
    "release_words",
    "swap_by_clusters",
    "swap_by_ranking",
    "swap_freely",
    "swap_in_groups",
    "swap_numbers",
    "swap_tuples",
]
