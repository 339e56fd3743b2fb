"""Numbers released as ranges of their own, which no hierarchy holds: what they may stand for."""

from __future__ import annotations

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.recoding import Cut, Cuts
from keepsense.utility.entropy_losses import kl_divergence
from keepsense.utility.query_error import Query, query_error
from keepsense.utility.recoded_table import column_pairs, leaf_sets

AGES = Hierarchy.of_rows(
    [(20, "20-30", "*"), (30, "20-30", "*"), (40, "40-50", "*"), (50, "40-50", "*")], kind="numeric"
)
COUNTS = Counts.of({"age": [20, 30, 30, 40, 50]})
RULE = Cuts((Cut("age", (20, 30, 40, 50), ("20-40", "20-40", "20-40", "*")),))


def test_a_range_stands_for_the_numbers_inside() -> None:
    found = leaf_sets(column_pairs(COUNTS, RULE)["age"], AGES)
    assert found.tolist() == [[True, True, True, False], [True, True, True, True]]


def test_queries_and_divergence_are_measured_on_ranges() -> None:
    # 4 records spread over 3 numbers, 1 over 4: 30 is expected in 4/3 + 1/4 records, and 2 have it
    found = query_error(COUNTS, RULE, {"age": AGES}, [Query({"age": frozenset({30})})])
    assert abs(found.mean - abs(4 / 3 + 1 / 4 - 2) / 2) < 1e-12
    assert kl_divergence(COUNTS, RULE, {"age": AGES}) > 0
