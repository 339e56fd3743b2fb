"""From answers to advice: which methods fit, why, what to beware of, and why others do not.

Filters come first (truth, kinds of data, the promise), then points: what the release is for, what the columns hold, how
large the table is. The filters follow Tables 2.1 and 2.2 of Rodríguez-García (2017), the choice of noise its Table 6.1,
the choice among generalizations the comparison of Ben Fredj et al. (2015).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from keepsense.errors import Finding
from keepsense.guide.answers import Answers
from keepsense.guide.apply import spelled
from keepsense.guide.catalogue import catalogue, entry
from keepsense.guide.pattern import Entry
from keepsense.guide.properties import SATISFIES, mark, noise_for
from keepsense.guide.rules import MANY_COLUMNS, points_of
from keepsense.guide.warn import warnings_for
from keepsense.shown import Shown, Summary

TOGETHER = ("rank swapping", "rank swapping of tuples", "strict rank swapping", "noise", "correlated noise")
"""Methods that take columns of sets along with the others."""

NEEDS = {
    "infogain mondrian": "classification",
    "top-down": "classification",
    "bottom-up": "classification",
    "lsd mondrian": "regression",
}
"""Methods that look at a column that is to be predicted, and for what."""


@dataclass(frozen=True)
class Advice:
    """One recommended method: why, what to beware of, and the settings to begin with.

    `part` says what it is for: the `records`, or the `sets` of columns that hold several items a cell. `promised` is
    what it can promise of what is wanted, as sections of a project file.

    >>> best = recommend(Answers(kinds=("numbers",), purpose="regression"))[0]
    >>> best.name
    'lsd mondrian'
    """

    entry: Entry
    part: str
    points: float
    reasons: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    parameters: dict[str, Any] = field(default_factory=dict)
    promised: tuple[Mapping[str, Any], ...] = ()

    @property
    def name(self) -> str:
        """Name of the catalogue's entry."""
        return self.entry.name

    def settings(self, answers: Answers) -> str:
        """Sections of a project file to begin with; empty where project files do not know the method."""
        if self.entry.project is None:
            return ""
        lines = []
        for section in self.promised or answers.promised():
            lines += ["[[privacy]]", *(f"{key} = {spelled(value)}" for key, value in section.items()), ""]
        own = "set_method" if self.part == "sets" and answers.others else "method"
        lines += [f"[{own}]", f"name = {spelled(self.entry.project)}"]
        if self.parameters:
            lines += ["", f"[{own}.parameters]"]
            lines += [f"{key} = {spelled(value)}" for key, value in self.parameters.items()]
        if self.entry.truthful and answers.suppression:
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

    >>> [a.name for a in recommend(Answers(kinds=("words",)))]
    ['local recoding', 'semantic mondrian', 'optimal']
    """
    return advise(answers, limit).advice


def advise(answers: Answers, limit: int = 3) -> Guidance:
    """Weigh every method of the catalogue against the answers.

    >>> found = advise(Answers(promise="differential privacy", truthful=False))
    >>> found.advice[0].name
    'semantic exponential mechanism'
    """
    judged: dict[str, list[Advice]] = {"records": [], "sets": []}
    excluded: dict[str, str] = {}
    for found in catalogue().values():
        if found.kind == "category" or (found.kind == "technique" and not found.runs):
            continue
        part = part_of(found, answers)
        if (part == "sets" and not answers.sets) or (part == "records" and not answers.others):
            continue
        why = why_not(found, answers)
        if why:
            excluded[found.name] = why
            continue
        points, reasons = points_of(found, answers)
        judged[part].append(
            Advice(
                found,
                part,
                points,
                tuple(reasons),
                tuple(_cautions(found, answers)),
                _parameters(found, answers),
                tuple(_promised(found, answers)),
            )
        )
    chosen = []
    for part in ("records", "sets"):
        chosen += sorted(judged[part], key=lambda a: -a.points)[:limit]
    return Guidance(answers, chosen, warnings_for(answers), excluded)


def part_of(found: Entry, answers: Answers) -> str:
    """What a method is for: the `sets`, or the `records`, which some methods take the sets along with.

    >>> part_of(entry("top-down sets"), Answers()), part_of(entry("rank swapping"), Answers(kinds=("sets",)))
    ('sets', 'sets')
    """
    if technique_of(found) == "set generalization" or found.name.endswith(("of sets", "on sets")):
        return "sets"
    return "sets" if found.name in TOGETHER and not answers.others else "records"


def technique_of(found: Entry) -> str:
    """Name of the technique an entry belongs to.

    >>> technique_of(entry("datafly"))
    'generalization'
    """
    while found.parent is not None:
        found = entry(found.parent)
    return found.name


def why_not(found: Entry, answers: Answers) -> str:
    """Why a method does not fit; empty where it does.

    >>> why_not(entry("lsd mondrian"), Answers())
    'it needs a number that the release is to predict'
    """
    technique = technique_of(found)
    if not found.runs:
        return "Keepsense only describes it"
    if answers.truthful and not found.truthful:
        return "its records are not true, and you need true ones"
    if answers.promise != "none":
        able = SATISFIES[answers.promise]
        sets = technique == "set generalization" and answers.promise.endswith("k-anonymity")
        if technique not in able and not sets:
            return f"it gives no {answers.promise}"
        if technique == "swapping" and found.name != "strict rank swapping":
            return "only its strict form keeps a promise"
        if found.name == "mu-argus" and answers.promise != "k-anonymity":
            return "it counts records only, and cannot look at sensitive values"
        if found.name == "individual ranking":
            return "it protects single columns only"
        if technique == "microaggregation" and answers.promise == "t-closeness" and "t-close" not in found.name:
            return "it does not look at sensitive values"
    elif technique == "differential privacy":
        return "it is for the promise of differential privacy, which you did not ask for"
    return _misfit(found, technique, answers)


def _misfit(found: Entry, technique: str, answers: Answers) -> str:
    """Why a method does not fit the columns, the purpose or the size."""
    kinds = set(answers.others)
    name = found.name
    if technique == "set generalization" and kinds:
        return "it is for sets that are released without other columns by which people could be recognized"
    if name == "noise on sets":
        return 'it is part of "noise", which takes sets along'
    if name in ("sampling", "top and bottom coding"):
        return "it goes before another method, and is no protection by itself"
    if name == "t-close microaggregation" and answers.promise != "t-closeness":
        return "it is for the promise of t-closeness"
    if name == "adaptive microaggregation" and "numbers" in kinds:
        return "it is for values that repeat a lot"
    if technique == "microaggregation" and kinds & {"categories", "codes"}:
        return "nothing tells which values of some columns are near each other"
    if name in NEEDS and answers.purpose != NEEDS[name]:
        what = "number" if NEEDS[name] == "regression" else "category"
        return f"it needs a {what} that the release is to predict"
    single = {"mondrian", "infogain mondrian", "lsd mondrian", "semantic mondrian", "local recoding", "cell greedy"}
    if name in single and (answers.even or answers.reuse):
        return (
            "equal values may come out at different levels"
            if answers.even
            else "its groups belong to one table, so its rule does not fit later files"
        )
    if name.startswith("semantic") and "words" not in kinds:
        return "no column holds words whose meaning is known"
    if technique in ("swapping", "noise addition") and kinds & {"categories", "codes"}:
        return "nothing tells which values of some columns are near each other"
    if name in ("noise", "correlated noise", "noise on streams") and kinds and "words" not in kinds:
        return "it is for words; noise on numbers does the same for numbers"
    if name == "correlated noise" and answers.columns < 2:
        return "it needs at least two columns"
    if name == "noise on streams":
        return "it is for records that are released one by one as they come"
    if name == "noise on numbers" and not kinds <= {"numbers", "ordered", "dates"}:
        return "it moves numbers and ordered values only"
    if name == "microaggregation along a score" and not kinds <= {"numbers", "ordered"}:
        return "it is for numbers"
    if name == "semantic exponential mechanism" and kinds != {"words"}:
        return "it is for words; differential privacy takes the mechanism that suits each column"
    if name == "rank swapping of numbers" and not kinds <= {"numbers", "ordered", "dates"}:
        return "it swaps ordered values only"
    if name == "noisy numbers" and kinds != {"numbers"}:
        return "it is for numbers"
    if name == "noisy histogram" and answers.columns > 4:
        return "with so many columns most combinations are empty, and noise is all that is left"
    if name == "randomized response" and kinds & {"numbers", "dates"}:
        return "it is for columns of few categories"
    if name == "differential privacy" and (kinds == {"words"} or kinds == {"numbers"}):
        return "all columns are of one kind, so one mechanism does"
    if technique == "differential privacy" and answers.sets:
        return "it has no mechanism for sets"
    if (name == "incognito" and answers.columns > 10) or (name == "semantic incognito" and answers.columns > 10):
        return "it looks at all subsets of the columns, and there are too many"
    if name == "optimal" and answers.columns > 15:
        return "there are too many choices of levels to search them all"
    if name == "anytime" and answers.columns <= 15:
        return "all choices of levels can be searched, so the best one can be proven"
    if name == "cell greedy" and (answers.rows or 0) > 100_000:
        return "it compares records with each other, and there are too many"
    return ""


def _cautions(found: Entry, answers: Answers) -> list[str]:
    """What to beware of with one method."""
    technique = technique_of(found)
    told = []
    if not found.truthful:
        told.append("Released records are not true. Say so to whoever gets them, and forbid impossible combinations.")
    if answers.purpose == "correlations" and not mark(technique, "correlation") and technique != "differential privacy":
        swaps = found.name in ("rank swapping", "rank swapping by one ranking", "rank swapping of numbers")
        if swaps:
            told.append("How columns depend on each other suffers; swapping of tuples keeps more of it.")
        elif technique == "generalization":
            told.append("Correlations can only be computed between coarser values.")
    if answers.purpose == "single columns" and technique == "generalization":
        told.append("Means and variances can only be estimated from ranges.")
    if found.name == "local recoding" and answers.columns >= MANY_COLUMNS:
        told.append("With so many columns it takes long; seconds = 60 makes it stop with the best it has found.")
    if found.name in NEEDS:
        told.append('The column that is to be predicted must have the role "target" (--target names it).')
    if found.name == "mu-argus":
        told.append("It looks at pairs and triples of columns only, unless you set strict = true.")
    if technique in ("noise addition", "post-randomization") or found.name == "rank swapping":
        told.append("It promises nothing by construction. What comes out is attacked before it is released.")
    if technique == "differential privacy" and found.name != "noisy histogram":
        told.append(
            "Name possible values and bounds from public knowledge in [method.parameters] (domains, bounds), and "
            "release no other column: what is released as it is has no such promise."
        )
    if technique == "multidimensional recoding" or found.parent == "multidimensional recoding":
        told.append("Equal values may come out as different ranges; tell analysts.")
    if technique == "differential privacy" and answers.columns > 1:
        told.append("Every column takes its part of the budget, and every release adds up.")
    return told


def _promised(found: Entry, answers: Answers) -> list[dict[str, Any]]:
    """What is to be promised with one method."""
    if found.name == "apriori sets":
        return [{"model": "k^m-anonymity", "k": answers.k, "m": 2, "column": answers.set_column}]
    if answers.promise == "none" and technique_of(found) in (*SATISFIES["k-anonymity"], "set generalization"):
        return [{"model": "k-anonymity", "k": answers.k}]  # these keep it anyway
    return answers.promised()


def _parameters(found: Entry, answers: Answers) -> dict[str, Any]:
    """Parameters to begin with."""
    if found.name == "noise":
        return {"alpha": 0.3, "reference": "mean"}
    if found.name == "correlated noise":
        keep = "correlation" if answers.purpose == "correlations" else "mean"
        _, reference = noise_for(answers.columns, keep, same_taxonomy=answers.same_taxonomy)  # type: ignore[arg-type]
        return {"alpha": 0.3, "reference": reference}
    if found.name == "strict rank swapping":
        together = answers.purpose == "correlations"
        return {"k": answers.k, "together": together} if together else {"k": answers.k}
    if found.name == "rank swapping":
        return {"k": answers.k}
    if found.name == "noise on numbers":
        return {"alpha": 0.3, "correlated": True} if answers.purpose == "correlations" else {"alpha": 0.3}
    if found.name == "mu-argus":
        return {"strict": True}
    return {}
