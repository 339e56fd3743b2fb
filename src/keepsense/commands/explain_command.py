"""`keepsense explain`: a method step by step on a small table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands import options as _complete
from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.options import EngineName
from keepsense.commands.terminal import Json, Quiet, show, table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from keepsense.lessons.recorder import Step
    from keepsense.lessons.walkthrough import Trace


def explain(
    method: Annotated[
        str | None,
        typer.Argument(
            help="Name of the method, such as datafly; without one they are listed.", autocompletion=_complete.lessons
        ),
    ] = None,
    on: Annotated[
        Path | None, typer.Option("--on", help="Small table of your own (up to 200 rows); else ten made-up people.")
    ] = None,
    project: Annotated[Path | None, typer.Option(help="Project file whose table and hierarchies to use.")] = None,
    column: Annotated[
        list[str] | None, typer.Option(help="Column to generalize; can be given more than once. Guessed otherwise.")
    ] = None,
    target: Annotated[str | None, typer.Option(help="Column the release is to predict.")] = None,
    k: Annotated[int, typer.Option("-k", "--k", help="How many people must look alike.")] = 2,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", help="Another setting of the method, such as alpha=0.5; can be given more than once."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Same chances each time. A seed is a secret: never publish it.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write the steps to this file as a page for the browser.")] = None,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run a method on a small table and show each step: what it chose, the score, and the table so far."""
    from keepsense.files import whole_file
    from keepsense.lessons import lesson_page
    from keepsense.lessons import walkthrough as tracing

    if method is None:
        _list(as_json=as_json, quiet=quiet)
        return
    lesson = _lesson(on, project, column or [], target, sets=tracing.about_sets(method), engine=engine)
    trace = tracing.explain(method, lesson, k=k, settings=_settings(setting or []), rng=seed)
    if html is not None:
        with whole_file(html) as part:
            part.write_text(lesson_page.trace_page(trace), encoding="utf-8")

    def render(console: Console) -> None:
        _render(console, trace)
        if html is not None:
            console.print(f"written to {html}: open it in a browser", markup=False)

    show(as_data(trace), render, as_json=as_json, quiet=quiet)


def _settings(texts: list[str]) -> dict[str, Any]:
    """Settings as they are written in project files: numbers, true and false, or text."""
    from keepsense.errors import BadInput
    from keepsense.files import parsed_toml

    settings: dict[str, Any] = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name.strip():
            raise BadInput(f"--set {text}: write it as name=value, for instance --set alpha=0.5")
        try:
            settings[name.strip()] = parsed_toml(f"value = {value}")["value"]
        except ValueError:
            settings[name.strip()] = value.strip()
    return settings


def _lesson(
    on: Path | None,
    project: Path | None,
    columns: list[str],
    target: str | None,
    *,
    sets: bool,
    engine: str | None,
) -> Any:
    from keepsense.errors import BadInput
    from keepsense.lessons.lesson import from_file, from_project_file

    if on is not None and project is not None:
        raise BadInput("give a table with --on or a project file with --project, not both")
    if project is not None:
        return from_project_file(project, sets=sets, engine=engine)
    if on is not None:
        return from_file(on, columns, target, sets=sets, engine=engine)
    if columns or target:
        raise BadInput("--column and --target are about a table of your own; name it with --on")
    return None


def _list(*, as_json: bool, quiet: bool) -> None:
    from keepsense.guide.catalogue import entry
    from keepsense.lessons.walkthrough import explainable

    methods = [entry(name) for name in explainable()]

    def render(console: Console) -> None:
        rows = [(method.name, method.short) for method in methods]
        console.print(table("Methods that can be shown step by step", ("name", "what it does"), rows))
        console.print("Try `keepsense explain datafly`, or `keepsense guide datafly` for its description.")

    show({"algorithms": [method.name for method in methods]}, render, as_json=as_json, quiet=quiet)


