"""`keepsense inspect`: the columns of a table, their kinds and the roles they may have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.options import (
    Delimiter,
    Encoding,
    EngineName,
    Format,
    Header,
    Language,
    TableName,
    plain,
    reading,
)
from keepsense.commands.terminal import Json, Quiet, show, table
from keepsense.display import visible
from keepsense.taxonomy.formats import taxonomy_library

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.draft.inspected_column import Inspected
    from keepsense.draft.inspection import Inspection
    from keepsense.taxonomy.taxonomy import Taxonomy

Taxonomies = Annotated[
    list[str] | None,
    typer.Option(
        "--taxonomy", "-t", help="Taxonomy to try on columns of words; can be given more than once. All by default."
    ),
]


def inspect_table(
    file: Annotated[str, typer.Argument(help="Table: a file, or a postgresql:// address.")],
    taxonomies: Taxonomies = None,
    language: Language = None,
    format: Format = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    header: Header = None,
    table_name: TableName = None,
    values: Annotated[
        int, typer.Option(min=0, help="Show this many of the most frequent values of each column: real data.")
    ] = 0,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Inspect a table: what each column holds, which role it may have and why, and which taxonomy knows its words."""
    from keepsense.draft.inspection import inspect

    how = reading(format, delimiter, encoding, table_name, header)
    found = inspect(file, how, taxonomies=chosen(taxonomies), language=language, engine=engine)
    show(as_data(found, values), lambda console: render(console, found, values), as_json=as_json, quiet=quiet)


def chosen(names: list[str] | None) -> dict[str, Taxonomy] | None:
    """Taxonomies by name, or None for the usual one."""
    return {name: taxonomy_library.find(name) for name in names} if names else None


def as_data(found: Inspection, values: int = 0) -> dict[str, Any]:
    """An inspection for scripts."""
    return {
        "file": found.source,
        "format": found.format,
        "rows": found.rows,
        "columns": [_column(column, values) for column in found.columns],
    }


def _column(column: Inspected, values: int) -> dict[str, Any]:
    seen, meaning = column.profile, column.meaning
    about: dict[str, Any] = {
        "column": column.name,
        "type": seen.type,
        "values": seen.distinct,
        "missing": seen.missing,
        "values_of_one_row": seen.single,
        "role": column.role,
        "kind": column.kind,
        "reason": column.reason,
        "confidence": column.confidence,
        "notes": list(column.notes),
    }
    if meaning is not None:
        about["taxonomy"] = {
            "name": meaning.taxonomy,
            "domain": meaning.domain,
            "domains": list(meaning.domains),
            "rows": meaning.rows,
            "values": meaning.values,
            "looked_up": meaning.looked_up,
            "suggested": {"values": meaning.suggested, "rows": meaning.suggested_rows},
            "outside": meaning.outside,
            "bits_beyond_chance": round(meaning.evidence, 1),
        }
    if column.delimiter is not None:
        about["delimiter"] = column.delimiter
    if column.empty:
        about["empty"] = list(column.empty)
    if column.format is not None:
        about["format"] = column.format
    if values:
        about["frequent"] = [[plain(v), n] for v, n in list(seen.values.items())[:values]]
    return about


def because(column: Inspected) -> list[str]:
    """Why a column has its taxonomy, where it has one."""
    return [] if column.meaning is None else [f"{column.meaning.taxonomy} {column.meaning.reason}"]


def render(console: Console, found: Inspection, values: int = 0) -> None:
    """An inspection for people."""
    rows = []
    for c in found.columns:
        words = ""
        if c.meaning is not None:
            below = f" below {c.meaning.domain}" if c.meaning.domain else ""
            words = f"{c.meaning.taxonomy}{below}, {c.meaning.rows:.0%} of rows"
        empty = f"{c.profile.missing / max(1, c.profile.rows):.1%}" if c.profile.missing else ""
        rows.append(
            (c.name, c.kind, c.profile.distinct, empty, c.role, words, "; ".join([c.reason, *because(c), *c.notes]))
        )
    names = ("column", "kind", "values", "empty", "role (guess)", "known to", "because")
    console.print(table(f"{found.source}: {found.rows:,} rows", names, rows))
    for column in found.columns if values else ():
        frequent = ", ".join(f"{v} ({n:,})" for v, n in list(column.profile.values.items())[:values])
        console.print(visible(f"{column.name}: {frequent}"), markup=False)


COMMANDS.add("inspect", inspect_table)
_COLUMN: dict[str, Any] = {
    "column": ("its name", "text"),
    "type": ("type of its cells", "text"),
    "values": ("different values", "whole"),
    "missing": ("empty cells", "whole"),
    "values_of_one_row": ("values that one row alone holds", "whole"),
    "role": ("role that fits", "text"),
    "kind": ("kind of its values", "text"),
    "reason": ("why", "text"),
    "confidence": ("how sure that is", "text"),
    "notes": ("what else is seen", ["text"]),
    "taxonomy?": ("the taxonomy that knows its words, and how well", {"*": "any"}),
    "delimiter?": ("what parts the items of its sets", "text"),
    "frequent?": ("its most frequent values with their rows: real data", [["any"]]),
}
TABLE: dict[str, Any] = {
    "file": ("the table", "text"),
    "format": ("its format", "text"),
    "rows": ("its rows", "whole"),
    "columns": ("its columns", [_COLUMN]),
}
"""What is printed of a table."""
OUTPUTS.add("inspect", TABLE)
