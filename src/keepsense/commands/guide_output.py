"""How `keepsense guide` prints its advice and the results of trials, and writes a method into a project file."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from keepsense.commands.terminal import table

if TYPE_CHECKING:
    from rich.console import Console

    from keepsense.guide.advice import Advice, Guidance
    from keepsense.guide.regulation_presets import Preset
    from keepsense.guide.try_out import Trial


def as_data(found: Guidance, trials: list[Trial], rules: Preset | None, names: list[str]) -> dict[str, Any]:
    """Advice for scripts."""
    from keepsense.guide.try_out import RANKED

    result: dict[str, Any] = {
        "answers": {**asdict(found.answers), "privacy": found.answers.promised()},
        "recommended": [
            {
                "name": one.name,
                "title": one.method.title,
                "for": one.part,
                "in project files": one.name if one.method.in_projects else None,
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
        result["tried"] = [{**asdict(trial), "risk": trial.risk} for trial in trials]
        result["ranked by"] = RANKED
    if rules is not None:
        result["preset"] = {"name": rules.name, "columns": rules.found(names), "notes": list(rules.notes)}
    return result


def render(console: Console, found: Guidance, trials: list[Trial], rules: Preset | None, names: list[str]) -> None:
    """Draw advice for people."""
    from rich.markup import escape
    from rich.padding import Padding

    if not found.advice:
        console.print("[bold]No method of the catalogue fits all of this.[/] What stands in the way:\n")
        for name, why in found.excluded.items():
            console.print(f"  {name}: {why}", markup=False)
    for number, one in enumerate(found.advice, start=1):
        part = " (for the columns that hold sets)" if one.part == "sets" and found.answers.others else ""
        console.print(f"[bold]{number}. {escape(one.method.title)}[/]{part}")
        console.print(Padding(escape(one.method.intent), (0, 0, 0, 3)))
        for reason in one.reasons:
            console.print(Padding(f"[green]+[/] {escape(reason)}", (0, 0, 0, 3)))
        for caution in one.warnings:
            console.print(Padding(f"[yellow]![/] {escape(caution)}", (0, 0, 0, 3)))
        how = f'in a project file: "{one.name}"' if one.method.in_projects else f"from Python: {one.method.code}"
        console.print(Padding(f"[bright_black]{escape(how)}[/]", (0, 0, 0, 3)))
    if found.warnings:
        console.print("\n[bold]Beware[/]")
        for warning in found.warnings:
            console.print(Padding(f"[yellow]{warning.code}[/] {escape(warning.message)}.", (0, 0, 0, 3)))
    if rules is not None:
        _preset(console, rules, names)
    if trials:
        _trials(console, trials)
    _settings(console, found, chosen(found, trials))


def chosen(found: Guidance, trials: list[Trial], name: str | None = None) -> Advice | None:
    """The advice to follow: the one named, else the best that was tried, else the first that project files know.

    None where methods were tried and none of them kept the promise.
    """
    from keepsense.errors import BadInput, did_you_mean
    from keepsense.guide.catalogue import entry

    by_name = {one.name: one for one in found.advice if one.method.in_projects}
    if name is not None:
        wanted = entry(name).name
        if wanted not in by_name:
            why = found.excluded.get(wanted, "it is not among the recommended ones; ask for more with --limit")
            raise BadInput(f"{wanted}: {why}.{did_you_mean(wanted, list(by_name))}")
        return by_name[wanted]
    best = next((by_name[t.name] for t in trials if t.ok and t.name in by_name), None)
    return best if trials else next(iter(by_name.values()), None)


def _settings(console: Console, found: Guidance, best: Advice | None) -> None:
    """What to write into the project file."""
    if best is None:
        return
    console.print(f"\n[bold]To begin with[/], in keepsense.toml ({best.method.title}):\n")
    console.print(best.settings(found.answers), markup=False)


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
    from keepsense.guide.try_out import RANKED

    good = [trial for trial in trials if trial.ok]
    if good:
        rows = [
            (
                trial.name,
                *("" if x is None else f"{x:.3f}" for x in (trial.loss, trial.linked, trial.worst)),
                trial.suppressed,
                f"{trial.seconds:.1f} s",
            )
            for trial in good
        ]
        console.print("")
        console.print(
            table(
                "Tried on your table, best first",
                ("method", "loss", "linked", "worst", "suppressed", "time"),
                rows,
            )
        )
        told = (
            f"Ranked by {RANKED}. Loss: how far, from 0 to 1, what the release lets suppose lies from the truth on "
            "average, whether values are generalized or moved. Linked: share of records that somebody who knows all "
            "these columns finds again. Worst: the greatest chance for any one record, where the method bounds it. "
            "Nothing was released."
        )
        console.print(f"[bright_black]{told}[/]")
    for trial in trials:
        if not trial.ok:
            console.print(f"{trial.name}: {trial.problem}", markup=False)
        for note in trial.notes:
            console.print(f"{trial.name}: {note}", markup=False)


# What `keepsense guide --write` writes into a project file

PROJECT = Path("keepsense.toml")
"""The project file where none is named."""


@dataclass(frozen=True)
class Change:
    """A project file as it is and as it is to be."""

    path: Path
    old: str
    text: str

    @property
    def named(self) -> str:
        """The file as an argument of other commands; nothing where they find it by themselves."""
        return "" if self.path == PROJECT else f" {self.path}"

    @property
    def difference(self) -> str:
        """What changes, line by line."""
        from keepsense.project.toml_editor import difference

        return difference(self.old, self.text, self.path.name)

    def as_data(self) -> dict[str, Any]:
        """For scripts."""
        return {"project": str(self.path), "change": self.difference, "written": self.text != self.old}

    def write(self) -> None:
        """Write it; the file is whole at any time."""
        from keepsense.project.toml_editor import write

        write(self.path, self.text)


def change_of(
    path: Path,
    try_on: Path | None,
    best: Advice | None,
    found: Guidance,
    rules: Preset | None,
    names: list[str],
    given: dict[str, str],
    *,
    other_promise: bool,
    engine: str | None = None,
) -> Change:
    """What is to be written into the project file; where there is none, one is drafted for the table."""
    from keepsense.draft.inspection import inspect
    from keepsense.draft.project_text import draft, source_keys
    from keepsense.engines.protocol import Reading
    from keepsense.errors import BadInput
    from keepsense.guide.answers import refuse_untold
    from keepsense.project.toml_editor import changed

    if best is None or not best.method.in_projects:
        raise BadInput("no recommended method can be named in a project file; nothing was written")
    old = path.read_text(encoding="utf-8") if path.is_file() else ""
    if not old and try_on is None:
        raise BadInput(
            f"there is no {path.name} to write into; name the table with --try, or make one with `keepsense init TABLE`"
        )
    answers = found.answers
    promised = [dict(section) for section in best.promised]
    other_promise = other_promise or promised != answers.promised()
    if other_promise:
        refuse_untold(promised)
    base = old or draft(
        inspect(str(try_on), engine=engine),
        source=source_keys(str(try_on), Reading(), path.parent),
        k=answers.k,
    )
    told = {} if rules is None else rules.found(names)
    roles = {column: "identifier" for column, what in told.items() if what.startswith("remove")} | given
    beside = next((one for one in found.advice if one.part == "sets" and answers.others), None)
    text = changed(
        base,
        method=best.name,
        parameters=best.parameters,
        set_method=None if beside is None else beside.name,
        privacy=promised if other_promise else None,
        roles=roles,
        name=path.name,
    )
    return Change(path, old, text)
