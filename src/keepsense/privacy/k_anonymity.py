"""k-anonymity and its relatives: promises about how many records, or persons, share a class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

from keepsense.counts import Histogram
from keepsense.privacy.privacy_model import (
    Column,
    Count,
    Flags,
    Model,
    Weights,
    distinct_values,
    histogram_of,
    privacy_model,
    unless_empty,
)


@privacy_model(
    check="keepsense.verification.class_checks:k_anonymity",
    check_sets="keepsense.verification.set_checks:whole_sets",
    promises="nobody can be told from fewer than k - 1 others",
    choose="somebody could be found by what many know of them: age, place, job",
    paper="Samarati and Sweeney 1998",
    rank=1,
    begin={"k": 5},
)
@dataclass(frozen=True)
class KAnonymity(Model):
    """Every combination of quasi-identifiers is shared by at least k records (Samarati and Sweeney 1998).

    An attacker who knows someone's quasi-identifiers finds at least k records that fit. Use it whenever the records
    are one a person; it says nothing about sensitive values.

    >>> import numpy as np
    >>> KAnonymity(3).satisfied(np.array([5, 2, 3]), {}).tolist()
    [True, False, True]
    """

    k: Count
    name: ClassVar[str] = "k-anonymity"
    stays_kept: ClassVar[bool] = True
    by_size: ClassVar[bool] = True
    decided_by: ClassVar[str] = "smallest class"

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class holds at least k records."""
        return unless_empty(class_weights >= self.k, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return f"Every combination of quasi-identifiers is shared by at least {self.k} records."


@privacy_model(
    check="keepsense.verification.class_checks:k_anonymity",
    promises="nobody is linked to a record with a chance above 1/k; records need not be true",
    choose="values should stay as they are and be exchanged between people",
    paper="Soria-Comas and Domingo-Ferrer 2012",
    rank=7,
    begin={"k": 5},
)
@dataclass(frozen=True)
class ProbabilisticKAnonymity(Model):
    """Nobody is linked to the right record with more than one chance in k (Soria-Comas and Domingo-Ferrer 2012).

    It is a promise about the mechanism: values may stay distinct where they were exchanged at random within groups of
    at least k records (rank swapping). `class_weights` are then the sizes of those groups. A k-anonymous table keeps
    the promise too, its groups being the equivalence classes (Rodríguez-García 2017, Sec. 2.5.2).

    >>> import numpy as np
    >>> ProbabilisticKAnonymity(3).satisfied(np.array([3, 2]), {}).tolist()
    [True, False]
    """

    k: Count
    name: ClassVar[str] = "probabilistic k-anonymity"
    stays_kept: ClassVar[bool] = True
    about: ClassVar[Literal["file", "mechanism"]] = "mechanism"

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each group within which records are exchanged holds at least k of them."""
        return unless_empty(class_weights >= self.k, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return f"No person is linked to the right record with a chance above 1 in {self.k}."


@privacy_model(
    check="keepsense.verification.class_checks:people",
    promises="nobody can be told from fewer than k - 1 other people, however many rows each has",
    choose="people have several rows each",
    paper="Wang and Fung 2006",
    rank=13,
    begin={"k": 5},
)
@dataclass(frozen=True)
class XYAnonymity(Model):
    """Every combination of quasi-identifiers is shared by at least k different people (Wang and Fung 2006).

    For tables with several rows a person: `person` names the column that tells people apart. It is counted as a
    histogram and never released. With one row a person it is k-anonymity.

    >>> import numpy as np
    >>> from keepsense.arrays import Rows
    >>> rows = Histogram(("ann", "bob"), Rows.from_pairs([0, 0, 1], [0, 1, 1], 2), np.array([1, 1, 2]))
    >>> XYAnonymity(2, "person").satisfied(np.array([2, 2]), {"person": rows}).tolist()
    [True, False]
    """

    k: Count
    person: Column
    name: ClassVar[str] = "(X,Y)-anonymity"
    stays_kept: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True

    def satisfied(self, class_weights: Weights, histograms: Mapping[str, Histogram]) -> Flags:
        """Whether each class holds at least k different people."""
        people = histogram_of(histograms, self.person, len(class_weights), self.name)
        return unless_empty(distinct_values(people) >= self.k, class_weights)

    def describe(self) -> str:
        """The promise in plain words."""
        return f"Every combination of quasi-identifiers is shared by at least {self.k} different people."
