"""The hierarchy of a column in a project: from its file, or built for its kind and its own values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from keepsense.counts import Value
from keepsense.errors import BadInput
from keepsense.hierarchies import (
    Hierarchy,
    candidates,
    choose,
    dates,
    equal_frequency,
    masked,
    ordered,
    read_arx,
    read_json,
    read_tree,
    read_xml,
)

if TYPE_CHECKING:
    from keepsense.publish.plan import Plan

MISSING = "(missing)"
_READERS: dict[str, Callable[[Path], Hierarchy]] = {
    ".csv": read_arx,
    ".xml": read_xml,
    ".json": read_json,
    ".txt": read_tree,
    ".tree": read_tree,
}


def hierarchy_of(plan: Plan, name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """Hierarchy of one column over exactly the values it has (a missing cell is a value of its own)."""
    column = plan.column(name)
    present = {value: count for value, count in rows.items() if value is not None}
    if not present:
        raise BadInput(f"column {name!r} is empty; drop it or give it another role")
    if column.hierarchy not in (None, "auto"):
        hierarchy = read_hierarchy(plan.folder / str(column.hierarchy), name)
    elif column.kind == "numeric":
        hierarchy = _numbers(name, present)
    elif column.kind == "date":
        hierarchy = dates(present, name=name)
    elif column.kind == "masked":
        hierarchy = masked(present, name=name)
    elif column.kind == "ordinal":
        if column.order is None:
            raise BadInput(f"column {name!r} is ordinal; list its values in `order`, lowest first")
        hierarchy = ordered(column.order, name=name)
    elif column.taxonomy is None or column.kind == "set":
        hierarchy = Hierarchy.of_rows([(value, "*") for value in present], name=name)
    else:
        hierarchy = _words(plan, name, present)
    if None in rows and None not in hierarchy.leaves:
        return _with_missing(hierarchy, name, wild=column.missing == "wildcard")
    return hierarchy


def read_hierarchy(path: Path, name: str) -> Hierarchy:
    """Read a hierarchy file of any format, by its ending.

    >>> read_hierarchy(Path("jobs.docx"), "job")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: jobs.docx: no hierarchy format ends in .docx; there are: .csv, .json, .tree, .txt, .xml
    """
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        known = ", ".join(sorted(_READERS))
        raise BadInput(f"{path.name}: no hierarchy format ends in {path.suffix or 'nothing'}; there are: {known}")
    from dataclasses import replace

    return replace(reader(path), name=name)


def _words(plan: Plan, name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """The best of many candidates that the taxonomy gives, by their semantic loss."""
    from keepsense.hierarchies.choice import by_gsl
    from keepsense.semantics import distance

    taxonomy = plan.taxonomy(name)
    judge = distance(plan.column(name).distance, taxonomy)
    mapping = plan.mapping(name, rows)
    made = candidates(
        list(rows),
        taxonomy,
        list(rows.values()),
        senses=mapping,
        distance=judge,
        unknown="list",
        name=name,
        rng=plan.rng,
    )
    # values in no taxonomy stay by themselves up to the top and are not judged
    return choose({name: made}, by_gsl(judge, unknown="list")).hierarchies[name]


def _numbers(name: str, rows: Mapping[Value, int]) -> Hierarchy:
    """Intervals of about equally many rows; cells that are text keep their spelling as leaves."""
    numbers: dict[Value, float] = {}
    for value in rows:
        try:
            numbers[value] = float(str(value)) if not isinstance(value, int | float) else value
        except ValueError:
            raise BadInput(f"column {name!r} is numeric, but holds a value that is no number") from None
    weight: dict[float, int] = {}
    for value, number in numbers.items():
        weight[number] = weight.get(number, 0) + rows[value]
    whole = {n: int(n) if float(n).is_integer() else n for n in weight}
    built = equal_frequency([whole[n] for n in weight], list(weight.values()), name=name)
    above = {row[0]: row[1:] for row in built.rows()}
    return Hierarchy.of_rows([(value, *above[whole[n]]) for value, n in numbers.items()], name=name, kind="numeric")


def _with_missing(hierarchy: Hierarchy, name: str, *, wild: bool) -> Hierarchy:
    """The hierarchy with a leaf for missing cells, which stays by itself up to the top; a wildcard stays empty."""
    rows = hierarchy.rows()
    top = rows[0][-1]
    label = None if wild else MISSING
    missing = (None, *[label] * (hierarchy.height - 1), top) if hierarchy.height else (None,)
    return Hierarchy.of_rows([*rows, missing], name=name, kind=hierarchy.kind)
