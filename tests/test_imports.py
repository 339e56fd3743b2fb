"""Imports point one way: no module needs, through others, itself; imports inside functions count too."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

import grimp
import pytest

UNTANGLING = (
    "hierarchies.",
    "engines.",
    "methods.generalize.",
    "privacy._audit",
    "release.techniques",
    "taxonomy.",
    "utility.basis",
)
"""Rooms that are being untangled: a cycle through one of these is not held against others yet."""


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


@pytest.mark.parametrize("types", [False, True])
def test_no_module_imports_itself_through_others(types: bool) -> None:
    found = list(cycles(_edges(types=types)))
    known = tuple(f"keepsense.{start}" for start in UNTANGLING)
    assert not [" <- ".join(cycle) for cycle in found if not any(module.startswith(known) for module in cycle)]


def test_a_cycle_would_be_found() -> None:
    assert len(list(cycles({"a": {"b"}, "b": {"c"}, "c": {"a"}}))) == 1
