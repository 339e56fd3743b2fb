"""Another method in a drafted project: it runs, or the error names what makes it run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.pins.terminal import keepsense


@pytest.fixture
def project(tmp_path: Path) -> Path:
    jobs = ("nurse", "surgeon", "clerk", "accountant")
    rows = [f"{20 + i % 40},{jobs[i % 4]},{('flu', 'asthma')[i % 2]}" for i in range(200)]
    (tmp_path / "people.csv").write_text("\n".join(["age,occupation,illness", *rows, ""]))
    assert keepsense("init", "people.csv", folder=tmp_path).code == 0
    return tmp_path


@pytest.mark.parametrize("method", ["noise", "SNA-3", "rank swapping"])
def test_the_error_names_the_options_that_make_it_run(project: Path, method: str) -> None:
    asked = ("run", "--set", f"method.name={method}", "--set", "release.suppression=0.0")
    refused = keepsense(*asked, folder=project)
    assert refused.code == 1
    told = " ".join((refused.out + refused.err).split())
    named = re.findall(r"--set '([^']+)'|--set (\S+=\S+)", told)
    options = [text for pair in named for text in ("--set", (pair[0] or pair[1]).replace("0.2", "0.9"))]
    assert options
    again = keepsense(*asked, *options, folder=project)
    assert again.code == 0, again.err


def test_strict_swaps_may_promise_less_than_classes(project: Path) -> None:
    asked = ("run", "--set", "method.name=strict rank swapping")
    again = keepsense(*asked, "--set", 'privacy=[{ model = "probabilistic k-anonymity", k = 5 }]', folder=project)
    assert again.code == 0, again.err


def test_what_classes_say_of_changed_values_is_not_shown(project: Path) -> None:
    promise = 'privacy=[{ model = "linkage risk", threshold = 0.9 }]'
    done = keepsense("run", "--set", "method.name=noise", "--set", promise, "--json", folder=project)
    assert done.code == 0, done.err
    assert '"prosecutor, highest"' not in done.out.partition('"after"')[2]
    assert "linked by meaning" in done.out
