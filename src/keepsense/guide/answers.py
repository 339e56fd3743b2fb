"""What the guide needs to know, and where it comes from: questions, a project file, or a preset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from keepsense.errors import BadInput, did_you_mean
from keepsense.project.file import Project

DataKind = Literal["words", "categories", "ordered", "numbers", "dates", "codes", "sets"]
Purpose = Literal["general", "classification", "regression", "single columns", "correlations"]
Promise = Literal[
    "k-anonymity", "l-diversity", "t-closeness", "probabilistic k-anonymity", "differential privacy", "none"
]

KINDS: dict[DataKind, str] = {
    "words": "words with a meaning a taxonomy knows: jobs, diagnoses, places",
    "categories": "names or labels without such a meaning: brands, branches",
    "ordered": "categories with an order: grades, sizes",
    "numbers": "numbers: age, income",
    "dates": "dates",
    "codes": "codes whose first characters are the coarser part: postcodes",
    "sets": "several items in one cell: baskets, tags, diagnosis lists",
}
PURPOSES: dict[Purpose, str] = {
    "general": "for purposes you do not know yet",
    "classification": "to predict a category, such as whether somebody falls ill",
    "regression": "to predict a number, such as days in hospital",
    "single columns": "for statistics on single columns: counts, means, variances",
    "correlations": "for how columns depend on each other",
}
PROMISES: dict[Promise, str] = {
    "k-anonymity": "nobody can be told from fewer than k - 1 others",
    "l-diversity": "that, and each such group holds several sensitive values",
    "t-closeness": "that, and each such group is like the whole table in sensitive values",
    "probabilistic k-anonymity": "nobody is linked to a record with a chance above 1/k; records need not be true",
    "differential privacy": "it hardly matters whether any one person is in the data",
    "none": "nothing by construction: the share of records that can be linked is measured, and must be small",
}


@dataclass(frozen=True)
class Answers:
    """What a publisher tells about a table and its release.

    `columns` counts those by which people could be recognized; `same_taxonomy` says that all columns of words share
    one. `even` asks for one level of detail in each column, `reuse` for a rule that fits later files too;
    `column` is the sensitive one, `set_column` one that holds sets.

    >>> Answers(kinds=("words", "numbers"), purpose="classification").truthful
    True
    """

    kinds: tuple[DataKind, ...] = ("words",)
    purpose: Purpose = "general"
    truthful: bool = True
    promise: Promise = "k-anonymity"
    k: int = 5
    sensitive: bool = True
    rows: int | None = None
    columns: int = 4
    same_taxonomy: bool = False
    even: bool = False
    reuse: bool = False
    suppression: float = 0.02
    column: str = "..."
    set_column: str = "..."
    privacy: tuple[Mapping[str, Any], ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.kinds:
            raise BadInput(f"say what the columns hold: {', '.join(KINDS)}")
        for kind in self.kinds:
            _known("kind of data", kind, get_args(DataKind))
        _known("purpose", self.purpose, get_args(Purpose))
        _known("promise", self.promise, get_args(Promise))
        if self.k < 2:
            raise BadInput(f"k = {self.k}: people must be hidden among at least 2")

    @property
    def sets(self) -> bool:
        """Whether some column holds sets."""
        return "sets" in self.kinds

    @property
    def others(self) -> tuple[DataKind, ...]:
        """Kinds of the columns that hold one value a cell."""
        return tuple(kind for kind in self.kinds if kind != "sets")

    def promised(self) -> list[dict[str, Any]]:
        """The promise as `[[privacy]]` sections of a project file.

        >>> Answers(k=7, promise="l-diversity").promised()
        [{'model': 'k-anonymity', 'k': 7}, {'model': 'l-diversity', 'l': 3, 'column': '...'}]
        """
        if self.privacy:
            return [dict(section) for section in self.privacy]
        base: dict[str, Any] = {"model": "k-anonymity", "k": self.k}
        further: dict[str, list[dict[str, Any]]] = {
            "k-anonymity": [base],
            "l-diversity": [base, {"model": "l-diversity", "l": 3, "column": self.column}],
            "t-closeness": [base, {"model": "t-closeness", "t": 0.2, "column": self.column}],
            "probabilistic k-anonymity": [{"model": "probabilistic k-anonymity", "k": self.k}],
            "differential privacy": [{"model": "differential privacy", "epsilon": 1.0}],
            "none": [{"model": "linkage risk", "threshold": round(1 / self.k, 4)}],
        }
        return further[self.promise]


def _known(what: str, given: str, valid: tuple[str, ...]) -> None:
    if given not in valid:
        raise BadInput(f"no {what} is called {given!r}; there are: {', '.join(valid)}.{did_you_mean(given, valid)}")


def from_project(project: Project, rows: int | None = None) -> Answers:
    """Read the answers off a project file.

    >>> project = Project.model_validate({
    ...     "source": {"path": "people.csv"},
    ...     "columns": {"age": {"role": "quasi-identifier", "kind": "numeric"}, "ill": {"role": "target"}},
    ...     "privacy": [{"model": "k-anonymity", "k": 3}],
    ... })
    >>> found = from_project(project)
    >>> found.kinds, found.purpose, found.k
    (('numbers',), 'classification', 3)
    """
    names = project.quasi_identifiers
    if not names:
        raise BadInput('no column has the role "quasi-identifier"; name those by which people could be recognized')
    chosen = [project.columns[name] for name in names]
    plain: dict[str, DataKind] = {
        "ordinal": "ordered",
        "numeric": "numbers",
        "date": "dates",
        "code": "codes",
        "set": "sets",
    }
    kinds = [plain.get(c.kind) or ("words" if c.taxonomy else "categories") for c in chosen]
    targets = [project.columns[name] for name in project.having("target")]
    purpose: Purpose = "general"
    if targets:
        purpose = "regression" if targets[0].kind == "numeric" else "classification"
    taxonomies = {c.taxonomy for c in chosen if c.taxonomy}
    return Answers(
        kinds=tuple(dict.fromkeys(kinds)),
        purpose=purpose,
        truthful=_truthful(project),
        promise=_strongest(project),
        k=_k(project),
        sensitive=bool(project.having("sensitive")),
        rows=rows,
        columns=len(names),
        same_taxonomy=len(taxonomies) == 1,
        suppression=project.release.suppression,
        column=next(iter(project.having("sensitive")), "..."),
        set_column=next((name for name in names if project.columns[name].kind == "set"), "..."),
        privacy=tuple(project.privacy),
    )


def _truthful(project: Project) -> bool:
    from keepsense.release.techniques import techniques

    named = techniques().get(project.method.name)
    return named is None or named.truthful


def _strongest(project: Project) -> Promise:
    given = {str(section["model"]) for section in project.privacy}
    order: tuple[Promise, ...] = ("differential privacy", "t-closeness", "l-diversity", "probabilistic k-anonymity")
    found: Promise = next((name for name in order if name in given), "k-anonymity")
    return "none" if given == {"linkage risk"} else found


def _k(project: Project) -> int:
    """The largest k asked for, in whatever words: k itself, or a largest risk."""
    found = [2]
    for section in project.privacy:
        if isinstance(section.get("k"), int):
            found.append(int(section["k"]))
        elif section.get("model") in ("maximum risk", "linkage risk") and isinstance(section.get("threshold"), float):
            found.append(group_size(float(section["threshold"])))
    return max(found)


def group_size(threshold: float) -> int:
    """Smallest group in which nobody is recognized with a chance above a threshold.

    >>> group_size(0.2), group_size(0.09)
    (5, 12)
    """
    from fractions import Fraction

    exact = 1 / Fraction(repr(threshold))
    return -(-exact.numerator // exact.denominator)


def with_preset(answers: Answers, k: int, privacy: tuple[Mapping[str, Any], ...]) -> Answers:
    """The same answers under the promise of a preset.

    >>> with_preset(Answers(), 12, ({"model": "maximum risk", "threshold": 0.09},)).k
    12
    """
    return replace(answers, k=k, privacy=privacy, promise="k-anonymity")
