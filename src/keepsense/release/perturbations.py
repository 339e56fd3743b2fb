"""Methods by name that exchange or distort values instead of generalizing them: their output is not true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from keepsense.errors import BadInput
from keepsense.methods.calling import call
from keepsense.privacy import ProbabilisticKAnonymity
from keepsense.progress import Listener
from keepsense.recoding import Cells, Recoding
from keepsense.release.attributes import attributes_of, with_k
from keepsense.release.job import Job
from keepsense.release.techniques import register

_NOISE = 0.2
"""Share of a column's variance that noise has where the project file does not say."""


def perturbed(
    job: Job,
    parameters: Mapping[str, Any],
    method: Callable[[Any, list[Any], dict[str, Any]], Cells],
    *,
    meaning: bool = False,
    beside: tuple[str, ...] = (),
) -> list[Recoding]:
    """Count the quasi-identifiers, hand them with their meanings to a method, and mend impossible combinations.

    `beside` are further columns that decide where a record goes, but are not changed.
    `edits` of the parameters are combinations that must not come out: a list of columns with their values each.

    >>> from keepsense.release.example import example_job
    >>> from keepsense.methods.perturb.mixed import perturb
    >>> job = example_job()
    >>> rules = perturbed(job, {"k": 4}, lambda counts, columns, asked: perturb(counts, columns, "swap", **asked))
    >>> rules[0].names, rules[0].apply(rules[0].inputs).rows_of("job") == job.counts.rows_of("job")
    (('age', 'job'), True)
    """
    options = dict(parameters)
    edits = _edits(job, options.pop("edits", []))
    counts = job.count([*job.quasi_identifiers, *beside])
    cells = method(counts, attributes_of(job, counts, meaning=meaning), options)
    if edits:
        from keepsense.methods.perturb.edits import mend

        cells = mend(counts, cells, edits, rng=job.rng)
    return [cells.bound(counts)]


def _edits(job: Job, given: Any) -> list[Any]:
    from keepsense.methods.perturb.edits import Edit

    if not isinstance(given, list) or not all(isinstance(one, Mapping) and one for one in given):
        raise BadInput(
            'edits are a list of impossible combinations, such as [{ sex = ["m"], diagnosis = ["pregnancy"] }]'
        )
    found = []
    for number, one in enumerate(given, start=1):
        for name in one:
            if name not in job.quasi_identifiers:
                raise BadInput(f"edit {number} names the column {name!r}, which is no quasi-identifier of this method")
        found.append(Edit(f"edit {number}", {name: _one_of(values) for name, values in one.items()}))
    return found


def _one_of(values: Any) -> Callable[[Any], bool]:
    """Whether a cell is one of some values, however its type spells them."""
    spelled = {str(value) for value in (values if isinstance(values, list) else [values])}
    return lambda cell: cell is not None and str(cell) in spelled


