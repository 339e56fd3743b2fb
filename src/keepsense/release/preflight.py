"""Checks before a run: contradictions are refused, doubtful choices are reported."""

from __future__ import annotations

import json
from collections.abc import Iterator
from inspect import signature

from keepsense.counts import Value
from keepsense.engines.formats.table_formats import format_of, would_run
from keepsense.errors import BadInput, Finding, TooSlow, did_you_mean
from keepsense.methods.method import Method, method, methods
from keepsense.privacy.dp_promises import DifferentialPrivacy, differentially_private
from keepsense.privacy.k_anonymity import KAnonymity, ProbabilisticKAnonymity
from keepsense.privacy.km_anonymity import KmAnonymity
from keepsense.privacy.l_diversity import is_blank
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.risk_thresholds import LinkageRisk
from keepsense.recoding import SUPPRESSED
from keepsense.release.folder.ledger import Entry, warnings_for
from keepsense.release.job.job import Job
from keepsense.release.job.sets import method_for_sets
from keepsense.release.job.steps import refuse_steps


def refuse_contradictions(job: Job) -> None:
    """Refuse contradictions before anything is computed.

    >>> from keepsense.release.example import example_job
    >>> refuse_contradictions(example_job(privacy=[{"model": "linkage risk", "threshold": 0.1}]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: linkage risk is about how values are changed, but 'optimal' only makes them less...
    """
    refuse_steps(job.project)
    if differentially_private(job.models):
        _check_private(job)
    if job.set_columns:
        method_for_sets(job)
        if job.project.population is not None:
            raise BadInput(
                f"column {job.set_columns[0]!r} holds sets, which cannot be looked up in a population; leave the "
                "population out, or make the column insensitive or an identifier"
            )
    if job.project.population is not None and not method(job.project.method.name).whole_values:
        raise BadInput(
            f"the method {job.project.method.name!r} does not say what would become of the rest of the population; "
            "choose one that recodes whole values, such as optimal"
        )
    for model in job.models:
        if job.truthful and not model.kept_by_classes and not job.method.gives(model.name):
            raise BadInput(
                f"{model.name} is about how values are changed, but {job.project.method.name!r} only makes them less "
                "exact; promise k-anonymity, or choose a method that swaps, distorts or redraws values"
            )
        if isinstance(model, KmAnonymity):
            _check_km(job, model)
            continue
        for name in model.columns:
            role = job.project.columns[name].role if name in job.project.columns else "unlisted"
            if role == "quasi-identifier":
                raise BadInput(f"column {name!r} is a quasi-identifier and sensitive for {model.name}; choose one role")
            if model.counts_people and role != "person":
                raise BadInput(f'{model.name} counts people by {name!r}: give that column the role "person"')
            if role == "identifier":
                raise BadInput(f"column {name!r} is removed as an identifier, but {model.name} is about it")
        for name in getattr(model, "beside", ()):
            _check_beside(job, model, name)


def refuse_too_slow(job: Job) -> None:
    """Refuse a method that would take hours on so many different records, before it begins.

    >>> from keepsense.release.example import example_job
    >>> refuse_too_slow(example_job())
    """
    reach, different = job.method.reach, len(job.own_counts)
    if reach is None or different <= reach or job.project.engine.patient:
        return
    instead = [each.name for each in methods(in_projects=True) if each.quick and _as_good(job, each)]
    other = f"choose a quicker method, such as {instead[0]!r}, " if instead else "choose a quicker method, "
    raise TooSlow(
        f"{different:,} different records would take {job.project.method.name!r} much longer than ten minutes, in "
        f"which it does about {reach:,}; {other}release a sample of the rows ([[steps]] with sampling), make columns "
        "coarser in the source, or let it take its time with patient = true in [engine]"
    )


def _as_good(job: Job, other: Method) -> bool:
    """Whether another method keeps what is promised, too."""
    return other.truthful == job.method.truthful and all(
        other.classes == "all" if model.kept_by_classes else other.gives(model.name) for model in job.models
    )


