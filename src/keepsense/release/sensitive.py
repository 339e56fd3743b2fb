"""What the values of sensitive columns have in common, for promises that are about more than single values."""

from __future__ import annotations

from keepsense.counts import Histogram
from keepsense.errors import BadInput
from keepsense.privacy.concepts import Above, Concepts
from keepsense.project.meaning import Meaning


def concepts_of(meaning: Meaning, name: str, counted: Histogram) -> Above:
    """The concepts above each value of a sensitive column: by its hierarchy where it has one, else by its taxonomy.

    >>> from keepsense.counts import Counts
    >>> from keepsense.project.file import Column
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
