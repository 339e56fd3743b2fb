"""Generalization: three recoding templates, and one small file a method on top of them.

| template | module | methods |
|---|---|---|
| table recoding (TR) | `table` | `datafly`, `semantic_datafly`, `mu_argus`, `bottom_up`, `top_down` |
| lattice recoding (LR) | `lattice` | `samarati`, `incognito`, `semantic_incognito`, `optimal`, `anytime` |
| multidimensional recoding (MR) | `multidim` | `mondrian` and its variants for a target or for meaning |
| cell by cell | - | `local_recoding`, `cell_greedy`, `local_suppression`, `optimal_local_suppression` |
| from a sample | - | `differentially_private_generalization` |
| before a method | - | `global_recoding`, `sampling`, `top_and_bottom_coding` |

All take `(counts, hierarchies, models, *, ...)`; `k` is short for k-anonymity. What else is known of each stands in the
`Method` beside it: `keepsense.methods.registry`.

>>> from keepsense.counts import Counts
>>> sorted(set(mondrian(Counts.of({"age": [31, 35, 40, 44]}), k=2).values[0]))
['40 or more', 'under 40']
"""

# The functions are imported last, so that each name below is the function and not the module of the same name.
from keepsense.methods.generalize.anytime import anytime
from keepsense.methods.generalize.bottom_up import bottom_up
from keepsense.methods.generalize.by_hand import global_recoding
from keepsense.methods.generalize.cell_greedy import cell_greedy
from keepsense.methods.generalize.coding import top_and_bottom_coding
from keepsense.methods.generalize.datafly import datafly
from keepsense.methods.generalize.incognito import incognito
from keepsense.methods.generalize.infogain_mondrian import infogain_mondrian
from keepsense.methods.generalize.local import local_recoding
from keepsense.methods.generalize.local_suppression import local_suppression
from keepsense.methods.generalize.lsd_mondrian import lsd_mondrian
from keepsense.methods.generalize.mondrian import mondrian
from keepsense.methods.generalize.mu_argus import mu_argus
from keepsense.methods.generalize.optimal import optimal
from keepsense.methods.generalize.optimal_suppression import optimal_local_suppression
from keepsense.methods.generalize.safe import differentially_private_generalization
from keepsense.methods.generalize.samarati import samarati
from keepsense.methods.generalize.sampling import sampling
from keepsense.methods.generalize.semantic_datafly import semantic_datafly
from keepsense.methods.generalize.semantic_incognito import semantic_incognito
from keepsense.methods.generalize.semantic_mondrian import semantic_mondrian
from keepsense.methods.generalize.top_down import top_down

__all__ = [
    "anytime", "bottom_up", "cell_greedy", "datafly", "differentially_private_generalization", "global_recoding",
    "incognito", "infogain_mondrian", "local_recoding", "local_suppression", "lsd_mondrian", "mondrian", "mu_argus",
    "optimal", "optimal_local_suppression", "samarati", "sampling", "semantic_datafly", "semantic_incognito",
    "semantic_mondrian", "top_and_bottom_coding", "top_down",
]  # fmt: skip
