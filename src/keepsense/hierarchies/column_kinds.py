"""The registry of kinds of values (nominal, ordinal, numeric, date, code, set), and what each kind provides.

There is one module a kind in `keepsense.hierarchies.kinds`, with its entry in `KINDS`. Other code asks the entry and
never compares names of kinds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from keepsense.registry import Registry

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from keepsense.counts import Value
    from keepsense.hierarchies.hierarchy import Hierarchy
    from keepsense.hierarchies.intervals import End
    from keepsense.taxonomy.taxonomy import Taxonomy
    from keepsense.taxonomy.value_mapping import Mapping as Mapped

KindName = Literal["nominal", "ordinal", "numeric", "date", "code", "set"]
"""Names of the kinds that come with Keepsense, for those who cannot wait for their modules: types and help texts."""

MISSING = "missing"
"""Label that a missing value keeps below the top, where a hierarchy is built of values that are missing too."""


@dataclass(frozen=True, eq=False)
class Values:
    """What the hierarchy of a column is built from: its values with their rows, and what is known about them.

    `least` is the number of rows from which on a label may list a value that no taxonomy knows.

    >>> Values("size", {"S": 3, "L": 2}, order=("S", "L")).rows["S"]
    3
    """

    name: str
    rows: Mapping[Value, int]
    order: Sequence[Value] | None = None
    taxonomy: Taxonomy | None = None
    mapping: Mapped | None = None
    distance: str = "wu-palmer"
    choose: str = "first"
    least: int | None = None


Rule = Callable[["Value"], "Value | None"]
"""What becomes of a value, None where nothing is told."""


@dataclass(frozen=True, eq=False)
class Kind:
    """A kind of values: what it is called, how hierarchies of it are built, and where its values lie.

    `about` says what such values are, `examples` what they may stand for, `value` what a single one is called. `build`
    makes the automatic hierarchy, `shortlist` the few that people may choose from (the automatic one comes first),
    `candidates` several to choose from, other than by a taxonomy. `places` gives each
    value its place on a line (None where it has none), for kinds whose values have an order. `span` gives both ends of
    what a released label covers, for kinds whose labels can be computed with. `rule` tells from what
    became of some values (and their order, where it is stated) what becomes of others, so that values never seen can be
    released alike. `covers` tells of labels (rows) and values (columns) which label is true of which value, as far as
    the label tells it. `words` may have a taxonomy, `sets` hold several items in a cell, `numbers` can be added up.

    >>> [(name, kind.ordered) for name, kind in KINDS.items()]  # doctest: +NORMALIZE_WHITESPACE
    [('nominal', False), ('ordinal', True), ('numeric', True), ('date', True), ('code', False), ('set', False)]
    """

    name: str
    about: str
    examples: str
    build: Callable[[Values], Hierarchy]
    shortlist: Callable[[Values], list[Hierarchy]] | None = None
    candidates: Callable[[Values], list[Hierarchy]] | None = None
    places: Callable[[Sequence[Value], Sequence[Value] | None], list[float | None]] | None = None
    span: Callable[[Value], tuple[End, End] | None] | None = None
    rule: Callable[[Mapping[Value, Value], Sequence[Value] | None], Rule | None] | None = None
    covers: Callable[[Sequence[Value], Sequence[Value]], NDArray[np.bool_]] | None = None
    value: str = "value"
    words: bool = False
    sets: bool = False
    numbers: bool = False
    needs_order: bool = False

    @property
    def ordered(self) -> bool:
        """Whether values lie on a line, so that some are nearer to each other than others."""
        return self.places is not None


KINDS: Registry[Kind] = Registry(
    "kind",
    packages=["keepsense.hierarchies.kinds"],
    first=get_args(KindName),
)
