"""Words: the taxonomy that knows them gives their hierarchy."""

from __future__ import annotations

import numpy as np

from keepsense.hierarchies.choice import by_gsl, choose
from keepsense.hierarchies.core import Hierarchy
from keepsense.hierarchies.kinds import KINDS, Kind, Values
from keepsense.hierarchies.words.candidates import candidates
from keepsense.recoding import SUPPRESSED
from keepsense.semantics import distance as make_distance
from keepsense.taxonomy.mapping import map_values

_CONSIDERED = 6
"""Candidates of a hierarchy that are remembered, the chosen one first, for the report."""


def of_words(values: Values) -> Hierarchy:
    """The best of many candidates that the taxonomy gives, by their semantic loss; without one, nothing but the top.

    >>> of_words(Values("job", {"nurse": 2, "clerk": 1})).rows()
    [('nurse', '*'), ('clerk', '*')]
    """
    name, rows, taxonomy = values.name, values.rows, values.taxonomy
    if taxonomy is None:
        return Hierarchy.of_rows([(value, SUPPRESSED) for value in rows], name=name)
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
    # values in no taxonomy stay by themselves up to the top and are not judged
    choice = choose({name: made}, by_gsl(judge, unknown="list"))
    best, at, scores = choice.hierarchies[name], choice.positions[name], choice.scores[name]
    ranking = [at, *(i for i in np.argsort(scores, kind="stable").tolist() if i != at)][:_CONSIDERED]
    considered = tuple((str(made[i].info.get("made", "")), float(scores[i])) for i in ranking)
    return best.with_info(considered=considered, candidates=len(made))


KINDS.add("nominal", Kind("nominal", "words", "jobs, diagnoses, places", build=of_words, words=True))
