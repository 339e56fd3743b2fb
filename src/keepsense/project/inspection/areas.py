"""Which columns of a table say where the places of another lie: the state and the country beside a city."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from keepsense.project.inspection import patterns
from keepsense.project.inspection.knowledge import Areas
from keepsense.taxonomy import library
from keepsense.taxonomy.lookup import lies_in, lookup
from keepsense.taxonomy.places import beside

if TYPE_CHECKING:
    from keepsense.engines import Engine, Table

PLACES = patterns.words("city cities town municipality village hometown place birthplace residence location")
"""Words in the name of a column that say that it holds places which other columns may place."""

AREAS = patterns.words("state region province county country nation territory prefecture canton department land")
"""Words in the name of a column that say that it names the areas of other places."""

LEAST_KNOWN = 0.5
"""Share of the rows whose areas must be known."""

LEAST_AGREED = 0.5
"""Share of the rows of known places and areas on which one lies in the other; villages share names with towns."""

_BESIDE_THE_POINT = patterns.words("of name names code iso id abbreviation the")
_OWN = patterns.words("home current present address patient person client customer employee living")
"""Words in the name of a column that say no more than that a place is where somebody lives."""


def named_areas(column: str, names: Sequence[str]) -> tuple[str, ...]:
    """Columns that are called like areas of a column's places; `birth_country` is that of `birth_city`, not of `city`.

    >>> named_areas("city", ["city", "state", "birth_country"]), named_areas("birthCity", ["country", "birth_country"])
    (('state',), ('birth_country',))
    >>> named_areas("job", ["state"]), named_areas("birthplace", ["state"]), named_areas("home_town", ["state"])
    ((), (), ('state',))
    """
    said = set(patterns.words_of(column))
    if not said & PLACES:
        return ()
    whose = (said - PLACES - _BESIDE_THE_POINT) | ({"birth"} if "birthplace" in said else set())
    others = {name: set(patterns.words_of(name)) for name in names if name != column}
    areas = {name: words - AREAS - _BESIDE_THE_POINT for name, words in others.items() if words & AREAS}
    same = tuple(name for name, theirs in areas.items() if theirs == whose)
    return same or tuple(name for name, theirs in areas.items() if not theirs and whose <= _OWN)


def areas_beside(engine: Engine, table: Table, column: str, names: Sequence[str]) -> Areas | None:
    """What other columns say about where the places of one lie; None where none does, or the rows contradict it.

    >>> from keepsense.engines import engine
    >>> cells = {"town": ["London", "Windsor"], "land": ["Canada", "Canada"], "country": ["x", "y"]}
    >>> with engine() as running:
    ...     areas_beside(running, running.read(cells), "town", list(cells)).columns
    ('land',)
    """
    telling = [name for name in named_areas(column, names) if _agree(areas_in(engine, table, column, (name,)))]
    return areas_in(engine, table, column, tuple(telling)) if telling else None


def areas_in(engine: Engine, table: Table, column: str, others: tuple[str, ...]) -> Areas:
    """What the given columns say about where the places of one lie, whatever they are called.

    >>> from keepsense.engines import engine
    >>> with engine() as running:
    ...     areas_in(running, running.read({"seen": ["London"] * 2, "where": ["Canada"] * 2}), "seen", ("where",)).cells
    [('Canada',)]
    """
    counts = engine.count(table, [column, *others])
    values, *cells = ([counts.values_of(c)[i] for i in counts.column(c)] for c in (column, *others))
    return Areas(others, values, list(zip(*cells, strict=True)), counts.weights.tolist())


def _agree(areas: Areas) -> bool:
    """Whether most rows name a known area, and where the place is known, it lies there."""
    taxonomy = library.find("places")
    look = lookup(taxonomy)
    filled = known = placed = inside = 0
    for value, cell, weight in zip(areas.values, areas.cells, areas.rows, strict=True):
        if value is None or cell[0] is None:
            continue
        filled += weight
        (named,) = beside([value], [cell], taxonomy).values()
        match = look.find(str(value))
        known += weight if named else 0
        if named and match is not None and match.how != "head":
            placed += weight
            inside += weight * any(lies_in(taxonomy.parents, place, named[0]) for place in match.concepts)
    return filled > 0 and known >= LEAST_KNOWN * filled and placed > 0 and inside >= LEAST_AGREED * placed
