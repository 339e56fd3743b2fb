"""One registry of metrics: each figure of utility and of risk, with what it means in words, told beside its code.

Releases, the command line, reports and the documentation take labels, meanings, directions and formats from here.
Metrics of utility are computed from a `keepsense.utility.recoded.Recoded`, those of risk from a
`keepsense.privacy.exposed.Exposed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from keepsense.errors import KeepsenseError
from keepsense.registry import Registry

Value = float | Mapping[str, float] | None
"""What a metric computes: one figure, one a column, or nothing where it does not apply."""


@dataclass(frozen=True)
class Metric:
    """A figure of loss, utility or risk: what it is called, what it means, how it is computed and how it is read.

    `label` is for people; where the metric gives a figure for each column, "{}" in it stands for the column. `meaning`
    is one sentence, `formula` says how it is computed and after whom. `best` is the figure of a release that loses or
    risks nothing, `worst` the other end of the range, None where there is none. A "share" is shown in percent. Every
    run computes those with `every_run`; the others are for reports. Tables list metrics by `rank`.

    >>> gone = Metric("rows gone", "records left out", "share of records not released", "1 - released / all", "utility")
    >>> gone.direction, gone.text(0.125)
    ('lower', '12.5%')
    """

    name: str
    label: str
    meaning: str
    formula: str
    about: Literal["utility", "risk"]
    best: float = 0.0
    worst: float | None = 1.0
    unit: Literal["share", "bits", "records", "pairs", "squares"] = "share"
    every_run: bool = False
    rank: int = 100
    compute: Callable[..., Value] = lambda subject: None

    @property
    def direction(self) -> Literal["lower", "higher"]:
        """Which figures are better."""
        return "lower" if self.worst is None or self.best < self.worst else "higher"

    @property
    def range(self) -> str:
        """From the best figure to the worst."""
        unit = "" if self.unit == "share" else f" {self.unit}"
        return f"{self.best:g} to {self.worst:g}{unit}" if self.worst is not None else f"{self.best:g} or more{unit}"

    def text(self, value: float) -> str:
        """A figure for people."""
        return percent(value) if self.unit == "share" else number(value)


METRICS: Registry[Metric] = Registry(
    "metric", packages=("keepsense.privacy", "keepsense.utility"), group="keepsense.metrics"
)
"""All metrics by name; a module of `utility` or `privacy`, or another package, adds its own with `metric`."""


Compute = TypeVar("Compute", bound=Callable[..., Value])


def metric(entry: Metric) -> Callable[[Compute], Compute]:
    """Enter a metric with the function that computes it into the registry, as a decorator of the function.

    >>> METRICS["marketer"].about, METRICS["Certainty-Penalty"].label
    ('risk', 'certainty lost')
    """

    def enter(compute: Compute) -> Compute:
        METRICS.add(entry.name, replace(entry, compute=compute))
        return compute

    return enter


@dataclass(frozen=True)
class Figure:
    """What a metric says of one release, or of one of its columns.

    >>> figure("root mean square distance, job", 0.25).label
    'distance of job'
    """

    metric: Metric
    value: float
    column: str = ""

    @property
    def name(self) -> str:
        """The metric's name and the column's, as descriptions of releases have it."""
        return f"{self.metric.name}, {self.column}" if self.column else self.metric.name

    @property
    def label(self) -> str:
        """What people read."""
        return self.metric.label.format(self.column)

    @property
    def text(self) -> str:
        """The value for people."""
        return self.metric.text(self.value)


def figure(name: str, value: float) -> Figure:
    """A figure that a description of a release names; one that is not known here is its own label.

    >>> figure("loss", 0.5).text, figure("of a later version", 3).label
    ('50%', 'of a later version')
    """
    parts = name.split(", ")
    for end in range(len(parts), 0, -1):
        if (known := ", ".join(parts[:end])) in METRICS:
            return Figure(METRICS[known], value, ", ".join(parts[end:]))
    return Figure(Metric(name, name.replace("{", "{{").replace("}", "}}"), "", "", "utility", unit="records"), value)


def figures(about: Literal["utility", "risk"], subject: object, *, every_run: bool | None = None) -> list[Figure]:
    """Every metric that applies to a subject, by rank: those of every run, those of reports, or (None) all.

    >>> from keepsense.counts import Counts
    >>> from keepsense.privacy.exposed import Exposed
    >>> [(f.name, f.text) for f in figures("risk", Exposed(Counts.of({"job": ["nurse", "nurse", "clerk"]})))][:2]
    [('prosecutor, highest', '100%'), ('prosecutor, average', '66.7%')]
    """
    results: list[Figure] = []
    for entry in sorted(METRICS.values(), key=lambda entry: entry.rank):
        if entry.about != about or every_run not in (None, entry.every_run):
            continue
        try:
            value = entry.compute(subject)
        except KeepsenseError:
            continue  # it does not apply, as levels do not to ranges that no hierarchy holds
        if isinstance(value, Mapping):
            results += [Figure(entry, float(each), column) for column, each in value.items()]
        elif value is not None:
            results.append(Figure(entry, float(value)))
    return results


def by_name(results: Iterable[Figure]) -> dict[str, float]:
    """Figures as descriptions of releases hold them.

    >>> by_name([figure("loss", 0.5)])
    {'loss': 0.5}
    """
    return {each.name: each.value for each in results}


@dataclass(frozen=True)
class Note:
    """A remark on how something was measured: about "risk", "utility" or what goes "together".

    >>> Note("risk", "on a sample").about
    'risk'
    """

    about: str
    text: str


SEED = 20_260_101
"""Of random choices about figures (which records are tried, say): they have nothing to do with those of a release."""


def number(value: float) -> str:
    """A number with as many digits as people can use.

    >>> number(66466.0), number(0.123456), number(3.0), number(0.00001)
    ('66,466', '0.123', '3', '0.00001')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    if abs(value) >= 10:
        return f"{value:.1f}"
    text = f"{value:.3g}"
    return f"{value:.5f}" if "e" in text else text


def percent(share: float) -> str:
    """A share of 1 in percent.

    >>> percent(0.157), percent(1), percent(0), percent(0.0004)
    ('15.7%', '100%', '0%', 'below 0.1%')
    """
    if 0 < share < 0.0005:
        return "below 0.1%"
    if 0.9995 <= share < 1:
        return "over 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