def other_promise(job: Job) -> str:
    """What to promise in place of classes where values are changed one by one, as options; empty where there are some.

    >>> from keepsense.release.example import example_job
    >>> other_promise(example_job())
    ''
    >>> print(other_promise(example_job(method={"name": "noise"})))
    promise what 'noise' can: --set 'privacy=[{ model = "linkage risk", threshold = 0.25 }]'
    """
    k = job.hidden_among
    if job.truthful or job.method.gives(KAnonymity.name) or not any(model.kept_by_classes for model in job.models):
        return ""
    strict = job.method.gives(ProbabilisticKAnonymity.name)
    model: Model = ProbabilisticKAnonymity(k) if strict else LinkageRisk(1 / k)
    takes_k = not strict and "k" in signature(job.method.function).parameters
    promise = {key: value for key, value in model.promise().items() if key != "about"}
    spelled = ", ".join(f"{key} = {json.dumps(value)}" for key, value in promise.items())
    parameter = f" --set method.parameters.k={k}" if takes_k else ""
    return f"promise what {job.project.method.name!r} can: --set 'privacy=[{{ {spelled} }}]'{parameter}"


def _check_beside(job: Job, model: Model, name: str) -> None:
    """Refuse columns beside a promise that nobody would see, or that it takes into account already."""
    if name not in job.table.columns:
        hint = did_you_mean(name, job.released)
        raise BadInput(f"{model.name}: there is no column {name!r} to stand beside.{hint}")
    if name in job.every_quasi_identifier:
        raise BadInput(
            f"{model.name}: {name!r} is a quasi-identifier, and counts as one already; leave it out of beside"
        )
    if name not in job.released:
        raise BadInput(f"{model.name}: {name!r} is not released, so nobody sees it; leave it out of beside")


def refuse_marks(job: Job) -> None:
    """Refuse cells and names that would be taken for something else in the release.

    >>> from keepsense.release.example import example_job
    >>> refuse_marks(example_job())
    """
    for name in job.quasi_identifiers:
        if any(isinstance(value, bytes) for value in job.own_counts.values_of(name)):
            raise BadInput(
                f"column {name!r} holds bytes, which cannot be generalized; write them as text, or give it another role"
            )
        if SUPPRESSED in job.own_counts.values_of(name):
            raise BadInput(
                f"column {name!r} holds cells that read {SUPPRESSED!r}, the mark of suppressed ones; rename them"
            )
    for name in job.set_columns:
        cells = job.every_count.rows_of(name)
        marked: dict[Value, int] = {
            cell: rows for cell, rows in cells.items() if isinstance(cell, str | tuple) and SUPPRESSED in cell
        }
        if marked and SUPPRESSED in job.item_rows(name, marked):
            raise BadInput(f"sets of {name!r} hold the item {SUPPRESSED!r}, the mark of suppressed ones; rename it")
    spreadsheet = job.project.release.database is None and format_of(job.released_name).runs_formulas
    if spreadsheet and job.project.release.spreadsheet_safe:
        for name in job.released:
            if would_run(name):
                raise BadInput(
                    f"a spreadsheet would run the name of the column {name!r}; rename it, release another format, or "
                    "set spreadsheet_safe = false"
                )


def _check_private(job: Job) -> None:
    """Refuse what tells about the table beside a mechanism that is differentially private."""
    name = DifferentialPrivacy.name
    if job.project.steps:
        raise BadInput(
            f"{name} is kept by one mechanism for the whole table; steps before it look at values, or change how much "
            f"each person weighs, and no budget accounts for them: leave [[steps]] out, or promise something else"
        )
    bare = [column for column in job.released if column not in job.quasi_identifiers]
    if bare:
        raise BadInput(
            f"{name} covers what its mechanisms redraw, but {', '.join(bare)} would be released otherwise: make such "
            "columns quasi-identifiers of one value a cell, or identifiers, which are left out"
        )
    for promise in (model.name for model in job.models if isinstance(model, DifferentialPrivacy)):
        if not job.method.gives(promise):
            able = ", ".join(found.name for found in methods(in_projects=True) if found.gives(promise))
            raise BadInput(f"{job.project.method.name!r} keeps no {promise}; choose one of these methods: {able}")
    if job.truthful and not job.project.release.shuffle:
        raise BadInput("the order of the rows tells between which others a record stood; leave shuffle = false out")
    for model in job.models:
        if isinstance(model, DifferentialPrivacy):
            continue
        if not model.kept_by_classes or model.columns or job.project.population is not None:
            raise BadInput(
                f"{model.name} is checked by comparing the release with what is not released, and that would tell "
                f"about it beyond {name}; promise {name} alone, or make two releases of different people"
            )


