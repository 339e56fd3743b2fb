"""Promises about how many records, or people, share a class: k-anonymity and its relatives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from keepsense.counts import Histogram
from keepsense.privacy.base import Flags, Model, Weights, histogram_of, unless_empty, whole_number


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every combination of quasi-identifiers is shared by at least k records (Samarati and Sweeney 1998).

    An attacker who knows someone's quasi-identifiers finds at least k records that fit. Use it whenever the records
    are one a person; it says nothing about sensitive values.

    >>> KAnonymity(3).satisfied(np.array([5, 2, 3]), {}).tolist()
    [True, False, True]
    """

    k: int
    name: ClassVar[str] = "k-anonymity"

    def __post_init__(self) -> None:
        whole_number("k", self.k, 1, self.name)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class holds at least k records."""
        return unless_empty(class_weights >= self.k, class_weights)

    def promise(self) -> dict[str, Any]:
        """The promise as plain data."""
        return {"model": self.name, "k": int(self.k)}

    def describe(self) -> str:
        """The promise in plain words."""
        return f"Every combination of quasi-identifiers is shared by at least {self.k} records."


@dataclass(frozen=True)
class ProbabilisticKAnonymity(Model):
    """Nobody is linked to the right record with more than one chance in k (Soria-Comas and Domingo-Ferrer 2012).

    It is a promise about the mechanism: values may stay distinct where they were exchanged at random within groups of
    at least k records (rank swapping). `class_weights` are then the sizes of those groups. A k-anonymous table keeps
    the promise too, its groups being the equivalence classes (Rodríguez-García 2017, Sec. 2.5.2).

    >>> ProbabilisticKAnonymity(3).satisfied(np.array([3, 2]), {}).tolist()
    [True, False]
    """

    k: int
    name: ClassVar[str] = "probabilistic k-anonymity"

    def __post_init__(self) -> None:
        whole_number("k", self.k, 1, self.name)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each group within which records are exchanged holds at least k of them."""
        return unless_empty(class_weights >= self.k, class_weights)

    def promise(self) -> dict[str, Any]:
        """The promise as plain data; `about` tells the verifier that a file alone need not show it."""
        return {"model": self.name, "k": int(self.k), "about": "mechanism"}

    def describe(self) -> str:
        """The promise in plain words."""
        return f"No person is linked to the right record with a chance above 1 in {self.k}."


@dataclass(frozen=True)
class XYAnonymity(Model):
    """Every combination of quasi-identifiers is shared by at least k different people (Wang and Fung 2006).

    For tables with several rows a person: `person` names the column that tells people apart. It is counted as a
    histogram and never released. With one row a person it is k-anonymity.

    >>> from keepsense.arrays import Rows
    >>> rows = Histogram(("ann", "bob"), Rows.from_pairs([0, 0, 1], [0, 1, 1], 2), np.array([1, 1, 2]))
    >>> XYAnonymity(2, "person").satisfied(np.array([2, 2]), {"person": rows}).tolist()
    [True, False]
    """

    k: int
    person: str
    name: ClassVar[str] = "(X,Y)-anonymity"

    def __post_init__(self) -> None:
        whole_number("k", self.k, 1, self.name)

    @property
    def columns(self) -> tuple[str, ...]:
        """The column that tells people apart."""
        return (self.person,)

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class holds at least k different people."""
        people = histogram_of(histograms, self.person, len(class_weights), self.name)
        seen = people.counts > 0
        distinct = np.bincount(people.rows.row_of()[seen], minlength=len(class_weights))
        return unless_empty(distinct >= self.k, class_weights)

    def promise(self) -> dict[str, Any]:
        """The promise as plain data."""
        return {"model": self.name, "k": int(self.k), "person": self.person}

    def describe(self) -> str:
        """The promise in plain words."""
        return f"Every combination of quasi-identifiers is shared by at least {self.k} different people."
