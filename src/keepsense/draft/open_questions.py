"""The few questions that a person who knows the table should answer about a draft, the most important first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from keepsense.draft.inspection import Inspection
from keepsense.engines.formats.table_formats import FORMATS

MOST = 3
"""Questions asked at once; the rest is in the draft."""

_NAMED = 6


@dataclass(frozen=True)
class Decision:
    """A question about a draft: the columns it is about, what was assumed, and what to write where that is wrong.

    `roles` are those to give the columns where it is wrong, if a role is all there is to change.

    >>> Decision(("job",), "job is taken for ...", 'role = "insensitive"').columns
    ('job',)
    """

    columns: tuple[str, ...]
    question: str
    remedy: str
    roles: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.question} If that is wrong: {self.remedy}."


def decisions(inspection: Inspection, most: int = MOST) -> list[Decision]:
    """The questions about a draft that change most, the weightiest first.

    >>> from keepsense.draft.inspection import inspect
    >>> found = decisions(inspect({"job": ["nurse", "clerk"] * 9, "q7": ["a", "b", "c"] * 6}))
    >>> [decision.columns for decision in found]
    [('q7',), ()]
    """
    return [decision for rule in _RULES for decision in rule(inspection)][:most]


def _one_column(inspection: Inspection) -> Iterator[Decision]:
    parted = inspection.format in FORMATS and "delimiter" in FORMATS[inspection.format].options
    if parted and len(inspection.columns) == 1 and inspection.columns[0].kind != "set":
        (column,) = inspection.columns
        yield Decision((column.name,), "The file was read as one column.", "give its delimiter with --delimiter")


def _nobody_known(inspection: Inspection) -> Iterator[Decision]:
    """A table of measurements, or a tiny one: without a quasi-identifier `run` has nothing to make a promise about."""
    if not inspection.having("quasi-identifier"):
        known = [c.name for c in inspection.columns if c.role not in ("identifier", "person", "household", "weight")]
        yield Decision(
            tuple(known),
            f"No column is taken for one that others may know of a person ({_listed(known) or 'none is left'}), and "
            "without such a column nothing can be promised and released.",
            'give those that others may know the role "quasi-identifier"',
            ("quasi-identifier",),
        )


def _people(inspection: Inspection) -> Iterator[Decision]:
    for name in inspection.having("person"):
        yield Decision(
            (name,),
            f"{name} is taken to tell whose row it is, so that promises count people, not rows.",
            'give it the role "identifier" and promise k-anonymity',
            ("identifier",),
        )


def _known(inspection: Inspection) -> Iterator[Decision]:
    unsure = [c.name for c in inspection.columns if c.role == "quasi-identifier" and c.confidence == "unsure"]
    if unsure:
        several = len(unsure) > 1
        yield Decision(
            tuple(unsure),
            f"{_listed(unsure)} {'are' if several else 'is'} made vague only because nothing tells that others cannot "
            f"know {'them' if several else 'it'}; the fewer such columns, the more all keep.",
            'give what nobody outside can know the role "sensitive" or "insensitive"',
            ("sensitive", "insensitive"),
        )


def _unknown_to_others(inspection: Inspection) -> Iterator[Decision]:
    """What is released as it is, or in bands, only because it looks measured or answered."""
    unsure = [c.name for c in inspection.columns if c.role == "sensitive" and c.confidence == "unsure"]
    if unsure:
        several = len(unsure) > 1
        yield Decision(
            tuple(unsure),
            f"{_listed(unsure)} {'are' if several else 'is'} taken for what nobody outside knows, by the look of the "
            "values: measured or answered.",
            'give what others may know of a person the role "quasi-identifier"',
            ("quasi-identifier",),
        )


def _secret(inspection: Inspection) -> Iterator[Decision]:
    if not inspection.having("sensitive"):
        yield Decision(
            (),
            "No column seems to hold what others should not learn.",
            'give such a column the role "sensitive", and promise l-diversity for it',
        )


def _left_out(inspection: Inspection) -> Iterator[Decision]:
    likely = [c.name for c in inspection.columns if c.role == "identifier" and c.confidence != "sure"]
    if likely:
        yield Decision(
            tuple(likely),
            f"{_listed(likely)} {'are' if len(likely) > 1 else 'is'} left out, because the values seem to name people.",
            'give it the role "quasi-identifier"',
            ("quasi-identifier",),
        )


def _spread(inspection: Inspection) -> Iterator[Decision]:
    """Lists that are spread over columns, such as diag_1 to diag_3: as one set they are protected together."""
    lists: dict[str, list[str]] = {}
    for column in inspection.columns:
        numbered = re.fullmatch(r"(.*?[^\d])(\d{1,2})", column.name)
        if numbered and column.role in ("sensitive", "quasi-identifier") and column.kind == "nominal":
            lists.setdefault(numbered[1].rstrip("_- "), []).append(column.name)
    for base, names in lists.items():
        alike = {c.kind for c in inspection.columns if c.name in names}
        if len(names) > 1 and len(alike) == 1:
            yield Decision(
                tuple(names),
                f"{_listed(names)} are treated one by one, though together they look like one list.",
                f'join them into one column of sets, {base}, with ; between the items, and give it kind = "set"',
            )


def _written(inspection: Inspection) -> Iterator[Decision]:
    doubtful = [c.name for c in inspection.columns if any("order of day and month" in note for note in c.notes)]
    if doubtful:
        yield Decision(tuple(doubtful), f"The month is taken to stand first in {_listed(doubtful)}.", "change `format`")


def _listed(names: list[str]) -> str:
    shown = names[:_NAMED]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(shown) + more


_RULES: tuple[Callable[[Inspection], Iterator[Decision]], ...] = (
    _one_column,
    _nobody_known,
    _people,
    _known,
    _unknown_to_others,
    _secret,
    _left_out,
    _spread,
    _written,
)
