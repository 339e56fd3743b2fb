"""`keepsense run`: make a verified release."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from keepsense.commands.command_registry import COMMANDS, FINDINGS, OUTPUTS, PARAMETERS, PROMISE
from keepsense.commands.options import EngineName, plain
from keepsense.commands.terminal import Json, Quiet, progress, safe, show, table
from keepsense.display import percent
from keepsense.errors import Infeasible

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.release.run import Outcome

ProjectFile = Annotated[Path, typer.Argument(help="Project file; `keepsense init` writes one.")]


def run_project(
    project: ProjectFile = Path("keepsense.toml"),
    source: Annotated[
        str | None, typer.Option(help="Table to release instead of the one that the project file names.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder of the release, or its file, if it has an ending."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a key of the project file, such as privacy.0.k=10."),
    ] = None,
    reuse: Annotated[
        Path | None,
        typer.Option(help="Recoding of an earlier release (private/recoding.json) to apply to this table as it is."),
    ] = None,
    unknown: Annotated[
        Literal["refuse", "suppress"],
        typer.Option(help="With --reuse: what becomes of records with values that no rule of the recoding covers."),
    ] = "refuse",
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Make random choices repeatable; keep it secret, for it undoes swaps and noise."),
    ] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="If it fails, show some of the classes that fail: real data.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Also write report.html beside the release and a detailed one in private/.")
    ] = False,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Anonymize a table as the project file says; the release appears only after it was read back and verified."""
    from keepsense.project.project_file import adjusted_project
    from keepsense.release.run import run

    try:
        with progress(quiet=quiet or as_json) as listener:
            done = run(
                adjusted_project(project, source=source, output=output, settings=settings or ()),
                folder=project.parent,
                reuse=reuse,
                unknown=unknown,
                rng=seed,
                listener=listener,
                show_values=show_values,
                engine=engine,
            )
    except Infeasible as failed:
        _tell(failed, show_values=show_values)
        raise
    if report:
        from keepsense.report.report import write_report

        write_report(done, done.file.parent / "report.html", "public")
        write_report(done, done.file.parent / "private" / "report.html")
    show(as_data(done), lambda console: render(console, done), as_json=as_json, quiet=quiet)


def _tell(failed: Infeasible, *, show_values: bool) -> None:
    """Some of the classes that break a promise, where they were asked for; where not, how to ask."""
    from keepsense.verification.check_result import Verification

    if not isinstance(failed.best, Verification):
        return
    for row in failed.best.examples:
        typer.echo("  fails: " + ", ".join("(missing)" if v is None else str(v) for v in row), err=True)
    if not show_values and any(check.failing_classes for check in failed.best.checks):
        failed.relax = (*failed.relax, "see which classes fail, with --show-values (real data)")


def as_data(done: Outcome) -> dict[str, Any]:
    """A run for scripts: the release's public description, where it lies, what to look at and how long it took."""
    from keepsense.release.changes import changes

    data: dict[str, Any] = plain(
        {
            **({"file": str(done.file)} if done.table is None else {"table": done.table}),
            **done.description,
            "changes": [asdict(change) for change in changes(done)],
            "findings": [{"code": f.code, "where": f.where, "message": f.message} for f in done.findings],
            "seconds": {step: round(seconds, 4) for step, seconds in done.seconds.items()},
        }
    )
    return data


def render(console: Console, done: Outcome, seen_from: Path | None = None, *, brief: bool = False) -> None:
    """A run for people: the promise, the price, the risk that is left and, unless `brief`, what to look at."""
    from keepsense.metrics import figure
    from keepsense.release.changes import changes
    from keepsense.release.figures.costs import NEARLY_LOST

    about = done.description
    file = done.file if seen_from is None else done.file.relative_to(seen_from)
    what = str(file) if done.table is None else f"the table {done.table}"
    console.print(
        f"\n[bold green]Verified and released:[/] [bold]{safe(what)}[/]  "
        f"({about['records']:,} records in {about['classes']:,} classes, {about['suppressed records']:,} suppressed)\n",
        soft_wrap=True,
    )
    for sentence in about["in words"]:
        console.print(f"  [green]✓[/] {safe(sentence)}", soft_wrap=True)
    if about["removed columns"]:
        number = about["removed columns"]
        console.print(f"  [green]✓[/] {number} column{'' if number == 1 else 's'} removed")
    console.print()
    flagged = {finding.where for finding in done.findings if finding.code == NEARLY_LOST}
    rows = [
        (c.column, c.values, c.released, c.lost_in_words + (f" {NEARLY_LOST}" if c.column in flagged else ""), c.how)
        for c in changes(done)
    ]
    _steps(console, about.get("steps", []))
    console.print(table("What was changed", ("column", "values before", "after", "lost", "released"), rows))
    if about["utility"] and not brief:
        measured = [
            (name, f"{value:,.4g}", figure(name, value).metric.meaning) for name, value in about["utility"].items()
        ]
        console.print(table("What was lost", ("metric", "figure", "meaning"), measured))
    if about["risk"]:
        console.print(_risk(about["risk"]))
    if brief:
        return
    for finding in done.findings:
        console.print(f"[yellow]{finding.code}[/] {safe(f'{finding.where}: {finding.message}')}", soft_wrap=True)
    console.print(
        f"{sum(done.seconds.values()):.1f} s. {safe(file.parent / 'release.json')} describes the release for its "
        f"readers; {safe(file.parent / 'private')} stays with you.",
        soft_wrap=True,
    )


