"""The registry of roles of columns: what a column is about a person; one entry a role, in `ROLES`."""

from __future__ import annotations

from dataclasses import dataclass

from keepsense.registry import Registry


@dataclass(frozen=True)
class Role:
    """A role of a column: what it means, whether the column is released, and the colour that stands for it.

    Of a `single` role a table has one column at most; `described` says that kind and meaning of the values matter,
    `coarse` that the column may be released in bands, or at a level of its hierarchy, in place of as it is.

    >>> [(name, role.colour) for name, role in ROLES.items() if not role.released]
    [('identifier', 'red'), ('person', 'red'), ('household', 'red')]
    """

    name: str
    about: str
    colour: str
    released: bool = True
    single: bool = False
    described: bool = True
    coarse: bool = False


ROLES: Registry[Role] = Registry("role")
for _role in (
    Role("identifier", "names a person outright; removed", "red", released=False, described=False),
    Role(
        "quasi-identifier",
        "others may know it, and together such columns point at people; changed until they do not",
        "yellow",
    ),
    Role(
        "sensitive", "what others should not learn; released as it is, protected by the promises", "purple", coarse=True
    ),
    Role("insensitive", "released as it is", "green", coarse=True),
    Role(
        "person", "tells which rows belong to one person; removed", "red", released=False, single=True, described=False
    ),
    Role(
        "household",
        "tells who lives together, so that the risk of households is measured; removed",
        "red",
        released=False,
        single=True,
        described=False,
    ),
    Role(
        "target",
        "what the data are to predict; released as it is, kept predictable by the methods that look at it",
        "blue",
        coarse=True,
    ),
    Role(
        "weight",
        "how many people of the population a row stands for; released as it is",
        "grey",
        single=True,
        described=False,
    ),
):
    ROLES.add(_role.name, _role)
