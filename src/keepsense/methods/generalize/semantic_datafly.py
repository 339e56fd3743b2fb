"""Semantic Datafly: raise the column with the lowest loss of meaning at its next level (Ayala-Rivera et al. 2017, Sec.
4).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from keepsense.counts import Counts
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.datafly import METHOD as DATAFLY
from keepsense.methods.generalize.datafly import datafly
from keepsense.methods.generalize.objective import semantic_tables
from keepsense.methods.generalize.table_template import Anonymity, least_loss
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_call import by_hierarchies
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.suitability import NO_WORDS, Fit
from keepsense.methods.task import Importance
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cuts
from keepsense.semantics.distance import Distance


def semantic_datafly(  # noqa: PLR0913
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    k: int | None = None,
    distances: Mapping[str, Distance],
    suppression: float | None = None,
    anonymity: Anonymity | None = None,
    importance: Importance | None = None,
    listener: Listener | None = None,
) -> Cuts:
    """Datafly, but the column goes first whose values lose least meaning on the way to their next level.

    `distances` gives the semantic distance of each column of words; the others lose the share of leaves, or of the
    range, that a value covers. With `anonymity="at risk"` the meaning lost is set against the records that the step
    brings into safe classes. `importance` says how much the loss of each column counts. Otherwise as `datafly`. Use it
    when columns hold words and their meaning matters. Cost: Datafly's, and a distance matrix of leaves x ancestors a
    column.

    >>> from keepsense.hierarchies.word_concepts import base_hierarchy
    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet")])
    >>> trees = {"pet": base_hierarchy(["cat", "dog"], pets).named("pet")}
    >>> counts = Counts.of({"pet": ["cat", "dog", "dog"]})
    >>> semantic_datafly(counts, trees, k=2, distances={"pet": distance("path", pets)}, suppression=0).levels
    (1,)
    """
    for name in distances:
        if name not in counts.names:
            raise BadInput(f"a distance is given for {name!r}, no quasi-identifier.{did_you_mean(name, counts.names)}")
    mine = {name: hierarchies[name] for name in counts.names if name in hierarchies}
    return datafly(
        counts,
        hierarchies,
        models,
        k=k,
        suppression=suppression,
        metric=least_loss(semantic_tables(mine, distances), anonymity=anonymity),
        method="semantic Datafly",
        scored="minus the meaning lost",
        importance=importance,
        listener=listener,
    )


METHOD = registered(
    Method(
        name="semantic datafly",
        title="Semantic Datafly",
        function=semantic_datafly,
        runner=by_hierarchies,
        family="table recoding",
        place=5,
        short="raise the column that loses least meaning",
        intent="Like Datafly, but the column goes first whose next level changes the meaning of its words least.",
        use=("columns hold words, their meaning matters, and a simple rule for all months is wanted",),
        avoid=("columns have no taxonomy: there is no meaning to compare",),
        inputs=("columns, hierarchies with concepts, and k", "a semantic distance for each column of words"),
        guarantee="As Datafly.",
        cost="As Datafly, and the distances between values and their ancestors.",
        paper="Ayala-Rivera et al. 2017 (Sec. 4), on Sweeney 2002.",
        example="Surgeon to medic loses less meaning than Kyiv to Europe, so jobs are raised first.",
        truthful=True,
        classes="all",
        whole_values=True,
        needs=("distances",),
        fillings={**DATAFLY.fillings, "metric": Filling("least_loss", "the meaning it loses, least first")},
        fit=Fit(points=2.2, reason="quick, and the column that loses least meaning goes first", unfit=(NO_WORDS,)),
        shown=Shown(settings={"suppression": None}),
    )
)
