"""Whether released labels are true of the people they stand for, tuple by tuple, by what the gazetteer says alone.

A label is read as a reader reads it: a name, a name with its type in brackets, or a list of names. It is true of a
person where it lists the person's own value, or names a place in which the gazetteer, or another column of the same
row, says that this value lies.
"""

from __future__ import annotations

import re
from functools import cache

from keepsense.release.run import Outcome
from keepsense.taxonomy.embedded_taxonomies import embedded
from keepsense.utility.recoded_table import whole_table

_TYPES = {"city": "city", "county": "county", "region": "state", "country": "country", "subregion": "", "continent": ""}


def false_labels(outcome: Outcome, column: str, state: str | None = None) -> dict[tuple[str, ...], int]:
    """Value and label (and state) of the released tuples where the label is not true, and how many rows these are.

    With `state`, the column that says in which state of the United States a row lies, values are places of that state;
    without it a label is true only where it is the value, lists it or hides it.
    """
    (rule,) = whole_table(outcome.recodings, outcome.job.quasi_identifiers)
    counts, cells = outcome.counts, rule.cells(outcome.counts)
    labels = cells.values[cells.names.index(column)]
    columns = [[counts.values_of(name)[i] for i in counts.column(name)] for name in (column, state) if name]
    found: dict[tuple[str, ...], int] = {}
    for row, source in enumerate(cells.source.tolist()):
        value, *areas = (each[source] for each in columns)
        label = labels[cells.codes[row, cells.names.index(column)]]
        if not is_true(label, value, *areas):
            case = tuple(map(str, (value, label, *areas)))
            found[case] = found.get(case, 0) + int(cells.multiplicity[row])
    return found


def is_true(label: object, value: object, state: str | None = None) -> bool:
    """Whether a label is true of a value, which is a place in a state where one is given."""
    if label in ("*", value) or value is None or label is None:
        return label in ("*", value)
    label, value = str(label), str(value)
    return _lists(label, value) or (state is not None and _names(label, value, state))


def _items(label: str) -> list[tuple[str, str]]:
    """Names of a list, each with what stands in brackets behind it."""
    return [re.fullmatch(r"(.*?)(?: \((.*)\))?", item).groups("") for item in re.split(r", | or ", label)]  # type: ignore


def _lists(label: str, value: str) -> bool:
    return any(name.casefold() == value.casefold() and kind in ("", "any spelling") for name, kind in _items(label))


def _names(label: str, value: str, state: str) -> bool:
    above = _places_above(value, state)
    return any((name, own) in above for name, kind in _items(label) for own in ([kind] if kind else _TYPES.values()))


@cache
def _places_above(value: str, state: str) -> frozenset[tuple[str, str]]:
    """Every place, by all its names with its type and as "any part", in which a town of a state lies."""
    places = embedded("places")
    nation = places.code("country/US")
    (area,) = (p for p in places.senses_of(state).tolist() if places.id(p).startswith("region/US."))
    towns = [p for p in places.senses_of(value).tolist() if area in places.above(p)]
    inside = {above for place in (area, *towns) for above in places.above(place) if nation in places.above(above)}
    return frozenset(
        (name, kind)
        for p in inside
        for name in (places.label(p), *places.synonyms(p))
        for kind in (_TYPES[places.id(p).partition("/")[0]], "any part", "any spelling")
    )
