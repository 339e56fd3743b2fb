"""Imports point one way: no module needs, through others, itself; imports inside functions count too."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import grimp

NAMED_FOR_TYPES = ("hierarchies.", "methods.generalize.", "taxonomy.")
"""Rooms whose modules may name each other for type checkers; when the program runs they do not import each other."""


def _edges(*, types: bool) -> dict[str, set[str]]:
    """Modules and what each imports; with `types` also what is imported for type checkers only."""
    graph = grimp.build_graph("keepsense", exclude_type_checking_imports=not types, cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def cycles(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    """One cycle after another, until none is left."""
    edges = {module: set(imported) for module, imported in edges.items()}
    while True:
        try:
            TopologicalSorter(edges).prepare()
        except CycleError as error:
            cycle = error.args[1]
            yield cycle
            edges[cycle[1]].discard(cycle[0])
        else:
            return


def test_no_module_imports_itself_through_others() -> None:
    assert not [" <- ".join(cycle) for cycle in cycles(_edges(types=False))]


def test_no_module_names_itself_through_others_for_type_checkers() -> None:
    rooms = tuple(f"keepsense.{room}" for room in NAMED_FOR_TYPES)
    assert not [" <- ".join(cycle) for cycle in cycles(_edges(types=True)) if not cycle[0].startswith(rooms)]


def test_a_cycle_would_be_found() -> None:
    assert len(list(cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}}))) == 1
