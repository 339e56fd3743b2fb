"""Searching without the compiler: every step, verdict and sum is that of the compiled loops, to the last bit."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.methods.lattice_reference import tables

from keepsense.counts import Counts
from keepsense.hierarchies.hierarchy import Hierarchy
from keepsense.methods.generalize import lattice_loops
from keepsense.methods.generalize.lattice_template import LatticeSearch
from keepsense.methods.generalize.lattice_walks import classified, find_best
from keepsense.methods.generalize.objective import METRICS
from keepsense.privacy.k_anonymity import KAnonymity
from keepsense.privacy.l_diversity import DistinctDiversity, EntropyDiversity
from keepsense.privacy.privacy_model import Model

MODELS: list[list[Model]] = [
    [KAnonymity(2)],
    [KAnonymity(3), DistinctDiversity(2, "s")],
    [KAnonymity(2), EntropyDiversity(1.7, "s")],
]


def walked(make: Any, *, compiled: bool, classify: bool, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """All that a search decides and leaves behind."""
    with monkeypatch.context() as patch:
        patch.setattr(lattice_loops, "WORK", 0 if compiled else 10**18)
        search: LatticeSearch = make()
        assert (search.loops is lattice_loops) is not compiled
        steps: list[Any] = []
        best, bound = find_best(search, listener=steps.append)
        status = classified(search, steps.append) if classify else None
        store, nodes = search.store, search.nodes
        used = int(store.fill[1])
        told = [repr(step) for step in steps]
        arrays = (store.fill, store.keys[:used], store.weights[:used], store.seen[:used], *nodes, status)
        return {"best": best, "bound": bound, "told": told, "checks": search.checks, "arrays": arrays}


def same(make: Any, monkeypatch: pytest.MonkeyPatch, *, classify: bool = False) -> None:
    ours, theirs = (
        walked(make, compiled=compiled, classify=classify, monkeypatch=monkeypatch) for compiled in (False, True)
    )
    for name in ("best", "bound", "told", "checks"):
        assert ours[name] == theirs[name], name
    for mine, compiled in zip(ours["arrays"], theirs["arrays"], strict=True):
        np.testing.assert_array_equal(mine, compiled)


@pytest.mark.parametrize("models", MODELS, ids=["k", "distinct", "asked"])
def test_small_searches_are_those_of_the_compiled_loops(models: list[Model], monkeypatch: pytest.MonkeyPatch) -> None:
    @settings(max_examples=30, deadline=None)
    @given(table=tables(), share=st.sampled_from([0.0, 0.1, 0.4]), metric=st.sampled_from(METRICS), whole=st.booleans())
    def run(table: Any, share: float, metric: str, whole: bool) -> None:
        columns, sensitive, chosen = table
        counts = Counts.of(columns, histograms=sensitive)
        same(
            lambda: LatticeSearch(counts, chosen, models, suppression=share, metric=metric),
            monkeypatch,
            classify=whole,
        )

    run()


def people(n: int, columns: int, seed: int) -> tuple[Counts, dict[str, Hierarchy]]:
    """Records of numbered values below a tree of three levels, with a sensitive column of 70 values."""
    rng = np.random.default_rng(seed)
    values = [f"v{i}" for i in range(27)]
    tree = Hierarchy.of_rows([(f"v{i}", f"a{i // 3}", f"b{i // 9}", "*") for i in range(27)])
    rows = {f"c{j}": [values[int(i)] for i in np.minimum(rng.geometric(0.2, n) - 1, 26)] for j in range(columns)}
    secret = [f"s{i}" for i in rng.integers(0, 70, n)]
    return Counts.of(rows, histograms={"s": secret}), dict.fromkeys(rows, tree)


@pytest.mark.parametrize("metric", ["loss", "geometric loss", "non-uniform entropy", "discernibility"])
@pytest.mark.parametrize("columns", [4, 6])
def test_larger_tables_take_the_same_way(metric: str, columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    counts, trees = people(3000, columns, columns)
    models: list[Model] = [KAnonymity(5), DistinctDiversity(3, "s")]
    same(lambda: LatticeSearch(counts, trees, models, suppression=0.05, metric=metric), monkeypatch)


def test_keys_of_two_words(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    wide = {f"c{j}": [f"v{i}" for i in rng.integers(0, 300, 400)] for j in range(9)}
    trees = {
        name: Hierarchy.of_rows([(value, f"g{int(value[1:]) // 100}", "*") for value in sorted(set(rows))])
        for name, rows in wide.items()
    }
    counts = Counts.of(wide)
    search = LatticeSearch(counts, trees, [KAnonymity(2)], suppression=0.5)
    assert search.space.keys.shape[1] == 2
    same(lambda: LatticeSearch(counts, trees, [KAnonymity(2)], suppression=0.5), monkeypatch)


def test_a_search_that_turns_out_long_goes_on_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    counts, trees = people(2000, 5, 1)

    def make() -> LatticeSearch:
        return LatticeSearch(counts, trees, [KAnonymity(5)], suppression=0.02, metric="discernibility")

    whole = walked(make, compiled=False, classify=True, monkeypatch=monkeypatch)
    assert whole["checks"] > 64
    monkeypatch.setattr(lattice_loops, "WORK", 64 * 2000)
    monkeypatch.setitem(lattice_loops.work, "done", 0)
    search = make()
    assert search.loops is lattice_loops
    best, bound = find_best(search)
    assert search.loops is not lattice_loops
    assert (best, bound) == (whole["best"], whole["bound"])
    np.testing.assert_array_equal(classified(search), whole["arrays"][-1])


def test_a_small_search_loads_no_compiler() -> None:
    code = (
        "import sys\nfrom keepsense.counts import Counts\nfrom keepsense.hierarchies.hierarchy import Hierarchy\n"
        "from keepsense.methods.generalize.optimal import optimal\n"
        "tree = Hierarchy.of_rows([('a', 'x', '*'), ('b', 'x', '*'), ('c', 'y', '*')])\n"
        "print(optimal(Counts.of({'q': list('aabbbc')}), {'q': tree}, k=3, suppression=0.2).levels)\n"
        "print('numba' in sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert told.split("\n")[:2] == ["(1,)", "False"]
