"""A small hierarchy of food that several tests use."""

from __future__ import annotations

from keepsense.hierarchies.hierarchy import Hierarchy


def food_hierarchy() -> Hierarchy:
    return Hierarchy.of_rows(
        [
            ("ham", "pork", "meat", "*"),
            ("bacon", "pork", "meat", "*"),
            ("beef", "beef", "meat", "*"),
            ("milk", "cold", "drink", "*"),
            ("juice", "cold", "drink", "*"),
            ("tea", "hot", "drink", "*"),
        ]
    )
