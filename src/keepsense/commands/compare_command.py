"""`keepsense compare`: several project files side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS, PROMISE
from keepsense.commands.options import EngineName, plain
from keepsense.commands.terminal import Json, Quiet, progress, safe, show, table
from keepsense.commands.verify_command import spelled

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.release.compare import Compared


def compare_projects(
    projects: Annotated[list[Path], typer.Argument(help="Project files.")],
    seed: Annotated[int | None, typer.Option(min=0, help="Make random choices repeatable; keep it secret.")] = None,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Rehearse several project files and compare what each would promise, lose, risk and cost. Nothing is released."""
    from keepsense.release.compare import compare

    with progress(quiet=quiet or as_json) as listener:
        compared = compare(projects, rng=seed, listener=listener, engine=engine)
    show(
        {"projects": [_as_data(project) for project in compared]},
        lambda console: _render(console, compared),
        as_json=as_json,
        quiet=quiet,
    )
    if not any(project.ok for project in compared):
        raise typer.Exit(1)


_FIGURES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("classes", ("classes",)),
    ("suppressed", ("suppressed records",)),
    ("certainty lost", ("utility", "certainty penalty")),
    ("class size", ("utility", "average class size")),
    ("highest risk", ("risk", "after", "prosecutor, highest")),
    ("average risk", ("risk", "after", "prosecutor, average")),
)


def _as_data(project: Compared) -> dict[str, Any]:
    data: dict[str, Any] = plain(
        {
            "project": project.project,
            "method": project.method,
            "promises": project.promises,
            "ok": project.ok,
            "problem": project.problem,
            "seconds": round(project.seconds, 3),
            **{name: project.figure(*keys) for name, keys in _FIGURES},
            "utility": project.figure("utility"),
            "risk": project.figure("risk"),
        }
    )
    return data


def _render(console: Console, compared: list[Compared]) -> None:
    """One column a project: figures of one kind stand side by side, however many projects there are."""
    most = max(len(project.promises) for project in compared)
    lines: list[tuple[str, ...]] = [("method", *(project.method for project in compared))]
    for i in range(most):
        promises = (spelled(project.promises[i]) if i < len(project.promises) else "" for project in compared)
        lines.append(("promises" if i == 0 else "", *promises))
    lines.append(("would be released", *("yes" if project.ok else "no" for project in compared)))
    lines += [(name, *(_figure(keys[-1], project.figure(*keys)) for project in compared)) for name, keys in _FIGURES]
    lines.append(("seconds", *(f"{project.seconds:.1f}" for project in compared)))
    console.print(table("Projects side by side", ("", *(project.project for project in compared)), lines))
    for project in compared:
        if project.problem:
            console.print(f"[yellow]{safe(project.project)}[/]: {safe(project.problem)}", soft_wrap=True)


def _figure(name: str, value: Any) -> str:
    from keepsense.metrics import figure

    if value is None:
        return ""
    if figure(name, value).metric.unit == "share":
        return f"{value:.1%}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


COMMANDS.add("compare", compare_projects)
OUTPUTS.add(
    "compare",
    {
        "projects": (
            "each project, run",
            [
                {
                    "project": ("its file", "text"),
                    "method": ("its method", "text"),
                    "promises": ("what it promises", [PROMISE]),
                    "ok": ("whether a release came out", "truth"),
                    "problem": ("why not", "text|null"),
                    "seconds": ("how long it took", "number|null"),
                    "classes": ("groups of alike records", "whole|null"),
                    "suppressed": ("suppressed records", "whole|null"),
                    "certainty lost": ("share of certainty gone", "number|null"),
                    "class size": ("records of a group on average", "number|null"),
                    "highest risk": ("of being recognized", "number|null"),
                    "average risk": ("of being recognized", "number|null"),
                    "utility": ("losses by metric", {"*": "number|null"}),
                    "risk": ("risk `before` and `after`, by attack", {"*": {"*": "number|null"}}),
                }
            ],
        )
    },
)
