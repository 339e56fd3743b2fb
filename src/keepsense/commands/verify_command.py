"""`keepsense verify`: check whether a released file keeps the promises of its project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, FINDINGS, OUTPUTS, PROMISE
from keepsense.commands.options import EngineName, TableName, plain
from keepsense.commands.terminal import Json, Quiet, safe, show, table
from keepsense.display import visible

if TYPE_CHECKING:
    from rich.console import Console


def verify_release(
    released: Annotated[str, typer.Argument(help="Released file, or the postgresql:// address of the database.")],
    project: Annotated[Path, typer.Option("--project", "-p", help="Project file that says what is promised.")] = Path(
        "keepsense.toml"
    ),
    table_name: TableName = None,
    alone: Annotated[
        bool, typer.Option("--alone", help="Look at the release alone, without comparing it with the source.")
    ] = False,
    person: Annotated[
        str | None, typer.Option("--person", help="Column of the file that tells whose rows they are: count people.")
    ] = None,
    rules: Annotated[
        list[str] | None,
        typer.Option("--preset", help="Also check the file by these rules, one by one: hipaa, gdpr or risk-0.09."),
    ] = None,
    show_values: Annotated[
        bool, typer.Option("--show-values", help="Show some combinations that break a promise: real data.")
    ] = False,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Check a released file against the promises of a project file, with a verifier that trusts no method."""
    from keepsense.guide.regulation_checks import check_rules
    from keepsense.release.verify import verify_file

    verification, names = verify_file(
        project,
        released,
        table=table_name,
        original=not alone,
        show_values=show_values,
        person=person,
        engine=engine,
    )
    shown = released if "://" not in released else f"the table {table_name or 'of the project'}"
    result: dict[str, Any] = {
        "file": shown,
        "ok": verification.ok,
        "records": verification.records,
        "classes": verification.classes,
        "suppressed": verification.suppressed,
        "promises": [
            {
                "promise": plain(dict(check.promise)),
                "holds": check.holds,
                "failing_classes": check.failing_classes,
                "failing_records": check.failing_records,
                "worst": check.worst,
                "reason": check.reason,
            }
            for check in verification.checks
        ],
        "findings": [{"code": f.code, "where": f.where, "message": f.message} for f in verification.findings],
    }
    criteria = {name: check_rules(name, project, released, engine=engine) for name in rules or ()}
    if criteria:
        result["presets"] = [
            {"preset": name, **plain(asdict(criterion)), "verdict": criterion.verdict}
            for name, found in criteria.items()
            for criterion in found
        ]
    if show_values:
        result["examples"] = [dict(zip(names, plain(row), strict=True)) for row in verification.examples]

    def render(console: Console) -> None:
        verdict = "[bold green]verified[/]" if verification.ok else "[bold red]NOT verified[/]"
        console.print(
            f"{safe(shown)}: {verdict} ({verification.records:,} records, {verification.classes:,} classes, "
            f"{verification.suppressed:,} suppressed)",
            soft_wrap=True,
        )
        rows = [
            (spelled(check.promise), check.holds, check.failing_classes, check.failing_records, _worst(check.worst))
            for check in verification.checks
        ]
        if rows:
            names_ = ("promise", "holds", "failing classes", "failing records", "worst")
            console.print(table("Promises", names_, rows))
        for name, found in criteria.items():
            lines = [(c.rule, c.verdict, ", ".join(c.columns), f"{c.why}{_figures(c.figures)}") for c in found]
            console.print(table(f"Rules: {name}", ("rule", "verdict", "columns", "why"), lines))
        for finding in verification.findings:
            style = "red" if finding.is_error else "yellow"
            console.print(f"[{style}]{finding.code}[/] {safe(f'{finding.where}: {finding.message}')}", soft_wrap=True)
        for row in verification.examples:
            console.print(
                visible("  " + ", ".join(f"{n} = {v}" for n, v in zip(names, row, strict=True))), markup=False
            )

    show(result, render, as_json=as_json, quiet=quiet)
    if not verification.ok or any(criterion.met is False for found in criteria.values() for criterion in found):
        raise typer.Exit(1)


def spelled(promise: Any) -> str:
    """A promise in a few words: k-anonymity (k = 5)."""
    rest = ", ".join(f"{k} = {v}" for k, v in promise.items() if k != "model" and not isinstance(v, list | dict))
    return f"{promise['model']} ({rest})" if rest else str(promise["model"])


def _figures(figures: Mapping[str, float]) -> str:
    told = "; ".join(f"{name} {value:.4g}" for name, value in figures.items())
    return f" ({told})" if told else ""


def _worst(worst: float | None) -> str:
    return "" if worst is None else f"{worst:.4g}"


COMMANDS.add("verify", verify_release)
OUTPUTS.add(
    "verify",
    {
        "file": ("the released file", "text"),
        "ok": ("whether every promise holds", "truth"),
        "records": ("rows", "whole"),
        "classes": ("groups of alike records", "whole"),
        "suppressed": ("records hidden in every column", "whole"),
        "promises": (
            "each promise",
            [
                {
                    "promise": ("as a project file spells it", PROMISE),
                    "holds": ("whether it holds", "truth"),
                    "failing_classes": ("groups that break it", "whole"),
                    "failing_records": ("records in them", "whole"),
                    "worst": ("the worst figure", "number|null"),
                    "reason": ("why it fails, or cannot be checked", "text|null"),
                }
            ],
        ),
        "findings": FINDINGS,
        "presets?": (
            "with `--preset`: each rule that was checked",
            [
                {
                    "preset": ("name of the rules", "text"),
                    "rule": ("the rule", "text"),
                    "met": ("whether it is met; null where people must look", "truth|null"),
                    "verdict": ("the same in words: met, not met, look", "text"),
                    "why": ("what was seen", "text"),
                    "columns": ("columns it is about", ["text"]),
                    "figures": ("figures that speak to it", {"*": "number"}),
                }
            ],
        ),
        "examples?": ("with `--show-values`: some failing records, real data", [{"*": "any"}]),
    },
)
