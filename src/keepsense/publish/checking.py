"""A release read back by the independent verifier: what it is told about the project, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from keepsense.engines import Reading, engine
from keepsense.engines.files import format_of, readable
from keepsense.privacy import KmAnonymity, Verification, verify
from keepsense.privacy.km_verify import verify_sets
from keepsense.privacy.verify import is_text_file
from keepsense.publish.places import read_released
from keepsense.publish.plan import Plan
from keepsense.publish.project import Project, read_project
from keepsense.publish.recoding_file import read_recodings
from keepsense.publish.release import PRIVATE


def verified(
    plan: Plan,
    file: Path,
    *,
    original: bool = True,
    hidden: Path | None = None,
    population: Any = None,
    checked_elsewhere: Iterable[str] = (),
    show_values: bool = False,
) -> Verification:
    """Check a file against everything a project promises; formats the verifier cannot read come to it as a stream.

    With `original` the source is compared too: no row more, no identifier left, columns that are not recoded as they
    were. Only the columns that this needs leave the engine, batch by batch.

    >>> from keepsense.publish.example import example_plan, example_release
    >>> plan = example_plan()
    >>> verified(plan, example_release().file).ok, verified(plan, plan.folder / "people.csv").ok
    (True, False)
    """
    recoded = set(plan.every_quasi_identifier)
    preserved = preserved_columns(plan, recoded) if original else []
    before = dict.fromkeys([*preserved, *(n for m in plan.models for n in m.columns if n in plan.table.columns)])
    text = is_text_file(file)
    released: Any = file
    if not text and file.suffix.lower() not in (".parquet", ".pq"):
        # a stream can be read once only, and columns beside it ask for more
        opened = read_released(plan, file)
        released = plan.engine.reader(opened) if hidden is None else opened.arrow()
    of_sets = _sets_checked(plan, file, text)
    found = verify(
        released,
        plan.models,
        quasi_identifiers=plan.every_quasi_identifier,
        sensitive=[n for n in plan.project.having("sensitive") if n not in plan.dropped],
        original=plan.engine.reader(_as_written(plan), list(before) or list(plan.table.columns[:1]))
        if original
        else None,
        identifiers=plan.project.having("identifier", "person"),
        preserved=preserved,
        columns=plan.released,
        suppression=plan.project.release.suppression if original else None,
        missing=plan.wildcards,
        population=None if population is None else plan.engine.reader(population, plan.quasi_identifiers),
        hidden=hidden,
        checked_elsewhere=[*checked_elsewhere, *(m for m, check in of_sets.items() if check.ok)],
        show_values=show_values,
        delimiter=plan.project.release.delimiter if text else None,
    )
    broken = [finding for check in of_sets.values() for finding in check.findings if finding.is_error]
    return replace(found, ok=found.ok and not broken, findings=(*found.findings, *broken))


def _sets_checked(plan: Plan, file: Path, text: bool) -> dict[str, Verification]:
    """Promises about the items of sets, read back by the verifier for sets; by the name of the model."""
    found = {}
    for model in plan.models:
        if isinstance(model, KmAnonymity):
            column = plan.column(model.column)
            listed = dict(zip(plan.table.columns, plan.table.types, strict=True))[model.column].endswith("[]")
            released: Any = file
            if not text and file.suffix.lower() not in (".parquet", ".pq"):
                released = read_released(plan, file).arrow()
            found[model.name] = verify_sets(
                released,
                [model],
                column=model.column,
                delimiter=None if listed and not text else column.delimiter,
                file_delimiter=plan.project.release.delimiter if text else None,
            )
    return found


def preserved_columns(plan: Plan, recoded: set[str]) -> list[str]:
    """Columns that must come out as they went in.

    >>> from keepsense.publish.example import example_plan
    >>> preserved_columns(example_plan(), {"age", "job"})
    ['illness', 'likes']
    """
    return [n for n in plan.table.columns if n not in recoded and n not in plan.dropped]


def _as_written(plan: Plan) -> Any:
    """The source as it would read in the released format: text that a spreadsheet would run is defused there."""
    asked = plan.project.release
    if asked.database is not None or not asked.spreadsheet_safe:
        return plan.table
    if format_of(plan.released_name) not in ("csv", "excel"):
        return plan.table
    return plan.engine.as_written(plan.table, plan.released_name)


def _fetched(plan: Plan, address: str) -> Path:
    """A table of a database as a file of the engine, which the verifier reads."""
    path: Path = plan.engine.folder / "read_back.parquet"
    plan.engine.write(plan.engine.read(address, Reading(table=plan.released_table)), path)
    return path


def _recoded_population(plan: Plan, folder: Path) -> Any:
    """The population, recoded like the release, where the project has one and the recoding is still there."""
    recoding = folder / PRIVATE / "recoding.json"
    if plan.population is None or not recoding.is_file():
        return None
    return plan.engine.recode(plan.population, read_recodings(recoding))


def verify_file(
    project: Project | str | Path,
    file: str | Path,
    *,
    folder: str | Path | None = None,
    table: str | None = None,
    original: bool = True,
    show_values: bool = False,
) -> tuple[Verification, tuple[str, ...]]:
    """Check any file against a project, whoever made it; with the quasi-identifiers it was grouped by.

    `file` may be a postgresql:// address, with the `table` to check (that of the project unless given).

    A promise about a mechanism cannot be seen in a file, so it does not hold here; `run` checks it on the recoding. A
    promise about a population is checked with the recoding that lies beside the release, in `private`; one about people
    with several rows only by `run`, which knows whose they are.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("job\\nnurse\\nclerk\\n")
    ...     given = {"source": {"path": "people.csv"}, "columns": {"job": {"role": "quasi-identifier"}},
    ...              "privacy": [{"model": "k-anonymity", "k": 2}]}
    ...     verify_file(Project.model_validate(given), Path(folder) / "people.csv", folder=folder)[0].ok
    False
    """
    if isinstance(project, str | Path):
        folder = Path(project).parent if folder is None else folder
        project = read_project(project)
    in_database = format_of(str(file)) == "postgresql"
    if not in_database:
        readable(file)
    with engine() as running:
        plan = Plan(project, Path(folder or "."), running, np.random.default_rng())
        if table is not None:
            asked = project.release.model_copy(update={"table": table})
            plan = replace(plan, project=project.model_copy(update={"release": asked}))
        path = _fetched(plan, str(file)) if in_database else Path(file)
        everybody = _recoded_population(plan, path.parent)
        found = verified(plan, path, original=original, population=everybody, show_values=show_values)
    return found, plan.every_quasi_identifier
