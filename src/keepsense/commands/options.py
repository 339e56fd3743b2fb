"""Options that several commands share: how a table is read, names that a shell proposes, and lists of names in help."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from keepsense.engines.protocol import Reading


# Names of registries that a shell proposes while a command is typed

Proposals = Callable[[str], list[str]]


def _proposing(names: Callable[[], Iterable[str]]) -> Proposals:
    def starting(incomplete: str) -> list[str]:
        # blanks would have to be quoted, and hyphens mean the same
        return [name for name in (name.replace(" ", "-") for name in names()) if name.startswith(incomplete)]

    return starting


def _methods() -> Iterable[str]:
    from keepsense.guide.catalogue import catalogue

    return catalogue()


def _lessons() -> Iterable[str]:
    from keepsense.lessons.walkthrough import explainable

    return explainable()


def _distances() -> Iterable[str]:
    from keepsense.semantics.distance import DISTANCES

    return DISTANCES


def _kinds() -> Iterable[str]:
    from keepsense.hierarchies.column_kinds import KINDS

    return KINDS


def _engines() -> Iterable[str]:
    from keepsense.engines.protocol import ENGINES

    return ENGINES


def _loaders() -> Iterable[str]:
    from keepsense.taxonomy.formats.taxonomy_formats import LOADERS

    return LOADERS


def _taxonomies() -> Iterable[str]:
    from keepsense.taxonomy.formats import taxonomy_library

    return taxonomy_library.names()


methods, lessons, distances, kinds = map(_proposing, (_methods, _lessons, _distances, _kinds))
engines, loaders, taxonomies = map(_proposing, (_engines, _loaders, _taxonomies))


# How a table is read

Format = Annotated[str | None, typer.Option("--format", help="{formats}.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a CSV file; found out where it is not given.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; found out where it is not given.")]
EngineName = Annotated[
    str | None,
    typer.Option("--engine", help="Engine that works on the rows.", show_default=False, autocompletion=engines),
]
TableName = Annotated[str | None, typer.Option("--table", help="Table of a database, or sheet of a workbook.")]


Header = Annotated[
    bool | None, typer.Option("--header/--no-header", help="Whether the first row of a CSV file names the columns.")
]


Language = Annotated[
    str | None,
    typer.Option(help="Language of the words, such as de; only taxonomies in it are tried. English by default."),
]
Within = Annotated[
    list[str] | None,
    typer.Option(
        "--within", help="Column that names the region or country of its places; can be given more than once."
    ),
]
FittingTaxonomy = Annotated[
    str | None,
    typer.Option(
        "--taxonomy",
        "-t",
        help="Taxonomy by name, or a taxonomy file; the one that fits by default, if one does.",
        autocompletion=taxonomies,
    ),
]
TaxonomyName = Annotated[
    str,
    typer.Option(
        "--taxonomy",
        "-t",
        help="A name that `keepsense taxonomy list` shows, or a taxonomy file.",
        autocompletion=taxonomies,
    ),
]


def reading(
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str | None = None,
    table: str | None = None,
    header: bool | None = None,
) -> Reading:
    """What the options say."""
    from keepsense.engines.protocol import Reading

    mark = "\t" if delimiter in ("\\t", "tab") else delimiter
    return Reading(format=format, delimiter=mark, encoding=encoding, table=table, header=header)


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


# Lists of registered names in help, loaded only when help is shown


def _format_names() -> str:
    from keepsense.engines.formats import table_formats

    return table_formats.names()


def _hierarchy_files() -> str:
    from keepsense.hierarchies.formats.hierarchy_formats import FORMATS

    return "; ".join(f"{' or '.join(entry.endings)} ({entry.about})" for entry in FORMATS.values())


def _loader_names(sources: bool = False) -> str:
    from keepsense.taxonomy.formats.taxonomy_formats import LOADERS

    named = [f"{e.source}NAME" if e.source.endswith(":") else e.source for e in LOADERS.values() if e.source]
    return " or ".join(named) if sources else ", ".join(LOADERS)


def _promises() -> str:
    from keepsense.guide.answers import promises

    return ", ".join(promises())


def _purposes() -> str:
    from keepsense.guide.answers import PURPOSES

    return ", ".join(PURPOSES)


NAMES: Mapping[str, Callable[[], str]] = {
    "{formats}": _format_names,
    "{hierarchy files}": _hierarchy_files,
    "{loaders}": _loader_names,
    "{promises}": _promises,
    "{purposes}": _purposes,
    "{sources}": lambda: _loader_names(sources=True),
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
