"""Table 3 of Ayala-Rivera et al. 2017: all 24 transition scores, three level scores and the total, to four digits."""

from __future__ import annotations

import numpy as np
import pytest

from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_scores import score
from keepsense.hierarchies.word_concepts import with_concepts
from keepsense.semantics.distance import distance
from keepsense.taxonomy.embedded_taxonomies import wordnet

ROWS = [
    ("math teacher", "teacher", "education", "occupation"),
    ("music teacher", "teacher", "education", "occupation"),
    ("surgeon", "medical practitioner", "doctor", "occupation"),
    ("ophthalmologist", "medical practitioner", "doctor", "occupation"),
    ("optician", "medical practitioner", "doctor", "occupation"),
    ("optometrist", "medical practitioner", "doctor", "occupation"),
    ("tamer", "animal trainer", "trainer", "occupation"),
    ("baseball coach", "coach", "trainer", "occupation"),
]
SENSES = {label: f"{label}#1" for row in ROWS for label in row} | {"education": "education#4"}
TABLE = [
    [0.0400, 0.8261, 0.8095],
    [0.0400, 0.8261, 0.8095],
    [0.0769, 0.0370, 0.8182],
    [0.1111, 0.0714, 0.8261],
    [0.3043, 0.3333, 0.7895],
    [0.3043, 0.3333, 0.7895],
    [0.0435, 0.0909, 0.8000],
    [0.0435, 0.0909, 0.8000],
]


@pytest.fixture(scope="module")
def occupation() -> Hierarchy:
    return with_concepts(Hierarchy.of_rows(ROWS, name="occupation"), wordnet(), senses=SENSES)


@pytest.mark.golden
def test_table_3(occupation: Hierarchy) -> None:
    result = score(occupation, distance("wu-palmer", wordnet(), convention="depth"))
    assert result.transitions.shape == (8, 3)
    np.testing.assert_array_equal(result.transitions.round(4), TABLE)
    assert result.levels.round(4).tolist() == [0.1205, 0.3261, 0.8053]
    assert round(result.total, 4) == 0.4173
    assert result.grade == "moderate"


@pytest.mark.golden
def test_the_maximum_of_each_level_is_that_of_the_table(occupation: Hierarchy) -> None:
    result = score(occupation, distance("wu-palmer", wordnet(), convention="depth"), aggregate="maximum")
    assert result.levels.round(4).tolist() == np.max(TABLE, axis=0).tolist()
