"""Which taxonomy a file was made with: its name, version and fingerprint, so that ids in it mean the same again.

A part of a taxonomy (`Taxonomy.below`) goes by the identity of the whole: ids and sense numbers are the whole's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from keepsense.errors import BadInput

if TYPE_CHECKING:
    from keepsense.taxonomy.core import Taxonomy


@dataclass(frozen=True, slots=True)
class Identity:
    """Name, version (empty where the source tells none) and fingerprint of a taxonomy.

    >>> Identity("jobs", "2024", "sha256:ab").plain()
    {'name': 'jobs', 'version': '2024', 'fingerprint': 'sha256:ab'}
    """

    name: str
    version: str = ""
    fingerprint: str = ""

    def plain(self) -> dict[str, str]:
        """As JSON holds it."""
        return {"name": self.name, "version": self.version, "fingerprint": self.fingerprint}

    @classmethod
    def of_plain(cls, written: Any) -> Identity | None:
        """The identity that a file states, or None where what is written is none.

        >>> Identity.of_plain({"name": "jobs", "fingerprint": "sha256:ab"}).name, Identity.of_plain([1])
        ('jobs', None)
        """
        if not isinstance(written, Mapping):
            return None
        texts = [written.get(key, "") for key in ("name", "version", "fingerprint")]
        return cls(*texts) if all(isinstance(text, str) for text in texts) and texts[0] else None

    def __str__(self) -> str:
        version = f", version {self.version}" if self.version and self.version not in self.name else ""
        return f"{self.name!r}{version}"


def identity(taxonomy: Taxonomy) -> Identity:
    """Identity of a taxonomy, or of the whole that it is a part of.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet"), ("tabby", "cat")], name="pets")
    >>> identity(pets) == identity(pets.below("cat")), identity(pets) == identity(from_edges([("cat", "pet")]))
    (True, False)
    """
    whole = taxonomy if taxonomy.whole is None else taxonomy.whole
    return Identity(whole.name, whole.info.get("version", ""), whole.fingerprint)


def check_same(file: str, stated: Identity, taxonomy: Taxonomy, remedy: str) -> bool:
    """Whether a file was made with this very taxonomy; one of another name is refused, with the remedy.

    False says that the name is the same and the content has changed since.

    >>> from keepsense.taxonomy import from_edges
    >>> pets = from_edges([("cat", "pet")], name="pets")
    >>> check_same("jobs.json", Identity("jobs", "", "sha256:ab"), pets, "build it again")
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: jobs.json: made with the taxonomy 'jobs', not with 'pets'; build it again
    """
    own = identity(taxonomy)
    if stated.fingerprint == own.fingerprint:
        return True
    part = not stated.fingerprint and stated.name.startswith(f"{own.name}: ")  # as files were written that had none
    if stated.name != own.name and not part:
        raise BadInput(f"{file}: made with the taxonomy {stated}, not with {own}; {remedy}")
    return False


def fingerprint(taxonomy: Taxonomy) -> str:
    """Digest of what ids, names, senses and is-a links there are; the same however the taxonomy is stored.

    >>> from keepsense.taxonomy import from_edges
    >>> fingerprint(from_edges([("cat", "pet")]))[:10]
    'sha256:ec3'
    """
    digest = hashlib.sha256()
    texts = (taxonomy.ids.block, taxonomy.terms.block)
    rows = (taxonomy.names, taxonomy.parents, taxonomy._senses)
    numbers = [array.astype("<i4", copy=False) for r in rows for array in (r.starts, r.indices)]
    for array in (*texts, *numbers):
        raw = np.ascontiguousarray(array)
        digest.update(len(raw).to_bytes(8, "little"))
        digest.update(raw.data if raw.size else b"")
    return f"sha256:{digest.hexdigest()[:32]}"
