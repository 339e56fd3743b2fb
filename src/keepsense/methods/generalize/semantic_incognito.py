"""Semantic Incognito: of all generalizations that hold, the one that changes the meaning least."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.incognito import METHOD as INCOGNITO
from keepsense.methods.generalize.incognito import incognito
from keepsense.methods.generalize.objective import semantic_tables
from keepsense.methods.method import Method, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import MANY_SUBSETS, NO_WORDS, Fit
from keepsense.methods.task import Importance
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts
from keepsense.semantics.distance import Distance


def semantic_incognito(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    distances: Mapping[str, Distance],
    k: int | None = None,
    squared: bool = False,
    suppression: float = 0.0,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Run Incognito and choose by the semantic distance between original and released values.

    LeFevre et al. 2005 leave the choice among the safe generalizations to a metric; this takes the semantic loss of
    Ayala-Rivera et al. 2017 (Eq. 11), or with `squared` the semantic SSE (Eq. 12). `distances` gives each column of
    words its distance; columns without one count by their share of leaves. `importance` says how much each column
    counts. Use it where columns hold words whose meaning matters more than the number of values a label stands for. It
    costs what `incognito` costs, and a pass over the distinct tuples for every node whose suppressed records must be
    weighed.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pet", "animal"), ("cow", "animal")])
    >>> rows = [("cat", "pet", "animal"), ("dog", "pet", "animal"), ("cow", "cow", "animal")]
    >>> counts = Counts.of({"likes": ["cat", "dog", "cow", "cow"]})
    >>> likes = {"likes": Hierarchy.of_rows(rows, name="likes")}
    >>> found = semantic_incognito(counts, likes, k=2, distances={"likes": distance("path", pets)})
    >>> found.levels, found.info["metric"]
    ((1,), 'semantic loss')
    """
    metric = semantic_tables({name: hierarchies[name] for name in counts.names if name in hierarchies}, distances,
                              squared=squared)  # fmt: skip
    return incognito(counts, hierarchies, models, k=k, metric=metric, suppression=suppression, importance=importance,
                     listener=listener)  # fmt: skip


METHOD = registered(
    Method(
        name="semantic incognito",
        title="Semantic Incognito",
        function=semantic_incognito,
        runner=by_hierarchies,
        family="lattice recoding",
        place=3,
        short="of all safe choices the one closest in meaning",
        intent="Of all safe choices of levels take the one that changes the meaning of the words least.",
        use=("columns hold words, their meaning matters, and one level a column is wanted",),
        inputs=("columns, hierarchies with concepts, and k", "a semantic distance for each column of words"),
        guarantee="As Incognito.",
        cost="As Incognito, and the distances between values and their ancestors.",
        paper="Ayala-Rivera et al. 2017 (Sec. 4), on LeFevre et al. 2005.",
        example="Two choices are safe; the one that keeps surgeons among medics wins over the one that keeps ages.",
        truthful=True,
        classes="all",
        climbs=True,
        whole_values=True,
        needs=("distances",),
        fillings={
            **INCOGNITO.fillings,
            "metric": Filling("semantic_tables", "the safe choice that changes meaning least"),
        },
        fit=Fit(
            points=3.0,
            reason="of all safe choices of levels the one closest in meaning",
            unfit=(NO_WORDS, MANY_SUBSETS),
        ),
    )
)
