"""The registry of metrics: each figure of utility and of risk, with its name, meaning and range, above its function.

Releases, the command line, reports and the documentation take labels, meanings, directions and formats from here.
Metrics of utility are computed from a `keepsense.utility.recoded_table.Recoded`, those of risk from a
`keepsense.risk.risk_metrics.Exposed`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

from keepsense.errors import KeepsenseError
from keepsense.registry import Registry

Value = float | Mapping[str, float] | None
"""What a metric computes: one figure, one a column, or nothing where it does not apply."""

About = Literal["utility", "risk"]
Unit = Literal["share", "bits", "records", "pairs", "squares", "times"]
Compute = TypeVar("Compute", bound=Callable[..., Value])


@dataclass(frozen=True)
class Metric:
    """A figure of loss, utility or risk: what it is called, what it means, how it is computed and how it is read.

    `label` is for people; where the metric gives a figure for each column, "{}" in it stands for the column. `meaning`
    is one sentence, `formula` says how it is computed and after whom. `span` goes from the figure of a release that
    loses or risks nothing to the worst one, None where there is none. A "share" is shown in percent. Every run computes
    those with `every_run`; the others are for reports. Tables list metrics by `rank`.

    >>> METRICS["precision"].direction, METRICS["precision"].range, METRICS["precision"].text(0.125)
    ('higher', '1 to 0', '12.5%')
    """

    name: str
    label: str
    meaning: str = ""
    formula: str = ""
    about: About = "utility"
    span: tuple[float, float | None] = (0.0, 1.0)
    unit: Unit = "share"
    every_run: bool = False
    rank: int = 100
    compute: Callable[..., Value] = lambda subject: None

    @property
    def direction(self) -> Literal["lower", "higher"]:
        """Which figures are better."""
        best, worst = self.span
        return "lower" if worst is None or best < worst else "higher"

    @property
    def range(self) -> str:
        """From the best figure to the worst."""
        best, worst = self.span
        ends = f"{best:g} or more" if worst is None else f"{best:g} to {worst:g}"
        return ends if self.unit == "share" else f"{ends} {self.unit}"

    def text(self, value: float) -> str:
        """A figure for people."""
        return percent(value) if self.unit == "share" else number(value)


METRICS: Registry[Metric] = Registry(
    "metric", packages=("keepsense.risk", "keepsense.utility"), group="keepsense.metrics"
)
"""All metrics by name; a module of `utility` or `privacy`, or another package, adds its own with `metric`."""


def metric(
    name: str,
    label: str,
    *,
    about: About = "utility",
    span: tuple[float, float | None] = (0.0, 1.0),
    unit: Unit = "share",
    every_run: bool = False,
    rank: int = 100,
) -> Callable[[Compute], Compute]:
    """Enter a function into the registry as a metric, as a decorator.

    Its docstring says the rest: first, in a sentence, what the metric means; then, after "Computed:", the formula and
    whom it is from.

    >>> METRICS["Certainty-Penalty"].label, METRICS["discernibility"].meaning
    ('certainty lost', 'pairs of records that cannot be told apart')
    """

    def enter(compute: Compute) -> Compute:
        meaning, _, rest = (compute.__doc__ or "").partition("\n\n")
        formula = " ".join(rest.partition("Computed:")[2].partition("\n\n")[0].split())
        sentence = meaning.strip().rstrip(".")
        words = (sentence[:1].lower() + sentence[1:], formula.rstrip("."))
        METRICS.add(name, Metric(name, label, *words, about, span, unit, every_run, rank, compute))
        return compute

    return enter


class Estimate(float):
    """A figure that comes from a sample, with the interval that holds the true one with 95% confidence.

    >>> guess = Estimate(0.5, 0.4, 0.6)
    >>> guess + 0.5, guess.interval
    (1.0, (0.4, 0.6))
    """

    interval: tuple[float, float]

    def __new__(cls, value: float, low: float, high: float) -> Estimate:
        """A figure and both ends of its interval."""
        made = super().__new__(cls, value)
        made.interval = low, high
        return made


NORMAL = 1.959963984540054
"""Standard deviations on either side of the mean of a normal distribution that hold 95% of it."""


def sampled_share(share: float, tried: int) -> Estimate:
    """A share found on so many records drawn at random, with its interval of 95% confidence (Wilson 1927).

    Without records nothing is known: 0 to 1.

    >>> [round(end, 4) for end in sampled_share(0.5, 100).interval], sampled_share(0.3, 0).interval
    ([0.4038, 0.5962], (0.0, 1.0))
    """
    if tried < 1:
        return Estimate(share, 0.0, 1.0)
    part = NORMAL * NORMAL / tried
    middle = (share + part / 2) / (1 + part)
    around = (share * (1 - share) * part + part * part / 4) ** 0.5 / (1 + part)
    return Estimate(share, min(share, max(0.0, middle - around)), max(share, min(1.0, middle + around)))


def sampled_mean(values: Sequence[float]) -> Estimate:
    """The mean of figures drawn at random, with its interval of 95% confidence by Student's distribution.

    One figure alone tells nothing of how much they differ: its interval has no ends.

    >>> mean = sampled_mean([1.0, 2.0, 3.0])
    >>> float(mean), [round(end, 4) for end in mean.interval], sampled_mean([2.0]).interval
    (2.0, [-0.4841, 4.4841], (-inf, inf))
    """
    n = len(values)
    mean = sum(values) / n
    if n < 2:
        return Estimate(mean, float("-inf"), float("inf"))
    from scipy.special import stdtrit

    spread = (sum((value - mean) ** 2 for value in values) / (n - 1)) ** 0.5
    around = float(stdtrit(n - 1, 0.975)) * spread / n**0.5
    return Estimate(mean, mean - around, mean + around)


@dataclass(frozen=True)
class Figure:
    """What a metric says of one release, or of one of its columns; `interval` where it comes from a sample.

    >>> figure("root mean square distance, job", 0.25).label
    'distance of job'
    >>> Figure(METRICS["loss"], 0.5, interval=(0.4, 0.6)).text
    '50% (40% to 60%)'
    """

    metric: Metric
    value: float
    column: str = ""
    interval: tuple[float, float] | None = None

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
        """The value for people, with the interval that holds the true one with 95% confidence."""
        if self.interval is None:
            return self.metric.text(self.value)
        return f"{self.metric.text(self.value)} ({' to '.join(self.metric.text(end) for end in self.interval)})"


def figure(name: str, value: float) -> Figure:
    """A figure that a description of a release names; one that is not known here is its own label.

    >>> figure("loss", 0.5).text, figure("of a later version", 3).label
    ('50%', 'of a later version')
    """
    parts = name.split(", ")
    for end in range(len(parts), 0, -1):
        if (known := ", ".join(parts[:end])) in METRICS:
            return Figure(METRICS[known], value, ", ".join(parts[end:]))
    return Figure(Metric(name, name.replace("{", "{{").replace("}", "}}"), unit="records"), value)


def figures(about: About, subject: object, *, every_run: bool | None = None) -> list[Figure]:
    """Every metric that applies to a subject, by rank: those of every run, those of reports, or (None) all.

    >>> from keepsense.counts import Counts
    >>> from keepsense.risk.risk_metrics import Exposed
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
            results += [_measured(entry, each, column) for column, each in value.items()]
        elif value is not None:
            results.append(_measured(entry, value))
    return results


def _measured(entry: Metric, value: float, column: str = "") -> Figure:
    return Figure(entry, float(value), column, value.interval if isinstance(value, Estimate) else None)


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
    """A share of 1 in percent, with its interval where it is an estimate.

    >>> percent(0.157), percent(1), percent(0), percent(0.0004)
    ('15.7%', '100%', '0%', 'below 0.1%')
    >>> percent(Estimate(0.5, 0.4, 0.6))
    '50% (40% to 60%)'
    """
    if isinstance(share, Estimate):
        return f"{percent(float(share))} ({' to '.join(map(percent, share.interval))})"
    if 0 < share < 0.0005:
        return "below 0.1%"
    if 0.9995 <= share < 1:
        return "over 99.9%"
    return f"{100 * share:.1f}".removesuffix(".0") + "%"
