"""The questions of `keepsense guide`, and what must be said where nobody can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from keepsense.guide.answers import Answers


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
    from keepsense.guide.advise import suited
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
