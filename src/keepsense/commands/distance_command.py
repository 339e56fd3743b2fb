"""`keepsense distance`: the semantic distance of two words."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from keepsense.commands import options as _complete
from keepsense.commands.command_registry import COMMANDS, CONCEPT, OUTPUTS
from keepsense.commands.options import TaxonomyName
from keepsense.commands.terminal import Json, Quiet, show, table
from keepsense.errors import InputWarning
from keepsense.taxonomy.formats import taxonomy_library

if TYPE_CHECKING:
    from rich.console import Console


def distance(
    first: Annotated[str, typer.Argument(help="A word, a word and its sense (coach#1), or a concept's id.")],
    second: Annotated[str, typer.Argument(help="Another.")],
    name: Annotated[
        str | None,
        typer.Option(
            "--distance",
            "-d",
            help="Name of the distance, such as wu-palmer; else all of them.",
            autocompletion=_complete.distances,
        ),
    ] = None,
    measure: Annotated[str | None, typer.Option("--measure", "-m", hidden=True, help="--distance.")] = None,
    taxonomy: TaxonomyName = taxonomy_library.WORDNET,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Show how far apart two words are, and the closest thing that both are kinds of."""
    from keepsense.semantics.distance import DISTANCES
    from keepsense.semantics.distance import distance as distance_of_semantics

    chosen = taxonomy_library.find(taxonomy)
    a, b = chosen.code(first), chosen.code(second)
    if measure is not None:
        warnings.warn("the option --measure is called --distance now", InputWarning, stacklevel=2)
    wanted = name or measure
    names = sorted(DISTANCES) if wanted is None else [DISTANCES.name_of(wanted)]
    distances = {name: distance_of_semantics(name, chosen).pair(a, b) for name in names}
    common = chosen.lcs(a, b)
    result = {
        "taxonomy": taxonomy,
        "first": {"id": chosen.id(a), "meaning": chosen.describe(a)},
        "second": {"id": chosen.id(b), "meaning": chosen.describe(b)},
        "common": chosen.label(common),
        "distances": distances,
    }

    def render(console: Console) -> None:
        console.print(chosen.describe(a), chosen.describe(b), sep="\n", markup=False)
        console.print(f"both are a kind of {chosen.label(common)}", markup=False)
        console.print(table("Distance", ("name", "distance"), [(n, float(d)) for n, d in distances.items()]))

    show(result, render, as_json=as_json, quiet=quiet)


COMMANDS.add("distance", distance)
OUTPUTS.add(
    "distance",
    {
        "taxonomy": ("the taxonomy", "text"),
        "first": ("the first concept", CONCEPT),
        "second": ("the second concept", CONCEPT),
        "common": ("what subsumes both", "text"),
        "distances": ("by the distance's name", {"*": "number"}),
    },
)
