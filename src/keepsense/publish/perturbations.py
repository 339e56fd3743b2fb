"""Methods by name that exchange, distort or cluster values instead of generalizing them: their output is not true."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput
from keepsense.progress import Listener
from keepsense.publish.mechanisms import DIFFERENTIAL_PRIVACY
from keepsense.publish.plan import Plan
from keepsense.publish.techniques import call, register
from keepsense.recoding import Cells, Recoding

PROBABILISTIC = "probabilistic k-anonymity"


def attributes_of(plan: Plan, counts: Counts) -> list[Any]:
    """What each quasi-identifier means: an order for numbers, semantic distances for words."""
    from keepsense.semantics import distance
    from keepsense.semantics.attribute import Nominal, Ordered

    found: list[Any] = []
    for name in plan.quasi_identifiers:
        column = plan.column(name)
        if column.kind in ("numeric", "ordinal", "date"):
            found.append(Ordered.of(counts, name))
            continue
        rows = dict(zip(counts.values_of(name), counts.marginal(name).tolist(), strict=True))
        mapping = plan.mapping(name, rows)
        if mapping.unmapped:
            raise BadInput(
                f"column {name!r} has {len(mapping.unmapped)} value(s) in no taxonomy; map them in a mapping file first"
            )
        judge = distance(column.distance, plan.taxonomy(name))
        found.append(Nominal.of(counts, name, judge, concepts=mapping.concepts))
    return found


def _perturbed(plan: Plan, function: Any, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    counts = plan.count(plan.quasi_identifiers)
    columns = attributes_of(plan, counts)
    cells = call(function, parameters, counts, columns, rng=plan.rng, listener=listener)
    return [cells.bound(counts)]


def _with_k(plan: Plan, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters with the k that is promised, unless they name their own."""
    promised = [m.promise()["k"] for m in plan.models if "k" in m.promise()]
    if "k" not in parameters and not promised:
        raise BadInput("this method needs k: promise one, or give it in [method.parameters]")
    return {**({"k": max(promised)} if promised else {}), **parameters}


