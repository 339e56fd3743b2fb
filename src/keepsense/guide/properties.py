"""What is known of families of methods: comparisons of Rodríguez-García (2017), Tables 2.1, 2.2 and 6.1, as data."""

from __future__ import annotations

from typing import Literal

from keepsense.privacy import DifferentialPrivacy, DistinctDiversity, KAnonymity, ProbabilisticKAnonymity, TCloseness

Mark = Literal["=", "++", "+", ""]
"""How well a family of methods preserves a feature: fully, highly, fairly, or not."""

DATA_TYPES = ("continuous numbers", "discrete numbers", "ordered categories", "nominal categories")
FEATURES = (
    "truthfulness",
    "data nature",
    "frequency distribution",
    "outliers",
    "granularity",
    "cardinality",
    "mean",
    "variance",
    "correlation",
)

APPLICABLE: dict[str, tuple[str, ...]] = {
    "sampling": DATA_TYPES[1:],
    "generalization": DATA_TYPES,
    "local suppression": DATA_TYPES[1:],
    "noise addition": DATA_TYPES[:1],
    "swapping": DATA_TYPES[:3],
    "microaggregation": DATA_TYPES[:3],
    "data shuffling": DATA_TYPES[:3],
}
"""Data types each family was made for (Table 2.1). Semantic versions take swapping, noise and microaggregation to
nominal values that a taxonomy gives meaning."""

_EXACT: dict[str, Mark] = dict.fromkeys(FEATURES[1:], "=")

PRESERVED: dict[str, dict[str, Mark]] = {
    "sampling": {
        "truthfulness": "=",
        "data nature": "=",
        "granularity": "+",
        "mean": "+",
        "variance": "+",
        "correlation": "+",
    },
    "generalization": {"truthfulness": "=", "cardinality": "="},
    "local suppression": {"truthfulness": "=", "data nature": "="},
    "noise addition": {
        "data nature": "=",
        "outliers": "+",
        "granularity": "+",
        "cardinality": "=",
        "mean": "=",
        "variance": "++",
        "correlation": "=",
    },
    "swapping": {**_EXACT, "correlation": ""},
    "microaggregation": {
        "data nature": "=",
        "outliers": "+",
        "granularity": "+",
        "cardinality": "=",
        "mean": "=",
        "correlation": "+",
    },
    "data shuffling": {**_EXACT, "correlation": "++"},
}
"""Features of the data each family preserves, and how well (Table 2.1); what is not listed is not preserved.

The mark for correlation under noise is that of correlated noise."""

SATISFIES: dict[str, tuple[str, ...]] = {
    KAnonymity.name: ("generalization", "local suppression", "microaggregation"),
    TCloseness.name: ("generalization", "local suppression", "microaggregation"),
    DistinctDiversity.name: ("generalization", "local suppression"),
    ProbabilisticKAnonymity.name: ("swapping", "generalization", "local suppression", "microaggregation"),
    DifferentialPrivacy.name: ("differential privacy",),
}
"""Families that can keep a promise (Table 2.2). Generalization, suppression and microaggregation keep probabilistic
k-anonymity too (Sec. 2.5.2), with more loss than it asks for. The table names noise addition for differential privacy,
alone or after microaggregation: noise that is calibrated to it, which is a family of its own here, because noise
that only masks keeps no such promise."""


def mark(family: str, feature: str) -> Mark:
    """How well a family of methods preserves a feature.

    >>> mark("swapping", "mean"), mark("swapping", "correlation")
    ('=', '')
    """
    return PRESERVED.get(family, {}).get(feature, "")
