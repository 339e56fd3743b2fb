"""Semantic noise on sets: every word of every set is moved, as noise on words moves a single one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.perturb.noise_on_words import (
    ALONE,
    NO_PROMISE,
    NOISE,
    NOISE_INPUTS,
    REFERENCE,
    Distribution,
    check_noise,
    replace_by_reference,
    unit_errors,
)
from keepsense.methods.records import cells_of, join, records_of
from keepsense.methods.suitability import Fit, always
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.semantic_operators import semantic_mean, semantic_variance
from keepsense.sets.set_distance import Sets


def noise_on_sets(
    counts: Counts,
    columns: Sequence[Sets],
    models: Sequence[Model] = (),
    *,
    alpha: float = NOISE,
    reference: Literal["mean", "root"] = "mean",
    distribution: Distribution = "normal",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Add semantic noise to every word of every set, as `noise` does to single words (SNA-1, SNA-3).

    Mean and variance are those of all words in all sets of a column. Words that become equal fall together, so a set
    may shrink; `info["shrunk"]` counts the rows it happens to. Nothing is promised: `models` are not looked at.

    >>> from keepsense.semantics.distance import distance
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> counts = Counts.of({"pets": [("cat", "dog"), ("pug",), ("lab", "cat")]})
    >>> cells = noise_on_sets(counts, [Sets.of(counts, "pets", distance("wu-palmer", pets))], alpha=0.3, rng=1)
    >>> cells.check(counts)
    """
    rng = generator(rng)
    parts = [_noisy(counts, column, alpha, reference, distribution, rng, listener) for column in columns]
    return parts[0] if len(parts) == 1 else join(counts, parts, rng=rng)


def _noisy(
    counts: Counts,
    column: Sets,
    alpha: float,
    reference: Literal["mean", "root"],
    distribution: Distribution,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    nominal = column.items
    alone = np.arange(len(nominal.values), dtype=np.int32)[:, None]
    own = Counts((column.name,), (nominal.values,), alone, nominal.weights)
    check_noise(own, [nominal], alpha)
    if reference not in ("mean", "root"):
        raise BadInput(f"reference = {reference!r}: sets take 'mean' or 'root'")
    mean = semantic_mean(nominal, over="domain")
    source = records_of(counts)
    sets = counts.column(column.name)[source]
    sizes = column.rows.sizes[sets]
    codes = column.rows.gather(sets)
    scale = np.sqrt(alpha * semantic_variance(nominal, mean))
    errors = unit_errors(distribution, rng, len(codes), 1)[:, 0] * scale
    centre = mean.concept if reference == "mean" else nominal.bound()[0].taxonomy.root
    found = replace_by_reference(
        nominal, codes, errors, centre, free_at_reference=reference == "mean", rng=rng, listener=listener
    )
    owner = np.repeat(np.arange(len(source)), sizes)
    table = np.unique(np.stack([owner, found.concepts], axis=1), axis=0)
    distinct, item = np.unique(table[:, 1], return_inverse=True)
    spelled = nominal.spell(distinct)
    starts = np.searchsorted(table[:, 0], np.arange(len(source) + 1))
    place: dict[Value, int] = {}
    out = np.empty(len(source), dtype=np.int32)
    for i in range(len(source)):
        words = column.write([spelled[c] for c in item[starts[i] : starts[i + 1]].tolist()])
        out[i] = place.setdefault(words, len(place))
    info: dict[str, Any] = {
        "method": "semantic noise on sets",
        "alpha": float(alpha),
        "reference": reference,
        "target_rmse": {column.name: float(np.sqrt(np.mean(errors**2))) if len(errors) else 0.0},
        "not_far_enough": {column.name: found.short},
        "sign_dropped": {column.name: found.unsided},
        "shrunk": {column.name: int((np.diff(starts) < sizes).sum())},
    }
    return cells_of([column.name], [tuple(place)], source, [out], info)


METHOD = registered(
    Method(
        name="noise on sets",
        title="Semantic noise on sets",
        function=noise_on_sets,
        family="noise addition",
        place=4,
        short="every word of every set",
        intent="Move every word of every set by a random amount in meaning; words that become equal fall together.",
        use=("a column holds several words a cell, and what the sets are about matters more than single ones",),
        avoid=("a promise is needed", "the number of items in a set matters: sets may shrink"),
        inputs=NOISE_INPUTS,
        guarantee=NO_PROMISE,
        cost="As uncorrelated noise, over the words of all sets.",
        paper="Rodríguez-García 2017, Sec. 6.3, applied to each word of a set.",
        example="{influenza, asthma} becomes {bronchitis, asthma}.",
        truthful=False,
        unweighed="it changes one column of sets",
        sets="only",
        gaps="filled",
        fillings={"variation": ALONE, "reference": REFERENCE},
        fit=Fit(unfit=((always, 'it is part of "noise", which takes sets along'),)),
        shown=Shown(why_not="it moves every item of a set as noise moves single words"),
    )
)
