"""What the guide needs to know, and its sources: questions, a project file, or a preset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from keepsense.errors import BadInput, KeepsenseError, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS, KindName
from keepsense.methods.method import METHODS
from keepsense.privacy.k_anonymity import KAnonymity, XYAnonymity
from keepsense.privacy.privacy_model import PRIVACY, UNTOLD, Model, PrivacyModel, model
from keepsense.privacy.risk_thresholds import LinkageRisk
from keepsense.project.project_file import Project
from keepsense.registry import Registry

Purpose = Literal["general", "classification", "regression", "single columns", "correlations"]
NOTHING = "none"
"""The promise of those who promise nothing by construction."""

DATA_KINDS: Registry[str] = Registry("kind of data")
"""What columns hold, in words: the kinds of columns, and words whose meaning no taxonomy knows."""
_WORDS = zip(("words", "ordered", "numbers", "dates", "codes", "sets"), get_args(KindName), strict=True)
_OUTDATED = {name: [word] for word, name in _WORDS}
for _name, _kind in KINDS.items():
    DATA_KINDS.add(_name, f"{_kind.about}: {_kind.examples}", outdated=_OUTDATED.get(_name, ()))
DATA_KINDS.add("category", "names or labels whose meaning no taxonomy knows: brands, branches", outdated=["categories"])

PURPOSES: dict[Purpose, str] = {
    "general": "for purposes you do not know yet",
    "classification": "to predict a category, such as whether somebody falls ill",
    "regression": "to predict a number, such as days in hospital",
    "single columns": "for statistics on single columns: counts, means, variances",
    "correlations": "for how columns depend on each other",
}


def promises() -> dict[str, str]:
    """What can be promised, in words: every privacy model, or nothing, which is measured then.

    >>> list(promises())[:4], list(promises())[-1]
    (['k-anonymity', 'l-diversity', 't-closeness', 'beta-likeness'], 'none')
    """
    words = {entry.name: f"{'that, and ' if _beside_k(entry) else ''}{entry.promises}" for entry in _offered()}
    nothing = "nothing by construction: the share of records that can be linked is measured, and must be small"
    return {**words, NOTHING: nothing}


def forms(promise: str) -> dict[str, str]:
    """The forms of a promise that has several, in words.

    >>> list(forms("delta-disclosure")), forms("k-anonymity")
    (['values', 'concepts'], {})
    """
    every = () if promise == NOTHING else PRIVACY[promise].forms
    return {model.form: (model.__doc__ or "").partition("\n")[0].rstrip(".") for model in every if len(every) > 1}


def asks_for_k(promise: str) -> bool:
    """Whether a promise hides somebody among k people, or is made beside one that does.

    >>> asks_for_k("l-diversity"), asks_for_k("differential privacy"), asks_for_k("none")
    (True, False, False)
    """
    return promise != NOTHING and (_beside_k(PRIVACY[promise]) or "k" in PRIVACY[promise].needed())


def _offered() -> list[PrivacyModel]:
    every = [entry for entry in PRIVACY.values() if entry.name != LinkageRisk.name]  # that is what "none" measures
    return sorted(every, key=lambda entry: entry.rank)


def _beside_k(entry: PrivacyModel) -> bool:
    """Whether a promise does not hide who each person is, and is made beside one that does."""
    return "identity" not in entry.model.protects or not entry.model.protects_each


@dataclass(frozen=True)
class Answers:
    """What a publisher tells about a table and its release.

    `columns` counts those by which people could be recognized; `same_taxonomy` says that all columns of words share
    one. `even` asks for one level of detail in each column, `reuse` for a rule that fits later files too;
    `column` is the sensitive one, `set_column` one that holds sets, `person` the one that tells whose row it is. `form`
    is that of the promise, `fraction` the share of the population that is in the table, `population` says that there is
    a table of everybody, `meaning` that a taxonomy or hierarchy tells what sensitive values have in common.

    >>> Answers(kinds=("nominal", "numeric"), purpose="classification").truthful
    True
    """

    kinds: tuple[str, ...] = ("nominal",)
    purpose: Purpose = "general"
    truthful: bool = True
    promise: str = KAnonymity.name
    k: int = 5
    sensitive: bool = True
    rows: int | None = None
    columns: int = 4
    same_taxonomy: bool = False
    even: bool = False
    reuse: bool = False
    suppression: float = 0.02
    column: str = UNTOLD
    set_column: str = UNTOLD
    person: str = UNTOLD
    form: str = ""
    fraction: float | None = None
    population: bool = False
    meaning: bool = False
    privacy: tuple[Mapping[str, Any], ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.kinds:
            raise BadInput(f"say what the columns hold: {', '.join(DATA_KINDS)}")
        object.__setattr__(self, "kinds", tuple(DATA_KINDS.name_of(kind) for kind in self.kinds))
        _known("purpose", self.purpose, get_args(Purpose))
        promise = NOTHING if self.promise == LinkageRisk.name else self.promise
        _known("promise", promise, tuple(promises()))
        object.__setattr__(self, "promise", promise)
        if self.form:
            _known(f"form of {promise}", self.form, tuple(forms(promise)))
        if self.k < 2:
            raise BadInput(f"k = {self.k}: people must be hidden among at least 2")

    @property
    def model(self) -> type[Model] | None:
        """The privacy model to be promised; None for nothing."""
        return None if self.promise == NOTHING else PRIVACY[self.promise].model

    @property
    def beside_k(self) -> bool:
        """Whether the promise does not hide who each person is, and is made beside k-anonymity."""
        return self.promise != NOTHING and _beside_k(PRIVACY[self.promise])

    @property
    def sets(self) -> bool:
        """Whether some column holds sets."""
        return any(KINDS[kind].sets for kind in self.kinds if kind in KINDS)

    @property
    def others(self) -> tuple[str, ...]:
        """Kinds of the columns that hold one value a cell."""
        return tuple(kind for kind in self.kinds if kind not in KINDS or not KINDS[kind].sets)

    def promised(self) -> list[dict[str, Any]]:
        """The promise as `[[privacy]]` sections of a project file.

        >>> Answers(k=7, promise="l-diversity").promised()
        [{'model': 'k-anonymity', 'k': 7}, {'model': 'l-diversity', 'l': 3, 'column': '...'}]
        """
        if self.privacy:
            return [dict(section) for section in self.privacy]
        if self.promise == NOTHING:
            return [PRIVACY[LinkageRisk.name].section(threshold=round(1 / self.k, 4))]
        entry = PRIVACY[self.promise]
        column = self.set_column if entry.model.of_sets else self.column
        told: dict[str, Any] = {"k": self.k, "column": column, "person": self.person}
        told |= {} if self.fraction is None else {"fraction": self.fraction}
        # people are hidden among people, where it is known whose rows are whose
        hiding = KAnonymity.name if self.person == UNTOLD else XYAnonymity.name
        beside = [PRIVACY[hiding].section(**told)] if self.beside_k else []
        return [*beside, entry.section(self.form, **told)]

    @property
    def untold(self) -> tuple[str, ...]:
        """Parameters of the promise that are not known yet.

        >>> Answers(promise="estimated k-map").untold
        ('fraction',)
        """
        return untold(self.promised())


def untold(sections: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Parameters of promises that somebody has to say.

    >>> untold([{"model": "l-diversity", "l": 3, "column": "..."}])
    ('column',)
    """
    return tuple(name for section in sections for name, value in section.items() if value == UNTOLD)


