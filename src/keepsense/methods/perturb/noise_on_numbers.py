"""Noise on numbers, the original of semantic noise: uncorrelated and correlated (Sec. 2.3.2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput
from keepsense.methods.method import NUMBERS, Method, Shown, registered
from keepsense.methods.method_call import by_columns
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.noise_on_words import (
    NO_PROMISE,
    NOISE,
    Distribution,
    check_noise,
    correlated_errors,
    unit_errors,
)
from keepsense.methods.perturb.rank_swapping_of_numbers import only_numbers
from keepsense.methods.records import cells_of, records_of
from keepsense.methods.suitability import PROMISES_NOTHING, UNKNOWN_NEARNESS, Fit, only
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cells
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Ordered


def noise_on_numbers(  # noqa: PLR0913
    counts: Counts,
    columns: Sequence[Ordered],
    models: Sequence[Model] = (),
    *,
    alpha: float = NOISE,
    correlated: bool = False,
    decimals: int | None = None,
    distribution: Distribution = "normal",
    rng: Random = None,
    listener: Listener | None = None,
) -> Cells:
    """Add random noise to columns of numbers or ordered categories (Rodríguez-García 2017, Eq. 2.1-2.7).

    Each column gets errors of mean 0 and variance alpha times its own (Eq. 2.1, 2.2), so that its mean stays and its
    variance grows by 1 + alpha in expectation (Eq. 2.3). `correlated` draws the errors of all columns together, with
    covariance alpha times theirs (Kim 1986; Eq. 2.5, 2.6), so that correlations stay too (Eq. 2.7). Numbers keep as
    many decimal places as the column has at most, or `decimals`. Ordered categories move by ranks and are cut off at
    the lowest and the highest. Not differential privacy (see `noisy_numbers`): nothing is promised, so `models` are not
    looked at.

    >>> counts = Counts.of({"age": [20, 30, 40, 50]})
    >>> cells = noise_on_numbers(counts, [Ordered.of(counts, "age")], alpha=0.1, rng=1)
    >>> len(cells.values[0]), all(isinstance(age, int) for age in cells.values[0])
    (4, True)
    """
    only_numbers(columns)
    check_noise(counts, columns, alpha)
    rng = generator(rng)
    rows, covariance = positions_of(counts, columns)
    if correlated:
        if len(columns) < 2:
            raise BadInput("correlated noise needs at least two columns")
        errors = correlated_errors(distribution, rng, len(rows), alpha * covariance)
    else:
        errors = unit_errors(distribution, rng, len(rows), len(columns)) * np.sqrt(alpha * covariance.diagonal())
    written, facts = moved_numbers(counts, columns, errors, decimals=decimals, listener=listener)
    method = f"noise on numbers, {'correlated' if correlated else 'uncorrelated'}"
    info = {"method": method, "alpha": float(alpha), **facts}
    names = tuple(a.name for a in columns)
    return cells_of(names, [values for values, _ in written], records_of(counts), [code for _, code in written], info)


def positions_of(counts: Counts, columns: Sequence[Ordered]) -> tuple[Floats, Floats]:
    """Where each record stands in each column, and how the columns vary together.

    >>> counts = Counts.of({"age": [20, 40]})
    >>> positions_of(counts, [Ordered.of(counts, "age")])[1].tolist()
    [[100.0]]
    """
    source = records_of(counts)
    table = np.stack([a.positions[counts.column(a.name)[source]] for a in columns], axis=1)
    return table, np.atleast_2d(np.cov(table, rowvar=False, bias=True))


def moved_numbers(
    counts: Counts,
    columns: Sequence[Ordered],
    errors: Floats,
    *,
    decimals: int | None = None,
    listener: Listener | None = None,
) -> tuple[list[tuple[tuple[Value, ...], Any]], dict[str, Any]]:
    """Released values of each column and the code each record gets for its errors, and what there is to tell."""
    source, (table, _) = records_of(counts), positions_of(counts, columns)
    written = [_written(a, table[:, j] + errors[:, j], decimals) for j, a in enumerate(columns)]
    placed = _positions(columns, written)
    for j, (attribute, (values, codes)) in enumerate(zip(columns, written, strict=True)):
        emit(listener, "moved", j + 1, len(columns), column=attribute.name, source=source, errors=errors[:, j],
             values=values, codes=codes, distances=np.abs(placed[j] - table[:, j]) / attribute.span)  # fmt: skip
    return written, {
        "unchanged": {a.name: int((placed[j] == table[:, j]).sum()) for j, a in enumerate(columns)},
        "target_rmse": {a.name: float(np.sqrt(np.mean(errors[:, j] ** 2))) / a.span for j, a in enumerate(columns)},
    }


def _written(attribute: Ordered, noisy: Floats, decimals: int | None) -> tuple[tuple[Value, ...], Any]:
    """Released values of a column and the code each record gets."""
    if attribute.levels is not None:
        ranks = np.clip(np.rint(noisy), 0, len(attribute.levels) - 1).astype(np.int64)
        return attribute.levels, ranks
    places = _places(attribute) if decimals is None else decimals
    whole = places == 0 and all(isinstance(v, int | np.integer | str) for v in attribute.values)
    distinct, code = np.unique(np.round(noisy, places), return_inverse=True)
    return tuple(int(x) if whole else float(x) for x in distinct), code


def _places(attribute: Ordered) -> int:
    """Decimal places that the values of a column have at most: noise must not show by more."""
    written = (str(value).lower() for value in attribute.values if value is not None)
    return max((len(text.partition(".")[2]) for text in written if "e" not in text), default=15)


def _positions(attributes: Sequence[Ordered], columns: Sequence[tuple[tuple[Value, ...], Any]]) -> list[Floats]:
    return [
        codes.astype(np.float64) if a.levels is not None else np.array(values, dtype=np.float64)[codes]
        for a, (values, codes) in zip(attributes, columns, strict=True)
    ]


METHOD = registered(
    Method(
        name="noise on numbers",
        title="Noise on numbers",
        function=noise_on_numbers,
        runner=by_columns,
        step=by_columns,
        family="noise addition",
        place=3,
        short="the classical method, plain or correlated",
        intent="Add random numbers of mean zero to columns of numbers; correlated noise keeps their correlations.",
        use=("means and correlations of numbers matter",),
        avoid=("exact values or counts matter", "a promise is needed: see differential privacy"),
        inputs=("the columns of numbers", "alpha, usually 0.1 to 0.5"),
        guarantee=NO_PROMISE,
        cost="One pass over the rows.",
        paper="Kim 1986; Rodríguez-García 2017, Eq. 2.1 to 2.7.",
        example="An income of 41,300 becomes 39,850.",
        truthful=False,
        unweighed="it changes each column by itself",
        gaps="filled",
        fillings={
            "variation": Filling("variance", "how much the columns vary, and how far they vary together"),
            "reference": Filling("none", "zero: numbers have a sign of their own"),
        },
        fit=Fit(
            purposes={
                "single columns": (5.0, "means stay, variances grow by a known factor"),
                "correlations": (9.0, "correlated noise keeps correlations of numbers"),
            },
            unfit=(UNKNOWN_NEARNESS, (only("numeric", "ordinal", "date"), "it moves numbers and ordered values only")),
            cautions=(PROMISES_NOTHING,),
            start=lambda s: {"alpha": 0.3, "correlated": True} if s.purpose == "correlations" else {"alpha": 0.3},
        ),
        shown=Shown(kinds=NUMBERS, settings={"alpha": 0.3, "correlated": False}),
    )
)
