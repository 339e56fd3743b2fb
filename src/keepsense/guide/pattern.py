"""A catalogue entry: one technique, category or algorithm, described so that people who do not program can choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from keepsense.guide.flowchart import Flowchart

EntryKind = Literal["technique", "category", "algorithm"]


@dataclass(frozen=True)
class Filling:
    """What an algorithm fills in for one parameter of its category: the value in the code, and the same in words.

    >>> Filling("up", "the table as it is").value
    'up'
    """

    value: Any
    words: str


@dataclass(frozen=True)
class Relation:
    """Another entry and why it conflicts or combines with this one.

    >>> Relation("noise", "the release would no longer be true").name
    'noise'
    """

    name: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What to know about a method before choosing it.

    `steps` is its own flowchart; where there is none, it is its parent's with `fillings` filled in. `code` names the
    function (`module:function`), `project` the name in project files; both are None for what is only described. A
    technique may have a name in project files and no function of its own: it then takes the one that suits.

    >>> entry = Entry(name="x", title="X", kind="algorithm", parent=None, intent="Try.", use=(), inputs=(),
    ...     guarantee="None.", cost="None.", paper="None.", example="None.", truthful=True)
    >>> entry.runs
    False
    """

    name: str
    title: str
    kind: EntryKind
    parent: str | None
    intent: str
    use: tuple[str, ...]
    inputs: tuple[str, ...]
    guarantee: str
    cost: str
    paper: str
    example: str
    truthful: bool
    steps: Flowchart | None = None
    fillings: Mapping[str, Filling] = field(default_factory=dict)
    code: str | None = None
    project: str | None = None
    nine: bool = False
    avoid: tuple[str, ...] = ()
    conflicts: tuple[Relation, ...] = ()
    combines: tuple[Relation, ...] = ()
    short: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "fillings", MappingProxyType(dict(self.fillings)))

    @property
    def runs(self) -> bool:
        """Whether Keepsense does it, and not only describes it."""
        return self.code is not None or self.project is not None
