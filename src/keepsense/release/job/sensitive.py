"""Concepts above the values of sensitive columns, for promises about more than single values."""

from __future__ import annotations

from collections.abc import Mapping

from keepsense.counts import Histogram, Value
from keepsense.errors import BadInput
from keepsense.privacy.earth_movers_distance import Tree
from keepsense.privacy.reference_distributions import Above, Concepts
from keepsense.project.column_meaning import Meaning


def tree_of(meaning: Meaning, name: str, rows: Mapping[Value, int]) -> Tree:
    """The ground distance that the hierarchy of a sensitive column gives its values.

    >>> from keepsense.hierarchies.hierarchy import Hierarchy
    >>> from keepsense.project.project_file import Column
    >>> from keepsense.project.column_meaning import Given
    >>> ills = Hierarchy.of_rows([("flu", "lung", "*"), ("ulcer", "gut", "*")])
    >>> tree_of(Meaning({"ill": Column()}, given=Given(hierarchies={"ill": ills})), "ill", {"flu": 1}).name
    'hierarchical'
    """
    if name not in meaning.given.hierarchies and meaning.column(name).hierarchy is None:
        raise BadInput(
            f"t-closeness of {name!r} goes by its hierarchy, and the project file names none; add one to the column "
            f'(hierarchy = "file.csv", or "auto" where a taxonomy knows its words), or choose another ground'
        )
    return Tree(meaning.hierarchy(name, rows))


def concepts_of(meaning: Meaning, name: str, counted: Histogram) -> Above:
    """The concepts above each value of a sensitive column: by its hierarchy where it has one, else by its taxonomy.

    >>> from keepsense.counts import Counts
    >>> from keepsense.project.project_file import Column
    >>> seen = Counts.of({"age": [30, 40]}, histograms={"job": ["nurse", "surgeon"]}).histograms["job"]
    >>> words = Meaning({"job": Column(role="sensitive", taxonomy="wordnet", domain="person")})
    >>> above = concepts_of(words, "job", seen)
    >>> len(above["nurse"]) > 2, bool(set(above["nurse"]) & set(above["surgeon"]))
    (True, True)
    """
    column = meaning.column(name)
    rows = dict(zip(counted.values, counted.total().tolist(), strict=True))
    if name in meaning.given.hierarchies or column.hierarchy not in (None, "auto"):
        return Concepts.of_hierarchy(meaning.hierarchy(name, rows)).above
    if column.taxonomy is None and name not in meaning.given.taxonomies:
        raise BadInput(
            f"a promise is about the concepts above the values of {name!r}, and the project file does not say what "
            f'these mean; add a taxonomy to the column (taxonomy = "wordnet"), or a hierarchy'
        )
    return Concepts.of_taxonomy(meaning.taxonomy(name), meaning.mapping(name, rows).concepts).above
