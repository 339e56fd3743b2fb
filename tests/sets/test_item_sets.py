"""Set-valued columns in three forms: what comes in, what is counted, what is refused, and the way out again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from keepsense.errors import BadInput, InputWarning
from keepsense.sets import item_sets
from keepsense.sets.item_sets import (
    ItemSets,
    from_delimited,
    from_lists,
    from_long,
    read_baskets,
    read_sets,
    write_baskets,
)

TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"]), min_size=1, max_size=8).map(str.strip)
SETS = st.lists(st.sets(TEXT.filter(bool), max_size=5), max_size=8)


@settings(max_examples=60, deadline=None)
@given(SETS, st.sampled_from(",;|\t"))
def test_delimited_sets_come_back_as_they_were(sets: list[set[str]], delimiter: str) -> None:
    form = from_delimited([""] * len(sets), delimiter=delimiter)
    texts = form.spelled([sorted(s) for s in sets])
    assert [set(s) for s in from_delimited(texts, delimiter=delimiter).sets()] == sets


@settings(max_examples=40, deadline=None)
@given(SETS)
def test_long_form_comes_back_under_other_keys(sets: list[set[str]]) -> None:
    form = ItemSets("x", (), from_lists([[] for _ in sets]).rows, "long")
    keys, items = form.spelled([sorted(s) for s in sets], rng=0)
    again = from_long(keys, items)
    assert sorted(map(sorted, again.sets())) == sorted(map(sorted, sets))
    assert sorted(again.keys) == list(range(1, len(sets) + 1))


def test_quotes_keep_the_delimiter_inside_an_item() -> None:
    found = from_delimited(['"salt; sea" ; pepper;"say ""hi"""', '5" pipe;nails'], delimiter=";")
    assert found.sets() == [["pepper", "salt; sea", 'say "hi"'], ['5" pipe', "nails"]]


@pytest.mark.parametrize("text", ['"salt', 'a;"b', '"a"b;c', '"a""'])
def test_a_quote_that_is_not_closed_is_refused_by_record(text: str) -> None:
    with pytest.raises(BadInput, match="record 2: a quote is opened") as error:
        from_delimited(["fine", text], delimiter=";", column="basket")
    assert "salt" not in str(error.value)
    assert "'basket'" in str(error.value)


def test_oddities_are_counted_and_nothing_is_lost() -> None:
    found = from_delimited(["a;a;b", " ; ", None, "", "b;;c", float("nan")], delimiter=";")
    assert found.sets() == [["a", "b"], [], [], [], ["b", "c"], []]
    assert dict(found.counts) == {"duplicate items": 1, "blank items": 3, "missing cells": 2, "empty sets": 4}
    assert [f.code for f in found.findings()] == ["W311", "W312", "W313", "W314"]
    assert not any(f.is_error for f in found.findings())


def test_item_numbers_do_not_depend_on_row_order() -> None:
    first, second = from_lists([["b", "a"], ["c"]]), from_lists([["c"], ["a", "b"]])
    assert first.items == second.items == ("a", "b", "c")


def test_long_form_groups_by_key_and_keeps_empty_people() -> None:
    found = from_long([7, 8, 7, 9, 7], ["x", None, "y", "x", "x"])
    assert found.keys == (7, 8, 9)
    assert found.sets() == [["x", "y"], [], ["x"]]
    assert found.counts["duplicate items"] == 1
    assert found.counts["missing cells"] == 1
    with pytest.raises(BadInput, match="2 rows have no key"):
        from_long([None, 1, None], ["a", "b", "c"])
    with pytest.raises(BadInput, match="3 keys do not fit 2 items"):
        from_long([1, 2, 3], ["a", "b"])


def test_numbers_stay_numbers_in_lists() -> None:
    assert from_lists([[3, 1, 3], np.array([2])]).sets() == [[1, 3], [2]]


def test_wrong_kinds_of_cells_are_refused() -> None:
    with pytest.raises(BadInput, match="a single str stands where a list is expected"):
        from_lists(["milk;bread"])
    with pytest.raises(BadInput, match="list where a text is expected"):
        from_delimited([["milk"]])
    with pytest.raises(BadInput, match="record 1: an item is no single value"):
        from_lists([[["nested"]]])
    with pytest.raises(BadInput, match="not UTF-8"):
        from_lists([[b"caf\xe9"]])
    with pytest.raises(BadInput, match="two different single characters"):
        from_delimited(["a"], delimiter=", ")
    with pytest.raises(BadInput, match="do not fit"):
        from_lists([["a"]]).spelled([])


