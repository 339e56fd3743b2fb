"""Semantic noise on words: every value is replaced by a concept as far away as a random error says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats, Ints
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.perturb.replace import (
    Among,
    Replaced,
    Ties,
    check_same_domain,
    replace_by_partner,
    replace_by_reference,
)
from keepsense.methods.records import cells_of, records_of
from keepsense.progress import Listener, emit, wants_steps
from keepsense.random import Random, generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal, Ordered, check_same_rows
from keepsense.semantics.correlation import covariance_matrix
from keepsense.semantics.mean import Mean, semantic_mean
from keepsense.semantics.variance import semantic_variance

Reference = Literal["mean", "partner", "root"]
Shape = Callable[[np.random.Generator, tuple[int, int]], NDArray[np.float64]]
"""Draws an array of errors of mean 0 and variance 1."""
Distribution = Literal["normal", "laplace"] | Shape
NOISE = 0.2
"""Share of a column's variance that noise has unless another is given."""


def noise_on_words(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[Nominal],
    alpha: float,
    *,
    correlated: bool = False,
    reference: Reference = "mean",
    pairs: Sequence[tuple[str, str]] | None = None,
    distribution: Distribution = "normal",
    ties: Ties = "random",
    among: Among = "all",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Semantic noise on columns of words: what `noise` and `correlated_noise` do to them.

    A covariance matrix of more than two columns that is not positive semidefinite is replaced by the nearest that is,
    and `info["covariance_mended"]` says so.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = distance("wu-palmer", from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")]))
    >>> counts = Counts.of({"first": ["pug", "lab", "cat"] * 5, "second": ["lab", "lab", "cat"] * 5})
    >>> columns = [Nominal.of(counts, name, pets) for name in ("first", "second")]
    >>> noise_on_words(counts, columns, 0.3, correlated=True, reference="partner", rng=1).info["covariance_mended"]
    False
    """
    check_noise(counts, columns, alpha)
    rng = generator(rng)
    means = [semantic_mean(column, over="domain") for column in columns]
    info: dict[str, Any] = {"method": "semantic noise, uncorrelated", "alpha": float(alpha)}
    if correlated:
        if len(columns) < 2:
            raise BadInput("correlated noise needs at least two columns; use plain noise for one")
        covariance, mended = covariance_matrix(counts, columns)
        errors = correlated_errors(distribution, rng, counts.total, alpha * covariance)
        together = {"covariance": covariance.tolist(), "covariance_mended": mended}
        info |= {"method": "semantic noise, correlated", **together}
    else:
        variances = [semantic_variance(column, mean) for column, mean in zip(columns, means, strict=True)]
        errors = unit_errors(distribution, rng, counts.total, len(columns))
        errors *= np.sqrt(alpha * np.array(variances))
    chosen = Chosen(reference, pairs, ties, among)
    source = records_of(counts)
    concepts, facts = moved_words(counts, columns, errors, means, chosen, rng=rng, listener=listener)
    facts |= moments(counts, columns, concepts, means, alpha)
    return concept_cells(counts, columns, source, concepts, {**facts, **info})


def check_noise(counts: Counts, attributes: Sequence[Nominal] | Sequence[Ordered], alpha: float) -> None:
    """Refuse an alpha that is no positive number, a column given twice, of one value, or known only by a matrix."""
    if not attributes:
        raise BadInput("no column was given to add noise to; name at least one")
    if len({a.name for a in attributes}) != len(attributes):
        raise BadInput("a column is given twice")
    if not isinstance(alpha, int | float | np.number) or not np.isfinite(alpha) or alpha <= 0:
        raise BadInput(f"alpha = {alpha!r}: the amount of noise must be a number above 0, usually 0.1 to 0.5")
    check_same_rows(counts, attributes)
    for attribute in attributes:
        if isinstance(attribute, Nominal):
            attribute.bound()
            if attribute.own_taxonomy:
                raise BadInput(
                    f"column {attribute.name!r}: its taxonomy was cut down to what the column holds, and noise would "
                    'stay within it; make the column with over="domain", from the whole taxonomy'
                )
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


def correlated_errors(distribution: Distribution, rng: np.random.Generator, rows: int, covariance: Floats) -> Floats:
    """Errors of mean 0 with the given covariance matrix, one row per record.

    Laplace errors are those of the symmetric multivariate Laplace distribution: a normal vector times the root of one
    exponential number, so that each column is Laplace distributed and the covariance is as asked. A function draws
    independent columns, which are then mixed.

    >>> import numpy as np
    >>> drawn = correlated_errors("normal", np.random.default_rng(1), 4000, np.array([[1.0, 0.8], [0.8, 1.0]]))
    >>> bool(abs(np.corrcoef(drawn.T)[0, 1] - 0.8) < 0.05)
    True
    """
    values, vectors = np.linalg.eigh(covariance)
    mix: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    plain = "normal" if distribution == "laplace" else distribution
    drawn: Floats = unit_errors(plain, rng, rows, len(covariance)) @ mix.T
    if distribution == "laplace":
        drawn *= np.sqrt(rng.exponential(1.0, (rows, 1)))
    return drawn


@dataclass(frozen=True)
class Chosen:
    """Which side of what an error points to, and what is taken among concepts equally far.

    >>> Chosen("root").ties
    'random'
    """

    reference: Reference = "mean"
    pairs: Sequence[tuple[str, str]] | None = None
    ties: Ties = "random"
    among: Among = "all"

    def __post_init__(self) -> None:
        for name, choices in (("reference", Reference), ("ties", Ties), ("among", Among)):
            if getattr(self, name) not in get_args(choices):
                *others, last = map(repr, get_args(choices))
                raise BadInput(f"{name} = {getattr(self, name)!r}: it must be {', '.join(others)} or {last}")
        if self.reference == "partner" and (self.ties, self.among) != ("random", "all"):
            raise BadInput(
                "with a partner as reference, ties are drawn at random among all concepts; leave out ties and among, "
                "or choose the reference mean or root"
            )


def moved_words(
    counts: Counts,
    attributes: Sequence[Nominal],
    errors: Floats,
    means: Sequence[Mean],
    chosen: Chosen,
    *,
    rng: np.random.Generator,
    listener: Listener | None,
) -> tuple[list[Ints], dict[str, Any]]:
    """The concept each record gets in each column for its errors (a row a record), and what there is to tell."""
    source, reference = records_of(counts), chosen.reference
    codes = [counts.column(a.name)[source] for a in attributes]
    beside = _partners(attributes, chosen.pairs) if reference == "partner" else {}
    columns: list[Replaced] = []
    for j, attribute in enumerate(attributes):
        if reference == "partner":
            other = beside[j]
            replaced = replace_by_partner(
                attribute, attributes[other], codes[j], codes[other], errors[:, j], rng=rng, listener=listener
            )
        else:
            at_mean = reference == "mean"
            concept = means[j].concept if at_mean else attribute.bound()[0].taxonomy.root
            replaced = replace_by_reference(
                attribute, codes[j], errors[:, j], concept, free_at_reference=at_mean, rng=rng, ties=chosen.ties,
                among=chosen.among, listener=listener,
            )  # fmt: skip
        columns.append(replaced)
        if wants_steps(listener):
            values, codes_now = np.unique(replaced.concepts, return_inverse=True)
            emit(listener, "moved", j + 1, len(attributes), column=attribute.name, source=source, errors=errors[:, j],
                 values=attribute.spell(values), codes=codes_now, reference=reference, mean=means[j].label,
                 **_moves(attribute, codes[j], replaced.concepts, reference, means[j]))  # fmt: skip
    names = [a.name for a in attributes]
    info = {
        "reference": reference,
        "means": {name: mean.label for name, mean in zip(names, means, strict=True)},
        "target_rmse": {name: float(np.sqrt(np.mean(errors[:, j] ** 2))) for j, name in enumerate(names)},
        "not_far_enough": {name: replaced.short for name, replaced in zip(names, columns, strict=True)},
        "sign_dropped": {name: replaced.unsided for name, replaced in zip(names, columns, strict=True)},
    }
    return [replaced.concepts for replaced in columns], info


def moments(
    counts: Counts, attributes: Sequence[Nominal], concepts: Sequence[Ints], means: Sequence[Mean], alpha: float
) -> dict[str, dict[str, Any]]:
    """What noise did to each column's variance and mean: before, expected as for numbers (Eq. 2.3), reached.

    Words have no place beyond the last one, and concepts above others are nearer to all, so that the variance expected
    is mostly not reached.
    """
    variance, moved = {}, {}
    for attribute, now, mean in zip(attributes, concepts, means, strict=True):
        distance = attribute.bound()[0]
        held, rows = np.unique(now, return_counts=True)
        after = Nominal(attribute.name, attribute.spell(held), rows, distance, held.astype(np.int32))
        centre = semantic_mean(after, over="domain")
        before = semantic_variance(attribute, mean)
        variance[attribute.name] = {
            "before": before,
            "expected": (1 + alpha) * before,
            "reached": semantic_variance(after, centre),
        }
        moved[attribute.name] = float(distance.pair(mean.concept, centre.concept))
    return {"variance": variance, "mean_moved": moved}


def _moves(
    attribute: Nominal, codes: Ints, concepts: Ints, reference: Reference, mean: Mean
) -> dict[str, list[float] | None]:
    """How far each record moved, and by how much farther from the reference; for partners that is not told."""
    distance, own = attribute.bound()
    pairs = list(zip(own[codes].tolist(), concepts.tolist(), strict=True))
    distances = [float(distance.pair(before, after)) for before, after in pairs]
    if reference == "partner":
        return {"distances": distances, "farther": None}
    fixed = int(mean.concept if reference == "mean" else distance.taxonomy.root)
    farther = [float(distance.pair(after, fixed)) - float(distance.pair(before, fixed)) for before, after in pairs]
    return {"distances": distances, "farther": farther}


def concept_cells(
    counts: Counts, attributes: Sequence[Nominal], source: Ints, concepts: Sequence[Ints], info: dict[str, Any]
) -> Cells:
    """Cells from the concept each record gets in each column, spelled as the column spells its own."""
    values, codes, same = [], [], []
    for attribute, moved in zip(attributes, concepts, strict=True):
        distinct, code = np.unique(moved, return_inverse=True)
        values.append(attribute.spell(distinct))
        codes.append(code.astype(np.int32))
        same.append(attribute.bound()[1][counts.column(attribute.name)[source]] == moved)
    names = tuple(a.name for a in attributes)
    facts = {
        "unchanged": {name: int(equal.sum()) for name, equal in zip(names, same, strict=True)},
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
    for first, second in pairs:
        i, j = names.index(first), names.index(second)
        check_same_domain(attributes[i], attributes[j])
        beside[i], beside[j] = j, i
    return beside
