"""All general-purpose measures of one recoding at once, for reports and comparisons."""

from __future__ import annotations

from keepsense.counts import Counts
from keepsense.recoding import Cuts
from keepsense.utility.basis import Generalized, Hierarchies
from keepsense.utility.classes import class_size_of, discernibility_of, released_classes
from keepsense.utility.entropy import non_uniform_entropy
from keepsense.utility.loss import column_losses, height, mean_of
from keepsense.utility.semantic import Matrices, semantic_loss, semantic_sse


def summarize(
    counts: Counts, recoding: Generalized, hierarchies: Hierarchies, *, distances: Matrices | None = None
) -> dict[str, float]:
    """Measures by name: those of the hierarchies, of the classes and, with `distances`, of meaning.

    Names are the ones searches know their objectives by. `precision` is Sweeney's (1 is best); for all others less is
    better, apart from `classes` and `suppressed records`, which only inform. The height is there where each column has
    one level.

    >>> from keepsense.hierarchies import Hierarchy
    >>> jobs = Hierarchy.of_rows([("nurse", "medic", "*"), ("surgeon", "medic", "*")], name="job")
    >>> found = summarize(Counts.of({"job": ["nurse", "surgeon"]}), Cuts((jobs.cut(1),)), {"job": jobs})
    >>> found["loss"], found["average class size"], found["height"]
    (1.0, 2.0, 1.0)
    """
    classes = released_classes(counts, recoding)
    losses = column_losses(counts, recoding, hierarchies, "loss")
    found = {
        "loss": mean_of(losses),
        "geometric loss": mean_of(losses, mean="geometric"),
        "ncp": mean_of(column_losses(counts, recoding, hierarchies, "ncp")),
        "geniloss": mean_of(column_losses(counts, recoding, hierarchies, "geniloss")),
        "precision": 1.0 - mean_of(column_losses(counts, recoding, hierarchies, "precision")),
        "non-uniform entropy": non_uniform_entropy(counts, recoding, hierarchies),
        "discernibility": float(discernibility_of(classes)),
        "average class size": class_size_of(classes),
        "classes": float(len(classes.sizes)),
        "suppressed records": float(classes.suppressed),
    }
    if isinstance(recoding, Cuts) and all(level is not None for level in recoding.levels):
        found["height"] = float(height(recoding))
    if distances is not None:
        found["semantic loss"] = semantic_loss(counts, recoding, distances)
        found["semantic sse"] = semantic_sse(counts, recoding, distances)
    return found