def as_data(trace: Trace) -> dict[str, Any]:
    """A trace for scripts."""

    def step_data(step: Step) -> dict[str, Any]:
        marks = {"what happens": list(step.marks)} if step.marks else {}
        return {
            "title": step.title,
            "chosen": step.chosen,
            "score": step.score,
            "safe": step.safe,
            "facts": dict(step.facts),
            "table": [dict(zip(trace.columns, map(str, row), strict=True)) for row in step.table],
            "group sizes": list(step.sizes),
            **marks,
        }

    return {
        "algorithm": trace.method.name,
        "k": trace.k,
        "settings": dict(trace.settings),
        "columns": list(trace.columns),
        "before": step_data(trace.before),
        "steps": [step_data(step) for step in trace.steps],
        "released": {**step_data(trace.final), "suppressed": list(trace.suppressed)},
        "promise": trace.verdict,
        "notes": list(trace.notes),
    }


def _render(console: Console, trace: Trace) -> None:
    from rich.markup import escape

    console.print(f"\n[bold]{escape(trace.method.title)}[/], {escape(f'step by step, on {trace.where}')}")
    console.print(trace.method.intent, markup=False)
    alone = "" if trace.by_rows else f", ! a group of fewer than {trace.k} rows"
    console.print(f"> marks what a step changed{alone}\n", markup=False)
    console.print(_drawn(trace, trace.before, None))
    for number, (step, last) in enumerate(zip(trace.steps, (trace.before, *trace.steps), strict=False), start=1):
        verdict = "" if step.safe is None else ("  [green]safe[/]" if step.safe else "  [yellow]not safe[/]")
        console.print(f"[bold]{number}. {escape(step.title)}[/]{verdict}")
        if step.facts:
            console.print("   " + "; ".join(f"{name}: {value}" for name, value in step.facts), markup=False)
        console.print(_drawn(trace, step, last))
    hidden = sum(trace.suppressed)
    suppressed = f" {hidden} row(s) are suppressed." if hidden else ""
    console.print(f"[bold]Released[/]: {escape(trace.verdict)}{suppressed}")
    for note in trace.notes:
        console.print(f"beware: {note}", markup=False)


def _drawn(trace: Trace, step: Step, last: Step | None) -> Table:
    """The table as it stands; what the step changed is marked, and so are rows that stand out."""
    rows: list[tuple[object, ...]] = []
    for i, row in enumerate(step.table):
        cells = [_marked(value, last is not None and value != last.table[i][j]) for j, value in enumerate(row)]
        beside = [str(trace.lesson.columns[name][i]) for name in trace.further]
        size = f"{step.sizes[i]}{'' if step.sizes[i] >= trace.k else ' !'}"
        about = [step.marks[i]] if any(step.marks) else [] if step.marks else [size]
        rows.append((*([i + 1] if trace.by_rows else []), *cells, *beside, *about))
    return table("" if last else "The table before", trace.head(step), rows)


def _marked(value: object, new: bool) -> str:
    return f"> {value}" if new else f"  {value}"


COMMANDS.add("explain", explain)
_STEP: dict[str, Any] = {
    "title": ("what happens", "text"),
    "chosen": ("what is chosen", "text|null"),
    "score": ("by what", "number|null"),
    "safe": ("whether the promise holds now", "truth"),
    "facts": ("figures", {"*": "any"}),
    "table": ("the rows as they are now", [{"*": "any"}]),
    "group sizes": ("rows of the group of each row", ["whole"]),
    "suppressed?": ("whether each row is suppressed", ["truth"]),
}
OUTPUTS.add(
    "explain",
    {
        "algorithms?": ("without a name: the algorithms that can be explained", ["text"]),
        "algorithm?": ("the one that is explained", "text"),
        "k?": ("size of groups", "whole"),
        "settings?": ("its parameters", {"*": "any"}),
        "columns?": ("columns of the example", ["text"]),
        "before?": ("the table before", _STEP),
        "steps?": ("the steps", [_STEP]),
        "released?": ("the table after", _STEP),
        "promise?": ("what is promised", "text"),
        "notes?": ("what to notice", ["text"]),
    },
)
