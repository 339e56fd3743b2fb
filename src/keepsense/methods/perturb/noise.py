"""Semantic noise: every value is replaced by a concept as far away as a random error says (uncorrelated)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.perturb.records import cells_of, records_of
from keepsense.methods.perturb.replace import Replaced, check_same_domain, replace_by_partner, replace_by_reference
from keepsense.methods.perturb.swap import Random
from keepsense.progress import Listener, emit, wants_steps
from keepsense.random import generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal, check_same_rows
from keepsense.semantics.mean import Mean, semantic_mean
from keepsense.semantics.variance import semantic_variance

Reference = Literal["mean", "partner", "root"]
Shape = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
"""Draws an array of errors of mean 0 and variance 1."""
Distribution = Literal["normal", "laplace"] | Shape


def add_noise(
    counts: Counts,
    attributes: Sequence[Nominal],
    alpha: float,
    *,
    reference: Reference = "mean",
    pairs: Sequence[tuple[str, str]] | None = None,
    distribution: Distribution = "normal",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Add uncorrelated semantic noise to columns of words (Rodríguez-García 2017, Sec. 6.3).

    A record's error is drawn with mean 0 and variance alpha times the column's semantic variance. Its value becomes the
    concept of the domain nearest to it among those at least as far as the error (Eq. 6.2). The sign says on which side:
    positive is farther from the reference than the value is, negative nearer. `mean` takes the semantic mean (SNA-1, it
    keeps the mean best), `root` the taxonomy's root (SNA-3), `partner` the record's value in a second column of the
    same domain (SNA-2; `pairs` of columns, else taken two by two). Equally near concepts are drawn uniformly. Where no
    concept is far enough the farthest on its side is taken, where none is on its side the sign is dropped; `info`
    counts both. Noise of its own for each column: their association suffers, see `add_correlated_noise`.

    This is masking, not differential privacy: the amount of noise depends on the data and nothing is promised about
    single persons. O(distinct values x concepts log concepts + rows log concepts).

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog"), ("fox", "dog")])
    >>> counts = Counts.of({"pet": ["pug", "lab", "lab", "cat"] * 5})
    >>> cells = add_noise(counts, [Nominal.of(counts, "pet", distance("wu-palmer", pets))], 0.5, rng=1)
    >>> cells.check(counts); cells.info["alpha"]
    0.5
    """
    check_noise(counts, attributes, alpha)
    rng = generator(rng)
    means = [semantic_mean(a, over="domain") for a in attributes]
    variances = [semantic_variance(a, mean) for a, mean in zip(attributes, means, strict=True)]
    errors = unit_errors(distribution, rng, counts.total, len(attributes))
    errors *= np.sqrt(alpha * np.array(variances))
    info = {"method": "semantic noise, uncorrelated", "alpha": float(alpha)}
    return apply_noise(counts, attributes, errors, reference, pairs, means, info, rng, listener)


def check_noise(counts: Counts, attributes: Sequence[Nominal], alpha: float) -> None:
    """Refuse an alpha that is no positive number, a column given twice, of one value, or known only by a matrix."""
    if not attributes:
        raise BadInput("no column was given to add noise to; name at least one")
    if len({a.name for a in attributes}) != len(attributes):
        raise BadInput("a column is given twice")
    if not isinstance(alpha, int | float | np.number) or not np.isfinite(alpha) or alpha <= 0:
        raise BadInput(f"alpha = {alpha!r}: the amount of noise must be a number above 0, usually 0.1 to 0.5")
    check_same_rows(counts, attributes)
    for attribute in attributes:
        attribute.bound()
        if int((attribute.weights > 0).sum()) < 2:
            raise BadInput(
                f"column {attribute.name!r} holds one value only: its variance is 0, so no noise can be made"
            )


def unit_errors(distribution: Distribution, rng: np.random.Generator, rows: int, columns: int) -> Floats:
    """Independent errors of mean 0 and variance 1.

    >>> import numpy as np
    >>> unit_errors("laplace", np.random.default_rng(1), 3, 2).shape
    (3, 2)
    """
    if distribution == "normal":
        return rng.standard_normal((rows, columns))
    if distribution == "laplace":
        return rng.laplace(0.0, np.sqrt(0.5), (rows, columns))
    if not callable(distribution):
        raise BadInput(
            f"distribution = {distribution!r}: it must be 'normal', 'laplace' or a function (rng, shape) that draws "
            "errors of mean 0 and variance 1"
        )
    drawn = np.array(distribution(rng, (rows, columns)), dtype=np.float64)
    if drawn.shape != (rows, columns) or not np.isfinite(drawn).all():
        raise BadInput(f"the noise distribution must return {rows} x {columns} finite numbers")
    return drawn


