"""`keepsense guide`: which method fits a table and its purpose, why, and what to beware of."""

from __future__ import annotations

import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from keepsense.commands._output import Json, Quiet, show, table

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.guide.advise import Guidance
    from keepsense.guide.answers import Answers
    from keepsense.guide.presets import Preset
    from keepsense.guide.try_out import Trial
    from keepsense.publish.project import Project


def guide(
    name: Annotated[
        str | None, typer.Argument(help="Show one method of the catalogue, such as datafly, and ask nothing.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all methods as a tree, and ask nothing.")] = False,
    project: Annotated[Path | None, typer.Option(help="Read the answers off this project file.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(help="What columns hold: words, categories, ordered, numbers, dates, codes, sets; repeatable."),
    ] = None,
    purpose: Annotated[
        str | None, typer.Option(help="general, classification, regression, single columns or correlations.")
    ] = None,
    promise: Annotated[
        str | None,
        typer.Option(
            help="k-anonymity, l-diversity, t-closeness, probabilistic k-anonymity, differential privacy, none."
        ),
    ] = None,
    truthful: Annotated[
        bool | None, typer.Option("--truthful/--not-truthful", help="Whether every released record must be true.")
    ] = None,
    k: Annotated[int | None, typer.Option("-k", "--k", help="How many people must look alike.")] = None,
    rows: Annotated[int | None, typer.Option(min=1, help="Number of rows.")] = None,
    columns: Annotated[
        int | None, typer.Option(min=1, help="Number of columns by which people could be recognized.")
    ] = None,
    even: Annotated[bool | None, typer.Option("--even", help="Each column must have one level of detail.")] = None,
    reuse: Annotated[bool | None, typer.Option("--reuse", help="The same rule is to fit later files.")] = None,
    sensitive: Annotated[str | None, typer.Option(help="Column with what people would rather keep private.")] = None,
    target: Annotated[str | None, typer.Option(help="Column the release is to predict (for --try).")] = None,
    preset: Annotated[str | None, typer.Option(help="Rules to follow: hipaa or risk-0.09.")] = None,
    try_on: Annotated[
        Path | None, typer.Option("--try", help="Try the recommended methods on this table, and rank them.")
    ] = None,
    html: Annotated[Path | None, typer.Option(help="With a method's name: write its description as a page.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=12, help="Most methods to recommend.")] = 3,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recommend methods for a table: asks a few questions, or takes the answers from options or a project file."""
    from keepsense.guide.advise import advise
    from keepsense.guide.answers import Answers, from_project, with_preset
    from keepsense.guide.presets import preset as find_preset

    if listed or name is not None:
        _catalogue(name, html, as_json=as_json, quiet=quiet)
        return
    rules = None if preset is None else find_preset(preset)
    plan, folder, counted = _project(project, try_on, target, sensitive)
    given: dict[str, Any] = {
        "kinds": tuple(kind) if kind else None,
        "purpose": purpose,
        "promise": promise,
        "truthful": truthful,
        "k": k,
        "rows": rows or counted,
        "columns": columns,
        "even": even,
        "reuse": reuse,
        "sensitive": True if sensitive else None,
        "column": sensitive,
    }
    told = {key: value for key, value in given.items() if value is not None}
    if plan is not None:
        answers = replace(from_project(plan, counted), **told, **_promise_changed(promise, k))
    elif kind or as_json or quiet or not sys.stdin.isatty():
        answers = Answers(**_checked(told))
    else:
        answers = _ask(told)
    if rules is not None and rules.k is not None:
        answers = with_preset(answers, rules.k, rules.privacy)
    found = advise(answers, limit)
    trials = _tried(plan, folder, found) if try_on is not None and plan is not None else []
    names = list(plan.columns) if plan is not None else []
    result = _result(found, trials, rules, names)
    show(result, lambda console: _render(console, found, trials, rules, names), as_json=as_json, quiet=quiet)


def _promise_changed(promise: str | None, k: int | None) -> dict[str, Any]:
    """What a project file promises gives way to what was said on the command line."""
    return {"privacy": ()} if promise is not None or k is not None else {}


def _checked(told: dict[str, Any]) -> dict[str, Any]:
    from keepsense.errors import BadInput
    from keepsense.guide.answers import KINDS

    if "kinds" not in told:
        raise BadInput(
            f"say what the columns hold with --kind ({', '.join(KINDS)}), or give a project file with --project, or a "
            "table with --try"
        )
    return told


def _project(
    file: Path | None, try_on: Path | None, target: str | None, sensitive: str | None
) -> tuple[Project | None, Path, int | None]:
    """The project the answers come from, the folder its paths start at, and the number of rows where it is known."""
    from keepsense.engines import engine
    from keepsense.errors import BadInput
    from keepsense.guide.lesson import project_for
    from keepsense.publish.project import Source, read_project

    rows = None
    if try_on is not None:
        if not try_on.is_file():
            raise BadInput(f"{try_on.name}: there is no such file")
        with engine() as running:
            rows = running.read(str(try_on)).rows
    if file is not None:
        project = read_project(file)
        if try_on is not None:
            here = Source.model_validate({"path": str(try_on.resolve())})
            project = project.model_copy(update={"source": here})
        return project, file.parent, rows
    if try_on is not None:
        promised = [{"model": "k-anonymity", "k": 5}]
        return project_for(try_on, target=target, sensitive=sensitive, privacy=promised), try_on.parent, rows
    return None, Path(), None


# ---- asking ----------------------------------------------------------------------------------------------------------


def _ask(told: dict[str, Any]) -> Answers:
    """Ask what was not told as an option."""
    from keepsense.guide.answers import KINDS, PROMISES, PURPOSES, Answers

    typer.echo("A few questions; press Enter for the answer in brackets.\n")
    if "kinds" not in told:
        told["kinds"] = tuple(_several("What do the columns hold by which people could be recognized?", KINDS))
    if "columns" not in told:
        told["columns"] = typer.prompt("How many such columns are there?", type=int, default=4)
    if "rows" not in told:
        told["rows"] = typer.prompt("About how many rows has the table?", type=int, default=10_000)
    if "purpose" not in told:
        told["purpose"] = _one("What is the release for?", PURPOSES)
    if "truthful" not in told:
        told["truthful"] = typer.confirm("Must every released record be true?", default=True)
    if "sensitive" not in told:
        told["sensitive"] = typer.confirm("Is there a column people would rather keep to themselves?", default=True)
    if "promise" not in told:
        told["promise"] = _one("What do you want to promise?", PROMISES)
    if "k" not in told and told["promise"] not in ("differential privacy", "none"):
        told["k"] = typer.prompt("Among how many people shall everybody be hidden (k)?", type=int, default=5)
    if told["truthful"]:
        if "reuse" not in told:
            told["reuse"] = typer.confirm("Is the same rule to fit later files too?", default=False)
        if "even" not in told and not told["reuse"]:
            told["even"] = typer.confirm("Must each column have one level of detail throughout?", default=False)
    typer.echo("")
    return Answers(**told)


def _one(question: str, options: Any) -> str:
    return _several(question, options, most=1)[0]


def _several(question: str, options: Any, most: int | None = None) -> list[str]:
    names = list(options)
    typer.echo(question)
    for i, (option, meaning) in enumerate(options.items(), start=1):
        typer.echo(f"  {i}  {option}: {meaning}")
    how = "Number" if most == 1 else "Numbers, with commas"
    while True:
        given = str(typer.prompt(how, default="1"))
        parts = [part.strip() for part in given.split(",") if part.strip()]
        good = all(part.isdigit() and 1 <= int(part) <= len(names) for part in parts)
        if good and 0 < len(parts) <= (most or len(names)):
            return list(dict.fromkeys(names[int(part) - 1] for part in parts))
        typer.echo(f"  please give {'a number' if most == 1 else 'numbers'} from 1 to {len(names)}")


# ---- trying ----------------------------------------------------------------------------------------------------------


def _tried(plan: Project, folder: Path, found: Guidance) -> list[Trial]:
    from keepsense.errors import BadInput
    from keepsense.guide.try_out import try_out

    answers = found.answers
    promised = answers.promised() or [{"model": "k-anonymity", "k": 2}]
    for section in promised:
        if section.get("column") == "...":
            raise BadInput(f"{section['model']} is about a sensitive column; name it with --sensitive")
    changed = plan.model_copy(
        update={
            "privacy": promised,
            "release": plan.release.model_copy(update={"suppression": answers.suppression}),
        }
    )
    return try_out(changed, [one for one in found.advice if one.part == "records"], folder=folder)


# ---- showing ---------------------------------------------------------------------------------------------------------


def _result(found: Guidance, trials: list[Trial], rules: Preset | None, names: list[str]) -> dict[str, Any]:
    result: dict[str, Any] = {
        "answers": {**asdict(found.answers), "privacy": found.answers.promised()},
        "recommended": [
            {
                "name": one.name,
                "title": one.entry.title,
                "for": one.part,
                "in project files": one.entry.project,
                "reasons": list(one.reasons),
                "beware": list(one.warnings),
                "parameters": one.parameters,
                "settings": one.settings(found.answers),
            }
            for one in found.advice
        ],
        "warnings": [{"code": w.code, "about": w.where, "text": w.message} for w in found.warnings],
        "left out": found.excluded,
    }
    if trials:
        result["tried"] = [asdict(trial) for trial in trials]
    if rules is not None:
        result["preset"] = {"name": rules.name, "columns": rules.found(names), "notes": list(rules.notes)}
    return result


def _render(console: Console, found: Guidance, trials: list[Trial], rules: Preset | None, names: list[str]) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    if not found.advice:
        console.print("[bold]No method of the catalogue fits all of this.[/] What stands in the way:\n")
        for name, why in found.excluded.items():
            console.print(f"  {name}: {why}", markup=False)
    for number, one in enumerate(found.advice, start=1):
        part = " (for the columns that hold sets)" if one.part == "sets" and found.answers.others else ""
        console.print(f"[bold]{number}. {escape(one.entry.title)}[/]{part}")
        console.print(Padding(escape(one.entry.intent), (0, 0, 0, 3)))
        for reason in one.reasons:
            console.print(Padding(f"[green]+[/] {escape(reason)}", (0, 0, 0, 3)))
        for caution in one.warnings:
            console.print(Padding(f"[yellow]![/] {escape(caution)}", (0, 0, 0, 3)))
        how = f'in a project file: "{one.entry.project}"' if one.entry.project else f"from Python: {one.entry.code}"
        console.print(Padding(f"[bright_black]{escape(how)}[/]", (0, 0, 0, 3)))
    if found.warnings:
        console.print("\n[bold]Beware[/]")
        for warning in found.warnings:
            console.print(Padding(f"[yellow]{warning.code}[/] {escape(warning.message)}.", (0, 0, 0, 3)))
    if rules is not None:
        _preset(console, rules, names)
    if trials:
        _trials(console, trials)
    _settings(console, found, trials)


def _settings(console: Console, found: Guidance, trials: list[Trial]) -> None:
    """What to write into the project file: for the best one that was tried, or the first that can be named there."""
    by_name = {one.name: one for one in found.advice if one.entry.project}
    best = next((by_name[t.name] for t in trials if t.ok and t.name in by_name), None)
    best = best or next(iter(by_name.values()), None)
    if best is not None:
        console.print(f"\n[bold]To begin with[/], in keepsense.toml ({best.entry.title}):\n")
        console.print(best.settings(found.answers), markup=False)
        console.print(
            f'\n`keepsense guide "{best.name}"` says more about it; `keepsense guide --list` lists all methods.',
            markup=False,
        )


def _preset(console: Console, rules: Preset, names: list[str]) -> None:
    from rich.markup import escape
    from rich.padding import Padding

    console.print(f"\n[bold]{escape(rules.title)}[/]")
    console.print(Padding(escape(rules.about), (0, 0, 0, 3)))
    told = rules.found(names)
    if told:
        console.print(table("What it says about your columns", ("column", "rule"), list(told.items())))
    elif rules.remove:
        kinds = ", ".join(dict.fromkeys(rules.remove.values()))
        console.print(Padding(f"To remove: {escape(kinds)}.", (0, 0, 0, 3)))
        for what in dict.fromkeys(rules.coarsen.values()):
            console.print(Padding(f"To coarsen: {escape(what)}.", (0, 0, 0, 3)))
    for note in rules.notes:
        console.print(Padding(f"[yellow]![/] {escape(note)}", (0, 0, 0, 3)))


def _trials(console: Console, trials: list[Trial]) -> None:
    good = [trial for trial in trials if trial.ok]
    if good:
        rows = [
            (
                trial.name,
                "" if trial.loss is None else f"{trial.loss:.3f}",
                "" if trial.risk is None else f"{trial.risk:.3f}",
                trial.risk_kind,
                trial.suppressed,
                f"{trial.seconds:.1f} s",
            )
            for trial in good
        ]
        console.print("")
        console.print(
            table(
                "Tried on your table, best first",
                ("method", "loss", "risk", "what the risk is", "suppressed", "time"),
                rows,
                "loss: 0 as it was, 1 all detail gone; risk: chance to recognize a record. Nothing was released.",
            )
        )
    for trial in trials:
        if not trial.ok:
            console.print(f"{trial.name}: {trial.problem}", markup=False)
        for note in trial.notes:
            console.print(f"{trial.name}: {note}", markup=False)


# ---- the catalogue ---------------------------------------------------------------------------------------------------


def _catalogue(name: str | None, html: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Show one entry, or the tree of all."""
    from keepsense.engines.files import whole_file
    from keepsense.guide import catalogue, describe, pages, taxonomy_tree

    if name is None:
        trees = taxonomy_tree.trees()

        def render(console: Console) -> None:
            console.print("")
            for branch in trees:
                console.print(taxonomy_tree.draw_tree_text(branch), markup=False)
                console.print("")
            console.print("* one of the nine algorithms of Ben Fredj et al. (2015)")
            console.print('Say more about one: `keepsense guide datafly`, `keepsense guide "rank swapping"`')

        entries = [describe.as_data(one) for one in catalogue.catalogue().values()]
        show({"methods": entries}, render, as_json=as_json, quiet=quiet)
        return
    found = catalogue.entry(name)
    if html is not None:
        with whole_file(html) as part:
            part.write_text(pages.entry_page(found.name), encoding="utf-8")

    def render_one(console: Console) -> None:
        console.print(describe.as_text(found), markup=False)
        if html is not None:
            console.print(f"\nwritten to {html}: open it in a browser", markup=False)

    show(describe.as_data(found), render_one, as_json=as_json, quiet=quiet)
