"""Numbers, counts and means with differential privacy; the noise comes from OpenDP (`pip install 'keepsense[dp]'`).

OpenDP draws discrete and floor-safe noise from the operating system's randomness; it takes no seed. Its own accounting
(`map`) is asked what a measurement costs before it is run, and a cost above what was entered is refused.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Floats
from keepsense.counts import Counts, Value
from keepsense.errors import BadInput, BudgetExceeded, MissingExtra
from keepsense.methods.method import Method, Shown, registered
from keepsense.methods.method_flowchart import Filling
from keepsense.methods.perturb.privacy_budget import Budget, check_epsilon
from keepsense.methods.records import cells_of, records_of
from keepsense.methods.suitability import DIFFERENTIAL_PRIVACY, NO_SETS, SHARED_BUDGET, Fit
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener, emit
from keepsense.recoding import Cells

Neighbours = Literal["replace", "add"]
_MOST_CELLS = 5_000_000


def noisy_count(rows: int, epsilon: float, budget: Budget, *, what: str = "number of rows") -> int:
    """A count with discrete Laplace (geometric) noise, for neighbours that differ by one record added or removed.

    >>> budget = Budget(1.0)
    >>> abs(noisy_count(120, 0.75, budget) - 120) < 100, budget.remaining
    (True, 0.25)
    """
    check_epsilon(epsilon)
    return int(_noisy_integers([int(rows)], 1, epsilon, budget, what)[0])


def noisy_histogram(
    counts: Counts,
    columns: Sequence[str],
    models: Sequence[Model] = (),
    *,
    domains: Mapping[str, Sequence[Value]],
    epsilon: float,
    budget: Budget,
    neighbours: Neighbours = "replace",
) -> Counts:
    """Microdata from a noisy histogram over declared domains (Rodríguez-García 2017, Sec. 2.5.3).

    Every combination of the declared values gets its count plus discrete Laplace noise, also those nobody has; negative
    counts become 0 and the rest is the released table, all columns together. `neighbours="replace"`: one record
    changed, two counts move, the number of rows is public; `"add"`: one record more or less, one count moves. Utility
    falls as the combinations grow in number: bin or generalize first. Values outside a domain are refused. What is
    promised is what the budget allows; `models` are not looked at.

    >>> counts = Counts.of({"sex": ["f"] * 500 + ["m"] * 400})
    >>> options = {"domains": {"sex": ["f", "m", "other"]}, "epsilon": 1.0, "budget": Budget(1.0)}
    >>> released = noisy_histogram(counts, ["sex"], **options)
    >>> bool(abs(released.marginal("sex")[0] - 500) < 60)
    True
    """
    check_epsilon(epsilon)
    if neighbours not in ("replace", "add"):
        raise BadInput(f"neighbours = {neighbours!r}: it must be 'replace' or 'add'")
    names = tuple(columns)
    if not names or set(names) != set(domains):
        raise BadInput("declare the domain of each column, at least one")
    domains = {name: domains[name] for name in names}
    size = prod(len(domain) for domain in domains.values())
    if size > _MOST_CELLS:
        raise BadInput(
            f"the declared domains have {size:,} combinations; generalize, or release fewer columns together"
        )
    place = []
    for name, domain in domains.items():
        known = {v: i for i, v in enumerate(domain)}
        if len(known) != len(domain) or not domain:
            raise BadInput(f"column {name!r}: the declared domain is empty or lists a value twice")
        if not all(value in known for value in counts.values_of(name)):
            raise BadInput(f"column {name!r} has values outside the declared domain; declare what is possible")
        place.append(np.array([known[v] for v in counts.values_of(name)], dtype=np.int64)[counts.column(name)])
    shape = tuple(len(domain) for domain in domains.values())
    cells = np.bincount(np.ravel_multi_index(tuple(place), shape), counts.weights, size).astype(np.int64)
    sensitivity = 2 if neighbours == "replace" else 1
    noisy = _noisy_integers(cells.tolist(), sensitivity, epsilon, budget, f"histogram of {', '.join(names)}")
    kept = np.flatnonzero(noisy > 0)
    codes = np.stack(np.unravel_index(kept, shape), axis=1).astype(np.int32)
    return Counts(names, tuple(tuple(d) for d in domains.values()), codes, noisy[kept])


def release_numbers(
    counts: Counts,
    bounds: Mapping[str, tuple[float, float]],
    epsilon: float | Mapping[str, float],
    budget: Budget,
    *,
    listener: Listener | None = None,
) -> Cells:
    """Release columns of numbers record by record with Laplace noise (Dwork et al. 2006).

    Each number is cut to the declared bounds, gets noise of scale (width of the bounds) / epsilon, and is cut again. As
    a record may take any value within the bounds, the noise is as wide as they are for epsilon = 1: `noisy_means` does
    better where one column is released alone. A record's columns add up in the budget. Where the bounds are whole
    numbers, so are the values and the noise, which is the discrete Laplace distribution's then. An
    empty cell is taken for the middle of the bounds, so that no noisy number tells whether there was one.

    >>> counts = Counts.of({"age": [20, 30, 40]})
    >>> cells = release_numbers(counts, {"age": (0, 120)}, 1.0, Budget(1.0))
    >>> all(0 <= v <= 120 for v in cells.values[0])
    True
    """
    each = {name: check_epsilon(epsilon[name] if isinstance(epsilon, Mapping) else epsilon) for name in bounds}
    if not each:
        raise BadInput("declare the bounds of at least one column")
    cut = {name: _cut(counts, name, limits) for name, limits in bounds.items()}
    source = records_of(counts)
    needed = sum(each.values())
    if needed > budget.remaining * (1 + 1e-9):
        raise BudgetExceeded(
            f"numbers of {', '.join(bounds)} need epsilon = {needed:g}, and {budget.remaining:g} is left; nothing was "
            "released"
        )
    values, codes = [], []
    for name, (low, high) in bounds.items():
        column = cut[name][counts.column(name)][source]
        whole = all(isinstance(v, int | np.integer) for v in (low, high))
        noisy: NDArray[Any]
        about = (each[name], budget, f"numbers of {name}")
        if whole:  # whatever the table holds: that the bounds are whole is public
            noisy = _noisy_integers(np.rint(column).astype(np.int64).tolist(), int(high) - int(low), *about)
        else:
            noisy = _noisy_floats(column, float(high) - float(low), *about)
        errors = noisy - column
        noisy = np.clip(noisy, low, high)
        distinct, code = np.unique(noisy, return_inverse=True)
        values.append(tuple(int(x) if whole else float(x) for x in distinct))
        codes.append(code)
        emit(listener, "moved", len(codes), len(bounds), column=name, source=source, errors=errors, values=values[-1],
             codes=code, distances=np.abs(noisy - column) / (float(high) - float(low) or 1.0))  # fmt: skip
    info = {"method": "Laplace noise", "epsilon": each, "neighbours": "replace one record", "bounds": dict(bounds)}
    return cells_of(tuple(bounds), values, source, codes, info)


def noisy_means(
    counts: Counts, name: str, bounds: tuple[float, float], k: int, epsilon: float, budget: Budget
) -> Counts:
    """One column of numbers by microaggregation and noise (Sánchez et al. 2016; Rodríguez-García 2017, Table 2.2).

    Values are cut to the declared bounds, sorted, and replaced by the means of k neighbours in that order. One record
    changed moves these means by (width of the bounds) / k in all, as every rank between the two values moves a little
    and all the same way, so Laplace noise of scale width / (k epsilon) on each mean is enough: k times less than on the
    values. The result is a table of this column alone. It is not given back to the records: whose rank falls into which
    group depends on everybody else, and showing that beside other columns would break the promise.

    >>> counts = Counts.of({"age": list(range(20, 60)) * 5})
    >>> released = noisy_means(counts, "age", (0, 120), 20, 1.0, Budget(1.0))
    >>> released.total
    200
    """
    check_epsilon(epsilon)
    if not isinstance(name, str):
        raise BadInput(
            "noisy means are of one column of numbers: where words or several columns are grouped, one record can "
            "change every group, and the noise to hide that grows with their number; release each column by a "
            "mechanism of its own (differential_privacy)"
        )
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or not 1 <= k <= counts.total:
        raise BadInput(f"k = {k!r}: it must be a whole number from 1 to the number of rows, {counts.total}")
    column = np.sort(np.repeat(_cut(counts, name, bounds), counts.marginal(name)))
    n, low, high = len(column), *map(float, bounds)
    group = np.minimum(np.arange(n) // k, n // k - 1)
    size = np.bincount(group)
    means = np.bincount(group, column) / size
    noisy = _noisy_floats(means, (high - low) / k, epsilon, budget, f"means of {name}")
    distinct, code = np.unique(np.clip(noisy, low, high), return_inverse=True)
    weights = np.bincount(code, size, len(distinct)).astype(np.int64)
    return Counts(
        (name,), (tuple(float(x) for x in distinct),), np.arange(len(distinct), dtype=np.int32)[:, None], weights
    )


def _cut(counts: Counts, name: str, bounds: tuple[float, float]) -> Floats:
    low, high = bounds
    if not np.isfinite([low, high]).all() or not low < high:
        raise BadInput(f"column {name!r}: the declared bounds {bounds!r} are not a low and a higher number")
    try:
        # nothing is known of an empty cell; what stands for it must not depend on the other cells
        middle = (float(low) + float(high)) / 2
        numbers = np.array([middle if v is None else float(v) for v in counts.values_of(name)])  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise BadInput(f"column {name!r} holds values that are not numbers") from None
    if np.isnan(numbers).any():
        raise BadInput(f"column {name!r} has missing numbers; exclude those rows or fill them first")
    cut: Floats = np.clip(numbers, low, high)
    return cut


def _noisy_integers(
    numbers: list[int], sensitivity: int, epsilon: float, budget: Budget, what: str
) -> NDArray[np.int64]:
    library = _opendp()
    space = library.vector_domain(library.atom_domain(T=int)), library.l1_distance(T=int)
    measurement = library.m.make_laplace(*space, scale=sensitivity / epsilon)
    _enter(measurement.map(sensitivity), epsilon, budget, what)
    return np.array(measurement(numbers), dtype=np.int64)


def _noisy_floats(numbers: Floats, sensitivity: float, epsilon: float, budget: Budget, what: str) -> Floats:
    library = _opendp()
    space = library.vector_domain(library.atom_domain(T=float, nan=False)), library.l1_distance(T=float)
    # Rounding in the means and in the noise itself is paid for with a slightly wider scale.
    measurement = library.m.make_laplace(*space, scale=sensitivity / epsilon * (1 + 1e-9))
    _enter(measurement.map(sensitivity), epsilon, budget, what)
    return np.array(measurement(numbers.tolist()), dtype=np.float64)


def _enter(cost: float, epsilon: float, budget: Budget, what: str) -> None:
    if cost > epsilon * (1 + 1e-9):
        raise BudgetExceeded(f"{what}: the noise would cost epsilon = {cost:g} instead of {epsilon:g}")
    budget.spend(epsilon, what)


def _opendp() -> Any:
    try:
        import opendp.prelude as library
    except ImportError:
        raise MissingExtra("noise on counts and numbers needs OpenDP: pip install 'keepsense[dp]'") from None
    library.enable_features("contrib")
    return library


METHOD = registered(
    Method(
        name="noisy histogram",
        title="Noisy histogram",
        function=noisy_histogram,
        family="differential privacy",
        place=3,
        short="counts of every possible combination",
        intent="Count all possible combinations of a few columns, add noise to the counts, and make records from them.",
        use=("counts of a few columns with few values each are what is wanted",),
        avoid=("many columns: most combinations are empty and get noise all the same",),
        inputs=("the columns", "the values that are possible at all, named without looking at the data", "epsilon"),
        guarantee="epsilon-differential privacy, whatever an attacker knows; budgets of several releases add up.",
        cost="The number of possible combinations.",
        paper="Dwork et al. 2006; Rodríguez-García 2017, Sec. 2.5.3.",
        example="17 widowed nurses become 16, and 0 widowed bishops become 1.",
        truthful=False,
        unweighed="it counts, and releases no column",
        promises=(DIFFERENTIAL_PRIVACY,),
        fillings={
            "sensitivity": Filling("one record", "one record changes one or two counts by one"),
            "mechanism": Filling("discrete Laplace", "whole-number noise on every count"),
        },
        fit=Fit(
            points=7.0,
            reason="counts of a few columns with little noise",
            unfit=(
                (
                    lambda s: s.columns > 4,
                    "with so many columns most combinations are empty, and noise is all that is left",
                ),
                NO_SETS,
            ),
            cautions=(SHARED_BUDGET,),
        ),
        shown=Shown(why_not="it releases counts and not rows, so there is nothing to follow row by row"),
    )
)
