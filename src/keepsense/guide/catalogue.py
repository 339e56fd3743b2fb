"""The catalogue: every method and the families they belong to, found by name, with their flowcharts."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from types import MappingProxyType
from typing import Any

from keepsense.errors import BadInput, did_you_mean
from keepsense.guide.families import FAMILIES
from keepsense.methods.flowchart import Flowchart
from keepsense.methods.registry import METHODS, Described, Method, method
from keepsense.registry import plain


@cache
def catalogue() -> MappingProxyType[str, Described]:
    """Every entry by its name: a family, then what is below it.

    >>> catalogue()["datafly"].family
    'table recoding'
    """
    return MappingProxyType({described.name: described for described in _below(None)})


def _below(family: str | None) -> Iterator[Described]:
    every: list[Described] = [*FAMILIES.values(), *METHODS.values()]
    inside = [described for described in every if described.family == family]
    for described in sorted(inside, key=lambda described: (described.place, described.name)):
        yield described
        yield from _below(described.name)


def entry(name: str) -> Described:
    """An entry by its name, its title or an alias; spaces, hyphens and case do not matter.

    >>> entry("Datafly").name
    'datafly'
    >>> entry("Semantic-Incognito").name, entry("microaggregation of sets").name, entry("local").name
    ('semantic incognito', 'set microaggregation', 'local recoding')
    >>> entry("samarity")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the catalogue has no entry 'samarity'. Did you mean samarati?
    """
    entries = catalogue()
    if name in METHODS:
        return method(name)
    named = {
        plain(spelling): described for described in entries.values() for spelling in (described.title, described.name)
    }
    if plain(name) not in named:
        raise BadInput(f"the catalogue has no entry {name!r}.{did_you_mean(name.strip().lower(), list(entries))}")
    return named[plain(name)]


def children(name: str) -> list[Described]:
    """Entries right below one, in order.

    >>> [described.name for described in children("generalization")][:2]
    ['table recoding', 'lattice recoding']
    """
    return [described for described in catalogue().values() if described.family == name]


def family_of(described: Described) -> str:
    """Name of the outermost family an entry belongs to: a technique in the words of the papers.

    >>> family_of(entry("datafly"))
    'generalization'
    """
    return described.name if described.family is None else family_of(catalogue()[described.family])


def flowchart(name: str) -> Flowchart:
    """The flowchart of an entry: its own, or its family's with the entry's parameters filled in.

    >>> flowchart("table recoding").parameters
    ('direction', 'stop', 'candidates', 'metric', 'suppression')
    >>> flowchart("datafly").parameters
    ()
    """
    described = entry(name)
    if described.steps is not None:
        return described.steps
    if described.family is None:
        raise BadInput(f"the catalogue's entry {name!r} has no flowchart")
    return flowchart(described.family).filled({key: filling.words for key, filling in described.fillings.items()})


def function(described: Described) -> Any:
    """The function that does what an entry describes.

    >>> function(entry("datafly")).__name__
    'datafly'
    """
    if not isinstance(described, Method):
        raise BadInput(f"{described.title} is described in the catalogue, but Keepsense does not do it")
    return described.function