def _mixed(method: str) -> Callable[[Job, Mapping[str, Any], Listener | None], list[Recoding]]:
    """Swap or group columns of all kinds with one call."""

    def run(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
        from keepsense.methods.perturb.mixed import perturb

        def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
            found: Cells = call(
                perturb, options, counts, columns, method, rng=job.rng, listener=listener, alpha=None, edits=()
            )
            return found

        return perturbed(job, with_k(job, parameters), go)

    return run


for _name, _method, _summary in (
    ("rank swapping", "swap", "swap values between records whose values mean nearly the same"),
    ("rank swapping of tuples", "swap together", "swap within clusters of near tuples, which keeps correlations"),
):
    register(_name, _summary, truthful=False, sets="together")(_mixed(_method))


@register("rank swapping by one ranking", "rank all values by meaning once and swap near ranks", truthful=False)
def _swap_by_ranking(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.swap import swap_by_ranking

    def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
        found: Cells = call(swap_by_ranking, options, counts, columns, rng=job.rng, listener=listener)
        return found

    return perturbed(job, with_k(job, parameters), go)


@register("rank swapping of numbers", "swap near ranks of numbers and ordered categories", truthful=False)
def _swap_numbers(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.swap_numeric import swap_numbers

    def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
        _only_numbers(columns)
        found: Cells = call(swap_numbers, options, counts, columns, rng=job.rng, listener=listener)
        return found

    return perturbed(job, parameters if "percent" in parameters else with_k(job, parameters), go)


def _only_numbers(columns: list[Any]) -> None:
    from keepsense.semantics.attribute import Ordered

    others = [c.name for c in columns if not isinstance(c, Ordered)]
    if others:
        raise BadInput(
            f"this method is for numbers and ordered categories without gaps; {others[0]!r} is another column"
        )


def _groups_kept(job: Job, rules: list[Recoding]) -> tuple[str, ...]:
    """Probabilistic k-anonymity holds where the same groups of k were permuted in all columns and keep their values."""
    from keepsense.methods.perturb.strict import check_groups

    k = max((model.k for model in job.models if isinstance(model, ProbabilisticKAnonymity)), default=0)
    for rule in rules:
        if not isinstance(rule, Cells) or rule.inputs is None or set(rule.names) != set(job.every_quasi_identifier):
            return ()
        check_groups(rule.inputs, rule, k)
        groups = np.asarray(rule.info["groups"])
        # one column's groups hide that column only; and whoever knows the edits can exclude some permutations
        if (groups != groups[:, :1]).any() or rule.info.get("mended_touched"):
            return ()
    return (ProbabilisticKAnonymity.name,) if k else ()


@register(
    "strict rank swapping",
    "permute values inside groups of k: bounds re-identification by 1/k",
    truthful=False,
    sets="together",
    kept=_groups_kept,
)
def _swap_strictly(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.strict import swap_in_groups

    together = {"together": True} if any(isinstance(model, ProbabilisticKAnonymity) for model in job.models) else {}

    def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
        found: Cells = call(swap_in_groups, {**together, **options}, counts, columns, rng=job.rng, listener=listener)
        return found

    return perturbed(job, with_k(job, parameters), go)


def _noisy(*, correlated: bool) -> Callable[[Job, Mapping[str, Any], Listener | None], list[Recoding]]:
    def run(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
        def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
            from keepsense.methods.perturb.mixed import perturb
            from keepsense.methods.perturb.noise import add_noise
            from keepsense.methods.perturb.noise_correlated import add_correlated_noise
            from keepsense.methods.perturb.noise_numeric import add_noise_to_numbers
            from keepsense.semantics.attribute import Nominal, Ordered

            fixed: dict[str, Any] = {"rng": job.rng, "listener": listener}
            if all(isinstance(c, Nominal) for c in columns):
                method: Any = add_correlated_noise if correlated else add_noise
                found: Cells = call(method, options, counts, columns, **fixed)
            elif all(isinstance(c, Ordered) for c in columns):
                found = call(add_noise_to_numbers, options, counts, columns, correlated=correlated, **fixed)
            else:
                how = "correlated noise" if correlated else "noise"
                found = call(perturb, options, counts, columns, how, k=None, edits=(), **fixed)
            return found

        return perturbed(job, {"alpha": _NOISE, **parameters}, go, meaning=True)

    return run


for _name, _correlated, _summary in (
    ("noise", False, "replace values by others at a random distance: by meaning for words and sets"),
    ("correlated noise", True, "noise whose errors vary together as the columns do, which keeps correlations"),
):
    register(_name, _summary, truthful=False, sets="together")(_noisy(correlated=_correlated))


@register("noise on numbers", "add random numbers to columns of numbers and ordered categories", truthful=False)
def _noise_on_numbers(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.noise_numeric import add_noise_to_numbers

    def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
        _only_numbers(columns)
        found: Cells = call(add_noise_to_numbers, options, counts, columns, rng=job.rng, listener=listener)
        return found

    return perturbed(job, {"alpha": _NOISE, **parameters}, go, meaning=True)


@register("post-randomization", "redraw every value from a published matrix that favours near meanings", truthful=False)
def _pram(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.pram import draw, invariant, pram

    options = dict(parameters)
    even = bool(options.pop("invariant", False))
    counts = job.count(job.quasi_identifiers)
    matrices = [call(pram, options, counts, column) for column in attributes_of(job, counts)]
    matrices = [invariant(matrix, counts) for matrix in matrices] if even else matrices
    # drawn here, not by the engine: what is measured and promised is what is released
    cells = draw(counts, matrices, rng=job.rng, listener=listener)
    return [replace(cells, info={**cells.info, "matrices": tuple(matrices)}).bound(counts)]
