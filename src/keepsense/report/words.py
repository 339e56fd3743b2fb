"""What the figures of a report mean, in words for people who do not work with such measures every day."""

from __future__ import annotations

RISKS: dict[str, tuple[str, str]] = {
    "prosecutor, highest": ("person most at risk", "somebody who knows this person is in the table finds the record"),
    "prosecutor, average": ("average person", "the same, for a person drawn at random"),
    "journalist, highest": ("most at risk, among the population", "the attacker does not know who is in the table"),
    "journalist, average": ("average, among the population", "the same, on average over what fits"),
    "journalist, highest, by sampling weights": (
        "most at risk, by sampling weights",
        "each record stands for as many people as its weight says",
    ),
    "journalist, average, by sampling weights": ("average, by sampling weights", "the same, on average over what fits"),
    "marketer": ("share found if everybody is tried", "records that somebody who links them all gets right"),
    "linked by meaning": (
        "share of records linked rightly by meaning",
        "somebody who has the original values takes the nearest one for each released record",
    ),
    "unique records": ("share of records that are one of a kind", "nobody else has this combination of values"),
    "unique in the population": ("share of one of a kind in the population", "nobody else in the population fits"),
    "unique in the population, estimated": (
        "share of one of a kind in the population, estimated",
        "from class sizes and the sampling weights (Zayatz 1991)",
    ),
}
"""Figures of risk: a label and what it means."""

MEASURES: dict[str, tuple[str, str, bool]] = {
    "certainty penalty": ("certainty lost", "0% keeps every value, 100% hides all (certainty penalty)", True),
    "loss": ("detail lost", "share of a column's other values that a released one could be", True),
    "precision": ("precision kept", "100% keeps every level of the hierarchies, 0% none (Sweeney 2002)", True),
    "average class size": ("average class", "records that share one combination of values", False),
    "discernibility": ("discernibility", "pairs of records that cannot be told apart; fewer is better", False),
    "non-uniform entropy": ("bits lost in a cell", "how much vaguer a value became on average", False),
    "changed share": ("cells changed", "share of cells that hold another value than before", True),
    "mean distance": ("distance moved", "how far values moved on average: 0% stayed, 100% as far as can be", True),
    "changed share of sets": ("sets changed", "share of records whose set differs from the original", True),
    "mean distance of sets": ("distance of sets", "items not in common with the original set, on average", True),
    "semantic loss": ("meaning lost", "mean semantic distance from original to released word", True),
    "semantic sum of squared errors": (
        "semantic sum of squared errors",
        "over all records; less is better (Ayala-Rivera et al. 2017)",
        False,
    ),
    "query error, mean": (
        "error of counting questions, mean",
        "random questions about two columns answered from the release: how wrong the count is",
        True,
    ),
    "query error, median": ("error of counting questions, median", "half of the questions are answered better", True),
    "divergence": ("divergence, bits", "how far the table a reader would reconstruct is from the original", False),
}
"""Figures of utility: a label, what it means, and whether it is a share."""


_SETS = {
    "meaning": ("meaning of {} lost", "distance of the items released from the original ones, beyond what sets have"),
    "items": ("error of item counts, {}", "how wrong the number of records with an item is, on average"),
    "pairs": ("error of counts of two items, {}", "the same for two items together, the most frequent ones"),
}


def risk_words(name: str) -> tuple[str, str]:
    """Label and meaning of a figure of risk.

    >>> risk_words("marketer")[0]
    'share found if everybody is tried'
    """
    return RISKS.get(name, (name, ""))


def measure_words(name: str) -> tuple[str, str, bool]:
    """Label and meaning of a figure of utility, and whether it is a share.

    >>> measure_words("root mean square distance, job")[0]
    'distance of job'
    """
    if name.startswith("root mean square distance, "):
        column = name.removeprefix("root mean square distance, ")
        return f"distance of {column}", "root mean square of the distances from original to released value", True
    if name.startswith("sets, "):
        _, what, column = name.split(", ", 2)
        label, meaning = _SETS[what]
        return label.format(column), meaning, True
    if name.startswith("accuracy for "):
        return name, "share of records whose target a classifier predicts rightly", True
    return MEASURES.get(name, (name, "", False))


METHODS: dict[bool, str] = {
    True: "Values were made less exact, never false: every released value is true of its record.",
    False: "Values were changed: a released value need not be the one of its record. The figures below tell what "
    "that did to the table as a whole.",
}
"""What a method does to values, by whether it keeps them true."""