def _steps(console: Console, steps: list[dict[str, Any]]) -> None:
    """What was done before the method decided, and that figures begin after it."""
    if not steps:
        return
    rows = [
        (step["name"], ", ".join(step["columns"]), f"{step['rows']:,}", _lost(step.get("lost", {}))) for step in steps
    ]
    console.print(table("Steps before the method", ("step", "columns", "rows", "lost"), rows))
    console.print("Before means after these steps, in what follows.\n")


def _lost(shares: dict[str, float]) -> str:
    return ", ".join(
        f"{name} {percent(share)}" if len(shares) > 1 else percent(share) for name, share in shares.items()
    )


def _risk(risk: dict[str, dict[str, float]]) -> Any:
    before, after = risk.get("before", {}), risk.get("after", {})
    names = list(dict.fromkeys([*before, *after]))
    rows = [(name, percent(before.get(name)), percent(after.get(name))) for name in names]
    return table("Risk of being recognized", ("attack", "before", "after"), rows)


COMMANDS.add("run", run_project)
RELEASE: dict[str, Any] = {
    "file?": ("where the release lies", "text"),
    "table?": ("its table, where it went into a database", "text"),
    "keepsense": ("version that made it", "text"),
    "release": ("name of the released file or table", "text"),
    "promises": ("what is promised, as a project file spells it", [PROMISE]),
    "in words": ("the same in sentences", ["text"]),
    "neighbours?": ("which tables cannot be told apart, under differential privacy", "text"),
    "method": (
        "how it was made",
        {
            "name": ("the method", "text"),
            "parameters": PARAMETERS,
            "sets?": ("that for sets", {"name": ("the method", "text"), "parameters": PARAMETERS}),
        },
    ),
    "columns": (
        "released columns by name",
        {
            "*": {
                "role": ("what it tells about people", "text"),
                "kind": ("what its values are", "text"),
                "width?": ("width of its bands", "number"),
                "level?": ("level of its hierarchy", "whole"),
                "lost?": ("share of its certainty that is gone", "number"),
                "flag?": ("that next to nothing is left of it", "text"),
                "found by it alone?": ("share of the records that its value alone points at", "number|null"),
                "tells?": ("hidden columns it tells about, and how much", {"*": "number|null"}),
            }
        },
    ),
    "removed columns": ("number of columns that are not released", "whole"),
    "suppression limit": ("share of records that could be suppressed", "number"),
    "records": ("rows of the release", "whole"),
    "classes": ("groups of records alike in every quasi-identifier", "whole"),
    "suppressed records": ("records that were hidden or left out", "whole"),
    "of them left out": ("of those, the ones that are not in the file", "whole"),
    "verified": ("whether the written file was read back and every promise held", "truth"),
    "hierarchies": ("by column: each released label and what lies above it", {"*": [["any"]]}),
    "transition matrices?": ("by column: chances that readers need to undo redrawing on counts", {"*": "any"}),
    "dictionary": (
        "the data dictionary: by released column",
        {
            "*": {
                "role": ("what it tells about people", "text"),
                "kind": ("what its values are", "text"),
                "done": ("what was done to it", "text"),
                "marks?": ("cells that tell no value, and what they mean", {"*": "text"}),
                "truth?": ("that its values were changed", "text"),
                "taxonomy?": ("the taxonomy of its concepts", "text"),
                "labels?": (
                    "what its labels mean",
                    {
                        "*": {
                            "lower?": ("lower end, null where open", "number|text|null"),
                            "upper?": ("upper end, null where open", "number|text|null"),
                            "concept?": ("id of its concept", "text"),
                            "meaning?": ("what the concept is", "text"),
                            "stands for?": ("values below it that at least k people hold", ["text"]),
                            "and others?": ("whether it stands for more", "truth"),
                        }
                    },
                ),
            }
        },
    ),
    "utility": ("losses by metric", {"*": "number|null"}),
    "risk": ("risk `before` and `after`, by attack", {"*": {"*": "number|null"}}),
    "cells with an apostrophe?": ("by column: cells that a spreadsheet would have run as formulas", {"*": "whole"}),
    "sha256?": ("digest of the released file", "text|null"),
    "changes": (
        "what became of each quasi-identifier",
        [
            {
                "column": ("its name", "text"),
                "values": ("different values before; null under differential privacy", "whole|null"),
                "released": ("different values after", "whole"),
                "lost": ("share of its certainty that is gone", "number|null"),
                "how": ("how it is released", "text"),
            }
        ],
    ),
    "findings": FINDINGS,
    "seconds": ("seconds of each stage", {"*": "number"}),
}
"""What is printed of a release."""
OUTPUTS.add("run", RELEASE)