def _check_km(job: Job, model: KmAnonymity) -> None:
    if model.column not in job.set_columns or job.every_quasi_identifier != (model.column,):
        raise BadInput(
            f"{model.name} is about a set-valued column that is the only quasi-identifier, published with a method for "
            f"sets; beside others, promise k-anonymity: then {model.column!r} is shared within classes"
        )


def warnings(job: Job, ledger: list[Entry]) -> list[Finding]:
    """What a publisher should know though nothing forbids going on.

    >>> from keepsense.release.example import example_job
    >>> [finding.code for finding in warnings(example_job(), [])]
    ['W404']
    """
    findings = warnings_for(ledger, job.released)
    if job.truthful and job.set_columns and not method_for_sets(job).truthful:
        findings.append(
            Finding(
                "W405",
                ", ".join(job.set_columns),
                "released sets are synthetic: close in meaning to what people of a class have, not what each has; "
                "all other columns stay true",
            )
        )
    findings += [*_empty_cells(job), *_several_secrets(job)]
    people = job.project.having("person")
    if people and not differentially_private(job.models) and not any(model.counts_people for model in job.models):
        findings.append(
            Finding(
                "W403",
                people[0],
                "people may have several rows, but the promises count rows; (X,Y)-anonymity counts people",
            )
        )
    secret = [n for n in job.project.having("sensitive") if not any(n in m.columns for m in job.models)]
    if secret and not any(model.covers_every_column for model in job.models):
        findings.append(
            Finding(
                "W404",
                ", ".join(secret),
                "nothing is promised about these sensitive columns: people who cannot be told apart may still share "
                "one value; l-diversity or t-closeness prevents that",
            )
        )
    return findings + _words_to_settle(job)


def replaced_labels(job: Job) -> list[Finding]:
    """A finding for each column whose built hierarchy had labels that were not true: none, unless we made a mistake.

    >>> from keepsense.release.example import example_job
    >>> replaced_labels(example_job())
    []
    """
    return [
        Finding("W315", name, f"{times:,} labels were not true of all their values; their parents' labels stand there")
        for name, tree in job.hierarchies.items()
        if (times := tree.info.get("replaced"))
    ]


def _words_to_settle(job: Job) -> list[Finding]:
    """Words of quasi-identifiers that are unknown, known in part, or by several senses, with what settles them."""
    if any(isinstance(model, DifferentialPrivacy) for model in job.models):
        return []  # there each word is looked up by itself, and what is counted of all is not told
    findings: list[Finding] = []
    for name in job.every_quasi_identifier:
        rows = job.every_count.rows_of(name)
        findings += job.meaning.findings(name, job.item_rows(name, rows) if job.holds_sets(name) else rows)
    return findings


def _empty_cells(job: Job) -> Iterator[Finding]:
    """Empty sensitive cells that a promise about different values counts as one of them."""
    for model in job.models:
        if getattr(model, "missing", "") != "value":
            continue
        for name in model.columns:
            counted = job.own_counts.histograms.get(name)
            blank = (
                0
                if counted is None
                else sum(
                    number
                    for value, number in zip(counted.values, counted.total().tolist(), strict=True)
                    if is_blank(value)
                )
            )
            if blank:
                yield Finding(
                    "W411",
                    name,
                    f"{blank:,} empty cells count as a value of their own for {model.name}; where they only are not "
                    'known, set missing = "unknown" in its section',
                )


def _several_secrets(job: Job) -> Iterator[Finding]:
    """Sensitive columns that are protected one by one: what somebody knows of one may tell another."""
    secret = [name for name in job.project.having("sensitive") if any(name in model.columns for model in job.models)]
    known = {name: {n for m in job.models if name in m.columns for n in getattr(m, "beside", ())} for name in secret}
    if any({*secret} - {name} - known[name] for name in secret):
        yield Finding(
            "W412",
            ", ".join(secret),
            "each is protected by itself: who knows a person's value in one of them may learn that of another; name "
            "the others in `beside` of each promise, or make those that others may know quasi-identifiers",
        )
