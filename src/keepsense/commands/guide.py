"""`keepsense guide`: which method fits a table and its purpose, why, and what to beware of."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from keepsense.commands import COMMANDS
from keepsense.commands.parts import complete as _complete
from keepsense.commands.parts.guide_catalogue import show_catalogue
from keepsense.commands.parts.guide_change import PROJECT, Change, change_of
from keepsense.commands.parts.guide_questions import asked, checked
from keepsense.commands.parts.output import Json, Quiet, safe, show
from keepsense.commands.parts.outputs import OUTPUTS, PARAMETERS
from keepsense.commands.parts.reading import EngineName
from keepsense.errors import Infeasible
from keepsense.hierarchies.kinds import KindName

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.guide.advise import Advice, Guidance
    from keepsense.guide.answers import Answers
    from keepsense.guide.try_out import Trial
    from keepsense.project.file import Project
    from keepsense.release.figures.trade import Trade


def guide(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Show one method of the catalogue, such as datafly, and ask nothing.", autocompletion=_complete.methods
        ),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List all methods as a tree, and ask nothing.")] = False,
    project: Annotated[Path | None, typer.Option(help="Read the answers off this project file.")] = None,
    kind: Annotated[
        list[str] | None,
        typer.Option(
            help=f"What columns hold: {', '.join(get_args(KindName))}, or category; repeatable.",
            autocompletion=_complete.kinds,
        ),
    ] = None,
    purpose: Annotated[str | None, typer.Option(help="{purposes}.")] = None,
    promise: Annotated[
        str | None,
        typer.Option(help="{promises}."),
    ] = None,
    form: Annotated[str | None, typer.Option(help="Form of a promise that has several, such as concepts.")] = None,
    fraction: Annotated[
        float | None, typer.Option(min=0.0, max=1.0, help="Share of the population that is in the table.")
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
    same_taxonomy: Annotated[
        bool | None, typer.Option("--same-taxonomy", help="All columns of words share one taxonomy.")
    ] = None,
    preset: Annotated[str | None, typer.Option(help="Rules to follow: hipaa, hipaa-expert, ema or risk-0.09.")] = None,
    try_on: Annotated[
        Path | None, typer.Option("--try", help="Try the recommended methods on this table, and rank them.")
    ] = None,
    seconds: Annotated[float, typer.Option(min=1, help="With --try: time for each method.")] = 30.0,
    write: Annotated[
        bool, typer.Option("--write", help="Put the recommended method into the project file; shows the change.")
    ] = False,
    method: Annotated[
        str | None,
        typer.Option(
            help="With --write: which of the recommended methods; the first otherwise.",
            autocompletion=_complete.methods,
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="With a method's name: write its description as a page.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=12, help="Most methods to recommend.")] = 3,
    engine: EngineName = None,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Recommend methods for a table: asks a few questions, or takes the answers from options or a project file."""
    from keepsense.commands.parts import guide_view as view
    from keepsense.guide.advise import advise
    from keepsense.guide.answers import Answers, from_project, with_preset
    from keepsense.guide.presets import preset as find_preset

    if listed or name is not None:
        show_catalogue(name, html, as_json=as_json, quiet=quiet)
        return
    rules = None if preset is None else find_preset(preset)
    asking = not (kind or as_json or quiet) and sys.stdin.isatty()
    if project is None and PROJECT.is_file() and not kind and (write or (asking and try_on is None)):
        project = PROJECT if write or typer.confirm(f"Read the answers off {PROJECT}?", default=True) else None
    plan, folder, counted = _project(project, try_on, target, sensitive, engine)
    given: dict[str, Any] = {
        "kinds": tuple(kind) if kind else None,
        "purpose": purpose,
        "promise": promise,
        "form": form,
        "fraction": fraction,
        "truthful": truthful,
        "k": k,
        "rows": rows or counted,
        "columns": columns,
        "even": even,
        "reuse": reuse,
        "sensitive": True if sensitive else None,
        "column": sensitive,
        "same_taxonomy": same_taxonomy,
    }
    told = {key: value for key, value in given.items() if value is not None}
    if plan is not None:
        answers = replace(from_project(plan, counted), **told)
        answers = replace(answers, privacy=_promise_changed(answers, promise or form, k))
    elif kind or as_json or quiet:
        answers = Answers(**checked(told))
    else:
        answers = asked(told, terminal=sys.stdin.isatty())
    if rules is not None and rules.k is not None:
        answers = with_preset(answers, rules.k, rules.privacy)
    found = advise(answers, limit)
    trials = []
    if try_on is not None and plan is not None:
        trials = _tried(plan, folder, found, seconds, quiet=quiet or as_json, engine=engine)
    weighed = _trade(plan, found.answers, folder, trials, engine)
    names = list(plan.columns) if plan is not None else []
    best = view.chosen(found, trials, method)
    change = None
    if write and trials and best is None:
        raise Infeasible(
            "none of the methods that were tried keeps the promise for this table, so nothing is written",
            relax=(
                "try more of them, with --limit",
                "give them more time, with --seconds",
                "ask for a smaller promise",
            ),
        )
    if write:
        other = promise is not None or k is not None or (rules is not None and rules.k is not None)
        roles = {column: role for column, role in ((target, "target"), (sensitive, "sensitive")) if column}
        change = change_of(
            project or PROJECT, try_on, best, found, rules, names, roles, other_promise=other, engine=engine
        )
    result = view.as_data(found, trials, rules, names) | ({} if change is None else change.as_data())
    result |= {} if weighed is None else {"trade": weighed.as_data()}

    def render(console: Console) -> None:
        view.render(console, found, trials, rules, names)
        _weights(console, weighed)
        _next(console, best, project, try_on, change)

    show(result, render, as_json=as_json, quiet=quiet)
    if trials and best is None:
        raise typer.Exit(1)
    if change is not None and change.text != change.old:
        if asking and not typer.confirm(f"\nWrite this into {change.path}?", default=True):
            typer.echo("Nothing was written.")
            return
        change.write()
        if not (quiet or as_json):
            typer.echo(f"{change.path} is written. Then: keepsense run{change.named}")