_REMEDIES = {
    "column": "is about a sensitive column; name it with --sensitive",
    "fraction": "must know which share of the population is in the table; say it with --fraction",
    "person": 'counts people; give the column that tells whose row it is the role "person" in a project file',
}


def refuse_untold(sections: Sequence[Mapping[str, Any]]) -> None:
    """Refuse promises of which something is not known yet.

    >>> refuse_untold(Answers(promise="l-diversity").promised())
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: l-diversity is about a sensitive column; name it with --sensitive
    """
    for section in sections:
        for name in untold([section]):
            remedy = _REMEDIES.get(name, f"needs {name}; say it in a project file")
            raise BadInput(f"{section['model']} {remedy}")


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
    (('numeric',), 'classification', 3)
    """
    names = project.quasi_identifiers
    if not names:
        raise BadInput('no column has the role "quasi-identifier"; name those by which people could be recognized')
    chosen = [project.columns[name] for name in names]
    # words that no taxonomy knows have no meaning that a method could go by
    known = [KINDS[c.kind].sets or not KINDS[c.kind].words or c.taxonomy is not None for c in chosen]
    kinds = [c.kind if meant else "category" for c, meant in zip(chosen, known, strict=True)]
    targets, secret = ([project.columns[name] for name in project.having(role)] for role in ("target", "sensitive"))
    purpose: Purpose = "general"
    if targets:
        purpose = "regression" if KINDS[targets[0].kind].numbers else "classification"
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
        column=next(iter(project.having("sensitive")), UNTOLD),
        set_column=next((name for name in names if KINDS[project.columns[name].kind].sets), UNTOLD),
        person=next(iter(project.having("person")), UNTOLD),
        fraction=None if project.source is None else project.source.sampling_fraction,
        population=project.population is not None,
        meaning=any(c.taxonomy is not None or c.hierarchy is not None for c in secret[:1]),
        privacy=tuple(project.privacy),
    )


def _truthful(project: Project) -> bool:
    return project.method.name not in METHODS or METHODS[project.method.name].truthful


def _strongest(project: Project) -> str:
    named = {str(section["model"]) for section in project.privacy}
    if named == {LinkageRisk.name}:
        return NOTHING
    offered = [entry for entry in _offered() if entry.name in named]
    strongest = max(offered, key=lambda entry: (len(entry.model.protects), _beside_k(entry), entry.rank), default=None)
    return KAnonymity.name if strongest is None else strongest.name


def _k(project: Project) -> int:
    """The largest k asked for, in whatever words: k itself, or a largest risk."""
    sizes = [2]
    for section in map(dict, project.privacy):
        try:
            sizes.append(model(str(section.pop("model")), **section).hides_among or 0)
        except KeepsenseError:
            continue  # a promise that is not finished yet
    return max(sizes)


def with_preset(answers: Answers, k: int, privacy: tuple[Mapping[str, Any], ...]) -> Answers:
    """The same answers under the promise of a preset.

    >>> with_preset(Answers(), 12, ({"model": "maximum risk", "threshold": 0.09},)).k
    12
    """
    return replace(answers, k=k, privacy=privacy, promise=KAnonymity.name)