def apply_noise(
    counts: Counts,
    attributes: Sequence[Nominal],
    errors: Floats,
    reference: Reference,
    pairs: Sequence[tuple[str, str]] | None,
    means: Sequence[Mean],
    info: dict[str, Any],
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    """Turn errors, one row per record and one column per attribute, into cells by the chosen reference."""
    source = records_of(counts)
    codes = [counts.column(a.name)[source] for a in attributes]
    beside = _partners(attributes, pairs) if reference == "partner" else {}
    columns: list[Replaced] = []
    for j, attribute in enumerate(attributes):
        if reference == "partner":
            other = beside[j]
            found = replace_by_partner(
                attribute, attributes[other], codes[j], codes[other], errors[:, j], rng=rng, listener=listener
            )
        elif reference in ("mean", "root"):
            at_mean = reference == "mean"
            concept = means[j].concept if at_mean else attribute.bound()[0].taxonomy.root
            found = replace_by_reference(
                attribute, codes[j], errors[:, j], concept, free_at_reference=at_mean, rng=rng, listener=listener
            )
        else:
            raise BadInput(f"reference = {reference!r}: it must be 'mean', 'partner' or 'root'")
        columns.append(found)
        if wants_steps(listener):
            values, codes_now = np.unique(found.concepts, return_inverse=True)
            emit(listener, "moved", j + 1, len(attributes), column=attribute.name, source=source, errors=errors[:, j],
                 values=attribute.spell(values), codes=codes_now, reference=reference, mean=means[j].label,
                 **_moves(attribute, codes[j], found.concepts, reference, means[j]))  # fmt: skip
    names = [a.name for a in attributes]
    info = {
        **info,
        "reference": reference,
        "means": {name: mean.label for name, mean in zip(names, means, strict=True)},
        "target_rmse": {name: float(np.sqrt(np.mean(errors[:, j] ** 2))) for j, name in enumerate(names)},
        "not_far_enough": {name: found.short for name, found in zip(names, columns, strict=True)},
        "sign_dropped": {name: found.unsided for name, found in zip(names, columns, strict=True)},
    }
    return concept_cells(counts, attributes, source, [found.concepts for found in columns], info)


def _moves(
    attribute: Nominal, codes: Ints, concepts: Ints, reference: Reference, mean: Mean
) -> dict[str, list[float] | None]:
    """How far each record moved, and by how much farther from the reference; for partners that is not told."""
    measure, own = attribute.bound()
    pairs = list(zip(own[codes].tolist(), concepts.tolist(), strict=True))
    distances = [float(measure.pair(before, after)) for before, after in pairs]
    if reference == "partner":
        return {"distances": distances, "farther": None}
    fixed = int(mean.concept if reference == "mean" else measure.taxonomy.root)
    farther = [float(measure.pair(after, fixed)) - float(measure.pair(before, fixed)) for before, after in pairs]
    return {"distances": distances, "farther": farther}


def concept_cells(
    counts: Counts, attributes: Sequence[Nominal], source: Ints, concepts: Sequence[Ints], info: dict[str, Any]
) -> Cells:
    """Cells from the concept each record gets in each column, spelled as the column spells its own."""
    values, codes, same = [], [], []
    for attribute, found in zip(attributes, concepts, strict=True):
        distinct, code = np.unique(found, return_inverse=True)
        values.append(attribute.spell(distinct))
        codes.append(code.astype(np.int32))
        same.append(attribute.bound()[1][counts.column(attribute.name)[source]] == found)
    names = tuple(a.name for a in attributes)
    facts = {
        "unchanged": {name: int(kept.sum()) for name, kept in zip(names, same, strict=True)},
        "unchanged_rows": int(np.logical_and.reduce(same).sum()),
        **info,
    }
    return cells_of(names, values, source, codes, facts)


def _partners(attributes: Sequence[Nominal], pairs: Sequence[tuple[str, str]] | None) -> dict[int, int]:
    """Which column is measured against which; every column in exactly one pair of one domain."""
    names = [a.name for a in attributes]
    if pairs is None:
        pairs = list(zip(names[::2], names[1::2], strict=False))
    flat = [name for pair in pairs for name in pair]
    if sorted(flat) != sorted(names):
        raise BadInput(
            f"a partner as reference needs disjoint pairs that hold every column once; the columns are "
            f"{', '.join(names)}, the pairs {', '.join(f'{a}-{b}' for a, b in pairs) or 'none'}"
        )
    beside = {}
    for one, other in pairs:
        i, j = names.index(one), names.index(other)
        check_same_domain(attributes[i], attributes[j])
        beside[i], beside[j] = j, i
    return beside
