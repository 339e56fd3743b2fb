"""Differentially private generalization (SafePub): true values of a random sample, at levels that ignore the data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value, distinct_rows
from keepsense.errors import BadInput, did_you_mean
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.method import Method, Relation, Shown, registered
from keepsense.methods.method_call import call
from keepsense.methods.method_flowchart import Flowchart
from keepsense.methods.suitability import NO_SETS, Fit, always
from keepsense.methods.task import Task
from keepsense.privacy.dp_promises import ApproximatePrivacy
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import SUPPRESSED, Cells, Recoding
from keepsense.secure_random import generator

NEIGHBOURS = "tables that differ in one record which only one of them has; the number of rows is not told"
_USUAL_CLASS = 74  # smallest_class(1.0, 1e-6), not computed whenever methods are listed; a test compares them
_LARGEST_K = 100_000
_FEW_ROWS = 1_000
"""With fewer rows few classes are large enough to be released."""


def differentially_private_generalization(
    counts: Counts,
    hierarchies: Mapping[str, Hierarchy],
    models: Sequence[Model] = (),
    *,
    levels: dict[str, int],
    epsilon: float | None = None,
    delta: float | None = None,
    rng: np.random.Generator | int | None = None,
) -> Cells:
    """Draw each record with chance beta, generalize to fixed `levels`, leave out classes of fewer than k (SafePub).

    With beta = 1 - e^-epsilon and the smallest k for delta (`smallest_class`) this is (epsilon, delta)-differentially
    private (Li, Qardaji and Su 2012, "On sampling, anonymization, and differential privacy", Theorem 5; Bild, Kuhn and
    Prasser 2018, "SafePub"): whoever knows every record but one cannot tell whether that one is in the table. What is
    released is true. The proof asks that the generalization of a record depends on nothing but the record: levels are
    chosen by the publisher before looking at the data, and hierarchies are given, not built from the values. SafePub's
    search by the exponential mechanism is not done: a guess from public knowledge costs no budget. Use it where
    true records and a promise whatever attackers know are both wanted, and thousands of records are there: with
    epsilon = 1 and delta = 1e-6 a class needs 74 sampled records. Cost: one draw a tuple.

    >>> ages = Hierarchy.of_rows([(age, "young" if age < 40 else "old", "*") for age in range(18, 80)], name="age")
    >>> counts = Counts.of({"age": [20, 35] * 400 + [50]})
    >>> wanted = {"levels": {"age": 1}, "epsilon": 1.0, "delta": 1e-4}
    >>> cells = differentially_private_generalization(counts, {"age": ages}, **wanted, rng=1)
    >>> 400 < cells.apply(counts).rows_of("age")["young"] < 600, cells.apply(counts).rows_of("age")["old"]
    (True, 0)
    """
    promise = next((model for model in models if isinstance(model, ApproximatePrivacy)), None)
    if promise is not None:
        epsilon, delta = (promise.epsilon, promise.delta) if epsilon is None else (epsilon, delta)
    if epsilon is None or delta is None or epsilon <= 0 or not 0 < delta < 1:
        raise BadInput(
            f"this method needs epsilon above 0 and delta between 0 and 1: promise {ApproximatePrivacy.name}"
        )
    share = -math.expm1(-epsilon)
    k = smallest_class(epsilon, delta)
    labels, codes = _generalized(counts, hierarchies, levels)
    drawn = generator(rng).binomial(counts.weights, share)
    _, group = distinct_rows(codes)
    shown = np.bincount(group, drawn)[group] >= k
    kept = np.where(shown, drawn, 0)
    left = counts.weights - kept
    there, gone = np.flatnonzero(kept), np.flatnonzero(left)
    stars = np.array([len(listed) for listed in labels], dtype=np.int32)
    return Cells(
        counts.names,
        tuple((*listed, SUPPRESSED) for listed in labels),
        np.concatenate((there, gone)),
        np.concatenate((codes[there], np.broadcast_to(stars, (len(gone), len(stars))))),
        np.concatenate((kept[there], left[gone])),
        np.repeat([False, True], [len(there), len(gone)]),
        {
            "algorithm": METHOD.name,
            "epsilon": float(epsilon),
            "delta": float(delta),
            "share": share,
            "k": k,
            "levels": dict(levels),
            "neighbours": NEIGHBOURS,
            "rows are secret": True,
        },
    )


def smallest_class(epsilon: float, delta: float, share: float | None = None) -> int:
    """The fewest sampled records a class must have for (epsilon, delta)-differential privacy.

    `share` is the chance of a record to be drawn: 1 - e^-epsilon, the largest that the theorem allows, unless given.

    >>> smallest_class(1.0, 1e-4), smallest_class(1.0, 1e-6)
    (47, 74)
    """
    share = -math.expm1(-epsilon) if share is None else share
    low, high = 1, 2
    while delta_of(high, epsilon, share) > delta:
        low, high = high, 2 * high
        if high > _LARGEST_K:
            raise BadInput(f"no class of up to {_LARGEST_K:,} records keeps delta = {delta:g}; take a larger epsilon")
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if delta_of(middle, epsilon, share) > delta else (low, middle)
    return high


def delta_of(k: int, epsilon: float, share: float) -> float:
    """The delta that classes of at least k sampled records give: the largest of d(n) for n >= k / gamma - 1.

    d(n) is the chance that of n records, each drawn with chance `share`, more than gamma n are, with gamma = (e^epsilon
    - 1 + share) / e^epsilon (Li, Qardaji and Su 2012, Eq. 5 and Theorem 5). Chernoff's bound ends the search: it falls
    with n, and no later d(n) can be above it.

    >>> delta_of(20, 1.0, 0.3) > delta_of(40, 1.0, 0.3)
    True
    """
    from scipy.stats import binom

    if not 0 < share < 1 or epsilon < -math.log1p(-share) * (1 - 1e-12):
        raise BadInput("records must be drawn with a chance above 0 and at most 1 - e^-epsilon")
    gamma = (math.expm1(epsilon) + share) / math.exp(epsilon)
    slope = gamma * math.log(gamma / share) + (1 - gamma) * math.log((1 - gamma) / (1 - share))
    n = max(1, math.ceil(k / gamma - 1))
    largest = 0.0
    while math.exp(-n * slope) > largest:
        block: Floats = np.arange(n, n + 256, dtype=np.float64)
        largest = max(largest, float(binom.sf(np.floor(gamma * block), block, share).max()))
        n += 256
    return largest


def _generalized(
    counts: Counts, hierarchies: Mapping[str, Hierarchy], levels: Mapping[str, int]
) -> tuple[list[tuple[Value, ...]], np.ndarray[Any, np.dtype[np.int32]]]:
    """Each tuple at the levels that were declared: a function of the tuple, and of nothing else."""
    for name in levels:
        if name not in counts.names:
            raise BadInput(f"levels name the column {name!r}, which is none.{did_you_mean(name, counts.names)}")
    labels: list[tuple[Value, ...]] = []
    columns = []
    for name in counts.names:
        tree, level = hierarchies[name], levels.get(name)
        if level is None:
            raise BadInput(f"say to which level {name!r} is generalized, such as levels = {{ {name} = 1 }}")
        tree.check_level(level)
        labels.append(tree.labels[level])
        columns.append(tree.codes[tree.lookup(counts.values_of(name)), level][counts.column(name)])
    return labels, np.ascontiguousarray(np.stack(columns, axis=1).astype(np.int32))


def _by_given_hierarchies(
    method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None
) -> list[Recoding]:
    """Call it with hierarchies from files alone; refuse everything in which the table would have a say."""
    if task.person is not None:
        raise BadInput(
            f"column {task.person!r} tells whose rows are whose, but each record is drawn by itself here; join the "
            "rows of a person into one record first"
        )
    if "levels" not in parameters:
        raise BadInput(
            "levels chosen by looking at the table would tell about it: declare them in [method.parameters], such as "
            "levels = { age = 2, job = 1 }"
        )
    for name in task.quasi_identifiers:
        if task.column(name).hierarchy in (None, "auto"):
            raise BadInput(
                f"column {name!r}: a hierarchy built from the values of the table would tell about them; name a "
                "hierarchy file of all values that are possible"
            )
    counts = task.count(task.quasi_identifiers)
    cells: Cells = call(method.function, parameters, counts, task.hierarchies, task.models, rng=task.rng)
    return [cells.bound(counts)]


def _kept(task: Task, rules: Sequence[Recoding]) -> tuple[str, ...]:
    """Whether a recoding's share and smallest class give what is promised, worked out again from them."""
    promises = [model for model in task.models if isinstance(model, ApproximatePrivacy)]
    if not promises or len(rules) != 1 or set(rules[0].names) != set(task.released):
        return ()
    told: Mapping[str, Any] = rules[0].info
    share, k = float(told.get("share", 1.0)), int(told.get("k", 0))
    for promise in promises:
        if not 0 < share < 1 or k < 1 or promise.epsilon * (1 + 1e-12) < -math.log1p(-share):
            return ()
        if delta_of(k, promise.epsilon, share) > promise.delta * (1 + 1e-9):
            return ()
    return (ApproximatePrivacy.name,)