def test_bytes_in_utf8_are_text() -> None:
    assert from_lists([["café".encode()]]).sets() == [["café"]]
    assert from_delimited(["café,thé".encode()]).sets() == [["café", "thé"]]


def test_a_record_with_a_hundred_thousand_items() -> None:
    many = ";".join(f"item {i}" for i in range(100_000))
    found = from_delimited([many, "item 5"], delimiter=";")
    assert found.rows.sizes.tolist() == [100_000, 1]


# ---- files -----------------------------------------------------------------------------------------------------------


def test_baskets_from_a_file_in_another_encoding(tmp_path: Path) -> None:
    file = tmp_path / "baskets.csv"
    file.write_bytes("café;thé\r\n\r\npain\r\n".encode("cp1252"))
    with pytest.warns(InputWarning, match="read as Windows-1252"):
        assert read_baskets(file, delimiter=";").sets() == [["café", "thé"], [], ["pain"]]
    with pytest.raises(BadInput, match="no encoding is called 'utf-9'"):
        read_baskets(file, delimiter=";", encoding="utf-9")
    with pytest.raises(BadInput, match=r"baskets\.csv: byte 3 is not valid utf-8"):
        read_baskets(file, delimiter=";", encoding="utf-8")


def test_baskets_that_are_not_there_or_empty(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such file"):
        read_baskets(tmp_path / "none.csv")
    (tmp_path / "empty.csv").touch()
    with pytest.raises(BadInput, match="empty"):
        read_baskets(tmp_path / "empty.csv")


def test_written_baskets_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "out.csv"
    sets = from_delimited(["a;b", "", '"x;y"'], delimiter=";")
    write_baskets(file, sets.spelled(sets.sets()))  # type: ignore[arg-type]
    assert read_baskets(file, delimiter=";").sets() == sets.sets()
    with pytest.raises(BadInput, match="line break"):
        write_baskets(file, ["a\nb"])
    assert read_baskets(file, delimiter=";").sets() == sets.sets()


def test_columns_of_tables(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2], "tags": [["a", "b"], []]}), tmp_path / "t.parquet")
    assert read_sets(tmp_path / "t.parquet", "tags").sets() == [["a", "b"], []]
    (tmp_path / "t.csv").write_text('id,tags\n1,a|b\n2,"c|d"\n', encoding="utf-8")
    assert read_sets(tmp_path / "t.csv", "tags", delimiter="|").sets() == [["a", "b"], ["c", "d"]]
    assert read_sets(tmp_path / "t.csv", "tags", key="id").sets() == [["a|b"], ["c|d"]]
    with pytest.raises(BadInput, match="give the delimiter"):
        read_sets(tmp_path / "t.csv", "tags")
    with pytest.raises(BadInput, match="not both"):
        read_sets(tmp_path / "t.csv", "tags", delimiter="|", key="id")
    with pytest.raises(BadInput, match="no column 'tag'"):
        read_sets(tmp_path / "t.csv", "tag", delimiter="|")


@settings(deadline=None, max_examples=100)
@given(
    st.lists(st.one_of(st.none(), st.text(st.sampled_from("ab ;\t\x1f\u00a0\u2003"), max_size=8)), max_size=12),
    st.sampled_from(";,"),
)
def test_texts_divided_all_at_once_are_those_divided_one_by_one(texts: list[str | None], delimiter: str) -> None:
    cells = [None if text is None else text.split(delimiter) if text.strip() else [] for text in texts]
    plain = item_sets._gathered(cells, "items", "delimited", delimiter)
    together = item_sets.from_delimited(texts, delimiter=delimiter)
    assert together.items == plain.items
    assert together.rows.starts.tolist() == plain.rows.starts.tolist()
    assert together.rows.indices.tolist() == plain.rows.indices.tolist()
    assert together.counts == plain.counts
    assert (together.rows.starts.dtype, together.rows.indices.dtype) == (np.int32, np.int32)


def test_half_a_surrogate_pair_is_an_item_like_others() -> None:
    assert item_sets.from_delimited(["a;\ud800"], delimiter=";").sets() == [["a", "\ud800"]]
