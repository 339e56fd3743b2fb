"""`keepsense guide`: which method fits a table and its purpose, why, and what to watch for."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from keepsense.commands import options as _complete
from keepsense.commands.command_registry import COMMANDS, OUTPUTS, PARAMETERS
from keepsense.commands.guide_output import PROJECT, Change, change_of
from keepsense.commands.options import EngineName
from keepsense.commands.terminal import Json, Quiet, safe, show
from keepsense.errors import Infeasible
from keepsense.hierarchies.column_kinds import KindName

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.guide.advice import Advice, Guidance
    from keepsense.guide.answers import Answers
    from keepsense.guide.try_out import Trial
    from keepsense.project.project_file import Project
    from keepsense.release.figures.trade import Trade


# The catalogue of methods: a tree of all, or one of them


def show_catalogue(name: str | None, html: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Show one entry, or the tree of all."""
    from keepsense.files import whole_file
    from keepsense.guide import catalogue, catalogue_text
    from keepsense.guide.catalogue_page import entry_page

    if name is None:
        trees = catalogue_text.trees()

        def render(console: Console) -> None:
            console.print("")
            for branch in trees:
                console.print(catalogue_text.draw_tree_text(branch), markup=False)
                console.print("")
            console.print("* one of the nine algorithms of Ben Fredj et al. (2015)")
            console.print('Say more about one: `keepsense guide datafly`, `keepsense guide "rank swapping"`')

        entries = [catalogue_text.as_data(one) for one in catalogue.catalogue().values()]
        show({"methods": entries}, render, as_json=as_json, quiet=quiet)
        return
    found = catalogue.entry(name)
    if html is not None:
        with whole_file(html) as part:
            part.write_text(entry_page(found.name), encoding="utf-8")

    def render_one(console: Console) -> None:
        console.print(catalogue_text.as_text(found), markup=False)
        if html is not None:
            console.print(f"\nwritten to {html}: open it in a browser", markup=False)

    show(catalogue_text.as_data(found), render_one, as_json=as_json, quiet=quiet)


# Questions, and what is refused where they cannot be asked


def checked(told: dict[str, Any]) -> dict[str, Any]:
    """The same, if it says what columns hold; refuses where it does not."""
    from keepsense.errors import BadInput
    from keepsense.guide.answers import DATA_KINDS

    if "kinds" not in told:
        raise BadInput(
            f"say what the columns hold with --kind ({', '.join(DATA_KINDS)}), or give a project file with --project, "
            "or a table with --try"
        )
    return told


def asked(told: dict[str, Any], *, terminal: bool) -> Answers:
    """Ask what was not told as an option; the answers may come from a file or another program, too."""
    try:
        return _ask(told)
    except (typer.Abort, EOFError, OSError):
        if not terminal:
            checked({})
        raise


def _ask(told: dict[str, Any]) -> Answers:
    """Ask what was not told as an option."""
    from keepsense.guide.advice import suited
    from keepsense.guide.answers import DATA_KINDS, PURPOSES, Answers, asks_for_k, forms

    typer.echo("A few questions; press Enter for the answer in brackets.\n")
    if "kinds" not in told:
        told["kinds"] = tuple(_several("What do the columns hold by which people could be recognized?", DATA_KINDS))
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
        told["promise"] = _one("What do you want to promise?", suited(told))
    if "form" not in told and forms(told["promise"]):
        told["form"] = _one("In which form?", forms(told["promise"]))
    if "fraction" in Answers(**told).untold:
        told["fraction"] = typer.prompt("Which share of the population is in the table (0.1 is a tenth)?", type=float)
    if "k" not in told and asks_for_k(told["promise"]):
        told["k"] = typer.prompt("Among how many people shall everybody be hidden (k)?", type=int, default=5)
    if "same_taxonomy" not in told and told["columns"] == 2 and told["kinds"] == ("nominal",) and not told["truthful"]:
        told["same_taxonomy"] = typer.confirm("Do both columns hold words of one taxonomy?", default=False)
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


# The command


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
    from keepsense.commands import guide_output as view
    from keepsense.guide.advice import advise
    from keepsense.guide.answers import Answers, from_project, with_preset
    from keepsense.guide.regulation_presets import preset as find_preset

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
    from keepsense.draft.project_draft import draft_for_file
    from keepsense.engines.protocol import started
    from keepsense.errors import BadInput
    from keepsense.project.project_file import Source, read_project

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
        return draft_for_file(try_on, target=target, sensitive=sensitive, engine=engine), try_on.parent, rows
    return None, Path(), None


def _tried(
    plan: Project, folder: Path, found: Guidance, seconds: float, *, quiet: bool, engine: str | None
) -> list[Trial]:
    from keepsense.commands.terminal import progress
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
