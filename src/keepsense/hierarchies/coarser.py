"""A hierarchy of values that were made coarser already: what lies above the labels that took their place."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Value
from keepsense.hierarchies.core import UNKNOWN, Hierarchy, assemble
from keepsense.hierarchies.kinds import KINDS
from keepsense.hierarchies.sizes import positions
from keepsense.recoding import SUPPRESSED


def coarser(hierarchy: Hierarchy, outputs: Mapping[Value, Value]) -> Hierarchy:
    """The hierarchy over what its leaves became: a label's way up is that of all values it stands for together.

    Where these part at a level, the label of the lowest level at which they meet stands in its place: it is true of
    all of them. Levels that say nothing new are left out. Leaves without an output are left out, too. Labels of numbers
    and dates keep their order, and nothing else of what those are.

    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*"), ("clerk", "office", "*")])
    >>> coarser(jobs, {"nurse": "medic", "surgeon": "medic", "clerk": "clerk"}).rows()
    [('medic', 'medic', '*'), ('clerk', 'office', '*')]
    >>> coarser(jobs, {"nurse": "medic", "surgeon": "medic", "clerk": "office"}).rows()
    [('medic', '*'), ('office', '*')]
    """
    members: dict[Value, list[int]] = {}
    changed = any(outputs.get(leaf, leaf) != leaf for leaf in hierarchy.leaves)
    for leaf, row in zip(hierarchy.leaves, range(len(hierarchy.leaves)), strict=True):
        if leaf in outputs:
            members.setdefault(outputs[leaf], []).append(row)
    if changed and KINDS[hierarchy.kind].ordered:
        place_of = positions(hierarchy)
        members = dict(sorted(members.items(), key=lambda item: _first(place_of, item[1])))
    names = list(members)
    nodes = [(level, code) for level, labels in enumerate(hierarchy.labels) for code in range(len(labels))]
    place = {node: i for i, node in enumerate(nodes)}
    labels: list[Value] = [hierarchy.labels[level][code] for level, code in nodes]
    known = np.array([*(int(hierarchy.concept_codes(level)[code]) for level, code in nodes), UNKNOWN], dtype=np.int32)
    labels.append(SUPPRESSED)  # above hierarchies of several roots
    ways = np.array([_way(hierarchy, rows, place, name) for name, rows in members.items()], dtype=np.int64)
    own = [known[way[0]] if labels[way[0]] == name else UNKNOWN for name, way in zip(names, ways, strict=True)]
    telling = [
        level for level in range(ways.shape[1]) if any(labels[ways[i, level]] != name for i, name in enumerate(names))
    ]
    columns = [np.arange(len(names)), *(ways[:, level] for level in telling)]
    return assemble(
        hierarchy.name,
        np.stack(columns, axis=1),
        [names, *(labels for _ in telling)],
        kind="ordinal" if changed and KINDS[hierarchy.kind].ordered else hierarchy.kind,
        concepts=None if hierarchy.concepts is None else [np.array(own, dtype=np.int32), *(known for _ in telling)],
        info=hierarchy.info,
    )


def _first(place_of: Floats, rows: list[int]) -> float:
    """Where the lowest of some leaves lies; what lies nowhere, such as a missing cell, goes last."""
    places = place_of[rows]
    known = places[np.isfinite(places)]
    return float(known.min()) if len(known) else np.inf


def _way(hierarchy: Hierarchy, rows: list[int], place: Mapping[tuple[int, int], int], name: Value) -> list[int]:
    """What stands at each level above the leaves for some of them together: where they meet, at that level or above.

    Below the level whose label they have already nothing is known of them any more.
    """
    meets: list[int] = []
    beyond = len(place)
    for level in range(hierarchy.height, 0, -1):
        codes = np.unique(hierarchy.codes[rows, level])
        beyond = place[(level, int(codes[0]))] if len(codes) == 1 else beyond
        meets.append(beyond)
        if len(codes) == 1 and hierarchy.labels[level][codes[0]] == name:
            meets += [beyond] * (level - 1)
            break
    return meets[::-1] or [len(place)]
