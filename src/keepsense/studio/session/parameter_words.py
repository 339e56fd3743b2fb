"""Names of parameters of methods and promises as people read them, and what each does, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Told(NamedTuple):
    """The label of a field, and what the parameter does.

    >>> METHODS["exchange"].label
    'Exchange records'
    """

    label: str
    about: str


_SOONER = "The search ends then with the best that it has found; empty lets it go on to the end."

METHODS: Mapping[str, Told] = {
    "alpha": Told("Strength (alpha)", "How strong the noise is, beside how much values vary: more protects better."),
    "among": Told("Words to draw from", "All words of the taxonomy, or only leaves: those with nothing below them."),
    "anonymity": Told(
        "What protection counts", "Gained protection is measured by the smallest class, or by how many are at risk."
    ),
    "beneficial": Told("Only useful steps", "A branch is opened only where records with different targets are below."),
    "block": Told("Compared at a time", "How many are compared with one another: more takes longer and loses less."),
    "candidates": Told(
        "What stands for a group", "One of the group's own values, or with subsumers also something more general."
    ),
    "classify": Told("Judge every choice", "Judges all choices of levels, more than finding the best takes."),
    "correlated": Told("Columns together", "Errors of all columns are drawn together: what goes together still does."),
    "decimals": Told("Decimal places", "How many decimal places numbers keep; empty: as many as the column has."),
    "delta": Told("Chance of failing (delta)", "The chance that the promise does not hold: less protects better."),
    "epsilon": Told("Privacy spent (epsilon)", "How much may be learnt about any one person: less protects better."),
    "exchange": Told(
        "Exchange records",
        "After the cuts, records change places between groups where more detail is kept and every promise still holds.",
    ),
    "how": Told(
        "How groups come closer", "How groups come closer to the whole table: they merge, swap records, or are spread."
    ),
    "invariant": Told("Counts stay right", "Chances are made so that counts of the release need no correction."),
    "k": Told(
        "Taken together (k)", "How many records share a value, or how far a rank may move: more protects better."
    ),
    "keep": Told("Chance to stay (keep)", "The chance that a value stays as it is: less protects better."),
    "m": Told("Items known (m)", "How many items of a person's set somebody may know."),
    "most": Told(
        "Records in a cluster", "About how many records are taken apart together; empty: twice k, at least 30."
    ),
    "most_nodes": Told("Steps at most", f"How many steps a search may take. {_SOONER}"),
    "near": Told("Pull of nearness", "How much likelier values near in meaning are drawn than others."),
    "order": Told(
        "Which column is cut", "The one in which a group spreads widest, or the given one: the first, then the next."
    ),
    "percent": Told("Reach in percent", "How far a rank may move, in percent of the rows; in place of k."),
    "reference": Told(
        "Measured from", "Noise moves a value to or from the mean, its partner in another column, or the root."
    ),
    "relaxed": Told("Even halves", "Records of the middle value are shared out evenly; keeps promises about k alone."),
    "rounds": Told("Rounds", "How often records move to groups in which they lose less: more takes longer."),
    "rows_per_person": Told("Rows of a person", "How many rows one person may have at most: each costs privacy."),
    "rule": Told(
        "Partner of an exchange", "Drawn inside an interval of ranks, by a normal shift, or from other buckets."
    ),
    "seconds": Told("Seconds at most", f"How long a search may take. {_SOONER}"),
    "sizes": Told("Size of sets", "Released sets are about as large as usual in their group, or of any size."),
    "squared": Told("Squared distances", "Judges by squared distances in meaning: large changes count more."),
    "strict": Told(
        "Leave out whole records", "Records in groups below k are left out whole, so that the promise holds."
    ),
    "t": Told("Distance at most (t)", "How far a group may be from the whole table in sensitive values."),
    "ties": Told("Where several are as near", "One is drawn at random, or the first of the taxonomy is taken."),
    "time_limit": Told("Seconds at most", f"How long a search may take. {_SOONER}"),
    "together": Told("Whole records", "Groups are made of whole records; else every column has groups of its own."),
}
"""By the names that methods have for them."""

PROMISES: Mapping[str, str] = {
    "alpha": "Share at most (alpha)",
    "beta": "Excess at most (beta)",
    "c": "Share at most (c)",
    "delta": "At most (delta)",
    "epsilon": "Privacy spent (epsilon)",
    "fraction": "Share in the table",
    "k": "People (k)",
    "l": "Different values (l)",
    "lower": "Chance at least",
    "m": "Items known (m)",
    "t": "Distance at most (t)",
    "threshold": "At most (threshold)",
    "upper": "Chance at most",
}
"""Labels of what promises hold, by the names that project files have for them."""
