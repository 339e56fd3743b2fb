"""Steps of noise and of drawing by chance: the error or the chances of each row, and what its value becomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from keepsense.errors import BadInput
from keepsense.explain.record_watch import RecordWatch
from keepsense.progress import Event
from keepsense.recoding import Cells, Draws
from keepsense.semantics.attribute import Nominal, Ordered

_SAME = 1e-9
_LIKELY = 2
"""Other values named beside a row's chance to keep its own."""


class MovedWatch(RecordWatch):
    """Semantic noise: an error for each row, and the concept that far away (SNA-1, SNA-2, SNA-3).

    >>> MovedWatch.options
    {'alpha': 0.3, 'reference': 'mean'}
    """

    kind: type[Nominal] | type[Ordered] | None = Nominal
    concepts: ClassVar[bool] = True
    options: ClassVar[Mapping[str, Any]] = {"alpha": 0.3, "reference": "mean"}
    promise = "Nothing is promised: the noise is in proportion to how much a column varies. Measure the risk."

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Noise takes no k."""
        return method(self.counts, self.attributes, **settings, rng=rng, listener=self.hear)

    def hear(self, event: Event) -> None:
        """A column got its errors and was moved."""
        if event.name != "moved":
            return
        details, column = event.details, str(event.details["column"])
        rows = self.rows(details["source"]).tolist()
        errors = details["errors"].tolist()
        by_row = dict(zip(rows, errors, strict=True))
        every = range(self.lesson.rows)
        attribute = self.attribute(column)
        deviation = float(np.sqrt(np.mean(np.square(errors))))
        facts: dict[str, object] = {"typical error": deviation}
        if "mean" in details:
            facts = {"semantic mean": details["mean"].label, "reference": self._reference(details), **facts}
        self.keep(
            f"Draw an error for each value of {column}",
            facts,
            [f"error {by_row[row]:+.2f}" for row in every],
            chosen=column,
            score=deviation,
        )
        if "concepts" in details:
            judge, own = attribute.bound()
            concepts = details["concepts"]
            values = list(attribute.spell(concepts))
            was = own[self.counts.column(column)[details["source"]]]
            far = [float(judge.pair(int(a), int(b))) for a, b in zip(was, concepts, strict=True)]
            sides = self._sides(judge, details, was, concepts)
        else:
            sides = [""] * len(rows)
            values = [details["values"][int(c)] for c in details["codes"]]
            far = [self._moved(attribute, self.value(column, r), v) for r, v in zip(rows, values, strict=True)]
        moved = dict(zip(rows, zip(values, far, sides, strict=True), strict=True))
        self.put(column, rows, values)
        self.keep(
            f"Move each value of {column} by its error",
            {"moved on average": float(np.mean(far)), "as they were": sum(x == 0 for x in far)},
            [self._told(column, row, moved[row], by_row[row]) for row in every],
            chosen=column,
            score=float(np.mean(far)),
        )

    def _sides(self, judge: Any, details: Mapping[str, Any], was: Any, now: Any) -> list[str]:
        """On which side of its old value, seen from the reference, each new one lies; not told of a partner's."""
        if details["reference"] == "partner":
            return [""] * len(now)
        mean = details["reference"] == "mean"
        reference = int(details["mean"].concept) if mean else int(judge.taxonomy.root)
        name, told = "mean" if mean else "root", []
        for a, b in zip(was, now, strict=True):
            change = float(judge.pair(int(b), reference)) - float(judge.pair(int(a), reference))
            side = "as far from" if abs(change) < _SAME else "farther from" if change > 0 else "nearer to"
            told.append(f", {side} the {name}")
        return told

    def _reference(self, details: Mapping[str, Any]) -> str:
        found = str(details["reference"])
        return {"mean": "the mean", "root": "the root of the taxonomy", "partner": "the other column's value"}[found]

    def _moved(self, attribute: Ordered, before: Any, after: Any) -> float:
        place = {level: i for i, level in enumerate(attribute.levels or ())}
        a, b = (place[v] if v in place else float(v) for v in (before, after))
        return abs(b - a) / attribute.span

    def _told(self, column: str, row: int, moved: tuple[Any, float, str], error: float) -> str:
        before, (value, far, side) = self.value(column, row), moved
        if str(value) == str(before):
            return f"error {error:+.2f}: stays"
        return f"error {error:+.2f}: was {before}, {far:.2f} away{side}"


class CorrelatedWatch(MovedWatch):
    """Correlated semantic noise: errors of the columns are drawn together.

    >>> CorrelatedWatch.options["reference"]
    'root'
    """

    options: ClassVar[Mapping[str, Any]] = {"alpha": 0.3, "reference": "root"}


class NumberNoiseWatch(MovedWatch):
    """Noise on numbers.

    >>> NumberNoiseWatch.options
    {'alpha': 0.3, 'correlated': False}
    """

    kind = Ordered
    concepts: ClassVar[bool] = False
    options: ClassVar[Mapping[str, Any]] = {"alpha": 0.3, "correlated": False}


