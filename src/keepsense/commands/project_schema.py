"""`keepsense schema`: the project file's JSON schema, for editors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from keepsense.commands import COMMANDS
from keepsense.commands._output import Json, Quiet, safe, show


def schema(
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Write it to this file.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Print the JSON schema of the project file, so that editors complete its keys and explain them."""
    from keepsense.project.schema import json_schema

    text = json.dumps(json_schema(), ensure_ascii=False, indent=2) + "\n"
    if output is None:
        if not quiet:
            sys.stdout.write(text)
        return
    from keepsense.files import whole_file

    with whole_file(output) as part:
        part.write_text(text, encoding="utf-8")
    first = f"#:schema {output}"
    show(
        {"file": str(output)},
        lambda console: console.print(
            f"{safe(output)} is written; put `{safe(first)}` into a project file's first line"
        ),
        as_json=as_json,
        quiet=quiet,
    )


COMMANDS.add("schema", schema)
