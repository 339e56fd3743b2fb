"""How a table is to be read, as options that several commands share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.parts import complete as _complete
from keepsense.engines import formats

if TYPE_CHECKING:
    from keepsense.engines import Reading

Format = Annotated[str | None, typer.Option("--format", help=f"{formats.names()}.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of a CSV file; found out where it is not given.")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of a text file; found out where it is not given.")]
EngineName = Annotated[
    str | None,
    typer.Option(
        "--engine", help="Engine that works on the rows.", show_default=False, autocompletion=_complete.engines
    ),
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
        autocompletion=_complete.taxonomies,
    ),
]
TaxonomyName = Annotated[
    str,
    typer.Option(
        "--taxonomy",
        "-t",
        help="A name that `keepsense taxonomy list` shows, or a taxonomy file.",
        autocompletion=_complete.taxonomies,
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
    from keepsense.engines import Reading

    mark = "\t" if delimiter in ("\\t", "tab") else delimiter
    return Reading(format=format, delimiter=mark, encoding=encoding, table=table, header=header)


def plain(value: Any) -> Any:
    """A value as JSON can hold it."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
