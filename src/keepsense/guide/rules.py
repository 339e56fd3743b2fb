"""How well a method suits the answers, in points with reasons; only methods that fit at all are asked."""

from __future__ import annotations

from keepsense.guide.answers import Answers
from keepsense.guide.pattern import Entry
from keepsense.guide.properties import noise_for

MANY_COLUMNS = 6
"""Columns from which on local recoding has many choices of levels to walk through."""

_LITTLE_LOSS = {
    "local recoding": (6.0, "every group keeps as much detail as it can: the least loss of all generalizations here"),
    "cell greedy": (3.8, "groups are grown for least loss"),
    "optimal": (4.5, "no choice of one level for each column loses less, and that is proven"),
    "semantic mondrian": (4.0, "groups are cut where least meaning is lost"),
    "anytime": (4.0, "a good choice of levels in the time you give, with a bound on what could be better"),
    "mondrian": (3.5, "groups of k to 2k people, nearly equal in size, and quickly found"),
    "semantic incognito": (3.0, "of all safe choices of levels the one closest in meaning"),
    "incognito": (2.5, "it lists all safe choices of levels, to be discussed"),
    "semantic datafly": (2.2, "quick, and the column that loses least meaning goes first"),
    "samarati": (2.0, "a safe choice of levels with the fewest steps"),
    "datafly": (1.5, "quick, and every step can be explained"),
    "mu-argus": (1.0, "blanks out single cells, and looks at pairs and triples of columns"),
}
_FOR_A_TARGET = {
    "infogain mondrian": (9.0, "made for classification: it cuts where most is learned about the target"),
    "top-down": (8.0, "made for classification, with one rule for all records that fits later files too"),
    "bottom-up": (7.0, "made for classification; merges what tells least about the target"),
    "lsd mondrian": (9.0, "made for regression: groups in which the numeric target varies little"),
}
_FOR_SINGLE_COLUMNS = {
    "strict rank swapping": (9.0, "every column keeps its values exactly, and nobody is linked above 1/k"),
    "rank swapping": (8.0, "every column keeps its values exactly; words change places with words of near meaning"),
    "rank swapping of numbers": (8.0, "every column keeps its values exactly: counts, mean, variance, extremes"),
    "rank swapping by one ranking": (3.0, "every column keeps its values exactly"),
    "rank swapping of tuples": (6.0, "every column keeps its values exactly"),
    "noise on numbers": (5.0, "means stay, variances grow by a known factor"),
    "post-randomization": (4.0, "counts can be estimated without bias from the published chances"),
}
_FOR_CORRELATIONS = {
    "correlated noise": (9.0, "errors vary together as the columns do, so that these still belong together"),
    "noise on numbers": (9.0, "correlated noise keeps correlations of numbers"),
    "rank swapping of tuples": (8.0, "values change places between records alike in all columns"),
    "strict rank swapping": (7.0, "mixed inside groups alike in all columns, and nobody is linked above 1/k"),
    "post-randomization": (2.0, "counts of combinations can be estimated, each column by itself"),
    "rank swapping": (1.0, "single columns stay exact, but how they depend on each other suffers"),
}
_AVERAGES = {
    "microaggregation of records": (5.5, "k-anonymity without coarse ranges; means come out right"),
    "adaptive microaggregation": (4.5, "k-anonymity, and common words are released as they are"),
    "t-close microaggregation": (6.5, "k-anonymity and t-closeness without coarse ranges"),
    "local suppression": (1.2, "needs no hierarchies: it blanks out what makes records rare"),
}
_PRIVATE = {
    "semantic exponential mechanism": (8.0, "words become words of near meaning, under differential privacy"),
    "noisy histogram": (7.0, "counts of a few columns with little noise"),
    "randomized response": (5.0, "categories, with published chances that analysts can correct for"),
    "noisy numbers": (6.0, "numbers with noise as wide as their declared bounds"),
    "differential privacy": (7.5, "every column is redrawn by the mechanism that suits what it holds"),
}
_WITH_SETS = ("rank swapping", "rank swapping of tuples", "strict rank swapping", "noise", "correlated noise")
_SETS = {
    "apriori sets": (6.0, "true sets by one rule, safe against anybody who knows up to m items"),
    "top-down sets": (5.0, "true sets, each group at its own level, safe whatever items are known"),
    "microaggregation of sets": (7.0, "keeps what sets are about, and every released set is shared by k people"),
}


def points_of(found: Entry, answers: Answers) -> tuple[float, list[str]]:
    """Points and reasons of a method that fits.

    >>> from keepsense.guide.catalogue import entry
    >>> points_of(entry("mondrian"), Answers(kinds=("numbers",)))[0]
    5.0
    """
    name = found.name
    points, reasons = 0.0, []
    for table, applies in (
        (_FOR_A_TARGET, answers.purpose in ("classification", "regression")),
        (_FOR_SINGLE_COLUMNS, answers.purpose == "single columns"),
        (_FOR_CORRELATIONS, answers.purpose == "correlations"),
        (_LITTLE_LOSS, True),
        (_AVERAGES, True),
        (_PRIVATE, True),
        (_SETS, True),
    ):
        if applies and name in table and not points:
            points, reason = table[name]
            reasons.append(reason)
    if not points:
        points = 1.0
        reasons.append(found.intent)
    kinds = set(answers.others)
    if name == "mondrian" and kinds <= {"numbers", "dates"}:
        points += 1.5
        reasons.append("numbers come out as ranges of their own group, not of a hierarchy")
    if name == "semantic mondrian" and "words" in kinds:
        points += 1.0
        reasons.append("your columns hold words whose meaning is known")
    if name == "local recoding" and answers.columns >= MANY_COLUMNS:
        points -= 2.0
    if name in ("optimal", "anytime") and answers.reuse:
        points += 1.0
        reasons.append("its levels can be applied to later files (run --reuse)")
    if name in _WITH_SETS and answers.sets and answers.others:
        points += 1.0
        reasons.append("takes your columns of sets along with the others")
    if name in ("noise", "correlated noise") and set(answers.kinds) == {"words"}:
        keep = "correlation" if answers.purpose == "correlations" else "mean"
        best, _ = noise_for(answers.columns, keep, same_taxonomy=answers.same_taxonomy)  # type: ignore[arg-type]
        if name == best:
            points += 1.0
            reasons.append(f"suits {answers.columns} column(s) of words of which the {keep} is to be kept")
    if answers.promise in ("l-diversity", "t-closeness") and found.truthful:
        reasons.append(f"can be asked for {answers.promise} besides k-anonymity")
    if answers.promise == "probabilistic k-anonymity" and name == "strict rank swapping":
        points = max(points, 7.0)
        reasons.append("made for this promise: no value is linked to a record with a chance above 1/k")
    elif answers.promise == "probabilistic k-anonymity":
        points -= 3.0
        reasons.append("keeps more than you ask for, and loses more than swapping would")
    return points, reasons
