"""`keepsense assess`: what any anonymized table is worth and what risk it leaves."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands import COMMANDS
from keepsense.commands._output import Json, Quiet, safe, show, table
from keepsense.commands._reading import EngineName, reading
from keepsense.errors import BadInput
from keepsense.hierarchies.kinds import KINDS
from keepsense.shown import visible

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from keepsense.release.assess import Assessment


def assess_release(
    original: Annotated[Path, typer.Argument(help="Original table.")],
    released: Annotated[Path, typer.Argument(help="Anonymized table, made by any tool.")],
    quasi: Annotated[
        list[str] | None,
        typer.Option("--quasi", help="Column by which people could be recognized; give it for each, or a,b,c."),
    ] = None,
    sensitive: Annotated[
        list[str] | None, typer.Option("--sensitive", help="Column that others should not learn; for each, or a,b,c.")
    ] = None,
    person: Annotated[
        str | None, typer.Option("--person", help="Column that tells which rows belong to one person: count people.")
    ] = None,
    project: Annotated[
        Path | None, typer.Option("--project", "-p", help="Take the columns' roles from this project file.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="Delimiter of the original, if it is a CSV file.")] = None,
    released_delimiter: Annotated[
        str | None, typer.Option(help="Delimiter of the release, if it is a CSV file.")
    ] = None,
    suppressed: Annotated[
        list[str] | None,
        typer.Option("--suppressed", help="What stands in a suppressed cell, * unless given; for each, or a,b,c."),
    ] = None,
    missing: Annotated[
        list[str] | None,
        typer.Option("--missing", help="What stands in a cell of which nothing is known, such as NA; or a,b,c."),
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Risk above which a record counts as at risk.")
    ] = 0.2,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare an original with its anonymized version: classes, risk, k, l and t reached, change of each column."""
    from keepsense.release.assess import assess

    columns, secret, people = _roles(quasi, sensitive, project)
    assessment = assess(
        str(original),
        str(released),
        columns,
        sensitive=secret,
        person=person or people,
        original_reading=reading(delimiter=delimiter),
        released_reading=reading(delimiter=released_delimiter),
        threshold=threshold,
        suppressed=parted(suppressed) or "*",
        missing=parted(missing),
        engine=engine,
    )
    show(as_data(assessment), lambda console: render(console, assessment, released), as_json=as_json, quiet=quiet)


def parted(names: list[str] | None) -> list[str]:
    """Names of an option that may be given several times, or once with commas."""
    return [part.strip() for name in names or [] for part in name.split(",") if part.strip()]


def _roles(
    quasi: list[str] | None, sensitive: list[str] | None, project: Path | None
) -> tuple[list[str], list[str], str | None]:
    columns, secret, person = parted(quasi), parted(sensitive), None
    if project is not None:
        from keepsense.project.file import read_project

        said = read_project(project)
        # methods for single values leave sets out of the release
        single = [name for name in said.quasi_identifiers if not KINDS[said.columns[name].kind].sets]
        columns = columns or single or list(said.quasi_identifiers)
        secret = secret or list(said.having("sensitive"))
        person = next(iter(said.having("person")), None)
    if not columns:
        raise BadInput("name the quasi-identifiers with --quasi, or a project file that does with --project")
    return columns, secret, person


def as_data(assessment: Assessment) -> dict[str, Any]:
    """An assessment for scripts."""
    from keepsense.release.assess import FITTING

    data = {
        key: value
        for key, value in vars(assessment).items()
        if key not in ("risk", "risk_before", "risk_after", "columns", "sensitive", "associations", "sizes")
    }
    return {
        **{key: list(value) if isinstance(value, tuple) else value for key, value in data.items()},
        "sizes": {str(size): number for size, number in assessment.sizes.items()},
        "risk": {
            "before": asdict(assessment.risk_before),
            "after": None if assessment.risk_after is None else asdict(assessment.risk_after),
            **{when: dict(figures) for when, figures in assessment.risk.items() if when == FITTING},
        },
        "columns": [asdict(column) for column in assessment.columns],
        "sensitive": [asdict(column) for column in assessment.sensitive],
        "associations": [asdict(pair) for pair in assessment.associations],
        "association_error": assessment.association_error,
    }


def render(console: Console, assessment: Assessment, released: Path) -> None:
    """An assessment for people."""
    console.print(
        f"\n[bold]{safe(released)}[/]: {assessment.rows_after:,} records in {assessment.classes_after:,} classes "
        f"(before {assessment.classes_before:,}), {assessment.suppressed:,} suppressed or dropped",
        soft_wrap=True,
    )
    console.print(
        f"[bold]k = {assessment.k:,}[/]: every combination of quasi-identifiers fits at least so many records"
    )
    if assessment.hidden_cells:
        cells = sum(assessment.hidden_cells.values())
        console.print(
            f"[bold]k = {assessment.k_wildcard:,}[/] where the {cells:,} cells that are empty or suppressed one by one "
            "fit any value; above they are a value of their own",
            soft_wrap=True,
        )
    for column in assessment.sensitive:
        console.print(
            f"[bold]{safe(column.column)}[/]: at least {column.distinct} different values a class (l by entropy "
            f"{column.entropy:.2f}), at most {column.t:.2f} away from the whole (t)",
            soft_wrap=True,
        )
    console.print()
    console.print(_risk(assessment))
    rows = [
        (
            c.column,
            c.values_before,
            c.values_after,
            _percent(c.information),
            c.distance,
            "" if c.shift is None else f"{c.shift:.3f}",
            *([_percent(c.changed)] if assessment.aligned else []),
        )
        for c in assessment.columns
    ]
    names = ("column", "values before", "after", "information left", "distance", "shift")
    console.print(table("Columns", (*names, *(["cells changed"] if assessment.aligned else [])), rows))
    if assessment.associations:
        worst = sorted(assessment.associations, key=lambda a: -abs(a.before - a.after))[:5]
        pairs = [(f"{a.first} and {a.second}", a.before, a.after) for a in worst]
        title = f"Associations that changed most ({assessment.association_error:.3f} on average)"
        console.print(table(title, ("columns", "before", "after"), pairs))
    for text in (
        f"left out of the release: {visible(', '.join(assessment.removed))}" if assessment.removed else "",
        f"only in the release: {visible(', '.join(assessment.added))}" if assessment.added else "",
        *assessment.notes,
    ):
        if text:
            console.print(text, soft_wrap=True, markup=False)


def _risk(assessment: Assessment) -> Table:
    before = assessment.risk["before"]
    rows = [(name, *(_percent(figures.get(name)) for figures in assessment.risk.values())) for name in before]
    title = f"Risk of being recognized (at risk: above {assessment.risk_before.threshold:g})"
    return table(title, ("attack", *assessment.risk), rows)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


COMMANDS.add("assess", assess_release)