@register("rank swapping", "swap values between records whose values mean nearly the same", truthful=False)
def _swap(plan: Plan, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.swap import swap_by_clusters

    return _perturbed(plan, swap_by_clusters, _with_k(plan, parameters), listener)


def _groups_kept(plan: Plan, rules: list[Recoding]) -> tuple[str, ...]:
    """Probabilistic k-anonymity holds where the groups that were permuted have k members and keep their values."""
    from keepsense.methods.perturb.strict import check_groups

    k = max((int(m.promise()["k"]) for m in plan.models if m.name == PROBABILISTIC), default=0)
    for rule in rules:
        if not isinstance(rule, Cells) or rule.inputs is None or set(rule.names) != set(plan.quasi_identifiers):
            return ()
        check_groups(rule.inputs, rule, k)
    return (PROBABILISTIC,) if k else ()


@register(
    "strict rank swapping",
    "permute values inside groups of k: bounds re-identification by 1/k",
    truthful=False,
    kept=_groups_kept,
)
def _swap_strictly(plan: Plan, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.strict import swap_in_groups

    return _perturbed(plan, swap_in_groups, _with_k(plan, parameters), listener)


@register("noise", "replace values by others at a random semantic distance", truthful=False)
def _noise(plan: Plan, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.noise import add_noise

    return _perturbed(plan, add_noise, parameters, listener)


@register("post-randomization", "redraw every value from a published matrix that favours near meanings", truthful=False)
def _pram(plan: Plan, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.pram import invariant, pram

    options = dict(parameters)
    even = bool(options.pop("invariant", False))
    counts = plan.count(plan.quasi_identifiers)
    rules: list[Recoding] = []
    for column in attributes_of(plan, counts):
        rule = call(pram, options, counts, column)
        rules.append(invariant(rule, counts) if even else rule)
    return rules


def _budget_kept(plan: Plan, rules: list[Recoding]) -> tuple[str, ...]:
    """Differential privacy holds where what the matrices themselves give away adds up to no more than promised."""
    promised = min((float(m.promise()["epsilon"]) for m in plan.models if m.name == DIFFERENTIAL_PRIVACY), default=0.0)
    recoded = {name for rule in rules for name in rule.names}
    spent = math.fsum(epsilon_of(rule) for rule in rules)
    return (DIFFERENTIAL_PRIVACY,) if recoded == set(plan.released) and 0 < spent <= promised * (1 + 1e-9) else ()


def epsilon_of(rule: Recoding) -> float:
    """Budget of differential privacy that a recoding used; 0 where it says nothing of one.

    >>> from keepsense.methods.perturb.dp import randomized_response
    >>> epsilon_of(randomized_response("sex", ["f", "m"], 1.0))
    1.0
    """
    found = rule.info.get("epsilon", 0.0)
    return math.fsum(found.values()) if isinstance(found, Mapping) else float(found)


@register(
    "randomized response",
    "keep a value by chance, else draw any other: differential privacy for each record",
    truthful=False,
    kept=_budget_kept,
)
def _randomized_response(plan: Plan, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.perturb.dp import Budget, randomized_response, release_categories

    promised = [float(m.promise()["epsilon"]) for m in plan.models if m.name == DIFFERENTIAL_PRIVACY]
    options = dict(parameters)
    epsilon = float(options.pop("epsilon", promised[0] if promised else 0.0))
    if options:
        raise BadInput(f"the method takes no parameter {next(iter(options))!r}; it takes epsilon")
    if epsilon <= 0:
        raise BadInput("this method needs epsilon: promise differential privacy, or give it in [method.parameters]")
    names = plan.quasi_identifiers
    counts = plan.count(names)
    share = epsilon / len(names)
    rules = [randomized_response(name, counts.values_of(name), share) for name in names]
    # computed from the matrices, the budget can exceed epsilon by rounding
    cells = release_categories(counts, rules, Budget(epsilon * (1 + 1e-9)), rng=plan.rng)
    return [cells.bound(counts)]


@register(
    "set microaggregation",
    "group similar sets by k and release one synthetic set close to all of them",
    truthful=False,
    sets=True,
)
def _microaggregate_sets(plan: Plan, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    from keepsense.methods.aggregate.concepts import map_sets
    from keepsense.methods.aggregate.items import from_delimited, from_lists
    from keepsense.methods.aggregate.sets import microaggregate_sets
    from keepsense.semantics import distance

    (name,) = plan.quasi_identifiers
    column = plan.column(name)
    options = _with_k(plan, parameters)
    measure = str(options.pop("measure", "feature"))
    counts = plan.count([name])
    source = np.repeat(np.arange(len(counts)), counts.weights)
    values = [counts.values_of(name)[c] for c in counts.column(name)[source].tolist()]
    if any(isinstance(v, tuple) for v in values):
        items = from_lists([list(v) if isinstance(v, tuple) else [] for v in values], column=name)
    else:
        items = from_delimited(values, delimiter=column.delimiter, column=name)
    taxonomy = None if column.taxonomy is None else plan.taxonomy(name)
    sets = map_sets(items, taxonomy, senses="first" if column.senses == "joint" else column.senses)
    judge = None if taxonomy is None else distance(measure, taxonomy)
    release = call(microaggregate_sets, options, sets, judge, rng=plan.rng, listener=listener)
    cells = [tuple(cell) if isinstance(cell, list) else cell for cell in release.column(rng=plan.rng)]
    place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    pairs = np.stack([source, [place[cell] for cell in cells]], axis=1).astype(np.int32)
    distinct, group = distinct_rows(np.ascontiguousarray(pairs))
    rule = Cells(
        (name,),
        (tuple(place),),
        distinct[:, 0].astype(np.int64),
        distinct[:, 1:],
        np.bincount(group, minlength=len(distinct)),
        info={"method": "set microaggregation", "k": release.k, "groups": len(release.partition)},
    )
    return [rule.bound(counts)]
