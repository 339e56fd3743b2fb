"""Help that lists what registries hold, without loading them before somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from typer.core import TyperCommand


def _hierarchy_files() -> str:
    from keepsense.hierarchies.formats import FORMATS

    return "; ".join(f"{' or '.join(entry.endings)} ({entry.about})" for entry in FORMATS.values())


def _loaders(sources: bool = False) -> str:
    from keepsense.taxonomy.loaders.detect import LOADERS

    named = [f"{e.source}NAME" if e.source.endswith(":") else e.source for e in LOADERS.values() if e.source]
    return " or ".join(named) if sources else ", ".join(LOADERS)


def _promises() -> str:
    from keepsense.guide.answers import promises

    return ", ".join(promises())


def _purposes() -> str:
    from keepsense.guide.answers import PURPOSES

    return ", ".join(PURPOSES)


NAMES: Mapping[str, Callable[[], str]] = {
    "{hierarchy files}": _hierarchy_files,
    "{loaders}": _loaders,
    "{promises}": _promises,
    "{purposes}": _purposes,
    "{sources}": lambda: _loaders(sources=True),
}


def filled(text: str | None) -> str:
    """A help text with the names that its marks stand for.

    >>> filled("a hierarchy: {hierarchy files}").startswith("a hierarchy: .")
    True
    """
    text = text or ""
    for mark, names in NAMES.items():
        if mark in text:
            text = text.replace(mark, names())
    return text


class NamesInHelp(TyperCommand):
    """A command whose options list what there is."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Show the help, with all names in it."""
        for parameter in self.params:
            described: Any = parameter
            described.help = filled(described.help)
        super().format_help(ctx, formatter)
