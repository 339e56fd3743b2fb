"""`keepsense assess`: measure the utility and the risk of any anonymized table."""

from __future__ import annotations

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.options import EngineName, reading
from keepsense.commands.terminal import Json, Quiet, safe, show, table
from keepsense.display import visible
from keepsense.errors import BadInput
from keepsense.hierarchies.column_kinds import KINDS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from keepsense.privacy.privacy_model import Model
    from keepsense.release.figures.asked import Asked
    from keepsense.release.figures.assess import Assessment


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
    promises: Annotated[
        list[str] | None,
        typer.Option("--promise", help='Promise to look at, as "t-closeness t=0.2 column=illness"; for each.'),
    ] = None,
    hierarchy: Annotated[
        list[str] | None,
        typer.Option("--hierarchy", help="column=FILE: what its labels stand for, and how far its values are apart."),
    ] = None,
    population: Annotated[
        Path | None, typer.Option("--population", help="Table of everybody, for k-map and delta-presence.")
    ] = None,
    threshold: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Risk above which a record counts as at risk.")
    ] = 0.2,
    fraction: Annotated[
        float | None,
        typer.Option(help="Share of the population that is in the table; uniqueness there is then estimated."),
    ] = None,
    household: Annotated[
        str | None, typer.Option(help="Column that tells who lives together; risk of households is added.")
    ] = None,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare an original with its anonymized version: classes, risk, k, l and t reached, change of each column."""
    from keepsense.release.figures.assess import assess

    columns, secret, people = _roles(quasi, sensitive, project)
    asked = _asked(promises, hierarchy, population, project)
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
        asked=asked,
        sampling_fraction=fraction,
        household=household,
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
        from keepsense.project.project_file import read_project

        said = read_project(project)
        # methods for single values leave sets out of the release
        single = [name for name in said.quasi_identifiers if not KINDS[said.columns[name].kind].sets]
        columns = columns or single or list(said.quasi_identifiers)
        secret = secret or list(said.having("sensitive"))
        person = next(iter(said.having("person")), None)
    if not columns:
        raise BadInput("name the quasi-identifiers with --quasi, or a project file that does with --project")
    return columns, secret, person


def _asked(
    promises: list[str] | None, hierarchies: list[str] | None, population: Path | None, project: Path | None
) -> Asked:
    """Promises, hierarchies and the population of the options; those of the project file where these name none."""
    from keepsense.hierarchies.formats.hierarchy_formats import read_hierarchy
    from keepsense.privacy.privacy_model import model
    from keepsense.release.figures.asked import Asked

    files: dict[str, Path] = {}
    models = [promise_of(text) for text in promises or []]
    if project is not None:
        from keepsense.project.project_file import read_project

        said = read_project(project)
        files = {
            name: project.parent / column.hierarchy
            for name, column in said.columns.items()
            if column.hierarchy not in (None, "auto")
        }
        population = population or (project.parent / said.population.path if said.population else None)
        made = [model(str(p["model"]), **{k: v for k, v in p.items() if k != "model"}) for p in said.privacy]
        models = models or [m for m in made if m.about != "mechanism"]
    for text in hierarchies or []:
        name, mark, file = text.partition("=")
        if not mark or not name or not file:
            raise BadInput(f"--hierarchy takes column=FILE, not {text!r}")
        files[name] = Path(file)
    trees = {name: read_hierarchy(file, name) for name, file in files.items()}
    return Asked(tuple(models), trees, None if population is None else str(population))


def promise_of(text: str) -> Model:
    """A promise as it is typed: the model's name, then its parameters as key=value.

    >>> promise_of("t-closeness t=0.2 column=illness").describe()[:29]
    'In every class the values of '
    """
    from keepsense.privacy.privacy_model import model

    words = shlex.split(text)
    name = " ".join(word for word in words if "=" not in word)
    return model(name, **{key: typed(value) for key, _, value in (w.partition("=") for w in words if "=" in w)})


def typed(value: str) -> int | float | str:
    """A number where the text is one."""
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return value


def as_data(assessment: Assessment) -> dict[str, Any]:
    """An assessment for scripts."""
    from keepsense.release.figures.assess import FITTING

    data = {
        key: value
        for key, value in vars(assessment).items()
        if key not in ("risk", "risk_before", "risk_after", "sizes", *_TABLES, "population", "utility")
    }
    return {
        **{key: list(value) if isinstance(value, tuple) else value for key, value in data.items()},
        "sizes": {str(size): number for size, number in assessment.sizes.items()},
        "risk": {
            "before": asdict(assessment.risk_before),
            "after": None if assessment.risk_after is None else asdict(assessment.risk_after),
            **{when: dict(figures) for when, figures in assessment.risk.items() if when == FITTING},
        },
        "attacks": {when: dict(figures) for when, figures in assessment.risk.items()},
        **{key: [asdict(entry) for entry in getattr(assessment, key)] for key in _TABLES},
        **({} if assessment.population is None else {"population": asdict(assessment.population)}),
        "association_error": assessment.association_error,
        "utility": {figure.name: round(figure.value, 4) + 0.0 for figure in assessment.utility},
    }


_TABLES = ("columns", "sensitive", "associations", "promises")
"""What of an assessment is a list of entries."""


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
        if column.t_hierarchical is not None:
            console.print(f"    by the distances of its hierarchy at most {column.t_hierarchical:.2f} away (t)")
        if column.fitting is not None:
            distinct, mixed, t = column.fitting
            console.print(
                f"    where hidden cells fit any value: at least {distinct} (by entropy {mixed:.2f}), t {t:.2f}",
                soft_wrap=True,
            )
    if (in_all := assessment.population) is not None:
        console.print(
            f"[bold]population[/]: every class fits at least {in_all.k_map:,} people (k-map); the chance of being in "
            f"the release is {in_all.presence_least:.1%} to {in_all.presence_greatest:.1%} (delta-presence)",
            soft_wrap=True,
        )
    console.print()
    if assessment.promises:
        lines = [(p.promise, p.strict, "" if p.fitting is None else p.fitting, p.records) for p in assessment.promises]
        console.print(
            table("Promises", ("promise", "holds", "where hidden cells fit any", "records that break it"), lines)
        )
    for risks in _risks(assessment):
        console.print(risks)
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
    headings = ("column", "values before", "after", "information left", "distance", "shift")
    console.print(table("Columns", (*headings, *(["cells changed"] if assessment.aligned else [])), rows))
    if assessment.utility:
        lost = [(figure.label, figure.text, figure.metric.meaning) for figure in assessment.utility]
        console.print(table("What was lost", ("metric", "value", "meaning"), lost))
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


def _risks(assessment: Assessment) -> list[Table]:
    """Figures of the whole table, and below them those of each column."""
    from keepsense.metrics import figure

    names = dict.fromkeys(name for figures in assessment.risk.values() for name in figures)
    rows: dict[bool, list[tuple[str, ...]]] = {False: [], True: []}
    for name in names:
        shown = [_percent(figures.get(name)) for figures in assessment.risk.values()]
        rows[bool(figure(name, 0.0).column)].append((name, *shown))
    title = f"Risk of being recognized (at risk: above {assessment.risk_before.threshold:g})"
    titles = {False: (title, "attack"), True: ("Columns that tell people apart", "figure, column")}
    return [table(titles[each][0], (titles[each][1], *assessment.risk), rows[each]) for each in rows if rows[each]]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


COMMANDS.add("assess", assess_release)
OUTPUTS.add(
    "assess",
    {
        "rows_before": ("rows of the original", "whole"),
        "rows_after": ("rows of the release", "whole"),
        "suppressed": ("records hidden in every column", "whole"),
        "classes_before": ("groups of alike records in the original", "whole"),
        "classes_after": ("groups of alike records in the release", "whole"),
        "k": ("size of the smallest group", "whole"),
        "k_wildcard?": ("the same where cells that are empty or suppressed one by one fit any value", "whole"),
        "hidden_cells?": ("by column: cells that are empty or suppressed one by one", {"*": "whole"}),
        "aligned?": ("whether the rows of both files are in one order", "truth"),
        "removed?": ("columns of the original that are not released", ["text"]),
        "added?": ("columns of the release that the original lacks", ["text"]),
        "notes?": ("what to know about the comparison", ["text"]),
        "sizes?": ("how many groups there are of each size", {"*": "whole"}),
        "risk?": (
            "risk `before` and `after`, by attack; also `after, hidden cells fit any` where there are such",
            {"*": {"*": "number|null"}},
        ),
        "columns?": ("what became of each column", [{"*": "any"}]),
        "sensitive?": (
            "how mixed sensitive values are in groups; `fitting`: hidden cells fit any",
            [{"*": "any"}],
        ),
        "promises?": (
            "promises that were asked about",
            [
                {
                    "promise": ("in words", "text"),
                    "strict": ("whether it holds as the cells stand", "truth"),
                    "fitting": ("whether it holds where hidden cells fit any value", "truth|null"),
                    "records": ("records that break it as the cells stand", "whole"),
                }
            ],
        ),
        "population?": ("how the release lies in the population", {"*": "number"}),
        "associations?": ("how strongly columns go together, before and after", [{"*": "any"}]),
        "association_error?": ("mean difference of these", "number|null"),
        "*": "any",
    },
)
