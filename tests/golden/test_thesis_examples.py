"""Worked examples of Rodríguez-García 2017 that can be repeated from the text alone."""

from __future__ import annotations

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.semantics.attribute import nominal
from keepsense.semantics.semantic_operators import closeness_ranks, most_distant_value
from keepsense.taxonomy.taxonomy_builder import from_edges

pytestmark = pytest.mark.golden

# The figure is not in the text; this arrangement of its eight diseases is the one that fits all it says of Fig. 5-1.
DISEASES = from_edges(
    [
        ("neuropathy", "disorder of nervous system"),
        ("coma", "disorder of nervous system"),
        ("neurological varicella", "disorder of nervous system"),
        ("hepatic coma", "coma"),
        ("hypoglycemic coma", "coma"),
        ("herpes zoster ophthalmicus", "neurological varicella"),
        ("herpes zoster auricularis", "neurological varicella"),
    ]
)
COUNTS = Counts.of({"disease": list(DISEASES.ids)})


def test_figure_5_1_most_distant_value_and_its_ranking() -> None:
    column = nominal(COUNTS, "disease", DISEASES)
    (most,) = most_distant_value(column)
    assert column.values[most] == "neuropathy"
    printed = [
        "neuropathy",
        "disorder of nervous system",
        "coma",
        "neurological varicella",
        "hypoglycemic coma",
        "hepatic coma",
        "herpes zoster auricularis",
        "herpes zoster ophthalmicus",
    ]
    ranks = dict(zip(column.values, closeness_ranks(column, most).tolist(), strict=True))
    assert (np.diff([ranks[name] for name in printed]) >= 0).all()
    assert [ranks[name] for name in printed[:3]] == [0, 1, 2]


def test_section_5_3_distance_of_hepatic_coma_and_herpes_zoster() -> None:
    column = nominal(COUNTS, "disease", DISEASES)
    at = column.values.index("hepatic coma")
    assert column.row(at)[column.values.index("herpes zoster ophthalmicus")] == pytest.approx(0.67, abs=0.005)


def test_section_4_7_two_comas_are_equally_near_to_coma() -> None:
    column = nominal(COUNTS, "disease", DISEASES)
    ranks = closeness_ranks(column, column.values.index("coma"))
    assert ranks[column.values.index("hepatic coma")] == ranks[column.values.index("hypoglycemic coma")]
