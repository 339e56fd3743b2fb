"""Swapping and noise on real hospital encounters: what the thesis finds holds on a sample of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from keepsense.methods.perturb.naive_baselines import swap_freely
from keepsense.methods.perturb.noise import correlated_noise, noise
from keepsense.methods.perturb.rank_swapping import swap_by_clusters
from keepsense.methods.perturb.rank_swapping_by_one_ranking import rank_swapping_by_one_ranking
from keepsense.methods.perturb.rank_swapping_of_tuples import rank_swapping_of_tuples
from keepsense.methods.perturb.strict_rank_swapping import check_groups, strict_rank_swapping
from keepsense.recoding import Cells
from keepsense.semantics.distance_correlation import distance_correlation
from keepsense.utility.semantic_loss import rmse

pytestmark = pytest.mark.data


def test_a_sample_of_encounters_behaves_as_the_thesis_tells(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEEPSENSE_DATA", str(shared_data))
    from experiments.thesis import data
    from experiments.thesis.measure import columns_of

    sample = next(iter(data.swapping()))
    counts, columns = sample.counts, columns_of(sample, "attribute")
    original = distance_correlation(counts, *columns)
    assert counts.total == 1172
    assert original == pytest.approx(0.455, abs=0.001)

    def seen(cells: Cells, used: list) -> tuple[float, float]:
        cells.check(counts)
        released = cells.apply(counts)
        after = [c.reweighted(released) for c in used]
        return rmse(counts, cells, used[0]), distance_correlation(released, *after)

    k = 50
    ranking = seen(rank_swapping_by_one_ranking(counts, columns, k=k, rng=1), columns)
    clusters = seen(swap_by_clusters(counts, columns, k, rng=1), columns)
    tuples = seen(rank_swapping_of_tuples(counts, columns, k=k, rng=1), columns)
    free = seen(swap_freely(counts, ["a", "b"], rng=1), columns)
    assert clusters[0] < tuples[0] < ranking[0] < free[0]
    assert original > tuples[1] > clusters[1] > ranking[1] > free[1] - 0.05
    strict = strict_rank_swapping(counts, columns, k=k, together=True, rng=1)
    assert check_groups(counts, strict, k) <= 1 / k
    domain = columns_of(sample, "domain")
    for alpha in (0.1, 1.0):
        apart = np.mean([seen(noise(counts, domain, alpha=alpha, rng=s), domain)[1] for s in range(3)])
        linked = np.mean([seen(correlated_noise(counts, domain, alpha=alpha, rng=s), domain)[1] for s in range(3)])
        assert free[1] < apart < linked < original
