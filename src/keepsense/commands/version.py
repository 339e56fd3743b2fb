"""`keepsense version`."""

from __future__ import annotations

from keepsense import __version__
from keepsense.commands import COMMANDS
from keepsense.commands.parts.output import Json, show
from keepsense.commands.parts.outputs import OUTPUTS


def version(as_json: Json = False) -> None:
    """Print the version."""
    text = f"keepsense {__version__}"
    show({"version": __version__}, lambda console: console.print(text), as_json=as_json, quiet=False)


COMMANDS.add("version", version)
OUTPUTS.add("version", {"version": ("of Keepsense", "text")})
