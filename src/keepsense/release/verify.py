"""Verify a release: what the verifier is given of the project, and no more."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from keepsense.engines.formats.table_formats import format_of
from keepsense.engines.protocol import Engine, Reading, Table, started
from keepsense.engines.text_encodings import readable
from keepsense.privacy.dp_promises import differentially_private
from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
from keepsense.privacy.km_anonymity import KmAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.project.project_file import Project, project_and_folder
from keepsense.project.roles import ROLES
from keepsense.release.folder.describe import PRIVATE, RECODING
from keepsense.release.folder.place import reading_of, writing_of
from keepsense.release.folder.recoding_file import read_recodings
from keepsense.release.job.job import Job
from keepsense.release.whose import rows_beside
from keepsense.secure_random import generator
from keepsense.verification.check_result import Verification
from keepsense.verification.verifier import verify, verify_sets

_REMOVED = [name for name, role in ROLES.items() if not role.released]


def verify_release(
    job: Job,
    file: Path,
    *,
    original: bool = True,
    hidden: Path | None = None,
    population: Table | None = None,
    checked_elsewhere: Iterable[str] = (),
    show_values: bool = False,
    person: str | None = None,
) -> Verification:
    """Check a file against everything a project promises.

    With `original` the source is compared too: no row more, no identifier left, columns that are not recoded as they
    were. Only the columns that this needs leave the engine, batch by batch. `person` is a column of the file that tells
    whose rows they are: promises about how many records share a class are then about people.

    >>> from keepsense.release.example import example_job, example_release
    >>> job = example_job()
    >>> verify_release(job, example_release().file).ok, verify_release(job, job.folder / "people.csv").ok
    (True, False)
    """
    preserved = preserved_columns(job) if original else []
    models = job.models if person is None else [_of_people(model, person) for model in job.models]
    before = dict.fromkeys([*preserved, *(n for m in job.models for n in m.columns if n in job.table.columns)])
    reading = reading_of(job, file)
    of_sets = _sets_checked(job, file, reading)
    of_table = verify(
        file,
        models,
        quasi_identifiers=job.every_quasi_identifier,
        sensitive=[n for n in job.project.having("sensitive") if n not in job.dropped],
        original=_as_written(job, list(before) or list(job.table.columns[:1])) if original else None,
        identifiers=[name for name in job.project.having(*_REMOVED) if name != person],
        preserved=preserved,
        columns=[*job.released, *([] if person is None else [person])],
        suppression=job.project.release.suppression if original and _limited(job) else None,
        starred="class" if job.method.to_the_top else "suppressed",
        missing=job.wildcards,
        population=None if population is None else job.engine.reader(population, job.quasi_identifiers),
        hidden=hidden,
        checked_elsewhere=[*checked_elsewhere, *(m for m, check in of_sets.items() if check.ok)],
        show_values=show_values,
        reading=reading,
        engine=job.engine,
    )
    broken = [finding for check in of_sets.values() for finding in check.findings if finding.is_error]
    return replace(of_table, ok=of_table.ok and not broken, findings=(*of_table.findings, *broken))


def _limited(job: Job) -> bool:
    """Whether the limit of suppression is about the source: not where rows are drawn that are not drawn again."""
    return job.all_rows and not (job.truthful and differentially_private(job.models))


def _of_people(model: Model, person: str) -> Model:
    """The promise about people in place of rows, where it is one about how many share a class."""
    if isinstance(model, KAnonymity) or model.counts_people:
        return XYAnonymity(model.least_size or 1, person)
    return model


def _sets_checked(job: Job, file: Path, reading: Reading) -> dict[str, Verification]:
    """Promises about the items of sets, read back by the verifier for sets; by the name of the model."""
    return {
        model.name: verify_sets(
            file,
            [model],
            column=model.column,
            delimiter=job.column(model.column).delimiter,
            reading=reading,
            engine=job.engine,
        )
        for model in job.models
        if isinstance(model, KmAnonymity)
    }


def preserved_columns(job: Job) -> list[str]:
    """Columns that must come out as they went in; what steps drew for others is known only while a release is made.

    >>> from keepsense.release.example import example_job
    >>> preserved_columns(example_job())
    ['illness', 'likes']
    """
    changed = () if job.drawing else job.changed_by_steps
    return [name for name in job.released if name not in (*job.every_quasi_identifier, *changed)]


def _as_written(job: Job, columns: list[str]) -> Any:
    """The source as it would read in the released format: formulas are defused there, numbers have their marks."""
    release = job.project.release
    form = None if release.database is not None else format_of(job.released_name)
    if form is None or not (form.is_text or (form.runs_formulas and release.spreadsheet_safe)):
        return job.engine.reader(job.table, columns)
    return job.engine.reader(job.table, columns, replace(writing_of(job), format=form.name, shuffle=False))


def _fetched(job: Job, address: str) -> Path:
    """A table of a database as a file of the engine, which the verifier reads."""
    path: Path = job.engine.scratch("read_back.parquet")
    job.engine.write(job.engine.read(address, Reading(table=job.released_table)), path)
    return path


def _recoded_population(job: Job, folder: Path) -> Table | None:
    """The population, recoded like the release, where the project has one and the recoding is still there."""
    recoding = folder / PRIVATE / RECODING
    if job.population is None or not recoding.is_file():
        return None
    return job.engine.recode(job.population, read_recodings(recoding))


def _with_remedy(verification: Verification, remedy: str) -> Verification:
    """What cannot be checked on the file, with what it takes to check it."""
    reasons = {check.reason for check in verification.checks if check.reason}
    findings = (
        replace(found, message=f"{found.message}; {remedy}") if found.message in reasons else found
        for found in verification.findings
    )
    return replace(verification, findings=tuple(findings))


def verify_file(
    project: Project | str | Path,
    file: str | Path,
    *,
    folder: str | Path | None = None,
    table: str | None = None,
    original: bool = True,
    show_values: bool = False,
    person: str | None = None,
    engine: str | Engine | None = None,
) -> tuple[Verification, tuple[str, ...]]:
    """Check any file against a project, whoever made it; with the quasi-identifiers it was grouped by.

    `file` may be a postgresql:// address, with the `table` to check (that of the project unless given).

    A promise about a mechanism cannot be seen in a file, so it does not hold here; `run` checks it on the recoding. A
    promise about a population is checked with the recoding that lies beside the release, in `private`; so is one about
    people with several rows, whose column is not released (`keepsense.release.whose`), or else where `person` names a
    column of the file (of a copy made for the check) that tells them apart.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "people.csv").write_text("job\\nnurse\\nclerk\\n")
    ...     given = {"source": {"path": "people.csv"}, "columns": {"job": {"role": "quasi-identifier"}},
    ...              "privacy": [{"model": "k-anonymity", "k": 2}]}
    ...     verify_file(Project.model_validate(given), Path(folder) / "people.csv", folder=folder)[0].ok
    False
    """
    project, home = project_and_folder(project, folder)
    in_database = format_of(str(file)).database is not None
    if not in_database:
        readable(file)
    with started(engine or project.engine.name, **project.engine.options()) as rows:
        job = Job(project, home, rows, generator(), drawing=False)
        if table is not None:
            target = project.release.model_copy(update={"table": table})
            job = replace(job, project=project.model_copy(update={"release": target}))
        path = _fetched(job, str(file)) if in_database else Path(file)
        everybody = _recoded_population(job, path.parent)
        beside, lacking = rows_beside(job, path) if person is None and not in_database else (None, "")
        verification = verify_release(
            job,
            path,
            original=original,
            hidden=beside,
            population=everybody,
            show_values=show_values,
            person=person,
        )
        if lacking:
            verification = _with_remedy(verification, lacking)
    return verification, job.every_quasi_identifier
