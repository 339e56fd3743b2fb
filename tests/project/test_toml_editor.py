"""Keys of a project file are set one by one: comments stay, and what cannot be changed by lines is written anew."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from keepsense.errors import BadInput
from keepsense.project.toml_editor import with_keys, written

FILE = """# mine
unlisted = "drop"  # what else

[source]
path = "people.csv"  # the table

# how
[method]
name = "optimal"
# [method.parameters]

[[privacy]]
model = "k-anonymity"
k = 5

# who
[columns.age]
role = "quasi-identifier"  # its name
"""


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("columns", "age", "role"), "sensitive"),
        (("columns", "age", "weight"), 2.5),
        (("columns", "a b", "role"), "identifier"),
        (("method", "parameters", "metric"), "loss"),
        (("unlisted",), "keep"),
        (("columns", "age", "role"), None),
        (("columns", "age", "empty"), ["?", "-9"]),
    ],
)
def test_a_key_is_set_and_comments_elsewhere_stay(path: tuple[str, ...], value: object) -> None:
    text = with_keys(FILE, {path: value})
    inner: Any = tomllib.loads(text)
    for part in path[:-1]:
        inner = inner[part]
    assert inner.get(path[-1]) == value
    assert "# mine" in text
    assert "# the table" in text


def test_promises_are_set_as_a_whole_where_they_stood() -> None:
    text = with_keys(FILE, {("privacy",): [{"model": "k-anonymity", "k": 7}, {"model": "k-map", "k": 2}]})
    assert tomllib.loads(text)["privacy"] == [{"model": "k-anonymity", "k": 7}, {"model": "k-map", "k": 2}]
    assert text.index("[[privacy]]") < text.index("# who")


def test_what_is_not_written_in_sections_is_written_anew() -> None:
    text = with_keys('columns = { age = { role = "sensitive" } }', {("columns", "age", "kind"): "numeric"})
    assert tomllib.loads(text) == {"columns": {"age": {"role": "sensitive", "kind": "numeric"}}}


def test_a_key_below_a_value_is_refused() -> None:
    with pytest.raises(BadInput, match="holds no others"):
        with_keys('unlisted = "drop"', {("unlisted", "x"): 1})


_NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), min_size=1, max_size=6)
_VALUES = st.one_of(st.booleans(), st.integers(-99, 99), _NAMES, st.lists(_NAMES, max_size=2))


@given(st.dictionaries(_NAMES, st.dictionaries(_NAMES, _VALUES, max_size=3), max_size=3))
def test_a_document_is_written_as_it_can_be_read(document: dict[str, dict[str, object]]) -> None:
    assert tomllib.loads(written(document)) == document