METHOD = registered(
    Method(
        name="differentially private generalization",
        title="Differentially private generalization (SafePub)",
        function=differentially_private_generalization,
        runner=_by_given_hierarchies,
        aliases=("safepub",),
        place=9,
        short="true values of a random sample",
        intent="Release true, generalized records of a random sample, without classes that are too small.",
        use=("true records and a promise whatever attackers know are both wanted", "the table has many thousand rows"),
        avoid=("rare combinations matter: their classes are left out", "the table is small"),
        inputs=(
            "columns with hierarchy files",
            "a level for each, chosen before looking at the data",
            "epsilon, delta",
        ),
        guarantee="(epsilon, delta)-differential privacy, whatever an attacker knows.",
        cost="One draw a tuple.",
        paper="Li, Qardaji and Su 2012; Bild, Kuhn and Prasser 2018.",
        example="Of 100,000 records 63,000 are drawn and generalized; classes of fewer than 74 are left out.",
        truthful=True,
        unweighed="levels are declared, and nothing is chosen by the loss of columns",
        promises=(ApproximatePrivacy.name,),
        keeps=_kept,
        needs=("levels",),
        steps=Flowchart.line(
            "The table, hierarchy files, levels, epsilon and delta",
            "Work out beta and k from epsilon and delta",
            "Draw each record with chance beta",
            "Generalize what was drawn to the levels",
            "Leave out classes of fewer than k records",
            end="True records that hardly depend on any one person",
        ),
        conflicts=(Relation("sampling", "a sample before it would change what epsilon and delta mean"),),
        fit=Fit(
            points=4.0,
            reason="true records, and a promise whatever attackers know",
            unfit=(
                NO_SETS,
                (
                    lambda s: s.rows is not None and s.rows < _FEW_ROWS,
                    f"of so few rows hardly a class has the {_USUAL_CLASS} that it must have",
                ),
            ),
            cautions=(
                (always, "Declare a level for each column, and name hierarchy files, before looking at the table."),
                (always, "A random sample is released, without classes that are too small: tell analysts its share."),
            ),
            start=lambda _: {"levels": {"...": 1}},
        ),
        shown=Shown(why_not="what it leaves out depends on thousands of records, and a lesson has a few"),
    )
)
