"""`keepsense compare`: several project files side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands import COMMANDS
from keepsense.commands._output import Json, Quiet, show, table
from keepsense.commands._progress import progress
from keepsense.commands._reading import EngineName, plain
from keepsense.commands.verify import spelled

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
        found = compare(projects, rng=seed, listener=listener, engine=engine)
    show(
        {"projects": [_as_data(one) for one in found]},
        lambda console: _render(console, found),
        as_json=as_json,
        quiet=quiet,
    )
    if not any(one.ok for one in found):
        raise typer.Exit(1)


_FIGURES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("classes", ("classes",)),
    ("suppressed", ("suppressed records",)),
    ("certainty lost", ("utility", "certainty penalty")),
    ("class size", ("utility", "average class size")),
    ("highest risk", ("risk", "after", "prosecutor, highest")),
    ("average risk", ("risk", "after", "prosecutor, average")),
)


def _as_data(one: Compared) -> dict[str, Any]:
    data: dict[str, Any] = plain(
        {
            "project": one.project,
            "method": one.method,
            "promises": one.promises,
            "ok": one.ok,
            "problem": one.problem,
            "seconds": round(one.seconds, 3),
            **{name: one.figure(*keys) for name, keys in _FIGURES},
            "utility": one.figure("utility"),
            "risk": one.figure("risk"),
        }
    )
    return data


def _render(console: Console, found: list[Compared]) -> None:
    """One column a project: figures of one kind stand side by side, however many projects there are."""
    most = max(len(one.promises) for one in found)
    lines: list[tuple[str, ...]] = [("method", *(one.method for one in found))]
    for i in range(most):
        told = (spelled(one.promises[i]) if i < len(one.promises) else "" for one in found)
        lines.append(("promises" if i == 0 else "", *told))
    lines.append(("would be released", *("yes" if one.ok else "no" for one in found)))
    lines += [(name, *(_figure(keys[-1], one.figure(*keys)) for one in found)) for name, keys in _FIGURES]
    lines.append(("seconds", *(f"{one.seconds:.1f}" for one in found)))
    console.print(table("Projects side by side", ("", *(one.project for one in found)), lines))
    for one in found:
        if one.problem:
            console.print(f"[yellow]{one.project}[/]: {one.problem}", soft_wrap=True)


def _figure(name: str, value: Any) -> str:
    from keepsense.metrics import figure

    if value is None:
        return ""
    if figure(name, value).metric.unit == "share":
        return f"{value:.1%}"
    return f"{value:,.1f}" if isinstance(value, float) else f"{value:,}"


COMMANDS.add("compare", compare_projects)
