"""Words: hierarchies from a taxonomy."""

from __future__ import annotations

import numpy as np

from keepsense.hierarchies.column_kinds import KINDS, Kind, Values
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.hierarchies.hierarchy_candidates import candidates, shortlist
from keepsense.hierarchies.hierarchy_choice import by_gsl, choose
from keepsense.hierarchies.releasable_labels import with_true_labels
from keepsense.recoding import SUPPRESSED
from keepsense.semantics.distance import distance as make_distance
from keepsense.taxonomy.mapper import map_values

_CONSIDERED = 6
"""Candidates of a hierarchy that are remembered, the chosen one first, for the report."""


def of_words(values: Values) -> Hierarchy:
    """The first of the shortlist, or by wish the lowest GSL of many candidates; without a taxonomy only the top.

    >>> of_words(Values("job", {"nurse": 2, "clerk": 1})).rows()
    [('nurse', '*'), ('clerk', '*')]
    """
    return words_shortlist(values, most=1)[0]


def words_shortlist(values: Values, most: int | None = None) -> list[Hierarchy]:
    """Hierarchies of words to choose from, at most so many, the one to take unasked first.

    >>> [tree.height for tree in words_shortlist(Values("job", {"nurse": 2, "clerk": 1}))]
    [1]
    """
    name, rows, taxonomy = values.name, values.rows, values.taxonomy
    if taxonomy is None:
        return [Hierarchy.of_rows([(value, SUPPRESSED) for value in rows], name=name)]
    if values.choose == "gsl":
        return [lowest_gsl(values)]
    senses = map_values(rows, taxonomy, column=name) if values.mapping is None else values.mapping
    judge = make_distance(values.distance, taxonomy)
    return shortlist(
        list(rows),
        judge,
        list(rows.values()),
        senses=senses,
        unknown="list",
        name=name,
        least=values.least,
        most=most,
    )


def lowest_gsl(values: Values) -> Hierarchy:
    """The candidate of the papers with the lowest GSL, before anything is anonymized (APES).

    As a mean over levels the score falls where an informative level is taken out, so that few levels may stay.

    >>> from keepsense.taxonomy.embedded_taxonomies import wordnet
    >>> made = lowest_gsl(Values("job", {"nurse": 2, "clerk": 1, "pilot": 1}, taxonomy=wordnet()))
    >>> len(made.info["considered"])
    6
    """
    name, rows, taxonomy = values.name, values.rows, values.taxonomy
    assert taxonomy is not None
    judge = make_distance(values.distance, taxonomy)
    made = candidates(
        list(rows),
        taxonomy,
        list(rows.values()),
        senses=map_values(rows, taxonomy, column=name) if values.mapping is None else values.mapping,
        distance=judge,
        unknown="list",
        name=name,
        rng=0,  # the same candidates each time, so that a release can be opened again, and reused next month
    )
    made = [tree for tree in made if with_true_labels(tree, taxonomy) is tree]  # a sister may have lent its name
    # values in no taxonomy stay by themselves up to the top and are not judged
    choice = choose({name: made}, by_gsl(judge, unknown="list"))
    best, at, scores = choice.hierarchies[name], choice.positions[name], choice.scores[name]
    ranking = [at, *(i for i in np.argsort(scores, kind="stable").tolist() if i != at)][:_CONSIDERED]
    considered = tuple((str(made[i].info.get("made", "")), float(scores[i])) for i in ranking)
    return best.with_info(considered=considered, candidates=len(made))


KINDS.add(
    "nominal",
    Kind("nominal", "words", "jobs, diagnoses, places", build=of_words, shortlist=words_shortlist, words=True),
)
