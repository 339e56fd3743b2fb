"""What attackers do with a release, each a few lines of NumPy.

Everything is computed from `near`: by column, how far each released label is from each original value (0 where it is
true of it). Attackers are strong: of generalized labels they know which values they stand for.

After Giomi et al. 2023 (Anonymeter): singling out, linkability and inference, the last two against people of the same
population who are not in the release. Linkage is that of Domingo-Ferrer and Torra 2001.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rate:
    """How often an attack was right, with Wilson's interval at 95%."""

    right: int
    tried: int

    @property
    def share(self) -> float:
        """Right guesses over all."""
        return self.right / max(1, self.tried)

    @property
    def interval(self) -> tuple[float, float]:
        """Between these the chance lies, with a confidence of 95%."""
        z, n, p = 1.959964, max(1, self.tried), self.share
        middle, width = p + z * z / (2 * n), z * sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, (middle - width) / (1 + z * z / n)), min(1.0, (middle + width) / (1 + z * z / n))

    def __str__(self) -> str:
        low, high = self.interval
        return f"{100 * self.share:.1f}% ({100 * low:.1f} to {100 * high:.1f})"


@dataclass(frozen=True)
class Seen:
    """A release as an attacker sees it: codes of its labels by column, secrets, and whose record each is (for scoring).

    `near[c][label, value]` is the distance of a label of column c from an original value.
    """

    labels: Ints
    secrets: Ints
    owners: Ints
    near: Sequence[Floats]

    def distances(self, known: Ints, columns: Sequence[int] | None = None) -> Floats:
        """From each person of whom some columns are known to each record: the mean over these columns."""
        chosen = range(len(self.near)) if columns is None else columns
        total = np.zeros((len(known), len(self.labels)))
        for c in chosen:
            total += self.near[c][self.labels[:, c]][:, known[:, c]].T
        return total / max(1, len(chosen))


def _nearest(distances: Floats) -> NDArray[np.bool_]:
    """For each person the records that are as near as any."""
    near: NDArray[np.bool_] = distances <= distances.min(axis=1, keepdims=True) + 1e-12
    return near


def linkage(seen: Seen, known: Ints, rng: np.random.Generator) -> Rate:
    """Who knows all quasi-identifiers of a person takes one of the nearest records for theirs: how often it is."""
    right = 0
    for person, near in enumerate(_nearest(seen.distances(known))):
        guess = int(rng.choice(np.flatnonzero(near)))
        right += int(seen.owners[guess] == person)
    return Rate(right, len(known))


def linkability(seen: Seen, known: Ints, rng: np.random.Generator) -> Rate:
    """Who knows half of the columns from one source and half from another finds the same record by both."""
    middle = (known.shape[1] + 1) // 2
    halves = [range(middle), range(middle, known.shape[1])]
    right = 0
    guesses = []
    for half in halves:
        nearest = _nearest(seen.distances(known, half))
        guesses.append([int(rng.choice(np.flatnonzero(near))) for near in nearest])
    for first, second in zip(*guesses, strict=True):
        right += int(first == second)
    return Rate(right, len(known))


def inference(seen: Seen, known: Ints, secrets: Ints, rng: np.random.Generator) -> Rate:
    """Who knows all quasi-identifiers guesses the secret that is commonest among the nearest records."""
    right = 0
    for person, near in enumerate(_nearest(seen.distances(known))):
        counts = np.bincount(seen.secrets[near])
        guess = int(rng.choice(np.flatnonzero(counts == counts.max())))
        right += int(guess == secrets[person])
    return Rate(right, len(known))


def singling_out(seen: Seen, known: Ints, secrets: Ints, *, with_secret: bool) -> Rate:
    """What a released record says is true of exactly one person of the original table."""
    fits = seen.distances(known) < 1e-12
    if with_secret:
        fits &= secrets[:, None] == seen.secrets
    return Rate(int((fits.sum(axis=0) == 1).sum()), len(seen.labels))


def risk(attack: Rate, control: Rate) -> float:
    """What the release adds: the attack's success beyond that on people who are not in it (Giomi et al. 2023)."""
    return max(0.0, (attack.share - control.share) / max(1e-9, 1 - control.share))


def coded(rows: Sequence[Mapping[str, str]], names: Sequence[str], values: Sequence[Sequence[str]]) -> Ints:
    """Rows as positions in lists of values."""
    place = [{value: i for i, value in enumerate(listed)} for listed in values]
    codes = [[place[j][row[name]] for j, name in enumerate(names)] for row in rows]
    return np.array(codes, dtype=np.int64).reshape(len(rows), len(names))