def _promise_changed(answers: Answers, promise: str | None, k: int | None) -> tuple[Any, ...]:
    """What a project file promises, with the k said on the command line; another promise stands for itself."""
    if promise is not None:
        return ()
    return tuple({**one, "k": k} if k is not None and "k" in one else one for one in answers.privacy)


def _project(
    file: Path | None, try_on: Path | None, target: str | None, sensitive: str | None, engine: str | None
) -> tuple[Project | None, Path, int | None]:
    """The project the answers come from, the folder its paths start at, and the number of rows where it is known."""
    from keepsense.draft.drafted import drafted
    from keepsense.engines import started
    from keepsense.errors import BadInput
    from keepsense.project.file import Source, read_project

    rows = None
    if try_on is not None:
        if not try_on.is_file():
            raise BadInput(f"{try_on.name}: there is no such file")
        with started(engine) as running:
            rows = running.read(str(try_on)).rows
    if file is not None:
        project = read_project(file)
        if try_on is not None:
            here = Source.model_validate({"path": str(try_on.resolve())})
            project = project.model_copy(update={"source": here})
        return project, file.parent, rows
    if try_on is not None:
        return drafted(try_on, target=target, sensitive=sensitive, engine=engine), try_on.parent, rows
    return None, Path(), None


def _tried(
    plan: Project, folder: Path, found: Guidance, seconds: float, *, quiet: bool, engine: str | None
) -> list[Trial]:
    from keepsense.commands.parts.progress import progress
    from keepsense.guide.try_out import try_out

    answers, changed = found.answers, _promising(plan, found.answers)
    # beside other columns, sets are recoded by the one method for that, in every trial
    tried = [one for one in found.advice if one.part == "records" or not answers.others]
    with progress(quiet=quiet, what="trying") as listener:
        return try_out(changed, tried, folder=folder, seconds=seconds, listener=listener, engine=engine)


def _promising(plan: Project, answers: Answers) -> Project:
    """The project with the promise that is asked for."""
    from keepsense.guide.answers import refuse_untold

    promised = answers.promised()
    refuse_untold(promised)
    release = plan.release.model_copy(update={"suppression": answers.suppression})
    return plan.model_copy(update={"privacy": promised, "release": release})


def _trade(
    plan: Project | None, answers: Answers, folder: Path, trials: list[Trial], engine: str | None
) -> Trade | None:
    """What each column would keep if it weighed twice, where methods were tried on a table."""
    from keepsense.release.figures.trade import project_trade

    return project_trade(_promising(plan, answers), folder, engine) if trials and plan is not None else None


