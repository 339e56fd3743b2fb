"""Correlated noise on words and numbers together: the errors of a record are drawn at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.methods.perturb.noise_numbers import moved_numbers, positions_of
from keepsense.methods.perturb.noise_words import (
    Chosen,
    Distribution,
    Reference,
    check_noise,
    correlated_errors,
    moments,
    moved_words,
)
from keepsense.methods.perturb.replace import Among, Ties
from keepsense.methods.records import cells_of, records_of
from keepsense.progress import Listener
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal, Ordered
from keepsense.semantics.correlation import covariance_matrix, nearest_semidefinite
from keepsense.semantics.mean import Mean, semantic_mean


def words_with_numbers(  # noqa: PLR0913
    counts: Counts,
    words: Sequence[Nominal],
    numbers: Sequence[Ordered],
    alpha: float,
    *,
    reference: Reference,
    pairs: Sequence[tuple[str, str]] | None,
    distribution: Distribution,
    ties: Ties,
    among: Among,
    rng: np.random.Generator,
    listener: Listener | None,
) -> Cells:
    """Noise whose errors in words and in numbers are drawn together, for each record.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")])
    >>> counts = Counts.of({"pet": ["pug", "lab", "cat", "cat"] * 5, "age": [9, 8, 2, 1] * 5})
    >>> columns = [Nominal.of(counts, "pet", distance("wu-palmer", pets))], [Ordered.of(counts, "age")]
    >>> cells = words_with_numbers(counts, *columns, 0.2, reference="mean", pairs=None, distribution="normal",
    ...     ties="random", among="all", rng=np.random.default_rng(1), listener=None)
    >>> cells.names, sorted(cells.info["variance"]["pet"])
    (('pet', 'age'), ['before', 'expected', 'reached'])
    """
    check_noise(counts, words, alpha)
    check_noise(counts, numbers, alpha)
    means = [semantic_mean(column, over="domain") for column in words]
    covariance, mended = _joint_covariance(counts, words, numbers, means, reference)
    errors = correlated_errors(distribution, rng, counts.total, alpha * covariance)
    of_words, of_numbers = errors[:, : len(words)], errors[:, len(words) :]
    chosen = Chosen(reference, pairs, ties, among)
    concepts, facts = moved_words(counts, words, of_words, means, chosen, rng=rng, listener=listener)
    written, more = moved_numbers(counts, numbers, of_numbers, listener=listener)
    facts |= moments(counts, words, concepts, means, alpha)
    now, source = [np.unique(moved, return_inverse=True) for moved in concepts], records_of(counts)
    same = {
        column.name: int((column.bound()[1][counts.column(column.name)[source]] == moved).sum())
        for column, moved in zip(words, concepts, strict=True)
    }
    info = {
        **facts,
        "unchanged": {**same, **more["unchanged"]},
        "target_rmse": {**facts["target_rmse"], **more["target_rmse"]},
        "method": "semantic noise, correlated, with numbers",
        "alpha": float(alpha),
        "covariance": covariance.tolist(),
        "covariance_mended": mended,
    }
    values = [column.spell(held) for column, (held, _) in zip(words, now, strict=True)]
    codes = [code for _, code in now]
    return cells_of(
        [*(column.name for column in words), *(column.name for column in numbers)],
        [*values, *(values for values, _ in written)],
        source,
        [*codes, *(code for _, code in written)],
        info,
    )


def _joint_covariance(
    counts: Counts, words: Sequence[Nominal], numbers: Sequence[Ordered], means: Sequence[Mean], reference: Reference
) -> tuple[Floats, bool]:
    """How words and numbers vary together: among words Eq. 6.3, among numbers as usual.

    Between a word and a number the size is their distance correlation, and the sign that of the covariance of the
    number with how far the word is from the reference (from the mean where that is a partner), because that is what
    the sign of a word's error means.
    """
    table, usual = positions_of(counts, numbers)
    apart, _ = covariance_matrix(counts, [*words, *numbers])
    m, source = len(words), records_of(counts)
    scale = np.sqrt(np.maximum(apart.diagonal(), 0.0))
    strength = apart / np.maximum(np.outer(scale, scale), 1e-300)
    deviation = np.concatenate([scale[:m], np.sqrt(usual.diagonal())])
    joint = np.empty_like(apart)
    joint[:m, :m], joint[m:, m:] = apart[:m, :m], usual
    for i, (column, mean) in enumerate(zip(words, means, strict=True)):
        distance, concepts = column.bound()
        fixed = distance.taxonomy.root if reference == "root" else mean.concept
        away = distance.against_all(np.array([fixed]))[0][concepts][counts.column(column.name)[source]]
        for j in range(m, len(apart)):
            sign = -1.0 if np.mean((away - away.mean()) * table[:, j - m]) < 0 else 1.0
            joint[i, j] = joint[j, i] = sign * strength[i, j] * deviation[i] * deviation[j]
    return _semidefinite(joint, deviation)


def _semidefinite(joint: Floats, deviation: Floats) -> tuple[Floats, bool]:
    """The nearest matrix that can be a covariance, judged in units of each column's own deviation."""
    units = np.outer(deviation, deviation)
    mended, changed = nearest_semidefinite(joint / units)
    if not changed:
        return joint, False
    spread = np.sqrt(mended.diagonal())
    back: Floats = mended / np.outer(spread, spread) * units  # each column keeps its own variance
    return back, True
