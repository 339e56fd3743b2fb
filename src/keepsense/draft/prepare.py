"""The draft of a project for a file, with all that lies in or beside it; `keepsense init` and the studio begin so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from keepsense.draft.arx import ENDING, read_arx_project
from keepsense.draft.beside import hierarchies_beside
from keepsense.draft.write import FILE, draft, source_keys
from keepsense.engines import Reading
from keepsense.project.inspection.inspect import Inspection, inspect

if TYPE_CHECKING:
    from keepsense.taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Prepared:
    """A draft as text, the inspection it rests on, hierarchy files that it uses, and what could not be taken over.

    `arx` says that it was made from a project of ARX, of which `left_out` tells what was not taken over.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> people = job.folder / "people.csv"
    >>> prepared(str(people), people.with_name("keepsense.toml")).inspection.rows
    20
    """

    text: str
    inspection: Inspection
    hierarchies: Mapping[str, str]
    left_out: tuple[str, ...] = ()
    arx: bool = False


def prepared(
    file: str,
    output: Path,
    reading: Reading | None = None,
    *,
    k: int = 5,
    taxonomies: Mapping[str, Taxonomy] | None = None,
    language: str | None = None,
    engine: str | None = None,
    force: bool = False,
) -> Prepared:
    """Inspect a table, or unpack a project of ARX beside `output`, and draft a project file to be written there.

    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> people = job.folder / "people.csv"
    >>> prepared(str(people), people.with_name("mine.toml")).text.count('folder = "release-mine"')
    1
    """
    how = reading or Reading()
    arx = read_arx_project(file) if file.lower().endswith(ENDING) else None
    moved: dict[str, Path] = {}
    if arx is not None:
        table, moved = arx.unpack(output.parent / Path(file).stem, force=force)
        how = replace(how, delimiter=how.delimiter or arx.delimiter, encoding=how.encoding or "utf-8")
        file = str(table)
    inspection = inspect(file, how, taxonomies=taxonomies, language=language, engine=engine)
    inspection = inspection if arx is None else arx.told(inspection)
    files = moved or hierarchies_beside(Path(file), inspection)
    own = {name: source_keys(str(path), how, output.parent)["path"] for name, path in files.items()}
    text = draft(
        inspection,
        source=source_keys(file, how, output.parent),
        k=k,
        folder="release" if output.name == FILE else f"release-{output.stem}",
        hierarchies=own,
        promises=() if arx is None else arx.promises,
        suppression=0.05 if arx is None else arx.suppression,
    )
    return Prepared(text, inspection, own, () if arx is None else arx.left_out, arx is not None)
