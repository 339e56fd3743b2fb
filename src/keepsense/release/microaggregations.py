"""Methods by name that group similar records and release one record for each group: close, but not true."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from keepsense.errors import BadInput
from keepsense.methods.calling import call
from keepsense.privacy import TCloseness
from keepsense.progress import Listener
from keepsense.recoding import Cells, Recoding
from keepsense.release.attributes import with_k
from keepsense.release.job import Job
from keepsense.release.perturbations import perturbed
from keepsense.release.techniques import register


def _grouping(module: str, function: str) -> Callable[[Job, Mapping[str, Any], Listener | None], list[Recoding]]:
    def run(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
        method = getattr(import_module(f"keepsense.methods.aggregate.{module}"), function)

        def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
            found: Cells = call(method, options, counts, columns, listener=listener)
            return found

        return perturbed(job, with_k(job, parameters), go)

    return run


for _name, _module, _function, _summary in (
    ("microaggregation of records", "records", "microaggregate", "group similar records by k, release their centre"),
    ("adaptive microaggregation", "adaptive", "microaggregate_adaptive", "groups of k or more, as the records lie"),
    ("individual ranking", "orders", "individual_ranking", "group every column by itself: little loss, little promise"),
):
    register(_name, _summary, truthful=False)(_grouping(_module, _function))


@register("t-close microaggregation", "groups of k whose sensitive values are spread as in the whole", truthful=False)
def _close(job: Job, parameters: Mapping[str, Any], listener: Listener | None) -> list[Recoding]:
    """Microaggregation that keeps t-closeness, of the column and with the t that are promised unless given."""
    from keepsense.methods.aggregate.closeness import microaggregate_close

    promised = next((m for m in job.models if isinstance(m, TCloseness)), None)
    options = with_k(job, parameters)
    if promised is not None:
        options = {"t": promised.t, "sensitive": promised.column, "distance": promised.ground, **options}
    if "t" not in options or "sensitive" not in options:
        raise BadInput("this method needs t-closeness to be promised, or t and sensitive in [method.parameters]")
    sensitive = str(options["sensitive"])
    if sensitive not in job.table.columns:
        raise BadInput(f"the table has no column {sensitive!r}, which [method.parameters] calls sensitive")

    def go(counts: Any, columns: list[Any], options: dict[str, Any]) -> Cells:
        found: Cells = call(microaggregate_close, options, counts, columns, listener=listener)
        return found

    return perturbed(job, options, go, beside=(sensitive,))
