"""Methods by name that keep differential privacy: every record is redrawn by itself, at a price in epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.privacy import DifferentialPrivacy
from keepsense.progress import Listener
from keepsense.recoding import Cells, Recoding
from keepsense.release.attributes import attributes_of
from keepsense.release.job import Job
from keepsense.release.techniques import register

_OPTIONS = ("epsilon", "domains", "bounds")


def _promised(job: Job) -> list[float]:
    return [float(model.epsilon) for model in job.models if isinstance(model, DifferentialPrivacy)]


def budget_kept(job: Job, rules: list[Recoding]) -> tuple[str, ...]:
    """Differential privacy holds where what the mechanisms themselves give away adds up to no more than promised.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.methods.perturb.dp import randomized_response
    >>> sensitive = {"illness": {"role": "quasi-identifier"}}
    >>> promise = [{"model": "differential privacy", "epsilon": 1.0}]
    >>> job = example_job(columns=sensitive, unlisted="drop", privacy=promise)
    >>> [budget_kept(job, [randomized_response("illness", ["flu", "cold", "asthma"], spent)]) for spent in (1.0, 2.0)]
    [('differential privacy',), ()]
    """
    promised = min(_promised(job), default=0.0)
    recoded = {name for rule in rules for name in rule.names}
    spent = math.fsum(epsilon_of(rule) for rule in rules)
    return (DifferentialPrivacy.name,) if recoded == set(job.released) and 0 < spent <= promised * (1 + 1e-9) else ()


def epsilon_of(rule: Recoding) -> float:
    """Budget of differential privacy that a recoding used; 0 where it says nothing of one.

    >>> from keepsense.methods.perturb.dp import randomized_response
    >>> epsilon_of(randomized_response("sex", ["f", "m"], 1.0))
    1.0
    """
    found = rule.info.get("epsilon", 0.0)
    return math.fsum(found.values()) if isinstance(found, Mapping) else float(found)


def _mechanism(job: Job, name: str, options: Mapping[str, Any]) -> str:
    """The mechanism that suits a column: by bounds for numbers, by meaning for words, by its list of values else."""
    if name in options["bounds"] or job.column(name).kind == "numeric":
        return "numbers"
    if name not in options["domains"] and job.column(name).taxonomy is not None:
        return "words"
    return "categories"


def _drawn(only: str | None) -> Callable[[Job, Mapping[str, Any], Listener | None], list[Recoding]]:
    """Redraw all quasi-identifiers, each with its mechanism (or all with one), sharing epsilon evenly."""

    def run(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
        from keepsense.methods.perturb.mixed import join

        options = _checked(job, parameters)
        names = job.quasi_identifiers
        share = options["epsilon"] / len(names)
        counts = job.count(names)
        suited = {name: only or _mechanism(job, name, options) for name in names}
        parts = []
        for kind, make in (("numbers", _numbers), ("words", _words), ("categories", _categories)):
            chosen = [name for name in names if suited[name] == kind]
            if chosen:
                parts.append(make(job, counts, chosen, share, options, listener))
        cells = parts[0] if len(parts) == 1 else join(counts, parts, rng=job.rng)
        spent = {name: value for part in parts for name, value in part.info["epsilon"].items()}
        told = {"method": DifferentialPrivacy.name, "epsilon": spent, "neighbours": "replace one record"}
        return [replace(cells, info={**cells.info, **told}).bound(counts)]

    return run


def _checked(job: Job, parameters: Mapping[str, Any]) -> dict[str, Any]:
    for name in parameters:
        if name not in _OPTIONS:
            raise BadInput(f"the method takes no parameter {name!r}; it takes {', '.join(_OPTIONS)}")
    promised = _promised(job)
    epsilon = parameters.get("epsilon", promised[0] if promised else 0.0)
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float):
        raise BadInput("epsilon must be a number above 0")
    if epsilon <= 0:
        raise BadInput("this method needs epsilon: promise differential privacy, or give it in [method.parameters]")
    found: dict[str, Any] = {"epsilon": float(epsilon)}
    for key in ("domains", "bounds"):
        given = parameters.get(key, {})
        if not isinstance(given, Mapping) or not all(isinstance(v, list) for v in given.values()):
            raise BadInput(f"{key} name columns and list their values, such as {key} = {{ age = [0, 120] }}")
        unknown = [name for name in given if name not in job.quasi_identifiers]
        if unknown:
            raise BadInput(f"{key} name the column {unknown[0]!r}, which is no quasi-identifier")
        found[key] = given
    return found


def _budget(share: float, columns: Sequence[str]) -> Any:
    from keepsense.methods.perturb.dp import Budget

    # computed from the matrices, the budget can exceed epsilon by rounding
    return Budget(share * len(columns) * (1 + 1e-9))


def _numbers(
    job: Job,
    counts: Counts,
    columns: Sequence[str],
    share: float,
    options: Mapping[str, Any],
    listener: Listener | None,
) -> Cells:
    from keepsense.methods.perturb.dp_numbers import release_numbers

    for name in columns:
        limits = options["bounds"].get(name, ())
        if len(limits) != 2 or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in limits):
            raise BadInput(
                f"column {name!r} holds numbers: declare their bounds from public knowledge, never from the table, in "
                f"[method.parameters], such as bounds = {{ {name} = [0, 120] }}"
            )
    bounds = {name: (options["bounds"][name][0], options["bounds"][name][1]) for name in columns}
    return release_numbers(counts, bounds, share, _budget(share, columns), listener=listener)


def _words(
    job: Job,
    counts: Counts,
    columns: Sequence[str],
    share: float,
    options: Mapping[str, Any],
    listener: Listener | None,
) -> Cells:
    from keepsense.methods.perturb.dp import release_words

    meanings = attributes_of(job, counts, columns, meaning=True)
    other = [name for name in columns if job.column(name).kind not in ("nominal", "code")]
    if other:
        raise BadInput(
            f"column {other[0]!r} holds no words; the method differential privacy has a mechanism for every kind"
        )
    domains = {name: options["domains"][name] for name in columns if name in options["domains"]}
    return release_words(
        counts, meanings, share, _budget(share, columns), domains=domains, rng=job.rng, listener=listener
    )


def _categories(
    job: Job,
    counts: Counts,
    columns: Sequence[str],
    share: float,
    options: Mapping[str, Any],
    listener: Listener | None,
) -> Cells:
    from keepsense.methods.perturb.dp import randomized_response, release_categories

    rules = [randomized_response(name, _domain(job, counts, name, options), share) for name in columns]
    return release_categories(counts, rules, _budget(share, columns), rng=job.rng, listener=listener)


def _domain(job: Job, counts: Counts, name: str, options: Mapping[str, Any]) -> list[Value]:
    """The values a column may have: as declared, or as found where nothing is promised about the mechanism."""
    declared = options["domains"].get(name) or job.column(name).order
    if declared is None and _promised(job):
        raise BadInput(
            f"column {name!r}: differential privacy needs its possible values from public knowledge, never from the "
            f"table; list them in its `order`, or in [method.parameters] as domains = {{ {name} = [...] }}"
        )
    if declared is None:
        return list(counts.values_of(name))
    found: list[Value] = [None if value == "" else value for value in declared]
    if None in counts.values_of(name) and None not in found:
        raise BadInput(
            f"column {name!r} has empty cells, which the declared values do not provide for; add an empty text to "
            "them, whether or not the table has empty cells"
        )
    return found


for _name, _only, _summary in (
    ("differential privacy", None, "redraw every column by the mechanism that suits it: numbers, words, categories"),
    ("semantic exponential mechanism", "words", "redraw words, near meanings likelier: differential privacy"),
    ("randomized response", "categories", "keep a value by chance, else draw any other: differential privacy"),
    ("noisy numbers", "numbers", "add Laplace noise to numbers within declared bounds: differential privacy"),
):
    register(_name, _summary, truthful=False, kept=budget_kept)(_drawn(_only))
