"""What searching loops work on, whether compiled or not: packed levels, losses, class tables and nodes, as arrays.

A class table holds the equivalence classes of one lattice node: packed keys (one bit field per column, in one or more
64-bit words), weights, and for distinct l-diversity the set of sensitive values seen in each class, as bits. A level
one above a column's top stands for "column left out", which is how projections are written.
"""

from __future__ import annotations

from typing import Any, NamedTuple

LARGE = 1 << 16
"""Classes from which on a table is merged part by part."""

SUM, GEOMETRIC, SQUARES, DISCERNIBILITY, CLASS_SIZE = 0, 1, 2, 3, 4
"""Kinds of objective; see `Objective.kind`."""

UNKNOWN, HOLDS, HOLDS_TAGGED, FAILS, FAILS_TAGGED = 0, 1, 2, 3, 4
"""What is known of a node."""


class Nodes(NamedTuple):
    """What is known of every node: its loss without suppression, a lower bound of its loss, its status.

    `order` lists the nodes worth looking at by loss; `best` holds the best value so far and the entropy around which
    nodes began to hold; `place` the position in `order`, the best node (or -1), the number of checks and the position
    of the classification.
    """

    strides: Any
    base: Any
    bound: Any
    status: Any
    order: Any
    best: Any
    place: Any


class Levels(NamedTuple):
    """Packed form of the hierarchies: code counts, bit fields, tables that lift a code to a higher level, entropies.

    `entropy[j, l]` says, in bits, how finely column j splits the records at level l.
    """

    heights: Any
    sizes: Any
    word: Any
    shift: Any
    mask: Any
    up: Any
    up_at: Any
    entropy: Any


class Losses(NamedTuple):
    """Tables of a separable measure: loss of a code (or, if `leafwise`, of an original value) at each level."""

    kind: int
    leafwise: bool
    table: Any
    at: Any
    worst: Any
    worst_at: Any


class Store(NamedTuple):
    """Class tables side by side in one arena; table 0 is the table of distinct tuples.

    Table t takes `length[t]` places from `first[t]` on; `level[t]` is its node, `rank` orders the tables by length.
    `fill` counts tables, used places and merged classes; the rest are buffers of the roll-up.
    """

    keys: Any
    weights: Any
    seen: Any
    first: Any
    length: Any
    level: Any
    rank: Any
    fill: Any
    slot: Any
    target: Any
    bad: Any
    spare: Any
    rows: Any


class Goal(NamedTuple):
    """What is asked of a class: k records and `need[s]` different values of each sensitive column.

    The values of sensitive column s are bits of the words from `need_at[s]` on.
    """

    k: int
    limit: int
    total: int
    need: Any
    need_at: Any
