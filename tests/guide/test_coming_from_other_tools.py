"""The page for those who come from other tools names only what there is."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import keepsense.privacy.exposed
import keepsense.utility  # noqa: F401  (and those of utility)
from keepsense.methods.registry import METHODS
from keepsense.metrics import METRICS
from keepsense.privacy import PRIVACY

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "coming-from-other-tools.md").read_text(encoding="utf-8")
ROWS = [line.strip("|").split(" | ") for line in PAGE.splitlines() if line.startswith("| ")]


def named(what: str) -> set[str]:
    return set(re.findall(rf"\b{what} `([^`]+)`", PAGE))


def test_methods_promises_and_metrics_are_in_their_registries() -> None:
    assert named("method") - set(METHODS) == set()
    assert named("promise") - set(PRIVACY) == set()
    assert named("metric") - set(METRICS) == set()
    assert min(len(named("method")), len(named("promise")), len(named("metric"))) >= 10


def test_every_promise_of_theirs_that_we_have_is_told() -> None:
    ours_alone = {"(alpha,k)-anonymity", "(X,Y)-anonymity", "probabilistic k-anonymity", "linkage risk"}
    assert set(PRIVACY) - named("promise") <= ours_alone


def test_functions_are_there() -> None:
    assert named("function")
    for dotted in named("function"):
        module, _, name = dotted.rpartition(".")
        assert callable(getattr(import_module(module), name)), dotted


def test_every_row_has_two_cells() -> None:
    assert len(ROWS) > 80
    assert all(len(row) == 2 and row[1].strip() for row in ROWS)