class DrawnWatch(RecordWatch):
    """Values redrawn by published chances: post-randomization.

    >>> DrawnWatch.options
    {'keep': 0.8, 'near': 0.2}
    """

    options: ClassVar[Mapping[str, Any]] = {"keep": 0.8, "near": 0.2}
    promise = "The chances are published, so that counts can be estimated; nothing is promised about single records."

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Make the chances, column by column, and draw."""
        from keepsense.methods.perturb.pram import draw

        rules = [method(self.counts, attribute, **settings) for attribute in self.attributes]
        return self.drawn(rules, draw(self.counts, rules, rng=rng))

    def drawn(self, rules: list[Draws], cells: Cells) -> Cells:
        """Tell the chances of each column, and what was drawn."""
        source = np.repeat(cells.source, cells.multiplicity)
        codes = np.repeat(cells.codes, cells.multiplicity, axis=0)
        rows = self.rows(source).tolist()
        for rule in rules:
            place = {v: i for i, v in enumerate(rule.inputs)}
            inside = {v: i for i, v in enumerate(rule.outputs)}
            chance = {r: rule.probabilities[place[self.value(rule.name, r)]] for r in range(self.lesson.rows)}
            stay = [float(chance[r][inside[self.value(rule.name, r)]]) for r in range(self.lesson.rows)]
            self.keep(
                f"Write down the chances of {rule.name}",
                {
                    "chance to stay": f"{min(stay):.2f}"
                    if min(stay) == max(stay)
                    else f"{min(stay):.2f} to {max(stay):.2f}"
                },
                [self._chances(rule, self.value(rule.name, r), chance[r]) for r in range(self.lesson.rows)],
                chosen=rule.name,
                score=float(np.mean(stay)),
            )
            j = cells.names.index(rule.name)
            values = [cells.values[j][c] for c in codes[:, j].tolist()]
            got = dict(zip(rows, values, strict=True))
            self.put(rule.name, rows, values)
            self.keep(
                f"Draw a new value of {rule.name} for each row",
                {"as they were": sum(got[r] == self.value(rule.name, r) for r in got)},
                [self._got(rule.name, r, got[r], float(chance[r][inside[got[r]]])) for r in range(self.lesson.rows)],
                chosen=rule.name,
            )
        return cells

    def _chances(self, rule: Draws, value: Any, chance: Any) -> str:
        likely = [i for i in np.argsort(-chance, kind="stable").tolist() if rule.outputs[i] != value][:_LIKELY]
        own = float(chance[list(rule.outputs).index(value)])
        return ", ".join([f"stays {own:.2f}", *(f"{rule.outputs[i]} {chance[i]:.2f}" for i in likely)])

    def _got(self, column: str, row: int, value: Any, chance: float) -> str:
        before = self.value(column, row)
        return f"stays (chance {chance:.2f})" if value == before else f"was {before} (chance {chance:.2f})"


class ResponseWatch(DrawnWatch):
    """Randomized response: any column of few values.

    >>> ResponseWatch.options
    {'epsilon': 2.0}
    """

    options: ClassVar[Mapping[str, Any]] = {"epsilon": 2.0}
    promise = "Differential privacy: every row's columns together give away no more than epsilon."

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """The budget is shared by the columns."""
        from keepsense.methods.perturb.dp import Budget, release_categories

        names = self.lesson.quasi_identifiers
        epsilon = float(settings["epsilon"])
        rules = [method(name, self.counts.values_of(name), epsilon / len(names)) for name in names]
        return self.drawn(rules, release_categories(self.counts, rules, Budget(epsilon * (1 + 1e-9)), rng=rng))


class MeaningWatch(DrawnWatch):
    """The exponential mechanism: words by chances that fall with semantic distance.

    >>> MeaningWatch.options
    {'epsilon': 4.0}
    """

    kind = Nominal
    concepts: ClassVar[bool] = True
    options: ClassVar[Mapping[str, Any]] = {"epsilon": 4.0}
    promise = ResponseWatch.promise
    most = 2_000

    def run(self, method: Callable[..., Any], settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
        """Release the words and write down the chances the mechanism draws from."""
        from keepsense.methods.perturb.dp import Budget, exponential_matrix

        columns, each = self.attributes, float(settings["epsilon"]) / len(self.attributes)
        for column in columns:
            if len(column.bound()[0].taxonomy) > self.most:
                raise BadInput(
                    f"column {column.name!r}: its taxonomy has {len(column.bound()[0].taxonomy):,} concepts, too many "
                    "to write down the chances of each; steps are shown for small taxonomies (name a `domain` of it in "
                    "the project file) and for the made-up people"
                )
        cells = method(self.counts, columns, each, Budget(float(settings["epsilon"]) * (1 + 1e-9)), rng=rng)
        rules = []
        for column in columns:
            judge, concepts = column.bound()
            whole = exponential_matrix(column.name, judge, each)
            label = dict(zip(column.values, (judge.taxonomy.label(int(c)) for c in concepts), strict=True))
            place = {name: i for i, name in enumerate(whole.inputs)}
            chances = whole.probabilities[[place[label[v]] for v in column.values]]
            rules.append(Draws(column.name, column.values, whole.outputs, chances))
        return self.drawn(rules, cells)
