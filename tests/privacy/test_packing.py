"""Rows of large files are grouped by whole numbers, rows of others by their texts: both find the same."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.engines.duckdb import sql as connections
from keepsense.engines.protocol import sql
from keepsense.errors import InternalError
from keepsense.verification import released_classes
from keepsense.verification.released_classes import Classes
from keepsense.verification.verifier import verify

CELLS = st.sampled_from(["a", "b", "it's", "", "*", None, "ä", "a b", "0"])
PROMISES = [
    {"model": "k-anonymity", "k": 2},
    {"model": "l-diversity", "form": "distinct", "l": 2, "column": "ill"},
    {"model": "l-diversity", "form": "entropy", "l": 1.5, "column": "ill"},
    {"model": "l-diversity", "form": "distinct", "l": 2, "column": "ill", "missing": "unknown"},
    {"model": "l-diversity", "form": "distinct", "l": 2, "column": "wage"},
    {"model": "l-diversity", "form": "distinct", "l": 2, "column": "ill", "beside": ["wage"]},
    {"model": "t-closeness", "t": 0.4, "column": "ill", "ground": "equal"},
]


@st.composite
def tables(draw):
    names = ["job", "town", "ill", "wage"]
    rows = draw(st.lists(st.tuples(*(CELLS for _ in names)), min_size=1, max_size=40))
    repeated = draw(st.integers(1, 3))
    return pa.table({name: pa.array([row[i] for row in rows] * repeated, pa.string()) for i, name in enumerate(names)})


@pytest.mark.parametrize("listed", [500, 0], ids=["listed", "of a type"])
@given(
    table=tables(),
    promises=st.lists(st.sampled_from(PROMISES), min_size=1, max_size=3),
    wild=st.booleans(),
    original=st.booleans(),
)
@settings(max_examples=25, deadline=None)
def test_numbers_and_texts_tell_the_same(tmp_path_factory, listed, table, promises, wild, original):
    path = tmp_path_factory.mktemp("packed") / "people.parquet"
    pq.write_table(table, path, row_group_size=7)

    def verified():
        return verify(
            path,
            promises,
            quasi_identifiers=["job", "town"],
            sensitive=["ill"],
            preserved=["ill", "wage"],
            original=table.select(["ill", "wage"]) if original else None,
            missing="wildcard" if wild else "category",
            suppression=0.1,
            show_values=True,
        )

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(released_classes, "LEAST_ROWS", 10**9)
        by_text = verified()
        patched.setattr(released_classes, "LEAST_ROWS", 1)
        patched.setattr(connections, "_LISTED", listed)
        by_number = verified()
    assert by_number == by_text


def test_classes_have_the_same_numbers_and_cells(tmp_path, monkeypatch):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"job": ["cook", None, "cook", "clerk"], "age": [30, 40, 30, None]}), path)
    tuples = []
    for least in (10**9, 1):
        monkeypatch.setattr(released_classes, "LEAST_ROWS", least)
        with sql() as connection:
            classes = Classes(connection, {"released": connection.table("released", path)}, ["job", "age"])
            tuples.append(connection.run(f"SELECT class_, c0, c1, own FROM {classes.tuples} ORDER BY class_"))
    assert tuples[0] == tuples[1]
    assert len(tuples[0]) == 3


@pytest.mark.parametrize("values", [61, 62, 63, 125, 248, 249])
def test_as_many_values_are_different_as_there_are(tmp_path, monkeypatch, values):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"job": ["cook"] * values + ["clerk"], "ill": [*map(str, range(values)), "0"]}), path)
    monkeypatch.setattr(released_classes, "LEAST_ROWS", 1)
    for least, holds in ((1, True), (2, False)):
        promise = {"model": "l-diversity", "form": "distinct", "l": least, "column": "ill"}
        checked = verify(path, [promise], quasi_identifiers=["job"]).checks[0]
        assert (checked.holds, checked.worst) == (holds, 1.0)
    with sql() as connection:
        released = {"released": connection.table("released", path)}
        classes = Classes(connection, released, ["job"], column="ill", only_which=True)
        assert connection.run(f"{classes.different('ill')} ORDER BY class_") == [(1, 1), (2, values)]


def test_too_many_values_or_combinations_are_grouped_as_texts(tmp_path, monkeypatch):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"job": ["cook", "clerk", "nurse"], "age": [30, 40, 50]}), path)
    monkeypatch.setattr(released_classes, "LEAST_ROWS", 1)
    for setting, most in (("MOST_VALUES", 2), ("_MOST", 15)):
        with monkeypatch.context() as limited, sql() as connection:
            limited.setattr(released_classes, setting, most)
            connection.table("released", path)
            assert released_classes.packed(connection, "released", ["c0", "c1"], 3) is None
    with sql() as connection:
        connection.table("released", path)
        assert released_classes.packed(connection, "released", ["c0", "c1"], 3).digits[0].end == 16


def test_a_cell_that_has_no_place_stops_the_verifier(tmp_path, monkeypatch):
    path = tmp_path / "people.parquet"
    pq.write_table(pa.table({"job": ["cook", "clerk", "cook", "clerk"]}), path)
    monkeypatch.setattr(released_classes, "LEAST_ROWS", 1)
    place = connections.DuckDBConnection.place
    monkeypatch.setattr(connections.DuckDBConnection, "place", lambda self, c, values: place(self, c, values[:1]))
    with pytest.raises(InternalError, match="no place"):
        verify(path, [PROMISES[0]], quasi_identifiers=["job"])


def test_rows_that_are_alike_are_held_once_and_a_changed_one_is_noticed():
    before = pa.table({"ill": ["flu", "flu", "cold", None], "wage": [1, 1, 2, 3]})
    for ill, changed in ((["cold", "flu", None, "flu"], 0), (["cold", "flu", "flu", "flu"], 1)):
        after = pa.table({"job": ["cook"] * 4, "ill": ill, "wage": [2, 1, 3, 1]})
        verification = verify(
            after,
            [PROMISES[0]],
            quasi_identifiers=["job"],
            preserved=["ill", "wage"],
            original=before,
        )
        assert verification.ok == (not changed)
        assert [finding.code for finding in verification.findings] == ["E207"] * changed
    with sql() as connection:
        table = connection.table("original", before, alike=True)
        assert connection.run(f"SELECT count(*), {table.rows} FROM original") == [(3, 4)]
