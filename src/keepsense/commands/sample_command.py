"""`keepsense sample`: write synthetic people to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.terminal import Json, Quiet, show
from keepsense.display import visible


def sample(
    target: Annotated[Path, typer.Argument(help="File to write, .csv or .parquet.")],
    rows: Annotated[int, typer.Option(min=0, help="How many people.")] = 10_000,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same people.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Write a table of synthetic people to try things on."""
    from keepsense.sample_people import COLUMNS, write_people

    write_people(target, rows, seed)
    show(
        {"file": str(target), "rows": rows, "columns": list(COLUMNS)},
        lambda console: console.print(f"{visible(target)}: {rows:,} synthetic people", markup=False),
        as_json=as_json,
        quiet=quiet,
    )


COMMANDS.add("sample", sample)
OUTPUTS.add(
    "sample",
    {
        "file": ("the table", "text"),
        "rows": ("its rows", "whole"),
        "columns": ("its columns", ["text"]),
    },
)
