"""Advice from answers: which methods fit, why, what to watch for, and why others do not fit.

Filters come first (truth, the promise, then what each method says of itself), then points: what the release is for,
what the columns hold, how large the table is. The filters follow Tables 2.1 and 2.2 of Rodríguez-García (2017), the
choice of noise its Table 6.1, the choice among generalizations the comparison of Ben Fredj et al. (2015). All of it
stands in the `Method` entry next to each algorithm.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keepsense.display import Shown, Summary
from keepsense.errors import Finding
from keepsense.guide.answers import Answers, asks_for_k, forms, promises
from keepsense.guide.catalogue import SATISFIES, catalogue, family_of
from keepsense.methods.method import Method
from keepsense.methods.suitability import K_ANONYMITY, PROBABILISTIC
from keepsense.privacy.dp_promises import ApproximatePrivacy, DifferentialPrivacy
from keepsense.privacy.privacy_model import PRIVACY
from keepsense.project.toml_editor import spelled

# Warnings that hold for every method

_FEW = 5
_MANY_COLUMNS = 8


def warnings_for(answers: Answers) -> list[Finding]:
    """Remarks on the plan as a whole, coded.

    >>> [finding.code for finding in warnings_for(Answers(k=3, sensitive=True))]
    ['W501', 'W502']
    """
    remarks: list[tuple[str, str, str]] = []
    model = answers.model
    promise = answers.promise
    only_identity = model is not None and model.protects == ("identity",)
    if only_identity and answers.sensitive:
        remarks.append(
            (
                "W501",
                "promise",
                f"{promise} hides who somebody is, not what they have. A group whose members all share one diagnosis "
                "gives it away. Add l-diversity or t-closeness for the sensitive column",
            )
        )
    elif only_identity:
        remarks.append(
            (
                "W501",
                "promise",
                f"{promise} hides who somebody is. If any column holds what people would rather keep to themselves, "
                "call it sensitive and add l-diversity or t-closeness",
            )
        )
    if asks_for_k(promise) and answers.k < _FEW:
        remarks.append(
            (
                "W502",
                "k",
                f"k = {answers.k} leaves a chance of 1 in {answers.k} to recognize somebody; 5 is a usual least for "
                "known recipients, 11 or more for the public",
            )
        )
    if model is None:
        remarks.append(
            (
                "W503",
                "promise",
                "nothing is promised by construction: what comes out is attacked by linkage before it is released, and "
                "refused where too many records are found. Look at the risk in the report, too",
            )
        )
    if answers.rows is not None and asks_for_k(promise) and answers.rows < 20 * answers.k:
        remarks.append(
            (
                "W504",
                "size",
                f"{answers.rows:,} rows make at most {answers.rows // answers.k} groups of {answers.k}: expect coarse "
                "values",
            )
        )
    if answers.columns > _MANY_COLUMNS and (model is None or "membership" not in model.protects):
        remarks.append(
            (
                "W505",
                "columns",
                f"{answers.columns} columns by which people could be recognized: nearly everybody is unique then. "
                "Leave out columns that the purpose does not need",
            )
        )
    if answers.reuse:
        remarks.append(
            (
                "W506",
                "later files",
                "who is in several releases can be found by comparing them; the ledger of releases warns of it",
            )
        )
    if answers.sets and answers.others:
        remarks.append(
            (
                "W507",
                "sets",
                "sets are shared inside the groups that the other columns form, so the more such columns there are, "
                "the less is left of the sets. Leave out columns that the purpose does not need",
            )
        )
    if answers.sets and answers.others and answers.truthful:
        remarks.append(
            (
                "W508",
                "sets",
                "beside other columns, sets can only be released as made-up ones (set microaggregation). Where every "
                "set must be true, release the sets in a file of their own, or leave them out",
            )
        )
    if answers.truthful and model is DifferentialPrivacy:
        remarks.append(
            (
                "W509",
                "promise",
                f"{DifferentialPrivacy.name} is kept by drawing values anew, and you need true records: "
                f"{ApproximatePrivacy.name} is kept by true records of a random sample, but for a very small chance",
            )
        )
    remarks += [("W510", "promise", text) for text in _untold(answers)]
    if answers.meaning and not answers.privacy and answers.form != "concepts" and "concepts" in forms(promise):
        text = f'it is known what values of {answers.column} have in common: form = "concepts" bounds what a group '
        remarks.append(("W511", "promise", text + "tells of every kind of them, too"))
    return [Finding(*remark) for remark in remarks]


def _untold(answers: Answers) -> list[str]:
    """What somebody has to say before the promise can be made."""
    promise, model = answers.promise, answers.model
    texts = {
        "person": f'{promise} counts people: give the column that tells whose row it is the role "person"',
        "fraction": f"{promise} must know which share of the population is in the table; rather say more than less",
    }
    needed = [text for name, text in texts.items() if name in answers.untold]
    if model is not None and model.needs_population and not answers.population:
        needed.append(f"{promise} compares with a table of everybody: name it in [population]")
    return needed


# Advice


@dataclass(frozen=True)
class Advice:
    """One recommended method: why, what to beware of, and the settings to begin with.

    `part` says what it is for: the `records`, or the `sets` of columns that hold several items a cell. `promised` is
    what it can promise of what is wanted, as sections of a project file.

    >>> best = recommend(Answers(kinds=("numeric",), purpose="regression"))[0]
    >>> best.name
    'lsd mondrian'
    """

    method: Method
    part: str
    points: float
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    parameters: dict[str, object] = field(default_factory=dict)
    promised: tuple[Mapping[str, object], ...] = ()

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.method.name

    def settings(self, answers: Answers) -> str:
        """Sections of a project file to begin with; empty where project files do not know the method."""
        if not self.method.in_projects:
            return ""
        lines = []
        for section in self.promised or answers.promised():
            lines += ["[[privacy]]", *(f"{key} = {spelled(value)}" for key, value in section.items()), ""]
        own = "set_method" if self.part == "sets" and answers.others else "method"
        lines += [f"[{own}]", f"name = {spelled(self.name)}"]
        if self.parameters:
            lines += ["", f"[{own}.parameters]"]
            lines += [f"{key} = {spelled(value)}" for key, value in self.parameters.items()]
        if self.method.truthful and answers.suppression:
            lines += ["", "[release]", f"suppression = {answers.suppression:g}"]
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Guidance(Shown):
    """All advice for some answers: methods, best first, remarks on the whole, and what was left out and why.

    >>> advise(Answers(truthful=True)).excluded["noise"]
    'its records are not true, and you need true ones'
    """

    answers: Answers
    advice: list[Advice]
    warnings: list[Finding]
    excluded: dict[str, str]

    def summary(self) -> Summary:
        """The methods that fit, best first, each with its reasons."""
        rows = [(a.name, a.part, "; ".join(a.reasons), " ".join(a.warnings)) for a in self.advice]
        best = self.advice[0].name if self.advice else "no method fits"
        return Summary(best, ("method", "for", "why", "beware"), rows, [str(finding) for finding in self.warnings])


def recommend(answers: Answers, limit: int = 3) -> list[Advice]:
    """The methods that fit best, best first; for sets and for the other columns apart where there are both.

    >>> [a.name for a in recommend(Answers(kinds=("nominal",)))]
    ['local recoding', 'semantic mondrian', 'optimal']
    """
    return advise(answers, limit).advice


def advise(answers: Answers, limit: int = 3) -> Guidance:
    """Weigh every method of the catalogue against the answers.

    >>> guidance = advise(Answers(promise="differential privacy", truthful=False))
    >>> guidance.advice[0].name
    'semantic exponential mechanism'
    """
    judged: dict[str, list[Advice]] = {"records": [], "sets": []}
    excluded: dict[str, str] = {}
    for method in catalogue().values():
        if not isinstance(method, Method):
            continue
        part = part_of(method, answers)
        if (part == "sets" and not answers.sets) or (part == "records" and not answers.others):
            continue
        why = why_not(method, answers)
        if why:
            excluded[method.name] = why
            continue
        points, reasons = points_of(method, answers)
        settings = method.fit.start(answers)
        promised = tuple(_promised(method, answers))
        judged[part].append(Advice(method, part, points, reasons, _cautions(method, answers), settings, promised))
    chosen = []
    for part in ("records", "sets"):
        chosen += sorted(judged[part], key=lambda a: -a.points)[:limit]
    return Guidance(answers, chosen, warnings_for(answers), excluded)


def suited(told: Mapping[str, Any]) -> dict[str, str]:
    """What can be promised of what is told so far, in words: by some method at least, about what there is.

    >>> list(suited({"kinds": ("set",), "sensitive": False}))
    ['k-anonymity', 'probabilistic k-anonymity', 'k^m-anonymity', 'none']
    """
    words = promises()
    offered = {}
    for name, meaning in words.items():
        answers = Answers(**{**told, "promise": name})
        secret = answers.model is not None and answers.model.protects == ("attribute",)
        if (answers.sensitive or not secret) and advise(answers, 1).advice:
            offered[name] = meaning
    return offered


def part_of(method: Method, answers: Answers) -> str:
    """What a method is for: the `sets`, or the `records`, which some methods take the sets along with.

    >>> from keepsense.methods.method import method
    >>> part_of(method("top-down sets"), Answers()), part_of(method("rank swapping"), Answers(kinds=("set",)))
    ('sets', 'sets')
    """
    alone = method.sets == "only" or (method.sets == "together" and not answers.others)
    return "sets" if alone else "records"


def why_not(method: Method, answers: Answers) -> str:
    """Why a method does not fit; empty where it does.

    >>> from keepsense.methods.method import method
    >>> why_not(method("lsd mondrian"), Answers())
    'it needs a number that the release is to predict'
    """
    if answers.truthful and not method.truthful:
        return "its records are not true, and you need true ones"
    family = family_of(method)
    if answers.promise == "none":
        if method.promises and method.promises[0] == family:
            return f"it is for the promise of {family}, which you did not ask for"
    elif not method.gives(answers.promise):
        able = family in SATISFIES.get(answers.promise, ())
        return method.falls_short if able and method.falls_short else f"it gives no {answers.promise}"
    against = _against_promises(method, answers)
    return against or next((why for applies, why in method.fit.unfit if applies(answers)), "")


def _against_promises(method: Method, answers: Answers) -> str:
    """Why a method cannot make the promises as they are meant: all of them, with as much suppression as is allowed."""
    forms = [PRIVACY[str(s["model"])].of_form(str(s.get("form", ""))) for s in answers.promised()]
    if any(model.needs_population for model in forms):
        if answers.sets:
            return "sets cannot be looked up in a population"
        if not method.whole_values:
            return "it does not say what would become of the rest of the population"
    if method.climbs and answers.suppression and not all(model.stays_kept for model in forms):
        return "with suppressed records it takes only promises that classes keep whatever is merged into them"
    if method.climbs and not all(model.monotonic for model in forms):
        return "it takes only promises that more generalization never breaks"
    return ""


def points_of(method: Method, answers: Answers) -> tuple[float, tuple[str, ...]]:
    """Points and reasons of a method that fits.

    >>> from keepsense.methods.method import method
    >>> points_of(method("mondrian"), Answers(kinds=("numeric",)))[0]
    5.0
    """
    fit = method.fit
    points, reason = fit.purposes.get(answers.purpose, (fit.points, fit.reason))
    reasons = [reason or method.intent]
    for applies, more, why in fit.better:
        if applies(answers):
            points += more
            reasons.append(why.format(answers))
    if method.sets == "together" and answers.sets and answers.others:
        points += 1.0
        reasons.append("takes your columns of sets along with the others")
    if answers.beside_k and method.truthful:
        reasons.append(f"can be asked for {answers.promise} besides k-anonymity")
    if answers.promise == PROBABILISTIC and not method.gives(K_ANONYMITY):
        points = max(points, 7.0)
        reasons.append("made for this promise: no value is linked to a record with a chance above 1/k")
    elif answers.promise == PROBABILISTIC:
        points -= 3.0
        reasons.append("keeps more than you ask for, and loses more than swapping would")
    return points, tuple(filter(None, reasons))


def _cautions(method: Method, answers: Answers) -> tuple[str, ...]:
    """What to beware of with one method."""
    remarks = []
    if not method.truthful:
        remarks.append(
            "Released records are not true. Say so to whoever gets them, and forbid impossible combinations."
        )
    if family_of(method) == "generalization" and answers.purpose == "correlations":
        remarks.append("Correlations can only be computed between coarser values.")
    if family_of(method) == "generalization" and answers.purpose == "single columns":
        remarks.append("Means and variances can only be estimated from ranges.")
    return (*remarks, *(text for applies, text in method.fit.cautions if applies(answers)))


def _promised(method: Method, answers: Answers) -> list[dict[str, Any]]:
    """What is to be promised with one method."""
    if method.fit.promised is not None:
        return method.fit.promised(answers)
    if answers.promise == "none" and method.gives(K_ANONYMITY):
        return [{"model": K_ANONYMITY, "k": answers.k}]  # these keep it anyway
    return answers.promised()
