"""Generalization: three recoding templates, and one module a method on top of them.

| template | module | methods |
|---|---|---|
| table recoding (TR) | `table_template` | `datafly`, `semantic_datafly`, `mu_argus`, `bottom_up`, `top_down` |
| lattice recoding (LR) | `lattice_template` | `samarati`, `incognito`, `semantic_incognito`, `optimal`, `anytime` |
| multidimensional recoding (MR) | `multidimensional_template` | `mondrian`, and variants for a target or for meaning |
| cell by cell | - | `local_recoding`, `local_suppression` |
| from a sample | - | `dp_generalization` |
| before a method | - | `global_recoding`, `sampling`, `top_bottom_coding` |

All take `(counts, hierarchies, models, *, ...)`; `k` is short for k-anonymity. All else about a method is in the
`Method` entry next to it: `keepsense.methods.method`.

>>> from keepsense.methods.generalize.mondrian import mondrian
>>> from keepsense.counts import Counts
>>> sorted(set(mondrian(Counts.of({"age": [31, 35, 40, 44]}), k=2).values[0]))
['40 or more', 'under 40']
"""
