"""Methods by name for set-valued columns, alone or inside the classes that other quasi-identifiers form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput
from keepsense.methods.calling import call
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, Recoding, suppressed_tuples
from keepsense.release.attributes import least_size, with_k
from keepsense.release.job import Job
from keepsense.release.techniques import Technique, register, technique

SetMethod = Callable[[Job, str, Counts, Mapping[str, Any], Listener | None], Cells]
"""Recodes one set-valued column: the last of the counts, whose others tell the class of each record."""

_METHODS: dict[str, SetMethod] = {}


def recode_sets(job: Job, released: Any, listener: Listener | None) -> tuple[list[Recoding], Any]:
    """Recode the set-valued quasi-identifiers of a table whose other quasi-identifiers are recoded already.

    One column after another, so that a set is shared within its class, and the next column within that.

    >>> from keepsense.release.example import example_job
    >>> sets = {"likes": {"role": "quasi-identifier", "kind": "set", "delimiter": ";"}}
    >>> job = example_job(columns=sets, unlisted="drop", method={"name": "set microaggregation"})
    >>> rules, released = recode_sets(job, job.engine.recode(job.table, [], drop=job.dropped), None)
    >>> job.count_in(released).rows_of("likes")
    {'chess': 4, 'chess;tea': 4, 'football': 4, 'tea': 8}
    """
    rules: list[Recoding] = []
    single = [name for name in job.quasi_identifiers if name not in job.set_columns]
    for done, name in enumerate(job.set_columns):
        counts = job.engine.count(released, [*single, *job.set_columns[:done], name])
        chosen = method_for_sets(job)
        rule = _METHODS[chosen.name](job, name, counts, _parameters(job), listener).bound(counts)
        released = job.engine.recode(released, [rule], rng=job.rng)
        rules.append(rule)
    return rules, released


def method_for_sets(job: Job) -> Technique:
    """The method that recodes the set-valued columns: [method] where it is one for sets, else [set_method].

    >>> from keepsense.release.example import example_job
    >>> method_for_sets(example_job()).name
    'set microaggregation'
    """
    chosen = technique(job.project.method.name)
    if chosen.sets == "only":
        return chosen
    chosen = technique(job.project.set_method.name)
    if chosen.sets != "only":
        raise BadInput(f"[set_method] names {chosen.name!r}, which is no method for sets")
    return chosen


def _parameters(job: Job) -> Mapping[str, Any]:
    alone = technique(job.project.method.name).sets == "only"
    return job.project.method.parameters if alone else job.project.set_method.parameters


def _set_method(name: str, summary: str, *, truthful: bool, also: tuple[str, ...] = ()) -> Callable[[Any], Any]:
    def nothing_else(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
        return []  # such a method has no other columns to decide on

    def keep(function: SetMethod) -> SetMethod:
        register(name, summary, truthful=truthful, sets="only", also=also)(nothing_else)
        _METHODS[name] = function
        return function

    return keep


@_set_method(
    "set microaggregation",
    "group similar sets by k and release one synthetic set close to all of them",
    truthful=False,
    also=("microaggregation of sets",),
)
def _microaggregate(
    job: Job, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None
) -> Cells:
    """Sets that are alike, within each class of the other quasi-identifiers.

    Promises about more than the size of classes (their sensitive values, say) hold for the classes as they are, so
    these are not divided further: all records of a class get one set.
    """
    from keepsense.methods.aggregate.sets import microaggregate_sets
    from keepsense.semantics import distance

    column, alone = job.column(name), len(counts.names) == 1
    options = with_k(job, parameters) if alone else {"k": least_size(job) or 2, **parameters}
    measure = str(options.pop("measure", "feature"))
    others = counts.names[:-1]
    hidden = suppressed_tuples(counts, columns=others) if others else np.zeros(len(counts), np.bool_)
    source = np.repeat(np.arange(len(counts)), counts.weights)
    shown = np.flatnonzero(~hidden[source])
    items = job.items(name, counts.values_of(name)).taken(counts.column(name)[source[shown]])
    taxonomy = None if column.taxonomy is None else job.taxonomy(name)
    sets = job.concept_sets(name, items)
    judge = None if taxonomy is None else distance(measure, taxonomy)
    divide = least_size(job) is not None and all(model.by_size for model in job.models)
    inside: dict[str, Any] = {} if alone else {"within": _classes(counts)[source[shown]], "divide": divide}
    release = call(microaggregate_sets, options, sets, judge, rng=job.rng, listener=listener, **inside)
    cells: list[Value] = release.cells()
    group = np.full(len(source), len(cells), dtype=np.int64)
    group[shown] = release.group
    told = {"method": "set microaggregation", "k": release.k, "groups": len(release.partition)}
    return _allocated(name, source, group, [*cells, items.cell([SUPPRESSED])], told)


def _classes(counts: Counts) -> NDArray[np.int64]:
    """Class that the other quasi-identifiers put each tuple into."""
    _, classes = distinct_rows(np.ascontiguousarray(counts.codes[:, :-1]))
    return classes.astype(np.int64)


def _allocated(
    name: str, source: NDArray[Any], chosen: NDArray[Any], cells: list[Value], info: Mapping[str, Any]
) -> Cells:
    """A recoding from the cell that each record gets."""
    place = {cell: i for i, cell in enumerate(dict.fromkeys(cells))}
    codes = np.array([place[cell] for cell in cells], dtype=np.int64)[chosen]
    pairs = np.stack([source, codes], axis=1).astype(np.int32)
    distinct, group = distinct_rows(np.ascontiguousarray(pairs))
    return Cells(
        (name,),
        (tuple(place),),
        distinct[:, 0].astype(np.int64),
        distinct[:, 1:],
        np.bincount(group, minlength=len(distinct)),
        info=dict(info),
    )


def _generalized(function: Any, what: str) -> SetMethod:
    def run(job: Job, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None) -> Cells:
        if len(counts.names) > 1:
            raise BadInput(
                f"the method {what!r} generalizes a set-valued column that is published without other "
                "quasi-identifiers; beside others, use set microaggregation"
            )
        source = np.repeat(np.arange(len(counts)), counts.weights)
        items = job.items(name, counts.values_of(name)).taken(counts.column(name)[source])
        release = call(function(), parameters, items, job.hierarchies[name], listener=listener)
        cells = [items.cell(found) for found in release.records()]
        told = {"method": what, "penalty": float(release.penalty)}
        return _allocated(name, source, np.arange(len(cells)), cells, told)

    return run


def _apriori() -> Any:
    from keepsense.methods.aggregate.apriori import generalize_apriori

    return generalize_apriori


def _topdown() -> Any:
    from keepsense.methods.aggregate.topdown import generalize_topdown

    return generalize_topdown


@_set_method(
    "apriori sets",
    "generalize items, everywhere alike, until any m of them are shared by k",
    truthful=True,
    also=("apriori",),
)
def _by_apriori(job: Job, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None) -> Cells:
    """k and m as promised by k^m-anonymity, unless they are given."""
    asked = next((m.promise() for m in job.models if m.of_sets), {})
    options = {key: asked[key] for key in ("k", "m") if key in asked} | dict(parameters)
    if not {"k", "m"} <= set(options):
        raise BadInput("this method needs k and m: promise k^m-anonymity, or give both in [method.parameters]")
    return _generalized(_apriori, "apriori sets")(job, name, counts, options, listener)


@_set_method("top-down sets", "specialize items from the top while whole sets are shared by k", truthful=True)
def _by_topdown(job: Job, name: str, counts: Counts, parameters: Mapping[str, Any], listener: Listener | None) -> Cells:
    """k as promised, unless it is given."""
    return _generalized(_topdown, "top-down sets")(job, name, counts, with_k(job, parameters), listener)
