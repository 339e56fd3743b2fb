"""Deep taxonomies are walked a concept at a time, and come out as if they were walked a level at a time."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.errors import BadTaxonomy
from keepsense.taxonomy import taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges

LINKS = st.lists(st.tuples(st.integers(1, 25), st.integers(0, 24)), min_size=1, max_size=60)


@settings(max_examples=60, deadline=None)
@given(LINKS)
def test_both_walks_agree(links: list[tuple[int, int]]) -> None:
    edges = [(f"c{max(a, b)}", f"c{min(a, b)}") for a, b in links if a != b] or [("c1", "c0")]
    flat = from_edges(edges, join_roots=True)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(taxonomy, "_SHALLOW", 0)
        deep = from_edges(edges, join_roots=True)
    for name in ("order", "depth", "min_depth", "hyponym_counts", "leaf_counts"):
        assert getattr(flat, name).tolist() == getattr(deep, name).tolist(), name
    for concept in range(len(flat)):
        assert flat.hyponym_counts[concept] == len(flat.descendants(concept)) - 1


def test_a_cycle_far_down_is_named() -> None:
    edges = [(f"c{i + 1}", f"c{i}") for i in range(500)]
    with pytest.raises(BadTaxonomy, match="form a cycle"):
        from_edges([*edges, ("c400", "c450")])