def _weights(console: Console, weighed: Trade | None) -> None:
    """What each column would keep if it weighed twice."""
    if weighed is None:
        return
    console.print(f"\n[bold]If a column weighed twice[/] ({safe(weighed.measured)})")
    for offer in weighed.offers:
        console.print(f"  {safe(offer.sentence)}", soft_wrap=True)


def _next(
    console: Console, best: Advice | None, project: Path | None, try_on: Path | None, change: Change | None
) -> None:
    """What to do now."""
    if change is not None:
        told = "is new." if not change.old else "is to be changed:"
        told = "is as it should be; nothing to change." if change.text == change.old else told
        console.print(f"\n[bold]{safe(change.path.name)}[/] {safe(told)}")
        if change.old and change.text != change.old:
            for line in change.difference.splitlines():
                style = "green" if line.startswith("+") else "red" if line.startswith("-") else "bright_black"
                console.print(line, style=style, markup=False)
        return
    if best is None:
        return
    console.print("\n[bold]Next[/]")
    here = "" if project in (None, PROJECT) else f" --project {project}"
    steps: dict[str, str] = {}
    if project is not None:
        steps[f"keepsense guide{here} --write"] = f"puts the method into {project.name}"
        steps[f"keepsense run{here.replace(' --project', '')}"] = "makes the release, verified"
    elif try_on is not None:
        steps[f"keepsense guide --try {try_on} --write"] = "drafts keepsense.toml with it; look at the roles in it"
        steps["keepsense run"] = "makes the release, verified"
    else:
        steps["keepsense init people.csv"] = "drafts keepsense.toml for your table; look at the roles in it"
        steps["keepsense guide --write"] = "reads it, and puts the recommended method into it"
        steps["keepsense run"] = "makes the release, verified"
    steps[f'keepsense explain "{best.name}"'] = "shows how the method works, step by step"
    widest = max(map(len, steps))
    for command, does in steps.items():
        console.print(f"  {command.ljust(widest)}   {does}", markup=False)


COMMANDS.add("guide", guide)
_METHOD: dict[str, Any] = {
    "name": ("its name", "text"),
    "title": ("its title", "text"),
    "kind": ("its family", "text"),
    "parent": ("what it is a kind of", "text|null"),
    "intent": ("what it does", "text"),
    "use": ("when to use it", ["text"]),
    "avoid": ("when not to", ["text"]),
    "inputs": ("what it needs", ["text"]),
    "guarantee": ("what it guarantees", "text"),
    "cost": ("what it costs", "text"),
    "example": ("an example", "text"),
    "paper": ("where it is from", "text|null"),
    "truthful": ("whether released values are true", "truth"),
    "in project files": ("its name there", "text|null"),
    "function": ("its function in Python", "text|null"),
    "parameters": PARAMETERS,
    "combines": ("what goes well with it, and why", {"*": "text"}),
    "conflicts": ("what does not, and why", {"*": "text"}),
    "steps": ("its flow chart", "any"),
}
OUTPUTS.add(
    "guide",
    {
        "methods?": ("with `--list`: all methods", [_METHOD]),
        **{f"{key}?": value for key, value in _METHOD.items()},
        "answers?": ("what the advice is for", {"*": "any"}),
        "recommended?": (
            "methods that fit, the best first",
            [
                {
                    "name": ("its name", "text"),
                    "title": ("its title", "text"),
                    "for": ("for which part of the job", "text"),
                    "in project files": ("its name there", "text|null"),
                    "reasons": ("why", ["text"]),
                    "beware": ("what speaks against it", ["text"]),
                    "parameters": PARAMETERS,
                    "settings": ("what to put into a project file", "text"),
                }
            ],
        ),
        "warnings?": (
            "what to beware of",
            [{"code": ("its code", "text"), "about": ("what it is about", "text"), "text": ("what it says", "text")}],
        ),
        "left out?": ("methods that do not fit, and why", {"*": "text"}),
        "trade?": (
            "with `--try`: what each column would keep if it weighed twice",
            {
                "offers": (
                    "one for each column",
                    [
                        {
                            "column": ("the column", "text"),
                            "lost": ("share it loses now", "number"),
                            "twice": ("share it would lose", "number"),
                            "others": ("what the others lose now, on average", "number"),
                            "others_then": ("what they would lose", "number"),
                        }
                    ],
                ),
                "method": ("the method it was measured with", "text"),
                "combinations": ("combinations of values it was measured on", "whole"),
                "of": ("how many there are", "whole"),
            },
        ),
    },
)
