"""`keepsense version`: the version that is installed."""

from __future__ import annotations

from keepsense import __version__
from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.terminal import Json, show


def version(as_json: Json = False) -> None:
    """Print the version."""
    text = f"keepsense {__version__}"
    show({"version": __version__}, lambda console: console.print(text), as_json=as_json, quiet=False)


COMMANDS.add("version", version)
OUTPUTS.add("version", {"version": ("of Keepsense", "text")})
