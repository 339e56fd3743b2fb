"""Noise for numbers, the original that semantic noise adapts: uncorrelated and correlated (Sec. 2.3.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.perturb.noise import Distribution, unit_errors
from keepsense.methods.perturb.noise_correlated import correlated_errors
from keepsense.methods.perturb.records import cells_of, records_of
from keepsense.methods.perturb.swap import Random
from keepsense.progress import Listener, emit
from keepsense.random import generator
from keepsense.recoding import Cells
from keepsense.semantics.attribute import Ordered, check_same_rows


def add_noise_to_numbers(
    counts: Counts,
    attributes: Sequence[Ordered],
    alpha: float,
    *,
    correlated: bool = False,
    decimals: int | None = None,
    distribution: Distribution = "normal",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Add random noise to columns of numbers or ordered categories (Rodríguez-García 2017, Eq. 2.1-2.7).

    Each column gets errors of mean 0 and variance alpha times its own (Eq. 2.1, 2.2), so that its mean stays and its
    variance grows by 1 + alpha in expectation (Eq. 2.3). `correlated` draws the errors of all columns together, with
    covariance alpha times theirs (Kim 1986; Eq. 2.5, 2.6), so that correlations stay too (Eq. 2.7). Whole numbers stay
    whole, others keep `decimals` places where given. Ordered categories move by ranks and are cut off at the lowest and
    the highest. Not differential privacy: see `keepsense.methods.perturb.dp`.

    >>> counts = Counts.of({"age": [20, 30, 40, 50]})
    >>> cells = add_noise_to_numbers(counts, [Ordered.of(counts, "age")], 0.1, rng=1)
    >>> len(cells.values[0]), all(isinstance(age, int) for age in cells.values[0])
    (4, True)
    """
    if not attributes:
        raise BadInput("no column was given to add noise to; name at least one")
    if not isinstance(alpha, int | float | np.number) or not np.isfinite(alpha) or alpha <= 0:
        raise BadInput(f"alpha = {alpha!r}: the amount of noise must be a number above 0, usually 0.1 to 0.5")
    check_same_rows(counts, attributes)
    for attribute in attributes:
        if int((attribute.weights > 0).sum()) < 2:
            raise BadInput(
                f"column {attribute.name!r} holds one value only: its variance is 0, so no noise can be made"
            )
    rng = generator(rng)
    source = records_of(counts)
    table = np.stack([a.positions[counts.column(a.name)[source]] for a in attributes], axis=1)
    covariance = np.atleast_2d(np.cov(table, rowvar=False, bias=True))
    if correlated:
        if len(attributes) < 2:
            raise BadInput("correlated noise needs at least two columns")
        errors = correlated_errors(distribution, rng, len(source), alpha * covariance)
    else:
        errors = unit_errors(distribution, rng, len(source), len(attributes)) * np.sqrt(alpha * covariance.diagonal())
    noisy = table + errors
    columns = [_written(a, noisy[:, j], decimals) for j, a in enumerate(attributes)]
    names = tuple(a.name for a in attributes)
    placed = _positions(attributes, columns)
    for j, (name, (values, codes)) in enumerate(zip(names, columns, strict=True)):
        emit(listener, "moved", j + 1, len(names), column=name, source=source, errors=errors[:, j], values=values,
             codes=codes, distances=np.abs(placed[j] - table[:, j]) / attributes[j].span)  # fmt: skip
    kept = {name: int((placed[j] == table[:, j]).sum()) for j, name in enumerate(names)}
    info: dict[str, Any] = {
        "method": f"noise on numbers, {'correlated' if correlated else 'uncorrelated'}",
        "alpha": float(alpha),
        "unchanged": kept,
        "target_rmse": {a.name: float(np.sqrt(np.mean(errors[:, j] ** 2))) / a.span for j, a in enumerate(attributes)},
    }
    return cells_of(names, [values for values, _ in columns], source, [code for _, code in columns], info)


def _written(attribute: Ordered, noisy: Floats, decimals: int | None) -> tuple[tuple[Value, ...], Any]:
    """Released values of a column and the code each record gets."""
    if attribute.levels is not None:
        ranks = np.clip(np.rint(noisy), 0, len(attribute.levels) - 1).astype(np.int64)
        return attribute.levels, ranks
    whole = all(isinstance(v, int | np.integer) for v in attribute.values)
    if whole:
        noisy = np.rint(noisy)
    elif decimals is not None:
        noisy = np.round(noisy, decimals)
    distinct, code = np.unique(noisy, return_inverse=True)
    return tuple(int(x) if whole else float(x) for x in distinct), code


def _positions(attributes: Sequence[Ordered], columns: Sequence[tuple[tuple[Value, ...], Any]]) -> list[Floats]:
    return [
        codes.astype(np.float64) if a.levels is not None else np.array(values, dtype=np.float64)[codes]
        for a, (values, codes) in zip(attributes, columns, strict=True)
    ]
