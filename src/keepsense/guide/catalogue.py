"""The catalogue: every technique, category and algorithm, found by name, with its flowchart."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import Any

from keepsense.errors import BadInput, did_you_mean
from keepsense.guide.entries import (
    aggregation,
    differential,
    generalization,
    lattice_recoding,
    masking,
    multidimensional_recoding,
    noise,
    swapping,
    table_recoding,
)
from keepsense.guide.flowchart import Flowchart
from keepsense.guide.pattern import Entry

_FAMILIES = (
    generalization,
    table_recoding,
    lattice_recoding,
    multidimensional_recoding,
    swapping,
    noise,
    aggregation,
    differential,
    masking,
)


@cache
def catalogue() -> MappingProxyType[str, Entry]:
    """Every entry by its name.

    >>> catalogue()["datafly"].parent
    'table recoding'
    """
    return MappingProxyType({found.name: found for family in _FAMILIES for found in family.ENTRIES})


def entry(name: str) -> Entry:
    """An entry by its name, its title, or the name it has in project files; spaces, hyphens and case do not matter.

    >>> entry("Datafly").name
    'datafly'
    >>> entry("Semantic-Incognito").name, entry("set microaggregation").name, entry("local").name
    ('semantic incognito', 'microaggregation of sets', 'local recoding')
    >>> entry("samarity")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the catalogue has no entry 'samarity'. Did you mean samarati?
    """
    entries = catalogue()
    found = _spellings().get(_plain(name))
    if found is None:
        raise BadInput(f"the catalogue has no entry {name!r}.{did_you_mean(name.strip().lower(), list(entries))}")
    return entries[found]


def _plain(name: str) -> str:
    return " ".join(re.split(r"[\s_-]+", name.strip().lower()))


@cache
def _spellings() -> dict[str, str]:
    """Every way to call an entry."""
    entries = catalogue().values()
    named = {"local": "local recoding"}
    for found in entries:
        named[_plain(found.title)] = found.name
    for found in entries:
        named |= dict.fromkeys((_plain(found.project or found.name), _plain(found.name)), found.name)
    return named


def children(name: str) -> list[Entry]:
    """Entries right below one, in order.

    >>> [found.name for found in children("generalization")][:2]
    ['table recoding', 'lattice recoding']
    """
    return [found for found in catalogue().values() if found.parent == name]


def flowchart(name: str) -> Flowchart:
    """The flowchart of an entry: its own, or its category's with the entry's parameters filled in.

    >>> flowchart("table recoding").parameters
    ('direction', 'stop', 'candidates', 'metric', 'suppression')
    >>> flowchart("datafly").parameters
    ()
    """
    found = entry(name)
    if found.steps is not None:
        return found.steps
    if found.parent is None:
        raise BadInput(f"the catalogue's entry {name!r} has no flowchart")
    return flowchart(found.parent).filled({key: filling.words for key, filling in found.fillings.items()})


def function(found: Entry) -> Any:
    """The function that does what an entry describes.

    >>> from keepsense.counts import Counts
    >>> from keepsense.hierarchies import Hierarchy
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*")])
    >>> function(entry("datafly"))(Counts.of({"job": ["nurse", "surgeon"]}), {"job": jobs}, k=2).levels
    (1,)
    """
    if found.code is None:
        raise BadInput(f"{found.title} is described in the catalogue, but Keepsense does not do it")
    module, name = found.code.split(":")
    return getattr(import_module(module), name)
