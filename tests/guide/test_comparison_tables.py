"""The thesis' comparisons: what the guide holds, against the tables as printed."""

from __future__ import annotations

import pytest

from keepsense.guide.catalogue import APPLICABLE, FEATURES, PRESERVED, SATISFIES, mark
from keepsense.methods.method import methods
from keepsense.methods.perturb.noise import noise_for

COLUMNS = (
    "sampling",
    "generalization",
    "local suppression",
    "noise addition",
    "swapping",
    "microaggregation",
    "data shuffling",
)
# Rodríguez-García 2017, Table 2.1, one row a line; X: applicable
TYPES = """
continuous numbers:   . X . X X X X
discrete numbers:     X X X . X X X
ordered categories:   X X X . X X X
nominal categories:   X X X . . . .
"""
MARKS = """
truthfulness:             =  =  =  .  .  .  .
data nature:              =  .  =  =  =  =  =
frequency distribution:   .  .  .  .  =  .  =
outliers:                 .  .  .  +  =  +  =
granularity:              +  .  .  +  =  +  =
cardinality:              .  =  .  =  =  =  =
mean:                     +  .  .  =  =  =  =
variance:                 +  .  .  ++ =  .  =
correlation:              +  .  .  =  .  +  ++
"""


def rows(text: str) -> dict[str, list[str]]:
    lines = (line.split(":") for line in text.strip().splitlines())
    return {name: marks.split() for name, marks in lines}


@pytest.mark.golden
def test_table_2_1_data_types() -> None:
    for kind, marks in rows(TYPES).items():
        assert [kind in APPLICABLE[name] for name in COLUMNS] == [m == "X" for m in marks], kind


@pytest.mark.golden
def test_table_2_1_preserved_features() -> None:
    printed = rows(MARKS)
    assert tuple(printed) == FEATURES
    for feature, marks in printed.items():
        assert [mark(name, feature) or "." for name in COLUMNS] == marks, feature
    assert tuple(PRESERVED) == COLUMNS


# Table 2.2, one row a line; what Sec. 2.5.2 adds stands after the bar
PROMISES = """
k-anonymity:               generalization, local suppression, microaggregation |
t-closeness:               generalization, local suppression, microaggregation |
l-diversity:               generalization, local suppression |
probabilistic k-anonymity: swapping | generalization, local suppression, microaggregation
"""


@pytest.mark.golden
def test_table_2_2_promises() -> None:
    printed = {}
    for line in PROMISES.strip().splitlines():
        name, techniques = line.split(":")
        parts = [part.split(",") for part in techniques.split("|")]
        printed[name] = tuple(one.strip() for part in parts for one in part if one.strip())
    # the printed row "noise addition; microaggregation + noise addition" is the technique with the promise's name
    assert {**printed, "differential privacy": ("differential privacy",)} == SATISFIES


@pytest.mark.golden
def test_the_papers_comparison_of_the_nine_algorithms() -> None:
    """Ben Fredj et al. 2015, Sec. 2: what each is for, and what its recoding is."""
    nine = [found for found in methods() if found.nine]
    branches = {n.name for n in nine if "candidates" in n.fillings and n.fillings["candidates"].value == "branches"}
    assert branches == {"bottom-up", "top-down"}
    assert {found.name for found in nine if found.family == "multidimensional recoding"} == {
        "mondrian",
        "infogain mondrian",
        "lsd mondrian",
    }
    made_for = {found.name: set(found.fit.purposes) for found in nine if found.fit.purposes}
    assert made_for == {
        **{name: {"classification"} for name in ("bottom-up", "top-down", "infogain mondrian")},
        "lsd mondrian": {"regression"},
    }


@pytest.mark.golden
@pytest.mark.parametrize(
    ("columns", "same", "keep", "method", "algorithm"),
    [
        (1, True, "mean", "noise", 1),
        (2, True, "mean", "correlated noise", 1),
        (2, True, "correlation", "correlated noise", 2),
        (2, False, "mean", "correlated noise", 1),
        (2, False, "correlation", "correlated noise", 3),
        (3, True, "mean", "correlated noise", 1),
        (3, True, "correlation", "correlated noise", 3),
    ],
)
def test_table_6_1_noise(columns: int, same: bool, keep: str, method: str, algorithm: int) -> None:
    references = {1: "mean", 2: "partner", 3: "root"}
    correlated = method == "correlated noise"
    assert noise_for(columns, keep, same_taxonomy=same) == (correlated, references[algorithm])  # type: ignore[arg-type]
