"""`keepsense init`: draft a project file for a table."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from keepsense.commands.command_registry import COMMANDS, OUTPUTS
from keepsense.commands.inspect_command import TABLE, Taxonomies, as_data, chosen, render
from keepsense.commands.options import Delimiter, Encoding, EngineName, Format, Header, Language, TableName, reading
from keepsense.commands.terminal import Json, Quiet, safe, show

if TYPE_CHECKING:
    from rich.console import Console


def init(
    file: Annotated[
        str, typer.Argument(help="Table to anonymize: a file, a postgresql:// address, or an ARX project.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="Project file to write.")] = Path("keepsense.toml"),
    k: Annotated[int, typer.Option(min=2, help="Records that every released combination must fit.")] = 5,
    taxonomies: Taxonomies = None,
    language: Language = None,
    format: Format = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    header: Header = None,
    table_name: TableName = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a project file that is there.")] = False,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Inspect a table and write a project file for it: every key explained, every guess to be confirmed by you."""
    from keepsense.draft.open_questions import decisions
    from keepsense.draft.project_draft import prepared
    from keepsense.draft.project_text import check_free, write_draft
    from keepsense.project.project_file import check_project
    from keepsense.release.figures.costs import as_data as costs_data
    from keepsense.release.figures.costs import draft_costs, in_words

    check_free(output, force=force)
    how = reading(format, delimiter, encoding, table_name, header)
    made = prepared(
        file, output, how, k=k, taxonomies=chosen(taxonomies), language=language, engine=engine, force=force
    )
    found, own = made.inspection, made.hierarchies
    write_draft(made.text, output, force=force)

    questions = decisions(found)
    project = check_project(tomllib.loads(made.text), output.name)
    measured = None if quiet and not as_json else draft_costs(project, output.parent, engine)

    def print_it(console: Console) -> None:
        render(console, found)
        there = "" if output == Path("keepsense.toml") else f" {output}"
        if own:
            console.print(safe(f"Hierarchies that lie beside the table are used: {', '.join(sorted(own.values()))}"))
        for sentence in made.left_out:
            console.print(safe(sentence), soft_wrap=True)
        for number, decision in enumerate(questions, 1):
            console.print(f"{number}. {safe(decision)}", soft_wrap=True)
        for sentence in [] if measured is None else in_words(measured):
            console.print(safe(sentence), soft_wrap=True)
        console.print(f"[bold]{safe(output)}[/] is written. Look at the roles in it, then:", soft_wrap=True)
        console.print(f"  [bold]keepsense run{safe(there)}[/]", soft_wrap=True)

    asked = [{"columns": list(d.columns), "question": d.question, "remedy": d.remedy} for d in questions]
    data = {"project": str(output), **as_data(found), "decisions": asked}
    if made.arx:
        data["left out"] = list(made.left_out)
    if measured is not None:
        data["costs"] = costs_data(measured)
    show(data, print_it, as_json=as_json, quiet=quiet)


COMMANDS.add("init", init)
OUTPUTS.add(
    "init",
    {
        "project": ("the project file that was written", "text"),
        **TABLE,
        "decisions": (
            "what to decide",
            [
                {
                    "columns": ("columns it is about", ["text"]),
                    "question": ("the question", "text"),
                    "remedy": ("how to answer it", "text"),
                }
            ],
        ),
    },
)
