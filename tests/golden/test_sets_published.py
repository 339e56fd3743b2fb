"""Published numbers about sets."""

from __future__ import annotations

import pytest

from keepsense.arrays import Rows
from keepsense.semantics.distance import distance
from keepsense.sets.item_distances import ItemDistances
from keepsense.sets.set_distance import SetSpace, set_distance
from keepsense.taxonomy.taxonomy_builder import from_edges

pytestmark = pytest.mark.golden


def test_swimming_windsurfing_and_the_mediterranean() -> None:
    """Batet et al. 2014, Sec. 3.1.1: swimming and windsurfing are 0.5 apart (Eq. 1), the two records 0.25 (Eq. 5)."""
    links = [("Swimming", "Water Sports"), ("Windsurfing", "Water Sports"), ("Water Sports", "Sports")]
    sports = from_edges(links)
    # the example's two trees share no root, so everything in the other one is 1 away: as an opaque item is
    items = ItemDistances(distance("feature", sports), sports.codes(["Swimming", "Windsurfing"]), opaque=1)
    assert items.pair(0, 1) == 0.5
    assert set_distance("minimum-sum", items, [0, 2], [1, 2]) == 0.25
    assert SetSpace("minimum-sum", items, Rows.from_pairs([0, 0, 1, 1], [0, 2, 1, 2], 2)).from_record(0)[1] == 0.25
