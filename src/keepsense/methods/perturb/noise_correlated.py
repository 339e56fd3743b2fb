"""Correlated semantic noise: errors that vary together as the columns do."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts
from keepsense.errors import BadInput
from keepsense.methods.perturb.noise import Distribution, Reference, apply_noise, check_noise, unit_errors
from keepsense.methods.perturb.swap import Random
from keepsense.progress import Listener
from keepsense.random import generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Nominal
from keepsense.semantics.correlation import covariance_matrix
from keepsense.semantics.mean import semantic_mean


def add_correlated_noise(
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
    """Add semantic noise with the columns' own covariance structure (Rodríguez-García 2017, Sec. 6.4).

    Errors are drawn together, with covariance alpha times the matrix of distance variances and covariances (Eq. 6.3),
    and applied as in `add_noise`: `mean` (SNA-1) keeps the means best; `partner` (SNA-2, two columns of one domain, or
    disjoint pairs) and `root` (SNA-3, any domains and any number of columns) keep the distance correlation best. A
    covariance matrix of more than two columns that is not positive semidefinite is replaced by the nearest that is, and
    `info["covariance_mended"]` says so. Not differential privacy. Costs what `add_noise` does and the distance
    matrices.

    >>> from keepsense.semantics import distance
    >>> from keepsense.taxonomy import from_edges
    >>> pets = distance("wu-palmer", from_edges([("cat", "pet"), ("dog", "pet"), ("pug", "dog"), ("lab", "dog")]))
    >>> counts = Counts.of({"first": ["pug", "lab", "cat"] * 5, "second": ["lab", "lab", "cat"] * 5})
    >>> columns = [Nominal.of(counts, name, pets) for name in ("first", "second")]
    >>> cells = add_correlated_noise(counts, columns, 0.3, reference="partner", rng=1)
    >>> cells.info["covariance_mended"]
    False
    """
    check_noise(counts, attributes, alpha)
    if len(attributes) < 2:
        raise BadInput("correlated noise needs at least two columns; use add_noise for one")
    rng = generator(rng)
    covariance, mended = covariance_matrix(counts, attributes)
    errors = correlated_errors(distribution, rng, counts.total, alpha * covariance)
    means = [semantic_mean(a, over="domain") for a in attributes]
    info = {
        "method": "semantic noise, correlated",
        "alpha": float(alpha),
        "covariance": covariance.tolist(),
        "covariance_mended": mended,
    }
    return apply_noise(counts, attributes, errors, reference, pairs, means, info, rng, listener)


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
