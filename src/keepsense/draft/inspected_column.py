"""What an inspection knows about one column."""

from __future__ import annotations

from dataclasses import dataclass

from keepsense.counts import Value
from keepsense.draft.cell_formats import spelled_plainly
from keepsense.draft.role_rules import MANY, Confidence
from keepsense.draft.taxonomy_choice import KnownWords
from keepsense.engines.protocol import Profile
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.project.coarse_columns import fitting_width
from keepsense.project.roles import ROLES


@dataclass(frozen=True, eq=False)
class Inspected:
    """What was found out about one column, and what is guessed from it, with the reason and how sure the guess is.

    `given` says that its role is no guess: it is released as that role says. `empty` are cells that stand for a missing
    value, `format` is how dates or numbers are written, `weight` how much its loss counts where that is known.

    >>> Inspected(Profile("sex", "VARCHAR", 4, 0, 2, 0), "quasi-identifier", "nominal", "its name").name
    'sex'
    """

    profile: Profile
    role: str
    kind: str
    reason: str
    meaning: KnownWords | None = None
    delimiter: str | None = None
    order: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    confidence: Confidence = "sure"
    empty: tuple[str, ...] = ()
    format: str | None = None
    weight: float = 1.0
    given: bool = False

    @property
    def name(self) -> str:
        """Name of the column."""
        return self.profile.name

    @property
    def points_at_people(self) -> bool:
        """Whether its numbers are so many that, as they are, they would point at people."""
        coarsened = ROLES[self.role].coarse and self.profile.uniqueness > 0.002
        return coarsened and KINDS[self.kind].numbers and self.profile.distinct > MANY

    @property
    def in_bands(self) -> bool:
        """Whether its numbers are drafted in bands, because they point at people; not where its role was given."""
        return self.points_at_people and not self.given

    def plain(self, value: Value) -> str:
        """A value of its numbers, however they are written, as numbers are usually written."""
        return spelled_plainly(str(value), self.format)

    def width(self) -> float:
        """A round width for bands of its numbers."""
        return fitting_width({self.plain(value): rows for value, rows in self.profile.values.items()})
