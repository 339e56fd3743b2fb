"""The one source of chance for draws that protect people: swaps, noise, redrawn and shuffled rows.

NumPy's own generators can be predicted by who sees enough of their output, and a release is such output. So all draws
that protect people come from the ChaCha cipher (Bernstein 2008) behind an ordinary `numpy.random.Generator`. Its key is
fresh entropy of the system unless a seed is given. A seed is a secret of the publisher: with it swaps and noise can be
undone.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

Random = np.random.Generator | int | None
"""What a caller may give: a generator to go on with, a seed that makes draws repeatable, or None for fresh entropy."""


def generator(seed: Random = None) -> np.random.Generator:
    """A generator that nobody can predict without its key; one that is given is passed on as it is.

    >>> generator(7).integers(1_000, size=3).tolist() == generator(7).integers(1_000, size=3).tolist()
    True
    >>> generator().bytes(16) == generator().bytes(16)
    False
    >>> type(generator().bit_generator).__name__
    'ChaCha'
    """
    from randomgen import ChaCha

    if isinstance(seed, np.random.Generator):
        return seed
    key = secrets.randbits(256) if seed is None else _key(seed)
    return np.random.Generator(ChaCha(key=key, rounds=20))


def _key(seed: int) -> int:
    """256 bits from a seed: nothing but the seed itself tells anything about them."""
    return int.from_bytes(hashlib.sha256(str(int(seed)).encode("ascii")).digest(), "little")
