"""What can be typed: one module a command, thin, with its entry in `COMMANDS`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from keepsense.registry import Registry

if TYPE_CHECKING:
    import typer

COMMANDS: Registry[Callable[..., Any] | typer.Typer] = Registry(
    "command",
    packages=["keepsense.commands"],
    # as they are needed one after the other
    first=(
        *("demo", "sample", "inspect", "init", "run", "verify", "report", "assess", "compare", "map", "distance"),
        *("guide", "explain", "studio", "taxonomy", "hierarchy", "schema", "version"),
    ),
)
"""Functions whose parameters are a command's options, or groups of such; the command line is made of them."""
