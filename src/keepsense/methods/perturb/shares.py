"""What differential privacy rests on: a budget that columns and rows share, and what is publicly known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.perturb.dp import Budget, release_categories, release_words, response_matrix
from keepsense.methods.perturb.dp_numbers import release_numbers
from keepsense.privacy import DifferentialPrivacy, Model
from keepsense.progress import Listener
from keepsense.random import Random
from keepsense.recoding import SUPPRESSED, Cells
from keepsense.semantics.attribute import Nominal

Declared = Mapping[str, Any] | None
"""Values or bounds of columns, from public knowledge: never from the table."""


def neighbours(rows_per_person: int = 1) -> str:
    """Which tables differential privacy makes hard to tell apart, in words.

    >>> neighbours(), neighbours(4)
    ('replace one record', 'replace the records of one person, at most 4')
    """
    return (
        "replace one record"
        if rows_per_person == 1
        else f"replace the records of one person, at most {rows_per_person}"
    )


def declared(parameters: Mapping[str, Any], what: str) -> Mapping[str, Any]:
    """What is publicly known of columns, as it is given; refuses anything but values listed by column.

    >>> declared({"bounds": {"age": [0, 120]}}, "bounds")["age"]
    [0, 120]
    """
    listed = parameters.get(what, {})
    if not isinstance(listed, Mapping) or not all(isinstance(v, list | tuple) for v in listed.values()):
        raise BadInput(f"{what} name columns and list their values, such as {what} = {{ age = [0, 120] }}")
    return listed


class Shares:
    """What a person may give away, shared evenly by columns and rows, and what is publicly known of the columns.

    >>> counts = Counts.of({"sex": ["f", "m"]})
    >>> Shares(counts, ["sex"], [DifferentialPrivacy(1.0)], None, {"rows_per_person": 4}).share
    0.25
    """

    def __init__(
        self,
        counts: Counts,
        columns: Sequence[Nominal | str],
        models: Sequence[Model],
        epsilon: float | None,
        known: Mapping[str, Any],
    ) -> None:
        self.counts = counts
        self.names = [column if isinstance(column, str) else column.name for column in columns]
        promised = [float(model.epsilon) for model in models if isinstance(model, DifferentialPrivacy)]
        whole = (min(promised) if promised else 0.0) if epsilon is None else epsilon
        if isinstance(whole, bool) or not isinstance(whole, int | float):
            raise BadInput("epsilon must be a number above 0")
        if whole <= 0:
            raise BadInput("this method needs epsilon: promise differential privacy, or give it in [method.parameters]")
        self.people = known.get("rows_per_person", 1)
        if isinstance(self.people, bool) or not isinstance(self.people, int) or self.people < 1:
            raise BadInput("rows_per_person must be a whole number from 1: the most rows that one person can have")
        self.domains, self.bounds = (known.get(what) or {} for what in ("domains", "bounds"))
        for what, listed in (("domains", self.domains), ("bounds", self.bounds)):
            unknown = [name for name in declared({what: listed}, what) if name not in self.names]
            if unknown:
                raise BadInput(f"{what} name the column {unknown[0]!r}, which is no quasi-identifier")
        for name, values in self.domains.items():
            if SUPPRESSED in values:
                raise BadInput(f"column {name!r}: {SUPPRESSED!r} marks what is suppressed and can be no declared value")
        self.share = float(whole) / len(self.names) / self.people

    def _part(self, columns: Sequence[Any]) -> Budget:
        # computed from the matrices, the budget can exceed epsilon by rounding
        return Budget(self.share * len(columns) * (1 + 1e-9))

    def numbers(self, names: Sequence[str], listener: Listener | None) -> Cells:
        """Laplace noise within bounds."""
        for name in names:
            limits = self.bounds.get(name, ())
            if len(limits) != 2 or not all(isinstance(x, int | float) and not isinstance(x, bool) for x in limits):
                raise BadInput(
                    f"column {name!r} holds numbers: declare their bounds from public knowledge, never from the table, "
                    f"in [method.parameters], such as bounds = {{ {name} = [0, 120] }}"
                )
        bounds = {name: (self.bounds[name][0], self.bounds[name][1]) for name in names}
        return release_numbers(self.counts, bounds, self.share, self._part(names), listener=listener)

    def words(self, columns: Sequence[Nominal], rng: Random, listener: Listener | None) -> Cells:
        """The exponential mechanism over declared concepts, or over the whole taxonomy."""
        domains = {column.name: self.domains[column.name] for column in columns if column.name in self.domains}
        part = self._part(columns)
        return release_words(self.counts, columns, self.share, part, domains=domains, rng=rng, listener=listener)

    def categories(self, names: Sequence[str], rng: Random, listener: Listener | None) -> Cells:
        """Randomized response over declared values."""
        rules = [response_matrix(name, self._domain(name), self.share) for name in names]
        return release_categories(self.counts, rules, self._part(names), rng=rng, listener=listener)

    def _domain(self, name: str) -> list[Value]:
        """The values a column may have, as they are declared: what the table holds must not have a say in it."""
        listed = self.domains.get(name)
        if not listed:
            raise BadInput(
                f"column {name!r}: differential privacy needs its possible values from public knowledge, never "
                f"from the table; list them in its `order`, or in [method.parameters] as domains = "
                f"{{ {name} = [...] }}"
            )
        values: list[Value] = [None if value == "" else value for value in listed]
        if None in self.counts.values_of(name) and None not in values:
            raise BadInput(
                f"column {name!r} has empty cells, which the declared values do not provide for; add an empty text to "
                "them, whether or not the table has empty cells"
            )
        return values

    def entered(self, cells: Cells, parts: Sequence[Cells]) -> Cells:
        """The release with what it gives away of a person, by column."""
        budgets: list[Any] = [part.info["epsilon"] for part in parts]
        spent = {name: epsilon * self.people for budget in budgets for name, epsilon in budget.items()}
        facts = {"method": DifferentialPrivacy.name, "epsilon": spent, "neighbours": neighbours(self.people)}
        return replace(cells, info={**cells.info, **facts})
