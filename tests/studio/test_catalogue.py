"""The catalogue of the studio: no heading without something to press below it."""

from __future__ import annotations

from keepsense.guide.catalogue import catalogue
from keepsense.studio.pages.catalogue import listed


def test_every_technique_is_listed_once_and_no_family_is_empty() -> None:
    families = [found for found in catalogue().values() if found.family is None]
    shown = [found.name for family in families for found in listed(family)]
    assert all(listed(family) for family in families)
    assert len(shown) == len(set(shown))
    assert {found.name for found in catalogue().values() if found.runs} <= set(shown)
