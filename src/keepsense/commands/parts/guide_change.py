"""What `keepsense guide --write` puts into a project file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from keepsense.guide.advise import Advice, Guidance
    from keepsense.guide.presets import Preset

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
        from keepsense.guide.apply import difference

        return difference(self.old, self.text, self.path.name)

    def as_data(self) -> dict[str, Any]:
        """For scripts."""
        return {"project": str(self.path), "change": self.difference, "written": self.text != self.old}

    def write(self) -> None:
        """Write it; the file is whole at any time."""
        from keepsense.guide.apply import write

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
    from keepsense.draft.write import draft, source_keys
    from keepsense.engines import Reading
    from keepsense.errors import BadInput
    from keepsense.guide.answers import refuse_untold
    from keepsense.guide.apply import changed
    from keepsense.project.inspection.inspect import inspect

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
