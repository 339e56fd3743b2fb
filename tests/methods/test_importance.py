"""Every method honours how much columns count, or its registry entry says why that means nothing to it."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.errors import BadInput, PrivacyWarning
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.optimal import optimal
from keepsense.methods.method import Method, methods
from keepsense.methods.method_call import by_hierarchies, call
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import Model
from keepsense.privacy.t_closeness import TCloseness
from keepsense.recoding import Cells, Cuts
from keepsense.semantics.attribute import Ordered
from keepsense.utility.generalization_losses import column_losses

WEIGHING = [method for method in methods() if not method.unweighed]
GENERALIZING = [method for method in WEIGHING if method.runner is by_hierarchies]
CHANGING = [method for method in WEIGHING if method.runner is not by_hierarchies]
NAMES = ("home", "work", "age")


def _table(rows: int = 240) -> tuple[Counts, dict[str, Hierarchy]]:
    """Two columns of eight places each and one of ages, with nothing that makes one go before another."""
    rng = np.random.default_rng(5)
    places = [f"place {i}" for i in range(8)]
    told = {name: [places[i] for i in rng.integers(0, 8, rows)] for name in ("home", "work")}
    told["age"] = [str(20 + 5 * int(i)) for i in rng.integers(0, 8, rows)]
    buys = ["yes" if x < 0.3 + 0.05 * int(h[-1]) else "no" for x, h in zip(rng.random(rows), told["home"], strict=True)]
    salary = (10 * rng.integers(1, 9, rows) + [int(work[-1]) for work in told["work"]]).tolist()
    counts = Counts.of(told, histograms={"buys": buys}, sums={"salary": salary})
    trees = {
        name: Hierarchy.of_rows(
            [
                (leaf, f"{name} {i // 2}", f"{name} quarter {i // 4}", "*")
                for i, leaf in enumerate(sorted(set(told[name])))
            ],
            name=name,
        )
        for name in NAMES
    }
    return counts, trees


def _generalized(method: Method, importance: dict[str, float]) -> Cells | Cuts:
    counts, trees = _table()
    target = "salary" if method.name == "lsd mondrian" else "buys"
    offered = {"importance": importance, "suppression": 0.02, "distances": {}, "target": target, "time_limit": 0.5}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PrivacyWarning)
        found: Cells | Cuts = call(method.function, {}, counts, trees, [KAnonymity(6)], **offered)
    return found


def test_a_method_takes_importance_or_says_why_not() -> None:
    for method in methods():
        takes = "importance" in inspect.signature(method.function).parameters
        assert takes != bool(method.unweighed), method.name


@pytest.mark.parametrize("method", GENERALIZING, ids=lambda method: method.name)
def test_what_counts_more_loses_no_more(method: Method) -> None:
    counts, trees = _table()
    plain = column_losses(counts, _generalized(method, {}), trees)
    spared = []
    for name in NAMES:
        lost = column_losses(counts, _generalized(method, {name: 10.0}), trees)
        assert lost[name] <= plain[name] + 1e-12, name
        spared.append(lost[name] < plain[name])
    assert any(spared)


@pytest.mark.parametrize("method", GENERALIZING, ids=lambda method: method.name)
def test_equal_importance_changes_nothing(method: Method) -> None:
    counts, trees = _table()
    plain, equal = (column_losses(counts, _generalized(method, dict.fromkeys(NAMES, x)), trees) for x in (1.0, 4.0))
    assert plain == equal


def _moved(method: Method, importance: dict[str, float]) -> dict[str, float]:
    """Mean distance of each number from what it is released as, over the column's span."""
    rng = np.random.default_rng(3)
    told = {name: rng.integers(0, 100, 150).tolist() for name in ("height", "weight", "stay")}
    told["illness"] = rng.choice(["flu", "cold"], 150).tolist()
    counts = Counts.of(told)
    columns = [Ordered.of(counts, name) for name in ("height", "weight", "stay")]
    models: list[Model] = [KAnonymity(5)]
    if method.name == "t-close microaggregation":
        models.append(TCloseness(0.4, "illness"))
    parameters = {"together": True} if method.name == "strict rank swapping" else {}
    cells: Cells = call(method.function, parameters, counts, columns, models, importance=importance, rng=1)
    moved = {}
    for j, column in enumerate(columns):
        before = column.positions[counts.column(column.name)[cells.source]]
        after = np.array([float(value) for value in cells.values[j]])[cells.codes[:, j]]  # type: ignore[arg-type]
        moved[column.name] = float(cells.multiplicity @ np.abs(before - after)) / counts.total
    return moved


@pytest.mark.parametrize("method", CHANGING, ids=lambda method: method.name)
def test_what_counts_more_moves_less(method: Method) -> None:
    plain = _moved(method, {})
    for name in plain:
        assert _moved(method, {name: 10.0})[name] < plain[name]


def test_importance_names_columns_and_is_above_0() -> None:
    counts, trees = _table()
    with pytest.raises(BadInput, match="no quasi-identifier 'hom'"):
        optimal(counts, trees, k=5, importance={"hom": 2.0})
    with pytest.raises(BadInput, match="importance of column 'home' must be a number above 0"):
        optimal(counts, trees, k=5, importance={"home": 0.0})


@pytest.mark.parametrize("metric", ["loss", "geometric loss", "ncp", "height", "non-uniform entropy"])
def test_the_best_node_is_the_best_by_weighed_loss(metric: str) -> None:
    """Against all nodes, one by one: the search's bounds hold for weighed losses too."""
    from keepsense.methods.generalize.lattice_template import LatticeSearch

    counts, trees = _table(80)
    importance = {"home": 5.0, "work": 0.5}
    found = optimal(counts, trees, k=4, metric=metric, suppression=0.05, importance=importance)
    search = LatticeSearch(counts, trees, [KAnonymity(4)], suppression=0.05, metric=metric, importance=importance)
    every = (search.check(search.space.node(i)) for i in range(search.space.size))
    assert found.info["loss"] == pytest.approx(min(verdict.value for verdict in every if verdict.holds))


def test_the_loss_of_a_search_weighs_columns_once() -> None:
    """By column and without the search's tables: the mean of the columns' losses, each by its importance."""
    counts, trees = _table(80)
    importance = {"home": 5.0, "work": 0.5, "age": 1.0}
    found = optimal(counts, trees, k=4, importance=importance)
    lost = column_losses(counts, found, trees)
    mean = sum(importance[name] * lost[name] for name in NAMES) / sum(importance.values())
    assert found.info["loss"] == pytest.approx(mean)
    assert len(set(lost.values())) > 1
