"""What other rooms may know of engines: how to ask them, not what they are made of. Over the syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import keepsense
from keepsense.engines.formats.table_formats import FORMATS
from keepsense.engines.protocol import ENGINES

ROOT = Path(keepsense.__file__).parent
OTHERS = sorted(path for path in ROOT.rglob("*.py") if "engines" not in path.relative_to(ROOT).parts)
HIDDEN = {"duckdb", "_duckdb", "pyspark", "openpyxl", "psycopg", "narwhals"}
"""Libraries that only engines and their formats use."""
WORKBOOKS = {("taxonomy/formats/classification_file.py", "openpyxl")}
"""Offices publish their classifications as workbooks whose cells are no table: notes above, titles in several rows."""
INSIDE = {"connection", "folder", "keep", "keep_arrow", "view", "query", "types", "type_of"}
"""What an engine or its tables have beyond the protocols."""


Trees = list[tuple[str, ast.AST]]


@pytest.fixture(scope="module")
def trees() -> Trees:
    return [(path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))) for path in OTHERS]


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_only_engines_know_databases_and_frames(trees: Trees) -> None:
    """The verifier, too, gets a connection that runs SQL."""
    found = {(file, name) for file, tree in trees for name in imported(tree) if name.split(".")[0] in HIDDEN}
    assert found <= WORKBOOKS


def test_nobody_else_opens_the_folder_of_an_engine_or_a_format(trees: Trees) -> None:
    """Nothing would be left to exchange if others imported what is inside."""
    rooms = [f"keepsense.engines.{name}" for name in (*ENGINES, "duckdb_store", "temporary_folders")]
    rooms += [f"keepsense.engines.formats.{name}" for name in FORMATS]
    found = {(file, name) for file, tree in trees for name in imported(tree) if name.startswith(tuple(rooms))}
    assert not found


def test_nobody_else_names_a_format_or_an_engine(trees: Trees) -> None:
    """Whoever must know something about one asks its entry."""
    found = {
        (file, node.value)
        for file, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in {*FORMATS, *ENGINES}
    }
    assert not found


def test_the_protocols_are_all_that_others_use(trees: Trees) -> None:
    """Attributes of `engine`, `running` and `table` outside are those that the protocols list."""
    found = {
        (file, node.attr)
        for file, tree in trees
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in INSIDE and _is_engine(node.value)
    }
    assert not found


def _is_engine(node: ast.AST) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
    return name in ("engine", "running", "table", "released", "population")
