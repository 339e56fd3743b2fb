"""One source of chance for what protects people: nobody can predict it, and nothing else is drawn from."""

from __future__ import annotations

import ast
import copy
from pathlib import Path

import numpy as np
import pytest

import keepsense
from keepsense.secure_random import generator

SRC = Path(keepsense.__file__).parent

UNPROTECTED = {
    "hierarchies/": "candidates of hierarchies",
    "risk/record_linkage.py": "records on which linkage is tried for a report",
    "release/figures/measure.py": "records on which sets are compared for a report",
    "release/figures/worth.py": "records by which a model tells original and release apart for a report",
    "sample_people.py": "synthetic people",
    "utility/": "queries that are asked, records that are learned from, and where clusters start",
}
"""Rooms and modules where NumPy's own generators may be used: nothing that they draw hides a person."""


def _drawing(path: Path) -> list[str]:
    """Calls and names in a file that draw from anything but `keepsense.secure_random`."""
    others = {"default_rng", "RandomState", "PCG64", "MT19937", "Philox", "SFC64", "seed", "getrandbits", "urandom"}
    tree = ast.parse(path.read_text(encoding="utf-8"))
    found = [n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr in others]
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        found += [name for name in names if name == "random" or name in others]
    return found


def test_nothing_that_protects_people_is_drawn_from_elsewhere() -> None:
    drawing = {path.relative_to(SRC).as_posix() for path in SRC.rglob("*.py") if _drawing(path)}
    assert not [path for path in drawing if not path.startswith(tuple(UNPROTECTED))]
    assert all(any(path.startswith(start) for path in drawing) for start in UNPROTECTED)


def test_a_seed_gives_the_same_draws_and_another_seed_others() -> None:
    first, again, other = (generator(seed).integers(2**63, size=8).tolist() for seed in (1, 1, 2))
    assert first == again
    assert not set(first) & set(other)


def test_without_a_seed_no_two_generators_are_alike() -> None:
    assert len({generator().bytes(16) for _ in range(50)}) == 50


def test_a_generator_is_passed_on_and_can_be_copied() -> None:
    draws = generator(3)
    assert generator(draws) is draws
    assert copy.deepcopy(draws).random(4).tolist() == draws.random(4).tolist()


def test_the_stream_is_that_of_the_cipher() -> None:
    """ChaCha20 with an all-zero key: RFC 8439, appendix A.1, test vector 1."""
    from randomgen import ChaCha

    stream = np.random.Generator(ChaCha(key=0, rounds=20)).bytes(16)
    assert stream.hex() == "76b8e0ada0f13d90405d6ae55386bd28"


@pytest.mark.parametrize("size", [2, 10, 97])
def test_draws_are_even(size: int) -> None:
    drawn = np.bincount(generator(5).integers(size, size=1_000 * size), minlength=size)
    assert ((drawn - 1_000) ** 2 / 1_000).sum() < 2 * size + 30
