"""`keepsense explain`: an algorithm step by step on a small table, to learn how it works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands import COMMANDS
from keepsense.commands._output import Json, Quiet, show, table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from keepsense.explain.step import Step
    from keepsense.explain.trace import Trace


def explain(
    algorithm: Annotated[
        str | None, typer.Argument(help="Name of the algorithm, such as datafly; without one they are listed.")
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
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Run an algorithm on a small table and show each step: what it chose, the score, and the table so far."""
    from keepsense.explain import pages
    from keepsense.explain import trace as tracing
    from keepsense.files import whole_file

    if algorithm is None:
        _list(as_json=as_json, quiet=quiet)
        return
    sets = tracing.about_sets(algorithm)
    lesson = _lesson(on, project, column or [], target, sets=sets)
    found = tracing.explain(algorithm, lesson, k=k, settings=_settings(setting or []), rng=seed)
    if html is not None:
        with whole_file(html) as part:
            part.write_text(pages.trace_page(found), encoding="utf-8")

    def render(console: Console) -> None:
        _render(console, found)
        if html is not None:
            console.print(f"written to {html}: open it in a browser", markup=False)

    show(as_data(found), render, as_json=as_json, quiet=quiet)


def _settings(given: list[str]) -> dict[str, Any]:
    """Settings as they are written in project files: numbers, true and false, or text."""
    import tomllib

    from keepsense.errors import BadInput

    found: dict[str, Any] = {}
    for one in given:
        name, sign, text = one.partition("=")
        if not sign or not name.strip():
            raise BadInput(f"--set {one}: write it as name=value, for instance --set alpha=0.5")
        try:
            found[name.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            found[name.strip()] = text.strip()
    return found


def _lesson(on: Path | None, project: Path | None, columns: list[str], target: str | None, *, sets: bool) -> Any:
    from keepsense.errors import BadInput
    from keepsense.explain.lesson_files import from_file, from_project_file

    if on is not None and project is not None:
        raise BadInput("give a table with --on or a project file with --project, not both")
    if project is not None:
        return from_project_file(project, sets=sets)
    if on is not None:
        return from_file(on, columns, target, sets=sets)
    if columns or target:
        raise BadInput("--column and --target are about a table of your own; name it with --on")
    return None


def _list(*, as_json: bool, quiet: bool) -> None:
    from keepsense.explain.trace import explainable
    from keepsense.guide.catalogue import entry

    found = [entry(name) for name in explainable()]

    def render(console: Console) -> None:
        rows = [(one.name, one.short) for one in found]
        console.print(table("Methods that can be shown step by step", ("name", "what it does"), rows))
        console.print("Try `keepsense explain datafly`, or `keepsense guide datafly` for its description.")

    show({"algorithms": [one.name for one in found]}, render, as_json=as_json, quiet=quiet)


def as_data(found: Trace) -> dict[str, Any]:
    """A trace for scripts."""
    names = found.columns

    def step(one: Step) -> dict[str, Any]:
        marks = {"what happens": list(one.marks)} if one.marks else {}
        return {
            "title": one.title,
            "chosen": one.chosen,
            "score": one.score,
            "safe": one.safe,
            "facts": dict(one.facts),
            "table": [dict(zip(names, map(str, row), strict=True)) for row in one.table],
            "group sizes": list(one.sizes),
            **marks,
        }

    return {
        "algorithm": found.entry.name,
        "k": found.k,
        "settings": dict(found.settings),
        "columns": list(names),
        "before": step(found.before),
        "steps": [step(one) for one in found.steps],
        "released": {**step(found.final), "suppressed": list(found.suppressed)},
        "promise": found.verdict,
        "notes": list(found.notes),
    }


def _render(console: Console, found: Trace) -> None:
    from rich.markup import escape

    where = escape(f"step by step, on {found.lesson.title}; {found.in_a_line}")
    console.print(f"\n[bold]{escape(found.entry.title)}[/], {where}")
    console.print(found.entry.intent, markup=False)
    alone = "" if found.by_rows else f", ! a group of fewer than {found.k} rows"
    console.print(f"> marks what a step changed{alone}\n", markup=False)
    console.print(_drawn(found, found.before, None))
    last = found.before
    for number, one in enumerate(found.steps, start=1):
        verdict = "" if one.safe is None else ("  [green]safe[/]" if one.safe else "  [yellow]not safe[/]")
        console.print(f"[bold]{number}. {escape(one.title)}[/]{verdict}")
        if one.facts:
            console.print("   " + "; ".join(f"{name}: {value}" for name, value in one.facts), markup=False)
        console.print(_drawn(found, one, last))
        last = one
    gone = sum(found.suppressed)
    told = f" {gone} row(s) are suppressed." if gone else ""
    console.print(f"[bold]Released[/]: {escape(found.verdict)}{told}")
    for note in found.notes:
        console.print(f"beware: {note}", markup=False)


def _drawn(found: Trace, one: Step, last: Step | None) -> Table:
    """The table as it stands; what the step changed is marked, and so are rows that stand out."""
    names = found.columns
    further = found.further
    rows: list[tuple[object, ...]] = []
    for i, row in enumerate(one.table):
        cells = [_marked(value, last is not None and value != last.table[i][j]) for j, value in enumerate(row)]
        size = one.sizes[i]
        told = (
            (one.marks[i],) if any(one.marks) else () if one.marks else (f"{size}" if size >= found.k else f"{size} !",)
        )
        number = (i + 1,) if found.by_rows else ()
        rows.append((*number, *cells, *(str(found.lesson.columns[name][i]) for name in further), *told))
    head = ("row",) if found.by_rows else ()
    about = ("what happens",) if any(one.marks) else () if one.marks else ("group of",)
    return table("" if last else "The table before", (*head, *names, *further, *about), rows)


def _marked(value: object, new: bool) -> str:
    return f"> {value}" if new else f"  {value}"


COMMANDS.add("explain", explain)
