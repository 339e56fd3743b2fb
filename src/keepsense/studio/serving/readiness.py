"""What is loaded while a table is being chosen, so that the first preview does not wait for it."""

from __future__ import annotations


def make_ready() -> None:
    """Load the compiled loops of the method that drafts begin with; after an installation they are compiled here.

    To be called in a thread.

    >>> make_ready()
    """
    from keepsense.counts import Counts
    from keepsense.hierarchies.hierarchy import Hierarchy
    from keepsense.methods.generalize.semantic_mondrian import semantic_mondrian
    from keepsense.privacy.k_anonymity import KAnonymity
    from keepsense.privacy.l_diversity import DistinctDiversity

    jobs = Hierarchy.of_rows([("nurse", "*"), ("clerk", "*")], name="job")
    counts = Counts.of(
        {"job": ["nurse", "clerk"] * 20, "age": list(range(40))}, histograms={"illness": ["flu", "cold"] * 20}
    )
    semantic_mondrian(counts, {"job": jobs}, [KAnonymity(2), DistinctDiversity(2, "illness")])
