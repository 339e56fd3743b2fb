"""Adult with ARX's hierarchies, k = 5: measures at the optimal nodes that ARX and brute force agree on."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.privacy_model import judge
from keepsense.recoding import Cuts
from keepsense.utility.class_size_metrics import average_class_size, discernibility, released_classes
from keepsense.utility.generalization_losses import loss
from keepsense.verification.verifier import verify

pytestmark = [pytest.mark.golden, pytest.mark.data]


@pytest.fixture(scope="module")
def adult(shared_data):
    folder = shared_data / "adult"
    with (folder / "adult.csv").open(newline="") as file:
        header, *rows = csv.reader(file, delimiter=";")
    counts = Counts.of({name: [row[j] for row in rows] for j, name in enumerate(header)})
    hierarchies = {}
    for name in header:
        with (folder / f"adult_hierarchy_{name}.csv").open(newline="") as file:
            hierarchies[name] = Hierarchy.of_rows(csv.reader(file, delimiter=";"), name=name)
    return counts, hierarchies


def recoded(adult, levels, limit=0):
    """The node's cuts, with the classes below k = 5 suppressed."""
    counts, hierarchies = adult
    rule = Cuts(tuple(hierarchies[name].cut(level) for name, level in zip(counts.names, levels, strict=True)))
    released = rule.apply(counts)
    found = judge([KAnonymity(5)], released, limit=limit)
    assert found.holds
    bad = released.codes[~found.kept]
    tuples = (tuple(values[c] for values, c in zip(released.values, row, strict=True)) for row in bad)
    return Cuts(rule.cuts, frozenset(tuples)), found.suppressed


@pytest.mark.parametrize(
    ("levels", "limit", "expected", "suppressed", "classes"),
    [
        ((0, 4, 1, 1, 3, 2, 2, 1, 0), 0, 0.635543846703584, 0, 24),
        ((0, 3, 0, 2, 2, 1, 1, 2, 0), 603, 0.357482489910158, 506, None),
        ((0, 3, 0, 0, 2, 1, 1, 2, 0), 1508, 0.269634662789405, 1346, None),
    ],
)
def test_loss_at_the_optimal_nodes(adult, levels, limit, expected, suppressed, classes):
    counts, hierarchies = adult
    rule, hidden = recoded(adult, levels, limit)
    assert hidden == suppressed
    assert loss(counts, rule, hierarchies) == pytest.approx(expected, abs=1e-14)
    # The same recoding spelled out tuple by tuple, its levels found again from the labels.
    assert loss(counts, rule.cells(counts), hierarchies) == pytest.approx(expected, abs=1e-14)
    if classes is not None:
        assert len(released_classes(counts, rule).sizes) == classes


def test_discernibility_and_average_class_size(adult):
    counts, _ = adult
    rule, _ = recoded(adult, (1, 1, 1, 2, 3, 2, 2, 1, 1))
    assert discernibility(counts, rule) == 33_627_534
    assert len(released_classes(counts, rule).sizes) == 45
    rule, _ = recoded(adult, (1, 2, 1, 1, 3, 2, 2, 1, 1))
    assert average_class_size(counts, rule) == 628.375
    assert len(released_classes(counts, rule).sizes) == 48


def test_the_verifier_accepts_the_release_and_not_one_record_less(adult):
    counts, _ = adult
    rule, hidden = recoded(adult, (0, 3, 0, 2, 2, 1, 1, 2, 0), 603)
    cells = rule.cells(counts)
    rows = np.repeat(np.arange(len(cells.source)), cells.multiplicity)
    table = {
        name: np.array(cells.values[j], dtype=object)[cells.codes[rows, j]].tolist()
        for j, name in enumerate(cells.names)
    }
    found = verify(table, [KAnonymity(5)], quasi_identifiers=counts.names, suppression=0.02)
    assert found.ok
    assert (found.records, found.suppressed) == (30_162, hidden)
    assert not verify(table, [KAnonymity(5)], quasi_identifiers=counts.names, suppression=505 / 30_162).ok
    assert not verify(table, [KAnonymity(6)], quasi_identifiers=counts.names).ok
