"""`keepsense schema`: the project file's JSON schema, for editors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.terminal import Json, Quiet, safe, show


def schema(
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="COMMAND", help="Of what this command prints with --json; or of an `error`."),
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the JSON schema of the project file, so that editors complete its keys, or of what a command prints."""
    text = json.dumps(_wanted(of), ensure_ascii=False, indent=2) + "\n"
    if output is None:
        if not quiet:
            sys.stdout.write(text)
        return
    from keepsense.files import whole_file

    with whole_file(output) as part:
        part.write_text(text, encoding="utf-8")
    first = f"; put `{safe(f'#:schema {output}')}` into a project file's first line" if of is None else ""
    show(
        {"file": str(output)},
        lambda console: console.print(f"{safe(output)} is written{first}"),
        as_json=as_json,
        quiet=quiet,
    )


def _wanted(of: str | None) -> dict[str, Any]:
    if of is None:
        from keepsense.project.project_file import json_schema

        return json_schema()
    from keepsense.commands.command_registry import output_schema

    return output_schema(None if of == "error" else of)


COMMANDS.add("schema", schema)
OUTPUTS.add("schema", {"file?": ("with `--output`: the file", "text"), "*": "any"})
