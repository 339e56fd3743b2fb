"""The mapping tables of the experiments name concepts that exist and cover every value of their columns."""

from __future__ import annotations

from pathlib import Path

import pytest
from experiments.gsl.columns import HERE, columns, mapping_table

from keepsense.hierarchies.hierarchy_checks import check
from keepsense.taxonomy.embedded_taxonomies import wordnet

TABLES = sorted(path.stem for path in (HERE / "mappings").glob("*.csv"))


@pytest.mark.parametrize("name", TABLES)
def test_every_concept_of_a_table_exists(name: str) -> None:
    table = mapping_table(name)
    assert table
    assert [concept for concept in table.values() if wordnet().get(concept) is None] == []


@pytest.mark.data
def test_every_value_of_every_column_has_a_concept_and_a_hierarchy(shared_data: Path) -> None:
    found = list(columns(shared_data))
    assert len(found) == 14
    for column in found:
        assert column.senses.unknown == ()
        ideal = column.ideal()
        assert ideal.height >= 5
        assert [f for f in check(ideal, column.counts) if f.is_error] == []
    sizes = {column.label: len(column.counts) for column in found}
    assert sizes["A7"] == 14
    assert (sizes["I3"], sizes["I4"], sizes["I5"], sizes["I6"]) == (60, 29, 40, 32)
