"""Optima on the Adult table (k = 5) on which ARX and two brute-force computations agree."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize.incognito import incognito
from keepsense.methods.generalize.optimal import optimal
from keepsense.methods.generalize.samarati import samarati
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity
from keepsense.utility.class_size_metrics import average_class_size, discernibility
from keepsense.utility.generalization_losses import loss

pytestmark = [pytest.mark.golden, pytest.mark.data]


@pytest.fixture(scope="module")
def adult(shared_data: Path) -> tuple[dict[str, list[str]], dict[str, Hierarchy]]:
    folder = shared_data / "adult"
    with (folder / "adult.csv").open() as file:
        names, *rows = csv.reader(file, delimiter=";")
    columns = {name: [row[j] for row in rows] for j, name in enumerate(names)}
    hierarchies = {}
    for name in names:
        with (folder / f"adult_hierarchy_{name}.csv").open() as file:
            hierarchies[name] = Hierarchy.of_rows(list(csv.reader(file, delimiter=";")), name=name)
    return columns, hierarchies


@pytest.fixture(scope="module")
def counts(adult: tuple[dict[str, list[str]], dict[str, Hierarchy]]) -> Counts:
    return Counts.of(adult[0])


OPTIMA = [
    ("loss", 0.0, 0.635543846703584, (0, 4, 1, 1, 3, 2, 2, 1, 0), 24, 0),
    ("loss", 0.02, 0.357482489910158, (0, 3, 0, 2, 2, 1, 1, 2, 0), None, 506),
    ("loss", 0.05, 0.269634662789405, (0, 3, 0, 0, 2, 1, 1, 2, 0), None, 1346),
    ("discernibility", 0.0, 33_627_534, (1, 1, 1, 2, 3, 2, 2, 1, 1), 45, 0),
    ("average class size", 0.0, 628.375, (1, 2, 1, 1, 3, 2, 2, 1, 1), 48, 0),
]


@pytest.mark.parametrize(("metric", "share", "value", "node", "classes", "suppressed"), OPTIMA)
def test_optimum(
    adult: tuple[dict[str, list[str]], dict[str, Hierarchy]],
    counts: Counts,
    metric: str,
    share: float,
    value: float,
    node: tuple[int, ...],
    classes: int | None,
    suppressed: int,
) -> None:
    found = optimal(counts, adult[1], k=5, metric=metric, suppression=share)
    assert found.info["node"] == found.levels == node
    assert found.info["loss"] == pytest.approx(value, abs=1e-12, rel=1e-12)
    assert found.info["suppressed"] == suppressed
    assert classes is None or found.info["classes"] == classes
    assert found.info["lattice"]["nodes"] == 12_960
    rules = {"discernibility": discernibility, "average class size": average_class_size}
    told = loss(counts, found, adult[1]) if metric == "loss" else rules[metric](counts, found)
    assert told == pytest.approx(value, abs=1e-12, rel=1e-12)


def test_87_nodes_are_5_anonymous(adult: tuple[dict[str, list[str]], dict[str, Hierarchy]], counts: Counts) -> None:
    status = optimal(counts, adult[1], k=5, classify=True).info["status"]
    assert int(((status == 1) | (status == 2)).sum()) == 87
    found = incognito(counts, adult[1], k=5)
    assert len(found.info["anonymous"]) == 87
    assert set(found.info["anonymous"]) == set(zip(*map(np.ndarray.tolist, np.nonzero(status <= 2)), strict=True))
    assert found.info["node"] == (0, 4, 1, 1, 3, 2, 2, 1, 0)


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_samarati_finds_the_least_height(
    adult: tuple[dict[str, list[str]], dict[str, Hierarchy]], counts: Counts, share: float
) -> None:
    found = samarati(counts, adult[1], k=5, suppression=share)
    status = optimal(counts, adult[1], k=5, suppression=share, classify=True).info["status"]
    assert sum(found.info["node"]) == min(map(sum, zip(*np.nonzero(status <= 2), strict=True)))


@pytest.mark.parametrize("share", [0.0, 0.02])
def test_the_released_rows_are_safe_by_pycanon(
    adult: tuple[dict[str, list[str]], dict[str, Hierarchy]], share: float
) -> None:
    import pandas as pd
    from pycanon import anonymity

    columns, hierarchies = adult
    rest = {name: column for name, column in columns.items() if name != "occupation"}
    counts = Counts.of(rest, histograms={"occupation": columns["occupation"]})
    models = [KAnonymity(5), DistinctDiversity(3, "occupation")]
    found = optimal(counts, hierarchies, models, suppression=share)
    released = {
        cut.name: list(map(dict(zip(cut.inputs, cut.outputs, strict=True)).__getitem__, rest[cut.name]))
        for cut in found.cuts
    }
    frame = pd.DataFrame({**released, "occupation": columns["occupation"]})
    names = list(released)
    hidden = [row in found.suppress for row in zip(*released.values(), strict=True)]
    assert sum(hidden) == found.info["suppressed"]
    kept = frame[~np.array(hidden)].reset_index(drop=True)
    assert anonymity.k_anonymity(kept, names) >= 5
    assert anonymity.l_diversity(kept, names, ["occupation"]) >= 3
