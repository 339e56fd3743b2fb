"""`keepsense studio`: the whole job in a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.terminal import Json, Quiet
from keepsense.errors import BadInput


def studio(
    file: Annotated[
        str | None,
        typer.Argument(help="Table or project file to open; without one you choose it in the browser."),
    ] = None,
    sample: Annotated[bool, typer.Option("--sample", help="Open synthetic people, to try it out.")] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at; 0 takes one that is free.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the browser, or only print the address.")
    ] = True,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Take a table to a verified release in your browser, on this machine alone; Ctrl-C ends it."""
    import json

    from keepsense.studio.server import serve

    if sample and file is not None:
        raise BadInput("give a file or --sample, not both")

    def say(address: str) -> None:
        if as_json:
            typer.echo(json.dumps({"address": address}))
        else:  # without it nobody could come in, however quiet it is to be
            typer.echo(
                address if quiet else f"Keepsense studio: {address}\nOnly this address lets you in. Ctrl-C ends it."
            )

    serve(file, sample=sample, port=port, browser=browser, say=say)


COMMANDS.add("studio", studio)
OUTPUTS.add("studio", {"address": ("the address that lets its owner in", "text")})
